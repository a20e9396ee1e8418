"""The projected gradient optimiser: derivatives against finite differences, feasibility, determinism, quality."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.optimize import SearchLimits, projected_gradient
from ldp_core.optimize.gradient.descent import slopes
from ldp_core.optimize.gradient.projection import project, project_types
from ldp_core.optimize.strategy import evaluate
from tests.optimize.checks import assert_valid, plain_objective
from tests.refused import refused

MAKERS = {"histogram": workloads.histogram, "prefix": workloads.prefix, "all_range": workloads.all_range}
# Objective of the strategies the paper's published code finds at n = 32, epsilon = 1, 4n rows.
PUBLISHED = {"histogram": 3961.0, "prefix": 8677.2, "all_range": 194287}


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
        numeric = (plain_objective(strategy + move, workload) - plain_objective(strategy - move, workload)) / 2e-6
        assert analytic[y, u] == pytest.approx(numeric, rel=1e-5)


def test_a_singular_strategy_has_no_objective():
    assert evaluate(np.full((3, 4), 0.25), np.eye(3)) is None


@pytest.mark.crossed
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MAKERS)
def test_beats_the_published_strategies(name, seed):
    workload = MAKERS[name](32)
    result = projected_gradient(workload, 1.0, limits=SearchLimits(time_limit=None, seed=seed))
    assert_valid(result.strategy, 1.0)
    assert result.objective == pytest.approx(plain_objective(result.strategy, workload), rel=1e-9)
    assert result.objective < 0.93 * PUBLISHED[name]
    assert result.stopped == "converged"


def test_progress_carries_a_valid_strategy_with_its_objective():
    workload = workloads.prefix(8)
    checked = []

    def watch(progress):
        assert progress.max_rounds == 30
        if progress.strategy is None:  # before there is a start
            return
        assert plain_objective(progress.strategy, workload) == pytest.approx(progress.objective, rel=1e-9)
        checked.append(progress.round)

    projected_gradient(workload, 1.0, limits=SearchLimits(time_limit=None, max_rounds=30, callback=watch))
    assert checked == list(range(31))


def test_never_worse_than_the_initial_strategy():
    n, epsilon = 8, 3.0
    randomized_response = np.ones((n, n)) + (np.exp(epsilon) - 1) * np.eye(n)
    randomized_response /= randomized_response.sum(axis=0)
    workload = workloads.histogram(n)
    before = plain_objective(randomized_response, workload)
    result = projected_gradient(
        workload, epsilon, initial=randomized_response, limits=SearchLimits(time_limit=None, max_rounds=50)
    )
    assert_valid(result.strategy, epsilon)
    assert result.objective <= before * (1 + 1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "out of range"),
        ({"rows": 3}, "at least n"),
        ({"limits": SearchLimits(None, max_rounds=-1)}, "max_rounds"),
        ({"limits": SearchLimits(time_limit=float("nan"))}, "time_limit"),
        ({"initial": np.eye(4)}, "not a strategy"),
        ({"initial": np.full((4, 4), 0.25)}, "tell all types apart"),
        ({"initial": np.ones((4, 3))}, "shape"),
        ({"initial": np.full((4, 4), 0.25), "rows": 4}, "not both"),
    ],
)
def test_bad_input_is_refused_in_words(changes, words):
    refused(words, lambda: projected_gradient(**{"workload": workloads.histogram(4), "epsilon": 1.0, **changes}))


# --- Algorithm 1, the projection ---------------------------------------------------------------------


def drawn(seed, m, n, epsilon, share, scale):
    """Random matrix and row minima; ``share`` in (0, 1) places sum(z) between its two limits."""
    rng = np.random.default_rng(seed)
    lower = rng.dirichlet(np.ones(m)) * (np.exp(-epsilon) * (1 - share) + share)
    return scale * rng.standard_normal((m, n)), lower


problems = st.builds(
    lambda seed, m, n, epsilon, share, scale: (*drawn(seed, m, n, epsilon, share, scale), epsilon),
    st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 12), st.floats(0.01, 8), st.floats(0.01, 0.99),
    st.sampled_from([1e-6, 0.01, 1.0, 1e6]),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_projection_equals_the_quadratic_programme(seed):
    matrix, lower = drawn(seed, 9, 4, 1.0, 0.4, 0.3)
    variable = cp.Variable(matrix.shape)
    bounds = [variable >= lower[:, None], variable <= np.e * lower[:, None], cp.sum(variable, axis=0) == 1]
    cp.Problem(cp.Minimize(cp.sum_squares(variable - matrix)), bounds).solve(solver=cp.CLARABEL)
    assert project(matrix, lower, 1.0) == pytest.approx(variable.value, abs=1e-6)


@given(problems)
@settings(max_examples=150)
def test_a_projection_is_feasible_and_of_the_stated_form(case):
    matrix, lower, epsilon = case
    strategy = project(matrix, lower, epsilon)
    assert np.abs(strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (strategy >= lower[:, None]).all()
    assert (strategy.max(axis=1) <= np.exp(epsilon) * strategy.min(axis=1)).all()
    _, shift = project_types(matrix.T.copy(), lower, np.exp(epsilon) * lower, np.zeros(matrix.shape[1]))
    expected = np.clip(matrix + shift, lower[:, None], np.exp(epsilon) * lower[:, None])
    assert strategy == pytest.approx(expected, abs=1e-12 + 1e-15 * len(matrix) * np.abs(matrix).max())


@pytest.mark.parametrize("scale", [1.0, np.exp(-2.0)])
def test_the_extreme_row_minima_leave_one_strategy(scale):
    lower = scale * np.array([0.5, 0.3, 0.2])
    matrix = np.random.default_rng(0).standard_normal((3, 6))
    assert project(matrix, lower, 2.0) == pytest.approx(np.tile([[0.5], [0.3], [0.2]], 6), abs=1e-12)


@pytest.mark.parametrize(
    ("matrix", "lower", "epsilon", "words"),
    [
        (np.zeros((3, 2)), np.full(2, 0.2), 1.0, "one lower bound for each row"),
        (np.zeros((3, 2)), np.full(3, 0.4), 1.0, "rescale lower"),
        (np.zeros((3, 2)), np.full(3, 0.1), 1.0, "rescale lower"),
        (np.full((3, 2), np.nan), np.full(3, 0.2), 1.0, "must be finite"),
        (np.zeros((3, 2)), np.array([-0.1, 0.4, 0.4]), 1.0, "not negative"),
        (np.zeros((3, 2)), np.full(3, 0.2), float("nan"), "Epsilon"),
    ],
)
def test_bad_projections_are_refused_in_words(matrix, lower, epsilon, words):
    refused(words, project, matrix, lower, epsilon)
