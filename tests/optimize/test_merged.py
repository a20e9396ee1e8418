"""Strategies for merged types mixed with one for all types: against the strategy written out, and other mixtures."""

import numpy as np
import pytest

from ldp_core.optimize import design
from ldp_core.optimize.columns.generation import strategy_of
from ldp_core.optimize.columns.orbits import Shifts, first_orbits
from ldp_core.optimize.surveys.split_design import mixed
from ldp_core.privacy import fitted_exp_epsilon
from ldp_core.workloads import Custom
from ldp_core.workloads.quotient import alike
from tests.optimize.checks import assert_valid, plain_objective

SHAPE, EPSILON = (5, 4), 1.2
ALIKE = np.repeat((np.random.default_rng(0).random((3, 10)) < 0.5).astype(float), 2, axis=1)
"""Three conditions that treat types two by two alike."""


def asked(gram):
    return Custom(np.linalg.cholesky(gram).T)


def parts(weight):
    gram = weight**2 * ALIKE.T @ ALIKE + np.eye(20)
    merged = alike(ALIKE)
    _, first, sizes = np.unique(merged, return_index=True, return_counts=True)
    few = Custom(np.vstack([ALIKE[:, first], 1e-4 * np.eye(len(first))]))
    return gram, merged, design(few, EPSILON, None, 20, prior=sizes / 20).strategy


@pytest.mark.parametrize("weight", [0.3, 3.0, 30.0])
def test_a_mixture_is_the_best_strategy_of_its_kind(weight):
    gram, merged, strategy = parts(weight)
    found = mixed(gram, SHAPE, EPSILON, merged, strategy)
    assert_valid(found.strategy, EPSILON)
    assert found.objective == pytest.approx(plain_objective(found.strategy, asked(gram)), rel=1e-9)
    orbits = first_orbits(gram, fitted_exp_epsilon(EPSILON), Shifts(SHAPE))
    everything = strategy_of(*orbits.rows(), fitted_exp_epsilon(EPSILON))
    assert found.objective <= orbits.objective * (1 + 1e-4)  # the least part there is may be too much
    for part in (found.part * 0.8, found.part * 1.2, found.part * 0.98, found.part * 1.02):
        part = min(max(part, 1e-4), 0.999)
        other = np.vstack([part * strategy[:, merged], (1 - part) * everything])
        assert found.objective <= plain_objective(other, asked(gram)) * (1 + 1e-6)


def test_much_is_gained_where_few_questions_weigh_much():
    gram, merged, strategy = parts(30.0)
    found = mixed(gram, SHAPE, EPSILON, merged, strategy)
    assert found.objective < first_orbits(gram, fitted_exp_epsilon(EPSILON), Shifts(SHAPE)).objective / 2
