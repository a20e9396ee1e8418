"""The projected gradient optimiser: derivatives against finite differences, feasibility, determinism, quality."""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.optimize import SearchLimits, projected_gradient
from ldp_core.optimize.gradient.descent import slopes
from ldp_core.optimize.strategy import evaluate

MAKERS = {"histogram": workloads.histogram, "prefix": workloads.prefix, "all_range": workloads.all_range}
# Objective of the strategies the paper's published code finds at n = 32, epsilon = 1, 4n rows.
PUBLISHED = {"histogram": 3961.0, "prefix": 8677.2, "all_range": 194287}
# Certified optima at n = 32 (histogram: subset selection; others: column generation with a lower bound).
OPTIMA = {
    0.5: {"histogram": 15061, "prefix": 30824, "all_range": 714440},
    2.0: {"histogram": 697.6, "prefix": 1824.9, "all_range": 36222},
    4.0: {"histogram": 80.066, "prefix": 684.17, "all_range": 9246.7},
}


def plain_objective(strategy, gram):
    """tr(M^-1 G) as the formula says, by NumPy's own inverse."""
    information = strategy.T @ (strategy / strategy.sum(axis=1, keepdims=True))
    return float(np.trace(np.linalg.inv(information) @ gram))


def assert_valid(result, epsilon):
    strategy = result.strategy
    assert strategy.dtype == np.float64
    assert (strategy > 0).all()
    assert np.abs(strategy.sum(axis=0) - 1).max() <= 1e-12
    ratio = (strategy.max(axis=1) / strategy.min(axis=1)).max()
    assert ratio <= np.exp(epsilon)
    assert np.log(ratio) <= epsilon


def same(one, other):
    return np.array_equal(one.strategy, other.strategy) and one.objective == other.objective


@pytest.mark.parametrize("name", MAKERS)
def test_gradient_equals_finite_differences(name):
    workload = MAKERS[name](5)
    rng = np.random.default_rng(1)
    strategy = rng.uniform(0.5, 1.5, (12, 5)) / 12
    at = evaluate(strategy.T.copy(), workload.gram_root)
    product, curvature = slopes(strategy.T.copy(), at)
    analytic = ((curvature - 2 * product) / at.outputs).T
    for y, u in [(0, 0), (3, 4), (11, 2), (7, 1)]:
        move = np.zeros_like(strategy)
        move[y, u] = 1e-6
        gram = workload.gram_dense()
        numeric = (plain_objective(strategy + move, gram) - plain_objective(strategy - move, gram)) / 2e-6
        assert analytic[y, u] == pytest.approx(numeric, rel=1e-5)


def test_a_singular_strategy_has_no_objective():
    assert evaluate(np.full((3, 4), 0.25), np.eye(3)) is None


@pytest.mark.crossed
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MAKERS)
def test_beats_the_published_strategies(name, seed):
    workload = MAKERS[name](32)
    result = projected_gradient(workload, 1.0, limits=SearchLimits(time_limit=None, seed=seed))
    assert_valid(result, 1.0)
    assert result.objective == pytest.approx(plain_objective(result.strategy, workload.gram_dense()), rel=1e-9)
    assert result.objective < 0.93 * PUBLISHED[name]
    assert result.stopped == "converged"


@pytest.mark.crossed
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", OPTIMA)
def test_comes_near_the_certified_optimum(name, epsilon):
    result = projected_gradient(MAKERS[name](32), epsilon)
    assert_valid(result, epsilon)
    optimum = OPTIMA[epsilon][name]
    assert optimum * (1 - 1e-3) < result.objective < 1.1 * optimum


@pytest.mark.parametrize("epsilon", [0.001, 0.25, 3.0, 10.0, 20.0])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_is_valid_for_extreme_epsilon_and_small_domains(n, epsilon):
    result = projected_gradient(workloads.prefix(n), epsilon, limits=SearchLimits(time_limit=None, max_rounds=60))
    assert_valid(result, epsilon)


def test_is_deterministic_in_seed_and_rounds():
    one, again, other = (
        projected_gradient(workloads.prefix(8), 1.0, limits=SearchLimits(time_limit=None, seed=s, max_rounds=40))
        for s in (5, 5, 6)
    )
    assert same(one, again)
    assert not same(one, other)


def test_progress_carries_a_valid_strategy_with_its_objective():
    workload = workloads.prefix(8)
    gram, checked = workload.gram_dense(), []

    def watch(progress):
        assert progress.max_rounds == 30
        if progress.strategy is None:  # before there is a start
            return
        assert plain_objective(progress.strategy, gram) == pytest.approx(progress.objective, rel=1e-9)
        checked.append(progress.round)

    projected_gradient(workload, 1.0, limits=SearchLimits(time_limit=None, max_rounds=30, callback=watch))
    assert checked == list(range(31))


def test_never_worse_than_the_initial_strategy():
    n, epsilon = 8, 3.0
    randomized_response = np.ones((n, n)) + (np.exp(epsilon) - 1) * np.eye(n)
    randomized_response /= randomized_response.sum(axis=0)
    workload = workloads.histogram(n)
    before = plain_objective(randomized_response, workload.gram_dense())
    result = projected_gradient(
        workload, epsilon, initial=randomized_response, limits=SearchLimits(time_limit=None, max_rounds=50)
    )
    assert_valid(result, epsilon)
    assert result.objective <= before * (1 + 1e-9)


def test_works_on_a_rank_deficient_workload():
    class Total(workloads.Histogram):
        gram_root = np.ones((1, 6))

    result = projected_gradient(Total(6), 1.0, limits=SearchLimits(time_limit=None, max_rounds=50))
    assert_valid(result, 1.0)
    # Everyone is counted exactly: 1'M^-1 1 = 1'1 because M 1 = 1.
    assert result.objective == pytest.approx(6, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "out of range"),
        ({"rows": 3}, "at least n"),
        ({"limits": SearchLimits(max_rounds=-1)}, "max_rounds"),
        ({"limits": SearchLimits(time_limit=float("nan"))}, "time_limit"),
        ({"initial": np.eye(4)}, "not a strategy"),
        ({"initial": np.full((4, 4), 0.25)}, "tell all types apart"),
        ({"initial": np.ones((4, 3))}, "shape"),
        ({"initial": np.full((4, 4), 0.25), "rows": 4}, "not both"),
    ],
)
def test_bad_input_is_refused_in_words(changes, words):
    with pytest.raises(ValueError, match=words):
        projected_gradient(**{"workload": workloads.histogram(4), "epsilon": 1.0, **changes})
