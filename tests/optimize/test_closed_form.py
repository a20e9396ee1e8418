"""No design is worse than a mechanism in closed form, and types that are all alike get the optimum at once."""

import math

import numpy as np
import pytest
from scipy.stats import ortho_group

import ldp_core as ldp
from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.optimize import SearchLimits, design, worst_case_design
from ldp_core.optimize.closed_form import alike_objective, balanced_sets
from tests.refused import refused

ALIKE = {
    "histogram": workloads.histogram(48),
    "very many types": workloads.histogram(2**17),
    "fractions": workloads.custom(np.eye(30) / 7),
    "orthogonal rows": workloads.custom(0.37 * ortho_group.rvs(24, random_state=0)),
    "with the total": workloads.custom(np.vstack([np.eye(12) / 3, np.full((2, 12), 0.1)])),
    "ranges of width 1": workloads.width_range(40, 1),
    "all attributes at once": workloads.k_way_marginals([3, 4, 5], 3),
    "bits at once": workloads.k_way_marginals(5, 5),
    "one attribute": workloads.all_marginals([9]),
    "parities": workloads.parity(12),
    "survey": workloads.survey([4, 5], ways=2),
    "union": workloads.union(
        [workloads.custom(np.eye(30) / 7), workloads.k_way_marginals([5, 6], 2), workloads.histogram(30)],
        [0.3, 2.0, 1.7],
    ),
}


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("name", ALIKE)
def test_types_that_are_all_alike_get_subset_selection_at_once(name, epsilon):
    workload = ALIKE[name]
    assert workload.symmetry == "exchangeable"
    found = design(workload, epsilon, time_limit=None)
    subset = mechanisms.create("subset_selection", n=workload.n, epsilon=epsilon)
    proof = bounds.certificate(workload, epsilon, time_limit=None)
    assert found.mechanism().digest == subset.digest
    assert found.objective == pytest.approx(analysis.objective(subset, workload), rel=1e-12)
    assert proof.verify()
    assert 1 <= found.objective / proof.value <= 1 + 1e-6
    for target in ("average", "worst_case"):
        made = mechanisms.create("optimized", epsilon=epsilon, workload=workload, target=target, time_limit=None)
        assert made.digest == subset.digest


def test_nearly_alike_is_not_alike():
    G = np.eye(20)
    G[3, 4] = G[4, 3] = 1e-6
    for workload in (workloads.custom(np.linalg.cholesky(G).T), workloads.prefix(9), workloads.all_range(3)):
        assert workload.symmetry != "exchangeable"


def test_a_proof_allows_for_entries_that_are_nearly_alike():
    """What G may differ by from one with two numbers is taken off the bound."""
    W = ortho_group.rvs(16, random_state=1)
    W[0] *= 1 + 1e-11
    workload = workloads.custom(W)
    assert workload.symmetry == "exchangeable"
    assert workload.symmetry_group.apart > 1e-11
    proof = bounds.certificate(workload, 1.0, None)
    exact = bounds.certificate(workloads.histogram(16), 1.0, None)
    assert proof.verify()
    assert exact.value * (1 - 1e-7) < proof.value < exact.value


@pytest.mark.parametrize(("n", "size"), [(16, 4), (17, 5), (30, 8), (64, 17), (20, 10)])
def test_few_sets_hold_any_two_types_equally_often(n, size):
    sets, weights = balanced_sets(n, size)
    assert (sets.sum(axis=1) == size).all()
    assert len(sets) <= n // 2
    together = sum(
        weight * np.outer(moved, moved)
        for row, weight in zip(sets, weights, strict=True)
        for moved in (np.roll(row, by).astype(float) for by in range(n))
    )
    off = together[~np.eye(n, dtype=bool)]
    assert np.ptp(off) < 1e-9 * together[0, 0]
    assert off.mean() / together[0, 0] == pytest.approx((size - 1) / (n - 1), rel=1e-9)


@pytest.mark.parametrize(("n", "epsilon"), [(6, 1.0), (24, 1.0), (33, 0.5), (40, 3.0)])
def test_the_strategy_of_the_optimum_is_written_out(n, epsilon):
    found = design(workloads.histogram(n), epsilon, None)
    Q = found.strategy
    assert np.abs(Q.sum(axis=0) - 1).max() < 1e-12
    assert (Q.max(axis=1) <= math.exp(epsilon) * Q.min(axis=1)).all()
    written = analysis.objective(mechanisms.ExplicitMechanism("written", Q, epsilon), workloads.histogram(n))
    assert written == pytest.approx(found.objective, rel=1e-9)


def test_a_strategy_too_large_to_write_out_is_refused_in_words():
    refused("not written out for 2,000 types", lambda: design(workloads.histogram(2000), 1.0, None).strategy)


def random_questions(p, n):
    return workloads.custom((np.random.default_rng(0).random((p, n)) < 0.5).astype(float))


OTHERS = {
    "random": random_questions(20, 60),
    "prefix": workloads.prefix(40),
    "both": workloads.union([workloads.histogram(30), workloads.prefix(30)], weights=[4.0, 1.0]),
    "pairs": workloads.k_way_marginals(4, 2),
    "many types": random_questions(30, 700),
}
CLOSED = ("randomized_response", "subset_selection", "rappor", "oue", "hadamard", "hrr", "haar", "fourier")


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("how", [{"time_limit": 0}, {"cancel": lambda: True}], ids=["no time", "cancelled"])
@pytest.mark.parametrize("name", OTHERS)
def test_no_design_is_worse_than_a_mechanism_in_closed_form(name, how):
    workload, best = OTHERS[name], np.inf
    for closed in CLOSED:
        spec = ldp.library.spec(closed)
        if spec.unsuitable(workload.n, 1.0, workload) is None:
            best = min(best, analysis.objective(spec.build(workload.n, 1.0), workload))
    alike = analysis.objective(mechanisms.create("subset_selection", n=workload.n, epsilon=1.0), workload)
    assert alike_objective(workload, 1.0) == pytest.approx(alike, rel=1e-11)
    told = []
    found = design(workload, 1.0, **how, callback=lambda p: told.append(p.objective))
    assert found.objective <= best * (1 + 2e-6)
    assert told[0] <= best * (1 + 2e-6)
    made = mechanisms.create("optimized", epsilon=1.0, workload=workload, **how)
    assert analysis.objective(made, workload) <= best * (1 + 1e-5)


def test_haar_is_there_where_a_search_ends_before_its_first_round():
    assert design(workloads.prefix(64), 0.1, time_limit=None, cancel=lambda: True).made.name == "haar"


@pytest.mark.parametrize("name", ["random", "both"])
def test_nor_for_the_worst_type(name):
    workload = OTHERS[name]
    limits = SearchLimits(None, cancel=lambda: True)
    found = worst_case_design(workload, 1.0, limits)
    for closed in ("subset_selection", "haar"):
        made = mechanisms.create(closed, n=workload.n, epsilon=1.0)
        assert found.worst_case_variance <= analysis.worst_case_variance(made, workload) * (1 + 1e-5)


def test_nor_for_people_as_expected():
    workload, prior = OTHERS["random"], np.random.default_rng(1).dirichlet(np.ones(60))
    found = design(workload, 1.0, None, cancel=lambda: True, prior=prior)
    made = mechanisms.create("subset_selection", n=60, epsilon=1.0)
    cost = prior @ made.variance_profile(workload)
    assert bounds.average_variance(found.objective, workload, prior) <= cost * (1 + 1e-5)
