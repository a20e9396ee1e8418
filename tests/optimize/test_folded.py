"""Rows in pairs that are turned round: the same figures as for all rows written out, found sooner; and first rows on a ring."""

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize import design, exact
from ldp_core.optimize.columns.ring_rows import Refining
from ldp_core.run import unchecked
from ldp_core.workloads import Workload, walsh_hadamard
from tests.optimize.checks import Asked, assert_valid, plain_objective


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("kind", ["prefix", "all_range"])
def test_folding_finds_the_optimum_of_all_rows(kind, n, epsilon, lower):
    workload = getattr(workloads, kind)(n)
    lower(LEAST_TYPES=2)
    result = design(workload, epsilon, None, max_rounds=60)
    assert_valid(result.strategy, epsilon)
    assert plain_objective(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)
    assert result.objective == pytest.approx(exact(workload, epsilon).objective, rel=1e-4)


@pytest.mark.parametrize("n", [97, 130])
def test_what_is_told_on_the_way_is_a_strategy_with_that_objective(n):
    """Also in single precision, and with a type in the middle."""
    workload, seen = workloads.prefix(n), []

    def watch(progress):
        assert_valid(progress.strategy, 1.0)
        assert plain_objective(progress.strategy, workload) == pytest.approx(progress.objective, rel=1e-9)
        seen.append(progress.objective)

    result = design(workload, 1.0, None, max_rounds=3, callback=watch)
    assert (np.diff(seen) <= 0).all()
    assert plain_objective(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)
    assert bounds.centred_svd(workload, 1.0) <= result.objective <= seen[-1] * (1 + 1e-9)


@pytest.mark.parametrize("asks", [1, 2, 3, 6, 9, 12, 20, 40, 80])
def test_cancelling_anywhere_leaves_what_was_best(asks):
    """Also while the first rows are drawn."""
    workload, cancel, seen = workloads.prefix(130), Asked(asks), []
    result = design(workload, 1.0, None, max_rounds=4, cancel=cancel, callback=seen.append)
    assert result.stopped == "cancelled"
    assert cancel.after <= 3
    assert seen[0].round == 0
    assert_valid(result.strategy, 1.0)
    assert plain_objective(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)


# --- rows on a ring -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize(("kind", "n"), [("prefix", 130), ("all_range", 131)])
def test_rows_on_a_ring_are_as_good_a_start(kind, n, epsilon, lower):
    workload, found = getattr(workloads, kind)(n), {}
    for least in (n, n + 1):
        lower(RING_RANGES=least, RING_TYPES=least)
        found[least] = design(workload, epsilon, None, max_rounds=2)
    ring = found[n]
    assert_valid(ring.strategy, epsilon)
    assert plain_objective(ring.strategy, workload) == pytest.approx(ring.objective, rel=1e-9)
    assert bounds.centred_svd(workload, epsilon) <= ring.objective < 1.01 * found[n + 1].objective
    lower(RING_RANGES=n, RING_TYPES=n)
    assert (design(workload, epsilon, None, max_rounds=2).strategy == ring.strategy).all()


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
    assert refining.objective >= bounds.certificate(workload, 1.5, None).value * (1 - 1e-9)
    assert np.array_equal(refining.high.sum(axis=1), high.sum(axis=1))
    assert np.array_equal(refining.high[0], high[0])
    assert refining.shares.sum() == pytest.approx(1)
