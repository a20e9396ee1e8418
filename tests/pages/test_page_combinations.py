"""Several answers in a cell, a ranking and several days, from the Data page to the questions about them."""

import pytest

from ldp_core.data.tables import KINDS

CELLS = ["Bus, Car", "Walk", "", "Car, Bus", "Bike", "Bus, Walk", "Car, Bike"] * 20


def uploaded(app):
    text = "way,sex\n" + "".join(f'"{cell}",{"f" if i % 3 else "m"}\n' for i, cell in enumerate(CELLS))
    return app.upload("ways.csv", text.encode()).columns("way")


@pytest.mark.promise
def test_answers_in_a_cell_are_split_where_the_doubt_says_so(app):
    uploaded(app)
    assert "seems to hold several answers in a cell" in app.words
    app.click("Split into 4 answers")
    setting = app.session.setting
    (attribute,) = setting.domain.attributes
    assert (attribute.kind, attribute.items, attribute.most) == ("choice", ("Bike", "Bus", "Car", "Walk"), 2)
    assert setting.counts.sum() == len(CELLS)
    assert (setting.counts[0], setting.counts[attribute.read("Bus, Car")]) == (20, 40)
    assert not app.errors
    app.go("workload")
    assert [part.kind for part in app.parts] == ["items"]
    app.add("pairs_of_items").add("number_of_items")
    assert not app.errors
    assert app.session.setting.workload.num_queries == 4 + 6 + 3


@pytest.mark.parametrize(
    ("kind", "first", "offered"),
    [("choice", "items", "number_of_items"), ("ranking", "mean_rank", "before"), ("course", "days", "histogram")],
)
def test_each_kind_is_declared_without_data(app, kind, first, offered):
    app.declare().go("data").kind("x", KINDS[kind]).bins("x", "no, yes, maybe")
    if kind == "choice":
        app.enter("number_input", "data-most", 2)
    assert not app.errors
    assert app.session.setting.domain.size == {"choice": 7, "ranking": 6, "course": 3 + 6 * 6}[kind]
    app.go("workload")
    assert [part.kind for part in app.parts] == [first]
    app.add(offered)
    assert not app.errors


def test_too_many_combinations_are_refused_in_a_sentence_and_nothing_is_lost(app):
    app.declare().go("data").kind("x", KINDS["choice"]).bins("x", ", ".join(f"item {i}" for i in range(30)))
    app.enter("number_input", "data-most", 2)
    assert app.session.setting.domain.size == 466
    app.enter("number_input", "data-most", 3)
    assert "4,526 combinations are too many" in app.words


TICKED = "sex,way: bus,way: car,way: walk\n" + "f,1,1,0\nm,0,0,1\nf,0,0,0\nm,1,1,0\nf,1,1,1\nm,,1,0\n" * 10


@pytest.mark.promise
def test_columns_of_noughts_and_ones_are_put_together_and_taken_apart(app, another):
    app.upload("ticks.csv", TICKED.encode()).columns("sex", "way: bus")
    before = app.configuration
    app.set("Columns of 0/1", ["way: bus", "way: car", "way: walk"]).set("Name of the choice", "way")
    app.click("Make them one choice")
    assert not app.errors
    sex, way = app.session.setting.domain.attributes
    assert (sex.name, way.kind, way.items, way.most) == ("sex", "choice", ("bus", "car", "walk"), 3)
    assert app.session.tally.users == 50
    assert app.session.tally.dropped == 10
    counts = app.session.setting.counts.reshape(2, -1).sum(axis=0)
    assert counts[way.read("(none)")] == counts[way.read("walk")] == counts[way.read("bus, car, walk")] == 10
    assert counts[way.read("bus, car")] == 20
    assert "a blank cell is a missing value" in app.words
    other = another().load(app.configuration.to_json(), "configuration.json")
    assert other.upload("again.csv", TICKED.encode()).configuration.data == app.configuration.data
    assert other.session.tally.users == 50
    other.upload("people.csv", b"age,sex\n1,f\n2,m\n3,m\n")
    assert other.session.source.columns == ["age", "sex"]
    app.enter("number_input", "data-most", 2)
    assert "10 of 60 values of way are outside its domain" in app.words
    app.go("workload")
    app.go("data").click("Take way apart")
    assert app.session.source.columns == ["sex", "way: bus", "way: car", "way: walk"]
    assert app.session.setting.domain.attributes[0].name == "sex"
    app.session.undo()
    assert app.configuration != before
    app.session.undo()
    assert app.configuration == before


def test_what_cannot_be_one_choice_is_said_and_nothing_is_lost(app):
    app.upload("ticks.csv", TICKED.encode()).columns("sex")
    before = app.configuration
    app.set("Columns of 0/1", ["way: bus", "way: car"]).set("Name of the choice", "sex").click("Make them one choice")
    assert '"sex" occurs 2 times' in app.words
    assert app.configuration == before
