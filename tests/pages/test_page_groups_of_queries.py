"""Designs of several attributes and weighted groups of queries on the pages after Workload: what is refused, and what can be had."""

import re

import pytest

from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import DeclaredData, WorkloadRecipe
from ldp_core.workloads import KWayMarginalsPart
from pages.ui.session.state import choose_mechanism


def test_a_design_without_exact_costs_says_so_and_can_be_simulated(app):
    recipes = tuple(CategoricalRecipe(column=f"q{i}", categories=("no", "yes")) for i in range(13))
    app.session.set_data(DeclaredData(recipes=recipes), None)
    parts = (KWayMarginalsPart(k=2, weight=2.0), KWayMarginalsPart(k=13))
    app.session.change(workload=WorkloadRecipe(parts=parts), mechanism=choose_mechanism("haar"), compared=("haar",))
    for page in ("design", "compare"):
        assert "take too long past 2,048 types; there are 8,192 here" in app.go(page).words
    assert "simulate" in app.go("design").links
    app.go("simulate").finish().press("run").finish()
    told = r"Answers were off by up to ± ([\d.]+) percentage points; ± ([\d.]+) percentage points was predicted"
    observed, predicted = map(float, re.search(told, app.words).groups())
    assert observed == pytest.approx(predicted, rel=0.1)
    (chart,) = app.open("outcome-tabs", "What you might get").finish().charts
    assert len(chart["data"]) == 1  # a table of pairs
