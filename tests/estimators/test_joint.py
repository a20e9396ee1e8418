"""The joint model against least squares and largest entropy over all cells, and its people against its tables."""

import math
import sys
from itertools import chain, combinations

import cvxpy as cp
import numpy as np
import pytest

from ldp_core.anova import component, dimensions
from ldp_core.estimators import joint, norm_sub
from ldp_core.estimators.joint import fitting, trees
from ldp_core.people import Tables

pytest.importorskip("mbi")  # loaded before any test runs: charts look at what is loaded while another thread loads it

SIZES, USERS = (2, 3, 4, 3), 1_000
PAIRS = ((0, 1), (1, 2), (1, 3))
NOISE = {(0, 1): 20.0, (1, 2): 15.0, (1, 3): 30.0}


def nonempty(attributes):
    return list(chain.from_iterable(combinations(sorted(attributes), k) for k in range(1, len(attributes) + 1)))


def summed(p, attributes):
    """The marginal of ``p``, an array with an axis per attribute, in the order of the ``attributes``."""
    others = tuple(i for i in range(p.ndim) if i not in attributes)
    kept = sorted(attributes)
    return p.sum(axis=others).transpose([kept.index(i) for i in attributes])


def marginalizing(sizes, attributes):
    """(cells, n) 0/1 matrix from all types to the table over ``attributes``, which are in increasing order."""
    matrix = np.ones((1, 1))
    for i, size in enumerate(sizes):
        matrix = np.kron(matrix, np.eye(size) if i in attributes else np.ones((1, size)))
    return matrix


def centring(sizes, attributes):
    """P_A on the table over A."""
    matrix = np.ones((1, 1))
    for i in attributes:
        matrix = np.kron(matrix, np.eye(sizes[i]) - 1 / sizes[i])
    return matrix


def chain_of(seed, sharp=1.5):
    """Probabilities of all types where attribute 1 explains every dependence between the others."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(SIZES[1]) * 3)
    given = [np.exp(sharp * rng.normal(size=(SIZES[1], size))) for size in SIZES]
    given = [one / one.sum(axis=1, keepdims=True) for one in given]
    return np.einsum("b,ba,bc,bd->abcd", p, given[0], given[2], given[3])


@pytest.fixture(scope="module")
def noisy():
    """Tables of a chain with enough noise to make some cells negative, and their model."""
    rng, p = np.random.default_rng(5), chain_of(2)
    tables = {
        pair: (USERS * summed(p, pair).ravel() + rng.normal(0, deviation, math.prod(SIZES[i] for i in pair)), deviation)
        for pair, deviation in NOISE.items()
    }
    assert min(table.min() for table, _ in tables.values()) < 0
    return tables, joint.fit(SIZES, tables, USERS)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(ValueError, match="need the package"):
        joint.fit((2,), {(0,): (np.array([3.0, 4.0]), 1.0)}, 7)


def test_evidence_is_generalized_least_squares():
    """The best linear unbiased estimate of every component from three overlapping tables, and its exact covariance."""
    rng, sizes = np.random.default_rng(0), (2, 3, 4)
    tables = {(0, 1): 3.0, (2, 1): 5.0, (1,): 2.0}
    given = {one: (rng.normal(size=math.prod(sizes[i] for i in one)), s) for one, s in tables.items()}
    increasing = {(0, 1): given[0, 1][0], (1, 2): given[2, 1][0].reshape(4, 3).T.ravel(), (1,): given[1,][0]}
    deviations = [3.0, 5.0, 2.0]
    design = np.vstack([marginalizing(sizes, one) / s for one, s in zip(increasing, deviations, strict=True)])
    target = np.concatenate([y / s for y, s in zip(increasing.values(), deviations, strict=True)])
    solve = np.linalg.pinv(design)
    found = joint.evidence_of(sizes, given)
    assert set(found) == {(0,), (1,), (2,), (0, 1), (1, 2)}
    for one, known in found.items():
        project = centring(sizes, one) @ marginalizing(sizes, one) @ solve
        np.testing.assert_allclose(known.values.ravel(), project @ target, atol=1e-9)
        np.testing.assert_allclose(project @ project.T, known.deviation**2 * centring(sizes, one), atol=1e-9)


def test_pairs_make_the_best_forest():
    """The largest total gain of all forests over four attributes, and no pair that says less than its noise."""
    left_out = 0
    for seed in range(20):
        rng, sizes = np.random.default_rng(seed), (2, 3, 2, 4)
        known = {
            one: joint.Evidence(component(rng.normal(0, 1.3, [sizes[i] for i in one]), range(len(one))), 1.0)
            for one in nonempty(range(4))
            if len(one) <= 2
        }
        gains = {one: np.sum(known[one].values ** 2) - 2 * dimensions(sizes, one) for one in known if len(one) == 2}

        def forest(edges):
            reach = [{i} for i in range(4)]
            for a, b in edges:
                if reach[a] is reach[b]:
                    return False
                reach[a] |= reach[b]
                for i in reach[a]:
                    reach[i] = reach[a]
            return True

        best = max(sum(gains[e] for e in edges) for k in range(4) for edges in combinations(gains, k) if forest(edges))
        found = trees.chosen(sizes, known, 10**6)
        assert sum(gains[one] for one in found if len(one) == 2) == pytest.approx(best)
        assert set().union(*found) == {0, 1, 2, 3}
        left_out += len(found) > 1 and any(len(one) == 1 for one in found)
    assert left_out


def test_trees_are_families_with_running_intersections():
    """Against every tree over the sets, for all families of up to four sets of four attributes."""

    def runs(family):
        k = len(family)
        edges = list(combinations(range(k), 2))
        for chosen in combinations(edges, k - 1):
            ways = {i: {i} for i in range(k)}
            for a, b in chosen:
                together = ways[a] | ways[b]
                for i in together:
                    ways[i] = together
            if len(ways[0]) == k and all(connected(i, family, chosen) for i in range(4)):
                return True
        return False

    def connected(i, family, chosen):
        holding = [k for k, one in enumerate(family) if i in one]
        inside = sum(a in holding and b in holding for a, b in chosen)
        return not holding or inside == len(holding) - 1

    sets = nonempty(range(4))
    checked = 0
    for k in (1, 2, 3, 4):
        for family in combinations(sets, k):
            if any(set(a) < set(b) for a in family for b in family):
                continue
            assert trees.is_tree(list(family)) == runs(family), family
            checked += 1
    assert checked > 100


def test_triples_join_where_the_whole_remains_a_tree():
    sizes = (2, 2, 2, 2)
    strong = {
        one: joint.Evidence(
            component(np.random.default_rng(len(one)).normal(0, 9, [2] * len(one)), range(len(one))), 0.1
        )
        for one in nonempty(range(4))
        if len(one) <= 3
    }
    found = trees.chosen(sizes, strong, 10**6)
    assert trees.is_tree(found)
    assert sorted(map(len, found)) == [3, 3]
    assert trees.cells(sizes, trees.chosen(sizes, strong, 15)) <= 15 < trees.cells(sizes, found)


def test_the_fit_is_least_squares_over_all_distributions(noisy):
    """The followed tables equal those of the quadratic program over all 72 types."""
    tables, model = noisy
    assert model.followed == PAIRS
    assert model.stopped == "converged"
    x = cp.Variable(math.prod(SIZES), nonneg=True)
    known = joint.evidence_of(SIZES, tables)
    loss = sum(
        cp.sum_squares((centring(SIZES, one) @ marginalizing(SIZES, one) @ x - part.values.ravel()) / part.deviation)
        for one, part in known.items()
    )
    cp.Problem(cp.Minimize(loss), [cp.sum(x) == USERS]).solve(solver="CLARABEL")
    for pair in PAIRS:
        np.testing.assert_allclose(model.table(pair), marginalizing(SIZES, pair) @ x.value, atol=1e-3 * USERS)


def test_beyond_that_its_entropy_is_largest(noisy):
    _, model = noisy
    p = cp.Variable(math.prod(SIZES))
    same = [marginalizing(SIZES, pair) @ p == model.table(pair) / USERS for pair in PAIRS]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), same).solve(solver="CLARABEL")
    np.testing.assert_allclose(model.table(range(4)) / USERS, p.value, atol=1e-4)


def test_a_known_joint_distribution_is_recovered():
    """Little noise also recovers the pairs and triples that were not measured, which are marked."""
    p = chain_of(3)
    rng = np.random.default_rng(0)
    tables = {pair: (USERS * summed(p, pair).ravel() + rng.normal(0, 0.1, summed(p, pair).size), 0.1) for pair in PAIRS}
    model = joint.fit(SIZES, tables, USERS)
    assert isinstance(model, Tables)
    for asked in [(0, 2), (2, 0, 3), (3, 2, 1, 0)]:
        np.testing.assert_allclose(model.table(asked), USERS * summed(p, asked).ravel(), atol=2.0)
        assert model.extrapolated(asked)
        assert not model.follows(asked)
    assert not model.extrapolated((2, 1))
    assert model.follows((2, 1))


@pytest.mark.slow
def test_a_triple_is_followed_whole():
    """Also a three-way interaction that no pair shows; and a pair that says less than its noise is measured but not followed."""
    parity = np.array([[[0, 1], [1, 0]], [[1, 0], [0, 1]]]) / 4.0
    tables = {(2, 0, 1): (USERS * parity.ravel(), 1.0), (1, 3): (np.full(4, USERS / 4), 500.0)}
    model = joint.fit((2, 2, 2, 2), tables, USERS)
    assert model.followed == ((0, 1, 2), (3,))
    np.testing.assert_allclose(model.table((0, 1, 2)), USERS * parity.ravel(), atol=0.5)
    assert not model.extrapolated((1, 3))
    assert not model.follows((1, 3))
    people = model.people(500, np.random.default_rng(0))
    assert not np.any(people[:, :3].sum(axis=1) % 2 == 0)


def branching():
    """A model put together by hand, with zero cells, branches, a set of three and an attribute on its own, and all its cells."""
    sizes = (2, 3, 4, 3, 2, 2)
    rng = np.random.default_rng(7)
    cells = rng.random((2, 3, 4)) * (rng.random((2, 3, 4)) > 0.3)
    first = cells / cells.sum()
    others = [rng.dirichlet(np.ones(size), n) for n, size in ((4, 3), (3, 2))]
    alone = np.array([0.3, 0.7])
    sets = ((2, 3), (0, 1, 2), (3, 4), (5,))
    all_cells = np.einsum("abc,cd,de,f->abcdef", first, *others, alone)
    probabilities = tuple(summed(all_cells, one) for one in sets)
    return all_cells, joint.JointModel(sizes, 1000, sets, probabilities, sets, 50, "converged")


def test_tables_of_a_tree_are_those_of_all_its_cells():
    all_cells, model = branching()
    for k in range(7):
        for asked in combinations((4, 0, 5, 2, 1, 3), k):
            np.testing.assert_allclose(model.table(asked), 1000 * summed(all_cells, asked).ravel(), atol=1e-9)


def test_people_are_drawn_from_the_model():
    """Each cell of every table of three within five standard errors, none where the model has no
    one; equal for equal seeds."""
    all_cells, model = branching()
    users = 200_000  # more than one block of rows
    people = model.people(users, np.random.default_rng(1))
    assert people.shape == (users, 6)
    assert np.array_equal(people, model.people(users, np.random.default_rng(1)))
    for asked in combinations(range(6), 3):
        expected = summed(all_cells, asked)
        drawn = np.zeros(expected.shape)
        np.add.at(drawn, tuple(people[:, i] for i in asked), 1)
        error = np.sqrt(users * expected * (1 - expected))
        assert np.all(np.abs(drawn - users * expected) <= 5 * error + 1e-9)
    assert model.people(0, np.random.default_rng(1)).shape == (0, 6)


ONE = {(0,): (np.array([3.0, 4.0]), 1.0)}


def test_a_fit_ends_after_its_rounds_or_when_it_is_cancelled():
    """It still has a distribution; each round is reported."""
    told = []
    model = joint.fit((2,), ONE, 7, cancel=lambda: True, callback=lambda progress: told.append(progress.round))
    assert (model.stopped, model.iterations, told) == ("cancelled", fitting.STEPS, [1])
    np.testing.assert_allclose(model.table((0,)).sum(), 7)
    assert joint.fit((2,), ONE, 7, max_rounds=1).stopped == "rounds"


BAD = {
    "in none of the measured tables": ((2, 3), ONE, 7, {}),
    "one user or more": ((2,), ONE, 0, {}),
    "different attributes from 0 to 0": ((2,), {(0, 0): (np.ones(4), 1.0)}, 7, {}),
    "must have 2 finite numbers": ((2,), {(0,): (np.ones(3), 1.0)}, 7, {}),
    "2 finite": ((2,), {(0,): (np.array([1.0, np.nan]), 1.0)}, 7, {}),
    "must be a positive number, not 0.0": ((2,), {(0,): (np.ones(2), 0.0)}, 7, {}),
    "4,000,000 cells": ((2000, 2000), {(0, 1): (np.ones(1), 1.0)}, 7, {}),
    "joint model of 101 attributes": ((2,) * 101, {(i,): (np.ones(2), 1.0) for i in range(101)}, 7, {}),
    "have 2 values in all, more than the 1 cells": ((2,), ONE, 7, {"most_cells": 1}),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_cannot_be_fitted_is_refused(sentence):
    sizes, tables, users, limits = BAD[sentence]
    with pytest.raises(ValueError, match=sentence):
        joint.fit(sizes, tables, users, **limits)


def test_what_cannot_be_answered_is_refused():
    _, model = branching()
    with pytest.raises(ValueError, match="different places from 0 to 5"):
        model.table((1, 1))
    with pytest.raises(ValueError, match="synthetic people with 6 attributes"):
        model.people(10**9, np.random.default_rng(0))
    long = (100,) * 4
    pairs = ((0, 1), (1, 2), (2, 3))
    uniform = joint.JointModel(long, 10, pairs, (np.full((100, 100), 1e-4),) * 3, pairs, 50, "converged")
    with pytest.raises(ValueError, match="more than the 1,048,576"):
        uniform.table((0, 1, 2, 3))
    hub = (*(50,) * 3, 200)
    star = tuple((i, 3) for i in range(3))
    far = joint.JointModel(hub, 10, star, (np.full((50, 200), 1e-4),) * 3, star, 50, "converged")
    with pytest.raises(ValueError, match="25,000,000 cells is needed on the way"):
        far.table((0, 1, 2))


def test_a_constant_attribute_is_modelled():
    model = joint.fit((1, 2), {(0, 1): (np.array([300.0, 700.0]), 1.0)}, USERS, max_rounds=20)
    np.testing.assert_allclose(model.table((0, 1)), [300, 700], atol=1)


@pytest.mark.slow
def test_it_beats_tables_projected_one_by_one():
    """All pairs of eleven columns of Adult's sizes, 50,000 people each asked for one pair by subset selection at epsilon 1."""
    sizes, users, rng = (16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2), 50_000, np.random.default_rng(1)
    kinds = rng.choice(6, users, p=rng.dirichlet(np.ones(6)))
    people = np.stack(
        [np.argmax(np.log(rng.dirichlet(np.ones(n), 6))[kinds] + rng.gumbel(size=(users, n)), axis=1) for n in sizes],
        axis=1,
    )
    pairs = list(combinations(range(11), 2))
    deviation = math.sqrt(len(pairs) * users * 4 * math.e / (math.e - 1) ** 2)
    true = {
        (a, b): np.bincount(people[:, a] * sizes[b] + people[:, b], minlength=sizes[a] * sizes[b]) for a, b in pairs
    }
    tables = {pair: (table + rng.normal(0, deviation, len(table)), deviation) for pair, table in true.items()}
    model = joint.fit(sizes, tables, users)
    ours = np.mean([np.abs(model.table(pair) - true[pair]).sum() for pair in pairs])
    alone = np.mean([np.abs(norm_sub.project(tables[pair][0], users) - true[pair]).sum() for pair in pairs])
    assert ours < 0.75 * alone
