"""Cost of one projected gradient round against the bare matrix products it contains, measured in one run."""

import time

import numpy as np
import pytest
from scipy.linalg import blas, lapack

from ldp_core import workloads
from ldp_core.optimize.gradient.descent import Descent, random_start

pytestmark = pytest.mark.benchmark


def median_seconds(call, repeats=15):
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def products(n, m, root):
    """The BLAS and LAPACK calls of one round: M, its factor, M^-1 root', X, X P and the products with single vectors."""
    P = np.random.default_rng(0).random((n, m))
    out, types = np.empty((n, m)), np.ones(n)

    def call():
        M = blas.dsyrk(1.0 / m, P.T, trans=1, lower=1)
        M[np.diag_indices(n)] += 1
        cholesky, _ = lapack.dpotrf(M, lower=1)
        solved, _ = lapack.dpotrs(cholesky, root.T, lower=1)
        X = blas.dsyrk(1.0, solved, lower=1)
        blas.dsymm(1.0, X, P.T, side=1, lower=1, c=out.T, overwrite_c=1)
        for _ in range(3):
            blas.dgemv(1.0, P.T, blas.dgemv(1.0, P.T, types), trans=1)
        blas.dgemv(1.0, P.T, types)

    return call


@pytest.mark.parametrize("n", [128, 256, 512])
def test_a_round_costs_at_most_twice_its_matrix_products(n, capsys):
    root = workloads.prefix(n).gram_root
    descent = Descent(root, 1.0, random_start(root, 1.0, 4 * n, np.random.default_rng(0)))
    for _ in range(20):
        descent.step()
    ours = median_seconds(descent.step)
    bare = median_seconds(products(n, 4 * n, root))
    with capsys.disabled():
        print(f"\nn = {n}: round {1e3 * ours:.2f} ms, products {1e3 * bare:.2f} ms, ratio {ours / bare:.2f}")
    if n == 512:
        assert ours <= 2 * bare
