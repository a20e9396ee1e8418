"""The table of columns on Data: edited in place, one sentence for what cannot be read, and nothing lost."""

import pytest

from ldp_core.data.tables import PRIVACY, CategoricalRecipe, NumericRecipe
from ldp_core.designs import DeclaredData, WorkloadRecipe
from ldp_core.workloads import KWayMarginalsPart, MeanPart

ROWS = "age,arm,place,joined\n" + "".join(
    f"{10 + i % 80},{'old' if i % 2 else 'new'},town {i % 4},2026-0{1 + i % 6}-01\n" for i in range(400)
)


@pytest.fixture
def people(app):
    return app.upload("people.csv", ROWS.encode())


def test_all_of_a_design_is_set_up_in_the_table(people):
    people.columns("age", "arm").cells({"arm": {"privacy": PRIVACY[True]}, "age": {"bins": "10 to 90 in 8"}})
    arm, age = people.session.setting.domain.attributes[::-1]
    assert (arm.known, age.size, age.labels[0]) == (True, 8, "10-19")
    assert "16 types = 8 age × 2 arm (known)." in people.words
    assert people.metric("Types so far") == "16 of 2,048"
    people.cells({"age": {"missing": "a category"}, "joined": {"bins": "quarter"}})
    assert people.configuration.data.recipes[0].missing == "category"
    assert people.session.setting.domain.attributes[-1].labels == ("2026-Q1", "2026-Q2")
    assert not people.errors


def test_a_cell_that_cannot_be_read_keeps_its_text_and_holds_up_no_other(people):
    before = people.configuration
    people.bins("age", "eight")
    assert people.configuration == before
    assert people.cell("age", "bins") == "eight"
    assert ['age: "eight" cannot be read as bins' in error for error in people.errors] == [True]
    people.columns("age", "place")
    assert people.session.setting.domain.shape[1] == 4
    assert (people.cell("age", "bins"), len(people.errors)) == ("eight", 1)
    people.bins("age", "8")
    assert (people.session.setting.domain.shape[0], people.errors) == (8, [])


def test_undo_takes_edits_back_one_by_one_and_a_file_carries_them(people, another):
    first = people.configuration
    second = people.bins("age", "0, 18, 30, 100").cells({"age": {"kind": "categories"}}).configuration
    assert people.cell("age", "bins") == ""
    people.press("undo")
    assert people.cell("age", "bins") == "0, 18, 30, 100"
    assert "outside its domain" in people.bins("age", "18, 30, 65").errors[0]
    assert people.cell("age", "bins") == "18, 30, 65"
    assert people.press("undo").configuration == first
    people.press("redo").press("redo")
    assert people.configuration == second
    assert another().load(second.to_json(), "configuration.json").configuration.data.recipes == second.data.recipes


def test_the_last_column_stays(people):
    before = people.configuration
    people.columns()
    assert people.errors == ["Please keep at least one column. What you had set up is unchanged."]
    assert people.configuration == before
    assert people.cell("age", "asked")


def test_a_column_comes_back_with_its_settings(people):
    people.columns("age", "place").bins("age", "8").columns("place").columns("place", "age")
    assert people.cell("age", "bins") == "8"


def test_columns_without_data_are_described_in_the_table_and_nothing_is_red_before_they_are(app):
    app.go("data").enter("segmented_control", "data-source", "declared")
    app.cells({"value": {"column": "satisfied"}})
    assert "Satisfied is not described yet" in app.words
    assert not app.errors
    app.bins("satisfied", "no, yes").press("declare-add")
    app.kind("question 1", "numbers")
    assert not app.errors
    app.cells({"question 1": {"column": "spend", "bins": "0 to 1 in 4"}})
    assert [one.labels[0] for one in app.session.setting.domain.attributes] == ["no", "[0, 0.25)"]
    assert app.cells({"spend": {"column": ""}}).errors == ["spend: a column needs a name."]
    assert app.configuration.domain.attributes[1].name == "spend"
    app.press("declare-remove")
    assert [one.name for one in app.session.setting.domain.attributes] == ["satisfied"]


@pytest.mark.parametrize("part", [MeanPart(attribute="years"), KWayMarginalsPart(k=1)])
def test_an_idle_column_that_stops_the_questions_goes_at_one_press(app, part):
    shops = tuple(f"shop {i}" for i in range(300))
    ages = NumericRecipe(column="years", method="range", low=0, high=80, bins=8)
    app.session.set_data(DeclaredData(recipes=(ages, CategoricalRecipe(column="shop", categories=shops))), None)
    app.session.change(workload=WorkloadRecipe(parts=(part,)))
    app.go("data").cells({"shop": {"privacy": PRIVACY[True]}})
    app.go("workload")
    assert "The known attributes make 300 groups" in " ".join(app.errors)
    app.press("drop-unused")
    assert (app.errors, app.session.setting.domain.shape, len(app.parts)) == ([], (8,), 1)
    assert app.press("undo").session.setting.domain.shape == (8, 300)
