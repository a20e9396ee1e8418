"""A joint model of a survey is fitted on the Simulate page, judged beside the unbiased answers, and people are drawn from it."""

import pytest

from ldp_core.data import tables
from ldp_core.designs import Configuration, DeclaredData, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.studies import synthetic
from ldp_core.workloads import KWayMarginalsPart, axes_of
from pages.ui.tasks.synthetic import joint_model

SIZES = (9, 8, 6, 5)


@pytest.fixture
def survey(app):
    recipes = [
        tables.CategoricalRecipe(column=f"question {i}", categories=tuple(f"answer {j}" for j in range(size)))
        for i, size in enumerate(SIZES)
    ]
    design = Configuration(
        data=DeclaredData(recipes=recipes),
        domain=tables.build_domain(recipes),
        population=Population(users=20_000, origin="declared", shape="zipf"),
        workload=WorkloadRecipe(parts=(KWayMarginalsPart(k=2),)),
        epsilon="1",
        mechanism=MechanismRecipe(name="optimized"),
        compared=("optimized",),
    )
    app.load(design.to_json(), "configuration.json")
    app.session.change(optimizer=app.configuration.optimizer.model_copy(update={"max_rounds": 2}))
    return app.go("design").press("optimise").finish()


def test_a_joint_model_is_fitted_and_people_are_drawn(survey):
    survey.go("simulate")  # it takes a collection of its own, so no trials are waited for
    assert "Nothing has been simulated for this design yet" in survey.words
    survey.press("fit-joint").finish()
    shown = {metric.label: metric.value for metric in survey.at.metric}
    assert {"Unbiased answers", "Joint model", "One column more"} <= set(shown)
    state = survey.session
    task = joint_model(state, state.mechanism("optimized"), state.complete.workload)
    found = task.result
    assert 0 < found.modelled < found.unbiased
    rows = synthetic.rows(found.model, axes_of(state.complete.domain), 100)
    assert list(rows.columns) == [f"question {i}" for i in range(4)] + [synthetic.NOTE]
    assert rows.isin([f"answer {j}" for j in range(9)] + ["yes"]).all().all()


def test_a_mechanism_that_knows_no_tables_offers_no_joint_model(app):
    app.sample(page="simulate")
    app.session.change(mechanism=MechanismRecipe(name="subset_selection"), compared=("subset_selection",))
    app.go("simulate").press("run").finish()
    assert not app.has("button", "fit-joint")
