"""Inequalities from three types at a time on surveys of attributes of any sizes: against all sets of few types, sets of many, and designs."""

from dataclasses import replace
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from ldp_core import optimize, workloads
from ldp_core.bounds.surveys.search import closed_form, improved
from ldp_core.bounds.surveys.three import Patterns, fits
from ldp_core.bounds.surveys.three_search import Separation, fusing
from ldp_core.bounds.surveys.traces import Traces
from ldp_core.designs import certificate_file
from ldp_core.run import Budget, Interrupted, unchecked

SMALL = pytest.mark.parametrize(
    ("shape", "fused"),
    [
        ((2, 3), (0, 1)),
        ((2, 3), (0, 0)),
        ((2, 2, 3), (0, 1)),
        ((2, 2, 3), (0, 0)),
        ((2, 2, 3, 3), (0, 1)),
        ((3, 2, 4), (0, 1, 1)),
        ((3, 2, 4), (0, 1, 2)),
    ],
)
MIXED = workloads.survey((2, 2, 2, 4, 4), 2)


def kinds_of(shape):
    return tuple(tuple(i for i, size in enumerate(shape) if size == one) for one in sorted({*shape}))


@cache
def known(shape, fused):
    return Patterns(Traces(shape, kinds_of(shape)), fused)


def types(shape):
    return np.stack([one.ravel() for one in np.indices(shape)], axis=1)


def energies(shape, sets):
    """(k, cells) W_A by trace, the empty set left out, of 0/1 rows (k, n), from an orthonormal basis of the functions of each attribute."""
    found, code = sets.reshape(-1, *shape), np.zeros(sets.shape[1], dtype=int)
    for place, size in enumerate(shape):
        basis = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0] / np.sqrt(size)
        found = np.moveaxis(np.tensordot(found, basis, (place + 1, 0)), -1, place + 1)
    for kind in kinds_of(shape):
        code = code * (len(kind) + 1) + (types(shape) > 0)[:, list(kind)].sum(axis=1)
    return found.reshape(len(sets), -1) ** 2 @ np.eye(code.max() + 1)[code][:, 1:]


@cache
def sets_of(shape):
    """(k, n) all sets of at most twelve types, or many of more."""
    n, rng = int(np.prod(shape)), np.random.default_rng(0)
    if n <= 12:
        return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    every = types(shape)
    chosen = [rng.random((4000, n)) < rng.random((4000, 1))]
    for values in product(*(range(1, size + 1) for size in shape)):
        chosen.append((every < values).all(axis=1)[None])
    return np.vstack([*chosen, (every[:, 0] == every[:, 1])[None]]).astype(float)


def excess(one, numbers, shape):
    """(k, sets) by how much sets break inequalities."""
    found, sets = one.inequalities(numbers), sets_of(shape)
    W, s = energies(shape, sets), sets.mean(axis=1)
    return found.fixed @ W.T + s * (found.rising @ W.T) - found.linear[:, None] * s - found.square[:, None] * s**2


def solved(one, shape, weights, share):
    found = Separation(one).solve(weights, share, np.zeros((0, len(weights) + 1)), unchecked)
    return one.scaled(found, share)


@SMALL
def test_what_all_types_together_make_is_known(shape, fused):
    """All moments of the set of all types are 1: forms are then numbers of pairs, 0 for types outside, and not negative."""
    one, n = known(shape, fused), int(np.prod(shape))
    ones, around = np.ones(one.moments), np.bincount(one.apart, one.around)
    assert around.sum() == one.around.sum() == n
    assert np.array_equal(one.sums @ ones, n * around)
    assert np.array_equal(one.blocks[0].form @ ones, np.outer(around[1:], around[1:]).ravel())
    assert all(not np.any(block.form @ ones) for block in one.blocks[1::2])
    for block in one.blocks[::2]:
        assert np.linalg.eigvalsh((block.form @ ones).reshape(block.size, -1)).min() > -1e-9
    for side in one.sides:
        assert side @ ones == pytest.approx(np.ones(one.triples))


def moments_of(shape, fused, f):
    """The means over pairs, and over triples by pattern, one by one."""
    groups = [
        [i for kind, own in zip(kinds_of(shape), fused, strict=True) if own == group for i in kind]
        for group in sorted({*fused})
    ]
    every, apart = types(shape), np.zeros((len(f), len(f)), dtype=int)
    different = every[:, None] != every
    for kind in kinds_of(shape):
        apart = apart * (len(kind) + 1) + different[:, :, list(kind)].sum(axis=2)
    found = {}
    for z, x, y in permutations(range(len(f)), 3):
        zx, zy, xy = different[z, x], different[z, y], different[x, y]
        alone = (zx & ~zy, zy & ~zx, zx & ~xy, zx & zy & xy)
        counts = [[int(one[group].sum()) for one in (alone[0], alone[1], alone[2])] for group in groups]
        third = [int(alone[3][group].sum()) for group in groups]
        key = min(
            tuple(number for own, c in zip(counts, third, strict=True) for number in (*(own[k] for k in order), c))
            for order in permutations(range(3))
        )
        found.setdefault(key, []).append(f[x] * f[y] * f[z])
    pairs = np.bincount(apart.ravel(), np.outer(f, f).ravel()) / np.bincount(apart.ravel())
    return np.concatenate([pairs, [np.mean(found[key]) for key in sorted(found)]]), groups, apart


def seen(shape, groups):
    """For each kind of squares what every x is as seen from every z, (n, n, k), and what forms are multiplied with to be whole."""
    every = types(shape)
    different = 1.0 * (every[:, None] != every)
    yield np.ones((len(every), len(every), 1)), 1
    for group in groups:
        own = different[:, :, group]
        if len(group) > 1:
            yield own - own.mean(axis=2, keepdims=True), len(group)
        sizes = {shape[i] for i in group}
        if max(sizes) > 2:
            q = sizes.pop() if len(sizes) == 1 else 0
            parts = [
                ((every[:, i] == v) - (1 / (q - 1) if q else 0)) * different[:, :, i] * (every[:, i] != v)[:, None]
                for i in group
                for v in range(shape[i])
            ]
            yield np.stack(parts, axis=2), q - 1 if q else 1


@SMALL
def test_squares_and_sizes_are_what_they_are_summed_one_by_one(shape, fused):
    one, n = known(shape, fused), int(np.prod(shape))
    if n > 24:
        return
    f = (np.random.default_rng(n).random(n) < 0.5).astype(float)
    moments, groups, apart = moments_of(shape, fused, f)
    assert len(moments) == one.moments
    classes = one.apart[apart]
    sums = [(f[:, None] * f * (classes == y)).sum() * f.sum() / n for y in range(one.classes)]
    assert one.sums @ moments == pytest.approx(np.array(sums))
    blocks = iter(one.blocks)
    for numbers, whole in seen(shape, groups):
        by_class = np.stack(
            [((classes == c)[:, :, None] * f[:, None] * numbers).sum(axis=1) for c in range(1, one.classes)]
        )
        rows = [c for c in range(1, one.classes) if np.any(numbers[classes == c])]
        by_class = by_class[[c - 1 for c in rows]]
        for weights in (f, 1 - f) if rows else ():
            direct = np.einsum("z,czk,dzk->cd", weights, by_class, by_class) / n
            block = next(blocks)
            assert (block.form @ moments).reshape(block.size, -1) / whole == pytest.approx(direct, abs=1e-9)
    assert next(blocks, None) is None
    for side in one.sides:
        assert (side @ moments >= moments[one.pairs :] - 1e-12).all()


@SMALL
def test_no_set_breaks_an_inequality_whatever_the_numbers(shape, fused):
    one, rng = known(shape, fused), np.random.default_rng(1)
    for scale in (0.01, 1.0, 30.0):
        numbers = rng.normal(size=(20, one.width)) * rng.choice([0, 1, scale], (20, one.width))
        numbers[:, one.width - 3 * one.triples :] = np.abs(numbers[:, one.width - 3 * one.triples :])
        assert excess(one, numbers, shape).max() <= 1e-9 * np.abs(numbers).max() ** 2 * one.types**2


@SMALL
def test_inequalities_that_are_found_are_tight_and_no_set_breaks_them(shape, fused):
    one, rng = known(shape, fused), np.random.default_rng(2)
    cells, n = len(one.differing[0]), int(np.prod(shape))
    for share in (1 / n, 2 / n, round(0.3 * n) / n):
        broken = excess(one, solved(one, shape, rng.random(cells), share)[None], shape)[0]
        sizes = sets_of(shape).mean(axis=1)
        assert broken.max() <= 1e-9
        if share == 1 / n:  # of single types nothing is unknown
            assert broken[np.isclose(sizes, share)].max() > -1e-4


@cache
def every(survey, epsilon):
    return list(improved(survey, epsilon, closed_form(survey, epsilon), Budget(None, None, None)))


def proof(survey, epsilon):
    return every(survey, epsilon)[-1][0]


def test_a_mixed_survey_is_proved_better_with_three_types():
    found = proof(MIXED, 3.0)
    assert found.verify()
    assert len(found.three)
    none = {"fused": found.fused[:0], "three": np.zeros((0, 0)), "three_multipliers": found.three_multipliers[:, :0]}
    assert replace(found, **none).proven() < found.value
    pairs = max((one for one, limit in every(MIXED, 3.0) if limit is not None), key=lambda one: one.value)
    assert found.value > 1.02 * pairs.value
    best = optimize.design(MIXED, epsilon=3.0, time_limit=None, max_rounds=30, seed=0)
    assert found.value <= best.objective


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "epsilon", "before", "after"),
    [((2, 2, 2, 3, 3, 3, 4, 4), 3.0, 0.18, 0.1), ((2, 2, 3, 3, 4, 5), 3.0, 0.11, 0.075)],
)
def test_mixed_surveys_are_proved_to_within_a_few_per_cent(shape, epsilon, before, after):
    survey = workloads.survey(shape, 2)
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=40, seed=0).objective
    assert proof(survey, epsilon).verify()
    assert 0 <= best / proof(survey, epsilon).value - 1 < after < before


def test_no_set_tells_more_than_is_proved():
    found, shape = proof(MIXED, 3.0), MIXED.shape
    D, sets, rng = np.expm1(3.0), [], np.random.default_rng(3)
    every = types(shape)
    sets = [(rng.random((3000, len(every))) < rng.random((3000, 1)) ** 2)]
    sets += [(every < values).all(axis=1)[None] for values in product(*(range(1, size + 1) for size in shape))]
    sets = np.vstack(sets).astype(float)
    weights = np.zeros(len(known(shape, (0, 1)).differing[0]))
    np.maximum.at(weights, Traces(shape, found.kinds).places(MIXED.components.sets), found.weights)
    ratios = energies(shape, sets) @ weights * (D / (1 + D * sets.mean(axis=1))) ** 2
    largest = found.ratios()[1].max()
    assert ratios.max() <= largest
    assert ratios.max() > 0.8 * largest


def test_forged_numbers_are_refused():
    found = proof(MIXED, 3.0)
    t = found.three
    assert not replace(found, value=np.nextafter(found.proven(), np.inf)).verify()
    one = known(MIXED.shape, tuple(found.fused))
    sides, negative = slice(one.width - 3 * one.triples, None), t.copy()
    negative[:, sides] -= 1.0
    without = t.copy()
    without[:, : one.classes] = 0
    for change in (
        {"three_multipliers": found.three_multipliers * 1.01},
        {"three_multipliers": -found.three_multipliers},
        {"three_multipliers": found.three_multipliers[:, 1:]},
        {"three": t[:, 1:]},
        {"three": negative},
        {"three": without},
        {"three": 1.01 * t},
        {"three": t * np.nan},
        {"three": t * 1e70},
        {"fused": found.fused[1:]},
        {"fused": found.fused[::-1]},
        {"fused": found.fused + 1},
        {"fused": found.fused * 0},
        {"epsilon": 3.1},
        {"workload": workloads.survey((2, 2, 2, 5, 5), 2)},
    ):
        assert not replace(found, **change).verify(), change.keys()


def test_numbers_of_any_size_prove_nothing_untrue():
    """Whatever an inequality is multiplied with, no more is proved than designs allow."""
    found, rng = proof(MIXED, 3.0), np.random.default_rng(4)
    best = optimize.design(MIXED, epsilon=3.0, time_limit=None, max_rounds=30, seed=0).objective
    for scale in (1e-3, 1.0, 1e3):
        for _ in range(5):
            xi = found.three_multipliers * rng.random(found.three_multipliers.shape) * scale
            three = found.three * rng.choice([1.0, scale], found.three.shape)
            assert replace(found, three_multipliers=xi, three=three).proven() <= best


def test_a_proof_comes_back_from_its_file():
    found = proof(MIXED, 3.0)
    files = certificate_file.write(found, "3")
    again = certificate_file.read(files, MIXED, "3")
    assert again.value == pytest.approx(found.value, rel=1e-8)
    assert np.array_equal(again.three, found.three)
    assert np.array_equal(again.fused, found.fused)


def test_groups_that_are_none_are_refused():
    traces = Traces((2, 3, 4), ((0,), (1,), (2,)))
    for fused in ((0, 1), (1, 0, 2), (0, 2, 2), (1, 1, 1), (0, 0, -1)):
        with pytest.raises(ValueError, match="neighbours"):
            Patterns(traces, fused)
    assert not fits(Traces((2, 3, 4), ((0,), (1,))), (0, 1))  # an attribute is not tracked
    many = Traces((2,) * 12 + (3,) * 12, (tuple(range(12)), tuple(range(12, 24))))
    assert not fits(many, (0, 0))
    with pytest.raises(ValueError, match="too many"):
        Patterns(many, (0, 0))
    assert fusing(many) is None


def test_kinds_are_fused_from_the_largest_on():
    shape = (2, 2, 2, 3, 3, 3, 4, 4)
    assert fusing(Traces(shape, kinds_of(shape))) == (0, 1, 1)
    assert fusing(Traces((2, 3, 4), kinds_of((2, 3, 4)))) == (0, 1, 2)


def test_a_search_that_is_cancelled_ends_at_once():
    survey, asked = MIXED, iter(range(10**6))
    budget = Budget(None, None, lambda: next(asked) > 120)
    with pytest.raises(Interrupted):
        list(improved(survey, 3.0, closed_form(survey, 3.0), budget))
    assert next(asked) < 125
