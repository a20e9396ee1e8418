"""Columns that tell people apart, columns that count people, ranges with whole edges, and bins that are split."""

import numpy as np
import pandas as pd
import pytest

from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.tables import NumericRecipe

ROWS = 40
DAYS = pd.date_range("1980-01-01", periods=ROWS).astype(str)


@pytest.mark.parametrize(
    ("name", "values", "apart"),
    [
        ("id", ["a", "b"] * 20, True),
        ("User ID", range(ROWS), True),
        ("number", range(ROWS), True),
        ("name", [f"p{i}" for i in range(ROWS)], True),
        ("width", [1, 2] * 20, False),
        ("size", np.arange(ROWS) / 7, False),
        ("born", DAYS, False),
        ("age", [20 + i % 25 for i in range(ROWS)], False),
    ],
)
def test_columns_that_tell_people_apart(name, values, apart):
    assert tables.identifies(parse(pd.Series(list(values), name=name))) is apart


@pytest.mark.parametrize(
    ("low", "high", "bins", "used"),
    [
        (18, 90, 32, 24),
        (0, 100, 32, 25),
        (0, 99, 32, 32),
        (0.5, 72.5, 32, 32),
    ],
)
def test_declared_ranges_have_whole_edges_where_few_bins_are_lost(low, high, bins, used):
    recipe = NumericRecipe(column="age", method="range", low=low, high=high, bins=bins, integer=False)
    (attribute,) = tables.build_domain(recipe).attributes
    assert attribute.size == used
    if used < bins:
        assert all(float(edge).is_integer() for edge in attribute.edges)
