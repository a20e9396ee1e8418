"""Columns as rows of one table: what stands in a cell, what may be typed there, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import tables
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, NumericRecipe

AGE = NumericRecipe(column="age")
BINS = st.integers(2, 2**20)
NUMBERS = st.floats(-1e9, 1e9).map(lambda number: float(f"{number:.15g}"))
ENDS = st.none() | NUMBERS
RECIPES = st.one_of(
    st.builds(NumericRecipe, column=st.just("x"), method=st.sampled_from(["equal_width", "equal_count"]), bins=BINS),
    st.builds(NumericRecipe, column=st.just("x"), method=st.just("range"), bins=BINS, low=ENDS, high=ENDS),
    st.builds(
        NumericRecipe,
        column=st.just("x"),
        method=st.just("own_edges"),
        edges=st.lists(NUMBERS, min_size=2, max_size=9).map(tuple),
    ),
    st.builds(
        DateRecipe,
        column=st.just("x"),
        unit=st.just("month"),
        first=st.none() | st.just("2026-01"),
        last=st.none() | st.just("2026-12"),
    ),
    st.builds(
        CategoricalRecipe,
        column=st.just("x"),
        categories=st.none() | st.just(("no", "yes")) | st.just(("a, b", "c")) | st.just(("never", "12", "18 to 30")),
    ),
)


@given(RECIPES, st.sampled_from(["data", "declared"]))
def test_what_stands_in_the_cell_means_the_same_when_it_is_typed_again(recipe, origin):
    recipe = recipe.model_copy(update={"origin": origin})
    again = tables.with_bins(recipe, tables.bins_as_text(recipe))
    taken = set(recipe.model_dump(exclude={"kind", "origin"}).values() if recipe.kind != "numeric" else ())
    kept = {"origin"} if recipe.kind == "numeric" or taken else set()
    assert again.model_dump(exclude=kept) == recipe.model_dump(exclude=kept)


@pytest.mark.parametrize(
    ("text", "method", "size", "labels"),
    [
        ("8", "equal_width", 8, None),
        ("8 bins of equal count", "equal_count", 8, None),
        ("18; 30, 65", "own_edges", 2, ("18-29", "30-65")),
        ("10 to 90 in 8", "range", 8, ("10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80-90")),
        ("10 TO 90, in 8 bins", "range", 8, None),
        ("? to 90 in 9", "range", None, None),
    ],
)
def test_bins_are_typed_as_text(text, method, size, labels):
    recipe = tables.with_bins(AGE, text)
    assert recipe.method == method
    if recipe.declared:
        attribute = tables.build_attribute(recipe)
        assert attribute.size == size
        assert labels is None or tuple(attribute.labels) == labels


@pytest.mark.parametrize(
    ("recipe", "text", "sentence"),
    [
        (AGE, "eight", 'age: "eight" cannot be read as bins. Write 8 for bins of one width'),
        (AGE, "10 to x in 8", "cannot be read as bins"),
        (AGE, "nan, 3", "cannot be read as bins"),
        (AGE, "1e999, 3", "cannot be read as bins"),
        (AGE, "1", "age: 1 bins are not possible: write a number from 2 to 1,048,576."),
        (AGE, "9" * 5000, "bins are not possible"),
        (DateRecipe(column="joined"), "fortnight", 'joined: "fortnight" cannot be read as dates. Write day, week'),
        (CategoricalRecipe(column="arm"), "old", 'arm: "old" cannot be read as categories. Write two or more'),
    ],
)
def test_what_cannot_be_read_gets_one_sentence_and_changes_nothing(recipe, text, sentence):
    again, refused = tables.with_cells(recipe, {"bins": text, "privacy": tables.PRIVACY[True]})
    assert sentence in refused["bins"]
    assert len(refused["bins"]) < 250
    assert again == recipe.model_copy(update={"known": True})


def test_another_unit_keeps_the_months_that_were_given():
    recipe = DateRecipe(column="joined", first="2026-01", last="2026-12")
    weeks = tables.with_bins(recipe, "week, 2026-01 to 2026-12")
    assert (weeks.unit, weeks.first, weeks.last) == ("week", "2026-W01", "2026-W53")


def test_what_came_from_the_data_stays_marked_beside_what_is_typed():
    recipe = NumericRecipe(column="age", method="range", low=18, high=77, bins=32, origin="data")
    assert tables.with_bins(recipe, "8").origin == "data"
    assert tables.with_bins(recipe, "18 to 90 in 8").origin == "data"
    assert tables.with_bins(recipe, "0 to 120 in 8").origin == "declared"
    seen = CategoricalRecipe(column="arm", categories=("new", "old"), origin="data")
    assert tables.with_bins(seen, "new, old, none").origin == "data"


def test_a_row_says_what_all_kinds_have_and_cells_change_it():
    recipes = [AGE, CategoricalRecipe(column="arm", known=True, missing="category")]
    rows = tables.column_table(["id", "age", "arm"], recipes).set_index("column")
    assert rows["asked"].tolist() == [False, True, True]
    assert rows.loc["id"].tolist() == [False, "", "", "", ""]
    assert rows.loc["age"].tolist() == [True, "numbers", "secret", "32", "left out"]
    assert rows.loc["arm"].tolist() == [True, "categories", "known: sent as it is", "", "a category"]
    changed, refused = tables.with_cells(AGE, {"kind": "categories", "bins": "young, old", "missing": "refused"})
    assert (changed.kind, changed.categories, changed.missing, refused) == (
        "categorical",
        ("young", "old"),
        "refuse",
        {},
    )
    assert tables.with_cells(AGE, {"column": " ", "kind": None, "privacy": None})[1] == {
        "column": "age: a column needs a name."
    }
