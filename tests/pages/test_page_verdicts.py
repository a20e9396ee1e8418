"""Usable, rough or noise on every page, by the target error: first with fifty categories and 1,000 users."""

import numpy as np
import pytest

from ldp_core import analysis, mechanisms, verdicts, wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.workloads import TypesPart
from ldp_core.workloads.answers import default_targets
from tests.pages.conftest import plain

FIFTY = Configuration(
    domain=Domain(
        attributes=(CategoricalAttribute(name="trade", values=tuple(f"t{i}" for i in range(50)), origin="declared"),)
    ),
    population=Population(users=1000, origin="declared", shape="zipf"),
    workload=WorkloadRecipe(parts=(TypesPart(family="histogram", parameters={}),)),
    mechanism=MechanismRecipe(name="subset_selection"),
    compared=("randomized_response", "subset_selection"),
)


@pytest.fixture
def fifty(app):
    return app.load(FIFTY.model_dump(mode="json"))


def errors_with(users):
    """The largest standard errors, whatever values people have, in percentage points."""
    return 100 * np.max(of_one_person(), axis=0) / users**0.5


def of_one_person():
    """(50, 50) the standard errors of the shares, by whose report is counted."""
    mechanism = mechanisms.create("subset_selection", n=50, epsilon=1.0)
    return [analysis.standard_errors(mechanism, workloads.histogram(50), person) for person in np.eye(50)]


def tally(users, target):
    counts = tables.expected_counts("zipf", 50, users)
    limits = verdicts.largest_error(target, 100 * counts / counts.sum())
    return verdicts.tally(verdicts.judge(errors_with(users), limits))


def test_the_target_is_typed_in_its_unit_and_worked_out_again(fifty):
    fifty.go("design")
    assert fifty.session.setting.settled.targets == {"points": 1.0}
    assert fifty.control("text_input", "target-points").value == "1"
    assert not fifty.has("button", "target-auto")
    fifty.enter("text_input", "target-points", "2.5")
    assert fifty.configuration.targets == {"points": 2.5}
    fifty.go("workload").ask("prefix").go("design")
    assert fifty.control("text_input", "target-points").value == "2.5"
    fifty.press("target-auto")
    (line,) = fifty.session.setting.answers.lines
    assert fifty.configuration.targets == default_targets([line], fifty.session.setting.counts) != {"points": 2.5}
    fifty.session.undo()
    assert fifty.session.setting.settled.targets == {"points": 2.5}


def needed(fifty):
    setting = fifty.session.setting
    return setting.users_needed(fifty.session.setting.mechanism("subset_selection"), "worst_case")


@pytest.mark.promise
def test_no_page_calls_fifty_shares_that_drown_enough(fifty):
    assert tally(1000, 1.0).usable == 0
    fifty.go("design").finish()
    error = verdicts.in_unit(errors_with(1000).max(), "points")
    mean = wording.significant(100 * np.max(np.mean(np.square(of_one_person()), axis=1) / 1000) ** 0.5)
    said = f"With 1,000 people at epsilon 1, answers are off by ± {mean} on average, up to ± {error}. 0 of 50 answers are usable."
    said = said.replace("\N{NO-BREAK SPACE}", " ")
    assert said in fifty.words
    fifty.go("export").finish()
    assert said in fifty.words


def test_what_would_help_is_offered_where_nothing_is_usable(fifty):
    """The people needed, and the epsilon that Solve for finds: with each every question meets its target."""
    fifty.go("design").finish()
    enough = int(wording.needed(needed(fifty)).replace(",", ""))
    assert fifty.at.button(key="try-people").label == f"Plan with {enough:,} people"
    epsilon = plain(fifty.at.button(key="try-epsilon").label).removeprefix("Epsilon ")
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
    fifty.go("design").open("design-tabs", "Questions").finish()
    (table,) = [table for table in fifty.dataframes if "Verdict" in table and "Now" not in table]
    usable = table["Verdict"].eq("✓ usable").to_numpy()
    assert usable.sum() == tally(200_000, 1.0).usable
    assert 0 < usable.sum() < 50
    assert not usable[: 50 - usable.sum()].any()
    assert verdicts.RULE in fifty.words
