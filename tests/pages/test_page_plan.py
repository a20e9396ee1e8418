"""Solve for: each of the three questions against the core, bad entries and fitted mechanisms."""

import math

import pytest

from ldp_core import analysis, library, mechanisms, wording, workloads
from ldp_core.designs.configuration import Optimizer
from ldp_core.studies.planning.words import rounded
from pages.ui.session.state import choose_mechanism


@pytest.fixture
def planned(app):
    app.declare(bins=8, users="5,000").ask("prefix")
    app.session.change(mechanism=choose_mechanism("subset_selection"))
    return app


def said(app, start):
    """What is solved for, as a sentence."""
    (found,) = [text.value for text in app.at.markdown if text.value.startswith(f"**{start}")]
    return " ".join(found.replace("\\", "").replace("\N{NO-BREAK SPACE}", " ").split())


def worst(name, epsilon):
    workload = workloads.prefix(8)
    return analysis.worst_case_variance(mechanisms.create(name, epsilon=epsilon, workload=workload), workload)


@pytest.mark.promise
@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hierarchical"])
def test_the_error_is_that_of_the_core(planned, name):
    planned.session.change(mechanism=choose_mechanism(name))
    planned.solve_for("standard_error")
    assert planned.at.text_input(key="plan-users").value == "5,000"
    planned.enter("text_input", "plan-users", "20,000").finish()
    error = rounded(math.sqrt(worst(name, 1.0) / (8 * 20_000)), up=True)
    expected = f"{library.spec(name).title} gives an error of {wording.error(error)}".replace("\N{NO-BREAK SPACE}", " ")
    assert expected in said(planned, "With 20,000 users and epsilon 1")
    planned.session.change(epsilon="2")
    planned.finish()
    assert expected not in said(planned, "With 20,000 users and epsilon 2")
    planned.enter("text_input", "plan-users", "many")
    assert "Please give the number of users as a whole number" in planned.errors[0]


def test_epsilon_meets_the_error_it_is_solved_for(planned):
    planned.solve_for("epsilon").target(2).finish()
    epsilon = float(said(planned, "With 5,000 users").split("needs epsilon ")[1].split()[0])
    assert worst("subset_selection", epsilon) / (8 * 5000) <= 0.02**2
    assert worst("subset_selection", epsilon - 0.01) / (8 * 5000) > 0.02**2


def test_fits_are_made_when_asked(planned):
    planned.session.change(mechanism=choose_mechanism("optimized"), optimizer=Optimizer(max_rounds=30))
    planned.solve_for("users")
    assert "Optimised has to be fitted first." in planned.words
    assert "no unbiased epsilon-LDP mechanism has an error of" in planned.words
    planned.press("optimise").finish()
    assert "Optimised needs" in said(planned, "At epsilon 1")
    planned.solve_for("epsilon")
    assert "Optimised has to be fitted at several epsilons." in planned.words
    planned.press("plan-fits").finish()
    assert "Optimised needs epsilon" in said(planned, "With 5,000 users")
