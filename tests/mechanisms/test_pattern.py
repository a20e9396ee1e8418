"""Patterns of survey mechanisms: their Fourier weights, written out over all cells."""

from itertools import chain, combinations

import numpy as np
import pytest

from ldp_core import anova
from ldp_core.mechanisms.surveys.pattern import Pattern, fourier_weights
from ldp_core.privacy import exp_epsilon
from tests.refused import refused


def projection(sizes, kept):
    """P_A as a matrix over all cells, as the product of its definition over the attributes."""
    found = np.ones((1, 1))
    for place, size in enumerate(sizes):
        mean = np.full((size, size), 1 / size)
        found = np.kron(found, np.eye(size) - mean if place in kept else mean)
    return found


def sets(k):
    return list(chain.from_iterable(combinations(range(k), size) for size in range(k + 1)))


@pytest.mark.parametrize("sizes", [(7,), (2, 3), (3, 1, 4), (2, 2, 2, 5), (2, 3, 4)])
def test_squared_norms_are_those_of_the_projections(sizes):
    rng = np.random.default_rng(len(sizes))
    tables = rng.standard_normal((3, *sizes))
    found = anova.squared_norms(tables).reshape(3, *(2,) * len(sizes))
    for kept in sets(len(sizes)):
        place = tuple(int(i in kept) for i in range(len(sizes)))
        expected = [np.sum((projection(sizes, kept) @ table.ravel()) ** 2) for table in tables]
        np.testing.assert_allclose(found[(slice(None), *place)], expected, rtol=1e-12, atol=1e-12)


def test_fourier_weights_sum_to_the_variance_of_a_report():
    cells = np.random.default_rng(5).random((3, 2, 4)) < 0.3
    pattern = Pattern((1, 4, 9), cells)
    D, s = exp_epsilon(1.3) - 1, cells.mean()
    found = pattern.fourier_weights(1.3)
    assert set(found) == {tuple((1, 4, 9)[i] for i in kept) for kept in sets(3) if kept}
    assert sum(found.values()) == pytest.approx(D**2 * s * (1 - s) / (1 + D * s) ** 2, rel=1e-12)
    expected = D**2 * np.sum((projection((3, 2, 4), {0, 2}) @ cells.ravel()) ** 2) / (24 * (1 + D * s) ** 2)
    assert found[1, 9] == pytest.approx(expected, rel=1e-12)
    assert pattern.share == s


def test_a_column_of_many_values_costs_no_more_than_its_cells():
    cells = np.arange(200_000) < 1000
    assert fourier_weights(cells[None], 2.0)[0, 1] == pytest.approx(
        (exp_epsilon(2.0) - 1) ** 2 * 0.005 * 0.995 / (1 + (exp_epsilon(2.0) - 1) * 0.005) ** 2, rel=1e-9
    )


def test_patterns_share_cells_and_nobody_changes_them():
    cells = np.array([[True, False], [False, True]])
    first, second = Pattern((0, 1), cells), Pattern((2, 5), cells)
    assert first.cells is second.cells
    refused("read-only", first.cells.fill, False)


@pytest.mark.parametrize(
    ("attributes", "cells", "match"),
    [
        ((1, 0), np.eye(2, dtype=bool), "increasing order"),
        ((0, 1), np.eye(2), "booleans"),
        ((0,), np.eye(2, dtype=bool), "with as many axes"),
        ((0,), np.ones(3, dtype=bool), "inside and outside"),
    ],
)
def test_anything_else_is_refused(attributes, cells, match):
    refused(match, Pattern, attributes, cells)
