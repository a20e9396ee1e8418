"""Designs for lists of at most m of k items: blocks against eigenvalues written out, the optimum of few types, and PrivSet's published errors."""

import itertools
import math

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.data.domain import ChoiceAttribute
from ldp_core.mechanisms import privset
from ldp_core.optimize.lists import design_lists
from ldp_core.optimize.strategy import of_strategy, type_variances
from ldp_core.workloads import ItemsPart, NumberOfItemsPart, PairsOfItemsPart, over_attributes
from ldp_core.workloads.lists import Lists, lists_of


def asked(items, most, *parts):
    attribute = ChoiceAttribute(name="it", items=[f"item {i}" for i in range(items)], most=most)
    return over_attributes([part(attribute="it") for part in parts or (ItemsPart,)], [attribute])


@pytest.mark.parametrize("parts", [(ItemsPart,), (PairsOfItemsPart, NumberOfItemsPart), (ItemsPart, PairsOfItemsPart)])
@pytest.mark.parametrize(("items", "most"), [(4, 2), (4, 3), (5, 4), (6, 2), (5, 5)])
def test_the_eigenvalues_of_all_blocks_are_those_of_the_gram_matrix(items, most, parts):
    workload = asked(items, most, *parts)
    lists = lists_of(workload)
    assert lists == Lists(items, most)
    G = workload.gram_dense()
    found = []
    for block in range(min(most, items // 2) + 1):
        values = np.linalg.eigvalsh(lists.block(G, block))
        found += np.repeat(values, lists.copies(block)).tolist()
    np.testing.assert_allclose(sorted(found), np.linalg.eigvalsh(G), atol=1e-8 * G.max())


@pytest.mark.parametrize(
    "workload", [workloads.prefix(11), workloads.all_range(22), workloads.width_range(37, 3)], ids=str
)
def test_other_types_are_no_lists(workload):
    assert lists_of(workload) is None
    uneven = workloads.custom(np.arange(1.0, 6)[:, None] * Lists(5, 2).members.T)
    assert lists_of(uneven) is None


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0])
def test_few_types_come_to_the_optimum_over_all_rows(epsilon):
    workload = asked(3, 2)
    best = optimize.exact(workload, epsilon=epsilon)
    found = optimize.design(workload, epsilon=epsilon, time_limit=None, max_rounds=60)
    assert best.objective * (1 - 1e-6) <= found.objective <= best.objective * 1.0001


@pytest.mark.parametrize("parts", [(ItemsPart,), (ItemsPart, PairsOfItemsPart, NumberOfItemsPart)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_what_is_told_is_what_the_strategy_written_out_has(epsilon, parts):
    workload = asked(6, 3, *parts)
    found, _ = design_lists(workload, Lists(6, 3), epsilon, optimize.SearchLimits(time_limit=None, max_rounds=30))
    Q = found.strategy
    np.testing.assert_allclose(Q.sum(axis=0), 1.0, atol=1e-12)
    assert (Q.max(axis=1) / Q.min(axis=1)).max() <= math.exp(epsilon) * (1 + 1e-12)
    assert of_strategy(Q, workload, None) == pytest.approx(found.objective, rel=1e-4)
    worst, _ = design_lists(
        workload, Lists(6, 3), epsilon, optimize.SearchLimits(time_limit=None, max_rounds=200), True
    )
    noise = type_variances(worst.strategy, workload, worst.prior).max()
    assert (worst.objective - workload.trace) / workload.n == pytest.approx(noise, rel=1e-4)
    assert noise <= type_variances(Q, workload).max() * 1.001


@pytest.mark.parametrize(("items", "most", "size"), [(4, 2, 1), (5, 3, 2), (6, 2, 3)])
def test_the_published_errors_of_privset_are_those_of_its_reports(items, most, size):
    """By the sets of items and dummies themselves, with the dummies a list takes drawn at random, and the published estimator."""
    epsilon, lists = 0.7, Lists(items, most)
    sets = [set(chosen) for chosen in itertools.combinations(range(items + most), size)]
    noise = []
    for own in lists.members.astype(bool):
        length = int(own.sum())
        chances = np.zeros(len(sets))
        fillings = list(itertools.combinations(range(items, items + most), most - length))
        for filling in fillings:
            mine = {*np.flatnonzero(own).tolist(), *filling}
            weights = np.array([math.exp(epsilon) if mine & other else 1.0 for other in sets])
            chances += weights / weights.sum() / len(fillings)
        shown = np.array([[float(item in other) for item in range(items)] for other in sets])
        means = chances @ shown
        noise.append((means * (1 - means)).sum())
        if length:
            p = means[np.flatnonzero(own)[0]]
        if length < items:
            q = means[np.flatnonzero(~own)[0]]
    every = privset.variances(lists, epsilon, size)
    np.testing.assert_allclose(np.array(noise) / (p - q) ** 2, every[lists.sizes])
    mechanism = privset.build(asked(items, most), epsilon, size)
    assert mechanism.audit().epsilon <= epsilon
    profile = mechanism.variance_profile(asked(items, most))
    assert profile.mean() <= every[lists.sizes].mean() * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize(("items", "most"), [(8, 2), (10, 4), (12, 2), (20, 3)])
def test_designs_are_never_above_privset_at_other_sizes(items, most, epsilon):
    never_above_privset(items, most, epsilon)


@pytest.mark.promise
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_designs_are_never_above_privset_on_average_and_in_the_worst_case(epsilon):
    never_above_privset(12, 3, epsilon)


def never_above_privset(items, most, epsilon):
    workload, lists = asked(items, most), Lists(items, most)
    published = privset.variances(lists, epsilon, privset.best_size(lists, epsilon))
    limits = optimize.SearchLimits(time_limit=None, max_rounds=200)
    average, _ = design_lists(workload, lists, epsilon, limits)
    worst, _ = design_lists(workload, lists, epsilon, limits, worst_case=True)
    noise = [(found.objective - workload.trace) / workload.n for found in (average, worst)]
    assert noise[0] < (lists.counts @ published) / workload.n
    assert noise[1] < published.max()


@pytest.mark.parametrize(("items", "most", "most_above"), [(8, 2, 0.005), (12, 2, 0.01)])
@pytest.mark.parametrize("epsilon", [2.0, 3.0])
def test_designs_come_near_the_proved_least(items, most, most_above, epsilon):
    workload = asked(items, most)
    found, _ = design_lists(
        workload, Lists(items, most), epsilon, optimize.SearchLimits(time_limit=None, max_rounds=60)
    )
    proof = bounds.certificate(workload, epsilon=epsilon, time_limit=None)
    assert proof.verify()
    assert found.objective - workload.trace <= (1 + most_above) * (proof.value - workload.trace)


def test_items_that_are_too_many_for_whole_orbits_are_drawn(monkeypatch):
    """With room for 500 rows, of orbits of 1,091: drawn rows are weighted, and stay within e^epsilon."""
    monkeypatch.setattr("ldp_core.optimize.lists.MOST_STRATEGY_ENTRIES", 79 * 500)
    monkeypatch.setattr("ldp_core.optimize.lists.FEW_TYPES", 0)
    workload = asked(12, 2)
    found = optimize.design(workload, epsilon=0.2, time_limit=None, max_rounds=40)
    Q = found.strategy
    assert len(Q) <= 500
    assert (Q.max(axis=1) / Q.min(axis=1)).max() <= math.exp(0.2) * (1 + 1e-9)
    assert of_strategy(Q, workload, None) == pytest.approx(found.objective, rel=1e-6)
    assert above_privset(workload, found, Lists(12, 2), 0.2) <= 1.05
    limits = optimize.SearchLimits(time_limit=None, max_rounds=40)
    worst, _ = design_lists(workload, Lists(12, 2), 0.2, limits, worst_case=True)
    assert len(worst.strategy) <= 500
    noise = type_variances(worst.strategy, workload, worst.prior).max()
    assert (worst.objective - workload.trace) / workload.n == pytest.approx(noise, rel=1e-6)
    assert noise < type_variances(Q, workload).max()


@pytest.mark.slow
def test_drawn_items_are_never_above_privset_either():
    never_above_privset(30, 2, 0.5)


def above_privset(workload, found, lists, epsilon):
    """The noise of a design, of PrivSet's."""
    published = privset.variances(lists, epsilon, privset.best_size(lists, epsilon))
    return (found.objective - workload.trace) / (lists.counts @ published)
