"""Ask, on the Simulate page: questions one by one, and what must not be lost or asked twice."""

import pytest


def asked(app):
    return app.session.view["ask"]["session"][1].asked


def to_ask(app):
    app.go("simulate")
    return app.enter("segmented_control", "simulate", "ask")


def ask(app, condition):
    app.enter("text_input", "ask-condition", condition)
    return app.press("ask-put")


@pytest.fixture
def survey(app):
    return to_ask(app.sample("survey_ages.csv"))


def test_a_session_of_conditions_ranges_cells_and_averages(survey):
    ask(survey, "age >= 30")
    survey.enter("selectbox", "ask-kind", "range")
    survey.enter("selectbox", "ask-first-0", 2)
    survey.press("ask-put")
    survey.enter("selectbox", "ask-kind", "cell")
    survey.enter("selectbox", "ask-cell-0", 3)
    survey.press("ask-put")
    survey.enter("selectbox", "ask-kind", "average")
    survey.press("ask-put")
    found = asked(survey)
    assert len(found) == 4
    for one in found:
        span = one.question.high - one.question.low
        assert abs(one.value - one.truth) < 6 * span * one.answer.standard_error
    assert survey.at.metric[0].value == "6 of 10"
    table = survey.at.dataframe[-1].value
    assert list(table["Round"]) == [4, 3, 2, 1]
    assert "Truth" in table


def test_rounds_are_set_before_the_first_question_only(survey):
    survey.enter("text_input", "ask-rounds", "3")
    assert survey.at.metric[0].value == "3 of 3"
    ask(survey, "age >= 30")
    assert survey.at.text_input(key="ask-rounds").disabled
    for _ in range(2):
        survey.press("ask-put")
    assert survey.at.button(key="ask-put").disabled
    assert survey.at.metric[0].value == "0 of 3"
    survey.press("ask-restart")
    assert survey.at.metric[0].value == "3 of 3"
    assert not asked(survey)


@pytest.mark.parametrize("text", ["0", "101", "ten"])
def test_bad_rounds_are_refused_in_words(survey, text):
    survey.enter("text_input", "ask-rounds", text)
    assert any("number of rounds" in error.value for error in survey.at.error)
    assert survey.at.metric[0].value == "10 of 10"


def test_a_condition_with_a_mistake_is_told_and_costs_nothing(survey):
    survey.enter("text_input", "ask-condition", "height > 3")
    assert any("height" in error.value for error in survey.at.error)
    assert survey.at.button(key="ask-put").disabled
    assert survey.at.metric[0].value == "10 of 10"


def test_answers_stay_when_pages_are_turned_and_new_people_answer_another_design(survey):
    ask(survey, "age >= 30")
    before = asked(survey)
    to_ask(survey.go("data"))
    assert asked(survey) == before
    survey.session.change(epsilon="2")
    to_ask(survey)
    assert not asked(survey)
    survey.session.undo()


def test_without_people_the_page_says_where_to_find_them(app):
    to_ask(app)
    assert "needs people to ask" in app.at.info[0].value
