"""Values that are not secret, from the control on Data to the kit."""

import json

import pytest

from ldp_core import wording
from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs.configuration import Optimizer
from pages.ui.data import actions

CONTROL = "data-secret"


@pytest.fixture
def illness(app):
    """A declared question with two answers, and the region of the person, all of it secret as yet."""
    state = app._come_to("data")
    state.view["source"] = "declared"
    recipes = (
        CategoricalRecipe(column="ill", categories=("no", "yes")),
        CategoricalRecipe(column="region", categories=("north", "south")),
    )
    actions.declare(state, recipes, 0)
    state.expect(users=5000)
    state.change(optimizer=Optimizer(max_rounds=5))
    return app


def test_a_value_becomes_open_on_data_and_undo_takes_it_back(illness):
    app = illness.go("data")
    before = app.session.configuration.digest()
    app.enter("multiselect", CONTROL, ["yes"])
    assert app.session.setting.domain.attributes[0].secret == ("yes",)
    assert app.session.setting.workload.secret.all()
    assert "Everybody is still hidden: every value of region is secret." in app.words
    app.press("data-open")
    assert app.session.setting.workload.secret.tolist() == [False, False, True, True]
    app.press("undo").press("undo")
    assert app.session.configuration.digest() == before


def test_every_page_says_what_is_promised_and_nothing_of_the_other_promise(illness):
    app = illness.go("data").enter("multiselect", CONTROL, ["yes"]).press("data-open")
    app.go("design").press("optimise").finish()
    assert app.session.setting.chosen_mechanism.audit().promise == "secret"
    assert 'It protects people with a secret value alone ("ill" yes)' in app.words
    assert "Some values are not secret: at least" in app.words
    app.open("design-tabs", "What a report tells").finish()
    assert "Of a secret value: someone who thinks one is" in app.words
    assert "The best guess at a person" not in app.words
    for page in ("bounds", "compare", "simulate", "export", "workload"):
        app.go(page).finish()
        assert "with pure epsilon" not in app.words.split("How")[0], page
    app.go("bounds")
    assert "some values are not secret, so that fewer people can suffice" in app.words


def test_a_design_without_a_secret_value_is_refused(illness):
    app = illness.go("data").enter("multiselect", CONTROL, ["yes"]).press("data-open")
    app.enter("multiselect", CONTROL, [])
    assert any("No value is secret, so there is nothing to protect" in error for error in app.errors)
    assert json.loads(app.session.configuration.to_json())["domain"]["attributes"][0]["secret"] == ["yes"]


def test_compare_has_the_published_mechanisms_of_this_promise(illness):
    app = illness.go("data").enter("multiselect", CONTROL, ["yes"]).press("data-open")
    app.go("design").enter("selectbox", "mechanism", "utility_randomized_response")
    setting = app.session.setting
    assert app.metric("People needed") == wording.needed(setting.users_needed(setting.chosen_mechanism, setting.case))
    app.go("compare").finish()
    assert {
        "Utility-optimised randomized response",
        "Utility-optimised RAPPOR",
        "Randomized response (hides all values)",
    } <= {name for frame in app.dataframes for name in frame.get("name", ())}
