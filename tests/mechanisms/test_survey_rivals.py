"""The survey mechanism used in practice: one random set of columns."""

import math

import numpy as np
import pytest
from small_surveys import BETWEEN_PAIRS, COUNTS, PAIRS, SIZES

from ldp_core import library, mechanisms, workloads
from ldp_core.mechanisms import Mechanism
from ldp_core.mechanisms.surveys.sampled import SampledSets
from ldp_core.mechanisms.surveys.sets import maximal_sets
from ldp_core.workloads import Group, Survey
from tests.declared import ADULT
from tests.refused import refused

NESTED, ORDERED = BETWEEN_PAIRS["nested"], BETWEEN_PAIRS["ordered"]


@pytest.mark.parametrize(
    "survey", [PAIRS, NESTED, ORDERED, workloads.survey(ADULT, 2)], ids=["pairs", "nested", "ordered", "adult"]
)
def test_no_other_shares_are_better_than_the_fitted_ones(survey):
    fitted = SampledSets(survey, 1.0, shares="fitted")
    least = fitted.variance_profile(survey).mean()
    assert fitted.shares.sum() == pytest.approx(1)
    rng = np.random.default_rng(0)
    tried = [
        np.ones(len(fitted.sets)),
        *(fitted.shares * rng.lognormal(0, s, len(fitted.sets)) for s in (0.01, 0.1, 1)),
    ]
    for shares in tried:
        other = SampledSets(survey, 1.0, shares=shares)
        assert least <= other.variance_profile(survey).mean() * (1 + 1e-7)


# Needed people relative to the bound in closed form, surveys.md: the best linear reconstruction from sets that are drawn evenly.
FACTORS = [
    (ADULT, 2, 1.0, "subset_selection", 1.443),
    (ADULT, 2, 1.0, "randomized_response", 17.65),
    (ADULT, 2, 4.0, "randomized_response", 1.82),
    (ADULT, 3, 1.0, "randomized_response", 198.6),
    ((5,) * 12, 2, 1.0, "subset_selection", 1.185),
    ((2,) * 10, 2, 1.0, "subset_selection", 1.323),
]


def times_the_bound(mechanism, survey):
    known = survey.components
    bound = known.constant + np.sum(known.dims * np.sqrt(known.gram)) ** 2 / math.sinh(mechanism.epsilon / 2) ** 2
    return (mechanism.variance_profile(survey)[0] + known.constant + np.sum(known.dims * known.gram)) / bound


@pytest.mark.parametrize(("sizes", "ways", "epsilon", "oracle", "factor"), FACTORS)
def test_people_needed_are_those_of_the_notes(sizes, ways, epsilon, oracle, factor):
    survey = workloads.survey(sizes, ways)
    assert times_the_bound(SampledSets(survey, epsilon, oracle), survey) == pytest.approx(factor, rel=1e-3)


def test_the_worst_type_of_ordered_questions_needs_no_full_vector():
    sizes = (*SIZES, *[8] * 10)
    groups = [*ORDERED.groups, Group((2, 3), workloads.product([workloads.prefix(4), workloads.histogram(8)]))]
    many, few = Survey(sizes, [*groups, Group((11,), workloads.prefix(8))]), Survey(sizes[:4], groups)
    alone = Survey(sizes, [Group((11,), workloads.prefix(8))])
    mechanism = SampledSets(many, 1.0)
    small = SampledSets(Survey((*sizes[:4], 8), [*groups, Group((4,), workloads.prefix(8))]), 1.0)
    expected = small.variance_profile(Survey((*sizes[:4], 8), [*groups, Group((4,), workloads.prefix(8))])).max()
    assert mechanism.variance_profile(many) == pytest.approx([expected])
    assert few.n < alone.n
    tied = Survey([2] * 30, [Group((i, i + 1), workloads.prefix(4)) for i in range(29)])
    refused("tie 30 attributes together", lambda: SampledSets(tied, 1.0, "oue").variance_profile(tied))


def test_maximal_sets_leave_out_what_others_hold():
    assert maximal_sets(workloads.survey([2, 3, 1, 4], [(0, 1), (0,), (1, 2, 3), (1, 3)])) == ((0, 1), (1, 3))


def test_what_does_not_fit_is_refused():
    mechanism = SampledSets(PAIRS, 1.0)
    refused("say nothing about how", lambda: mechanism.variance_profile(workloads.survey(SIZES, 3)))
    refused("attributes of sizes", lambda: mechanism.variance_profile(workloads.survey([2, 3, 5], 2)))
    refused("Unknown oracle 'ou'", SampledSets, PAIRS, 1.0, "ou")
    refused("Unknown shares 'evn'", SampledSets, PAIRS, 1.0, shares="evn")
    refused("positive share for each of the 3 sets", SampledSets, PAIRS, 1.0, shares=[0.5, 0.5])
    refused("from 0 to 2", mechanism.aggregate, np.array([[3, 0, 1, 2]]))
    other = SampledSets(PAIRS, 1.0, shares=[0.5, 0.3, 0.2])
    assert other.digest != mechanism.digest
    refused("another mechanism", lambda: other.estimate(mechanism.simulate(COUNTS, np.random.default_rng(0))))


# --- in the library --------------------------------------------------------------------------------------------------

OTHERS = [name for name in library.names() if not library.spec(name).surveys_only]


def test_they_are_for_surveys_only():
    spec = library.spec("sampled_sets")
    assert spec.unsuitable(PAIRS.n, 1.0, PAIRS) is None
    assert spec.unsuitable(8, 1.0) is None
    assert "for surveys" in spec.unsuitable(8, 1.0, workloads.prefix(8))
    refused("for surveys", lambda: mechanisms.create("sampled_sets", workload=workloads.prefix(8), epsilon=1.0))
    assert isinstance(mechanisms.create("sampled_sets", workload=PAIRS, epsilon=1.0), Mechanism)
    variant = mechanisms.create("sampled_sets(oracle=oue, shares=fitted)", workload=PAIRS, epsilon=1.0)
    assert variant.parameters == {"oracle": "oue", "shares": "fitted"}


@pytest.mark.parametrize("name", OTHERS)
def test_others_say_why_they_do_not_run_on_surveys_of_many_types(name):
    spec, survey = library.spec(name), workloads.survey(ADULT, 2)
    low, high = spec.epsilon_range
    epsilon = min(max(1.0, low), high)
    if not spec.any_size:
        assert spec.unsuitable(survey.n, epsilon, survey) == (
            "It needs numbers for each of the 1.45 × 10⁹ possible combinations of values, and at most 1,048,576 are held: use a mechanism "
            "for surveys."
        )
    why = spec.unsuitable(2, epsilon, workloads.histogram(2))
    assert why is None or "attributes" in why or "items" in why
