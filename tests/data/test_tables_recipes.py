"""Recipes: several columns to one domain, with and without data, counted densely, sparsely and by weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.domain import DateAttribute, Domain, RangeAttribute
from ldp_core.data.tables import CategoricalRecipe, Merge, NumericRecipe, build_domain
from ldp_core.people import dense, people_of
from tests.declared import categories, numbers
from tests.refused import refused

TABLE = pd.DataFrame(
    {
        "age": ["31", "42", "18", "90", "31", None],
        "sex": ["f", "m", "f", "m", "f", "f"],
        "school": ["7th", "8th", "MA", "BA", "MA", "PhD"],
        "day": ["2026-01-31", "1.2.2026", "2026-03-01", "2026-01-01", "2026-02-28", "2026-02-01"],
    }
)


def test_categories_are_merged_under_new_names_and_ordered():
    recipe = CategoricalRecipe(
        column="school",
        merges=[Merge(name="school", texts=["7th", "8th"]), Merge(name="MA", texts=["MA", "PhD"])],
    )
    read = build_domain(recipe, TABLE).attributes[0]
    assert (read.values, read.origin, read.ordered) == (("BA", "MA", "school"), "data", False)
    assert read.encode(["8th", "PhD", "school", "BA"]).codes.tolist() == [2, 1, 2, 0]
    edited = recipe.model_copy(update={"categories": ("school", "BA", "MA"), "ordered": True, "origin": "data"})
    attribute = build_domain(edited, TABLE).attributes[0]
    assert (attribute.values, attribute.origin, attribute.in_order) == (("school", "BA", "MA"), "data", True)
    assert tables.tally(TABLE["school"], attribute).counts.tolist() == [2, 1, 3]


def test_rare_values_are_counted_after_merging():
    table = pd.DataFrame({"x": ["a"] * 5 + ["b", "b", "c", "d", "d", "e"]})
    recipe = CategoricalRecipe(
        column="x", rare_below=3, merges=[Merge(name="b or c", texts=["b", "c"]), Merge(name="d", texts=["d", "e"])]
    )
    attribute = build_domain(recipe, table).attributes[0]
    assert attribute.labels == ("a", "b or c", "d", "(other)")[: attribute.size]
    merged = build_domain(recipe.model_copy(update={"rare_below": 4}), table).attributes[0]
    assert (merged.labels, merged.merged) == (("a", "(other)"), ())
    assert tables.tally(table, merged).notes == (
        "6 of 11 users have a value of x outside the domain and count as (other).",
    )


def test_a_missing_word_may_be_merged_into_a_category():
    table = pd.DataFrame({"x": ["a", "?", "unknown", None]})
    attribute = build_domain(
        CategoricalRecipe(column="x", merges=[Merge(name="unknown", texts=["?"])]), table
    ).attributes[0]
    assert attribute.encode(table["x"]).codes.tolist() == [0, 1, 1, -1]


def test_ranges_beyond_the_limit_of_listed_edges():
    table = pd.DataFrame({"x": [0, 7, 99_999], "y": [0.5, 1.25, 7.0]})
    domain = build_domain(
        [
            NumericRecipe(column="x", method="range", bins=10**5, low=0),
            NumericRecipe(column="y", method="range", bins=4),
        ],
        table,
    )
    assert domain.shape == (10**5, 4)
    assert [attribute.origin for attribute in domain.attributes] == ["data", "data"]
    assert domain.attributes[1].low <= 0.5
    assert domain.attributes[1].high >= 7
    assert domain.encode(table).codes.tolist() == [0, 28, 399_999]
    declared = build_domain(NumericRecipe(column="x", method="range", bins=7, low=0, high=9, integer=True)).attributes[
        0
    ]
    assert declared == RangeAttribute(name="x", low=0, high=9, bins=5, integer=True)
    assert build_domain(NumericRecipe(column="x", method="range", bins=2, low=0, high=1, integer=False)).size == 2


@pytest.mark.parametrize(
    ("low", "high", "bins", "ends"),
    [
        (10, 90, 8, ("10-19", "80-90")),
        (0, 100, 10, ("0-9", "90-100")),
        (0, 99, 10, ("0-9", "90-99")),  # equally many in each
        (0, 10, 10, ("0-1", "10")),  # the last one would be twice as wide
    ],
)
def test_whole_numbers_between_given_ends_get_even_bins(low, high, bins, ends):
    recipe = NumericRecipe(column="age", method="range", low=low, high=high, bins=bins, integer=True)
    domain = build_domain(recipe)
    labels = domain.attributes[0].labels
    assert (labels[0], labels[-1]) == ends
    counts = dense(tables.tally(pd.DataFrame({"age": np.arange(low, high + 1)}), domain).counts)
    assert counts.sum() == high - low + 1
    assert len(set(counts[:-1])) == 1


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["2026-01-31", "1.2.2026", None], "date"),
        (["31/1/2026", "1/2/2026"], "date"),
        (["1/3/2026", "1/2/2026"], "categorical"),
        (list(range(100)), "numeric"),
        (["a", "b"], "categorical"),
    ],
)
def test_a_recipe_is_suggested_that_works(values, kind):
    table = pd.DataFrame({"x": values})
    recipe = tables.suggest_recipe(parse(table["x"]))
    assert recipe.kind == kind
    domain = build_domain(recipe, table)
    assert tables.tally(table, domain).users == table["x"].notna().sum()
    assert kind != "numeric" or recipe.bins == domain.size == 25  # of four numbers each: what the column of bins says


# Random tables


# Counts


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.integers(0, 20)), min_size=1, max_size=12))
def test_a_file_of_counts_is_a_file_of_repeated_rows(rows):
    counted = pd.DataFrame(rows, columns=["letter", "digit", "n"])
    repeated = counted.loc[counted.index.repeat(counted["n"])]
    domain = Domain(
        attributes=(
            categories("letter", "a,b,c"),
            numbers("digit", 1, 2, 2, True, outside="other"),
        )
    )
    if counted["n"].sum() == 0:
        refused("since all counts are 0", tables.tally, counted, domain, "n")
        return
    by_name, by_array = (
        tables.tally(counted.astype({"n": str}), domain, "n"),
        tables.tally(counted, domain, counted["n"].to_numpy()),
    )
    expected = tables.tally(repeated, domain)
    for found in (by_name, by_array):
        np.testing.assert_array_equal(found.counts, expected.counts)
        assert (found.users, found.outside, found.notes) == (expected.users, expected.outside, expected.notes)
    recipe = CategoricalRecipe(column="letter", rare_below=7, missing="category")
    outcomes = []
    for table, weights in ((counted[counted["n"] > 0], "n"), (repeated, None)):
        try:
            outcomes.append(build_domain(recipe, table, weights))
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_refusals_count_people_not_rows():
    counted = pd.DataFrame({"x": ["a", "b", "z"], "n": [10, 20, 30]})
    refused("30 of 60 values of x are outside its domain", lambda: tables.tally(counted, categories("x", "a,b"), "n"))
    refused("60 of 60 values of x are not numbers", lambda: build_domain(NumericRecipe(column="x"), counted, "n"))


@pytest.mark.parametrize(
    ("counts", "weights", "sentence"),
    [
        (["1", "x"], "n", r"1 of 2 counts in n are not whole numbers of at least 0, such as 'x' in row 2"),
        ([1, -1], "n", "such as '-1' in row 2"),
        ([1.5, 1], "n", "such as '1.5' in row 1"),
        ([2**53, 2**53], "n", r"more than 2\^53 users"),
        ([0, 0], "n", "all counts are 0"),
        ([1, 1], "m", "lacks the column of counts"),
        ([1, 1], np.ones(3), "3 counts for 2 rows"),
    ],
)
def test_bad_counts(counts, weights, sentence, tmp_path):
    table = pd.DataFrame({"x": ["a", "b"], "n": pd.Series(counts, dtype=object)})
    refused(sentence, lambda: tables.tally(table, categories("x", "a,b"), weights))


# Size and sparsity


def test_empty_types_are_warned_of():
    domain = Domain(attributes=(categories("a", "x,y"), categories("b", "u,v")))
    table = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    people = people_of(tables.tally(table, domain).counts, domain.shape)
    assert tables.size_warnings(domain, people) == [
        "There are more types (4) than users (3), and 50.0 % of the types are empty: their answers will be mostly noise. "
        "Use coarser bins or fewer attributes, or ask for marginals only."
    ]
    assert tables.size_warnings(domain) == []


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (2000, ["count day by week (5 types)", "use at most 3 bins for age instead of 20",
                "merge categories of city until 2 of 20 remain", "leave out day (400 types remain)"]),  # 20 x 20 x 5 or 20 x 3 x 30
        (120, ["keep only age (20 types remain)", "give each of the 3 attributes at most 4 types"]),
        (4, []),
    ],
)  # fmt: skip
def test_suggestions_do_what_they_promise(limit, said):
    days = DateAttribute(name="day", unit="day", first="2026-01-01", last="2026-01-30")
    domain = Domain(attributes=(categories("city", ",".join(map(str, range(20)))), numbers("age", 0, 1, 20), days))
    assert f"12,000 types (20 x 20 x 30) are more than the {limit:,}" in tables.size_warnings(domain, limit=limit)[0]
    assert tables.suggestions(domain, limit) == said


def test_merges_of_one_name_are_one():
    merges = (Merge(name="warm", texts=("red",)), Merge(name="warm", texts=("orange",)))
    refused('merged into "warm" twice', CategoricalRecipe, column="colour", merges=merges)
