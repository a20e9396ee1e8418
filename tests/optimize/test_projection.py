"""Algorithm 1 against a quadratic programme, and the properties any projection has."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core.optimize.gradient.projection import project, project_types


def problem(seed, m, n, epsilon, share, scale):
    """Random matrix and row minima; ``share`` in (0, 1) places sum(z) between its two limits."""
    rng = np.random.default_rng(seed)
    lower = rng.dirichlet(np.ones(m)) * (np.exp(-epsilon) * (1 - share) + share)
    return scale * rng.standard_normal((m, n)), lower


problems = st.builds(
    lambda seed, m, n, epsilon, share, scale: (*problem(seed, m, n, epsilon, share, scale), epsilon),
    st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 12), st.floats(0.01, 8), st.floats(0.01, 0.99),
    st.sampled_from([1e-6, 0.01, 1.0, 1e6]),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_quadratic_programme(seed):
    matrix, lower = problem(seed, 9, 4, 1.0, 0.4, 0.3)
    variable = cp.Variable(matrix.shape)
    bounds = [variable >= lower[:, None], variable <= np.e * lower[:, None], cp.sum(variable, axis=0) == 1]
    cp.Problem(cp.Minimize(cp.sum_squares(variable - matrix)), bounds).solve(solver=cp.CLARABEL)
    assert project(matrix, lower, 1.0) == pytest.approx(variable.value, abs=1e-6)


@given(problems)
@settings(max_examples=150)
def test_is_feasible_and_of_the_stated_form(case):
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
def test_bad_input_is_refused_in_words(matrix, lower, epsilon, words):
    with pytest.raises(ValueError, match=words):
        project(matrix, lower, epsilon)
