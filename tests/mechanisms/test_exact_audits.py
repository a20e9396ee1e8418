"""The true guarantee of every mechanism, in exact rational arithmetic from the numbers its reports
are drawn with."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import library, mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.mechanisms.hrr import HadamardRandomizedResponse
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.noise import adaptive
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.trees.grid import ORACLES, ConsistentGrid
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.hierarchical import ConsistentTree
from ldp_core.mechanisms.trees.levels import Tree
from ldp_core.mechanisms.trees.node_reports import NODE_ORACLES, HierarchicalTree
from ldp_core.mechanisms.trees.tables import Grid
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.optimize.strategy import from_strategy
from tests.exact import drawn, e_to_the

EPSILONS = (0.001, 0.1, 1.0, 5.3, 13.7, 19.6, 20.0)
SIZES = (2, 3, 37, 1024, 2**20)


def keeps(ratio, epsilon):
    """True if no report is more than e^epsilon times as likely for one type as for another."""
    return ratio <= e_to_the(Fraction(epsilon))[0]


def told(audit, ratio):
    """True if the audit reports the ratio, rounded up by no more than a float or two."""
    return (
        e_to_the(Fraction(audit.epsilon))[1]
        >= ratio
        >= e_to_the(Fraction(audit.epsilon * (1 - 1e-15)))[0] * (1 - Fraction(1, 10**12))
    )


def of_matrix(m):
    """Columns are drawn from after scaling them to sum 1."""
    Q = [[Fraction(float(x)) for x in row] for row in m.strategy]
    sums = [sum(column) for column in zip(*Q, strict=True)]
    scaled = [[x / s for x, s in zip(row, sums, strict=True)] for row in Q]
    return max(max(row) / min(row) for row in scaled)


def ratio_of(m):
    """From the floats that `privatize` compares random numbers with, or from its table."""
    return max(map(ratio_of, m.oracles)) if isinstance(m, HierarchicalTree) else drawn(m) or of_matrix(m)


def check(m, asked=None):
    ratio = ratio_of(m)
    assert keeps(ratio, asked or m.epsilon)
    audit = m.audit()
    assert told(audit, ratio)
    assert audit.epsilon <= (asked or m.epsilon)


def closed_forms(n, epsilon):
    """Every mechanism that runs on any number of types, with the extremes of its parameters."""
    yield RandomizedResponse(n, epsilon)
    for k in {1, min(2, n - 1), max(1, n // 2), n - 1, None}:
        yield SubsetSelection(n, epsilon, k)
    yield UnaryEncoding("rappor", n, epsilon)
    yield UnaryEncoding("oue", n, epsilon)
    yield LocalHashing(n, epsilon)
    yield HadamardRandomizedResponse(n, epsilon)
    yield Haar(n, epsilon)
    for oracle in set(NODE_ORACLES) - {"hadamard"}:
        yield ConsistentTree(Tree(n, 4), epsilon, oracle)
        yield ConsistentTree(Tree(n, 16), epsilon, oracle)
    for oracle in ORACLES[:2]:
        yield ConsistentGrid(Grid(Tree(n, 4), Tree(3, 4)), epsilon, oracle)


@pytest.mark.promise
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", SIZES)
def test_no_closed_form_exceeds_its_epsilon(n, epsilon):
    for m in closed_forms(n, epsilon):
        check(m)


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 2**20), st.floats(0.001, 20), st.data())
def test_no_set_size_exceeds_its_epsilon(n, epsilon, data):
    check(SubsetSelection(n, epsilon, data.draw(st.integers(1, n - 1))))
    check(RandomizedResponse(n, epsilon))


def test_the_worst_case_that_was_found():
    """A set of all types but one at epsilon 19.6: the chance to leave one's own out is some 30 units of the last place."""
    n = 2**20
    m = SubsetSelection(n, 19.6, n - 1)
    check(m)
    assert 19.5 < m.audit().epsilon < 19.6  # and the loss is small


@pytest.mark.promise
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 5, 8])
def test_no_written_out_strategy_exceeds_its_epsilon(n, epsilon):
    workload = workloads.prefix(n)
    for name in mechanisms.names():
        spec = library.spec(name)
        if spec.delta or spec.continuous or spec.unsuitable(n, epsilon, workload):
            continue
        if spec.fitted:
            m = mechanisms.create(name, n, epsilon, workload=workload, max_rounds=30, time_limit=None)
        else:
            m = mechanisms.create(name, n, epsilon, workload=workload if spec.needs_workload else None)
        check(m)
        if getattr(m, "strategy", None) is not None:
            written = ExplicitMechanism(name, m.strategy, epsilon)
            assert keeps(of_matrix(written), epsilon)


@settings(max_examples=100, deadline=None)
@given(st.floats(0.001, 20), st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0.1, 1000))
def test_no_answer_to_a_query_exceeds_its_epsilon(epsilon, shares, bound):
    """A user sends plus where a random number is below P(+), so minus has exactly what is left to 1."""
    query = np.clip(np.array([-1.0, 1.0, *shares]) * bound, -bound, bound)
    plus = [Fraction(float(p)) for p in adaptive.chance_of_plus(query, epsilon, bound)]
    assert all(0 < p < 1 for p in plus)
    assert keeps(max(plus) / min(plus), epsilon)
    assert keeps((1 - min(plus)) / (1 - max(plus)), epsilon)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), st.integers(2, 6), st.floats(0.01, 20), st.integers(0, 2**32), st.floats(-9e-10, 9e-10))
def test_an_audit_of_any_matrix_reports_no_less_than_the_truth(m, n, epsilon, seed, off):
    """Columns that do not quite sum to 1 are scaled before anything is drawn, and the audit knows."""
    Q = np.random.default_rng(seed).uniform(1, math.exp(epsilon), (m, n))
    Q /= Q.sum(axis=0)
    Q[:, 0] *= 1 + off
    mechanism = from_strategy("optimized", Q, epsilon, {})
    assert e_to_the(Fraction(mechanism.audit().epsilon))[1] >= of_matrix(mechanism)
