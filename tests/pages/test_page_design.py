"""Epsilon and its bad entries, the optimiser as a job, and results that belong to the design they were computed for."""

import re

import pytest

from ldp_core import library, mechanisms, wording
from ldp_core.designs import Population, WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import PrefixPart
from tests.pages.conftest import plain

# The figures on the Design page, read back.
TITLES = {
    "People needed over epsilon, worst case",
    "Which types share a report",
    "What somebody can believe after a report",
    "How wide the answers will be",
}
TABS = ("Questions", "Patterns and proof", "What a report tells")


@pytest.fixture
def small(app):
    """A design small enough to be optimised in no time: 8 types, prefix."""
    app.declare(bins=8).ask("prefix")
    app.session.change(optimizer=Optimizer(max_rounds=40))
    return app.go("design")


def test_slider_and_exact_entry_are_one_value(ages):
    ages.go("design").enter("slider", "epsilon-slider", 2.5)
    assert ages.control("text_input", "epsilon-text").value == "2.5"
    ages.enter("text_input", "epsilon-text", "1e-1")
    assert ages.control("slider", "epsilon-slider").value == 0.1
    assert "at most a factor 1.11" in ages.words  # in the sidebar
    assert "at most 52\\.5\N{NO-BREAK SPACE}% sure" in ages.control("slider", "epsilon-slider").help


@pytest.mark.promise
def test_optimising_ends_in_a_result_and_export_follows(small):
    assert "No mechanism fitted yet." in small.words
    assert plain(small.at.button(key="optimise").label).startswith("Optimise (up to ")
    small.press("optimise").finish()
    said = small.words + "".join(small.open("design-tabs", tab).words for tab in TABS)
    assert "audited epsilon 1," in said
    assert not [title for title in TITLES if f"**{title}**" not in said]
    mechanism, *_ = small.session.setting.fitted("optimized")
    assert mechanism.audit().epsilon <= 1 + 1e-9
    others = [small.session.setting.mechanism(name) for name in ("randomized_response", "hierarchical")]
    best, *worse = [small.session.setting.users_needed(one, "worst_case") for one in (mechanism, *others)]
    assert best < min(worse)
    assert 0 <= small.session.setting.gap(mechanism) < 0.01


def test_the_optimised_mechanism_is_nearly_the_best_in_its_case(small):
    aim = "histogram"
    small.session.change(population=Population(users=500, origin="declared", shape="zipf"))
    small.enter("selectbox", "aim", aim)
    small.enter("text_area", "histogram", "8, 7, 6, 5, 4, 3, 2, 1")
    small.press("optimise").finish()
    session = small.session
    mechanism, bound = session.setting.mechanism("optimized"), session.setting.bounds(aim)["certificate"]
    assert 0 <= session.setting.gap(mechanism) < 0.02
    needed = session.setting.users_needed(mechanism, aim)
    assert small.metric("People needed") == wording.needed(needed)
    assert bound <= needed <= 1.02 * bound
    assert session.setting.proof(aim).certificate.verify()
    small.open("design-tabs", "Patterns and proof").press("check-proof")
    assert "its bound holds" in small.words
    costs = session.setting.costs(mechanism).set_index("case")
    assert (costs["gap"] >= -1e-9).all()
    assert costs["gap"].idxmin() == aim or costs["gap"].min() > costs.loc[aim, "gap"] - 5e-3


def test_results_belong_to_their_design(small):
    small.press("optimise").finish()
    needed = small.metric("People needed")
    small.enter("text_input", "epsilon-text", "2")
    assert "No mechanism fitted yet." in small.words
    assert small.has("button", "optimise")
    assert not small.at.metric
    small.enter("text_input", "epsilon-text", "1")
    assert small.metric("People needed") == needed
    small.enter("text_input", "epsilon-text", "1.0")  # another spelling of the same
    assert small.metric("People needed") == needed


@pytest.mark.parametrize(("kind", "bins", "epsilon"), [("prefix", 2, "0.1"), ("all_range", 16, "20")])
def test_extremes_say_nothing_false(app, kind, bins, epsilon):
    app.declare(bins=bins).ask(kind).session.change(optimizer=Optimizer(max_rounds=20))
    app.go("design").enter("text_input", "epsilon-text", epsilon)
    if app.has("button", "optimise"):  # a closed form is there at once
        app.press("optimise")
    app.finish()
    bound = max(app.session.setting.bounds().values())
    for page in ("workload", "design", "compare", "export"):
        words = app.go(page).words
        assert not re.search(r"\b(inf|nan|None|unlimited)\b|fewer than 0 ", words), page
        said = "no unbiased mechanism" in words.lower() or "proved impossible" in words
        assert not said or bound > 0, page
    for page in ("start", "data", "guide"):
        app.go(page)


@pytest.mark.parametrize("name", ["gaussian", "subset_selection"])
def test_what_is_true_in_real_numbers_only_is_said_on_every_page_that_shows_a_guarantee(ages, name):
    continuous = library.spec(name).continuous
    ages.session.change(compared=[name])
    ages.go("design").enter("selectbox", "mechanism", name)
    assert (mechanisms.FLOATING_POINT in ages.words) == continuous
    assert (mechanisms.FLOATING_POINT in ages.go("export").words) == continuous
    always = 1  # the catalogue of all mechanisms explains its words
    assert ages.go("compare").unfold("every-mechanism").words.count(mechanisms.FLOATING_POINT) == always + continuous


def test_a_mechanism_with_delta_is_not_said_to_change_odds_by_a_factor(ages):
    ages.go("design").enter("selectbox", "mechanism", "gaussian").enter("number_input", "reports", 3)
    for page in ("design", "compare", "bounds", "export"):
        words = ages.go(page).words
        assert "chance of any conclusion from a report is at most 2.72 times as large plus delta = 0.000001" in words
        assert "at most a factor" not in words
    words = ages.go("design").words
    assert "sure after seeing all 3 reports; but for delta: with probability 0.000003 the value" in words


def test_a_design_that_takes_seconds_optimises_itself(unasked, small):
    """Nobody presses anything: to a proved gap of half a per cent, and Refine goes on."""
    small.finish()
    mechanism = small.session.setting.fitted("optimized").mechanism
    first = small.session.setting.gap(mechanism)
    assert "answers are usable" in small.words or "No answer is usable" in small.words
    assert {"Optimised", "Hierarchical"} <= {line.get("name") for line in small.charts[0]["data"]}
    if small.has("button", "optimise"):
        assert small.at.button(key="optimise").label == "Refine"
        small.press("optimise").finish()
    assert small.session.setting.gap(small.session.setting.fitted("optimized").mechanism) <= first


def test_one_that_takes_longer_waits_for_its_button(unasked, app):
    app.declare(high="200", bins=200).ask("prefix").go("design")
    assert not [job for job in app.session.works.values() if job.title.startswith("fitting")]
    assert app.has("button", "optimise")


def test_reports_about_distinguished_types_and_the_choice_to_keep_all(app):
    app.declare_table().session.change(
        workload=WorkloadRecipe(parts=(PrefixPart(attribute="x"),)), mechanism={"name": "subset_selection"}
    )
    needed = []
    for kept, about in ((False, "these"), (True, "all types"), (False, "these")):
        app.go("design").set("Keep all types for questions asked later", kept)
        assert app.configuration.types == ("all" if kept else "distinguished")
        assert f"Your questions distinguish 4 of 16 types; reports are about {about}." in app.words
        needed.append(app.session.setting.users_needed(app.session.setting.mechanism("subset_selection"), "worst_case"))
    assert needed[0] == needed[2] < needed[1] / 2
    app.ask("prefix")
    assert not app.has("checkbox", "all-types")
    assert "distinguish" not in app.words
