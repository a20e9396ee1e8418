"""The doors of Start: a table and three answers lead to the verdict of the question on Design, and on through all pages."""

import re

import numpy as np
import pytest

from ldp_core.designs.configuration import DifferenceToDetect
from pages.ui import sources
from pages.ui.layout import PAGES

SAID = ("markdown", "caption", "info", "warning", "error", "header", "title")
CHOSEN = {
    "groups": ("The collector knows the group already", True),
    "survey": ("Which columns are asked?", ["arm", "satisfied"]),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    people = zip(
        rng.choice(["new", "control", "late"], 900),
        rng.choice(["no", "yes"], 900),
        rng.integers(0, 101, 900),
        strict=True,
    )
    return ("arm,satisfied,spend\n" + "".join(f"{arm},{said},{spend}\n" for arm, said, spend in people)).encode()


def at_door(app, door, table):
    app.go("start").press(f"door-{door}")
    return app.hand("door", ("people.csv", table, "text/csv"))


def test_two_groups_are_compared_by_three_answers(app, table):
    at_door(app, "groups", table).enter("selectbox", "door-first", "new")
    app.enter("text_input", "door-difference-satisfied", "8").enter("slider", "demo-epsilon", 2.0).press("door-open")
    c = app.configuration
    (part,) = c.parts
    assert (part.kind, part.first, part.second, part.of.kind) == ("difference", "new", "control", "predicates")
    assert part.of.predicates[0].expression == "satisfied = yes"
    assert [(a.name, a.known) for a in c.domain.attributes] == [("arm", True), ("satisfied", False)]
    assert (c.epsilon, list(c.targets.values())) == ("2", [DifferenceToDetect(difference=8.0)])
    assert "satisfied = yes, arm new minus control" in app.words
    design, mechanism = app.session.setting, app.session.setting.mechanism("subset_selection")
    of_noise = (design.mean_needed(mechanism, design.case) / design.users) ** 0.5  # in targets, as bounds have it
    assert design.error_scale.times * of_noise == pytest.approx(design.answered(mechanism)["standard_error"].item())


def test_numbers_are_compared_by_their_average_and_in_their_unit(app, table):
    at_door(app, "groups", table).enter("selectbox", "door-measured", "spend")
    assert "What difference matters? (in its own unit)" in [box.label for box in app.at.text_input]
    before = app.configuration
    app.press("door-open")
    assert (app.at.title[0].value, app.configuration) == ("Start", before)
    assert "Please give the difference that matters as a number" in app.errors[0]
    assert "above 0" in app.enter("text_input", "door-difference-spend", "-3").press("door-open").errors[0]
    app.enter("text_input", "door-difference-spend", "3").enter("checkbox", "door-known", False).press("door-open")
    assert [part.of.kind for part in app.parts] == ["mean"]
    assert [a.known for a in app.configuration.domain.attributes] == [False, False]


def test_a_survey_asks_its_columns_with_the_error_that_is_small_enough(app, table):
    at_door(app, "survey", table).enter("checkbox", "door-pairs", True)
    app.enter("text_input", "door-error", "3").press("door-open")
    assert app.at.title[0].value == "Design"
    assert [a.name for a in app.configuration.domain.attributes] == ["arm", "satisfied", "spend"]
    *columns, pairs = app.parts
    assert [part.attribute for part in columns] == ["arm", "satisfied", "spend"]
    assert pairs.k == 2
    assert set(app.configuration.targets.values()) == {3.0}
    app.press("undo")
    assert [a.name for a in app.configuration.domain.attributes] == ["arm"]


def test_a_table_that_has_no_two_groups_is_refused_in_a_sentence(app):
    at_door(app, "groups", b"age\n18\n30\n45\n")
    assert "Two groups are compared by a column of categories" in app.words


@pytest.mark.parametrize("door", ["groups", "survey"])
def test_a_large_table_is_looked_at_by_data_and_not_while_a_page_is_drawn(app, door, table, monkeypatch):
    monkeypatch.setattr(sources, "QUICK_ROWS", 2)
    at_door(app, door, table)
    assert "Data does that beside the page" in app.words
    assert "pages/data.py" in app.links or "data" in app.links
    assert not app.has("button", "door-open")


def seen(block):
    """The sentences of a page that are not folded away."""
    for part in block.children.values():
        if hasattr(part, "children"):
            yield from () if part.type in ("expander", "popover") else seen(part)
        elif part.type in SAID:
            yield part.value


@pytest.mark.parametrize("door", ["groups", "survey"])
def test_every_page_of_a_door_opens_and_has_at_most_150_words_at_first(app, door, table, unasked):
    """Numbers, labels of controls, charts and tables are not counted."""
    at_door(app, door, table).set(*CHOSEN[door]).press("door-open")
    for page in (title.lower() for titles in PAGES.values() for title in titles):
        app.go(page).finish()
        if page == "collect":
            app.enter("segmented_control", "collect-from", "simulated").press("count").finish()
        words = re.findall(r"[^\W\d][\w'’-]*", " ".join(seen(app.at.main)))
        assert (app.errors, len(words) > 150) == ([], False), (page, words)
