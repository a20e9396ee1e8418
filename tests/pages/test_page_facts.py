"""Public facts on the Simulate page: typed, kept, agreed with, refused in words, and told of where they leave the session."""

import json

import pytest

from ldp_core import designs
from ldp_core.designs import Simulation
from ldp_core.estimators import ESTIMATORS
from ldp_core.limits import MOST_FACTS
from ldp_core.studies import simulate
from ldp_core.workloads import StatedFact, parse_facts
from pages.ui.tasks import work

TITLE = ESTIMATORS["constrained"].title
WOMEN = "smokes = yes : 1,000"


@pytest.fixture
def asked(app):
    """Six yes-or-no questions about 6,000 people, simulated with a mechanism that needs no fitting."""
    app.sample("health_survey.csv", "design").enter("selectbox", "mechanism", "subset_selection")
    return app.go("simulate")


def state(app, text):
    return app.enter("text_area", "facts", text)


def offered(app):
    return next(box for box in app.at.multiselect if box.key == "estimators").options


def smokers(app):
    design = app.session.design()
    (fact,) = parse_facts("smokes = yes : 0", design.domain)
    return int(fact.row @ design.counts)


def test_a_stated_fact_offers_the_estimate_that_agrees_with_it(asked):
    people = smokers(asked)
    assert TITLE not in offered(asked)
    state(asked, f"\n smokes = yes : {people} \n\n")
    assert asked.configuration.simulation.facts == (StatedFact(text=f"smokes = yes : {people}"),)
    assert asked.at.text_area(key="facts").value == f"smokes = yes : {people}"
    assert TITLE in offered(asked)
    assert "Choose “In agreement with public facts” among the estimates" in asked.words
    asked.enter("multiselect", "estimators", ["unbiased", "constrained"]).enter("number_input", "trials", 3)
    assert "to use them" not in asked.words
    asked.press("run").finish()
    assert not asked.errors
    design, mechanism = asked.session.design(), asked.session.mechanism("subset_selection")
    facts = parse_facts([f"smokes = yes : {people}"], design.domain)
    run = simulate.collect(mechanism, design.workload, design.counts, 3, 0, ["unbiased", "constrained"], facts=facts)
    errors = run.frame.groupby("estimator")["total_squared_error"].mean()
    shown = work.simulation(asked.session, ["subset_selection"]).result.errors.set_index("estimator")
    assert shown["total_observed"].to_dict() == pytest.approx(errors.to_dict())
    assert errors["constrained"] < errors["unbiased"]
    assert set(asked.charts[0]["data"][0]["text"]) == {"Agrees with facts", "Unbiased"}


def test_the_example_fits_the_domain(asked):
    box = asked.at.text_area(key="facts")
    state(asked, box.placeholder)
    assert asked.session.setting.facts()
    assert not asked.errors


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "smokes = yes",
            "Fact 1, smokes = yes: write a condition, a colon and how many people fulfil it",
            marks=pytest.mark.slow,
        ),
        ("smokes = perhaps : 3", "Fact 1, smokes = perhaps : 3: at character 10"),
        pytest.param(
            f"{WOMEN}\nsmokes = yes : many",
            "Fact 2, smokes = yes : many: after the colon stands a number of people",
            marks=pytest.mark.slow,
        ),
        ("smokes = yes : 6,001", "The fact smokes = yes : 6,001 cannot be true of 6,000 people; correct its total."),
        (f"{WOMEN}\nsmokes = no : 4,999", "The fact smokes = no : 4,999 contradicts those before it, for 6,000 people"),
        ("<b>x</b> = [y](z) : 1", "<b>x</b>"),
    ],
)
def test_a_bad_fact_is_said_beside_it_and_nothing_is_lost(asked, text, said):
    asked.enter("multiselect", "estimators", ["unbiased", "wnnls"])
    state(asked, WOMEN).enter("multiselect", "estimators", ["unbiased", "constrained"])
    state(asked, text)
    assert len(asked.errors) == 1
    assert said in asked.errors[0]
    asked.enter("text_input", "seed", "5")  # whatever else is changed
    assert asked.at.text_area(key="facts").value == text
    assert said in asked.errors[0]
    assert f"{TITLE} is left out until the facts can be used." in asked.words
    asked.enter("number_input", "trials", 2).press("run").finish()  # without that estimate
    assert asked.charts
    assert asked.configuration.simulation.estimators == ("unbiased", "constrained")
    assert asked.go("data").go("simulate").at.text_area(key="facts").value == text


def test_too_many_facts_are_refused_as_typed(asked):
    text = "\n".join([WOMEN] * (MOST_FACTS + 1))
    state(asked, text)
    assert asked.errors == ["There are 101 facts, and at most 100 are used; leave out the others."]
    assert asked.at.text_area(key="facts").value == text
    assert not asked.configuration.simulation.facts


def test_results_belong_to_their_facts(asked):
    state(asked, WOMEN).enter("multiselect", "estimators", ["constrained"]).enter("number_input", "trials", 2)
    asked.press("run").finish()
    assert asked.charts
    state(asked, "smokes = yes : 1,001")
    assert not asked.charts
    state(asked, WOMEN)
    assert asked.charts
    asked.enter("multiselect", "estimators", ["unbiased"]).press("run").finish()
    state(asked, "smokes = yes : 1,001")  # nothing here depends on it
    assert asked.charts


def test_facts_that_are_not_true_of_these_people_are_told(asked):
    people = smokers(asked)
    state(asked, f"smokes = yes : {people}\nsmokes = no : at most 1,000,000\nasthma = yes : at most 1")
    assert "Not true of the people simulated here, this data: asthma = yes : at most 1." in asked.words
    state(asked, f"smokes = yes : {people}\nsmokes = no : at most 1,000,000")
    assert "Not true of" not in asked.words


def test_totals_can_be_taken_from_the_data_and_are_called_so(asked):
    people = smokers(asked)
    assert not asked.has("button", "facts-count")
    state(asked, "smokes = yes\nasthma = yes : at most 4,000\nsmokes = maybe")
    asked.press("facts-count")
    filled = f"smokes = yes : {people:,}"
    assert asked.at.text_area(key="facts").value == f"{filled}\nasthma = yes : at most 4,000\nsmokes = maybe"
    assert [fact.origin for fact in asked.configuration.simulation.facts] == ["data", "declared", "declared"]
    assert "1 total was taken from the data. Epsilon does not protect it" in asked.words
    assert not asked.has("button", "facts-count")
    assert "Fact 3, smokes = maybe" in asked.errors[0]
    state(asked, f"{filled}\nasthma = yes : at most 4,000")
    assert [fact.origin for fact in asked.configuration.simulation.facts] == ["data", "declared"]
    assert not asked.errors
    asked.press("undo").press("undo")
    assert asked.at.text_area(key="facts").value.startswith("smokes = yes\n")
    assert "taken from the data. Epsilon" not in asked.words


def test_totals_are_not_counted_without_data(app):
    app.declare(bins=8).ask("histogram").go("design").enter("selectbox", "mechanism", "subset_selection")
    state(app.go("simulate"), "x < 4")
    assert not app.has("button", "facts-count")
    assert "write a condition, a colon" in app.errors[0]


def test_large_domains_say_why_not(app):
    app.declare(high="4096", bins=4096, users=5000).ask("histogram").go("design")
    app.enter("selectbox", "mechanism", "subset_selection").go("simulate")
    assert not app.errors
    state(app, "x < 4 : 100")
    assert "worked out for at most 2,048 types; this workload has 4,096" in app.errors[0]


def test_facts_stay_with_the_design_where_its_domain_changes(app):
    app.declare(bins=8, users=1000).ask("histogram").go("design").enter("selectbox", "mechanism", "subset_selection")
    state(app.go("simulate"), "x < 4 : 500")
    assert not app.errors
    app.go("data").enter("number_input", "declare-bins", 3).go("simulate")
    assert app.at.text_area(key="facts").value == "x < 4 : 500"
    assert "would cut the bin" in app.errors[0]
    app.go("data").enter("number_input", "declare-bins", 8).enter("text_input", "declare-users", "400").go("simulate")
    assert "cannot be true of 400 people" in app.errors[0]


def test_the_export_tells_declared_facts_from_counted_ones(app):
    csv = b"answer\n" + b"yes\n" * 30 + b"no\n" * 20
    app.upload("answers.csv", csv).go("design").enter("selectbox", "mechanism", "subset_selection")
    state(app.go("simulate"), "answer = yes : at least 10")
    words = app.go("export").words
    assert "Public facts were declared, not counted, and are in the file as typed: answer = yes : at least 10." in words
    assert "of a public fact was counted" not in words
    state(app.go("simulate"), "answer = yes").press("facts-count")
    assert app.at.text_area(key="facts").value == "answer = yes : 30"
    words = app.go("export").words
    assert "The total of a public fact was counted in the data and stands there exactly: answer = yes : 30." in words
    assert "Public facts were declared" not in words
    document = json.loads(app.configuration.to_json())
    assert document["version"] == 7
    assert document["simulation"]["facts"] == [{"text": "answer = yes : 30", "origin": "data"}]
    assert designs.shareable(app.configuration).simulation.facts == ()


def test_a_file_with_facts_restores_the_screen(asked, another):
    state(asked, f"{WOMEN}\nsmokes = no : at least 2").enter("multiselect", "estimators", ["constrained"])
    other = another().load(asked.configuration.to_json()).go("simulate")
    assert other.configuration == asked.configuration
    assert other.at.text_area(key="facts").value == asked.at.text_area(key="facts").value
    assert not other.errors
    other.session.change(simulation=Simulation(), difference=None)
    assert json.loads(other.configuration.to_json())["version"] == 7
