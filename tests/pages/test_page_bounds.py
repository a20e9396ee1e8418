"""The Bounds page: its numbers against the notes on the papers, what does not apply and why, and the tree it puts into a design."""

import math

import pytest

from ldp_core import mechanisms, wording, workloads
from ldp_core.bounds.theorems.statements import KINDS, STATEMENTS
from pages.ui.bounds.subject import GROUPS
from pages.ui.session.state import choose_mechanism


def choose(app, name, **parameters):
    app.session.change(mechanism=choose_mechanism(name, **parameters))
    app.at.run()
    return app.check()


def turn(app, kind):
    """To the tab of a kind, unless it is open."""
    title, now = GROUPS[kind], app.at.session_state
    return app if "bounds-tabs" in now and now["bounds-tabs"] == title else app.open("bounds-tabs", title)


def entry(app, title):
    """The entry of a statement in the tab of its kind, or nothing."""
    (kind,) = {statement.kind for statement in STATEMENTS.values() if statement.title == title}
    turn(app, kind)
    found = [box for box in app.at.expander if box.label.startswith(f"**{title}**: ")]
    return found[0] if found else None


def number(app, title):
    return entry(app, title).label.split("**: ")[1].replace("\N{NO-BREAK SPACE}", " ").replace("\\", "")


def inside(app, title):
    box = entry(app, title)
    return (
        " ".join(part.value for part in (*box.markdown, *box.caption))
        .replace("\N{NO-BREAK SPACE}", " ")
        .replace("\\.", ".")
    )


def not_applying(app):
    found = []
    for kind in KINDS:
        boxes = [box for box in turn(app, kind).at.expander if box.label.startswith("Does not apply")]
        found += [mark.value for box in boxes for mark in box.markdown]
    return " ".join(found).replace("\\", "")


@pytest.fixture
def histogram(app):
    """Five types, as in the notes' table: 20,000 users, epsilon 1, Hadamard response."""
    app.declare(bins=5, high="5", users=20_000).ask("histogram")
    return choose(app, "hadamard").go("bounds")


def test_the_survey_opens_with_bounds_and_says_that_nothing_is_fitted(ages):
    ages.go("bounds").finish()
    assert "has not been fitted to this design yet" in ages.words
    assert [tab.label for tab in ages.at.tabs] == ["Impossible", "As users grow", "Predictions", "Few users"]
    bound = ages.session.setting.closed_bounds("average")["svd"]
    assert wording.users(bound) in inside(ages, "SVD bound")
    assert "There is no exact error of a mechanism" in inside(ages, "SVD bound")
    proof = ages.session.setting.proof("worst_case").certificate
    assert proof.verify()
    assert number(ages, "Certificate") == wording.error(math.sqrt(proof.variance / 25 / 3000)).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_bounds_speak_about_the_case_that_the_design_is_for(app):
    app.sample("commutes.csv")
    choose(app, "hierarchical").go("bounds").finish()
    session = app.session
    mechanism, bound = session.setting.mechanism("hierarchical"), max(session.setting.bounds("worst_case").values())
    worst, even = (session.setting.users_needed(mechanism, case) for case in ("worst_case", "average"))
    assert worst > 1.02 * even
    app.enter("segmented_control", "bounds-quantity", "users_needed")
    assert f"**Hierarchical**: {wording.users(worst)}, exactly" in app.words
    assert f"less than {wording.at_least(bound)} (" in app.words
    error = wording.error(session.setting.error(mechanism, "average")).replace("\N{NO-BREAK SPACE}", " ")
    assert f"over people spread evenly over the types, for whom Hierarchical has {error}." in app.words
    choose(app, "optimized")
    session.change(optimizer=session.configuration.optimizer.model_copy(update={"aim": "average"}))
    app.at.run()
    assert "over people spread evenly over the types" not in app.words


def test_every_statement_is_on_the_page_once_or_its_absence_is_explained(histogram):
    histogram.finish()
    absent = not_applying(histogram)
    for statement in STATEMENTS.values():
        assert (entry(histogram, statement.title) is None) == (f"**{statement.title}** (" in absent), statement.name
    for kind, words in KINDS.items():
        own = [statement for statement in STATEMENTS.values() if statement.kind == kind]
        present = {statement.latex for statement in own if entry(histogram, statement.title)}
        assert {box.value.strip("$\n") for box in turn(histogram, kind).at.latex} >= present
        assert words in histogram.words


def test_a_mechanism_with_a_delta_has_no_impossible_region(app):
    app.declare(bins=16, users=500).ask("prefix")
    choose(app, "gaussian").go("bounds").finish()
    assert "what is impossible for pure epsilon may be possible for it" in app.words
    assert not_applying(app).count("It is for pure epsilon, and this mechanism has a delta.") == 8
    assert not [shape for shape in app.charts[0]["layout"].get("shapes", []) if shape["type"] == "rect"]
    assert not app.has("button", "prove")
    turn(app, "few_users")
    table = next(frame for frame in app.dataframes if "Switch at" in frame)
    assert table["Algorithm"].tolist() == ["Gaussian noise (2), your noise", "Rejection sampling (4)"]
    noise = mechanisms.create("gaussian", n=16, epsilon=1.0, workload=workloads.prefix(16)).noise.variance
    below = 16**2 * noise / (16 * 16 * math.log(16))
    assert table["Switch at"][0] == wording.users(below)
    assert table["Here"][0] == f"500 users: {'project' if below > 500 else 'do not'}"


def test_a_large_domain_has_the_bounds_that_need_no_matrix(app):
    app.declare(high="65536", bins=65536, users=1_000_000).ask("prefix")
    choose(app, "hierarchical", branching=4, oracle="oue", reconstruction="consistent").go("bounds").finish()
    assert "take too long past 2,048 types" in app.words
    assert number(app, "SVD bound").startswith("±")
    assert number(app, "Centred SVD bound").startswith("±")
    assert "formed for at most 4,096 types" in not_applying(app)
    assert len(turn(app, "impossible").charts) == 1  # no picture of 65,536 singular values goes to the browser
