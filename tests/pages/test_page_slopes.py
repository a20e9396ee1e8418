"""What goes with a secret answer, on the pages."""

from ldp_core.designs.configuration import Optimizer


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
