"""How many people answers add up to, and that it is said where they are not those who took part."""

import math

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.deploy import collector
from ldp_core.workloads import Group, OnAttributes, Survey, tells_everybody

COUNTS = np.array([500, 300, 100, 60, 30, 10, 0, 0, 0, 0, 0, 0])
WORKLOADS = [
    workloads.prefix(6),
    workloads.all_marginals([2, 3]),
    workloads.parity(3, 2),
    workloads.custom([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]),
    workloads.union([workloads.custom([[1.0, 1.0, 0.0]]), workloads.custom([[0.0, 0.0, 1.0]])]),
    workloads.product([workloads.prefix(3), workloads.custom([[1.0, -1.0]])]),
    OnAttributes((2, 4), (1,), workloads.prefix(3), used=(3,)),
    workloads.survey([2, 3, 2], 2),
    Survey([2, 2, 3], [Group((0, 1), workloads.custom([[1.0, -1.0, -1.0, 1.0]]))]),
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_answers_tell_the_number_of_people_where_it_is_a_sum_of_them(workload):
    rows = np.array([workload.answers(one) for one in np.eye(workload.n, dtype=np.int64)]).T
    both = np.vstack([rows, np.ones(workload.n)])
    assert tells_everybody(workload) == (np.linalg.matrix_rank(both) == np.linalg.matrix_rank(rows))


def test_counts_without_a_fitted_total_add_up_to_too_many_and_say_so():
    workload, mechanism = workloads.histogram(12), mechanisms.create("randomized_response", n=12, epsilon=1.0)
    found = collector.Collection("0123456789abcdef", mechanism.simulate(COUNTS, np.random.default_rng(0)))
    for name in ("unbiased", "wnnls", "wnnls_total", "norm_sub"):
        frame = collector.answers(found, mechanism, workload, name)
        (told,) = set(frame["adds_up_to"])
        assert told == pytest.approx(frame["answer"].sum() / 100 * COUNTS.sum())
        words = estimators.missed_in_words(told, 1000, name)
        assert bool(words) == (name == "wnnls") == (abs(told - 1000) > 5)
        if words:
            assert f"These answers add up to {told:,.0f} people, and 1,000 took part" in words
            assert "Non-negative, known total (WNNLS) keeps to that number" in words


def test_tables_of_a_survey_add_up_to_the_people_told():
    survey = workloads.survey([3, 3, 3, 3], 2)
    mechanism = mechanisms.create("sampled_sets", workload=survey, epsilon=0.5)
    records = np.zeros((400, 4), dtype=np.int64)
    reports = mechanism.simulate(records, np.random.default_rng(2))
    estimate = estimators.apply("wnnls", reports, mechanism, survey)
    told = estimators.estimated_total(estimate, survey)
    assert told == pytest.approx(estimate.answers(survey)[:9].sum())
    assert estimators.misses(told, 400)


def test_nothing_is_said_where_parts_do_not_add_up_or_answers_do_not_tell():
    workload, tree = workloads.prefix(8), mechanisms.create("hierarchical", n=8, epsilon=1.0, reconstruction="raw")
    reports = tree.simulate(np.full(8, 50), np.random.default_rng(0))
    assert math.isnan(estimators.estimated_total(tree.estimate(reports), workload))
    assert not estimators.missed_in_words(math.nan, 400, "unbiased")
    parity, fourier = workloads.parity(3, 2), mechanisms.create("fourier", n=8, epsilon=1.0)
    estimate = fourier.estimate(fourier.simulate(np.full(8, 50), np.random.default_rng(0)))
    assert math.isnan(estimators.estimated_total(estimate, parity)) == (not tells_everybody(parity))
