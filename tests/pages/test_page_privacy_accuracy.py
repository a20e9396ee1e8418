"""Wherever epsilon is chosen: what a report lets somebody believe."""

import pytest

from ldp_core import beliefs, library


def titled(app, text):
    """The figure with this title on its y axis."""
    return next(figure for figure in app.charts if text in figure["layout"]["yaxis"].get("title", {}).get("text", ""))


def trace(figure, words):
    return next(one for one in figure["data"] if words in one.get("hovertemplate", ""))


@pytest.fixture
def subset(ages):
    ages.session.change(mechanism={"name": "subset_selection"})
    return ages.go("design").open("design-tabs", "What a report tells").finish()


def test_beliefs_follow_epsilon_and_the_suspicion(subset):
    for epsilon, suspicion in ((1.0, 50), (1.0, 10), (2.5, 10)):
        subset.enter("slider", "epsilon-slider", epsilon)
        subset.enter("slider", "suspicion", suspicion)
        mechanism = library.create("subset_selection", n=25, epsilon=epsilon)
        counts = subset.session.setting.counts
        told = beliefs.exposure(mechanism, counts / counts.sum())
        risk = titled(subset, "chance (%)")
        assert trace(risk, "strongest belief %{y:.3g} of 100<extra>any")["y"] == pytest.approx(
            [100 * beliefs.strongest(suspicion / 100, epsilon)]
        )
        single = 100 * beliefs.strongest(suspicion / 100, told.single)
        assert trace(risk, "one value against all others")["y"] == pytest.approx([single])
        assert trace(risk, "best guess %{y:.3g} of 100<extra>Subset")["y"] == pytest.approx([100 * told.guess])
        percent = beliefs.at_most(beliefs.strongest(suspicion / 100, epsilon))
        assert percent in subset.words.replace(" %", "\N{NO-BREAK SPACE}%")
        assert beliefs.out_of(told.guess, 1000) in subset.words
    assert "at epsilon 2.5" in subset.words
