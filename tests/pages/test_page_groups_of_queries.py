"""Designs of several attributes and weighted groups of queries on the pages after Workload: what is refused, and what can be had."""

import re

import pytest

from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import DeclaredData, WorkloadRecipe
from ldp_core.workloads import KWayMarginalsPart
from pages.ui.session.state import choose_mechanism

PAGES = ["design", "compare", "bounds", "simulate", "export"]


def yes_no(many):
    return [CategoricalRecipe(column=f"q{i}", categories=("no", "yes")) for i in range(many)]


def declare(app, recipes, parts, mechanism):
    app.session.set_data(DeclaredData(recipes=tuple(recipes)), None)
    app.session.change(workload=WorkloadRecipe(parts=tuple(parts)), mechanism=choose_mechanism(mechanism))
    app.session.change(compared=(mechanism,))
    return app


def chart(app, name):
    keys = [element.proto.id for element in app.at.get("plotly_chart")]
    (place,) = [i for i, key in enumerate(keys) if key.endswith(f"-chart-{name}")]
    return app.charts[place]


def test_a_design_without_exact_costs_says_so_and_can_be_simulated(app):
    declare(app, yes_no(13), [KWayMarginalsPart(k=2, weight=2.0), KWayMarginalsPart(k=13)], "haar")
    for page in PAGES[:2]:
        assert "take too long past 2,048 types; there are 8,192 here" in app.go(page).words
    assert "simulate" in app.go("design").links
    app.go("simulate").finish().press("run").finish()
    told = r"Answers were off by up to ± ([\d.]+) percentage points; ± ([\d.]+) percentage points was predicted"
    observed, predicted = map(float, re.search(told, app.words).groups())
    assert observed == pytest.approx(predicted, rel=0.1)
    assert len(chart(app.open("outcome-tabs", "What you might get").finish(), "simulated-release")["data"]) == 4
