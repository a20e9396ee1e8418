"""The theorems on one axis, against values worked out apart from this project's bounds, and against brute force."""

import math

import numpy as np
import pytest

from ldp_core import analysis, mechanisms, workloads
from ldp_core.bounds.theorems import frequency
from ldp_core.bounds.theorems.statements import STATEMENTS, Setting
from ldp_core.studies import theorems

HISTOGRAM = workloads.histogram(5)


def created(name, workload, epsilon=1.0, **parameters):
    return mechanisms.create(name, n=workload.n, epsilon=epsilon, workload=workload, **parameters)


def read(workload, mechanism=None, epsilon=1.0, users=3000, alpha=0.01, known=None):
    setting = Setting(workload, epsilon, users, mechanism)
    exact = None if mechanism is None else analysis.average_variance(mechanism, workload)
    return {entry.statement.name: entry for entry in theorems.entries(setting, alpha, exact, known or {})}


def test_large_samples_and_how_loose_they_are():
    hadamard = created("hadamard", HISTOGRAM)
    figures = frequency.figures_of(hadamard)
    found = read(HISTOGRAM, hadamard, known=theorems.weighted(HISTOGRAM, figures))
    for name, value in [
        ("large_sample_paper_distribution", 1.69348),
        ("large_sample_paper_frequency", 0.62300),
        ("large_sample_sharp_distribution", 9.85106),
        ("large_sample_sharp_frequency", 9.18232),
        ("corollary_distribution", 13.51479),
        ("corollary_frequency", 12.76210),
        ("efficient_distribution", 17.50704),
        ("efficient_frequency", 16.70704),
    ]:
        assert found[name].variance == pytest.approx(value, rel=1e-5)
        assert found[name].standard_error == pytest.approx(math.sqrt(value / 5 / 3000), rel=1e-5)
        # Exact errors at the even population are those of the efficient estimator, with and without sampling.
        assert found[name].ratio == pytest.approx((17.50704 if "distribution" in name else 16.70704) / value, rel=1e-5)


def test_the_worst_type_follows_from_the_average():
    """Theorem 5.1 for randomized response on a histogram, whose average is (n - 1)(n/(E - 1)^2 + 2/(E - 1)) and |W|_F^2/n is 1."""
    E, n = math.e, 5
    average = (n - 1) * (n / (E - 1) ** 2 + 2 / (E - 1))
    setting = Setting(HISTOGRAM, 1.0, 3000, created("randomized_response", HISTOGRAM), None)
    found = {entry.statement.name: entry for entry in theorems.entries(setting, 0.01, average, {}, average)}
    assert found["worst_from_average"].variance == pytest.approx(E * (average + 1))
    assert found["worst_from_average"].ratio == pytest.approx(average / (E * (average + 1)))
    gaussian = read(workloads.prefix(8), created("gaussian", workloads.prefix(8)))
    assert "has a delta" in gaussian["worst_from_average"].reason
    assert "yet to be fitted" in read(HISTOGRAM, None)["worst_from_average"].reason


def test_theorems_over_epsilon_are_those_on_record():
    """Figures per user of the notes on the papers: Theorem 4.5 of Cormode et al., and that of Lopuhaä-Zwakenberg et al."""
    ranges = theorems.over_epsilon(workloads.all_range(256), 0.01, [1.1], 2)
    assert ranges["title"].tolist() == ["Theorem 4.5 (Cormode et al.), B = 2"]
    assert ranges["users_needed"].item() == pytest.approx(41_080, rel=2e-5)
    histogram = theorems.over_epsilon(HISTOGRAM, 0.01, [0.5, 1.0], averages={1.0: 2.0})
    first, second, third = histogram.to_dict("records")
    assert first["title"] == second["title"] == "Theorem 4.5 (Lopuhaä-Zwakenberg et al.), frequency"
    assert [first["users_needed"], second["users_needed"]] == pytest.approx([7.20620 / 0.05, 0.62300 / 0.05], rel=1e-5)
    assert third["users_needed"] == pytest.approx(math.e * 3 / 0.05)
    assert theorems.over_epsilon(workloads.all_marginals(3), 0.01, [1.0]).empty


def test_sampling_against_sums_over_queries():
    # A prefix share q adds q (1 - q).
    assert theorems.sampling(workloads.prefix(4)) == pytest.approx(3 / 16 + 4 / 16 + 3 / 16)
    workload = workloads.all_range(4)
    answers = workload.answers(np.full(4, 0.25))
    assert theorems.sampling(workload) == pytest.approx((answers * (1 - answers)).sum())


def test_users_needed_are_the_least_where_numbers_change_with_them():
    found = read(HISTOGRAM, alpha=1e-4)
    for name in (
        "gaussian_projected",
        "projected_hadamard",
        "projected_hadamard_sharp",
        "adaptive",
        "rejection_projected",
    ):
        needed = found[name].users_needed
        for users, enough in ((int(needed), True), (int(needed) - 1, False)):
            error = STATEMENTS[name].number(Setting(HISTOGRAM, 1.0, users)) / users / 5
            assert (error <= 1e-4) is enough
    # At 120 users Theorem 3.4 begins, and answering 0 is enough for so large a target.
    assert read(HISTOGRAM, alpha=0.5)["rejection_projected"].users_needed == 120


def test_the_table_holds_every_statement():
    response = created("randomized_response", HISTOGRAM)
    known = theorems.weighted(HISTOGRAM, frequency.figures_of(response))
    entries = read(HISTOGRAM, response, known=known)
    table = theorems.table(list(entries.values())).set_index("name")
    assert list(table.index) == list(STATEMENTS)
    row = table.loc["corollary_distribution"]
    value = known["corollary_distribution"]
    assert row["standard_error"] == pytest.approx(math.sqrt(value / 15_000))
    exact = analysis.average_variance(response, HISTOGRAM) + theorems.sampling(HISTOGRAM)
    assert row["ratio"] == pytest.approx(exact / value)
    assert table.loc["haar", "reason"]
    assert math.isnan(table.loc["haar", "standard_error"])
