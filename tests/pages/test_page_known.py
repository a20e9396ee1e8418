"""A column that the collector knows, from the switch on Data to the kit, on every page."""

import io
import json
import re
import zipfile

import numpy as np
import pytest

from ldp_core import designs, mechanisms, wording
from ldp_core.bounds import verify
from ldp_core.bounds.theorems.statements import STATEMENTS, Setting
from ldp_core.data.tables import PRIVACY, CategoricalRecipe, NumericRecipe
from ldp_core.deploy import collector
from ldp_core.deploy.kit import client
from ldp_core.designs import detecting
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import prefix
from pages.ui.data import actions
from pages.ui.tasks import collecting
from pages.ui.workload.kinds import KINDS

KNOWN = {"privacy": PRIVACY[True]}
OF_ARMS = "difference of points of the group"
TAKEN = "the file holds each share or average in the data and the size of each group, two digits of each"
CLEAR = "Sent in the clear beside each report"


@pytest.fixture
def arms(app):
    """Two arms and a score from 1 to 6, both secret as yet, and running totals within each arm."""
    state = app._come_to("data")
    state.view["source"] = "declared"
    ends = {"method": "range", "low": 1.0, "high": 6.0, "bins": 6, "integer": True, "origin": "declared"}
    recipes = (CategoricalRecipe(column="arm", categories=("a", "b")), NumericRecipe(column="score", **ends))
    actions.declare(state, recipes, 0)
    state.expect(users=5000)
    state.change(optimizer=Optimizer(max_rounds=5))
    return app


def without_errors_in_every_tab(app):
    """Design, Compare, Bounds and, once it has run, Simulate."""
    for page, tabs in (
        ("design", "design-tabs"),
        ("compare", "compare-tabs"),
        ("bounds", "bounds-tabs"),
        ("simulate", "outcome-tabs"),
    ):
        app.go(page).finish()
        if page == "simulate":
            app.press("run").finish()
        assert not app.errors, page
        for title in [tab.label for tab in app.at.tabs]:
            app.open(tabs, title).finish()
            assert not app.errors, (page, title)


def test_the_first_press_of_the_sample_says_what_a_known_arm_is_worth(app):
    """Against a design that keeps the arm secret, for the same questions and the same people."""
    app.sample("experiment.csv", "design").press("optimise").finish()
    design = app.session.setting
    assert [part.kind for part in design.configuration.workload.parts] == ["share", "difference"]
    (said,) = re.findall(r"The collector knows arm already: at least (\d+) % fewer people are needed", app.words)
    whole, limits = design.answers.workload.without_strata, {"max_rounds": 60, "time_limit": None}
    people = design.cases[design.case].prior
    kept = mechanisms.create("optimized", epsilon=1.0, workload=whole, prior=people, **limits)
    secret = kept.variance_profile(whole) @ people / design.answers.norm
    share = 1 - design.mean_needed(design.chosen_mechanism, "people") / secret
    app.open("design-tabs", "What a report tells").finish()
    blind, guess, limit = map(
        float,
        re.search(
            r"secret value is right for ([\d.]+) of 1,000 people without a report, for ([\d.]+) of 1,000 with it, and for ([\d.]+)",
            app.words,
        ).groups(),
    )
    assert 130 < blind < guess <= limit
    assert 0.4 < int(said) / 100 <= share < 0.75
    (told,) = [table for table in app.dataframes if "Asked alone" in table]
    (found,) = re.findall(r"finds ([\d.]+) and more", " ".join(told["With 3,000 people"]))
    assert float(found) == pytest.approx(
        5 * (design.users_needed(design.chosen_mechanism, "people") / 3000) ** 0.5, rel=0.02
    )
    assert TAKEN in app.go("export").words
    app.go("data").enter("checkbox", "data-planning", False).go("design")
    assert app.has("button", "optimise"), "what was fitted to the shares and sizes in the data is stale"
    assert TAKEN not in app.go("export").words


def asked(app):
    app.go("workload").change_kind("prefix").enter("multiselect", "group-0-by", ["arm"])
    return app


@pytest.mark.promise
def test_a_switch_on_data_makes_a_column_known_and_undo_takes_it_back(arms):
    before = asked(arms).workload
    assert before.strata is None
    arms.go("data").cells({"arm": KNOWN})
    assert arms.workload.strata is not None
    assert np.array_equal(arms.workload.gram_dense(), before.gram_dense())
    assert "Only the other columns are protected" in arms.words
    assert not arms.at.warning
    arms.press("undo")
    assert arms.workload == before
    arms.press("redo")
    assert [attribute.known for attribute in arms.configuration.domain.attributes] == [True, False]


def test_another_histogram_is_about_a_secret_column(arms):
    arms.go("data").cells({"arm": KNOWN})
    arms.go("workload").enter("selectbox", "adding", "histogram")
    arms.press("add").press("add")
    assert [part.attribute for part in arms.parts if part.kind == "histogram"] == ["score", "score"]


def test_personal_columns_and_a_domain_of_known_ones_are_spoken_of(arms):
    arms.go("data").cells({"arm": {"column": "health status", **KNOWN}})
    assert [warning.value for warning in arms.at.warning] == [
        "This column may be personal. Leave it secret unless the collector has it of everybody already."
    ]
    arms.cells({"health status": {"column": "stage"}})
    assert not arms.at.warning
    arms.cells({"score": KNOWN})
    assert "no secret to protect" in " ".join(arms.errors)


def test_all_pages_go_on_to_a_kit_that_sends_the_column_in_the_clear(arms, another, offered):
    asked(arms).go("data").cells({"arm": KNOWN})
    arms.go("workload").add("difference")
    assert arms.parts[1].summary == "Running totals along score, arm b minus a, shares"
    assert KINDS["difference"].title in arms.control("selectbox", "group-1-questions").options
    arms.go("design").press("optimise").finish().open("design-tabs", "Patterns and proof")
    assert "The collector knows which of 2 groups each person is in" in arms.words
    setting = arms.session.setting
    made = arms.session.setting.mechanism("optimized")
    assert setting.users_needed(made, setting.case) < setting.users_needed(setting.mechanism("oue"), setting.case)
    assert 0 <= setting.gap(made) < 0.2
    without_errors_in_every_tab(arms)
    arms.go("collect").enter("segmented_control", "collect-from", "simulated").press("count").finish()
    assert "From **5,000 reports**" in arms.words
    arms.go("export").finish()
    assert any(CLEAR in block.value for block in arms.at.code)
    (kit,) = [content for name, content in offered.items() if "kit" in name]
    content = kit() if callable(kit) else kit
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        description = json.loads(files.read("device.json"))
        proof = [files.read(name) for name in ("certificate.json", "certificate.npz")]
    assert client.Device(description).clear == ["arm"]
    assert "within each of 2 groups that are no secret" in verify.verified(*proof)
    other = another().load(content)
    assert "It was checked here, and it holds." in other.words
    assert other.session.setting.proof("worst_case").certificate.verify()
    assert other.session.setting.mechanism("optimized").digest == made.digest


def test_a_difference_to_detect_between_known_groups(arms):
    asked(arms).go("data").cells({"arm": KNOWN})
    arms.go("workload").add("difference").go("design").enter("selectbox", "mechanism", "oue").finish()
    arms.open("design-tabs", "Difference to detect").finish()
    assert "people find a difference of 5 percentage points between the two groups compared in each of" in arms.words
    shown = next(table for table in arms.dataframes if "users_needed" in table)
    assert shown["name"].tolist() == [f"share score up to {k}, b minus a" for k in range(1, 6)]
    found = detecting.of_design(arms.session.setting, arms.session.setting.mechanism("oue")).table
    assert shown["users_needed"].tolist() == found["users_needed"].tolist()
    # The number of the tab is that of the page: 1.96 + 0.84 standard errors, those of two arms of half the people each.
    assert arms.metric("People needed") == wording.needed(found["users_needed"].max())
    noise = mechanisms.create("oue", n=6, epsilon=1.0).query_contributions(prefix(6), np.array([2])).variances.max()
    assert found["users_needed"].max() == pytest.approx((2.8016 / 0.05) ** 2 * 4 * (noise + 0.25), rel=0.01)
    arms.enter("text_input", f"target-{OF_ARMS}", "10").finish()
    halved = detecting.of_design(arms.session.setting, arms.session.setting.mechanism("oue")).table
    assert halved["users_needed"].to_numpy() == pytest.approx(found["users_needed"].to_numpy() / 4, rel=0.1)
    assert designs.load_configuration(arms.session.configuration.to_json()).targets[OF_ARMS].difference == 10
    arms.press("undo")
    assert arms.session.setting.settled.targets[OF_ARMS].difference == 5
    for key, entry in {f"target-{OF_ARMS}": "0", "detect-power": "100", "detect-level": "none"}.items():
        arms.enter("text_input", key, entry).finish()
        assert len(arms.errors) == 1
        assert arms.control("text_input", key).value == entry
        arms.enter("text_input", key, "60" if key == "detect-power" else "5").finish()
    assert not arms.errors
    arms.go("workload").press("group-1-remove").go("design").open("design-tabs", "Difference to detect").finish()
    (least,) = re.findall(
        r"people in each find a difference of ([\d.]+) percentage points between two collections \(", arms.words
    )
    assert float(least) == pytest.approx(2.8016 * arms.session.setting.settled.targets["points"], rel=1e-3)


def test_answers_are_for_whom_one_says(arms):
    """For those who reported, for the population that they were drawn from, or weighted to one of stated sizes."""
    asked(arms).go("data").cells({"arm": KNOWN})
    arms.go("design").enter("selectbox", "mechanism", "oue").finish()
    arms.go("collect").enter("segmented_control", "collect-from", "simulated").press("count").finish()
    assert "Intervals are for these 5,000 people." in arms.words
    state = arms.session
    made, workload = state.setting.mechanism("oue"), state.setting.workload
    subject = collecting.current_kit(state, made).result
    found = collecting.collection(state, subject)

    def is_told(**given):
        expected = collector.answers(found, made, workload, **given)
        table = next(table for table in arms.dataframes if "±" in table)
        for column, name in {"Answer": "answer", "Low": "low", "±": "standard_error"}.items():
            assert list(table[column]) == [wording.significant(number, 4) for number in expected[name]]

    is_told()
    arms.enter("radio", "collect-people", "drawn").finish()
    assert "Intervals are for the population that they were drawn from." in arms.words
    is_told(drawn=True)
    key = f"collect-sizes-{subject.design}"
    arms.enter("text_area", key, "a = 20,000\nb = 1000").finish()
    assert "each group is weighted to the 21,000 people stated" in arms.words
    is_told(drawn=True, sizes=np.array([20_000, 1000]))
    arms.enter("text_area", key, "a = 20,000").finish()
    assert arms.errors == ['Please give the people of each group, such as b = 12000; "b" is missing.']
    is_told(drawn=True, sizes=np.array([20_000, 1000]))
    arms.enter("text_area", key, "a = 20,000\nb = 1000").enter("radio", "collect-kind", "any_time").finish()
    assert "Weights to a population are for one look, at the end." in arms.words
    arms.enter("text_area", key, "").finish()
    is_told(drawn=True, kind="any_time")


def test_theorems_about_secret_columns_say_nothing_of_known_ones(arms):
    asked(arms).go("data").cells({"arm": KNOWN})
    for statement in STATEMENTS.values():
        reason = statement.reason(Setting(arms.workload, 1.0, 5000))
        assert ("keep every column secret" in reason) == (statement.kind != "impossible"), statement.name
