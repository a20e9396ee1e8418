"""Designs of several attributes and weighted groups of queries on the pages after Workload: names, shares, refusals."""

import pytest

from ldp_core.data.tables import CategoricalRecipe, NumericRecipe
from ldp_core.designs import DeclaredData, WorkloadRecipe
from ldp_core.workloads import (
    KWayMarginalsPart,
    MarginalsPart,
    ParityPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
)
from pages.ui.session.state import choose_mechanism

PAGES = ["design", "compare", "bounds", "simulate", "export"]
AGE = NumericRecipe(column="age", method="range", low=0, high=80, bins=8, integer=False)
GROUPS = (
    PrefixPart(attribute="age", weight=10.0),
    MarginalsPart(groups=(("q0", "q1"),), weight=0.5),
    ParityPart(weight=4.0),
    PredicatesPart(predicates=(Predicate(expression="q0 = yes and age < 20", name="young with q0"),)),
)


def yes_no(many):
    return [CategoricalRecipe(column=f"q{i}", categories=("no", "yes")) for i in range(many)]


def declare(app, recipes, parts, mechanism):
    app.session.set_data(DeclaredData(recipes=tuple(recipes)), None)
    app.session.change(workload=WorkloadRecipe(parts=tuple(parts)), mechanism=choose_mechanism(mechanism))
    app.session.change(compared=(mechanism,))
    return app


@pytest.fixture
def groups(app):
    return declare(app, [AGE, *yes_no(2)], GROUPS, "subset_selection")


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
    assert "A typical answer was off by" in app.words
    assert "was predicted" not in app.words
    assert len(chart(app.open("outcome-tabs", "What you might get").finish(), "simulated-release")["data"]) == 4
