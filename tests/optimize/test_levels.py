"""Designs by the full symmetry of binary attributes: juntas, level Fourier weights, and what they reach."""

import itertools

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize.symmetric.juntas import junta_fourier_weights, junta_row, moved, tables
from ldp_core.optimize.symmetric.levels import NEGLIGIBLE, LevelSearch, images
from ldp_core.workloads import walsh_hadamard

LOW_DEGREE = [workloads.k_way_marginals(6, 3), workloads.parity(6, 3), workloads.k_way_marginals(6, 2)]


def test_tables_are_all_functions_of_four_bits_once():
    # 402 classes under permuting and flipping the inputs (OEIS A000616), less the two constants.
    assert len(tables()) == 400
    assert tables().sum(axis=1).min() == 1
    assert tables().sum(axis=1).max() == 15


@pytest.mark.parametrize("d", [2, 5, 9])
def test_fourier_weights_of_juntas_are_those_of_their_rows(d):
    which, blocks, fourier_weights, squares, _ = junta_fourier_weights(d)
    weights = np.bitwise_count(np.arange(2**d))
    for i in np.random.default_rng(0).choice(len(which), 40):
        row = junta_row(tables()[which[i]], blocks[i], d)
        spectrum = (walsh_hadamard(row) / 2**d) ** 2
        assert np.bincount(weights, spectrum, d + 1) == pytest.approx(fourier_weights[i])
        assert np.bincount(weights, spectrum**2, d + 1) == pytest.approx(squares[i])


def test_juntas_have_at_most_as_many_images_as_told():
    d, most = 5, 10
    which, blocks, _, _, images = junta_fourier_weights(d)
    few = images <= most
    assert 0 < few.sum() < len(few)
    maps = moved(np.array(list(itertools.permutations(range(d)))))
    for table, block, told in zip(tables()[which[few]], blocks[few], images[few], strict=True):
        power = np.rint(walsh_hadamard(junta_row(table, block, d)) ** 2)
        assert len(np.unique(power[maps], axis=0)) <= told


def test_rows_that_many_images_are_drawn_of_lose_what_their_spread_says():
    """L of one row with images drawn: its mean over many draws against Fourier weights less the variance of each, by characters one by one."""
    d, most, rng = 6, 40, np.random.default_rng(0)
    workload = workloads.all_marginals(d)
    search = LevelSearch(workload, 1.0, rng, most)
    row = rng.random((1, 2**d)) < 0.27
    (profile,), (spread,) = search._profiles_of(row)
    levels = np.bitwise_count(np.arange(2**d))
    power = walsh_hadamard(np.where(row[0], np.e, 1.0)) ** 2
    power /= power[0]
    for weight in range(1, d + 1):
        assert profile[weight] == pytest.approx(power[levels == weight].mean(), rel=1e-6)
        assert spread[weight] == pytest.approx(power[levels == weight].var(), rel=1e-6, abs=1e-15)
    gamma = walsh_hadamard(workload.gram_column)
    drawn = []
    for _ in range(400):
        m = np.mean([power[moved(rng.permutation(d))] for _ in range(most)], axis=0)
        drawn.append(gamma @ (1 / m))
    search._m, search._most_images = profile, most  # the search does not examine it for few types
    usable = search._usable(profile[None], spread[None])[0]
    expected, without = gamma @ (1 / usable[levels]), gamma @ (1 / profile[levels])
    assert without < np.mean(drawn)
    assert np.mean(drawn) - without == pytest.approx(expected - without, rel=0.15)


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, pytest.param(1.0, marks=pytest.mark.slow), 2.0])
@pytest.mark.parametrize("workload", [*LOW_DEGREE[:2], workloads.all_marginals(6), workloads.parity(6)], ids=repr)
def test_reaches_the_bound_in_a_few_rounds(workload, epsilon):
    search = LevelSearch(workload, epsilon, np.random.default_rng(0))
    for _ in range(15):
        before = search.best.objective
        search.round()
        assert search.best.objective <= before
    assert search.best.shares.sum() == pytest.approx(1)
    certified = bounds.certificate(workload, epsilon).value
    assert certified * (1 - 1e-9) <= search.best.objective < 1.005 * certified


def test_images_are_permutations_of_the_attributes_without_repetition():
    workload = workloads.k_way_marginals(5, 2)
    search = LevelSearch(workload, 1.0, np.random.default_rng(0))
    for _ in range(5):
        search.round()
    high = images(search.best, np.full(len(search.best.high), 60), np.random.default_rng(0))
    powers = np.rint(walsh_hadamard(high) ** 2)
    levels = np.bitwise_count(np.arange(32))
    profiles = {tuple(np.bincount(levels, np.rint(walsh_hadamard(row) ** 2), 6)) for row in search.best.high}
    assert {tuple(np.bincount(levels, power, 6)) for power in powers} <= profiles
    assert len(high) > (search.best.shares > NEGLIGIBLE).sum()
