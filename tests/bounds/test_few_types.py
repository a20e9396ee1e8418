"""Cuts on few types: true of all rows, found where moments violate them, part of the proof, and of its files."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.few_types import Cuts, violated
from ldp_core.optimize import exact
from ldp_core.workloads import distinguished
from tests.certificates import forged
from tests.exact import all_sets

N = 7
CENTRED = ((1, -1, -1), -1)
JOINT = ((1, 1, 1), 1)
EPSILON = 1.0


def all_cuts(n):
    """Both kinds of cut, for all triples of types."""
    kinds = [(types, *CENTRED) for types in itertools.permutations(range(n), 3) if types[1] < types[2]]
    kinds += [(types, *JOINT) for types in itertools.combinations(range(n), 3)]
    types, signs, floors = zip(*kinds, strict=True)
    return Cuts(np.array(types), np.array(signs), np.array(floors), n)


@pytest.mark.parametrize("D", [0.3, 1.7])
def test_no_row_violates_a_cut_and_every_cut_is_met_with_equality(D):
    cuts = all_cuts(5)
    values = np.array([cuts.values(np.outer(y, y) - np.diag(y * y), y, 1.0, D) for y in D * all_sets(5)])
    h = all_sets(5)
    c = np.array([(h[:, own] * signs).sum(axis=1) for own, signs in zip(cuts.types, cuts.signs, strict=True)]).T
    assert values == pytest.approx(D**2 * (c - cuts.floors) * (c - cuts.floors - 1), abs=1e-12)
    assert values.min() > -1e-12
    assert values.min(axis=0) == pytest.approx(np.zeros(len(cuts)), abs=1e-12)


@given(st.integers(3, 7), st.integers(0, 2**32 - 1))
def test_cuts_that_are_found_are_true_and_as_deep_as_those_of_three_types(n, seed):
    rng, D = np.random.default_rng(seed), 1.3
    rows_of_measure = (D * all_sets(n))[rng.integers(0, 2**n, 5)]
    y = np.array([*rows_of_measure, D * rng.random(n)])  # the last is no row, so that cuts are violated
    first, second = y.mean(axis=0), y.T @ y / len(y)
    cuts = violated(second, first, 1.0, D, 1e-3, 10**6, np.random.default_rng(0))
    depths = cuts.values(second - np.diag(second.diagonal()), first, 1.0, D)
    assert (depths < -1e-3).all()
    assert (np.diff(depths) >= -1e-9).all()
    deepest = min(0.0, all_cuts(n).values(second - np.diag(second.diagonal()), first, 1.0, D).min())
    assert deepest > -2e-3 or depths.min() <= deepest + 1e-9
    for row in D * all_sets(n):
        outer = np.outer(row, row)
        assert cuts.values(outer - np.diag(outer.diagonal()), row, 1.0, D).min(initial=0.0) >= -1e-9
    few = violated(second, first, 1.0, D, 1e-3, 3, np.random.default_rng(0))
    assert few.values(second - np.diag(second.diagonal()), first, 1.0, D) == pytest.approx(depths[:3])


def test_few_types_are_bounded_next_to_exactly():
    """Ten types that five intervals distinguish: triangle inequalities alone leave 3 %."""
    ends = np.sort(np.random.default_rng(0).integers(0, 64, (5, 2)), axis=1)
    workload = workloads.custom(((np.arange(64) >= ends[:, :1]) & (np.arange(64) <= ends[:, 1:])).astype(float))
    assert distinguished(workload).workload.n == 10
    found, best = bounds.certificate(workload, EPSILON, time_limit=None), exact(workload, EPSILON).objective
    assert 0.998 * best < found.value < best


@cache
def honest():
    workload = workloads.custom(np.random.default_rng(1).standard_normal((2, N)))
    return bounds.certificate(workload, EPSILON, time_limit=None)


def test_few_queries_are_bounded_nearer_the_optimum_by_cuts():
    certificate = honest()
    assert len(certificate.numbers["triples"])
    assert certificate.verify()
    best = exact(certificate.workload, EPSILON).objective
    assert 0.98 * best < certificate.value <= best
    without = forged(certificate, triples=np.zeros((0, 1)), triple_multipliers=np.zeros(0))
    assert without.proven() < 0.98 * best


FORGED = {
    "scaled": lambda c: {"triple_multipliers": 1.05 * c["triple_multipliers"]},
    "negative": lambda c: {"triple_multipliers": -c["triple_multipliers"]},
    "not whole": lambda c: {"triples": c["triples"] * 0.5},
    "other floors": lambda c: {"triples": c["triples"] + np.eye(13)[12]},
    "a type twice": lambda c: {
        "triples": np.column_stack([c["triples"][:, [0]], c["triples"][:, [0]], c["triples"][:, 2:]])
    },
    "a type too many": lambda c: {"triples": c["triples"] + N * np.eye(13)[0]},
    "a type from the end": lambda c: {"triples": c["triples"] - N * np.eye(13)[0]},
    "fewer multipliers": lambda c: {"triple_multipliers": c["triple_multipliers"][1:]},
    "an even number of columns": lambda c: {"triples": np.column_stack([c["triples"], c["triples"][:, -1]])},
    "too many types": lambda c: {"triples": np.zeros((len(c["triples"]), 2 * N + 3))},
    "no numbers": lambda c: {"triples": np.full_like(c["triples"], np.nan)},
    "huge": lambda c: {"triples": c["triples"] + 2.0**30 * np.eye(13)[6]},
}


def proven_by_the_script(certificate):
    """The bound that the script takes as proven; 0 if it refuses."""
    try:
        return verify.proven(*certificate.to_file("1"))
    except ValueError:
        return 0.0


@pytest.mark.parametrize("name", FORGED)
def test_forged_cuts_prove_no_more(name):
    certificate = honest()
    assert proven_by_the_script(certificate) == pytest.approx(certificate.value, rel=1e-6)
    other = forged(certificate, **FORGED[name](certificate.numbers))
    assert not other.verify()
    assert proven_by_the_script(other) < (1 - 1e-4) * certificate.value


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-6, 1))
def test_whatever_the_multipliers_are_nothing_false_is_proven(seed, size):
    certificate = honest()
    best = exact(certificate.workload, EPSILON).objective
    noise = 10**size * np.random.default_rng(seed).standard_normal(certificate.numbers["triple_multipliers"].shape)
    multipliers = np.abs(
        certificate.numbers["triple_multipliers"] + noise * certificate.numbers["triple_multipliers"].max()
    )
    assert forged(certificate, triple_multipliers=multipliers).proven() <= best * (1 + 1e-9)
