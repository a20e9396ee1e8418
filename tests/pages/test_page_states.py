"""Every page: what it says without data, that it opens with every sample, workload and mechanism, and undo."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest, app_test

from pages.ui.controls import whole_number
from pages.ui.later import Task
from pages.ui.session.state import choose_mechanism
from pages.ui.sources import catalogue
from tests.refused import refused

APP = Path(__file__).parents[2] / "app.py"
PAGES = ["start", "data", "workload", "design", "compare", "bounds", "simulate", "export", "collect", "guide"]
NEED_DATA = ["workload", "design", "compare", "bounds", "simulate", "export", "collect"]
FILES = [sample["file"] for sample in catalogue()]


@pytest.mark.parametrize(
    "begin",
    [
        lambda app: app.sample(),
        lambda app: app.sample("health_survey.csv"),
        lambda app: app.declare("18", "90", 24, users="1,000"),
    ],
    ids=["ages", "health", "declared"],
)
def test_those_who_come_with_data_have_what_is_pressed_and_typed_on_pages(app, another, begin):
    """Most tests begin as the second does, whose app is not open yet."""
    pressed, there = begin(app.go("data")), begin(another())
    assert there.configuration == pressed.configuration
    assert (there.session.source and there.session.source.id) == (pressed.session.source and pressed.session.source.id)
    assert there.go("data").words == pressed.go("data").words


@pytest.mark.promise
def test_every_page_opens_without_data_leads_on_and_says_what_it_needs(app):
    for page in (*PAGES, "papers"):
        assert app.go(page).at.title[0].value
        assert app.has("button", "next")
        if page in NEED_DATA:
            assert "needs" in app.at.info[0].value
            assert [link.proto.label for link in app.at.main.get("page_link")] == ["Choose or declare data"]
            assert not app.charts


@pytest.mark.promise
@pytest.mark.parametrize("file", [*FILES[:3], *(pytest.param(file, marks=pytest.mark.slow) for file in FILES[3:])])
def test_each_sample_carries_through_every_page(app, file):
    app.sample(file)
    users = f"{app.session.setting.users:,} people"
    for page in PAGES:
        assert users in app.go(page).words, page


def test_start_shows_a_demonstration_and_hands_it_over(app):
    assert len(app.go("start").charts) == 2  # the answers, and what a report can tell
    assert "At epsilon 1 answers are off by up to about ± " in app.words
    app.enter("slider", "demo-epsilon", 2.0)
    assert "At epsilon 2 " in app.words
    app.press("begin")
    assert app.configuration.epsilon == "2"
    assert app.at.title[0].value == "Design"


def test_guide_never_rounds_a_guess_up_to_certainty(app):
    (odds,) = (frame for frame in app.go("guide").dataframes if "Epsilon" in frame)
    guesses = odds.iloc[:, 2].str.removesuffix(" %").astype(float)
    assert guesses.is_monotonic_increasing
    assert guesses.iloc[-1] == 99.97  # e^8 / (1 + e^8) = 0.999665
    assert guesses.iloc[2] == 73.11


@pytest.mark.promise
def test_undo_goes_back_step_by_step_with_the_data(ages):
    before = ages.go("design").configuration
    ages.enter("text_input", "epsilon-text", "2")
    ages.sample("commutes.csv")
    assert ages.session.tally.users != 3000
    ages.press("undo")
    assert (ages.configuration.epsilon, ages.session.tally.users) == ("2", 3000)
    ages.press("undo")
    assert ages.configuration == before
    ages.press("undo")
    assert ages.configuration.domain is None
    assert ages.at.button(key="undo").disabled


def test_two_sessions_do_not_see_each_other(ages, another):
    ages.upload("secret.csv", b"diagnosis\nflu\ncold\nflu\n")
    other = another()
    for page in PAGES:
        other.go(page)
        assert "diagnosis" not in other.words
        assert "flu" not in other.words
    other.sample("commutes.csv")
    assert ages.go("data").session.tally.users == 3
    assert "diagnosis" in ages.words


@given(text=st.text(max_size=30))
@settings(max_examples=200)
def test_texts_are_whole_numbers_or_refused_with_the_range(text):
    digits = re.sub(r"[,_ ]", "", text.strip())
    if re.fullmatch("[0-9]{1,9}", digits) and int(digits) >= 1:
        assert whole_number(text, "the number of users", 1, 10**9) == int(digits)
    elif not re.fullmatch("[0-9]+", digits):
        refused("from 1 to 1,000,000,000", whole_number, text, "the number of users", 1, 10**9)


def test_a_deep_link_to_a_fresh_server_still_comes_through_the_app(monkeypatch):
    # Streamlit's own navigation of pages/, which is on until app.py has run once in a process.
    monkeypatch.setattr(PagesManager, "uses_pages_directory", True)
    monkeypatch.setattr(app_test, "PagesManager", PagesManager)
    at = AppTest.from_file(APP, default_timeout=3600)
    at.switch_page("pages/design.py").run()
    assert not at.exception
    assert "Current design" in at.sidebar.markdown[0].value
    assert at.title[0].value == "Start"


@pytest.mark.parametrize("page", ["design", "collect"])
def test_what_cannot_be_worked_out_is_a_sentence_in_its_place(ages, monkeypatch, page):
    def failed(task, at_once=False):
        raise ValueError("This needs more memory than the server has.")

    monkeypatch.setattr(Task, "get", failed)
    ages.session.view["sides"] = True  # on Design
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.go(page)
    said = " ".join([ages.words, *ages.errors]).replace("\\", "")
    assert "This needs more memory than the server has" in said
