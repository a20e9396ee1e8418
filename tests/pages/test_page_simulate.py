"""Simulations: reproducible by seed, in line with predictions, and belonging to their design."""

import numpy as np
import pytest

from ldp_core.deploy import collector
from ldp_core.designs import Optimizer, WorkloadRecipe
from ldp_core.estimators import ESTIMATORS, METHODS
from ldp_core.wording import significant
from ldp_core.workloads import PredicatesPart
from tests.pages.conftest import plain

TABS = ["What you might get", "Errors", "Distribution", "Intervals"]
TAB_OF = {"quantiles": "Distribution", "release": "What you might get"}


@pytest.fixture
def ready(ages):
    """The ages with a mechanism that needs no fitting."""
    return ages.go("design").enter("selectbox", "mechanism", "subset_selection").go("simulate")


def shown(app, name):
    """The traces of the chart ``name``."""
    app.open("outcome-tabs", TAB_OF.get(name, name.capitalize()))
    keys = [element.proto.id for element in app.at.get("plotly_chart")]
    (place,) = [i for i, key in enumerate(keys) if key.endswith(f"-chart-simulated-{name}")]
    return app.charts[place]["data"]


def observed(app):
    errors = shown(app, "errors")[0]
    return dict(zip(errors["text"], np.array(errors["x"], dtype=float), strict=True))


def published(app):
    """The answers of the collection shown, and the true ones."""
    answers, truth = (trace["y"] for trace in shown(app.finish(), "release"))
    return answers, truth


@pytest.mark.promise
def test_run_shows_every_view_of_the_same_collections(ready):
    assert "Run draws 200 collections from these people" in ready.at.info[0].value
    ready.enter("number_input", "trials", 1)
    assert "Run draws 1 collection from these people" in ready.at.info[0].value
    ready.enter("number_input", "trials", 20)
    ready.press("run").finish()
    assert [tab.label for tab in ready.at.tabs] == TABS
    assert ready.at.button(key="run").disabled
    found = observed(ready)
    setting = ready.session.setting
    variances = setting.chosen_mechanism.query_variances(setting.workload, setting.counts)
    predicted = 100 * np.sqrt(variances.max()) / 3000
    assert f"± {significant(predicted)} percentage points was predicted for these people" in ready.words
    assert found["Unbiased"] == pytest.approx(predicted, rel=0.4)
    assert found["Non-negative"] <= found["Unbiased"]
    assert "20 trials of Subset selection, unbiased" in ready.words
    _, truth = published(ready)
    assert truth[-1] == pytest.approx(100)  # the last prefix is everybody
    low, _, private, true = (trace["y"] for trace in shown(ready, "distribution"))
    assert true == pytest.approx(truth)
    assert len(low) == len(private) == 25
    assert "the private median lies at" in ready.words
    assert (
        "confidence intervals of the first collection hold the truth" in ready.open("outcome-tabs", "Intervals").words
    )
    assert f"by the method **normal**: {METHODS['normal']}" in ready.words


def test_another_collection_is_drawn_at_every_press(ready):
    ready.enter("number_input", "trials", 5).press("run").finish()
    design, (answers, truth) = ready.session.setting, published(ready)
    exact = collector.release(design.chosen_mechanism, design.workload, design.counts, seed=0)
    assert answers == pytest.approx(exact["answer"].tolist())
    held = int(((exact["low"] <= exact["true"]) & (exact["true"] <= exact["high"])).sum())
    assert f"The truth, a small mark, lies in **{held} of 25 intervals**." in ready.words
    again, same = published(ready.press("release"))
    assert same == truth
    assert again != answers


def test_seed_reproduces_in_another_session(ready, another):
    ready.enter("text_input", "seed", "123,456").press("run").finish()
    other = another().sample().go("design").enter("selectbox", "mechanism", "subset_selection").go("simulate")
    other.enter("text_input", "seed", "123456").press("run").finish()
    assert published(other) == published(ready)
    other.enter("text_input", "seed", "7").press("run").finish()
    assert published(other) != published(ready)
    other.enter("text_input", "seed", "123456")  # found again without another run
    assert published(other) == published(ready)


def test_several_mechanisms_and_the_choice_between_them(ready):
    ready.enter("multiselect", "estimators", ["wnnls", "norm_sub"])
    ready.enter("multiselect", "simulated", ["subset_selection", "randomized_response"]).press("run").finish()
    assert len(observed(ready)) == 4
    assert "the exact prediction" not in ready.words  # there is none for biased estimates
    assert ESTIMATORS["wnnls"].meaning in ready.words
    assert "Confidence intervals exist for unbiased estimates" in ready.open("outcome-tabs", "Intervals").words
    before = published(ready)
    ready.enter("selectbox", "simulated-pair", ("randomized_response", "norm_sub"))
    assert published(ready) != before
    ready.open("outcome-tabs", "Distribution")
    assert ready.control("selectbox", "simulated-pair").value == ("randomized_response", "norm_sub")


def test_an_unfitted_mechanism_can_be_fitted_where_it_is_missed(ages):
    ages.session.change(optimizer=Optimizer(max_rounds=5))
    ages.go("simulate")
    assert "not fitted to this design yet" in ages.words
    assert ages.at.button(key="run").disabled
    assert ages.at.button(key="fit-simulated").label == "Fit and include Optimised"
    ages.press("fit-simulated").finish()
    assert not ages.has("button", "fit-simulated")
    assert not ages.at.button(key="run").disabled


@pytest.mark.promise
def test_an_estimate_that_errs_many_times_as_much_as_the_unbiased_one_is_told_with_the_reason(app):
    """The best mechanism for one condition tells next to nothing of the counts that Norm-Sub starts from."""
    app.declare(bins=8, high="8", users=20_000)
    asked = PredicatesPart(predicates=({"expression": "x < 4"},))
    app.session.change(workload=WorkloadRecipe(parts=(asked,)), types="all")
    app.go("design").press("optimise").finish()
    simulation = app.configuration.simulation.model_copy(update={"trials": 4})
    app.session.change(simulation=simulation.model_copy(update={"estimators": ("unbiased", "wnnls", "norm_sub")}))
    app.go("simulate").press("run").finish()
    (said,) = [plain(one.value) for one in app.at.warning if "err many times as much" in one.value]
    assert "Optimised, Norm-Sub: " in said
    assert "times as much. Norm-Sub takes the counts of all types for about equally well known" in said
    assert "non-negative" not in said
    app.session.change(simulation=simulation.model_copy(update={"estimators": ("unbiased", "wnnls")}))
    app.go("simulate").press("run").finish()
    assert "err many times as much" not in app.words
