"""What is pressed on a page that still shows another table: it is not done, and nothing breaks.

Browsers send what is pressed before the page has been drawn anew. Streamlit then calls what the page had been drawn with.
"""

import pytest

from pages.ui.data import actions as data_actions

PEOPLE = "age,place,people\n" + "".join(f"{20 + i % 60},town {i % 4},{i % 5}\n" for i in range(600))
CONTROLS = {
    "attributes": lambda app: app.columns("age", "place"),
    "treatment": lambda app: app.kind("age", "categories"),
    "weights": lambda app: app.enter("selectbox", "data-counts", "people"),
}


@pytest.fixture
def uploaded(app):
    app.upload("people.csv", PEOPLE.encode())
    assert [recipe.column for recipe in app.session.choice.recipes] == ["age"]
    return app


def replaced(app):
    """Another table comes, with a column of the same name, and the page is not drawn anew."""
    data_actions.load_sample(app.session, "survey_ages.csv")
    return app.configuration


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_of_another_table_changes_nothing(uploaded, control):
    now = replaced(uploaded)
    CONTROLS[control](uploaded)
    assert (uploaded.configuration, uploaded.session.draft) == (now, None)
    assert not uploaded.errors


def test_types_of_another_table_are_not_declared(uploaded):
    now = replaced(uploaded)
    uploaded.press("data-declare")
    assert uploaded.configuration == now
    uploaded.press("undo").press("data-declare")
    assert uploaded.configuration.domain.attributes[0].origin == "declared"


def test_what_is_not_offered_any_more_is_not_taken(uploaded):
    """Streamlit knows a control by its key alone: what was chosen from an earlier list reaches the one of today."""
    uploaded.columns("age", "place").go("workload")
    now = uploaded.configuration
    box = uploaded.control("selectbox", "group-0-questions")
    box.options.append("nothing")
    box.set_value("nothing").run()
    uploaded.check()
    assert (uploaded.configuration, uploaded.session.draft) == (now, None)


def test_what_other_controls_still_show_is_no_choice(app):
    """Epsilon is typed twice, and something else is chosen on a page whose slider has not followed yet."""
    app.sample(page="design")
    arrived = []
    for typed in ("2", "3"):
        (slider := app.control("slider", "epsilon-slider")).set_value(slider.value)  # what this page goes on saying
        arrived.append(app.at._tree)
        app.enter("text_input", "epsilon-text", typed)
    for reports, page in enumerate(arrived, 2):  # the page that had arrived, and one that was on its way
        app.at._tree = page
        app.control("text_input", "epsilon-text").set_value("3")
        app.enter("number_input", "reports", reports)
        assert (app.configuration.epsilon, app.configuration.reports_per_user) == ("3", reports)
        assert app.control("slider", "epsilon-slider").value == 3.0
    app.enter("slider", "epsilon-slider", 1.0)  # everything has arrived
    assert app.configuration.epsilon == "1"
    assert app.control("text_input", "epsilon-text").value == "1"


@pytest.mark.parametrize(
    ("kind", "key", "entries", "found"),
    [
        ("text_input", "target-points", ("5.0", "5.05"), {"targets": {"points": 5.05}}),
        ("number_input", "reports", (2, 1), {"reports_per_user": 1}),
    ],
    ids=["typed on", "chosen back"],
)
def test_what_is_entered_before_the_page_has_followed_counts(app, kind, key, entries, found):
    app.sample(page="design")
    arrived = app.at._tree
    for entry in entries:
        app.at._tree = arrived
        app.enter(kind, key, entry)
    assert app.configuration == app.configuration.with_(**found)
