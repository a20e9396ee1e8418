"""Sets of records seen through four groups of bits: every statement about them holds for sets one
by one, and improves the bound."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from ldp_core.bounds.triples import windows
from ldp_core.bounds.triples.moments import moments
from ldp_core.bounds.triples.relaxation import Relaxation
from ldp_core.run import unchecked
from tests.bounds.test_triples import moments_of, records


def some(rng, groups, count=20):
    """Windows with any forms at all."""
    forms = np.rint(rng.uniform(-1, 1, (count, 52)) / windows.UNIT) * windows.UNIT
    return np.hstack([np.tile(np.array(groups, dtype=float), (count, 1)), forms])


@pytest.mark.parametrize(
    ("bits", "groups"), [(4, (1, 1, 1, 1)), (5, (1, 1, 1, 2)), (6, (1, 1, 1, 2)), (6, (2, 1, 2, 1))]
)
def test_the_means_through_windows_are_moments_of_the_whole(bits, groups):
    """All translations and permutations, one by one: their mean is what the moments at these places are."""
    rng, known = np.random.default_rng(bits), moments(bits)
    T, records = rng.random(2**bits) < 0.4, np.arange(2**bits)
    places = windows.places(known, groups)
    orders = list(permutations(range(bits)))
    chosen = [orders[k] for k in rng.choice(len(orders), 12, replace=False)]
    own = np.unique(windows.means() * 16, axis=0)
    total = np.zeros(52)
    for order in chosen:
        ends = np.cumsum([0, *groups])
        flips = [sum(1 << order[k] for k in range(a, b)) for a, b in pairwise(ends)]
        seen = np.array([sum(flip for k, flip in enumerate(flips) if u >> k & 1) for u in range(16)])
        for z in records:
            inside = T[z ^ seen]
            found = of_four_bits(inside)
            assert (own == found * 16).all(axis=1).any()
            total += found / len(chosen) / 2**bits
    if len(set(groups)) == 1 == groups[0] and bits == 4:
        every = moments_of(T.astype(float), bits)[places]
        by_place = np.bincount(places, total) / np.maximum(np.bincount(places), 1)
        assert by_place[places] == pytest.approx(every)
    assert total[1] == pytest.approx(T.mean())


def of_four_bits(T):
    """The 52 means, one by one."""
    records = np.arange(16)
    lines = sorted({tuple(sorted((u, v, u ^ v))) for u in range(1, 16) for v in range(1, 16) if u != v})
    pairs = [(T[records] & T[records ^ u]).mean() for u in range(1, 16)]
    triples = [(T[records] & T[records ^ u] & T[records ^ v]).mean() for u, v, _ in lines]
    return np.array([1.0, T.mean(), *pairs, *triples])


@pytest.mark.parametrize(("bits", "groups"), [(4, (1, 1, 1, 1)), (5, (2, 1, 1, 1))])
def test_sets_obey_whatever_is_said_through_windows(bits, groups):
    rng, known = np.random.default_rng(bits), moments(bits)
    rows = some(rng, groups)
    assert windows.valid(rows, bits)
    forms = windows.forms(known, rows)
    for share in (0.05, 0.2, 0.5, 0.9):
        for _ in range(4):
            f = (rng.random(2**bits) < share).astype(float)
            assert (forms @ moments_of(f, bits)).min() >= -1e-12
    for f in (np.zeros(2**bits), np.ones(2**bits), (np.arange(2**bits) < 4).astype(float)):
        assert (forms @ moments_of(f, bits)).min() >= -1e-12


def test_what_is_found_is_violated_and_tightens_the_bound():
    bits, epsilon, size = 7, 2.0, 20
    relaxation, weights = Relaxation(bits, epsilon), np.array([1.0, 1.0, 0, 0, 0, 0, 0])
    none, nothing = np.zeros((0, bits + 2)), np.zeros((0, windows.WIDTH))
    first = relaxation.solve(weights, (size, size), none, nothing, unchecked)
    found = relaxation.not_seen(first)
    assert len(found)
    assert windows.valid(found, bits)
    assert (windows.forms(relaxation.known, found) @ first.moments < 0).all()
    second = relaxation.solve(weights, (size, size), none, found, unchecked)
    assert second.value < 0.995 * first.value


def test_what_are_no_windows_is_refused():
    good = some(np.random.default_rng(0), (1, 1, 1, 2), 1)
    assert windows.valid(good, 5)
    assert not windows.valid(good, 4)  # five bits
    for column, value in ((0, 0.0), (0, 1.5), (0, -1.0), (10, 2.0), (10, 0.1), (10, np.nan)):
        bad = good.copy()
        bad[0, column] = value
        assert not windows.valid(bad, 5)
    with pytest.raises(ValueError, match="four groups"):
        windows.places(moments(4), (1, 1, 1, 2))


def test_letters_of_more_than_two_are_seen_through_windows_as_well():
    """Against all records and all others with no letter the same, one by one."""
    known, every = moments(4, 3), records(4, 3)
    f = (np.random.default_rng(0).random(81) < 0.4).astype(float)
    z, other = (every[side] for side in np.nonzero((every[:, None] != every).all(axis=2)))
    flipped = [np.where((u >> np.arange(4)) & 1, other, z) for u in range(16)]
    seen = np.array([f[one @ [27, 9, 3, 1]] for one in flipped])
    found, m = windows.places(known, (1, 1, 1, 1)), moments_of(f, 4, 3)
    pairs = [(seen[0] * seen[u]).mean() for u in range(1, 16)]
    lines = sorted({tuple(sorted((u, v, u ^ v))) for u in range(1, 16) for v in range(1, 16) if u != v})
    triples = [(seen[0] * seen[u] * seen[v]).mean() for u, v, _ in lines]
    # The places may change theirs: only the means over all of a kind are moments.
    told = np.bincount(found, [1, f.mean(), *pairs, *triples], known.count)
    assert told == pytest.approx(np.bincount(found, minlength=known.count) * m)
