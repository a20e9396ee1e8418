"""Attributes as workloads see them, against the attributes of domains."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import workloads
from ldp_core.data.domain import CategoricalAttribute, DateAttribute, NumericAttribute, RangeAttribute
from ldp_core.workloads import Axis

SPECIAL = {"outside": "other", "missing": "category"}
ATTRIBUTES = [
    CategoricalAttribute(name="a", values=("x", "b", "(other)", "1"), ordered=True, **SPECIAL),
    NumericAttribute(name="a", edges=(-3.25, -1e-3, 0, 2.5, 1e6), **SPECIAL),
    NumericAttribute(name="a", edges=(-10.5, -9.5, -0.5, 9.5, 10.5), integer=True),
    NumericAttribute(name="a", edges=(1e-12, 2e-12, 1e300)),
    RangeAttribute(name="a", low=-7, high=12, bins=5, integer=True, **SPECIAL),
    RangeAttribute(name="a", low=0, high=1, bins=7, missing="category"),
    DateAttribute(name="a", unit="day", first="2024-02-27", last="2024-03-02", **SPECIAL),
    DateAttribute(name="a", unit="week", first="2020-W52", last="2021-W02"),
    DateAttribute(name="a", unit="month", first="2025-11", last="2026-02"),
    DateAttribute(name="a", unit="quarter", first="2025-Q3", last="2026-Q2", missing="category"),
    DateAttribute(name="a", unit="year", first="1999", last="2003"),
]


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: f"{a.kind} {a.labels[0]}")
@pytest.mark.parametrize("listed", [True, False])
def test_labels_are_found_where_they_are(attribute, listed, lower):
    if not listed:
        lower(LISTED_TYPES=0)
    axis = Axis.of(attribute)
    assert axis.size == attribute.size
    assert list(axis.labels) == list(attribute.labels)
    assert axis.ordinary == attribute.size - (attribute.outside == "other") - (attribute.missing == "category")
    assert axis.ordered == attribute.in_order
    assert [axis.find(label) for label in attribute.labels] == list(range(attribute.size))
    assert [axis.find(text) for text in ("", "zzz", "99999", "[", attribute.labels[0] + "x")] == [None] * 5
    first = axis.first(2)
    assert (list(first.labels), first.ordinary) == (list(attribute.labels[:2]), 2)
    assert axis.at(1) == f"a {attribute.labels[1]}"
    assert Axis.of(axis) is axis


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=8), st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=4, unique=True))
def test_any_name_and_label_can_be_written_in_a_condition(name, labels):
    axis = Axis(name, tuple(labels), len(labels))
    for i, label in enumerate(labels):
        (condition,) = workloads.parse(f"{workloads.quoted(name)} = {workloads.quoted(label)}", [axis])
        assert condition.mask == tuple(j == i for j in range(len(labels)))
