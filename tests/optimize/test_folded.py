"""Rows in pairs that are turned round: the same figures as for all rows written out, found sooner; and first rows of a size tried out."""

import math

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize import design, exact
from ldp_core.optimize.columns.rows import sized_rows
from ldp_core.optimize.columns.search import FoldedMixture


def objective_of(strategy, workload):
    information = strategy.T @ (strategy / strategy.sum(axis=1)[:, None])
    return np.trace(np.linalg.solve(information, workload.gram_dense()))


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("kind", ["prefix", "all_range"])
def test_folding_finds_the_optimum_of_all_rows(kind, n, epsilon, lower):
    workload = getattr(workloads, kind)(n)
    lower(LEAST_TYPES=2)
    result = design(workload, epsilon, None, max_rounds=60)
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (result.strategy.max(axis=1) <= math.exp(epsilon) * result.strategy.min(axis=1)).all()
    assert objective_of(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)
    assert result.objective == pytest.approx(exact(workload, epsilon).objective, rel=1e-4)


@pytest.mark.parametrize("n", [97, 130])
def test_what_is_told_on_the_way_is_a_strategy_with_that_objective(n):
    """Also in single precision, with first rows of a size tried out, and with a type in the middle."""
    workload, seen = workloads.prefix(n), []

    def watch(progress):
        assert np.abs(progress.strategy.sum(axis=0) - 1).max() <= 1e-12
        assert objective_of(progress.strategy, workload) == pytest.approx(progress.objective, rel=1e-9)
        seen.append(progress.objective)

    result = design(workload, 1.0, None, max_rounds=3, callback=watch)
    assert (np.diff(seen) <= 0).all()
    assert objective_of(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)
    assert bounds.centred_svd(workload, 1.0) <= result.objective <= seen[-1] * (1 + 1e-9)


def test_rows_that_are_the_same_turned_round_are_written_out_once():
    high = np.array([[1, 0, 0, 1], [1, 0, 0, 0]], dtype=bool)
    mixture = FoldedMixture(high, np.array([0.3, 0.2]), 2.0, 1.0)
    assert mixture.strategy.tolist() == [[0.6, 0.3, 0.3, 0.6], [0.2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2]]


# --- first rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "low", "high"), [(1.0, 0.95, 1.2), (3.0, 1.4, 2.2)])
def test_rows_are_larger_than_the_closed_form_says_where_epsilon_is(epsilon, low, high):
    """As those of the best strategies known are: 1.04 and 1.7 times as large for running totals over 128 types."""
    workload, ratio = workloads.prefix(128), math.exp(epsilon)
    rows = sized_rows(workload.gram_dense(), ratio, 500, np.random.default_rng(0))
    assert rows.shape == (500, 128)
    assert low <= rows.mean() * (ratio + 1) <= high


@pytest.mark.parametrize("asks", [1, 2, 3, 6, 9, 12, 20, 40, 80])
def test_cancelling_anywhere_leaves_what_was_best(asks):
    """Also while sizes are tried out and the first rows are drawn."""
    workload, times, seen = workloads.prefix(130), 0, []

    def cancel():
        nonlocal times
        times += 1
        return times >= asks

    result = design(workload, 1.0, None, max_rounds=4, cancel=cancel, callback=seen.append)
    assert result.stopped == "cancelled"
    assert times <= asks + 3
    assert seen[0].round == 0
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert objective_of(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)


# --- rows on a ring -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize(("kind", "n"), [("prefix", 130), ("all_range", 131)])
def test_rows_on_a_ring_are_as_good_a_start(kind, n, epsilon, lower):
    workload, found = getattr(workloads, kind)(n), {}
    for least in (n, n + 1):
        lower(RING_TYPES=least)
        found[least] = design(workload, epsilon, None, max_rounds=2)
    ring = found[n]
    assert np.abs(ring.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (ring.strategy.max(axis=1) <= math.exp(epsilon) * ring.strategy.min(axis=1)).all()
    assert objective_of(ring.strategy, workload) == pytest.approx(ring.objective, rel=1e-9)
    assert bounds.centred_svd(workload, epsilon) <= ring.objective < 1.01 * found[n + 1].objective
    lower(RING_TYPES=n)
    assert (design(workload, epsilon, None, max_rounds=2).strategy == ring.strategy).all()


@pytest.mark.parametrize("asks", [2, 5, 9, 20, 40, 60, 90])
def test_rows_on_a_ring_can_be_cancelled_anywhere(asks, lower):
    lower(RING_TYPES=130)
    test_cancelling_anywhere_leaves_what_was_best(asks)
