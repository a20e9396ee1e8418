"""Rows in pairs that are turned round: the same figures as for all rows written out, found sooner; and first rows of a size tried out."""

import math

import numpy as np
import pytest
from scipy import stats

from ldp_core import bounds, workloads
from ldp_core.optimize import design
from ldp_core.optimize.certified import _search
from ldp_core.optimize.columns import first_rows, folded, pricing
from ldp_core.optimize.columns.generation import RowSearch, rows_held
from ldp_core.run import unchecked


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(folded, "LEAST_TYPES", 2)


def objective_of(strategy, workload):
    information = strategy.T @ (strategy / strategy.sum(axis=1)[:, None])
    return np.trace(np.linalg.solve(information, workload.gram_dense()))


@pytest.mark.parametrize("n", [4, 7])
def test_halves_give_the_figures_of_whole_rows(n):
    rng = np.random.default_rng(0)
    rows, root = rng.random((9, n)), rng.random((n, n))
    G = root @ root.T
    G = G + G[::-1, ::-1]
    even, odd = folded.folded(rows)
    assert even.shape == (9, (n + 1) // 2)
    assert odd.shape == (9, n // 2)
    # The second moments of a row and the same turned round fall into blocks, and the trace is the sum over both.
    both = np.vstack([rows, rows[:, ::-1]])
    moments = both.T @ both / 2
    whole = np.trace(np.linalg.solve(moments, G))
    parts = zip((even, odd), folded.halves(G), strict=True)
    assert sum(np.trace(np.linalg.solve(half.T @ half, block)) for half, block in parts) == pytest.approx(whole)
    # A form by its halves is a form of whole rows.
    forms = [half.T @ half for half in (even, odd)]
    values = sum(np.einsum("ki,ij,kj->k", half, form, half) for half, form in zip((even, odd), forms, strict=True))
    assert np.einsum("ki,ij,kj->k", rows, folded.unfolded(*forms), rows) == pytest.approx(values)


def test_folds_are_seen(any_size):
    for n in (6, 9):
        assert folded.folds(workloads.prefix(n))
        assert folded.folds(workloads.all_range(n))
    assert not folded.folds(workloads.custom(np.tril(np.ones((6, 6))) * np.arange(1.0, 7)[:, None]))
    assert not folded.folds(workloads.parity(4, 2))  # blind to some directions, where rows need randomized response


def test_the_search_is_folded_where_it_can_be(any_size):
    def kind(workload, uniform=True):
        n = workload.n
        return type(_search(workload, 1.0, np.ones(n), np.random.default_rng(0), uniform, unchecked))

    assert kind(workloads.prefix(8)) is folded.FoldedSearch
    assert kind(workloads.prefix(8), uniform=False) is RowSearch


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("kind", ["prefix", "all_range"])
def test_folding_finds_the_optimum_of_all_rows(kind, n, epsilon, any_size, monkeypatch):
    workload = getattr(workloads, kind)(n)
    result = design(workload, epsilon, None, max_rounds=60)
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (result.strategy.max(axis=1) <= math.exp(epsilon) * result.strategy.min(axis=1)).all()
    assert objective_of(result.strategy, workload) == pytest.approx(result.objective, rel=1e-9)
    monkeypatch.setattr(folded, "LEAST_TYPES", n + 1)
    assert result.objective == pytest.approx(design(workload, epsilon, None, max_rounds=60).objective, rel=1e-4)


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
    mixture = folded.FoldedMixture(high, np.array([0.3, 0.2]), 2.0, 1.0)
    assert mixture.strategy.tolist() == [[0.6, 0.3, 0.3, 0.6], [0.2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2]]


def test_folding_gets_further_in_as_many_rounds_with_as_many_rows(monkeypatch):
    """Twelve updates of half the rows take less time than six of all: here it is what they find that is compared."""
    workload = workloads.prefix(64)
    halved = design(workload, 1.0, None, max_rounds=15)
    monkeypatch.setattr(folded, "LEAST_TYPES", 65)
    whole = design(workload, 1.0, None, max_rounds=15)
    least = bounds.centred_svd(workload, 1.0)
    assert halved.objective - least < 0.98 * (whole.objective - least)


def test_rows_go_a_little_way_uphill():
    rng = np.random.default_rng(0)
    root, starts = rng.standard_normal((12, 12)), rng.random((30, 12)) < 0.4
    about = (root @ root.T, np.ones(12), np.ones(12), math.expm1(1.0))
    for most in (1, 3, 24):
        found, _ = pricing.climb(starts, *about, most=most)
        assert ((found != starts).sum(axis=1) <= most).all()
    assert (found == pricing.climb(starts, *about)[0]).all()


# --- first rows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.27, 0.5])
def test_correlations_of_high_entries_are_those_of_normal_variables(share):
    correlation, of_field = first_rows.tabulated(share)
    assert (np.diff(correlation) >= 0).all()
    assert correlation[-1] == pytest.approx(1, abs=1e-6)
    for rho in (-0.6, 0.0, 0.4, 0.9):
        found = np.interp(rho, of_field, correlation)
        both = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([stats.norm.ppf(share)] * 2)
        assert found == pytest.approx((both - share**2) / (share * (1 - share)), abs=1e-5)


def test_the_highest_entries_are_high():
    field = np.random.default_rng(0).standard_normal((400, 50))
    high = first_rows.highest(field, 0.2, np.random.default_rng(1))
    assert (np.where(high, field, np.inf).min(axis=1) > np.where(high, -np.inf, field).max(axis=1)).all()
    assert high.sum(axis=1).mean() == pytest.approx(10, abs=0.3)
    assert 0 < high.sum(axis=1).std() < 2
    assert (first_rows.highest(field, 1e-9, np.random.default_rng(1)).sum(axis=1) == 1).all()


@pytest.mark.parametrize(("epsilon", "low", "high"), [(1.0, 0.95, 1.2), (3.0, 1.4, 2.2)])
def test_rows_are_larger_than_the_closed_form_says_where_epsilon_is(epsilon, low, high):
    """As those of the best strategies known are: 1.04 and 1.7 times as large for running totals over 128 types."""
    workload, ratio = workloads.prefix(128), math.exp(epsilon)
    rows = first_rows.sized_rows(workload.gram_dense(), ratio, 500, np.random.default_rng(0))
    assert rows.shape == (500, 128)
    assert low <= rows.mean() * (ratio + 1) <= high


def test_first_strategies_are_better_for_it(monkeypatch):
    workload, found = workloads.prefix(128), {}
    least = bounds.centred_svd(workload, 3.0)
    for smallest in (128, 129):
        monkeypatch.setattr(folded, "SIZED_TYPES", smallest)
        found[smallest] = design(workload, 3.0, None, max_rounds=1).objective
    assert found[128] / least - 1 < 0.9 * (found[129] / least - 1)


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


def test_long_searches_start_from_rows_on_a_ring(monkeypatch):
    """Running totals and ranges from `RING_TYPES` on, and nothing else; the search holds no more rows than its size."""
    started, from_ring = [], folded.FoldedSearch._from_ring
    monkeypatch.setattr(folded.FoldedSearch, "_from_ring", lambda self: (started.append(1), from_ring(self))[1])
    monkeypatch.setattr(folded, "RING_TYPES", 130)
    both = workloads.union([workloads.prefix(130), workloads.histogram(130)])
    for workload, expected in (
        (workloads.prefix(130), 1),
        (workloads.all_range(130), 1),
        (workloads.prefix(129), 0),
        (both, 0),
    ):
        started.clear()
        search = _search(workload, 1.0, np.ones(workload.n), np.random.default_rng(0), True, unchecked)
        search.prepare()
        assert len(started) == expected
        assert not started or 2 * len(search.best.high) <= rows_held(workload.n)


@pytest.mark.slow
@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize(("kind", "n"), [("prefix", 130), ("all_range", 131)])
def test_rows_on_a_ring_are_a_better_start(kind, n, epsilon, monkeypatch):
    workload, found = getattr(workloads, kind)(n), {}
    for least in (n, n + 1):
        monkeypatch.setattr(folded, "RING_TYPES", least)
        found[least] = design(workload, epsilon, None, max_rounds=2)
    ring = found[n]
    assert np.abs(ring.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (ring.strategy.max(axis=1) <= math.exp(epsilon) * ring.strategy.min(axis=1)).all()
    assert objective_of(ring.strategy, workload) == pytest.approx(ring.objective, rel=1e-9)
    assert bounds.centred_svd(workload, epsilon) <= ring.objective < found[n + 1].objective
    monkeypatch.setattr(folded, "RING_TYPES", n)
    assert (design(workload, epsilon, None, max_rounds=2).strategy == ring.strategy).all()


def test_rows_on_a_ring_that_tell_too_little_are_left(monkeypatch):
    def singular(self):
        raise folded.Singular("too few")

    workload = workloads.prefix(130)
    usual = design(workload, 1.0, None, max_rounds=1)
    monkeypatch.setattr(folded, "RING_TYPES", 130)
    monkeypatch.setattr(folded.FoldedSearch, "_from_ring", singular)
    assert design(workload, 1.0, None, max_rounds=1).objective == usual.objective


@pytest.mark.parametrize("asks", [2, 5, 9, 20, 40, 60, 90])
def test_rows_on_a_ring_can_be_cancelled_anywhere(asks, monkeypatch):
    monkeypatch.setattr(folded, "RING_TYPES", 130)
    test_cancelling_anywhere_leaves_what_was_best(asks)
