"""No time limit, and no cancelling, leaves a certificate below the closed form."""

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import bounds, workloads
from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.workloads.parts import PrefixPart, RangesPart
from ldp_core.workloads.surveyed import by_tables


def random_questions(p, n):
    return workloads.custom((np.random.default_rng(0).random((p, n)) < 0.5).astype(float))


WORKLOADS = {
    "random": lambda: random_questions(30, 90),
    "many types": lambda: random_questions(40, 600),
    "few told apart": lambda: workloads.custom(np.repeat(np.eye(4), 200, axis=1)),
    "histogram": lambda: workloads.histogram(2000),
    "prefix": lambda: workloads.prefix(600),
    "ranges": lambda: workloads.all_range(64),
    "marginals": lambda: workloads.k_way_marginals(8, 2),
    "parity": lambda: workloads.parity(7, 3),
    "union": lambda: workloads.union([workloads.histogram(70), workloads.prefix(70)], weights=[1.0, 5.0]),
    "survey": lambda: workloads.survey([4, 3, 2, 5], ways=2),
    "large survey": lambda: workloads.survey([2] * 30, ways=2),
}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    "limits", [{"time_limit": 0}, {"time_limit": 0.01}, {"cancel": lambda: True}], ids=["0 s", "0.01 s", "cancelled"]
)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_certificate_is_never_below_the_closed_form(name, limits):
    workload = WORKLOADS[name]()
    closed = bounds.centred_svd(workload, 1.0)
    found = bounds.certificate(workload, 1.0, **limits)
    assert found.value >= closed * (1 - 1e-3)  # rounding is taken off, more of it for many types
    assert found.verify()


@pytest.mark.usefixtures("clock")
def test_neither_is_one_for_a_prior():
    workload = random_questions(40, 600)
    prior = np.random.default_rng(1).dirichlet(np.ones(600))
    found = bounds.certificate(workload, 1.0, time_limit=0, prior=prior)
    assert found.value >= bounds.centred_svd(workload, 1.0, prior) * (1 - 1e-3)
    assert found.verify()


@pytest.mark.parametrize(
    "workload",
    [
        workloads.parity(5),
        workloads.custom(3 * np.eye(20)),
        workloads.custom(workloads.walsh_hadamard(np.eye(16))),
        workloads.custom(np.vstack([np.eye(12), np.ones((3, 12))])),
    ],
    ids=["parity", "multiple", "orthogonal", "with the total"],
)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_whatever_has_the_gram_matrix_of_a_histogram_is_solved_as_one(workload, epsilon):
    """As closely, and where these are few subset selection itself, which is optimal."""
    n = workload.n
    histogram, found = (ldp.optimize.design(w, epsilon, None, max_rounds=3) for w in (workloads.histogram(n), workload))
    on_ones = workload.gram_sums.sum() / n  # what all mechanisms have in common
    scale = (workload.trace - on_ones) / (n - 1)
    assert found.objective == pytest.approx(scale * (histogram.objective - 1) + on_ones, rel=1e-5)
    subset = ldp.mechanisms.create("subset_selection", n=n, epsilon=epsilon)
    optimum = ldp.analysis.objective(subset, workload)
    assert bounds.certificate(workload, epsilon, None).value <= optimum * (1 + 1e-9)
    if epsilon == 4.0:
        assert found.objective == pytest.approx(optimum, rel=1e-9)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("how", [{"time_limit": 0}, {"cancel": lambda: True}], ids=["no time", "cancelled"])
def test_nor_are_groups_of_a_survey_that_are_not_reached(how):
    axes = [
        NumericAttribute(name=f"a{i}", edges=tuple(range(n + 1)), origin="declared") for i, n in enumerate((9, 8, 7))
    ]
    parts = [PrefixPart(attribute="a0"), RangesPart(attribute="a1"), PrefixPart(attribute="a2", weight=3.0)]
    survey = by_tables(workloads.over_attributes(parts, Domain(attributes=axes)), (9, 8, 7))
    assert len(survey.groups) == 3
    assert not survey.symmetric
    found = bounds.certificate(survey, 1.0, **how)
    assert found.value >= bounds.centred_svd(survey, 1.0) * (1 - 1e-6)
    assert found.verify()


@pytest.mark.parametrize("n", [40, 600])
@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("how", [{"time_limit": 0}, {"cancel": lambda: True}], ids=["no time", "cancelled"])
def test_nor_is_the_worst_case_with_a_prior(n, how):
    """Whatever prior it starts from: this one says next to nothing."""
    workload, prior = random_questions(20, n), np.full(n, 1e-9)
    prior[0] = 1 - prior[1:].sum()
    closed = (bounds.centred_svd(workload, 1.0) - workload.trace) / n
    found = bounds.worst_case(workload, 1.0, prior=prior, **how)
    assert found.variance >= closed * (1 - 1e-3)
    assert found.verify()
