"""What goes with a secret answer, on the pages."""

import numpy as np

from ldp_core import detection, wording
from ldp_core.data.tables import CategoricalRecipe
from ldp_core.deploy.collector import regressing
from ldp_core.designs import WorkloadRecipe
from ldp_core.designs.configuration import Optimizer
from ldp_core.workloads import SlopePart
from pages.ui.data import actions
from pages.ui.session.state import choose_mechanism
from pages.ui.tasks import collecting


def count(app, *files):
    """Upload files of reports and count them."""
    app.enter("segmented_control", "collect-from", "upload")
    (box,) = [u for u in app.at.file_uploader if u.key.startswith("reports-")]
    box.set_value(list(files)).run()
    return app.finish()


def test_a_slope_is_asked_on_workload_and_judged_on_design(app):
    app.sample("experiment.csv", "workload")
    app.session.change(optimizer=Optimizer(max_rounds=3))
    app.enter("selectbox", "group-0-questions", "slope").finish()
    assert not app.errors
    (part, _) = app.session.configuration.workload.parts
    assert part.kind == "slope"
    assert part.on == ("arm",)
    app.go("design").finish().press("optimise").finish()
    assert not app.errors
    (table,) = [table for table in app.dataframes if "Asked alone" in table]
    assert "finds" in table["With 3,000 people"].iloc[0]


def test_a_logistic_regression_stands_on_collect_where_reports_tell_of_a_yes_or_no(app):
    state = app._come_to("data")
    state.view["source"] = "declared"
    recipes = [CategoricalRecipe(column=n, categories=("no", "yes"), known=n == "new") for n in ("new", "happy")]
    actions.declare(state, tuple(recipes), 0)
    state.expect(users=2000)
    state.change(workload=WorkloadRecipe(parts=(SlopePart(of="happy", on=("new",)),)))
    state.change(mechanism=choose_mechanism("subset_selection"))
    app.go("collect").finish()
    mechanism, design = (
        state.setting.chosen_mechanism,
        collecting.current_kit(state, state.setting.chosen_mechanism).result,
    )
    counts = np.array([800, 200, 400, 600])
    count(app, ("reports.csv", collecting.simulated(design, counts, 1), "text/csv"))
    assert not app.errors
    (table,) = [table for table in app.dataframes if "Odds times" in table]
    assert table["Log odds"].tolist() == ["intercept", "new yes minus no"]
    held = collecting.collection(state, design)
    found = regressing.regression(held, mechanism, state.setting.domain, "happy", ["new"])
    assert table["Coefficient"].tolist() == [wording.significant(x, 4) for x in found["answer"]]
    assert "profile-likelihood intervals" in app.words


def test_design_says_from_how_many_people_on_private_answers_beat_open_ones(ages):
    ages.go("design")
    for silent in (0.5, 1.0):
        ages.enter("slider", "direct-silent", round(100 * silent))
        people = detection.break_even(0.1, silent, ages.session.setting.epsilon)
        assert f"from **{wording.users(people)}** on" in ages.words


def test_quantiles_stand_on_collect_where_running_totals_follow(ages):
    ages.go("design").enter("selectbox", "mechanism", "subset_selection").go("collect").finish()
    state = ages.session
    design = collecting.current_kit(state, state.setting.chosen_mechanism).result
    count(ages, ("reports.csv", collecting.simulated(design, state.setting.counts, 1), "text/csv"))
    assert not ages.errors
    (table,) = [table for table in ages.dataframes if "Quantile of" in table]
    assert len(table) == 5
    assert "hold all together" in ages.words
