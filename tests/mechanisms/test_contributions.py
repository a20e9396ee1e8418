"""The contribution of one report to answers: means, variances and limits, against exact covariances
and reports drawn one by one."""

import numpy as np
import pytest

from ldp_core import library, mechanisms, workloads
from ldp_core.mechanisms.moments import TYPES, Rows, squared_means

WORKLOAD = workloads.all_range(12)
CASES = [
    *(("olh", {"reconstruction": r}) for r in ("known_total", "standard")),
    ("rejection_gaussian", {}),
]
"""Mechanisms whose reports cannot be written out."""


def built(name, parameters, workload=WORKLOAD):
    fitted = {"workload": workload} if library.spec(name).needs_workload else {"n": workload.n}
    return mechanisms.create(name, epsilon=1.0, **fitted, **parameters)


def check(mechanism, workload, draws=300):
    """Variances per type add up to those of a population, and no report adds more or less than is said."""
    rng, queries = np.random.default_rng(0), np.arange(workload.num_queries)
    adds = mechanism.query_contributions(workload, queries)
    assert np.array_equal(adds.means, workload.rows(queries))
    counts = rng.multinomial(500, np.full(workload.n, 1 / workload.n))
    exact = mechanism.query_variances(workload, counts, queries)
    assert adds.variances @ counts == pytest.approx(exact, rel=1e-9, abs=1e-9 * exact.max())
    off = np.empty((draws, queries.size))
    for i in range(draws):
        one = np.eye(workload.n, dtype=int)[i % workload.n]
        added = mechanism.estimate(mechanism.simulate(one, rng)).answers(workload)
        off[i] = added - workload.rows(queries)[:, i % workload.n]
        two = np.isfinite(adds.low)
        nearest = np.minimum(np.abs(added - adds.low), np.abs(added - adds.high))
        assert nearest[two] == pytest.approx(np.zeros(two.sum()), abs=1e-7)
    assert np.all(off <= adds.up * adds.parts + 1e-7)
    assert np.all(-off <= adds.down * adds.parts + 1e-7)


@pytest.mark.parametrize(("name", "parameters"), CASES, ids=repr)
def test_contributions_are_those_of_reports(name, parameters):
    check(built(name, parameters), WORKLOAD)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *CASES,
        ("subset_selection", {}),
        ("hadamard", {}),
        ("hrr", {"reconstruction": "transform"}),
        ("haar", {}),
        ("hierarchical", {"branching": 3}),
        ("hierarchical", {"branching": 2, "reconstruction": "raw"}),
        ("hierarchical_2d", {"branching": 2, "shape": (3, 4)}),
        ("matrix_l1", {"max_rounds": 2}),
    ],
    ids=repr,
)
def test_errors_of_single_questions_add_up_to_those_of_all(name, parameters):
    """A workload, its Gram matrix and its rows are the same questions; the mean square is the variance and the squared mean."""
    mechanism, every = built(name, parameters), np.arange(WORKLOAD.num_queries)
    rows = Rows.of(WORKLOAD, every)
    profile = mechanism.variance_profile(WORKLOAD)
    assert mechanism.profile_of(rows).sum(axis=0) == pytest.approx(profile, rel=1e-9)
    mean, central = (getattr(mechanism, of)(rows, TYPES) for of in ("second_moments", "central_moments"))
    squared = squared_means(rows, mechanism.root)
    assert mechanism.by_type(mean) - squared == pytest.approx(mechanism.by_type(central), abs=1e-9 * profile.max())
    counts = np.arange(12)
    by_hand = [row @ mechanism.covariance(counts) @ row for row in WORKLOAD.matrix[:12]]
    assert mechanism.linear_variances(WORKLOAD.matrix[:12], counts) == pytest.approx(by_hand, rel=1e-9, abs=1e-9)
