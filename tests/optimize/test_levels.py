"""Designs by the full symmetry of binary attributes: juntas, level Fourier weights, and what they reach."""

import itertools

import numpy as np
import pytest

from ldp_core import analysis, bounds, workloads
from ldp_core.bounds.symmetric.certificate import symmetric_certificate
from ldp_core.limits import MOST_ROW_CELLS
from ldp_core.mechanisms.orbits import OrbitMechanism
from ldp_core.optimize import SearchLimits, design, design_orbits
from ldp_core.optimize.symmetric.juntas import junta_fourier_weights, junta_row, moved, tables
from ldp_core.optimize.symmetric.levels import NEGLIGIBLE, LevelMixture, LevelSearch, images
from ldp_core.optimize.symmetric.translations import _copies, _written
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


@pytest.mark.slow
@pytest.mark.parametrize("d", [6, 12, pytest.param(14, marks=pytest.mark.slow)])
def test_designs_fit_into_a_device(d):
    rng, types = np.random.default_rng(d), np.arange(2**d)
    some = rng.random((3, 2**d)) < 0.1
    some[:, 0], some[:, 1] = True, False
    few = np.stack([(types >> i) % 2 == 1 for i in range(3)])  # which have d images each
    for high in (some[:1], few, np.vstack([some, few])):
        mixture = LevelMixture(high, np.full(len(high), 1 / len(high)), 1.0)
        written = _written(mixture, rng)
        assert (1 + len(written)) * 2**d <= MOST_ROW_CELLS
    most = min(2048, 2 ** (24 - d)) - 1
    assert len(images(mixture, _copies(mixture, most), rng)) < len(written)  # what rows of few images leave is used


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


@pytest.mark.slow
@pytest.mark.crossed
@pytest.mark.parametrize("workload", LOW_DEGREE, ids=repr)
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_orbit_designs_and_written_strategies_agree(workload, epsilon):
    orbits = design_orbits(workload, epsilon, SearchLimits(time_limit=None, max_rounds=20))
    assert orbits.shares.sum() == pytest.approx(1)
    mechanism = OrbitMechanism("orbits", orbits.high, orbits.shares, epsilon)
    assert analysis.objective(mechanism, workload) == pytest.approx(orbits.objective, rel=1e-6)
    written = design(workload, epsilon, time_limit=None, max_rounds=20)
    assert orbits.objective == pytest.approx(written.objective, rel=5e-3)
    assert symmetric_certificate(workload, epsilon).value <= orbits.objective * (1 + 1e-9)


def test_orbit_designs_are_deterministic_and_can_be_cancelled():
    workload = workloads.all_marginals(5)
    one, again, other = (
        design_orbits(workload, 1.0, SearchLimits(None, max_rounds=3, seed=seed)) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.high, again.high)
    assert one.objective == again.objective != other.objective
    cancelled = design_orbits(workload, 1.0, SearchLimits(cancel=lambda: True))
    assert (cancelled.stopped, cancelled.rounds) == ("cancelled", 0)
    mechanism = OrbitMechanism("orbits", cancelled.high, cancelled.shares, 1.0)
    assert analysis.objective(mechanism, workload) == pytest.approx(cancelled.objective)


@pytest.mark.parametrize("workload", [workloads.prefix(8), workloads.histogram(8)], ids=repr)
def test_other_workloads_are_refused_in_words(workload):
    with pytest.raises(ValueError, match="binary attributes"):
        design_orbits(workload, 1.0)
