"""Columns of 0/1 that are one choice: read as lists of items, from uploads and files by path, against what people ticked."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import tables
from ldp_core.data.tables import ReadOptions, Together

NAMES = ("way: bus", "way: car", "way: bike, own")
WAY = Together(name="way", columns=NAMES)
OPTIONS = ReadOptions(together=(WAY,))
words = st.sampled_from([("0", "1"), ("no", "yes"), ("False", "True"), ("0.0", "1.0"), ("", "x"), ("", "bus")])


def choice(most=None, outside="refuse"):
    return tables.together_recipe(WAY, most).model_copy(update={"outside": outside})


def written(rows, path, sex=None):
    """A file of these rows of ticks, after a column of everybody's number."""
    frame = pd.DataFrame(rows, columns=list(NAMES)).assign(
        sex=sex or ["f", "m"] * (len(rows) // 2) + ["f"] * (len(rows) % 2)
    )
    frame[["sex", *NAMES]].to_csv(path, index=False)
    return path


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=2, max_size=30), words)
def test_everybody_has_the_items_that_they_ticked(tmp_path_factory, ticked, pair):
    path = written([[pair[tick] for tick in row] for row in ticked], tmp_path_factory.mktemp("x") / "x.csv")
    uploaded = tables.load(path.read_bytes(), path.name, OPTIONS).table
    local = tables.LocalTable(str(path), OPTIONS)
    assert list(uploaded) == list(local.columns) == ["sex", "way"]
    counts = [
        tables.tally(
            table,
            tables.build_domain([choice(3), tables.CategoricalRecipe(column="sex", categories=("f", "m"))], table),
        ).counts
        for table in (uploaded, local)
    ]
    (attribute,) = tables.build_domain([choice(3)]).attributes
    assert attribute.items == ("bus", "car", "bike, own")
    people = [[attribute.members.tolist().index(list(map(int, row))), i % 2] for i, row in enumerate(ticked)]
    expected = np.zeros((attribute.size, 2), dtype=int)
    np.add.at(expected, tuple(np.transpose(people)), 1)
    for found in counts:
        np.testing.assert_array_equal(found, expected.ravel())


def test_a_blank_cell_is_missing_where_columns_have_a_word_for_no(tmp_path):
    for no, dropped, said in (
        ("0", 2, "a blank cell is a missing value"),
        ("", 0, "a blank cell is an item that was not chosen"),
    ):
        rows = [["1", no, no], ["", "1", no], [no, no, "1"], ["", "", ""], ["1", "1", no]]
        path = written(rows, tmp_path / "x.csv")
        loaded = tables.load(path.read_bytes(), "x.csv", OPTIONS)
        assert said in " ".join(loaded.notes)
        for table in (loaded.table, tables.LocalTable(str(path), OPTIONS)):
            found = tables.tally(table, tables.build_domain([choice()], table))
            assert (found.users, found.dropped) == (5 - dropped, dropped)


def test_who_ticked_more_than_so_many_is_refused_or_counts_as_other(tmp_path):
    path = written([*itertools.product("01", repeat=3)], tmp_path / "x.csv")
    table = tables.load(path.read_bytes(), "x.csv", OPTIONS).table
    with pytest.raises(ValueError, match="1 of 8 values of way are outside its domain"):
        tables.tally(table, tables.build_domain([choice(2)], table))
    found = tables.tally(table, tables.build_domain([choice(2, "other")], table))
    assert found.counts.tolist() == [1] * 8


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (("sex", "way: bus"), 'sex holds "f", "m": a column of a choice holds 0 and 1'),
        (("way: bus", "way: car"), "Column names must differ"),
    ],
)
def test_what_is_no_column_of_ticks_is_refused_in_a_sentence(tmp_path, columns, sentence):
    path = written([["1", "0", "0"], ["0", "1", "1"]], tmp_path / "x.csv")
    name = "sex" if "sex" not in columns else "both"
    options = ReadOptions(together=(Together(name=name, columns=columns),))
    with pytest.raises(tables.UnreadableTable, match=sentence):
        tables.load(path.read_bytes(), "x.csv", options)
    with pytest.raises(tables.UnreadableTable, match=sentence):
        tables.LocalTable(str(path), options).counts([name])


def test_a_table_without_these_columns_is_read_as_it_is():
    content, options = b"age,sex\n1,f\n2,m\n", ReadOptions(together=(WAY,))
    loaded = tables.load(content, "x.csv", options)
    assert list(loaded.table) == ["age", "sex"]
    assert 'way was not put together: the table lacks "way: bus"' in " ".join(loaded.notes)


@pytest.mark.parametrize(
    ("names", "items"),
    [
        (("way_bus", "way_car"), ("bus", "car")),
        (("bus", "car"), ("bus", "car")),
        (("a_", "a_b"), ("a_", "a_b")),
        (("walk", "walking"), ("walk", "walking")),
        (("Q5. Ways - Bus", "Q5. Ways - Car"), ("Bus", "Car")),
    ],
)
def test_items_are_what_follows_the_common_beginning_of_names(names, items):
    recipe = tables.together_recipe(Together(name="it", columns=names), 1)
    assert recipe.items == items
    assert not any(recipe.separator in item for item in items)
