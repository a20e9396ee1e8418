"""What is solved for, against closed forms: randomized response on two values."""

import math

import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.designs import Configuration, Population, Results, Setting, WorkloadRecipe, solving
from ldp_core.run import Interrupted
from ldp_core.workloads import HistogramPart


def setting(users=2000, target=3.0, epsilon="1", name="randomized_response"):
    """The shares of two values, of people spread evenly."""
    yes_no = CategoricalAttribute(name="ill", values=("no", "yes"), origin="declared")
    configuration = Configuration(
        domain=Domain(attributes=(yes_no,)),
        workload=WorkloadRecipe(parts=(HistogramPart(attribute="ill"),)),
        population=Population(users=users, origin="declared", shape="uniform"),
        mechanism={"name": name},
        targets={"points": target},
        epsilon=epsilon,
    )
    return Setting.of(configuration, None, Results())


def variance(epsilon):
    """Of a share, a person: E / (E - 1)^2."""
    return math.exp(epsilon) / math.expm1(epsilon) ** 2


@pytest.mark.parametrize("name", ["randomized_response", "optimized"])
def test_people_target_and_epsilon_agree_with_the_closed_form(name):
    design = setting(name=name)
    mechanism = design.build(name)
    assert solving.people(design, mechanism) == pytest.approx(variance(1.0) / 0.03**2, rel=1e-6)
    assert solving.people(design, mechanism, 0) == pytest.approx(variance(1.0) / 0.03**2, rel=1e-6)
    assert solving.target(design, mechanism, 0) == pytest.approx(100 * math.sqrt(variance(1.0) / 2000), rel=1e-6)
    found = float(solving.epsilon(design, name))
    assert variance(found) / 0.03**2 <= 2000 < variance(found - 0.02) / 0.03**2


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "19"])
def test_wherever_it_begins_the_least_epsilon_is_the_same(epsilon):
    assert float(solving.epsilon(setting(epsilon=epsilon), "randomized_response")) == pytest.approx(
        float(solving.epsilon(setting(), "randomized_response")), rel=0.01
    )


def test_what_cannot_be_reached_is_a_sentence_and_what_is_cancelled_stops():
    with pytest.raises(ValueError, match="Even at epsilon 20 it needs"):
        solving.epsilon(setting(users=1, target=1e-4), "randomized_response")
    with pytest.raises(Interrupted):
        solving.epsilon(setting(), "randomized_response", cancel=lambda: True)
