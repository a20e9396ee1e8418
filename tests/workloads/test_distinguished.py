"""Types that no question distinguishes are one type: the classes, and designs and proofs for them."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.optimize import SearchLimits, exact, worst_case_design
from ldp_core.workloads import distinguished, quotient
from ldp_core.workloads.on_attributes import OnAttributes

RNG = np.random.default_rng(0)
CONDITIONS = workloads.custom((RNG.random((4, 5)) < 0.5).astype(float)[:, RNG.integers(5, size=40)])
AGE = OnAttributes((6, 4, 2), [0], workloads.union([workloads.prefix(6), workloads.histogram(6)]))
MANY = OnAttributes((120, 3), [0], workloads.all_range(120))
CONDITIONS_OF_MANY = workloads.custom(np.repeat(RNG.random((4, 120)), 3, axis=1))


@pytest.mark.parametrize("workload", [CONDITIONS, AGE, workloads.custom(RNG.integers(2, size=(3, 12)) / 3)], ids=repr)
def test_classes_are_the_equal_columns(workload):
    found = distinguished(workload)
    W = workload.matrix
    assert np.array_equal(found.classes[:, None] == found.classes, (W[:, :, None] == W[:, None]).all(axis=0))
    assert np.array_equal(np.bincount(found.classes), found.sizes)
    assert np.array_equal(found.workload.matrix[:, found.classes], W)
    assert (np.diff(np.unique(found.classes, return_index=True)[1]) > 0).all()  # numbered by their first types


def test_queries_too_many_to_write_out_have_classes_by_their_gram_matrix(monkeypatch):
    monkeypatch.setattr(quotient, "_MOST_ENTRIES", 10)
    for workload in (MANY, workloads.union([MANY, CONDITIONS_OF_MANY])):
        found, few = distinguished(workload), distinguished(workload).workload
        assert np.array_equal(found.classes, np.arange(360) // 3)
        assert few.gram_dense()[np.ix_(found.classes, found.classes)] == pytest.approx(workload.gram_dense(), rel=1e-9)


@pytest.mark.parametrize(
    "workload",
    [
        workloads.prefix(20),
        workloads.histogram(20),
        workloads.k_way_marginals(4, 2),
        workloads.custom(np.ones((2, 9))),
        workloads.prefix(2**16),
    ],
    ids=repr,
)
def test_there_are_none_where_all_types_are_distinguished_or_a_single_one(workload):
    assert distinguished(workload) is None


def test_priors_add_up_and_spread():
    found, prior = distinguished(CONDITIONS), np.random.default_rng(1).dirichlet(np.ones(40))
    shares = found.shares(prior)
    assert shares == pytest.approx([prior[found.classes == k].sum() for k in range(len(found.sizes))])
    assert found.shares(found.spread(shares)) == pytest.approx(shares)
    assert found.shares(None) == pytest.approx(found.sizes / 40)
    assert distinguished(AGE).shares(None) is None


def least(workload, epsilon, p):
    """The least variance per user on average over p, by semidefinite programming over all 2^n - 2 two-valued rows of all
    types, none of them merged."""
    n = workload.n
    rows = 1 + np.expm1(epsilon) * np.array(list(product([0.0, 1.0], repeat=n)))[1:-1]
    weights = cp.Variable(len(rows), nonneg=True)
    M = cp.reshape(
        np.einsum("ki,kj,k->kij", rows, rows, 1 / (n * rows @ p)).reshape(len(rows), -1).T @ weights, (n, n), "C"
    )
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(workload.gram_root.T, M)), [rows.T @ weights == 1])
    return problem.solve(solver=cp.CLARABEL) / n - p @ workload.gram_diag


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("uneven", [False, True])
def test_merging_loses_nothing_against_the_optimum_for_all_types(seed, uneven):
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(4, 7)), float(rng.choice([0.5, 1.0, 2.5]))
    few = rng.integers(-2, 3, (3, n - 2)).astype(float)
    workload = workloads.custom(few[:, [*range(n - 2), *rng.integers(n - 2, size=2)]])
    prior = rng.dirichlet(np.ones(n)) if uneven else None
    p = np.full(n, 1 / n) if prior is None else prior
    apart, merged = least(workload, epsilon, p), exact(workload, epsilon, prior)
    assert merged.variance == pytest.approx(apart, rel=1e-4)
    assert merged.proof.verify()
    rounds = {"max_rounds": 60, "time_limit": None}
    made = mechanisms.create("optimized", epsilon=epsilon, workload=workload, prior=prior, **rounds)
    assert apart * (1 - 1e-4) <= made.variance_profile(workload) @ p <= apart * 1.01


def test_the_exact_optimum_of_many_types_is_that_of_few_distinguished():
    prior = np.random.default_rng(4).dirichlet(np.ones(40))
    for people in (None, prior):
        best = exact(CONDITIONS, 1.0, people)
        assert best.strategy.shape[1] == 40
        assert abs(best.gap) < 1e-4
        average = np.full(40, 1 / 40) if people is None else people
        parts = mechanisms.OnClasses(
            mechanisms.ExplicitMechanism(
                "best",
                best.strategy[:, np.unique(distinguished(CONDITIONS).classes, return_index=True)[1]],
                1.0,
                prior=distinguished(CONDITIONS).shares(average),
            ),
            distinguished(CONDITIONS).classes,
        )
        assert average @ parts.variance_profile(CONDITIONS) == pytest.approx(best.variance, rel=1e-6)
        found = ldp.optimize.design(CONDITIONS, 1.0, None, max_rounds=60, prior=people)
        assert best.objective * (1 - 1e-6) <= found.objective <= best.objective * 1.005


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("workload", [CONDITIONS, AGE], ids=repr)
def test_designs_and_proofs_for_classes_are_for_all_types(workload, prior):
    p = np.random.default_rng(2).dirichlet(np.ones(workload.n)) if prior else None
    told = []
    found = ldp.optimize.design(
        workload, 1.0, None, max_rounds=40, prior=p, callback=lambda step: told.append((step.objective, step.strategy))
    )
    for objective, strategy in told:
        assert strategy.sum(axis=0) == pytest.approx(np.ones(workload.n))
        own = mechanisms.ExplicitMechanism("told", strategy, 1.0, prior=p).variance_profile(workload)
        people = np.full(workload.n, 1 / workload.n) if p is None else p
        assert workload.n * people @ (own + workload.gram_diag) <= objective * (1 + 1e-6)
    assert found.objective <= told[0][0] * (1 + 1e-3)
    made = mechanisms.ExplicitMechanism("found", found.strategy, 1.0, prior=found.prior)
    assert made.audit().epsilon <= 1
    assert made.estimate(made.simulate(np.full(workload.n, 9), np.random.default_rng(0))).counts() is not None
    profile = made.variance_profile(workload)
    for k in range(len(distinguished(workload).sizes)):  # all types of a class have the same errors, nearly
        assert np.ptp(profile[distinguished(workload).classes == k]) < 1e-2 * profile.max()
    if prior:
        assert bounds.average_variance(found.objective, workload, p) == pytest.approx(p @ profile, rel=1e-5)
        return
    assert analysis.objective(made, workload) == pytest.approx(found.objective, rel=1e-6)
    proof = bounds.certificate(workload, 1.0, time_limit=None)
    assert proof.verify()
    assert 1 <= found.objective / proof.value < 1.02


@pytest.mark.parametrize("workload", [CONDITIONS, AGE], ids=repr)
def test_worst_cases_are_those_of_classes(workload):
    found = worst_case_design(workload, 1.0, SearchLimits(None, max_rounds=60))
    made = mechanisms.ExplicitMechanism("found", found.strategy, 1.0, prior=found.prior)
    assert found.worst_case_variance == pytest.approx(analysis.worst_case_variance(made, workload), rel=1e-5)
    proof = bounds.worst_case(workload, 1.0, time_limit=None)
    assert proof.verify()
    assert 1 <= found.worst_case_variance / proof.variance < 1.03


def test_all_types_can_be_kept_for_questions_asked_later():
    made = mechanisms.create("optimized", epsilon=1.0, workload=CONDITIONS, types="all", max_rounds=1, time_limit=None)
    assert made.drawn is made
    assert made.supports(workloads.histogram(40)) is None
    assert "distinguish" not in made.explain()


def test_a_histogram_of_one_column_is_subset_selection_on_it(clock):
    found = ldp.optimize.design(OnAttributes((24, 4), [0], workloads.histogram(24)), 1.0, time_limit=0)
    alone = analysis.objective(mechanisms.create("subset_selection", n=24, epsilon=1.0), workloads.histogram(24))
    assert found.objective == pytest.approx(4 * alone, rel=2e-4)
