"""The certified-optimal optimiser: against every row enumerated (CVXPY), validity, determinism, its parts one by one."""

import math
import threading

import cvxpy as cp
import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.mechanisms.subset_selection import best_subset_size
from ldp_core.optimize import design
from ldp_core.optimize.columns.generation import RowSearch, strategy_of
from ldp_core.optimize.columns.reweighting import WorstCaseSearch
from ldp_core.run import Interrupted
from tests.optimize.checks import assert_valid, plain_objective
from tests.refused import refused

LOW_RANK = {
    "parity": workloads.parity(4, 2),
    "k_way": workloads.k_way_marginals(4, 2),
    "custom": workloads.custom(np.arange(10.0).reshape(2, 5) ** 0.5),
}


def all_rows(n, epsilon):
    high = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return 1 + np.expm1(epsilon) * high


def enumerated(workload, epsilon, prior=None):
    """The least tr(M^-1 G) over measures on all two-valued rows, by an interior point solver."""
    n = workload.n
    rows = all_rows(n, epsilon)
    masses = rows.sum(axis=1) if prior is None else n * rows @ prior
    weights = cp.Variable(len(rows), nonneg=True)
    outer = (rows[:, :, None] * rows[:, None, :] / masses[:, None, None]).reshape(len(rows), -1)
    information = cp.reshape(outer.T @ weights, (n, n), order="C")
    objective = cp.matrix_frac(workload.gram_root.T, (information + information.T) / 2)
    problem = cp.Problem(cp.Minimize(objective), [rows.T @ weights == 1])
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize(("n", "epsilon"), [(4, 0.5), (5, 1.0), (5, 3.0)])
@pytest.mark.parametrize("kind", ["prefix", "all_range", "histogram"])
def test_is_the_optimum_over_all_rows(kind, n, epsilon, with_prior):
    workload = getattr(workloads, kind)(n)
    prior = np.arange(1.0, n + 1) / (n * (n + 1) / 2) if with_prior else None
    result = design(workload, epsilon, time_limit=None, max_rounds=150, prior=prior)
    assert_valid(result.strategy, epsilon)
    assert result.objective == pytest.approx(plain_objective(result.strategy, workload, prior), rel=1e-9)
    assert result.objective == pytest.approx(enumerated(workload, epsilon, prior), rel=2e-5)


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.25, pytest.param(1.0, marks=pytest.mark.slow), 4.0])
@pytest.mark.parametrize("workload", [workloads.prefix(16), workloads.all_range(16)], ids=repr)
def test_is_within_half_a_per_cent_of_the_certified_bound(workload, epsilon):
    result = design(workload, epsilon, time_limit=None, max_rounds=250)
    assert_valid(result.strategy, epsilon)
    certified = bounds.certificate(workload, epsilon, None)
    assert certified.verify()
    assert certified.value <= result.objective < 1.005 * certified.value


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, pytest.param(1.0, marks=pytest.mark.slow), 3.0])
@pytest.mark.parametrize(
    "workload",
    [workloads.histogram(32), workloads.all_marginals(5), workloads.k_way_marginals(5, 3), workloads.parity(5)],
    ids=repr,
)
def test_symmetric_workloads_are_solved_by_patterns(workload, epsilon):
    result = design(workload, epsilon, time_limit=None, max_rounds=30)
    assert_valid(result.strategy, epsilon)
    assert result.objective == pytest.approx(plain_objective(result.strategy, workload), rel=1e-9)
    certified = bounds.certificate(workload, epsilon, None).value
    assert certified <= result.objective < 1.005 * certified


def test_histogram_is_subset_selection_where_that_can_be_written_out():
    workload = workloads.histogram(12)
    result = design(workload, 1.0, None)
    assert result.rounds == 0
    assert len(result.strategy) == math.comb(12, best_subset_size(12, 1.0))
    best = mechanisms.create("subset_selection", 12, 1.0)
    assert result.objective == pytest.approx(analysis.objective(best, workload), rel=1e-12)
    assert plain_objective(result.strategy, workload) == pytest.approx(result.objective, rel=1e-12)


def test_outputs_too_unlikely_to_be_stored_with_their_ratio_are_left_out():
    high, smallest = np.array([[True, False], [False, True], [True, True], [False, True]]), 5e-324
    assert 2.6 * smallest / (2.0 * smallest) == 1.5  # a ratio of 1.3, as it is stored
    found = strategy_of(high, np.array([0.25, 0.5, 0.1, 2.0 * smallest]), 1.3)
    assert found == pytest.approx(np.array([[0.325, 0.25], [0.5, 0.65], [0.13, 0.13]]))


@pytest.mark.parametrize("worst", [False, True])
def test_searches_that_are_interrupted_keep_epsilon(worst):
    """The rows of the best so far are not trimmed then, and some have next to no weight."""
    workload, ended = workloads.Prefix(10), threading.Event()
    search = WorstCaseSearch if worst else RowSearch

    def check():
        if ended.is_set():
            raise Interrupted

    made = search(workload, 1.0, *([] if worst else [np.ones(10)]), np.random.default_rng(0), check)
    made.prepare()
    for _ in range(400):
        made.round()
    ended.set()
    strategy, _ = made.finish(False)
    assert np.ptp(np.log(strategy), axis=1).max() <= 1 + 1e-9
    assert strategy.sum(axis=0) == pytest.approx(1.0)


@pytest.mark.crossed
@pytest.mark.parametrize("name", LOW_RANK)
@pytest.mark.parametrize("epsilon", [0.3, pytest.param(1.0, marks=pytest.mark.slow), 3.0])
def test_rank_deficient_workloads(name, epsilon):
    workload = LOW_RANK[name]
    assert len(workload.gram_root) < workload.n
    uniform = np.full(workload.n, 1 / workload.n)
    for prior in (None, uniform):  # a prior switches the patterns off
        result = design(workload, epsilon, time_limit=None, max_rounds=150, prior=prior)
        assert_valid(result.strategy, epsilon)
        assert result.objective == pytest.approx(plain_objective(result.strategy, workload), rel=1e-5)
        bound = bounds.certificate(workload, epsilon, None).value
        assert bound <= result.objective < 1.03 * bound
        mechanism = mechanisms.ExplicitMechanism("designed", result.strategy, epsilon)
        assert analysis.objective(mechanism, workload) == pytest.approx(result.objective, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 8.0, 20.0])
@pytest.mark.parametrize("workload", [workloads.prefix(2), workloads.prefix(7), workloads.histogram(3)], ids=repr)
def test_is_valid_for_extreme_epsilon_and_small_domains(workload, epsilon):
    result = design(workload, epsilon, time_limit=None, max_rounds=40)
    assert_valid(result.strategy, epsilon)
    assert bounds.centred_svd(workload, epsilon) <= result.objective * (1 + 1e-9)


def test_a_prior_is_worth_having():
    workload, prior = workloads.prefix(12), np.array([0.7, *np.full(11, 0.3 / 11)])
    blind = design(workload, 1.0, time_limit=None, max_rounds=100)
    informed = design(workload, 1.0, time_limit=None, max_rounds=100, prior=prior)
    assert informed.objective < plain_objective(blind.strategy, workload, prior)
    certified = bounds.certificate(workload, 1.0, None, prior)
    assert certified.verify()
    assert certified.value <= informed.objective < 1.01 * certified.value


@pytest.mark.parametrize("workload", [workloads.prefix(16), workloads.all_range(9)], ids=repr)
def test_progress_is_monotone_and_carries_a_valid_strategy(workload):
    seen = []

    def watch(progress):
        assert_valid(progress.strategy, 1.0)
        assert plain_objective(progress.strategy, workload) == pytest.approx(progress.objective, rel=1e-9)
        seen.append((progress.round, progress.seconds, progress.objective))

    result = design(workload, 1.0, time_limit=None, max_rounds=12, callback=watch)
    assert [s[0] for s in seen] == [0, *range(13)]  # what there is at once, and before the first round
    assert result.history == tuple(seen[2:])
    assert (np.diff([s[2] for s in seen]) <= 0).all()
    assert result.objective <= seen[-1][2] * (1 + 1e-9)
    assert (result.stopped, result.rounds) == ("rounds", 12)


@pytest.mark.parametrize("workload", [workloads.prefix(12), workloads.all_marginals(4)], ids=repr)
def test_is_deterministic_in_seed_and_rounds(workload):
    one, again, other = (design(workload, 1.0, None, max_rounds=8, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.strategy, again.strategy)
    assert one.objective == again.objective
    assert_valid(other.strategy, 1.0)
    assert other.objective == pytest.approx(plain_objective(other.strategy, workload), rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "out of range"),
        ({"max_rounds": -1}, "max_rounds"),
        ({"max_rounds": 1.5}, "max_rounds"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"prior": np.full(3, 1 / 3)}, "each of the 4 types"),
        ({"prior": np.array([0.5, 0.6, -0.1, 0.0])}, "non-negative"),
        ({"workload": workloads.prefix(4097)}, "at most 2,048 are"),
    ],
)
def test_bad_input_is_refused_in_words(changes, words):
    refused(words, lambda: design(**{"workload": workloads.prefix(4), "epsilon": 1.0, "time_limit": None, **changes}))


# --- the parts ------------------------------------------------------------------------------------------------------


def drawn_queries(queries, types, seed):
    """Queries (p, n) with normal entries: p far below n, and no two types alike."""
    return workloads.custom(np.random.default_rng(seed).standard_normal((queries, types)))


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("queries", [1, 2, 4])
def test_few_queries_reach_the_optimum_over_all_rows(queries, epsilon):
    workload = drawn_queries(queries, 7, queries)
    result = design(workload, epsilon, time_limit=None, max_rounds=150)
    assert_valid(result.strategy, epsilon)
    assert result.objective == pytest.approx(enumerated(workload, epsilon), rel=2e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_few_queries_are_never_worse_than_one_query_each(epsilon):
    questions = (np.random.default_rng(0).random((10, 128)) < 0.5).astype(float)
    workload = workloads.custom(questions)
    truth = np.vstack([questions, 1 - questions])  # a random query of each person, by randomized response
    strategy = np.where(truth > 0, math.e**epsilon, 1.0) / (10 * (1 + math.e**epsilon))
    best = design(workload, epsilon, time_limit=None, max_rounds=12)
    assert best.objective < (1 + 1e-3) * plain_objective(strategy, workload)
