"""Sets of records that proofs start from: they exist, and strategies of the optimiser are not better than mixtures of them."""

from itertools import product

import numpy as np
import pytest

from ldp_core import optimize, workloads
from ldp_core.bounds.surveys.certificate import closed_form
from ldp_core.bounds.triples import examples
from ldp_core.bounds.triples.certificate import components, improved
from ldp_core.bounds.triples.search import Columns, TriplesSearch
from ldp_core.workloads import walsh_hadamard


def test_all_of_them_are_sets_of_four_bits():
    sets = np.array(list(product((0, 1), repeat=16)))
    levels = np.bitwise_count(np.arange(16))
    squares = walsh_hadamard(sets) ** 2
    exist = {tuple(row) for row in np.stack([squares[:, levels == k].sum(axis=1) for k in range(5)], axis=1).tolist()}
    found = examples.fourier_weights(4) * 256
    assert {tuple(row) for row in found.tolist()} <= exist
    for known in ((64, 64, 0, 0, 0), (16, 32, 16, 0, 0), (1, 4, 6, 4, 1), (25, 36, 6, 4, 9), (16, 0, 32, 0, 16)):
        assert known in {tuple(row) for row in found.tolist()}, known


@pytest.mark.parametrize("bits", [5, 9, 16])
def test_fourier_weights_sum_to_the_share(bits):
    found = examples.fourier_weights(bits)
    assert found.sum(axis=1) == pytest.approx(np.sqrt(found[:, 0]))
    assert (found >= 0).all()


LONG = [
    pytest.param(*case, marks=pytest.mark.slow)
    for case in ((10, 2, 2.0), (10, 2, 3.0), (12, 3, 3.0), (16, 3, 3.0), (16, 3, 4.0))
]


@pytest.mark.parametrize(("bits", "ways", "epsilon"), [(10, 2, 4.0), *LONG])
def test_they_allow_no_more_than_the_best_strategy_has(bits, ways, epsilon):
    survey = workloads.survey([2] * bits, ways)
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=60, seed=0)
    limit = limit_of(survey, epsilon)
    assert limit == pytest.approx(best.objective, rel=1e-3)


def limit_of(survey, epsilon):
    """An upper bound on proofs of this kind for a survey, from existing sets alone."""
    c, D = components(survey), np.expm1(epsilon)
    W = examples.fourier_weights(c.bits)
    columns = Columns(c.worth, W[:, 1:] * (D / (1 + D * np.sqrt(W[:, :1]))) ** 2)
    return survey.n * (c.constant + columns.limit)


def test_nothing_is_solved_where_they_tell_that_nothing_is_to_be_gained():
    worth = np.array([1.0, 2.0, 1.0, 0, 0])
    assert list(TriplesSearch(5, 2.0, worth).rounds(beyond=1e9)) == []


def test_proofs_stay_below_what_sets_that_exist_allow():
    survey = workloads.survey([2] * 6, 3)
    found = [proof.value for proof in improved(closed_form(survey, 3.0))]
    assert found == sorted(found)
    assert found[-1] <= limit_of(survey, 3.0)
