"""Domain: records to types and back, against brute force and by properties over nasty text."""

import itertools
import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from ldp_core.data.domain import (
    CategoricalAttribute,
    DateAttribute,
    Domain,
    NumericAttribute,
    RangeAttribute,
    attained_bins,
)
from ldp_core.data.domain.dates import label_of_period, period_of
from tests.refused import refused

NASTY = [
    "<b>bold</b>",
    "=1+1",
    '"quoted"',
    "a, b",
    "😂",
    "(other)",
    "(missing)",
    "((other))",
    "NA",
    "none",
    "007",
    "7",
    "1e3",
    "inf",
    "$x$",
    "[0, 1)",
    "🏳️‍🌈",
    "line\nbreak",
]

texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
names = st.text("abcxyz é", min_size=1, max_size=6)


@st.composite
def categorical(draw, name=None):
    values = draw(st.lists(texts.map(str.strip).filter(bool), min_size=1, max_size=6, unique=True))
    cut = draw(st.integers(1, len(values)))
    return CategoricalAttribute(
        name=name or draw(names),
        values=values[:cut],
        merged=[(text, values[0]) for text in values[cut:]],
        missing=draw(st.sampled_from(["drop", "category", "refuse"])),
        outside=draw(st.sampled_from(["other", "refuse"])),
    )


@st.composite
def numeric(draw, name=None):
    if integer := draw(st.booleans()):
        numbers = st.integers(-(10**6), 10**6).map(lambda number: number + 0.5)
    else:
        numbers = st.floats(-1e300, 1e300)
    edges = sorted(draw(st.lists(numbers, min_size=2, max_size=8, unique=True)))
    return NumericAttribute(
        name=name or draw(names),
        edges=edges,
        integer=integer,
        missing=draw(st.sampled_from(["drop", "category", "refuse"])),
        outside=draw(st.sampled_from(["other", "clamp", "refuse"])),
        non_numbers=draw(st.sampled_from(["refuse", "missing"])),
    )


@st.composite
def regular(draw, name):
    integer = draw(st.booleans())
    ends = st.integers(-(10**6), 10**6).map(float) if integer else st.floats(-1e15, 1e15)
    low, high = sorted(draw(st.lists(ends, min_size=2, max_size=2, unique=True)))
    bins = draw(st.integers(1, 300))
    bins = attained_bins(low, high, bins) if integer else bins
    assume(high - low > 1e-9 * bins * max(abs(low), abs(high), 1))
    return RangeAttribute(
        name=name,
        low=low,
        high=high,
        bins=bins,
        integer=integer,
        missing=draw(st.sampled_from(["drop", "category", "refuse"])),
        outside=draw(st.sampled_from(["other", "clamp", "refuse"])),
    )


@st.composite
def dates(draw, name):
    unit = draw(st.sampled_from(["day", "week", "month", "quarter", "year"]))
    first = period_of(draw(st.dates(date(1, 1, 1), date(9990, 1, 1))), unit)
    last = min(first + draw(st.integers(0, 400)), period_of(date(9998, 1, 1), unit))
    assume(first <= last)
    return DateAttribute(
        name=name,
        unit=unit,
        first=label_of_period(first, unit),
        last=label_of_period(last, unit),
        missing=draw(st.sampled_from(["drop", "category", "refuse"])),
        outside=draw(st.sampled_from(["other", "clamp", "refuse"])),
    )


def any_attribute(name):
    return st.one_of(categorical(name), numeric(name), regular(name), dates(name))


domains = st.tuples(any_attribute("a"), any_attribute("b"))


@given(domains, st.integers(1, 2))
def test_decoding_then_encoding_is_the_identity(attributes, count):
    domain = Domain(attributes=attributes[:count])
    indices = np.arange(domain.size)
    encoding = domain.encode(domain.decode(indices))
    np.testing.assert_array_equal(encoding.codes, indices)
    assert encoding.codes.dtype == np.int64


@given(domains)
def test_the_recipe_survives_json(attributes):
    domain = Domain(attributes=attributes)
    again = Domain.model_validate_json(domain.model_dump_json())
    assert again == domain
    assert hash(again) == hash(domain)


@given(st.lists(st.one_of(texts, st.none(), st.just(math.nan)), max_size=30), categorical())
def test_categorical_encoding_matches_a_loop(values, attribute):
    attribute = attribute.model_copy(update={"missing": "category", "outside": "other"})
    labels, merged = attribute.labels, dict(attribute.merged)
    expected = []
    for value in values:
        text = value.strip() if isinstance(value, str) else ""
        text = merged.get(text, text)
        if text in labels:
            expected.append(labels.index(text))
        elif text == "" or text.casefold() in {"na", "n/a", "nan", "null", "none", "?"}:
            expected.append(len(labels) - 1)
        else:
            expected.append(len(labels) - 2)
    encoding = attribute.encode(pd.Series(values, dtype=object))
    assert encoding.codes.tolist() == expected
    assert encoding.missing.sum() == expected.count(len(labels) - 1)
    assert encoding.outside.sum() == expected.count(len(labels) - 2)


@given(st.lists(st.floats(-20, 20), min_size=1), st.sampled_from(["other", "clamp"]))
def test_numeric_encoding_matches_a_loop(values, outside):
    edges = (-10.0, -1.5, 0.0, 10.0)
    attribute = NumericAttribute(name="x", edges=edges, outside=outside)
    expected = []
    for value in values:
        if -10 <= value <= 10:
            expected.append(next(i for i in (2, 1, 0) if value >= edges[i]))
        elif outside == "other":
            expected.append(3)
        else:
            expected.append(0 if value < 0 else 2)
    encoding = attribute.encode(pd.Series(values))
    assert encoding.codes.tolist() == expected
    assert encoding.outside.sum() == sum(abs(value) > 10 for value in values)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2, None, 3], "float64"),
        ([1, 2, None, 3], "Int64"),
        (["1", " 2", None, "3 "], "object"),
        (["1", "2", None, "3"], "str"),
        (["1", "2", None, "3"], "category"),
        ([1, 2, None, 3], "category"),
        ([1, 2.0, math.nan, "3"], "object"),
        ([1, 2, None, 3], "double[pyarrow]"),
    ],
)
def test_every_dtype_reads_the_same(values, dtype):
    series = pd.Series(values, dtype=dtype, name="x")
    categories = CategoricalAttribute(name="x", values=("1", "2", "3"), missing="category")
    bins = NumericAttribute(name="x", edges=(0.5, 1.5, 2.5, 3.5), integer=True, missing="category")
    for attribute in (categories, bins):
        encoding = attribute.encode(series)
        assert encoding.codes.tolist() == [0, 1, 3, 2]
        assert encoding.missing.sum() == 1


def test_a_declared_category_wins_over_a_missing_word():
    attribute = CategoricalAttribute(name="x", values=("None", "Some"), missing="category")
    assert attribute.encode(["None", "Some", "NA", ""]).codes.tolist() == [0, 1, 2, 2]


def test_infinity_is_outside_and_clamps_to_its_side():
    values = [math.inf, -math.inf, "inf", 5]
    attribute = NumericAttribute(name="x", edges=(0, 4, 8), outside="clamp")
    encoding = attribute.encode(values)
    assert encoding.codes.tolist() == [1, 0, 1, 1]
    assert encoding.outside.sum() == 3
    refused(
        '3 of 4 values of x are outside its domain, such as "inf", "-inf"',
        lambda: attribute.model_copy(update={"outside": "refuse"}).encode(values),
    )


def test_refusals_name_examples_and_ways_out():
    attribute = CategoricalAttribute(name="colour", values=("red", "blue"), missing="refuse")
    refused(
        r'1 of 2 values of colour are outside .* "green": send them to \(other\)', attribute.encode, ["red", "green"]
    )
    refused(r"2 of 3 values of colour are missing.*drop them", attribute.encode, ["red", None, " ? "])
    bins = NumericAttribute(name="age", edges=(0, 50, 100))
    refused(r'2 of 3 values of age are not numbers, such as "old", "<18": use', bins.encode, ["old", "<18", "20"])
    dropping = bins.model_copy(update={"non_numbers": "missing"}).encode(["old", "<18", "20"])
    assert (dropping.codes.tolist(), dropping.missing.sum()) == ([-1, -1, 0], 2)


@pytest.mark.parametrize(
    ("edges", "integer", "labels"),
    [
        ((19.5, 29.5, 39.5), True, ("20-29", "30-39")),
        ((-5.5, -0.5, 0.5), True, ("-5 to -1", "0")),
        ((0, 0.25, 1), False, ("[0, 0.25)", "[0.25, 1]")),
        ((1, 1 + 2**-52, 2), False, ("[1, 1.0000000000000002)", "[1.0000000000000002, 2]")),
    ],
)
def test_bin_labels_are_short(edges, integer, labels):
    assert NumericAttribute(name="x", edges=edges, integer=integer).labels == labels


def test_special_labels_give_way_to_values():
    attribute = CategoricalAttribute(
        name="x", values=("(other)", "((other))", "(missing)"), outside="other", missing="category"
    )
    assert attribute.labels == ("(other)", "((other))", "(missing)", "(((other)))", "((missing))")
    assert attribute.encode(["(other)", "new", "", "((missing))"]).codes.tolist() == [0, 3, 4, 4]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_types_are_in_row_major_order(sizes):
    attributes = [
        CategoricalAttribute(name=f"a{i}", values=[f"v{j}" for j in range(size)]) for i, size in enumerate(sizes)
    ]
    domain = Domain(attributes=attributes)
    rows = list(itertools.product(*(attribute.values for attribute in attributes)))
    assert domain.shape == tuple(sizes)
    assert domain.size == len(rows)
    assert list(domain.decode(np.arange(domain.size)).itertuples(index=False, name=None)) == rows


def test_a_row_is_dropped_when_any_value_is_and_counted_once():
    domain = Domain(
        attributes=(
            CategoricalAttribute(name="a", values=("x", "y"), outside="other"),
            NumericAttribute(name="b", edges=(0, 1, 2), outside="clamp"),
        )
    )
    frame = pd.DataFrame({"a": ["x", None, "z", None], "b": [0.5, None, 9, 1.5], "unused": 0})
    encoding = domain.encode(frame)
    assert encoding.codes.tolist() == [0, -1, 5, -1]
    assert (encoding.missing.sum(), encoding.outside.sum()) == (2, 1)


def test_large_domains_are_allowed_but_not_listed():
    attributes = tuple(CategoricalAttribute(name=f"bit {i}", values=("0", "1")) for i in range(22))
    domain = Domain(attributes=attributes)
    assert domain.size == 2**22
    last = np.array([0, 2**22 - 1])
    np.testing.assert_array_equal(domain.encode(domain.decode(last)).codes, last)
    refused("4,194,304 types are too many", domain.labels)
    wide = tuple(CategoricalAttribute(name=f"bit {i}", values=("0", "1")) for i in range(931))
    refused(r"more than 1\s×\s10²⁸⁰ types", Domain, attributes=wide)


@pytest.mark.parametrize("indices", [[-1], [4], [0.0]])
def test_indices_outside_the_domain_are_refused(indices):
    domain = Domain(attributes=(CategoricalAttribute(name="x", values=tuple("abcd")),))
    refused("type indices must", domain.decode, indices)
    assert domain.decode([]).shape == (0, 1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: CategoricalAttribute(name="x", values=()), "no categories"),
        (lambda: CategoricalAttribute(name="x", values=("a", " a")), '"a" appears more than once'),
        (lambda: CategoricalAttribute(name="x", values=("a",), colour="red"), "Extra inputs"),
        (lambda: NumericAttribute(name="x", edges=(1,)), "at least two edges"),
        (lambda: NumericAttribute(name="x", edges=(0, 2, 1)), "2 is followed by 1"),
        (lambda: NumericAttribute(name="x", edges=(0, math.nan)), "finite"),
        (lambda: NumericAttribute(name="x", edges=(0.2, 0.4, 3), integer=True), "none lies between 0.2 and 0.4"),
        (lambda: CategoricalAttribute(name="x", values=("a",), merged=[("a", "a")]), '"a" is a category and cannot be'),
        (lambda: CategoricalAttribute(name="x", values=("a",), merged=[("b", "c")]), 'into "c", which is not a'),
        (
            lambda: CategoricalAttribute(name="x", values=("a", "b"), merged=[("c", "a"), ("c", "b")]),
            "into two categories",
        ),
        (lambda: RangeAttribute(name="x", low=2, high=1, bins=2, integer=True), "cannot go from 2 to 1"),
        (lambda: RangeAttribute(name="x", low=0, high=9, bins=7, integer=True), "0 to 9 cannot be cut .*: use 5"),
        (lambda: RangeAttribute(name="x", low=1, high=1 + 1e-15, bins=99), "too close together for 99 bins"),
        (lambda: DateAttribute(name="x", unit="month", first="2026-13", last="2027-01"), '"2026-13" is not a month'),
        (lambda: DateAttribute(name="x", unit="year", first="2027", last="2026"), "cannot go from 2027 to 2026"),
        (lambda: Domain(attributes=()), "at least one attribute"),
        (lambda: Domain(attributes=[CategoricalAttribute(name="x", values=("a",))] * 2), "names must differ"),
    ],
)
def test_bad_recipes_are_refused(make, sentence):
    with pytest.raises(ValidationError, match=sentence):
        make()


@given(regular("x"), st.lists(st.floats(-2e15, 2e15), max_size=20))
def test_a_range_is_its_listed_edges(attribute, values):
    values = [round(value) for value in values] if attribute.integer else values
    fields = attribute.model_dump(exclude={"kind", "low", "high", "bins"})
    listed = NumericAttribute(edges=attribute.edges.tolist(), **fields)
    assert listed.labels == attribute.labels
    both = [one.model_copy(update={"outside": "other"}).encode(values).codes for one in (attribute, listed)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize(
    ("low", "high", "bins", "labels"),
    [
        (0, 9, 4, ("0-2", "3-5", "6-8", "9")),
        (18, 90, 8, ("18-27", "28-37", "38-47", "48-57", "58-67", "68-77", "78-87", "88-90")),
    ],
)
def test_ranges_of_whole_numbers(low, high, bins, labels):
    assert RangeAttribute(name="x", low=low, high=high, bins=bins, integer=True).labels == labels


@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_attained_bins_are_attained(count, bins):
    found = attained_bins(0, count - 1, bins)
    assert found <= bins
    assert attained_bins(0, count - 1, found) == found


def test_labels_of_many_types_are_made_as_they_are_asked_for():
    axis = RangeAttribute(name="income", low=0, high=999_999, bins=10**6, integer=True)
    sex = CategoricalAttribute(name="sex", values=("f", "m"))
    labels = Domain(attributes=(axis, sex)).type_labels
    assert len(labels) == 2_000_000
    assert labels[0] == "income 0, sex f"
    assert labels[-1] == labels[1_999_999] == "income 999999, sex m"
    assert labels[np.int64(3)] == "income 1, sex m"
    assert labels[4:9:2] == ["income 2, sex f", "income 3, sex f", "income 4, sex f"]
    assert list(itertools.islice(labels, 3)) == labels[:3]
    assert labels[5:5] == []
    for outside in (2_000_000, -2_000_001):
        with pytest.raises(IndexError):
            labels[outside]
