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
