"""A joint model of a survey is fitted on the Simulate page, judged beside the unbiased answers, and people are drawn from it."""

import pytest

from ldp_core.data import tables
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.mechanisms import SplitSurvey
from ldp_core.studies import synthetic
from ldp_core.workloads import KWayMarginalsPart, PrefixPart, axes_of
from pages.ui.tasks.synthetic import joint_model

pytest.importorskip("mbi")  # loaded before any test runs: charts look at what is loaded while another thread loads it

SIZES = (9, 8, 6, 5)


def designed(app, *parts, sizes=SIZES):
    """A survey of pairs of questions; with more parts, the first one is a number."""
    recipes = [
        tables.CategoricalRecipe(column=f"question {i}", categories=tuple(f"answer {j}" for j in range(size)))
        for i, size in enumerate(sizes)
    ]
    if parts:
        recipes[0] = tables.NumericRecipe(column="number", method="range", low=0, high=9, bins=9, integer=False)
    design = Configuration(
        data=DeclaredData(recipes=recipes),
        domain=tables.build_domain(recipes),
        population=Population(users=20_000, origin="declared", shape="zipf"),
        workload=WorkloadRecipe(parts=(KWayMarginalsPart(k=2), *parts)),
        epsilon="1",
        mechanism=MechanismRecipe(name="optimized"),
        compared=("optimized",),
    )
    app.load(design.to_json(), "configuration.json")
    app.session.change(optimizer=app.configuration.optimizer.model_copy(update={"max_rounds": 2}))
    return app.go("design").press("optimise").finish()


@pytest.fixture
def survey(app):
    return designed(app)


def test_a_joint_model_is_fitted_and_people_are_drawn(survey):
    survey.go("simulate")  # it takes a collection of its own, so no trials are waited for
    assert "Nothing is simulated yet" in survey.words
    survey.press("fit-joint").finish()
    shown = {metric.label: metric.value for metric in survey.at.metric}
    assert {"Unbiased answers", "Joint model", "One column more"} <= set(shown)
    state = survey.session
    task = joint_model(state, state.mechanism("optimized"), state.setting.workload)
    found = task.result
    assert 0 < found.modelled < found.unbiased
    rows = synthetic.rows(found.model, axes_of(state.setting.domain), 100)
    assert list(rows.columns) == [f"question {i}" for i in range(4)] + [synthetic.NOTE]
    assert rows.isin([f"answer {j}" for j in range(9)] + ["yes"]).all().all()


@pytest.mark.slow
def test_a_split_of_people_has_a_joint_model_too(app):
    designed(app, PrefixPart(attribute="number", weight=9.0), sizes=(9, *[8] * 6)).go("simulate")
    assert isinstance(app.session.mechanism("optimized"), SplitSurvey)
    assert "it goes by their mean" in app.words
    app.press("fit-joint").finish()
    assert not app.errors
    assert {"Unbiased answers", "Joint model"} <= {metric.label for metric in app.at.metric}


def test_a_mechanism_that_knows_no_tables_offers_no_joint_model(app):
    app.sample(page="simulate")
    app.session.change(mechanism=MechanismRecipe(name="subset_selection"), compared=("subset_selection",))
    app.go("simulate").press("run").finish()
    assert not app.has("button", "fit-joint")


def test_a_limit_is_said_before_anybody_presses(survey, monkeypatch):
    monkeypatch.setattr("ldp_core.estimators.joint.fitting.MOST_JOINT_ATTRIBUTES", 3)
    survey.go("simulate")
    assert (
        "A joint model of 4 attributes would take minutes to prepare: at most 3 are modelled at once." in survey.words
    )
    assert not survey.has("button", "fit-joint")
