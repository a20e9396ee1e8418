"""Ask, on the Simulate page: questions one by one, and what must not be lost or asked twice."""

import pytest

from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import DeclaredData
from pages.ui.data import actions


def asked(app):
    return [answered for _, session in app.session.view.get("ask_begun", {}).values() for answered in session.answered]


def rounds_left(app):
    return app.at.metric[0].value


def said(app):
    return " ".join(info.value for info in app.at.info)


def to_ask(app):
    app.go("simulate")
    return app.enter("segmented_control", "simulate", "ask")


def ask(app, condition):
    app.enter("text_input", "ask-condition", condition)
    return app.press("ask-put")


@pytest.fixture
def survey(app):
    return to_ask(app.sample("survey_ages.csv"))


def test_a_session_of_conditions_and_averages(survey):
    ask(survey, "age >= 30")
    ask(survey, "age < 30")
    survey.enter("selectbox", "ask-kind", "average")
    survey.press("ask-put")
    found = asked(survey)
    assert len(found) == 3
    for one in found:
        span = one.question.high - one.question.low
        assert abs(one.value - one.truth) < 6 * span * one.answer.standard_error
    assert survey.at.metric[0].value == "7 of 10"
    table = survey.at.dataframe[-1].value
    assert list(table["Round"]) == [3, 2, 1]
    assert "Truth" in table


def test_rounds_are_set_before_the_first_question_only(survey):
    survey.enter("text_input", "ask-rounds", "3")
    assert survey.at.metric[0].value == "3 of 3"
    ask(survey, "age >= 30")
    assert survey.control("text_input", "ask-rounds").disabled
    for _ in range(2):
        survey.press("ask-put")
    assert survey.at.button(key="ask-put").disabled
    assert survey.at.metric[0].value == "0 of 3"
    survey.press("ask-restart")
    assert survey.at.metric[0].value == "3 of 3"
    assert not asked(survey)


@pytest.fixture
def spent(survey):
    """Two rounds, both asked."""
    survey.enter("text_input", "ask-rounds", "2")
    return ask(ask(survey, "age >= 30"), "age < 30")


def coarser(app):
    (recipe,) = app.session.choice.recipes
    app.session.set_data(
        app.session.choice.model_copy(update={"recipes": (recipe.model_copy(update={"bins": 4}),)}), app.session.source
    )


CHANGES = {
    "epsilon": lambda app: app.session.change(epsilon="2"),
    "questions": lambda app: app.ask("prefix"),
    "bins": coarser,
    "a design of the list": lambda app: (
        app.session.saved.keep(),
        app.session.saved.begin(),
        app.session.change(epsilon="3"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_undo_or_redo_gives_rounds_back(spent, change):
    before = asked(spent)
    assert len(before) == 2
    CHANGES[change](spent)
    for step in (lambda: None, spent.session.undo, spent.session.redo, spent.session.undo):
        step()
        to_ask(spent)
        assert (rounds_left(spent), spent.at.button(key="ask-put").disabled) == ("0 of 2", True)
        assert asked(spent) == before
        assert list(spent.at.dataframe[-1].value["Question"]) == ["age < 30", "age >= 30"]
    assert "as it is now" not in said(spent)


@pytest.mark.parametrize("change", ["epsilon", "bins"])
def test_people_go_on_as_they_were_first_asked_and_the_page_says_so(survey, change):
    """Half of their rounds at another epsilon would be another promise."""
    before = asked(ask(survey, "age >= 30"))
    CHANGES[change](survey)
    to_ask(survey)
    assert "age at epsilon 1," in said(survey)
    first, second = asked(survey.press("ask-put"))
    assert [first] == before
    assert second.question.query.size == first.question.query.size
    assert second.value != first.value  # others of these people


def test_new_people_answer_anew_and_those_before_come_back_with_their_data(spent):
    before = asked(spent)
    spent.sample("favourites.csv")
    to_ask(spent)
    assert rounds_left(spent) == "2 of 2"
    assert not spent.at.dataframe
    spent.session.undo()
    to_ask(spent)
    assert rounds_left(spent) == "0 of 2"
    spent.press("ask-restart")
    assert rounds_left(spent) == "2 of 2"
    again = asked(ask(ask(spent, "age >= 30"), "age < 30"))
    assert [one.truth for one in again] == [one.truth for one in before]
    assert not {one.value for one in again} & {one.value for one in before}


def test_people_who_are_only_expected_are_others_where_they_are_described_otherwise(app):
    app.session.set_data(DeclaredData(recipes=(CategoricalRecipe(column="pet", categories=("cat", "dog")),)), None)
    to_ask(app).enter("text_input", "ask-rounds", "1")
    ask(app, "pet = cat")
    first, left = asked(app)[0].value, []
    for step in (lambda: app.session.expect(users=20_000), app.session.undo, app.session.redo):
        step()
        to_ask(app)
        left.append(rounds_left(app))
        if len(left) == 1:
            ask(app, "pet = cat")
    assert left == ["1 of 1", "0 of 1", "0 of 1"]
    assert first in [one.value for one in asked(app)]


def test_the_people_of_a_file_are_the_same_however_it_is_read(app):
    app.upload("ages.csv", b"age\n" + b"\n".join(b"%d" % (20 + k % 50) for k in range(600)))
    to_ask(app).enter("text_input", "ask-rounds", "1")
    ask(app, "age >= 30")
    actions.read_again(app.session, app.session.source.id, names=("years",))
    to_ask(app)
    assert app.session.source.columns == ["years"]
    assert rounds_left(app) == "0 of 1"
    app.upload("other.csv", b"age\n" + b"\n".join(b"%d" % (20 + k % 40) for k in range(600)))
    assert rounds_left(to_ask(app)) == "1 of 1"
