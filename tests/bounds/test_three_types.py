"""Cuts on three types: true of all rows, found where moments violate them, part of the proof, and of its files."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.three_types import CENTRED, JOINT, Cuts, violated
from ldp_core.optimize import exact

N = 7
EPSILON = 1.0


def all_cuts(n):
    """Both kinds of cut, for all triples of types."""
    kinds = [(types, *CENTRED) for types in itertools.permutations(range(n), 3) if types[1] < types[2]]
    kinds += [(types, *JOINT) for types in itertools.combinations(range(n), 3)]
    types, signs, floors = zip(*kinds, strict=True)
    return Cuts(np.array(types), np.array(signs), np.array(floors), n)


def rows(n, D):
    """All y in {0, D}^n."""
    return D * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)


@pytest.mark.parametrize("D", [0.3, 1.7])
def test_no_row_violates_a_cut_and_every_cut_is_met_with_equality(D):
    cuts = all_cuts(5)
    values = np.array([cuts.values(np.outer(y, y) - np.diag(y * y), y, 1.0, D) for y in rows(5, D)])
    h = rows(5, 1.0)
    c = np.array([(h[:, own] * signs).sum(axis=1) for own, signs in zip(cuts.types, cuts.signs, strict=True)]).T
    assert values == pytest.approx(D**2 * (c - cuts.floors) * (c - cuts.floors - 1), abs=1e-12)
    assert values.min() > -1e-12
    assert values.min(axis=0) == pytest.approx(np.zeros(len(cuts)), abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_form_and_adjoint_say_the_same_as_the_values(seed):
    rng, cuts, D = np.random.default_rng(seed), all_cuts(4), 1.7
    weights = rng.random(len(cuts))
    form, sums = cuts.form(weights, D)
    products, singles, constant = cuts.adjoint(weights, D)
    assert (np.abs(form) <= sums + 1e-12).all()
    for y in rows(4, D):
        expected = weights @ cuts.values(np.outer(y, y) - np.diag(y * y), y, 1.0, D)
        z = np.append(1.0, y)
        assert z @ form @ z == pytest.approx(expected, abs=1e-9)
        assert y @ products @ y + singles @ y + constant == pytest.approx(expected, abs=1e-9)


@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_the_deepest_violated_cuts_are_found(n, seed):
    rng, D = np.random.default_rng(seed), 1.3
    first, second = D * rng.random(n), D**2 * rng.random((n, n))
    second += second.T
    np.fill_diagonal(second, 0.0)
    found, expected = violated(second, first, 1.0, D, 0.1, 10**6), all_cuts(n)
    depths = expected.values(second, first, 1.0, D)
    assert found.values(second, first, 1.0, D) == pytest.approx(np.sort(depths[depths < -0.1]))
    few = violated(second, first, 1.0, D, 0.1, 3)
    assert few.values(second, first, 1.0, D) == pytest.approx(np.sort(depths[depths < -0.1])[:3])


@cache
def honest():
    workload = workloads.custom(np.random.default_rng(1).standard_normal((2, N)))
    return bounds.certificate(workload, EPSILON, time_limit=None)


def test_few_queries_are_bounded_nearer_the_optimum_by_cuts():
    certificate = honest()
    assert len(certificate.triples)
    assert certificate.verify()
    best = exact(certificate.workload, EPSILON).objective
    assert 0.98 * best < certificate.value <= best
    without = replace(certificate, triples=np.zeros((0, 7)), triple_multipliers=np.zeros(0))
    assert without.proven() < 0.98 * best


FORGED = {
    "scaled": lambda c: {"triple_multipliers": 1.05 * c.triple_multipliers},
    "negative": lambda c: {"triple_multipliers": -c.triple_multipliers},
    "not whole": lambda c: {"triples": c.triples * 0.5},
    "other floors": lambda c: {"triples": c.triples + np.eye(7)[6]},
    "a type twice": lambda c: {"triples": c.triples[:, [0, 0, 2, 3, 4, 5, 6]]},
    "a type too many": lambda c: {"triples": c.triples + N * np.eye(7)[0]},
    "a type from the end": lambda c: {"triples": c.triples - N * np.eye(7)[0]},
    "fewer multipliers": lambda c: {"triple_multipliers": c.triple_multipliers[1:]},
    "no numbers": lambda c: {"triples": np.full_like(c.triples, np.nan)},
    "huge": lambda c: {"triples": c.triples + 2.0**30 * np.eye(7)[3]},
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
    forged = replace(certificate, **FORGED[name](certificate))
    assert not forged.verify()
    assert proven_by_the_script(forged) < (1 - 1e-4) * certificate.value


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-6, 1))
def test_whatever_the_multipliers_are_nothing_false_is_proven(seed, size):
    certificate = honest()
    best = exact(certificate.workload, EPSILON).objective
    noise = 10**size * np.random.default_rng(seed).standard_normal(certificate.triple_multipliers.shape)
    multipliers = np.abs(certificate.triple_multipliers + noise * certificate.triple_multipliers.max())
    assert replace(certificate, triple_multipliers=multipliers).proven() <= best * (1 + 1e-9)
