"""Several variants of one mechanism side by side: added, removed, compared, planned, simulated, fitted, taken over and kept."""

import pytest

from ldp_core import analysis, charts, library, mechanisms, workloads
from pages.ui.session.state import choose_mechanism

HH2, HH16 = "hierarchical(branching=2)", "hierarchical(branching=16)"
THREE = ("hierarchical", HH2, HH16)


def titles(*names):
    return {library.spec(name).title for name in names}


@pytest.fixture
def compared(app):
    app.declare(bins=16).ask("prefix").go("compare")
    return app.enter("multiselect", "compared", ["hierarchical"])


def add(app, key="compared", mechanism="hierarchical", **parameters):
    app.enter("selectbox", f"variant-{key}", mechanism)
    for parameter, value in parameters.items():
        kind = library.spec(mechanism).settings[parameter]
        app.enter("selectbox" if kind.offered else "text_input", f"variant-{key}-{parameter}", value)
    return app.press(f"add-{key}")


def test_variants_are_added_and_removed_where_mechanisms_are_compared(compared):
    assert compared.at.button(key="add-compared").disabled  # nothing is chosen yet that is not there
    add(compared, branching=2)
    add(compared, branching=16)
    assert compared.configuration.compared == THREE
    assert compared.at.button(key="add-compared").disabled
    table, workload = compared.costs, workloads.prefix(16)
    assert set(table.index) == titles(*THREE)
    for name, branching in zip(THREE, (4, 2, 16), strict=True):
        mechanism = mechanisms.create("hierarchical", epsilon=1.0, workload=workload, branching=branching)
        shown = table.loc[library.spec(name).title, "users_needed"]
        assert shown == pytest.approx(analysis.sample_complexity(mechanism, workload, compared.session.setting.alpha))
    picture = compared.charts[0]["data"][0]
    assert set(picture["text"]) == {charts.title(name) for name in THREE}
    assert set(picture["marker"]["color"]) == {charts.colour("hierarchical")}
    assert set(picture["marker"]["symbol"]) == {library.spec(name).style[1] for name in THREE} > {"pentagon"}
    compared.enter("multiselect", "compared", [HH16])
    assert set(compared.costs.index) == titles(HH16)
    compared.press("undo")
    assert set(compared.costs.index) == titles(*THREE)
    compared.enter("multiselect", "compared", ["hierarchical"])
    assert (
        library.spec(HH16).title in compared.control("multiselect", "compared").options
    )  # what was made once is offered again


def test_a_parameter_that_cannot_be_is_refused_and_nothing_is_added(app):
    app.declare(bins=16).go("compare")
    before = app.configuration.compared
    app.enter("selectbox", "variant-compared", "gaussian").enter("text_input", "variant-compared-delta", "2")
    assert "Delta 2 is out of range" in app.errors[0]
    app.enter("text_input", "variant-compared-delta", "1e-9").press("add-compared")
    assert app.configuration.compared == (*before, "gaussian(delta=1e-09)")
    assert "Gaussian, delta 1\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁹" in app.costs.index
    assert app.session.setting.priced("gaussian(delta=1e-09)").audit().delta == pytest.approx(1e-9)


def test_a_variant_is_taken_into_the_design_with_one_click(compared):
    add(compared, branching=16)
    compared.press(f"use-{HH16}")
    recipe = compared.configuration.mechanism
    assert (recipe.name, recipe.parameters) == ("hierarchical", {"branching": 16})
    # The other one goes on being what it was, though the mechanism of the design has its name.
    assert set(compared.costs.index) == titles("hierarchical", HH16)
    assert compared.session.setting.mechanism("hierarchical").parameters["branching"] == 16
    assert compared.session.setting.mechanism("hierarchical()").parameters["branching"] == 4
    assert "Hierarchical, branching 16" in compared.words
    compared.go("design")
    assert compared.control("selectbox", "choice-branching").value == 16
    compared.enter("selectbox", "choice-branching", 8).go("compare")
    assert set(compared.costs.index) > titles("hierarchical", HH16)
    compared.press("use-hierarchical()")
    assert compared.configuration.mechanism == choose_mechanism("hierarchical")
