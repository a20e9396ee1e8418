"""Tables of many columns: each in the treatment that suits it, counted in the file, and people kept one by one."""

import numpy as np
import pandas as pd
import pytest

from ldp_core import limits
from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.people import Records
from tests.refused import refused


@pytest.fixture
def table():
    """Columns of every kind, 3,000 rows."""
    rng, rows = np.random.default_rng(0), 3000
    columns = {f"q{i}": rng.integers(0, 4 + i, rows).astype(str) for i in range(9)}
    gaps = np.where(rng.random(rows) < 0.2, "", rng.choice(["yes", "no"], rows))
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            **columns,
            "gaps": gaps,
            "said so": np.where(rng.random(rows) < 0.3, "ticked", ""),
            "same": "x",
            "empty": "",
            "income": np.where(
                rng.random(rows) < 0.05, "rather not say", (100 * rng.integers(10, 900, rows)).astype(str)
            ),
            "city": [f"city {j}" for j in np.minimum(rng.zipf(1.4, rows), 400)],
        }
    )


def suggestions(table, weights=None):
    return {name: tables.suggest_for_survey(parse(table[name], weights)) for name in table}


def test_columns_that_say_nothing_or_too_much_are_left_out_with_a_sentence(table):
    found = suggestions(table)
    assert [name for name, one in found.items() if one.recipe is None] == ["id", "same", "empty"]
    assert "3,000 different values" in found["id"].note
    assert found["same"].note == "same has the same value for everyone."
    assert found["empty"].note == "empty is empty."
    many = pd.Series([f"v{i // 2}" for i in range(2_000)], name="code")
    assert "merge them into groups first" in tables.suggest_for_survey(parse(many)).note
    said = tables.told_of(found)
    assert said[0] == "13 of 16 columns are chosen."
    assert all(one.note in " ".join(said) for one in found.values())


def test_amounts_that_hardly_two_people_share_are_said_to_go_in_bins():
    amounts = np.random.default_rng(0).choice(100_000, 3000, replace=False)
    salary = parse(pd.Series(amounts, name="salary"))
    one = tables.suggest_for_survey(salary)
    assert one.recipe is None
    assert "salary has 3,000 different whole numbers" in one.note
    assert "choose it under Attributes, and it is counted in bins" in one.note
    assert isinstance(tables.suggest_recipe(salary), tables.NumericRecipe), "as is promised"
    for ids in (pd.Series(amounts, name="person id"), pd.Series(np.arange(3000), name="person")):
        assert "identifies people instead of describing" in tables.suggest_for_survey(parse(ids)).note


def test_everybody_stays_whatever_is_missing(table):
    found = suggestions(table)
    recipes = [one.recipe for one in found.values() if one.recipe is not None]
    domain = tables.build_domain(recipes, table)
    tally = tables.tally(table, domain)
    assert isinstance(tally.counts, Records)
    assert tally.dropped == 0
    assert tally.users == len(table)
    assert domain.shape == tuple(one.types for one in found.values() if one.recipe is not None)
    names = [attribute.name for attribute in domain.attributes]
    by = dict(
        zip(domain.attributes[names.index("gaps")].labels, tally.counts.table([names.index("gaps")]), strict=True)
    )
    assert by == {**table["gaps"].replace("", "(missing)").value_counts().to_dict()}
    told = dict(
        zip(domain.attributes[names.index("said so")].labels, tally.counts.table([names.index("said so")]), strict=True)
    )
    assert told == {"ticked": (table["said so"] == "ticked").sum(), "(missing)": (table["said so"] == "").sum()}


def test_of_many_categories_the_most_common_are_kept(table):
    one = tables.suggest_for_survey(parse(table["city"]))
    users = table["city"].value_counts()
    least = one.recipe.rare_below
    kept = int((users >= least).sum())
    assert 0 < kept <= limits.MOST_KEPT_CATEGORIES
    assert one.types == kept + 1
    assert (users >= least - 1).sum() > limits.MOST_KEPT_CATEGORIES
    assert f"the {kept} most common values" in one.note
    assert f"{len(users) - kept} count as (other)" in one.note


def test_people_of_counted_rows_are_as_many_as_the_counts_say():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 5, 200).astype(str) for i in range(12)})
    frame["n"] = rng.integers(0, 7, 200)
    recipes = [tables.CategoricalRecipe(column=f"q{i}") for i in range(12)]
    tally = tables.tally(frame, tables.build_domain(recipes, frame, "n"), "n")
    assert isinstance(tally.counts, Records)
    assert tally.users == frame["n"].sum()
    expected = frame.groupby(["q3", "q7"])["n"].sum().unstack(fill_value=0).to_numpy().ravel()
    assert np.array_equal(tally.counts.table([3, 7]), expected)


def test_more_people_than_fit_are_refused(monkeypatch):
    monkeypatch.setattr("ldp_core.data.tables.counting.MOST_VALUES", 2_100)
    attributes = [CategoricalAttribute(name=f"q{i}", values=("a", "b"), origin="declared") for i in range(21)]
    domain = Domain(attributes=attributes)
    frame = pd.DataFrame({f"q{i}": ["a"] * 100 for i in range(21)})
    assert tables.tally(frame, domain).users == 100
    refused("more than 100 rows of 21 columns do not fit", lambda: tables.tally(pd.concat([frame, frame]), domain))
