"""PrivSet in the library: what it is for, its guarantee from its own probabilities, and its answers."""

import math

import numpy as np
import pytest

from ldp_core import library, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, ChoiceAttribute
from ldp_core.workloads import HistogramPart, ItemsPart, PairsOfItemsPart, over_attributes
from tests.refused import refused

WAY = ChoiceAttribute(name="way", items=("bus", "car", "walk", "bike", "train"), most=2)
ARM = CategoricalAttribute(name="arm", values=("old", "new"), known=True)
ITEMS = over_attributes([ItemsPart(attribute="way")], [WAY])
PAIRS = over_attributes([PairsOfItemsPart(attribute="way")], [WAY])


@pytest.mark.parametrize("size", [None, 1, 3, 5])
@pytest.mark.parametrize("epsilon", [0.01, 0.7, 3.0, 12.0])
def test_its_probabilities_keep_epsilon(epsilon, size):
    made = mechanisms.create("privset", workload=ITEMS, epsilon=epsilon, size=size)
    Q = made.strategy
    np.testing.assert_allclose(Q.sum(axis=0), 1.0, atol=1e-12)
    largest = (Q.max(axis=1) / Q.min(axis=1)).max()
    assert math.log(largest) <= made.audit().epsilon * (1 + 1e-12) <= epsilon * (1 + 1e-12)
    assert largest == pytest.approx(math.exp(epsilon), rel=1e-9)


def test_its_answers_are_those_of_the_people():
    made = library.create("privset", workload=ITEMS, epsilon=2.0)
    counts = np.random.default_rng(0).integers(0, 4_000, WAY.size)
    answers = made.estimate(made.simulate(counts, np.random.default_rng(1))).answers(ITEMS)
    spread = np.sqrt(made.query_variances(ITEMS, counts))
    assert (np.abs(answers - ITEMS.answers(counts)) <= 5 * spread).all()


@pytest.mark.parametrize(("size", "answers"), [(1, False), (2, True)])
def test_pairs_are_answered_where_reports_name_more_than_one(size, answers):
    made = mechanisms.create("privset", workload=PAIRS, epsilon=2.0, size=size)
    assert (made.supports(PAIRS) is None) == answers
    if answers:
        profile = made.variance_profile(PAIRS)
        assert profile.min() > 0


def test_each_group_has_one_of_its_own():
    groups = over_attributes([ItemsPart(attribute="way")], [WAY, ARM])
    made = mechanisms.create("privset", workload=groups, epsilon=1.0)
    assert made.supports(groups) is None
    profile = mechanisms.create("privset", workload=ITEMS, epsilon=1.0).variance_profile(ITEMS)
    assert sum(made.variance_profile(groups)) == pytest.approx(2 * profile.sum(), rel=1e-9)


@pytest.mark.parametrize(
    "other",
    [
        workloads.prefix(8),
        workloads.histogram(7),  # as many types as lists of at most two of three items
        over_attributes([HistogramPart(attribute="way")], [WAY]),
        over_attributes([ItemsPart(attribute="way")], [WAY.model_copy(update={"missing": "category"})]),
    ],
    ids=repr,
)
def test_it_is_refused_for_other_questions_in_a_sentence(other):
    said = library.spec("privset").unsuitable(other.n, 1.0, other)
    assert said == "It is for answers that are up to m of k items, and questions that treat the items alike."
    refused("questions that treat the items alike", mechanisms.create, "privset", workload=other, epsilon=1.0)
    assert library.compared(library.USUAL, 1.0, other) == library.USUAL


def test_it_is_compared_where_people_choose_several_items():
    assert "privset" in library.compared(library.USUAL, 1.0, ITEMS)
    for size in (0, 6):
        refused("size|Size", mechanisms.create, "privset", workload=ITEMS, epsilon=1.0, size=size)
