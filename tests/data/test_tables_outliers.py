"""Numbers far from all others: seen where they take most of the bins, and counted in the end bins by what is offered instead."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.tables import Doubt, NumericRecipe
from ldp_core.data.tables.doubts import far_numbers

RNG = np.random.default_rng(0)
SALARIES = 100 * RNG.integers(150, 900, 4000)


def with_one(value, numbers=SALARIES, name="salary"):
    return pd.Series([*numbers, value], name=name)


class Found(NamedTuple):
    recipe: NumericRecipe
    beyond: int
    doubt: Doubt


def crowd(series, weights=None, **said):
    """The recipe that is offered, how many people it counts in the end bins, and the whole doubt; None where there is none."""
    column = parse(series, weights)
    doubt = far_numbers(NumericRecipe(column=str(series.name), **said), column)
    if doubt is None:
        return None
    recipe = doubt.ways[0][1]
    beyond = ((column.numbers < recipe.low) | (column.numbers > recipe.high)) @ column.rows_per_text
    return Found(recipe, beyond, doubt)


def test_one_salary_of_a_billion_does_not_take_all_bins():
    series = with_one(10**9)
    found = crowd(series)
    assert (found.recipe.low, found.recipe.high) == (15_000, 90_000)
    assert (found.beyond, found.doubt.ways[0][0]) == (1, "Bins from 15,000 to 90,000")
    assert "at least 98 % of users are in one of its 32 bins" in found.doubt.said
    assert (
        found.doubt.effect
        == "Bins of salary go from 15,000 to 90,000; 1 user with a value beyond counts in the end bins."
    )
    domain = tables.build_domain(found.recipe, series.to_frame())
    tally = tables.tally(series, domain)
    assert (tally.users, tally.outside, tally.dropped) == (4001, 1, 0)
    assert (tally.counts > 0).sum() > 25
    edges = np.asarray(domain.attributes[0].edges)
    assert tally.counts[-1] == (series >= edges[-2]).sum(), "the end bin has the one beyond as well"
    assert domain.attributes[0].origin == "data", "the ends were read off the data"
    assert tables.declared_recipe(domain.attributes[0]).declared
    assert tables.build_domain(tables.declared_recipe(domain.attributes[0])).attributes[0].origin == "declared"


def test_people_are_counted_not_rows():
    values = pd.Series([*range(20, 60), 10**6], name="age")
    many = np.full(41, 100)
    assert crowd(values, np.where(values > 100, 1, many)).beyond == 1
    assert crowd(values, np.where(values > 100, 500, many)) is None, "a tenth of all people are no few"
    assert crowd(values) is None


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(SALARIES, name="even"),
        pd.Series(RNG.lognormal(10, 0.45, 4000).round(), name="salaries as they are"),
        with_one(10**9, np.zeros(4000, dtype=int), "nearly all the same"),
        pd.Series(["no", "numbers"], name="words"),
        pd.Series([], dtype=float, name="nobody"),
        pd.Series([1e301, 1.0, 2.0], name="too large"),
    ],
    ids=lambda series: series.name,
)
def test_other_columns_are_left_as_they_are(series):
    assert crowd(series) is None


def test_all_columns_count_the_few_in_the_end_bins_and_say_so():
    found = tables.suggest_for_survey(parse(with_one(10**9)))
    assert (found.recipe.method, found.recipe.outside, found.recipe.origin) == ("range", "clamp", "data")
    assert found.note == crowd(with_one(10**9)).doubt.effect
    gaps = pd.concat([with_one(10**9), pd.Series([""] * 50, name="salary")]).astype(str)
    assert tables.suggest_for_survey(parse(gaps)).recipe.missing == "category"


@given(
    st.lists(st.integers(0, 100).map(float), min_size=60, max_size=300),
    st.lists(st.floats(-1e300, 1e300), max_size=3),
    st.booleans(),
)
def test_what_is_offered_is_true_whatever_the_numbers(numbers, few, whole):
    values = np.array([*numbers, *few])
    values = values.round() if whole else values
    series = pd.Series(values, name="x")
    found = crowd(series)
    if found is None:
        return
    low, high = found.recipe.low, found.recipe.high
    assert found.beyond == ((values < low) | (values > high)).sum() > 0
    assert ((values >= low) & (values <= high)).mean() >= 0.98 - 1 / len(values)
    now = tables.build_attribute(NumericRecipe(column="x"), parse(series))
    fullest = np.sort(np.bincount(now.encode(series).codes, minlength=now.size))[::-1]
    held = int(
        re.search(r"in (one|only \d+) of its", found.doubt.said).group(1).replace("one", "1").replace("only ", "")
    )
    assert fullest[:held].sum() >= 0.98 * len(values), "so many are in so few bins"
