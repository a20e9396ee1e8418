"""Simulations: reproducible by seed, in line with predictions, and belonging to their design."""

import numpy as np
import pytest

from ldp_core.estimators import ESTIMATORS


@pytest.fixture
def ready(ages):
    """The ages with a mechanism that needs no fitting."""
    return ages.go("design").enter("selectbox", "mechanism", "subset_selection").go("simulate")


def means(app):
    return [trace["y"] for trace in app.charts[0]["data"]]


def observed(app):
    errors = app.charts[1]["data"][0]
    return dict(zip(errors["y"], np.array(errors["x"], dtype=float), strict=True))


def test_run_shows_both_estimates_against_the_truth(ready):
    assert "Press Run to draw 20 collections from these people" in ready.at.info[0].value
    ready.press("run").finish()
    truth, unbiased, non_negative = means(ready)
    assert truth[-1] == pytest.approx(100)  # the last prefix is everybody
    assert len(unbiased) == len(non_negative) == 25
    assert ready.at.button(key="run").disabled
    found = observed(ready)
    predicted = 100 * ready.session.summary("subset_selection").standard_error_on_data
    assert found["Subset selection, unbiased"] == pytest.approx(predicted, rel=0.4)
    assert found["Subset selection, non-negative"] <= found["Subset selection, unbiased"]
    assert "Seed 0, 20 trials of 3,000 users." in ready.words


def test_seed_reproduces_in_another_session(ready, another):
    ready.enter("text_input", "seed", "123,456").press("run").finish()
    other = another().sample().go("design").enter("selectbox", "mechanism", "subset_selection").go("simulate")
    other.enter("text_input", "seed", "123456").press("run").finish()
    assert means(other) == means(ready)
    other.enter("text_input", "seed", "7").press("run").finish()
    assert means(other) != means(ready)
    other.enter("text_input", "seed", "123456")  # found again without another run
    assert means(other) == means(ready)


@pytest.mark.parametrize("entry", ["", "-1", "1.5", "abc", str(2**63)])
def test_refused_seeds(ready, entry):
    ready.enter("text_input", "seed", entry)
    assert len(ready.errors) == 1
    assert "the seed as a whole number" in ready.errors[0]
    assert ready.configuration.simulation.seed == 0


def test_one_trial_makes_no_claims_about_spread(ready):
    ready.enter("number_input", "trials", 1).press("run").finish()
    assert "Points are the answers of a single trial" in ready.words
    assert "1 trial of 3,000 users" in ready.words
    assert "one collection in three" not in ready.words


def test_one_estimator_and_several_mechanisms(ready):
    ready.enter("multiselect", "estimators", ["wnnls"])
    ready.enter("multiselect", "simulated", ["subset_selection", "randomized_response"]).press("run").finish()
    assert len(means(ready)) == 3
    assert "the exact prediction" not in ready.words  # there is none for biased estimates
    assert ESTIMATORS["wnnls"].meaning in ready.words


def test_nothing_to_run_cannot_be_run(ready):
    ready.enter("multiselect", "estimators", [])
    assert ready.at.button(key="run").disabled
    ready.enter("multiselect", "estimators", ["unbiased"]).enter("multiselect", "simulated", [])
    assert ready.at.button(key="run").disabled


def test_an_unfitted_mechanism_links_to_its_optimiser(ages):
    ages.go("simulate")
    assert "not fitted to this design yet" in ages.words
    assert ages.at.button(key="run").disabled


def test_a_mechanism_that_cannot_be_built_is_said_not_raised(ready):
    ready.enter("multiselect", "simulated", ["subset_selection", "fourier"])  # 25 types are no power of two
    assert "power of two" in ready.words
    assert not ready.at.button(key="run").disabled
    ready.press("run").finish()
    assert len(means(ready)) == 3


def test_results_belong_to_their_design(ready):
    ready.press("run").finish()
    first = means(ready)
    ready.go("design").enter("text_input", "epsilon-text", "2").go("simulate")
    assert not ready.charts
    ready.go("design").enter("text_input", "epsilon-text", "1").go("simulate")
    assert means(ready) == first


def test_a_finished_result_survives_the_jobs_being_forgotten(ready, monkeypatch):
    ready.press("run").finish()
    monkeypatch.setattr("pages.ui.jobs.Jobs.find", lambda *_: None)  # jobs() keeps only the last few
    ready.at.run()
    assert ready.check().charts
    assert ready.at.button(key="run").disabled


def test_cancelling_keeps_the_trials_done(app):
    app.declare(bins=256).go("workload").enter("radio", "workload-kind", "all_range")
    app.go("design").enter("selectbox", "mechanism", "subset_selection").go("simulate")
    app.enter("number_input", "trials", 10_000).press("run").press("cancel").finish()
    assert not app.at.button(key="run").disabled
    if app.charts:
        assert "10,000 trials of" not in app.words
