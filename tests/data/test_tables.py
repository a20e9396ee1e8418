"""Columns to attributes and counts, and one clear sentence for every bad one."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldp_core.data import columns, tables
from ldp_core.data.domain import Domain
from ldp_core.data.population import SHAPES
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, Merge, NumericRecipe
from ldp_core.limits import MOST_LISTED_TYPES
from tests.declared import categories, numbers
from tests.refused import refused


def categorical(series, **recipe):
    return tables.build_attribute(CategoricalRecipe(column=series.name or "x", **recipe), columns.parse(series))


def numeric(series, **recipe):
    return tables.build_attribute(NumericRecipe(column=series.name or "x", **recipe), columns.parse(series))


# Looking at a column


def test_summary_of_a_mixed_column():
    series = pd.Series(["1", " 2", "2", "x", "inf", "", "NA", "n/a", "NaN", "NULL", "None", "?", None], name="m")
    assert tables.summarise(columns.parse(series)) == tables.ColumnSummary(
        name="m",
        rows=13,
        distinct=4,
        missing=8,
        numbers=3,
        integer=True,
        minimum=1.0,
        maximum=2.0,
        suggested="categorical",
    )


@given(st.lists(st.floats(allow_nan=False)))
def test_numbers_as_text_are_the_numbers_themselves(values):
    as_text = columns.parse(pd.Series([repr(value) for value in values], dtype=object))
    np.testing.assert_array_equal(as_text.numbers[as_text.codes], np.array(values))


@pytest.mark.parametrize(
    ("name", "values", "apart"),
    [
        ("id", ["a", "b"] * 20, True),
        ("User ID", range(40), True),
        ("number", range(40), True),
        ("name", [f"p{i}" for i in range(40)], True),
        ("width", [1, 2] * 20, False),
        ("size", np.arange(40) / 7, False),
        ("born", pd.date_range("1980-01-01", periods=40).astype(str), False),
        ("age", [20 + i % 25 for i in range(40)], False),
    ],
)
def test_columns_that_tell_people_apart(name, values, apart):
    assert tables.identifies(columns.parse(pd.Series(list(values), name=name))) is apart


# Categories


@pytest.mark.parametrize(
    ("values", "expected", "ordered"),
    [
        (["10", "9", "1", "10"], ("1", "9", "10"), True),
        ([3.0, None, 1.0], ("1", "3"), True),
        (["b10", "b9", "A", "?"], ("A", "b9", "b10"), False),
        (["x", "10", "9"], ("9", "10", "x"), False),
        (["007", "7"], ("007", "7"), True),
        ([" a", "a ", "b"], ("a", "b"), False),
        ([True, False, None], ("False", "True"), False),
        (["²", "2", "9" * 900], None, False),
    ],
)
def test_order_of_categories(values, expected, ordered):
    attribute = categorical(pd.Series(values, name="x"))
    assert expected is None or attribute.values == expected
    assert (attribute.ordered, attribute.origin, attribute.outside) == (ordered, "data", "refuse")
    assert tables.tally(pd.Series(values), attribute).users == sum(value not in (None, "?") for value in values)


SPREAD = pd.Series([*range(5000), *range(1500)], name="id")


def test_the_advice_on_rare_values_works():
    said = refused(r".", categorical, SPREAD)
    rare_below = int(re.search(r"fewer than (\d+) users", said).group(1))
    attribute = categorical(SPREAD, rare_below=rare_below, missing="category")
    assert 2 < attribute.size <= MOST_LISTED_TYPES


# Numbers


@given(
    st.lists(
        st.floats(-1e9, 1e9, allow_subnormal=False), min_size=2
    ),  # those are too close together to be distinguished
    st.integers(2, 40),
    st.sampled_from(["equal_width", "equal_count"]),
)
def test_bins_cover_the_data_for_any_floats(values, bins, method):
    series = pd.Series(values, name="x")
    assume(np.ptp(values) > 1e-6 * np.abs(values).max())
    attribute = numeric(series, method=method, bins=bins)
    tally = tables.tally(series, attribute)
    assert tally.users == len(values)
    assert 2 <= attribute.size <= bins
    if method == "equal_width" and not attribute.integer:
        widths = np.diff(attribute.edges)
        assert attribute.size == bins
        assert widths.max() <= 1.03 * widths.min()
    if method == "equal_count":
        assert tally.counts.min() > 0


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, unique=True), st.integers(2, 60))
def test_whole_numbers_get_bins_of_equally_many(values, bins):
    attribute = numeric(pd.Series(values), bins=bins)
    assert attribute.integer
    assert np.unique(np.diff(attribute.edges)).size == 1
    assert attribute.size <= bins
    tally = tables.tally(pd.Series(values), attribute)
    assert tally.users == len(values)
    ends = [re.fullmatch(r"(-?\d+)(?:-| to )(-?\d+)|(-?\d+)", label).groups() for label in attribute.labels]
    brute = [sum(int(low or only) <= value <= int(high or only) for value in values) for low, high, only in ends]
    assert tally.counts.tolist() == brute


@pytest.mark.parametrize(
    ("values", "bins", "labels"),
    [
        (range(18, 91), 73, [str(age) for age in range(18, 91)]),
        (range(20, 40), 2, ["20-29", "30-39"]),
        (range(3), 32, ["0", "1", "2"]),
        ([4100, 400000], 64, None),
        ([0.0, 1.0, 0.5], 4, ["[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]"]),
        ([0.013, 9.987, 1], 2, ["[0.01, 5)", "[5, 9.99]"]),
    ],
)
def test_equal_widths_read_well(values, bins, labels):
    attribute = numeric(pd.Series(values), bins=bins)
    if labels is None:
        assert attribute.labels[:2] == ("4100-10299", "10300-16499")
    else:
        assert list(attribute.labels) == labels


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([0] * 90 + list(range(1, 11)), [90, 10]),
        ([0] * 10 + [7] * 90, [10, 90]),
        ([0.5] * 90 + [1.5] * 10, [90, 10]),
        ([1, 2, 3, 4], [1, 1, 1, 1]),
    ],
)
def test_equal_count_merges_bins_one_value_fills(values, counts):
    attribute = numeric(pd.Series(values), method="equal_count", bins=4)
    assert tables.tally(pd.Series(values), attribute).counts.tolist() == counts


def test_own_edges_are_declared_and_meet_outside_values():
    series = pd.Series([5, 18, 64, 65, 130, None], name="age")
    attribute = numeric(series, method="own_edges", edges=[18, 65, 120], outside="other")
    assert attribute.labels == ("18-64", "65-120", "(other)")
    assert attribute.origin == "declared"
    tally = tables.tally(series, attribute)
    assert tally.counts.tolist() == [2, 1, 2]
    assert (tally.users, tally.dropped, tally.outside) == (5, 1, 2)
    clamped = tables.tally(series, attribute.model_copy(update={"outside": "clamp"}))
    assert clamped.counts.tolist() == [3, 2]
    halves = numeric(series, method="own_edges", edges=[0.1, 0.2, 200])
    assert halves.labels == ("[0.1, 0.2)", "[0.2, 200]")


@pytest.mark.parametrize(
    ("recipes", "cells", "sentence"),
    [
        (CategoricalRecipe(column="x"), range(10**5), "100,000 distinct values in x, .* at most 2,048: bin it as"),
        (CategoricalRecipe(column="x"), SPREAD, r"merge values with fewer than 2 users into \(other\)"),
        (CategoricalRecipe(column="x"), ["a", "a"], 'only one value, "a".*nothing to learn'),
        (CategoricalRecipe(column="x"), ["", None], "all 2 values of x are missing"),
        (CategoricalRecipe(column="x", categories=[]), ["a"], "^there are no categories"),
        (CategoricalRecipe(column="x", merges=[Merge(name="y", texts=["9th"])]), ["a"], 'x does not hold "9th"'),
        (CategoricalRecipe(column="x", merges=[Merge(name="y", texts=["a"]), Merge(name="z", texts=["a"])]), ["a"], "two categories"),
        ([CategoricalRecipe(column="x"), CategoricalRecipe(column="x")], ["a", "b"], "names must differ"),
        (CategoricalRecipe(column="nope"), ["a"], 'lacks the column "nope"'),
        (NumericRecipe(column="x"), ["1", "2", "x", "x", "y"], '3 of 5 values of x are not numbers, such as "x", "y": use'),
        (NumericRecipe(column="x"), [5, 5, None], "x has only one value, 5"),
        (NumericRecipe(column="x"), [1.0, 1e301], "beyond 1e300"),
        (NumericRecipe(column="x"), [0.0, 5e-324], "too close together"),
        (NumericRecipe(column="x", bins=1), [1, 2], "1 bins are not possible: .* 2 to 2,048"),
        (NumericRecipe(column="x", method="own_edges"), [1, 2], "fewer than two were given"),
        (NumericRecipe(column="x", method="range", low=99, high=9), [1, 2], "cannot go from 99 to 9"),
        (DateRecipe(column="x"), ["f", "m"], "2 of 2 values of x are not dates"),
        (DateRecipe(column="x", first="2026"), ["2026-01-31"], '"2026" is not a month: write it like 2026-01'),
    ],
)  # fmt: skip
def test_recipes_that_do_not_work(recipes, cells, sentence):
    refused(sentence, lambda: tables.build_domain(recipes, pd.DataFrame({"x": cells})))
    recipe = recipes[0] if isinstance(recipes, list) else recipes
    if not recipe.declared:
        refused("has to be taken from the data, and no data is loaded", tables.build_domain, recipe)


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


# Tally


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, 3, None])), min_size=1))
def test_tally_of_several_attributes_matches_a_loop(rows):
    frame = pd.DataFrame(rows, columns=["letter", "digit"])
    letter = categories("letter", "a, b")
    digit = numbers("digit", 1, 3, 3, integer=True, missing="category")
    expected = np.zeros((2, 4), dtype=int)
    for first, second in rows:
        if first is not None:
            expected["ab".index(first), 3 if second is None else second - 1] += 1
    domain = Domain(attributes=(letter, digit))
    if expected.sum() == 0:
        refused("no users are left", tables.tally, frame, domain)
        return
    tally = tables.tally(frame, domain)
    np.testing.assert_array_equal(tally.counts, expected.ravel())
    assert tally.counts.dtype == np.int64
    assert tally.users == expected.sum()
    assert tally.users + tally.dropped == len(rows)


# Without data


@given(st.sampled_from(list(SHAPES)), st.integers(1, 5000), st.integers(1, 10**9))
def test_expected_counts_sum_exactly(shape, n, users):
    counts = tables.expected_counts(shape, n, users)
    assert counts.shape == (n,)
    assert counts.dtype == np.int64
    assert counts.sum() == users
    assert counts.min() >= 0
    if shape == "uniform":
        assert counts.max() - counts.min() <= 2
    if shape == "zipf":
        harmonic = math.fsum(1 / rank for rank in range(1, n + 1))
        np.testing.assert_allclose(counts, users / harmonic / np.arange(1, n + 1), atol=2)
    if shape == "bell":
        assert np.abs(counts - counts[::-1]).max() <= 3


@given(st.sampled_from(list(SHAPES)), st.integers(1, 5000), st.integers(1, 10**6))
def test_expected_people_are_spread_over_the_domain(shape, n, users):
    """Also where there are fewer people than types: any first types have the people they should have, to within one."""
    counts = tables.expected_counts(shape, n, users)
    ideal = (
        tables.expected_counts(shape, n, 10**9) / 10**9 * users
    )  # at a thousand times the people rounding does not show
    assert np.abs(np.cumsum(counts) - np.cumsum(ideal)).max() <= 1 + 1e-3


@pytest.mark.parametrize(
    ("shape", "users"), [((10, 10, 10, 2), 1000), ((2,) * 10, 512), ((4, 4, 4, 4), 64), ((2,) * 12, 1000)]
)
def test_few_people_have_all_values_of_every_attribute_about_equally_often(shape, users):
    counts = tables.expected_counts("uniform", math.prod(shape), users).reshape(shape)
    for axis, size in enumerate(shape):
        shares = np.moveaxis(counts, axis, 0).reshape(size, -1).sum(axis=1) / users
        np.testing.assert_allclose(shares, 1 / size, atol=0.06)


@pytest.mark.parametrize("users", [0, 2.0, True, 10**9 + 1])
def test_expected_counts_refuse_bad_numbers(users):
    refused(
        r"number of users must be a positive whole number|too many to plan for",
        tables.expected_counts,
        "uniform",
        4,
        users,
    )
    refused('shape "flat" is unknown', tables.expected_counts, "flat", 4, 10)


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"colour": ["red", "blue"], "Count": ["3", "0"]}, "Count"),
        ({"n": [3, 4], "a": ["x", "x"], "b": ["u", "v"]}, "n"),
        ({"colour": ["red", "red"], "count": ["3", "0"]}, None),
        ({"colour": ["red", "blue"], "count": ["3", "-1"]}, None),
        ({"colour": ["red", "blue"], "count": ["3", ""]}, None),
        ({"colour": ["red", "blue"], "age": ["3", "4"]}, None),
    ],
)
def test_tables_of_counts_are_told_from_rows_of_people(table, found):
    assert tables.counts_column(pd.DataFrame(table)) == found


def test_users_are_counted_exactly_up_to_2_53():
    assert tables.checked_weights(pd.DataFrame({"a": range(2)}), np.array([2.0**53 - 1, 1.0])).sum() == 2**53
    for counts in ([2.0**53, 1.0], [2.0**53] * 1030):
        with pytest.raises(ValueError, match=r"more than 2\^53 users"):
            tables.checked_weights(pd.DataFrame({"a": range(len(counts))}), np.array(counts))
