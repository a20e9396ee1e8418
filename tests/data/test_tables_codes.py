"""Codes for no answer in columns of numbers: named, and missing at one press."""

import numpy as np
import pandas as pd
import pytest

from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.tables import NumericRecipe
from ldp_core.data.tables.doubts import codes_of, far_numbers


def ages(people=1000, seed=3):
    return np.clip(np.random.default_rng(seed).normal(45, 16, people), 18, 85).round()


def found(numbers, **about):
    return codes_of(parse(pd.Series(numbers, name="age")), **about)


@pytest.mark.crossed
@pytest.mark.parametrize("share", [0.005, 0.02, 0.1, 0.4])
@pytest.mark.parametrize("code", [99, 98, 999, 998, 9999, 99999, -1, -9, -8, -99, -88, -999, 999.9])
def test_a_code_that_many_share_beside_a_gap_is_found(code, share):
    people = ages()
    people[: int(share * len(people))] = code
    assert found(people) == (code,)


@pytest.mark.parametrize("codes", [(997, 998, 999), (-9, -8), (-9, 999), (99, 999), (-1, 99)])
def test_several_codes_are_found(codes):
    assert found([*ages(300), *np.repeat(codes, 4)]) == codes
    assert found([*ages(300), *np.repeat(codes, 4)], known=codes) == ()


HOURS = [*range(1, 99)] * 3 + [40] * 400 + [99] * 90
OTHERS = {
    "one person of 99": [*ages(), 99],
    "hours up to 99": HOURS,
    "real negative numbers": np.random.default_rng(1).normal(0, 5, 500).round(),
    "one number": [9] * 50,
    "few numbers": [1, 2, 3, 9, 9, 9],
    "another number far away": [*ages(), 640, 640, 640],
    "a wide spread": np.random.default_rng(1).lognormal(10, 1, 500).round(),
    "texts": ["a", "b"] * 50,
    "nothing": [],
}


@pytest.mark.parametrize("numbers", OTHERS.values(), ids=OTHERS)
def test_other_numbers_are_no_codes(numbers):
    assert found(numbers) == ()


@pytest.mark.parametrize(("code", "method"), [(999, "equal_width"), (-9, "range"), (99, "equal_count")])
def test_it_is_named_and_missing_at_one_press_and_back(code, method):
    series = pd.Series([*ages(300), *[code] * 6, None], name="age")
    recipe = NumericRecipe(column="age", method=method, bins=8)
    (reading,) = tables.doubts_of(recipe, parse(series))
    assert reading.said.startswith(f"{code} in age (6 users)")
    ((label, without),) = reading.ways
    assert label == "Count as missing"
    for missing, dropped in (("drop", 7), ("category", 0)):
        attribute = tables.build_attribute(without.model_copy(update={"missing": missing}), parse(series))
        tally = tables.tally(series, attribute)
        assert (tally.dropped, tally.outside) == (dropped, 0)
        assert missing == "drop" or tally.counts[-1] == 7
        assert 17 <= attribute.edges[0] < attribute.edges[-1] < 95
        assert tables.build_attribute(tables.declared_recipe(attribute)).no_answer == (code,)
        assert type(attribute).model_validate_json(attribute.model_dump_json()) == attribute
    (reading,) = tables.doubts_of(without, parse(series))
    assert reading.said == f"{code} in age (6 users), counted as missing."
    assert reading.ways == (("Keep as a number", recipe),)
    assert "no_answer" not in recipe.model_dump_json() + tables.build_attribute(recipe, parse(series)).model_dump_json()


def test_bins_for_nearly_everyone_are_offered_for_the_answers_alone():
    series = pd.Series([*ages(300), *[999] * 6], name="age")
    recipe = NumericRecipe(column="age")
    assert far_numbers(recipe, parse(series)) is None
    clamped = NumericRecipe(column="age", method="range", low=18, high=90, outside="clamp", origin="data")
    (reading,) = tables.doubts_of(clamped, parse(series))
    assert reading.ways[0][1] == recipe.model_copy(update={"no_answer": (999,)})
    far = pd.Series([*series, 50_000], name="age")
    doubt = far_numbers(recipe.model_copy(update={"no_answer": (999,)}), parse(far))
    assert "1 user with a value beyond" in doubt.effect
    assert doubt.ways[0][1].no_answer == (999,)
    assert doubt.ways[0][1].high < 200


def test_of_all_columns_at_once_codes_are_missing_and_it_is_said():
    series = pd.Series([*ages(300), *[999] * 6], name="age")
    suggestion = tables.suggest_for_survey(parse(series))
    assert (suggestion.recipe.no_answer, suggestion.recipe.missing) == ((999,), "category")
    assert "999 in age counts as missing." in suggestion.note
