"""Designs of a kilobyte that ask for minutes of computing: priced before anything is made, and asked for."""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, Population, WorkloadRecipe, inputs
from ldp_core.workloads import (
    ON_TYPES,
    KWayMarginalsPart,
    MarginalsPart,
    MatrixPart,
    Predicate,
    PredicatesPart,
    TypesPart,
)

PAGES = ["workload", "design", "compare", "bounds", "simulate", "export"]


def bits(many):
    names = [f"b{i}" for i in range(many)]
    return Domain(attributes=[CategoricalAttribute(name=name, values=("0", "1"), origin="declared") for name in names])


def design_of(many, *parts):
    people = Population(users=10_000, origin="declared", shape="uniform")
    made = Configuration(domain=bits(many), workload=WorkloadRecipe(parts=parts), population=people)
    return made.model_dump(mode="json")


def conditions(many, count):
    """Conditions that tie all attributes together: a table of all types each."""
    texts = (" or ".join(f"b{i} = {j >> i & 1}" for i in range(many)) for j in range(count))
    return PredicatesPart(predicates=tuple(Predicate(expression=text) for text in texts))


@pytest.fixture
def never_built(monkeypatch):
    """Whatever builds a workload fails the test."""

    def build(*anything):
        raise AssertionError("the questions were worked out")

    monkeypatch.setattr(WorkloadRecipe, "build", build)
    monkeypatch.setattr(workloads.PredicatesPart, "build", build)


def test_a_file_of_a_kilobyte_builds_nothing_on_any_page(app, never_built):
    at = app.load(design_of(20, conditions(20, 300))).at
    assert any("to work out" in info.value for info in at.info)
    for page in PAGES:
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception
        assert at.button(key="questions").label == "Work them out"
    at.switch_page("pages/data.py").run()
    assert not at.exception


def test_what_no_server_should_work_out_is_refused_unbuilt(app, never_built):
    at = app.load(design_of(20, conditions(20, 1200))).at
    for page in PAGES:
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception
        assert any("too many for this server" in told.value for told in [*at.info, *at.warning])


def test_once_asked_for_they_are_worked_out_beside_the_page(app, monkeypatch):
    monkeypatch.setattr(inputs, "QUICK_SECONDS", 0.0)
    app.load(design_of(3, KWayMarginalsPart(k=2)))
    assert not app.session.setting.has_questions
    app.go("workload").press("questions").finish()
    assert app.workload.num_queries == 12
    assert not app.has("button", "questions")


def test_a_price_grows_with_types_and_questions_and_needs_no_fit():
    part = conditions(8, 5)
    small, large = (workloads.price([part], bits(many)) for many in (8, 12))
    assert 0 < small.seconds < large.seconds
    assert workloads.price([part, conditions(8, 6)], bits(8)).seconds > small.seconds
    assert workloads.price([part.model_copy(update={"weight": 2.0})], bits(8)) == small
    assert workloads.price([MarginalsPart(groups=[("nobody",)])], bits(8)).seconds > 0


def test_every_kind_of_question_has_a_price():
    for part in [*(TypesPart(family=family) for family in ON_TYPES), MatrixPart.of(np.eye(8))]:
        assert workloads.price([part, part], bits(3)) == workloads.price([part], bits(3))
        assert workloads.price([part], bits(3)).seconds > 0
