"""Attributes of combinations: choices, rankings and courses, against brute force, by properties and from tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import columns, tables
from ldp_core.data.domain import (
    CategoricalAttribute,
    ChoiceAttribute,
    CourseAttribute,
    Domain,
    RangeAttribute,
    RankingAttribute,
    build,
)

ITEMS = ("Bus", "Car", "Walk", "Bike")
YES_NO = CategoricalAttribute(name="used", values=("no", "yes"))

names = st.text("abcxé 1x", min_size=1, max_size=5).map(str.strip).filter(bool)
common = {"missing": st.sampled_from(["drop", "category"]), "outside": st.sampled_from(["refuse", "other"])}


@st.composite
def combined(draw):
    items = tuple(draw(st.lists(names, min_size=2, max_size=5, unique=True)))
    fields = {name: draw(values) for name, values in common.items()}
    kind = draw(st.sampled_from(["choice", "ranking", "course"]))
    if kind == "choice":
        most = draw(st.integers(1, len(items)))
        return ChoiceAttribute(name="it", items=items, most=most, separator=draw(st.sampled_from(",;|")), **fields)
    if kind == "ranking":
        return RankingAttribute(name="it", items=items, separator=draw(st.sampled_from((">", ";"))), **fields)
    days = draw(st.integers(2, 5))
    of = CategoricalAttribute(name="it", values=[item for item in items[:3] if " x" not in item] or ["x x"])
    return CourseAttribute(of=of, days=days, changes=draw(st.integers(0, days - 1)), **fields)


@given(combined())
def test_labels_are_read_as_their_own_types_and_survive_a_file(attribute):
    found = attribute.encode(pd.Series(attribute.labels))
    np.testing.assert_array_equal(found.codes, np.arange(attribute.size))
    assert len(set(attribute.labels)) == attribute.size == len(attribute.members) + attribute.special
    domain = Domain(attributes=(attribute,))
    assert Domain.model_validate_json(domain.model_dump_json(), strict=True) == domain
    recipe = tables.declared_recipe(attribute)
    assert tables.build_attribute(recipe).model_dump() == attribute.model_dump()


@pytest.mark.parametrize(("many", "most"), [(4, 1), (4, 2), (5, 5), (6, 3)])
def test_choices_are_all_sets_of_at_most_so_many_items(many, most):
    attribute = ChoiceAttribute(name="it", items=tuple("abcdef"[:many]), most=most)
    every = {row for row in itertools.product((0, 1), repeat=many) if sum(row) <= most}
    assert {tuple(row) for row in attribute.members.tolist()} == every
    assert attribute.size == len(every)


def test_rankings_are_all_orders_and_members_are_ranks():
    attribute = RankingAttribute(name="it", items=("a", "b", "c", "d"))
    assert {tuple(row) for row in attribute.members.tolist()} == set(itertools.permutations((1, 2, 3, 4)))
    assert attribute.members[attribute.read("c > a > d > b")].tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize(("values", "days", "changes"), [(2, 7, 1), (3, 4, 2), (2, 5, 4), (3, 3, 0)])
def test_courses_are_all_days_with_at_most_so_many_changes(values, days, changes):
    attribute = CourseAttribute(
        of=RangeAttribute(name="it", low=1, high=values, bins=values, integer=True), days=days, changes=changes
    )
    every = {
        row
        for row in itertools.product(range(values), repeat=days)
        if sum(a != b for a, b in itertools.pairwise(row)) <= changes
    }
    assert {tuple(row) for row in attribute.members.tolist()} == every
    texts = [", ".join(str(value + 1) for value in row) for row in attribute.members.tolist()]
    np.testing.assert_array_equal(attribute.encode(pd.Series(texts)).codes, np.arange(attribute.size))


def test_seven_days_of_one_change_are_fourteen_courses_named_after_what_is_asked():
    attribute = CourseAttribute(of=YES_NO, days=7, changes=1)
    assert (attribute.name, attribute.size) == ("used", 14)
    assert attribute.decode(np.array([2])) == ["no x1, yes x6"]


def test_items_are_read_in_any_order_and_who_chose_none_is_an_answer():
    attribute = ChoiceAttribute(name="way", items=ITEMS, most=2, outside="other")
    found = attribute.encode(
        pd.Series(["Car, Bus", "Bus,Car,", "Bus, Bus", "", None, "(none)", "NA", "Bus, Car, Walk", "Tram"])
    )
    assert [attribute.labels[code] if code >= 0 else None for code in found.codes] == [
        *("Bus, Car", "Bus, Car", "Bus", "(none)", "(none)", "(none)", None, "(other)", "(other)"),
    ]
    assert found.missing.tolist() == [False] * 6 + [True, False, False]


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        (ChoiceAttribute, {"items": [str(i) for i in range(30)], "most": 3}, "4,526 combinations are too many"),
        (ChoiceAttribute, {"items": ["a", "b, c"], "most": 1}, "cannot be told apart"),
        (ChoiceAttribute, {"items": ["a", "a"], "most": 1}, "items must differ"),
        (ChoiceAttribute, {"items": ["a", "(none)"], "most": 1}, "items must differ"),
        (ChoiceAttribute, {"items": ["a", "b"], "most": 3}, "nobody can choose 3 of 2 items"),
        (RankingAttribute, {"items": list("abcdefg")}, "has 7 items, and takes 2 to 6: name others"),
        (ChoiceAttribute, {"items": ["a"], "most": 1}, "has 1 item, and takes 2 to 2,048"),
        (
            CourseAttribute,
            {"of": CategoricalAttribute(name="it", values=("no", "no x2")), "days": 3, "changes": 1},
            '"no x2" reads as several days of another value',
        ),
        (CourseAttribute, {"of": YES_NO, "days": 7, "changes": 7}, "at most 6 changes"),
        (CourseAttribute, {"of": YES_NO, "days": 30, "changes": 5}, "combinations are too many"),
    ],
)
def test_what_cannot_be_listed_is_refused_in_a_sentence(kind, fields, sentence):
    name = {} if "of" in fields else {"name": "it"}
    with pytest.raises(ValueError, match=sentence):
        build(kind, **name, **fields)


def test_a_column_of_several_answers_becomes_a_choice():
    texts = ["Bus, Car", "Walk", "", "Car,Bus", "Bike", "Bus, Walk", "Car, Bike"]
    column = columns.parse(pd.Series(texts, name="way"))
    (doubt,) = tables.doubts_of(tables.CategoricalRecipe(column="way"), column)
    ((label, split),) = doubt.ways
    assert label == "Split into 4 answers"
    assert split == tables.ChoiceRecipe(column="way", separator=",")
    attribute = tables.build_attribute(split, column)
    assert (attribute.items, attribute.most, attribute.origin) == (("Bike", "Bus", "Car", "Walk"), 2, "data")
    frame = pd.DataFrame({"way": texts})
    counts = tables.tally(frame, tables.build_domain([split], frame)).counts
    assert counts.sum() == len(texts)
    assert counts[0] == 1
    np.testing.assert_array_equal(counts @ attribute.members, [2, 3, 3, 2])


def test_a_column_of_rankings_becomes_one():
    texts = ["Soup > Fish, fried > Rice", "Rice > Soup > Fish, fried", "Fish, fried > Soup > Rice"] * 3
    column = columns.parse(pd.Series(texts, name="dish"))
    (doubt,) = tables.doubts_of(tables.CategoricalRecipe(column="dish"), column)
    ((label, ranked),) = doubt.ways
    assert label == "Read as rankings of 3 items"
    attribute = tables.build_attribute(ranked, column)
    assert (attribute.kind, attribute.items) == ("ranking", ("Fish, fried", "Rice", "Soup"))
    counts = tables.tally(pd.DataFrame({"dish": texts}), Domain(attributes=(attribute,))).counts
    np.testing.assert_array_equal(counts @ attribute.members, [18, 21, 15])


def test_too_many_answers_in_a_cell_are_said_at_once():
    texts = [", ".join(f"item {(i + j * k) % 40}" for j in range(5)) for i in range(40) for k in (1, 3)]
    (doubt,) = tables.doubts_of(tables.CategoricalRecipe(column="way"), columns.parse(pd.Series(texts, name="way")))
    assert not doubt.ways
    assert "at most 2,048 are handled. Let people choose fewer at once" in doubt.said
    assert "yes/no column of each item" in doubt.said
