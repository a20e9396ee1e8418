"""Base rows changed type by type: against matrices written out, and what that gains for many attributes."""

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize.columns.ring_rows import Refining
from ldp_core.run import unchecked
from ldp_core.workloads import Workload, walsh_hadamard

WORKLOADS = [workloads.all_marginals(5), workloads.k_way_marginals(5, 2), workloads.parity(5)]


def some(workload: Workload, rows: int = 12, epsilon: float = 1.5) -> tuple[np.ndarray, Refining]:
    """Random rows, randomized response first, and a fresh `Refining` of them."""
    rng, n = np.random.default_rng(workload.n), workload.n
    high = np.vstack([np.arange(n) == 0, rng.random((rows, n)) < 0.25])
    gamma = walsh_hadamard(workload.gram_column)
    return high, Refining(high, gamma, np.expm1(epsilon), walsh_hadamard)


def objective(high: np.ndarray, shares: np.ndarray, workload: Workload, epsilon: float) -> float:
    """tr(M^-1 G) from every translation of every row, written out."""
    n = high.shape[1]
    types, M = np.arange(n), np.zeros((n, n))
    for row, share in zip(np.where(high, np.exp(epsilon), 1.0), shares, strict=True):
        moved = row[types[:, None] ^ types]
        M += share * moved.T @ moved / row.sum() ** 2
    return float(np.trace(np.linalg.solve(M, workload.gram_dense())))


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_the_objective_is_that_of_the_strategy_written_out_and_falls(workload):
    high, refining = some(workload)
    first = refining.objective
    assert first == pytest.approx(objective(high, refining.shares, workload, 1.5), rel=1e-6)
    for _ in range(4):
        before = refining.objective
        refining.round(unchecked)
        assert refining.objective <= before
    assert refining.objective < 0.97 * first
    assert refining.objective == pytest.approx(objective(refining.high, refining.shares, workload, 1.5), rel=1e-6)
    assert refining.objective >= bounds.certificate(workload, 1.5).value * (1 - 1e-9)
    assert np.array_equal(refining.high.sum(axis=1), high.sum(axis=1))
    assert np.array_equal(refining.high[0], high[0])
    assert refining.shares.sum() == pytest.approx(1)
