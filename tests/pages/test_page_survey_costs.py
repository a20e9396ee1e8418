"""Mechanisms that go through all types of a survey: what they cost is worked out beside the page, however small the tables are."""

import pytest

from ldp_core import workloads
from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.designs import Configuration, Population, WorkloadRecipe, setting
from ldp_core.workloads import KWayMarginalsPart, PrefixPart, surveyed
from pages.ui import manipulation, verdict_panel
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import work


@pytest.fixture
def survey(app, busy, monkeypatch, lower):
    """64 types in tables of 16, where pages do 16 at once, and nobody works in the background yet."""
    monkeypatch.setattr(surveyed, "MOST_FITTED_TYPES", 16)
    for module, name in ((setting, "UNASKED_TYPES"), (verdict_panel, "AT_ONCE_TYPES"), (work, "AT_ONCE_TYPES")):
        monkeypatch.setattr(module, name, 16)
    lower(MOST_EXACT_TYPES=32)
    monkeypatch.setattr(manipulation, "QUICK_ENTRIES", 16 * 60)
    attributes = [NumericAttribute(name=name, edges=tuple(range(5)), origin="declared") for name in "xyz"]
    asked = WorkloadRecipe(parts=(KWayMarginalsPart(k=2), PrefixPart(attribute="x")))
    people = Population(users=10_000, origin="declared", shape="uniform")
    made = Configuration(domain=Domain(attributes=attributes), workload=asked, population=people)
    app.load(made.model_dump(mode="json"))
    assert isinstance(app.workload, workloads.Survey)
    assert (app.workload.n, app.workload.working_types, app.workload.num_queries) == (64, 16, 52)
    return app


def test_costs_over_all_types_are_left_to_the_background(survey, busy):
    survey.session.change(mechanism=choose_mechanism("haar"))
    survey.go("export")
    assert "What this mechanism costs is being worked out." in survey.words
    busy.set()
    survey.finish()
    assert "people at epsilon" in survey.words


def test_errors_and_forged_reports_over_all_types_are_left_to_the_background(survey, busy):
    survey.session.change(mechanism=choose_mechanism("oue"))  # its costs are in closed form
    survey.go("export").finish()
    assert "people until every question meets its target" in survey.words
    assert "usable." not in survey.words
    assert "How far a forged report moves answers is being worked out." in survey.words
    assert survey.has("button", "writing")
    busy.set()
    survey.finish()
    assert "of 52 answers is usable." in survey.words
    assert "One forged report can move the answer" in survey.words
    assert not survey.has("button", "writing")


@pytest.mark.promise
def test_a_mechanism_made_for_surveys_has_them_at_once(survey):
    survey.session.change(mechanism=choose_mechanism("sampled_sets"))
    survey.go("export")
    assert "being worked out" not in survey.words
    assert not survey.has("button", "packing")
