"""Columns that can be read in two ways: what was taken is said, and the other way is one recipe away."""

import io
import unicodedata

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from ldp_core import mechanisms
from ldp_core.data import tables
from ldp_core.data.columns import parse, plain
from ldp_core.data.tables import CategoricalRecipe, DateRecipe, NumericRecipe
from ldp_core.deploy.kit import client, devices
from tests.declared import categories
from tests.refused import refused

DAYS = [f"2024-{month:02}-15" for month in range(1, 13)] * 4


def offered(cells, recipe=None):
    """The suggested recipe of a column, what is said about it, and the recipes offered instead by their labels."""
    column = parse(pd.Series(cells, name="x"))
    recipe = tables.suggest_recipe(column) if recipe is None else recipe
    found = tables.doubts_of(recipe, column)
    return recipe, " ".join(one.said for one in found), {label: way for one in found for label, way in one.ways}


def counted(cells, recipe):
    """The users of each type of a column."""
    frame = pd.DataFrame({"x": cells})
    domain = tables.build_domain(recipe, frame)
    counts = tables.tally(frame, domain).counts.tolist()
    return dict(zip(domain.attributes[0].labels, counts, strict=True))


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        (["Yes", "yes", "yes", "No"], {"No": 1, "yes": 3}),
        (["TRUE", "True", "True", "FALSE", "False", "False"], {"False": 3, "True": 3}),
        (["New York", "New York", "New  York", "new york", "Rome"], {"New York": 4, "Rome": 1}),
        (["don\u2019t", "don't", "don't", "do"], {"do": 1, "don't": 3}),
        (["18\u201325", "18-25", "18-25", "26-40"], {"18-25": 3, "26-40": 1}),
        (["Yes.", "Yes", "Yes", "No"], {"No": 1, "Yes": 3}),
        (["1", "1.0", "1", "2"], {"1": 3, "2": 1}),
        (["\uff21", "A", "A", "B"], {"A": 3, "B": 1}),
        (["Stra\u00dfe", "Strasse", "Strasse", "Weg"], {"Strasse": 3, "Weg": 1}),
    ],
)
def test_categories_that_look_alike_are_merged_by_one_button(cells, counts):
    series = pd.Series(cells, name="x")
    recipe = CategoricalRecipe(column="x")
    attribute = tables.build_attribute(recipe, parse(series))
    merged = tables.merge_spellings(recipe, attribute, tables.tally(series, attribute).counts)
    assert counted(cells, merged) == counts
    attribute = tables.build_attribute(merged)
    domain = tables.build_domain(merged, pd.DataFrame({"x": cells}))
    mechanism = mechanisms.create("randomized_response", domain.size, 1.0)
    device = devices.describe(mechanism, "1.0", domain)["domain"]["attributes"]
    found = [client.encode(device, {"x": cell}) for cell in cells]
    assert found == [[code] for code in attribute.encode(cells).codes.tolist()]


@pytest.mark.parametrize("cells", [["a", "b"], ["007", "7"], ["1.5", "1.50"], ["Jose", "Jos\u00e9"], ["a-b", "a b"]])
def test_other_categories_stay_apart(cells):
    attribute = tables.build_attribute(CategoricalRecipe(column="x"), parse(pd.Series(cells, name="x")))
    assert not tables.spellings(attribute)


@pytest.mark.parametrize(
    "cell",
    [unicodedata.normalize("NFD", "Zo\u00e9"), "Zo\u00e9\u00a0", "\u200bZo\u00e9", "Zo\ufeff\u00e9", "\u2009Zo\u00e9", "Zo\u00ad\u00e9"],
)  # fmt: skip
def test_texts_that_look_the_same_are_the_same(cell):
    column = parse(pd.Series([cell, "Zo\u00e9"], dtype=object))
    assert (column.texts.tolist(), column.codes.tolist()) == (["Zo\u00e9"], [0, 0])
    assert plain(cell) == "Zo\u00e9"
    older = categories("x", unicodedata.normalize("NFD", "Zo\u00e9") + "\nother")
    assert older.encode([cell, "other"]).codes.tolist() == [0, 1]


@pytest.mark.parametrize("word", ["None", "n/a", "?"])
def test_words_for_missing_values_can_be_answers(word):
    cells = ["a", word, "b", word]
    recipe, said, ways = offered(cells)
    assert f'"{word}" in x counts as missing (2 users)' in said
    assert sum(counted(cells, recipe).values()) == 2
    kept = ways["Keep as an answer"]
    assert counted(cells, kept)[word] == 2
    assert f'"{word}" in x counts as an answer' in offered(cells, kept)[1]
    assert sum(counted(cells, offered(cells, kept)[2]["Count as missing"]).values()) == 2
    listed = CategoricalRecipe(column="x", categories=("a", "b"))
    assert counted(cells, offered(cells, listed)[2]["Keep as an answer"])[word] == 2


@pytest.mark.parametrize(
    ("far", "periods"),
    [
        (["9999-12-31"], 12),
        (["9999-12-31"] * 20, 12),
        (["0001-01-01"], 12),
        (["1900-01-01", "9999-12-31"], 12),
        (["2026-01-15"], 25),
        ([], 12),
    ],
)
def test_dates_far_from_all_others_count_in_the_end_periods(far, periods):
    cells = DAYS + far
    recipe, said, ways = offered(cells)
    counts = counted(cells, recipe)
    assert (len(counts), sum(counts.values())) == (periods, len(cells))
    assert ("dates far from these" in said) == bool(far and periods == 12)
    survey = tables.suggest_for_survey(parse(pd.Series(cells, name="x")))
    assert survey.types == periods
    if ways:
        assert recipe.origin == "data"
        assert tables.build_attribute(recipe).origin == "data"
        everyone = counted(cells, ways["All dates"])
        assert sum(everyone.values()) == len(cells)
        back = offered(cells, ways["All dates"])[2]
        assert counted(cells, back["From 2024-01 to 2024-12"]) == counts


@pytest.mark.parametrize("unit", ["day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize("outside", ["other", "clamp"])
def test_the_last_year_of_the_calendar_blocks_no_choice(unit, outside):
    recipe = DateRecipe(column="x", unit=unit, outside=outside)
    cells = [*DAYS, "2025-01-15", "9999-12-31"]
    assert sum(counted(cells, recipe).values()) == len(cells)
    refused(
        'outside its domain, such as "9999-12-31"',
        lambda: counted(cells, recipe.model_copy(update={"outside": "refuse"})),
    )


def test_dates_that_could_be_two_are_said():
    cells = ["03/04/2021", "05/06/2021", "01/02/2021"] * 5
    recipe, said, ways = offered(cells)
    assert recipe.kind == "categorical"
    assert "could be two dates" in said
    for label, months in {
        "Day first": ["2021-02", "2021-04", "2021-06"],
        "Month first": ["2021-01", "2021-03", "2021-05"],
    }.items():
        assert [month for month, users in counted(cells, ways[label]).items() if users] == months
        assert "it could be another date" in offered(cells, ways[label])[1]
    known = offered(cells, CategoricalRecipe(column="x", known=True))[2]
    assert all(way.known for way in known.values()), "what the collector knows stays known"
    assert not offered(["13/04/2021", "05/06/2021"])[1]
    assert "years of two digits" in offered(["03.04.21", "05.06.22", "12.12.21"])[1]


def test_texts_with_exponents_are_codes_or_numbers():
    _, said, ways = offered(["7E4", "7E1", "8E2"])
    assert '"7E4" in x is a category; it could be the number 70000' in said
    assert isinstance(ways["Numbers in bins"], NumericRecipe)
    assert "it could be a code" in offered(["7E4", "7E1"], ways["Numbers in bins"])[1]
    assert not offered(["7A4", "7E1", "x", "y"])[1]


@pytest.mark.parametrize(
    ("cells", "unit", "numbers"),
    [
        (["45%", "7 %", "+100%"], "%", [45, 7, 100]),
        (["$1,178.00", "-$2.50", "($7)"], "$", [1178, -2.5, -7]),
        (["1.178,00 €", "20,5 €", "1.000.000 €"], "€", [1178, 20.5, 1e6]),
        (["CHF 1'178.50", "CHF 20"], "CHF", [1178.5, 20]),
        (["61 kg", "72.5KG", "80"] + ["90 kg"] * 9, "kg", [61, 72.5, 80, 90]),
        (["1 hour", "2 hours", "10 Hours."], "hour", [1, 2, 10]),
        (["-5 °C", "\u22123 °C", "20 °C"], "°C", [-5, -3, 20]),
    ],
)
def test_numbers_with_a_unit_are_texts_until_somebody_says_otherwise(cells, unit, numbers):
    recipe, said, ways = offered(cells)
    assert recipe.kind == "categorical"
    assert f'"{cells[0]}" in x counts as a text; it could be the number {numbers[0]} with the unit {unit}.' in said
    assert ("1 user has a number without it" in said) == ("80" in cells)
    binned = ways["Numbers in bins"].model_copy(update={"bins": 1000})
    attribute = tables.build_attribute(binned, parse(pd.Series(cells, name="x")))
    assert sum(counted(cells, binned).values()) == len(cells)
    found, plain = attribute.encode(cells).codes, attribute.encode([*numbers, *attribute.labels]).codes
    assert list(dict.fromkeys(found)) == plain[: len(numbers)].tolist()
    assert plain[len(numbers) :].tolist() == list(range(attribute.size)), "its own labels are values"
    assert type(attribute).model_validate_json(attribute.model_dump_json()) == attribute
    assert tables.build_attribute(tables.declared_recipe(attribute)).encode(cells).codes.tolist() == found.tolist()
    assert f"without their unit, {unit}." in offered(cells, binned)[1]
    assert offered(cells, NumericRecipe(column="x"))[2] == ways, "also for who has asked for numbers already"


def test_a_number_with_a_unit_that_can_be_two_is_asked_about():
    ways = offered(["€1.178", "€2.500", "€850"])[2]
    assert [(label, way.decimal) for label, way in ways.items()] == [("Numbers: 1178", ","), ("Numbers: 1.178", ".")]
    incomes = parse(pd.Series([f"${number},000" for number in range(1, 400)], name="income"))
    assert "none of more than 1 people" in tables.suggest_for_survey(incomes).note, "amounts are no ids"
    assert (
        '"$1,000" in income counts as a text; it could be the number 1000 or 1'
        in tables.suggest_for_survey(incomes).note
    )


@pytest.mark.parametrize(
    "cells",
    [
        ["Q1", "Q2"], ["1st", "2nd"], ["Room 5", "Room 7"], ["18+", "21+"], ["9am", "5pm"], ["61 kg", "135 lb"],
        ["12-15%", "16-20%"], ["1/2", "3/4"], ["10:30", "9:15"], ["A12", "B7"], ["5%", "5 %"], ["007", "7"],
    ],
)  # fmt: skip
def test_other_texts_with_numbers_have_no_unit(cells):
    assert not [label for label in offered(cells, CategoricalRecipe(column="x"))[2] if label.startswith("Numbers")]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["Bus", "Car", "Bus, Car"], 'several answers in a cell, such as "Bus, Car" (1 user)'),
        (["Bus;Car;", "Bus;", "Car;"], "several answers"),
        (["A|B", "A|C", "B|C"], 'several answers in a cell, such as "A|B", "A|C", … (3 users)'),
        (["1,2,3", "2,3", "1"], "several answers"),
        ([["a", "b"], ["a"]], "x holds lists, such as \"['a', 'b']\""),
        ([pd.Interval(0, 5), pd.Interval(5, 10)], 'x holds intervals, such as "(0, 5]"'),
        (["Berlin, DE", "Paris, FR", "Singapore, Singapore"], ""),
        (["Yes, daily", "Yes, weekly", "No"], ""),
        (["1,178 kg", "178 kg", "2 lb"], ""),
        (["10,000 - 20,000", "Under 10,000", "20,000+"], ""),
        ([">50K", "<=50K", "> 100K"], ""),
        (["Home > Shoes", "Home > Hats", "Home > Shoes > Red"], ""),
    ],
)
def test_cells_of_several_values_are_said(cells, said):
    found = offered(cells, CategoricalRecipe(column="x"))[1]
    assert said in found
    assert bool(found) == bool(said)


def test_structures_maps_and_intervals_of_files_are_refused_in_a_sentence():
    """As Parquet and DuckDB hold them; the other columns of the file are read, and offered first."""
    stored = pa.table(
        {
            "struct": pa.array([{"a": 1}, {"a": 2}, None]),
            "map": pa.array([[("k", 1)], [("k", 2)], None], pa.map_(pa.string(), pa.int64())),
            "deep": pa.array([[{"a": 1}], [{"a": 2}], None]),
            "way": pa.array(["bus", "car", "bus"]),
        }
    )
    file = io.BytesIO()
    pyarrow.parquet.write_table(stored, file)
    table = tables.load(file.getvalue(), "x.parquet").table
    table["span"] = [pd.DateOffset(months=1), pd.DateOffset(days=2), None]  # as DuckDB gives an INTERVAL
    for name in ("struct", "map", "deep", "span"):
        what = "spans of time" if name == "span" else "records of several fields"
        for recipe in (CategoricalRecipe(column=name), tables.ChoiceRecipe(column=name)):
            with pytest.raises(ValueError, match=f"{name} holds {what}, such as .*, which cannot be counted"):
                tables.build_domain([recipe], table)
        assert tables.suggest_for_survey(parse(table[name])).recipe is None
    assert tables.build_domain([CategoricalRecipe(column="way")], table).size == 2


def test_a_list_that_is_null_is_missing_and_an_empty_one_has_chosen_none():
    file = io.BytesIO()
    cells = pa.array([["bus", "car"], [], None, ["car"], [None]])
    pyarrow.parquet.write_table(pa.table({"way": cells, "id": range(5)}), file)
    table = tables.load(file.getvalue(), "x.parquet").table
    domain = tables.build_domain([tables.ChoiceRecipe(column="way", separator=";")], table)
    assert domain.labels() == ["(none)", "bus", "car", "bus; car"]
    found = tables.tally(table, domain)
    assert (found.counts.tolist(), found.dropped) == ([2, 0, 1, 1], 1)


def test_a_number_of_people_beside_an_id_is_an_answer():
    households = pd.DataFrame({"id": [1, 2, 3], "city": ["a", "b", "a"], "people": [2, 3, 4]})
    assert tables.counts_column(households) is None
    assert tables.counts_column(households.drop(columns="id").assign(city=["a", "b", "c"])) == "people"


@pytest.mark.parametrize(
    ("unit", "other", "first", "last"),
    [
        ("month", "day", "2024-02-01", "2024-02-29"),
        ("month", "week", "2024-W05", "2024-W09"),
        ("month", "quarter", "2024-Q1", "2024-Q1"),
        ("month", "year", "2024", "2024"),
    ],
)
def test_ends_of_dates_follow_their_unit(unit, other, first, last):
    ends = [tables.other_unit("2024-02", unit, other, end) for end in (False, True)]
    assert ends == [first, last]
    assert [tables.other_unit(label, unit, other) for label in (None, "soon")] == [None, "soon"]
