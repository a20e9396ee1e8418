"""Shares and averages within groups from page to page: chosen on Workload, told on Simulate and Collect in their own unit."""

import numpy as np
import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.workloads import AVERAGES_COUNTED, SHARES_COUNTED, HistogramPart

SCORE = RangeAttribute(name="score", low=1, high=6, bins=6, integer=True, outside="clamp")


def experiment(app, known, users=9000, epsilon="3"):
    """Two arms with a score, known or secret, whose histogram is asked for."""
    arm = CategoricalAttribute(name="arm", values=("a", "b"), known=known)
    design = Configuration(
        domain=Domain(attributes=(arm, SCORE)),
        population=Population(users=users, origin="declared", shape="uniform"),
        workload=WorkloadRecipe(parts=(HistogramPart(attribute="score"),)),
        mechanism=MechanismRecipe(name="randomized_response"),
        epsilon=epsilon,
    )
    return app.load(design.model_dump(mode="json")).go("workload")


def tables(app, column="Unit"):
    """Tables of words, without the signs that keep them from being read as Markdown."""
    return [t.value.replace(r"\\", "", regex=True) for t in app.at.table if column in t.value]


def test_shares_averages_and_their_differences_are_chosen(app):
    experiment(app, known=False).change_kind("share")
    (part,) = app.parts
    assert (part.kind, part.within, part.of.kind, part.of.attribute) == ("share", ("arm",), "histogram", "score")
    assert SHARES_COUNTED in app.words
    assert "score 1 and arm a" in app.words
    app.enter("selectbox", "group-0-of", "prefix")
    assert (app.parts[0].of.kind, app.parts[0].within) == ("prefix", ("arm",))
    app.at.multiselect(key="group-0-within").set_value([]).run()
    assert "choose at least one attribute whose groups" in app.words
    app.change_kind("mean").enter("multiselect", "group-0-by", ["arm"])
    assert app.parts[0].by == ("arm",)
    assert AVERAGES_COUNTED in app.words
    assert "average of score (groups of equal size)" in app.words
    app.change_kind("difference")
    assert not app.parts[0].shares
    assert SHARES_COUNTED not in app.words
    app.enter("checkbox", "group-0-shares", True).enter("selectbox", "group-0-of", "mean")
    assert app.parts[0].shares
    assert app.parts[0].of.kind == "mean"
    assert "average" in app.parts[0].summary.lower()
    assert AVERAGES_COUNTED in app.words
    app.enter("checkbox", "group-0-shares", False)
    assert not app.parts[0].shares
    assert app.parts[0].of.kind == "histogram"
    assert not app.errors


@pytest.mark.parametrize("known", [True, False], ids=["known", "secret"])
def test_they_are_told_on_simulate_and_collect(app, known):
    experiment(app, known).change_kind("mean").enter("multiselect", "group-0-by", ["arm"])
    app.go("design")
    design = app.session.setting
    error = design.error(app.session.setting.mechanism(app.session.chosen))
    assert ((f"off by ± {5 * error:.3g} in score") in app.words) == known
    app.go("workload")
    app.add("share").go("simulate").press("run").finish().open("outcome-tabs", "Within groups")
    assert "of 14 intervals** of the first collection hold the truth" in app.words
    (table,) = tables(app)
    assert table["Question"].tolist()[:2] == ["average of score, arm a", "average of score, arm b"]
    assert table["Unit"].tolist() == ["score"] * 2 + ["%"] * 12
    assert table["True"].tolist()[:2] == ["3.5", "3.5"]
    observed, predicted = (table[f"± {name}"].astype(float).to_numpy() for name in ("observed", "predicted"))
    assert observed == pytest.approx(predicted, rel=0.9)
    assert np.mean(observed / predicted) == pytest.approx(1, abs=0.15)
    app.go("collect").enter("segmented_control", "collect-from", "simulated").press("count").finish()
    found = next(table for table in tables(app) if "average of score, arm a" in table["Question"].tolist())
    answers = found.loc[found["Unit"] == "score", ["Low", "Answer", "High"]].astype(float)
    assert answers["Answer"].to_numpy() == pytest.approx([3.5, 3.5], abs=0.3)
    assert (answers.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert ("the intervals are Fieller's" in app.words) != known


def test_of_too_few_people_in_secret_groups_it_is_said_that_there_is_no_interval(app):
    experiment(app, known=False, users=20, epsilon="0.3").change_kind("share").go("collect")
    app.enter("segmented_control", "collect-from", "simulated").press("count").finish()
    (found,) = tables(app)
    assert "none" in found["Low"].tolist()
    assert "any share or average is possible" in app.words
    app.enter("radio", "collect-kind", "any_time").finish()
    assert "valid whenever one looks" in app.words
