"""Usable, rough or noise on every page, by the target error: first with fifty categories and 1,000 users."""

import numpy as np
import pytest

from ldp_core import analysis, mechanisms, verdicts, wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.workloads import TypesPart

FIFTY = Configuration(
    domain=Domain(
        attributes=(CategoricalAttribute(name="trade", values=tuple(f"t{i}" for i in range(50)), origin="declared"),)
    ),
    population=Population(users=1000, origin="declared", shape="zipf"),
    workload=WorkloadRecipe(parts=(TypesPart(family="histogram", parameters={}),)),
    mechanism=MechanismRecipe(name="subset_selection"),
    compared=("randomized_response", "subset_selection"),
    difference="typical",
)


@pytest.fixture
def fifty(app):
    return app.load(FIFTY.model_dump(mode="json"))


def errors_with(users, shape="zipf"):
    counts = tables.expected_counts(shape, 50, users)
    mechanism = mechanisms.create("subset_selection", n=50, epsilon=1.0)
    return analysis.standard_errors(mechanism, workloads.histogram(50), counts) / users


def limits(users, target):
    """The largest standard error of usable answers: the target, or half of their size."""
    counts = tables.expected_counts("zipf", 50, users)
    return np.minimum(target, counts / counts.sum() / 2)


def tally(users, target):
    return verdicts.tally(errors_with(users), limits(users, target))


def test_the_target_error_is_a_number_once_it_is_shown(fifty):
    assert FIFTY.difference == "typical"
    fifty.go("design")
    assert (fifty.configuration.target_alpha, fifty.configuration.difference) == (0.0001, None)
    assert fifty.at.text_input(key="target").value == "1"
    suggested = verdicts.suggest(workloads.histogram(50), tables.expected_counts("zipf", 50, 1000))
    assert (suggested.target, suggested.smallest_target) == (0.01, 0.0025)
    assert fifty.at.button(key="target-auto").disabled
    fifty.enter("text_input", "target", "2.5")
    assert (fifty.configuration.target_alpha, fifty.configuration.difference) == (0.000625, None)
    assert fifty.at.text_input(key="alpha").value == "0.000625"
    fifty.enter("text_input", "alpha", "0.0123456789")
    assert fifty.configuration.target_alpha == 0.0123456789
    assert fifty.at.text_input(key="target").value == "11.1111"
    fifty.enter("text_input", "alpha", "0")
    assert "Alpha must be from 1e-08 to 1; 0.01 is common." in fifty.errors
    fifty.enter("text_input", "alpha", "much")
    assert "Please give alpha as a number" in fifty.errors[0]
    fifty.press("target-auto")
    assert fifty.configuration.target_alpha == 0.0001
    fifty.press("target-smallest")
    assert (fifty.configuration.target_alpha, fifty.configuration.difference) == (0.0025**2, None)
    assert fifty.at.text_input(key="target").value == "0.25"


def test_the_target_stays_when_questions_are_added_until_auto_is_pressed(fifty):
    fifty.go("design")
    before = fifty.session.setting.alpha
    fifty.go("workload").ask("prefix").go("design")
    assert fifty.session.setting.suggested.target > fifty.session.setting.target
    assert fifty.session.setting.alpha == before
    assert fifty.at.text_input(key="target").value == "1"
    fifty.press("target-auto")
    assert fifty.session.setting.target == pytest.approx(fifty.session.setting.suggested.target)
    fifty.session.undo()
    assert fifty.session.setting.alpha == before


def test_refused_target_errors(fifty):
    fifty.go("design")
    before = fifty.configuration
    for entry in ("", "0", "abc", "inf", "101", "1,5"):
        fifty.enter("text_input", "target", entry)
        assert len(fifty.errors) == 1
        assert "target error" in fifty.errors[0]
        assert fifty.configuration == before
        assert fifty.at.text_input(key="target").value == entry


def needed(fifty):
    setting = fifty.session.setting
    return setting.users_needed(fifty.session.setting.mechanism("subset_selection"), "worst_case")


def test_no_page_calls_fifty_shares_that_drown_enough(fifty):
    assert tally(1000, 0.004).usable == 0
    fifty.go("design").finish()
    error = wording.error(0.01 * (needed(fifty) / 1000) ** 0.5)
    people = round(10 * (needed(fifty) / 1000) ** 0.5)
    said = f"With 1,000 people at epsilon 1 a typical answer is off by {error} ({people} people). 0 of 50 answers are usable."
    said = said.replace("\N{NO-BREAK SPACE}", " ")
    assert said in fifty.words
    assert 'Not usable: "trade t0", "trade t1" and "trade t2" and 47 more.' in fifty.words
    fifty.go("export").finish()
    assert said in fifty.words


def test_what_would_help_is_offered_where_nothing_is_usable(fifty):
    """The people needed, and the epsilon that Solve for finds: each makes a typical answer reach the target."""
    fifty.go("design").finish()
    enough = int(wording.needed(needed(fifty)).replace(",", ""))
    assert fifty.at.button(key="try-people").label == f"Plan with {enough:,} people"
    epsilon = fifty.at.button(key="try-epsilon").label.removeprefix("Epsilon ")
    fifty.press("try-epsilon").finish()
    assert fifty.configuration.epsilon == epsilon
    assert 0.97 * 1000 < needed(fifty) <= 1000
    assert not fifty.has("button", "try-epsilon")
    fifty.session.undo()
    fifty.go("design").finish().press("try-people").finish()
    assert fifty.session.setting.users == enough
    assert not fifty.has("button", "try-people")


def test_what_is_not_usable_comes_first_in_the_table_on_design(fifty):
    fifty.session.change(population=FIFTY.population.model_copy(update={"users": 200_000}))
    fifty.go("design").open("design-tabs", "Answers").finish()
    (table,) = [table for table in fifty.dataframes if "Verdict" in table]
    usable = table["Verdict"].eq("✓ usable").to_numpy()
    assert usable.sum() == tally(200_000, fifty.session.setting.target).usable
    assert 0 < usable.sum() < 50
    assert not usable[: 50 - usable.sum()].any()
    assert verdicts.RULE in fifty.words
