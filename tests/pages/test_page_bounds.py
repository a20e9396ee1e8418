"""The Bounds page: its numbers against the notes on the papers, what does not apply and why, and the tree it puts into a design."""

import math

import pytest

from ldp_core import wording
from ldp_core.bounds.theorems.statements import KINDS, STATEMENTS
from pages.ui.session.state import choose_mechanism
from tests.pages.conftest import plain


def choose(app, name, **parameters):
    app.session.change(mechanism=choose_mechanism(name, **parameters))
    app.at.run()
    return app.check()


def entry(app, title):
    """The entry of a statement, or nothing."""
    found = [box for box in app.at.expander if plain(box.label).startswith(f"**{title}**: ")]
    assert len(found) <= 1
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
    (box,) = [box for box in app.at.expander if box.label.startswith("Does not apply")]
    return " ".join(mark.value for mark in box.markdown).replace("\\", "")


@pytest.fixture
def histogram(app):
    """Five types, as in the notes' table: 20,000 users, epsilon 1, Hadamard response."""
    app.declare(bins=5, high="5", users=20_000).ask("histogram")
    return choose(app, "hadamard").go("bounds")


def test_the_survey_opens_with_bounds_and_says_that_nothing_is_fitted(ages):
    ages.go("bounds").finish()
    assert "has not been fitted to this design yet" in ages.words
    bound = ages.session.setting.closed_bounds("average")["svd"]
    assert wording.users(bound) in inside(ages, "SVD bound")
    assert "There is no exact error of a mechanism" in inside(ages, "SVD bound")
    proof = ages.session.setting.proof("worst_case").certificate
    assert proof.verify()
    assert number(ages, "Certificate") == wording.POINTS.in_words(math.sqrt(proof.variance / 25 / 3000)).replace(
        "\N{NO-BREAK SPACE}", " "
    )


@pytest.mark.promise
def test_every_statement_is_on_the_page_once_or_its_absence_is_explained(histogram):
    histogram.finish()
    absent = plain(not_applying(histogram))
    for statement in STATEMENTS.values():
        assert (entry(histogram, statement.title) is None) == (f"**{statement.title}** (" in absent), statement.name
    present = [statement for statement in STATEMENTS.values() if entry(histogram, statement.title)]
    assert {box.value.strip("$\n") for box in histogram.at.latex} >= {statement.latex for statement in present}
    for kind, words in KINDS.items():
        assert (words in histogram.words) == any(statement.kind == kind for statement in present)


def test_a_mechanism_with_a_delta_has_no_impossible_region(app):
    app.declare(bins=16, users=500).ask("prefix")
    choose(app, "gaussian").go("bounds").finish()
    assert "what is impossible for pure epsilon may be possible for it" in app.words
    assert not_applying(app).count("It is for pure epsilon, and this mechanism has a delta.") == 8
    assert not [shape for shape in app.charts[0]["layout"].get("shapes", []) if shape["type"] == "rect"]
    assert not app.has("button", "prove")


def test_a_large_domain_has_the_bounds_that_need_no_matrix(app):
    app.declare(high="65536", bins=65536, users=1_000_000).ask("prefix")
    choose(app, "hierarchical", branching=4, oracle="oue", reconstruction="consistent").go("bounds").finish()
    assert "take too long past 2,048 types" in app.words
    assert number(app, "SVD bound").startswith("±")
    assert number(app, "Centred SVD bound").startswith("±")
    assert "formed for at most 4,096 types" in not_applying(app)
    assert len(app.charts) == 1
