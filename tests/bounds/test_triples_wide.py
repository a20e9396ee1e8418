"""Sets of records seen through five groups of bits: means one by one, the worst of all sets, and what is said of sets."""

import numpy as np
import pytest

from ldp_core.bounds.triples import wide, windows
from ldp_core.bounds.triples.moments import moments
from ldp_core.bounds.triples.relaxation import Relaxation
from ldp_core.run import unchecked
from tests.bounds.test_triples import moments_of

RECORDS = np.arange(32)
LINES = sorted({tuple(sorted((u, v, u ^ v))) for u in range(1, 32) for v in range(1, 32) if u != v})


def row(b, c, form):
    return np.concatenate([[0, 0, b, c], form, np.zeros(windows.WIDTH - 4 - wide.CLASSES)])


def some(rng, b, c, count):
    forms = np.rint(rng.uniform(-1, 1, (count, wide.CLASSES)) / windows.UNIT) * windows.UNIT
    return np.array([row(b, c, form) for form in forms])


def value(T, by_moment, groups):
    """The value of a form in all 188 means of sets (k, 32), one by one; its numbers depend on the
    moments that the means are on average."""
    known = moments(sum(groups))
    many = [sum(b for k, b in enumerate(groups) if u >> k & 1) for u in range(32)]
    total = by_moment[0] + by_moment[1] * T.mean(axis=1)
    for u in range(1, 32):
        total += by_moment[known.pair(many[u])] * (T * T[:, RECORDS ^ u]).mean(axis=1)
    for u, v, w in LINES:
        place = known.triple(many[u], many[v], (many[u] + many[v] - many[w]) // 2)
        total += by_moment[place] * (T * T[:, RECORDS ^ u] * T[:, RECORDS ^ v]).mean(axis=1)
    return total


@pytest.mark.parametrize(("b", "c"), [(1, 1), (1, 3), (2, 1)])
def test_sums_of_means_are_those_of_sets(b, c):
    rng, known = np.random.default_rng(b + c), moments(4 * b + c)
    places, many = wide.places(known, b, c)
    assert many.sum() == 2 + 31 + len(LINES)
    by_moment = rng.uniform(-1, 1, known.count)
    first, second = rng.integers(0, 2**16, (2, 30))
    sets = wide._classes()[0]
    T = np.hstack([sets[first], sets[second]])
    assert wide.of_sets(first, second) @ by_moment[places] == pytest.approx(value(T, by_moment, (b, b, b, b, c)))


@pytest.mark.parametrize(
    ("b", "c"), [(1, 2), *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((1, 1), (2, 1)))]
)
def test_the_smallest_value_is_that_of_the_worst_set(b, c):
    """Changing one record after the other from many sets never ends lower, and mostly as low."""
    rng, known = np.random.default_rng(b + 2 * c), moments(4 * b + c)
    places, _ = wide.places(known, b, c)
    reached = 0
    for _ in range(2):
        by_moment = np.rint(rng.uniform(-1, 1, known.count) / windows.UNIT) * windows.UNIT
        least = wide.smallest(by_moment[places])
        found, sets = wide.worst(by_moment[places], 1, -np.inf)
        assert found == least == (sets @ by_moment[places]).min()
        T = (rng.random((20, 32)) < rng.random((20, 1))).astype(float)
        now = value(T, by_moment, (b, b, b, b, c))
        for _ in range(40):
            changed = np.abs(T[:, None] - np.eye(32))
            values = value(changed.reshape(-1, 32), by_moment, (b, b, b, b, c)).reshape(-1, 32)
            if not (better := values.min(axis=1) < now - 1e-12).any():
                break
            T[better] = changed[better, values[better].argmin(axis=1)]
            now = np.minimum(now, values.min(axis=1))
        assert now.min() >= least - 1e-12
        reached += now.min() < least + 1e-9
    assert reached >= 1


@pytest.mark.parametrize(("bits", "c"), [(5, 1), (6, 2)])
def test_sets_obey_whatever_is_said_through_wide_windows(bits, c):
    rng, known = np.random.default_rng(bits), moments(bits)
    rows = some(rng, 1, c, 8)
    assert windows.valid(rows, bits)
    forms = windows.forms(known, rows)
    sets = [(rng.random(2**bits) < share).astype(float) for share in (0.1, 0.4)]
    sets += [np.zeros(2**bits), np.ones(2**bits), (np.arange(2**bits) < 4).astype(float)]
    for f in sets:
        assert (forms @ moments_of(f, bits)).min() >= -1e-12


def test_what_is_found_is_violated_and_tightens_the_bound():
    bits, epsilon, size = 7, 2.0, 20
    relaxation, weights = Relaxation(bits, epsilon), np.array([1.0, 1.0, 0, 0, 0, 0, 0])
    none, seen = np.zeros((0, bits + 2)), np.zeros((0, windows.WIDTH))
    for _ in range(5):
        first = relaxation.solve(weights, (size, size), none, seen, unchecked)
        seen = np.vstack([seen, relaxation.not_seen(first)])
    found = relaxation.not_seen(first, five=True)
    assert len(found)
    assert windows.valid(found, bits)
    assert (found[:, :2] == 0).all()
    assert (windows.forms(relaxation.known, found) @ first.moments < 0).all()
    second = relaxation.solve(weights, (size, size), none, np.vstack([seen, found]), unchecked)
    assert second.value < 0.999 * first.value


def test_what_are_no_windows_is_refused():
    good = some(np.random.default_rng(0), 1, 2, 1)
    assert windows.valid(good, 6)
    assert not windows.valid(good, 5)  # six bits
    for column, number in (
        (0, 1.0),
        (2, 0.0),
        (3, 0.0),
        (3, -1.0),
        (2, 1.5),
        (10, 2.0),
        (10, 0.1),
        (10, np.nan),
        (-1, 0.5),
    ):
        bad = good.copy()
        bad[0, column] = number
        assert not windows.valid(bad, 6)
    assert not windows.valid(np.repeat(good, windows.WIDE_WINDOWS + 1, axis=0), 6)
    with pytest.raises(ValueError, match="wide window"):
        windows.places(moments(5), (0, 0, 1, 2))


def test_sets_of_halves_alike_are_sets_of_five_bits():
    rng, known = np.random.default_rng(4), moments(5)
    found, (places, _) = wide.alike(), wide.places(known, 1, 1)
    sums = {tuple(one) for one in np.rint(32 * found).astype(int)}
    half = (rng.random((10, 16)) < rng.random((10, 1))).astype(float)
    flipped = np.stack([one[np.arange(16) ^ y] for one, y in zip(half, rng.integers(0, 16, 10), strict=True)])
    for second in (half, flipped, 0 * half):
        code = [(half @ (1 << np.arange(16))).astype(int), (second @ (1 << np.arange(16))).astype(int)]
        order = np.argsort(wide._classes()[0] @ (1 << np.arange(16)))
        own = wide.of_sets(order[code[0]], order[code[1]])
        assert {tuple(one) for one in np.rint(32 * own).astype(int)} <= sums
    form = rng.uniform(-1, 1, known.count)[places]
    form = np.rint(form / windows.UNIT) * windows.UNIT
    assert (found @ form).min() >= wide.smallest(form)


@pytest.mark.slow
def test_windows_with_all_bits_in_groups_are_looked_through():
    bits, epsilon, size = 10, 3.0, 64
    relaxation, weights = Relaxation(bits, epsilon), np.append([2 / 3, 0.7, 1.0], np.zeros(bits - 3))
    first = relaxation.solve(weights, (size, size), np.zeros((0, bits + 2)), np.zeros((0, windows.WIDTH)), unchecked)
    four, five = relaxation.not_seen(first), relaxation.not_seen(first, five=True)
    assert windows.valid(np.vstack([four, five]), bits)
    assert ((four[:, :4].sum(axis=1) == bits) & (four[:, 3] > 5)).any()
    assert (five[:, 3] == bits - 4).any()
