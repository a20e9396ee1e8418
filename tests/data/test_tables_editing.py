"""Attributes as tables to edit: an unedited table gives the same attribute, an edited table means
what it says."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ldp_core.data import tables
from ldp_core.data.columns import MISSING_WORDS, parse
from ldp_core.data.domain import DateAttribute, NumericAttribute, RangeAttribute
from ldp_core.data.tables import CategoricalRecipe, Merge, NumericRecipe, build_attribute
from tests.refused import refused

ODD = [
    "=1+1",
    "<b>x</b>",
    "two words",
    "👩‍👩‍👧 ok",
    "(other)",
    "(missing)",
    "NA",
    "3",
    "-2.5",
    "@SUM(A1)",
    "a|b",
    "**x**",
]
TEXTS = st.one_of(
    st.sampled_from([*ODD, *"abcd"]), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
).filter(lambda text: text == text.strip() and text)


def table_of(recipe, series=None):
    attribute = build_attribute(recipe, parse(series))
    return attribute, tables.category_table(attribute, parse(series))


def reread(recipe, series, frame):
    """The attribute that an edited table describes, built without data."""
    return build_attribute(tables.recipe_of_categories(recipe, build_attribute(recipe, parse(series)), frame))


def labels(attribute, texts):
    """The label that each text counts in, None if it is dropped, "refused" if it is."""
    found = []
    for text in texts:
        try:
            code = attribute.encode(pd.Series([text])).codes[0]
        except ValueError:
            found.append("refused")
        else:
            found.append(None if code < 0 else attribute.labels[code])
    return found


@st.composite
def columns_and_recipes(draw):
    """A column of odd texts with gaps, and a recipe that its attribute can be built from."""
    texts = draw(st.lists(st.one_of(TEXTS, st.none()), min_size=2, max_size=25))
    series = pd.Series(texts, name="x", dtype=object)
    held = sorted({text for text in texts if text})
    assume(len(held) >= 2)
    names = draw(st.lists(TEXTS, min_size=1, max_size=6, unique=True))
    merges = {}
    for text in draw(st.lists(st.sampled_from(held), max_size=5, unique=True)):
        merges.setdefault(draw(st.sampled_from(names)), []).append(text)
    recipe = CategoricalRecipe(
        column="x",
        missing=draw(st.sampled_from(["drop", "category", "refuse"])),
        ordered=draw(st.sampled_from([None, True, False])),
        merges=[Merge(name=name, texts=found) for name, found in merges.items()],
    )
    if draw(st.booleans()):
        update = {
            "categories": tuple(dict.fromkeys([*merges, *names])),
            "outside": draw(st.sampled_from(["other", "refuse"])),
            "origin": draw(st.sampled_from(["declared", "data"])),
        }
    else:
        update = {"rare_below": draw(st.sampled_from([0, 2]))}
    recipe = recipe.model_copy(update=update)
    try:
        build_attribute(recipe, parse(series))
    except ValueError:
        assume(False)
    return recipe, series


@given(columns_and_recipes(), st.booleans(), st.booleans())
def test_a_table_that_nobody_edited_is_the_same_attribute(drawn, with_data, through_the_editor):
    recipe, series = drawn
    attribute = build_attribute(recipe, parse(series))
    frame = tables.category_table(attribute, parse(series) if with_data else None)
    if through_the_editor:
        frame = tables.apply_edits(frame, {"edited_rows": {}, "added_rows": [], "deleted_rows": []})
    edited = tables.recipe_of_categories(recipe, attribute, frame)
    again = build_attribute(edited)
    same = ("name", "values", "ordered", "missing", "outside", "origin")
    assert [getattr(again, what) for what in same] == [getattr(attribute, what) for what in same]
    assert dict(again.merged) == dict(attribute.merged)
    texts = [*series.dropna(), *attribute.values, *dict(attribute.merged), "never seen", "(other)", "(missing)"]
    assert labels(again, texts) == labels(attribute, texts)
    assert tables.recipe_of_categories(edited, again, tables.category_table(again, parse(series))) == edited


@given(columns_and_recipes())
def test_a_table_counts_the_people_of_every_text_once(drawn):
    recipe, series = drawn
    attribute, frame = table_of(recipe, series)
    assert frame["value"].is_unique
    known = {*attribute.values, *dict(attribute.merged)}
    absent = {*MISSING_WORDS, attribute.labels[-1].casefold() if attribute.missing == "category" else None}
    column = parse(series)
    said = column.texts[column.codes[column.codes >= 0]]
    expected = Counter(text for text in said if text in known or text.casefold() not in absent)
    people = dict(zip(frame["value"], frame["people"], strict=True))
    assert {text: count for text, count in people.items() if count} == expected
    inside = frame["order"].notna()
    assert list(dict.fromkeys(frame["category"][inside])) == list(attribute.values)
    assert frame["order"][inside].astype(int).tolist() == [
        attribute.values.index(category) + 1 for category in frame["category"][inside]
    ]
    assert not inside[len(frame) - (~inside).sum() :].any()
    assert frame["people"][~inside].is_monotonic_decreasing


@given(columns_and_recipes(), st.data())
def test_an_edited_table_says_where_every_text_counts(drawn, data):
    recipe, series = drawn
    attribute, frame = table_of(recipe, series)
    other = attribute.model_copy(update={"outside": "other"}).decode(np.array([len(attribute.values)]))[0]
    names = [*frame["value"], "new", "<i>=2+2</i>", " 👍 ", None, "", other]
    cells = data.draw(st.lists(st.sampled_from(names), min_size=len(frame), max_size=len(frame)))
    numbers = data.draw(st.permutations(range(10, 10 + len(frame) + 2)))
    wanted = [None if not (cell or "").strip() or cell == other else cell.strip() for cell in cells]
    rank = dict(zip(dict.fromkeys(wanted), numbers, strict=False))
    edits = {str(i): {"category": cells[i], "order": rank[wanted[i]]} for i in range(len(frame))}
    edited = tables.apply_edits(frame, {"edited_rows": edits})
    counts_in = dict(zip(frame["value"], wanted, strict=True))
    categories = sorted({name for name in wanted if name}, key=rank.get)
    if not categories or any(counts_in.get(name, name) != name for name in categories):
        refused(r"all values go to|does not count in it", tables.recipe_of_categories, recipe, attribute, edited)
        return
    # A text that was refused and has no category is refused still, unless others made an "(other)".
    unread = dict(zip(frame["value"], frame["category"].isna(), strict=True))
    makes_other = attribute.outside == "other" or any(
        name is None and (cell == other or not unread[text])
        for (text, name), cell in zip(counts_in.items(), cells, strict=True)
    )
    if len(categories) == 1 and not makes_other and attribute.missing != "category":
        refused("only one value", tables.recipe_of_categories, recipe, attribute, edited)
        return
    again = reread(recipe, series, edited)
    assert list(again.values) == categories
    outside = "refused" if again.outside == "refuse" else again.labels[len(categories)]
    absent = {"drop": None, "refuse": "refused", "category": again.labels[-1]}[again.missing]
    expected = [
        name or (absent if text.casefold() in MISSING_WORDS or text == absent else outside)
        for text, name in zip(frame["value"], wanted, strict=True)
    ]
    assert labels(again, frame["value"]) == expected
    assert again.outside == ("other" if makes_other else "refuse")
    unnumbered = reread(recipe, series, edited.drop(columns="order"))
    assert list(unnumbered.values) == list(dict.fromkeys(name for name in wanted if name))


SCHOOL = pd.Series(["7th"] * 3 + ["8th"] * 2 + ["BA"] * 4 + ["MA", None, "?"], name="school")
READ = CategoricalRecipe(column="school")


def edited(frame, changes, column="category"):
    """The table with some values' cells changed."""
    rows = {i: {column: changes[value]} for i, value in enumerate(frame["value"]) if value in changes}
    return tables.apply_edits(frame, {"edited_rows": rows})


def test_a_number_moves_a_category_and_ties_stay_as_they_stand():
    attribute, frame = table_of(READ, SCHOOL)

    def values(changes):
        return tables.recipe_of_categories(READ, attribute, edited(frame, changes, "order")).categories

    assert values({"BA": 0}) == ("BA", "7th", "8th", "MA")
    assert values({"BA": 1}) == ("7th", "BA", "8th", "MA")
    assert values({"7th": 3}) == ("8th", "7th", "BA", "MA")
    assert values({"7th": 3.5}) == ("8th", "BA", "7th", "MA")
    assert values({"8th": None, "MA": 1.5}) == ("7th", "MA", "8th", "BA")
    assert values({"7th": 9, "8th": 9}) == ("BA", "MA", "7th", "8th")
    assert values({"7th": "soon"}) == ("7th", "8th", "BA", "MA")
    merged = edited(frame, {"7th": "school", "8th": "school"})
    assert tables.recipe_of_categories(READ, attribute, edited(merged, {"7th": 9}, "order")).categories[-1] == "school"
    one_text = edited(merged, {"8th": 4.5}, "order")
    assert tables.recipe_of_categories(READ, attribute, one_text).categories == ("BA", "MA", "school")


def test_what_is_outside_declared_categories_can_be_put_into_them():
    declared = CategoricalRecipe(column="school", categories=["BA", "MA", "PhD"], merges=[])
    attribute, frame = table_of(declared, SCHOOL)
    assert frame["category"].tolist() == ["BA", "MA", "PhD", None, None]
    assert frame["people"].tolist() == [4, 1, 0, 3, 2]
    # A text seen in the data and now a category says something of the data; one sent to "(other)" does not.
    assert tables.recipe_of_categories(declared, attribute, edited(frame, {"7th": "MA"})).origin == "data"
    gone = tables.recipe_of_categories(declared, attribute, edited(frame, {"7th": "(other)"}))
    assert (gone.categories, gone.origin, gone.outside) == (("BA", "MA", "PhD"), "declared", "other")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"7th": "", "8th": None, "BA": "(other)", "MA": " "}, "all values go to"),
        ({"7th": "x", "8th": "x", "BA": "x", "MA": "x"}, "only one value"),
        ({"7th": "8th", "8th": "7th"}, 'a category is called "8th", and the value "8th" does not count in it'),
        ({"7th": "x" * 201}, "has 201 characters: use at most 200"),
    ],
)
def test_edits_that_make_no_sense_are_refused_in_a_sentence(changes, sentence):
    attribute, frame = table_of(READ, SCHOOL)
    refused(sentence, lambda: tables.recipe_of_categories(READ, attribute, edited(frame, changes)))


@given(columns_and_recipes())
def test_declared_categories_are_those_read_off(drawn):
    recipe, series = drawn
    attribute = build_attribute(recipe, parse(series))
    declared = build_attribute(tables.declared_recipe(attribute))
    assert declared.origin == "declared"
    assert declared == attribute.model_copy(update={"origin": "declared"})


@pytest.mark.crossed
@pytest.mark.parametrize("missing", ["drop", "category", "refuse"])
@pytest.mark.parametrize(
    "recipe",
    [
        NumericRecipe(column="x", bins=4),
        NumericRecipe(column="x", bins=3, method="equal_count", non_numbers="missing"),
        NumericRecipe(column="x", bins=4, integer=False, outside="clamp"),
        NumericRecipe(column="x", bins=5, method="range"),
        NumericRecipe(column="x", bins=5, method="range", integer=False, high=100.0),
        tables.DateRecipe(column="x", unit="week", day_first=True, outside="other", non_dates="missing"),
    ],
)
def test_declared_bins_and_dates_are_those_read_off(recipe, missing):
    dates = pd.Series(["2026-01-31", "3.4.2026"], name="x")
    numbers = pd.Series([3, 4, 4, 8, 15, 16, 23, 42], name="x")
    column = parse(dates if recipe.kind == "date" else numbers)
    attribute = build_attribute(recipe.model_copy(update={"missing": missing}), column)
    assert attribute.origin == "data"
    declared = build_attribute(tables.declared_recipe(attribute))
    changed = {"origin": "declared"} | ({"binning": "own_edges"} if attribute.kind == "numeric" else {})
    assert declared == attribute.model_copy(update=changed)
    assert isinstance(declared, NumericAttribute | RangeAttribute | DateAttribute)


def test_edits_are_applied_as_the_browser_reports_them():
    frame = pd.DataFrame({"edge": [0.0, 10.0, 20.0, 30.0], "people": pd.array([1, 2, 3, None], dtype="Int64")})
    frame.attrs["integer"] = True
    edits = json.loads(
        '{"edited_rows": {"1": {"edge": 12, "_index": 7}, "3": {"edge": null}}, "added_rows": [{"edge": 5}, {}],'
        ' "deleted_rows": [0, 1]}'
    )
    result = tables.apply_edits(frame, edits)
    assert result["edge"].iloc[0] == 20
    assert result["edge"].isna().tolist() == [False, True, False, True]
    assert result["edge"].iloc[2] == 5
    assert (list(result.columns), list(result.index)) == (["edge", "people"], [0, 1, 2, 3])
    assert result.attrs == {"integer": True}
    assert frame["edge"].tolist() == [0, 10, 20, 30]
    assert tables.apply_edits(frame, {}).astype(frame.dtypes).equals(frame)
    refused("row 5 was edited and the table has 4", tables.apply_edits, frame, {"edited_rows": {4: {"edge": 1}}})
