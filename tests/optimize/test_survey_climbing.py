"""Patterns of survey mechanisms climb: against matrices and patterns written out."""

from itertools import combinations

import numpy as np
import pytest

from ldp_core.mechanisms.surveys.pattern import fourier_weights
from ldp_core.optimize.surveys import climbing
from ldp_core.privacy import exp_epsilon

SIZES = [(6,), (2, 3), (3, 1, 4), (2, 2, 2, 2), (2, 3, 4)]


@pytest.mark.parametrize("sizes", SIZES)
def test_a_climb_ends_at_a_local_optimum(sizes):
    rng = np.random.default_rng(2)
    n, r, epsilon = int(np.prod(sizes)), 12, 1.5
    weights = rng.random((r, 2 ** len(sizes))) ** 3
    weights[:, 0] = 0
    starts = rng.random((r, n)) < 0.4
    starts[:, 0], starts[:, 1] = True, False
    D = exp_epsilon(epsilon) - 1
    found, values = climbing.climb(starts, sizes, weights, D)

    def worth(cells, weight):
        return fourier_weights(cells.reshape(1, *sizes), epsilon)[0] @ weight

    for start, cells, weight, value in zip(starts, found, weights, values, strict=True):
        assert value == pytest.approx(worth(cells, weight), rel=1e-10)
        assert value >= worth(start, weight) * (1 - 1e-12)
        for cell in range(n):
            other = cells.copy()
            other[cell] ^= True
            if other.any() and not other.all():
                assert worth(other, weight) <= value * (1 + 1e-8)


def test_starts_that_climb_find_the_best_of_all_patterns_of_a_small_table():
    rng, sizes, epsilon = np.random.default_rng(3), (3, 4), 2.0
    weight = np.array([0.0, 1.0, 0.7, 2.0])
    every = ((np.arange(1, 2**12 - 1)[:, None] >> np.arange(12)) & 1).astype(bool)
    best = (fourier_weights(every.reshape(-1, *sizes), epsilon) @ weight).max()
    weights = np.tile(weight, (24, 1))
    starts = climbing.random_patterns(weights, sizes, rng.integers(1, 6, 24), rng)
    _, values = climbing.climb(starts, sizes, weights, exp_epsilon(epsilon) - 1)
    assert values.max() == pytest.approx(best, rel=1e-10)


def test_pairs_of_cells_are_exchanged_where_single_ones_do_not_help():
    """Two cells in one row of a 4 x 4 table: only an exchange makes them even."""
    sizes, weight = (4, 4), np.array([[0.0, 0.0, 0.0, 1.0]])
    start = np.zeros((1, 16), dtype=bool)
    start[0, :4] = True
    found, _ = climbing.climb(start, sizes, weight, exp_epsilon(2.0) - 1)
    table = found.reshape(sizes)
    for first, second in combinations(np.argwhere(table).tolist(), 2):
        assert first[0] != second[0] or table.sum() > 4
