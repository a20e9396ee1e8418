"""Shares and averages within groups from page to page: chosen on Workload, told on Simulate and Collect in their own unit."""

import pytest

from ldp_core import wording
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.designs import Configuration, MechanismRecipe, Population, WorkloadRecipe
from ldp_core.workloads import HistogramPart

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


def answers(app):
    """The table of answers on Collect."""
    table, *_ = [table for table in app.dataframes if "Unit" in table]  # then the counts behind
    return table


def test_shares_and_numbers_of_people_compared_are_chosen(app):
    experiment(app, known=False).change_kind("share")
    (part,) = app.parts
    assert (part.kind, part.within, part.of.kind, part.of.attribute) == ("share", ("arm",), "prefix", "score")
    assert "**share score up to 1 in arm a**" in app.words
    app.enter("selectbox", "group-0-of", "histogram")
    assert (app.parts[0].of.kind, app.parts[0].within) == ("histogram", ("arm",))
    assert "**share score 1 in arm a**" in app.words
    app.control("multiselect", "group-0-within").set_value([]).run()
    assert "choose at least one attribute whose groups" in app.errors[0]
    app.change_kind("difference").enter("checkbox", "group-0-shares", False)
    assert (app.parts[0].shares, app.parts[0].first, app.parts[0].second, app.errors) == (False, "b", "a", [])


@pytest.mark.parametrize("known", [True, False], ids=["known", "secret"])
def test_they_are_told_on_every_page_in_their_unit(app, known):
    experiment(app, known).change_kind("mean").enter("multiselect", "group-0-by", ["arm"])
    app.add("share").go("design").finish()
    setting = app.session.setting
    told = setting.answered(setting.chosen_mechanism)
    assert told["name"].tolist()[:3] == [
        "average of score in arm a",
        "average of score in arm b",
        "share score up to 1 in arm a",
    ]
    assert told["unit"].tolist() == ["score"] * 2 + ["points of the group"] * 12
    assert told["value"].tolist()[:2] == pytest.approx([3.5, 3.5])
    needed = wording.needed(setting.users_needed(setting.chosen_mechanism, setting.case))
    assert app.metric("People needed") == needed
    assert f"{needed} people meet the target" in app.solve_for("people").words
    app.go("simulate").press("run").finish().open("outcome-tabs", "Errors")
    (table,) = [table for table in app.dataframes if "± predicted" in table]
    own = table[table["Estimate"] == "Unbiased"]
    observed = own["± observed"].str.split().str[0].astype(float).to_numpy()
    assert own["Unit"].tolist() == ["in score", "percentage points"]
    assert observed == pytest.approx(own["± predicted"].astype(float).to_numpy(), rel=0.2)
    app.go("collect").enter("segmented_control", "collect-from", "simulated").press("count").finish()
    found = answers(app)
    assert found["Question"].tolist() == told["name"].tolist()
    averages = found.loc[found["Unit"] == "in score", ["Low", "Answer", "High"]].astype(float)
    assert averages["Answer"].to_numpy() == pytest.approx([3.5, 3.5], abs=0.3)
    assert (averages.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)


def test_of_too_few_people_in_secret_groups_it_is_said_that_there_is_no_interval(app):
    experiment(app, known=False, users=20, epsilon="0.3").change_kind("share").go("collect")
    app.enter("segmented_control", "collect-from", "simulated").press("count").finish()
    found = answers(app)
    assert "none" in found["Low"].tolist()
    assert not found.loc[found["Low"] == "none", "Verdict"].str.contains("usable").any()
    assert "any share or average is possible" in app.words
    app.enter("radio", "collect-kind", "any_time").finish()
    assert "valid whenever one looks" in app.words
