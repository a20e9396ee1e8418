"""Wherever epsilon is chosen: what a report lets somebody believe, and what the answers look like, move together."""

import numpy as np
import pytest

from ldp_core import analysis, beliefs, library, workloads
from ldp_core.designs.configuration import Optimizer
from ldp_core.studies import privacy_accuracy

FOLD = "The two sides of epsilon"


def titled(app, text):
    """The figure with this title on its y axis."""
    return next(figure for figure in app.charts if text in figure["layout"]["yaxis"].get("title", {}).get("text", ""))


def trace(figure, words):
    return next(one for one in figure["data"] if words in one.get("hovertemplate", ""))


def open_sides(app):
    app.session.view["sides"] = True
    app.at.run()
    return app.check()


@pytest.fixture
def subset(ages):
    ages.session.change(mechanism={"name": "subset_selection"})
    return open_sides(ages.go("design"))


def test_the_risk_is_said_in_odds_before_anything_is_opened(ages):
    ages.go("design")
    assert "can be led by their report to about 73 of 100 at most" in ages.words
    assert "The best guess" not in ages.words
    ages.enter("slider", "epsilon-slider", 2.0)
    assert "to about 88 of 100 at most" in ages.words


def test_both_sides_follow_epsilon_and_the_suspicion(subset):
    for epsilon, suspicion in ((1.0, 50), (1.0, 10), (2.5, 10)):
        subset.enter("slider", "epsilon-slider", epsilon)
        subset.enter("slider", "suspicion", suspicion)
        mechanism = library.create("subset_selection", n=25, epsilon=epsilon)
        counts = subset.session.design().counts
        told = beliefs.exposure(mechanism, counts / counts.sum())
        risk = titled(subset, "of 100")
        assert trace(risk, "strongest belief %{y:.3g} of 100<extra>any")["y"] == pytest.approx(
            [100 * beliefs.strongest(suspicion / 100, epsilon)]
        )
        single = 100 * beliefs.strongest(suspicion / 100, told.single)
        assert trace(risk, "one value against all others")["y"] == pytest.approx([single])
        assert trace(risk, "best guess %{y:.3g} of 100<extra>Subset")["y"] == pytest.approx([100 * told.guess])
        needed = analysis.sample_complexity(mechanism, workloads.prefix(25), subset.session.setting.alpha)
        users = titled(subset, "users needed")
        marked = [one for one in users["data"] if one["mode"] == "markers"]
        assert [(one["x"], one["y"]) for one in marked] == [([epsilon], [pytest.approx(needed)])]
        assert beliefs.out_of(beliefs.strongest(suspicion / 100, epsilon)) in subset.words
        assert beliefs.out_of(told.guess, 1000) in subset.words
    assert "at epsilon 2.5" in subset.words


def test_three_collections_are_shown_over_the_truth(subset):
    releases = titled(subset, "share of users")
    published = [one for one in releases["data"] if one["name"] == "published"]
    assert len(published) == privacy_accuracy.RELEASES == 3
    design = subset.session.design()
    truth = next(one for one in releases["data"] if one["name"] == "true")["y"]
    assert np.allclose(truth, 100 * np.cumsum(design.counts) / design.users)
    assert not np.allclose(published[0]["y"], published[1]["y"])


def test_several_reports_count_together(subset):
    subset.enter("number_input", "reports", 3)
    assert "In total epsilon 3 per person: 3 reports of 1 each." in subset.words
    assert "all their 3 reports to about 95 of 100 at most" in subset.words
    assert "reaches this for some pairs of values after 3 reports" in subset.words
    assert not [one for one in titled(subset, "of 100")["data"] if "all others" in one["hovertemplate"]]


def test_delta_is_said_with_what_it_allows(subset):
    subset.enter("selectbox", "mechanism", "gaussian")
    assert "but for delta: with probability 0.000001 the value itself may be given away" in subset.words
    assert "goes further in rare reports, up to practical certainty" in subset.words


def test_before_the_optimiser_has_run_it_is_about_all_mechanisms(ages):
    ages.session.change(optimizer=Optimizer(max_rounds=20))
    open_sides(ages.go("design"))
    assert "until then, this is about all mechanisms" in ages.words
    assert not [one for one in titled(ages, "users needed")["data"] if one["mode"] == "markers"]
    ages.press("optimise").finish()
    assert "until then, this is about all mechanisms" not in ages.words
    fitted = ages.session.mechanism("optimized")
    (mark,) = [one for one in titled(ages, "users needed")["data"] if one["mode"] == "markers"]
    assert mark["y"] == [pytest.approx(ages.session.setting.users_needed(fitted, "worst_case"))]


def test_more_types_are_worked_out_in_the_background(app):
    app.declare(high="100", bins=100, users=5000).ask("histogram")
    app.session.change(mechanism={"name": "hadamard"})
    open_sides(app.go("design"))
    app.finish()
    assert "by Hadamard" in app.words
    found = beliefs.exposure(library.create("hadamard", n=100, epsilon=1.0))
    assert beliefs.out_of(found.guess, beliefs.base_of(1 / 100)) in app.words


def test_questions_that_the_mechanism_cannot_answer_are_no_error(app):
    app.declare(bins=8).ask("prefix")
    app.session.change(mechanism={"name": "fourier", "parameters": {"max_weight": 1}})
    open_sides(app.go("design"))
    assert "about 73 of 100" in app.words


def test_it_is_folded_on_other_pages_as_it_was_left(subset):
    subset.go("plan")
    assert "reaches this for some pairs of values" in subset.words
    subset.enter("segmented_control", "solved", "epsilon")
    assert "reaches this for some pairs of values" not in subset.words


def test_opening_is_remembered(ages):
    ages.go("design")
    (fold,) = [one for one in ages.at.expander if one.label.startswith(FOLD)]
    assert not fold.proto.expanded
    open_sides(ages)
    (fold,) = [one for one in ages.at.expander if one.label.startswith(FOLD)]
    assert fold.proto.expanded
    ages.go("compare").go("design")
    assert "The best guess" in ages.words


def test_the_demonstration_shows_the_risk_beside_the_answers(app):
    assert "about 73 of 100 at most" in app.go("start").words
    app.enter("slider", "suspicion", 20).enter("slider", "demo-epsilon", 2.0)
    assert beliefs.out_of(beliefs.strongest(0.2, 2.0)) in app.words
    assert titled(app, "of 100")["data"]
