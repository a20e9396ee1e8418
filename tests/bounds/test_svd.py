"""The bounds from singular values: formulas, and no mechanism below them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, bounds, mechanisms, workloads
from tests.refused import refused

MAKERS = [workloads.histogram, workloads.prefix, workloads.all_range]
makers = st.sampled_from(MAKERS)


def centred_by_formula(W, epsilon, prior):
    """n (|W p|^2 + |W S P|_*^2 / sinh(epsilon/2)^2), by NumPy's singular values."""
    n = len(prior)
    root = np.sqrt(prior)
    centred = W * root @ (np.eye(n) - np.outer(root, root))
    nuclear = np.linalg.svd(centred, compute_uv=False).sum()
    return n * (((W @ prior) ** 2).sum() + nuclear**2 / math.sinh(epsilon / 2) ** 2)


def random_strategy(rng, n, epsilon, rows, two_valued):
    """Columns sum to one, rows within e^epsilon: any rows within the ratio, complemented by their mirror images."""
    E = math.exp(epsilon)
    share = rng.random((rows, n)) < rng.uniform(0.05, 0.95, (rows, 1)) if two_valued else rng.random((rows, n))
    high = 1 + (E - 1) * share
    weights = rng.dirichlet(np.ones(rows))[:, None]
    return np.vstack([high, 1 + E - high]) * np.vstack([weights, weights]) / (1 + E)


@settings(max_examples=30)
@given(makers, st.integers(2, 24), st.floats(0.01, 8))
def test_svd_is_the_squared_sum_of_singular_values_over_e_epsilon(maker, n, epsilon):
    workload = maker(n)
    expected = np.linalg.svd(workload.matrix, compute_uv=False).sum() ** 2 / math.exp(epsilon)
    assert bounds.svd(workload, epsilon) == pytest.approx(expected)


@settings(max_examples=30)
@given(makers, st.integers(2, 24), st.floats(0.01, 8))
def test_centred_svd_is_its_formula(maker, n, epsilon):
    workload = maker(n)
    uniform = np.full(n, 1 / n)
    expected = centred_by_formula(workload.matrix, epsilon, uniform)
    # Past the exact zero that belongs to sqrt p, eigenvalues resolve singular values to 1e-8 of the largest.
    assert bounds.centred_svd(workload, epsilon) == pytest.approx(expected, rel=1e-6)
    assert bounds.centred_svd(workload, epsilon, uniform) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=30)
@given(makers, st.integers(2, 12), st.floats(0.1, 5), st.integers(0, 2**32 - 1))
def test_centred_svd_with_a_prior_is_its_formula(maker, n, epsilon, seed):
    workload, prior = maker(n), np.random.default_rng(seed).dirichlet(np.ones(n))
    expected = centred_by_formula(workload.matrix, epsilon, prior)
    assert bounds.centred_svd(workload, epsilon, prior) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=40)
@given(
    st.sampled_from(["randomized_response", "subset_selection", "hadamard", "hierarchical"]),
    makers,
    st.integers(2, 24),
    st.floats(0.05, 8),
)
def test_no_closed_form_mechanism_is_below(name, maker, n, epsilon):
    workload = maker(n)
    value = analysis.objective(mechanisms.create(name, n, epsilon), workload) * (1 + 1e-9)
    assert bounds.svd(workload, epsilon) <= value
    assert bounds.centred_svd(workload, epsilon) <= value


@settings(max_examples=60)
@given(makers, st.integers(2, 8), st.floats(0.3, 4), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_no_strategy_is_below_for_any_prior(maker, n, epsilon, two_valued, with_prior, seed):
    rng = np.random.default_rng(seed)
    workload, Q = maker(n), random_strategy(rng, n, epsilon, 4 * n, two_valued)
    assert Q.sum(axis=0) == pytest.approx(np.ones(n))
    assert (Q.max(axis=1) / Q.min(axis=1)).max() <= math.exp(epsilon) * (1 + 1e-9)
    prior = rng.dirichlet(np.ones(n)) if with_prior else np.full(n, 1 / n)
    M = Q.T @ (Q / (Q @ prior)[:, None])
    if np.linalg.cond(M) < 1e10:
        value = n * np.trace(np.linalg.solve(M, workload.gram_dense()))
        assert bounds.centred_svd(workload, epsilon, prior) <= value * (1 + 1e-6)
        if not with_prior:
            assert bounds.svd(workload, epsilon) <= value * (1 + 1e-6)


@pytest.mark.parametrize(("n", "size"), [(3, 1), (6, 2), (40, 8)])
def test_the_centred_bound_is_attained_at_whole_subset_sizes(n, size):
    # If k = n / (e^epsilon + 1), every row has the largest variance allowed, and all directions
    # share it evenly.
    epsilon, workload = math.log(n / size - 1), workloads.histogram(n)
    exact = analysis.objective(mechanisms.create("subset_selection", n, epsilon), workload)
    assert bounds.centred_svd(workload, epsilon) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("bound", [bounds.svd, bounds.centred_svd])
@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), 1000, "one"])
def test_bad_epsilon_is_refused(bound, epsilon):
    refused(r"[Ee]psilon", lambda: bound(workloads.prefix(3), epsilon))


@pytest.mark.parametrize(
    "workload",
    [
        workloads.width_range(96, 12),
        workloads.union([workloads.prefix(64), workloads.histogram(64)], weights=[1.0, 3.0]),
        workloads.product([workloads.prefix(8), workloads.histogram(6)]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("even", [True, False])
def test_without_eigenvalues_the_bound_is_lower_but_hardly(lower, workload, even):
    rng = np.random.default_rng(0)
    prior = None if even else rng.dirichlet(np.full(workload.n, 5.0))
    exact = bounds.centred_svd(workload, 1.0, prior)
    lower(MOST_EXACT_TYPES=8)
    below = bounds.centred_svd(workload, 1.0, prior)
    assert below <= exact * (1 + 1e-12)
    if even:
        assert below > 0.85 * exact


@pytest.mark.parametrize("n", [2, 3, 4, 7, 12, 33])
@pytest.mark.parametrize("maker", [workloads.prefix, workloads.all_range])
def test_centred_singular_values_of_totals_and_ranges_have_a_closed_form(maker, n):
    workload = maker(n)
    expected = np.linalg.svd(workload.matrix @ (np.eye(n) - 1 / n), compute_uv=False)[: n - 1]
    np.testing.assert_allclose(workload.centred_singular_values(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", [2048, 2**20])
def test_totals_of_many_types_lose_nothing(n):
    """Orthogonally to the uniform p, the Gram matrix of totals is the pseudo-inverse of the Laplacian of a path."""
    epsilon = 1.5
    singular = 1 / (2 * np.sin(np.pi * np.arange(1, n) / (2 * n)))
    even = (np.arange(1, n + 1) ** 2).sum() / n**2
    expected = n * (even + singular.sum() ** 2 / n / math.sinh(epsilon / 2) ** 2)
    assert bounds.centred_svd(workloads.prefix(n), epsilon) == pytest.approx(expected, rel=1e-8)
