"""The plan: each of the three questions against the core, bad entries and fitted mechanisms."""

import math

import pytest

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.designs.configuration import Optimizer
from pages.ui.session.state import choose_mechanism

CLOSED = ["randomized_response", "subset_selection", "hierarchical"]


@pytest.fixture
def planned(app):
    app.declare(bins=8, users="5,000").ask("prefix")
    app.session.change(mechanism=choose_mechanism("subset_selection"))
    app.go("compare").enter("multiselect", "compared", CLOSED).open("compare-tabs", "Solve for")
    return app.enter("segmented_control", "solved", "users").finish()


def answers(app):
    return next(
        table for table in app.dataframes if "name" in table and "note" not in table and "gap" not in table
    ).set_index("name")


def worst(name, epsilon):
    return analysis.worst_case_variance(mechanisms.create(name, n=8, epsilon=epsilon), workloads.prefix(8))


def test_the_error_is_that_of_the_core(planned):
    planned.enter("segmented_control", "solved", "standard_error").finish()
    assert planned.at.text_input(key="plan-users").value == "5,000"
    planned.enter("text_input", "plan-users", "20,000").finish()
    for name in CLOSED:
        error = 100 * math.sqrt(worst(name, 1.0) / (8 * 20_000))
        assert answers(planned).loc[library.spec(name).title, "standard_error"] == pytest.approx(error)
    assert "With 20,000 users and epsilon 1" in planned.words
    planned.session.change(epsilon="2")
    planned.finish()
    assert answers(planned)["standard_error"].max() < error


def test_epsilon_meets_the_error_it_is_solved_for(planned):
    planned.enter("segmented_control", "solved", "epsilon").target(2).finish()
    table = answers(planned)
    for name in CLOSED:
        epsilon = table.loc[library.spec(name).title, "epsilon"]
        assert worst(name, epsilon) / (8 * 5000) == pytest.approx(0.02**2, rel=1e-6)
    assert table["epsilon"].iloc[0] == table["epsilon"].min()


def test_fitted_mechanisms_join_when_asked(planned):
    planned.session.change(optimizer=Optimizer(max_rounds=30))
    planned.enter("multiselect", "compared", [*CLOSED, "optimized"]).finish()
    title = library.spec("optimized").title
    assert title not in answers(planned).index
    planned.press("include-fits").finish()
    table = answers(planned)["users"]
    assert table.index[1] == title
    assert table.iloc[0] <= table.iloc[1] <= 1.02 * table.iloc[0]
