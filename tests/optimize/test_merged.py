"""Strategies for merged types mixed with one for all types: against the strategy written out, and other mixtures."""

import math

import numpy as np
import pytest

from ldp_core.optimize import design
from ldp_core.optimize.columns.generation import strategy_of
from ldp_core.optimize.columns.orbits import Shifts, first_orbits
from ldp_core.optimize.surveys.split_design import mixed
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.workloads import Custom
from ldp_core.workloads.quotient import alike

SHAPE, EPSILON = (5, 4), 1.2
ALIKE = np.repeat((np.random.default_rng(0).random((3, 10)) < 0.5).astype(float), 2, axis=1)
"""Three conditions that treat types two by two alike."""


def objective(strategy, gram):
    moments = (strategy / strategy.sum(axis=1, keepdims=True)).T @ strategy
    return np.trace(np.linalg.solve(moments, gram))


def parts(weight):
    gram = weight**2 * ALIKE.T @ ALIKE + np.eye(20)
    merged = alike(ALIKE)
    _, first, sizes = np.unique(merged, return_index=True, return_counts=True)
    asked = Custom(np.vstack([ALIKE[:, first], 1e-4 * np.eye(len(first))]))
    return gram, merged, design(asked, EPSILON, None, 20, prior=sizes / 20).strategy


def test_types_are_merged_that_all_questions_treat_alike():
    merged = alike(ALIKE)
    for u in range(20):
        for v in range(20):
            assert (merged[u] == merged[v]) == (ALIKE[:, u] == ALIKE[:, v]).all()
    assert set(merged) == set(range(merged.max() + 1))


@pytest.mark.parametrize("weight", [0.3, 3.0, 30.0])
def test_a_mixture_is_the_best_strategy_of_its_kind(weight):
    gram, merged, strategy = parts(weight)
    found = mixed(gram, SHAPE, EPSILON, merged, strategy)
    np.testing.assert_allclose(found.strategy.sum(axis=0), 1, atol=1e-12)
    assert (found.strategy.max(axis=1) / found.strategy.min(axis=1)).max() <= math.exp(EPSILON) * (1 + 1e-12)
    assert found.objective == pytest.approx(objective(found.strategy, gram), rel=1e-9)
    orbits = first_orbits(gram, fitted_exp_epsilon(EPSILON), Shifts(SHAPE))
    everything = strategy_of(*orbits.rows(), fitted_exp_epsilon(EPSILON))
    assert found.objective <= orbits.objective * (1 + 1e-4)  # the least part there is may be too much
    for part in (found.part * 0.8, found.part * 1.2, found.part * 0.98, found.part * 1.02):
        part = min(max(part, 1e-4), 0.999)
        other = np.vstack([part * strategy[:, merged], (1 - part) * everything])
        assert found.objective <= objective(other, gram) * (1 + 1e-6)


def test_much_is_gained_where_few_questions_weigh_much():
    gram, merged, strategy = parts(30.0)
    found = mixed(gram, SHAPE, EPSILON, merged, strategy)
    assert found.objective < first_orbits(gram, fitted_exp_epsilon(EPSILON), Shifts(SHAPE)).objective / 2
