"""Solve for: people, the target and epsilon, for every question and for one, each taken into the design by its button."""

import math

import pytest

from ldp_core import analysis, library, wording
from ldp_core.designs import WorkloadRecipe, solving
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import HistogramPart, PrefixPart
from pages.ui.session.state import choose_mechanism


@pytest.fixture
def planned(app):
    app.declare(bins=8, users="5,000")
    parts = (PrefixPart(attribute="x"), HistogramPart(attribute="x"))
    app.session.change(workload=WorkloadRecipe(parts=parts), mechanism=choose_mechanism("subset_selection"))
    return app


def needed(app, k=None):
    return solving.people(app.session.setting, app.session.setting.chosen_mechanism, k)


@pytest.mark.promise
@pytest.mark.parametrize(("name", "k"), [("randomized_response", 1), ("hierarchical", None)])
def test_with_the_people_it_takes_the_question_just_meets_its_target(planned, name, k):
    planned.session.change(mechanism=choose_mechanism(name))
    planned.target(2).solve_for("people").enter("selectbox", "solved-people", k)
    enough = int(wording.needed(needed(planned, k)).replace(",", ""))
    assert f"At epsilon 1, {enough:,} people meet the target." in planned.words
    if k is None:
        assert planned.metric("People needed") == f"{enough:,}"
    planned.press("plan-people").finish()
    setting = planned.session.setting
    assert setting.users == enough
    met = setting.lines(setting.chosen_mechanism, [])["met"]
    assert met.all() if k is None else met[k]
    planned.session.change(population=planned.configuration.population.model_copy(update={"users": enough // 2}))
    setting = planned.session.setting
    assert not setting.lines(setting.chosen_mechanism, [])["met"][0 if k is None else k]


@pytest.mark.promise
def test_the_target_that_is_reached_is_met_once_it_is_taken(planned):
    planned.solve_for("target").enter("selectbox", "solved-target", 1)
    setting = planned.session.setting
    told = analysis.answers(setting.chosen_mechanism, setting.workload, setting.counts, setting.cases[setting.case])
    off = math.sqrt((told["standard_error"][told["line"] == 1] ** 2).mean())
    planned.press("plan-target").finish()
    setting = planned.session.setting
    assert setting.settled.targets["points"] == pytest.approx(off, rel=0.01)
    assert setting.lines(setting.chosen_mechanism, [])["met"][1]


def test_epsilon_is_the_least_with_which_the_people_are_enough(planned):
    planned.target(2).solve_for("epsilon").press("plan-epsilon").finish()
    assert needed(planned) > planned.session.setting.users
    planned.press("take-epsilon").finish()
    found = planned.configuration.epsilon_value
    assert found > 1
    assert needed(planned) <= planned.session.setting.users
    planned.session.change(epsilon=f"{0.99 * found:.4g}")
    assert needed(planned) > planned.session.setting.users
    planned.target(0.00001).solve_for("epsilon").press("plan-epsilon").finish()
    assert "Even at epsilon 20 it needs" in planned.words


def test_a_fitted_mechanism_is_fitted_when_asked_and_its_fit_is_there_once_epsilon_is_taken(planned):
    planned.session.change(mechanism=choose_mechanism("optimized"), optimizer=Optimizer(max_rounds=30))
    planned.target(2).go("design").unfold("solve-for")
    assert "A mechanism has to be fitted first." in planned.words
    planned.press("optimise").finish().solve_for("epsilon")
    assert planned.has("button", "plan-epsilon")
    planned.press("plan-epsilon").finish().press("take-epsilon")
    setting = planned.session.setting
    assert setting.fitted("optimized") is not None
    assert 0.97 < setting.users_needed(setting.chosen_mechanism, setting.case) / setting.users <= 1
    assert library.spec(setting.chosen).fitted


def test_rows_of_a_table_are_no_plan(ages):
    ages.session.change(mechanism=choose_mechanism("subset_selection"))
    ages.solve_for("people")
    assert "people meet the target" in ages.words
    assert not ages.has("button", "plan-people")
