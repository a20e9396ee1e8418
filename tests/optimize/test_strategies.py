"""The matrix mechanism's strategies against a convex solver, closed forms, brute force and each other."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.mechanisms.noise.vectors import centred_inverse, diameter
from ldp_core.optimize.strategies import error_of, optimal_l1, optimal_l2
from tests.refused import refused


def projector(n):
    return np.eye(n) - 1 / n


def brute_error(A, W):
    """|W P A^+|_F^2 with the centred A, by singular value decomposition."""
    P = projector(A.shape[1])
    return np.linalg.norm(W @ P @ np.linalg.pinv(A @ P, rcond=1e-10), "fro") ** 2


def brute_diameter(A, order):
    n = A.shape[1]
    return max(np.linalg.norm(A[:, u] - A[:, v], order) for u in range(n) for v in range(u))


def rank_deficient(n=7):
    W = np.random.default_rng(4).normal(size=(3, n))
    return workloads.custom(W)


def duplicate_columns():
    W = np.random.default_rng(5).normal(size=(6, 5))
    W[:, 4] = W[:, 0]
    return workloads.custom(W)


SMALL = [
    workloads.histogram(5),
    workloads.prefix(8),
    workloads.all_range(6),
    workloads.parity(3),
    workloads.parity(3, 1),
    workloads.k_way_marginals([2, 3], 1),
    workloads.all_marginals(3),
    rank_deficient(),
    duplicate_columns(),
]


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_inverse_error_and_diameters_equal_brute_force(n, k, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, n)) + 5  # a large component along 1, which must not matter
    inverse, identified = centred_inverse(A)
    centred = A @ projector(n)
    assert inverse == pytest.approx(np.linalg.pinv(centred.T @ centred, rcond=1e-10), rel=1e-5, abs=1e-7)
    if identified is None:
        assert k >= n - 1
    else:
        assert identified == pytest.approx(np.linalg.pinv(centred, rcond=1e-10) @ centred, abs=1e-7)
    asked = rng.normal(size=(3, k)) @ A  # in the row space, so always answerable
    assert error_of(A, workloads.custom(asked)) == pytest.approx(brute_error(A, asked), rel=1e-5, abs=1e-9)
    for norm, order in (("l1", 1), ("l2", 2)):
        largest, (u, v) = diameter(A, norm)
        assert largest == pytest.approx(brute_diameter(A, order))
        assert np.linalg.norm(A[:, u] - A[:, v], order) == pytest.approx(largest)


def test_a_strategy_that_cannot_answer_has_infinite_error():
    assert error_of(np.array([[1.0, 0, 0]]), workloads.prefix(3)) == np.inf
    assert error_of(np.array([[1.0, 0, 0]]), workloads.custom(np.array([[3.0, 1, 1]]))) == pytest.approx(4.0)


def oracle(workload):
    """Least tr(PGP S^+) under the pair constraints, by a conic solver, on an orthonormal basis of what is asked."""
    n = workload.n
    basis = np.linalg.svd(projector(n))[0][:, : n - 1]
    W = workload.matrix @ basis
    T = cp.Variable((n - 1, n - 1), PSD=True)
    pairs = [basis[u] - basis[v] for u in range(n) for v in range(u)]
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(W.T, T)), [d @ T @ d <= 1 for d in pairs])
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@pytest.mark.parametrize("workload", SMALL, ids=repr)
def test_optimal_l2_agrees_with_a_convex_solver(workload):
    design = optimal_l2(workload, tolerance=1e-4, max_rounds=5000)
    expected = oracle(workload)
    assert design.stopped == "converged"
    assert design.error == pytest.approx(expected, rel=3e-4)
    assert design.bound <= expected * (1 + 1e-6)


@pytest.mark.parametrize("workload", [*SMALL, workloads.prefix(64), workloads.all_range(64)], ids=repr)
def test_optimal_l2_delivers_what_it_says(workload):
    design = optimal_l2(workload)
    assert brute_diameter(design.strategy, 2) == pytest.approx(1.0)
    assert brute_error(design.strategy, workload.matrix) == pytest.approx(design.error, rel=1e-6)
    assert design.bound * (1 - 1e-12) <= design.error <= design.bound * 1.001


@pytest.mark.parametrize("n", [2, 5, 33])
def test_histogram_has_a_closed_form(n):
    """By symmetry S = P/2: all distances are 1 and the error is 2 tr P."""
    design = optimal_l2(workloads.histogram(n))
    assert design.strategy.T @ design.strategy == pytest.approx(projector(n) / 2, abs=1e-9)
    assert design.error == pytest.approx(2 * (n - 1))
    # Laplace: the identity at distance 2, each coordinate with noise for the whole distance.
    assert optimal_l1(workloads.histogram(n)).error <= 4 * (n - 1) * (1 + 1e-9)


@pytest.mark.parametrize("workload", [*SMALL, workloads.prefix(48)], ids=repr)
def test_optimal_l1_is_never_worse_than_plain_strategies(workload):
    design = optimal_l1(workload, max_rounds=150)
    assert brute_diameter(design.strategy, 1) == pytest.approx(1.0)
    assert brute_error(design.strategy, workload.matrix) == pytest.approx(design.error, rel=1e-6)
    for plain in (np.eye(workload.n), workload.matrix):
        scaled = plain / brute_diameter(plain, 1)
        assert design.error <= brute_error(scaled, workload.matrix) * (1 + 1e-9)
    # L1 distances are never below L2 distances, so the proven bound for L2 holds here too.
    assert design.error >= optimal_l2(workload).bound * (1 - 1e-9)


@pytest.mark.parametrize("optimise", [optimal_l1, optimal_l2])
@pytest.mark.parametrize(
    ("workload", "options", "sentence"),
    [
        (workloads.histogram(2000), {}, "at most 1,024"),
        (workloads.custom(np.ones((2, 4))), {}, "only for the number of users"),
        (workloads.prefix(4), {"max_rounds": 0}, "at least 1"),
        (workloads.prefix(4), {"max_rounds": 2.5}, "whole number"),
        (workloads.prefix(4), {"time_limit": -1}, "number of seconds"),
    ],
)
def test_bad_input_is_refused_in_words(optimise, workload, options, sentence):
    refused(sentence, optimise, workload, **options)


@pytest.mark.parametrize("queries", [0, -2, 1.5, True])
def test_bad_numbers_of_queries_are_refused(queries):
    refused("whole number from 1", lambda: optimal_l1(workloads.prefix(4), queries=queries))
