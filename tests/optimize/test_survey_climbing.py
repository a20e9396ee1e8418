"""Patterns of survey mechanisms climb: against matrices and patterns written out."""

from itertools import combinations

import numpy as np
import pytest

from ldp_core.mechanisms.surveys.pattern import fourier_weights
from ldp_core.optimize.surveys import climbing
from ldp_core.privacy import exp_epsilon


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
