"""Bounds from weights of types and pairs: against all rows, general solvers and dense formulas; what they gain; forged ones refused."""

import itertools
import json
import math
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general import weighted
from ldp_core.bounds.general.certificate import Certificate, by_blocks, closed_form
from ldp_core.bounds.general.certificate import _stages as stages
from ldp_core.bounds.proof import MARGIN
from ldp_core.designs import certificate_file
from ldp_core.run import unchecked
from ldp_core.threads import blas_threads

WORKLOADS = {
    "prefix": workloads.prefix,
    "all_range": workloads.all_range,
    "width": lambda n: workloads.width_range(n, 2),
}


def some_weights(n, epsilon, rng, prior):
    """Weights near the even ones that make A_p positive definite, and N that is by no means small."""
    ratio, blocks = math.exp(epsilon), rng.integers(0, n, n)
    N = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    return weighted.Weights(rng.uniform(0.8, 1.2, n), 0.1 * ratio * (N + N.T) / n, blocks)


def pieces(weights, epsilon, prior):
    """A, c and b as the module's docstring has them."""
    E, S = math.exp(epsilon), np.diag(prior)
    gamma, N = weights.types[weights.block], weights.pairs[np.ix_(weights.block, weights.block)]
    c = E * prior @ gamma - prior @ N @ prior
    w = S @ (gamma * (E + 1) / 2 - N @ prior)
    A = S @ np.diag(gamma) - S @ N @ S - np.outer(w, w) / c
    return A, c, -A.sum()


def matrix_root(A):
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def bound_by_dense_formulas(workload, weights, epsilon, prior):
    """n (p'Gp + |A_p^(1/2) K^(1/2)|_*^2 / b) by matrix roots and singular values."""
    A, _, b = pieces(weights, epsilon, prior)
    root, n = np.sqrt(prior), workload.n
    P = np.eye(n) - np.outer(root, root)
    A = P @ (A / np.outer(root, root)) @ P
    K = P @ (root[:, None] * workload.gram_dense() * root) @ P
    nuclear = np.linalg.svd(matrix_root(A) @ matrix_root(K), compute_uv=False).sum()
    return n * (prior @ workload.gram_dense() @ prior + nuclear**2 / b)


def certified(workload, epsilon, prior, weights):
    made = weighted.numbers(workload.gram_dense(), math.exp(epsilon), prior, weights)
    none = np.zeros(0)
    found = Certificate(
        workload, epsilon, prior, 0.0, made.inverse, made.multipliers, made.diagonal, made.pairs, none, none
    )
    return replace(found, value=found.proven())


@given(seed=st.integers(0, 2**32 - 1), epsilon=st.floats(0.1, 5), n=st.integers(2, 9))
def test_no_row_has_a_positive_form(seed, epsilon, n):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(n))
    A, c, b = pieces(some_weights(n, epsilon, rng, prior), epsilon, prior)
    rows = np.array(list(itertools.product([1.0, math.exp(epsilon)], repeat=n)))
    values = np.einsum("ki,ij,kj->k", rows, A, rows)
    assert c > 0
    assert values.max() <= 1e-9 * np.abs(A).sum() * math.exp(2 * epsilon)
    assert b > 0


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_proof_is_that_of_the_formula(kind, epsilon):
    rng, workload = np.random.default_rng(3), WORKLOADS[kind](9)
    for prior in (np.full(9, 1 / 9), rng.dirichlet(np.full(9, 3.0))):
        weights = some_weights(9, epsilon, rng, prior)
        found = certified(workload, epsilon, prior, weights)
        assert found.value == pytest.approx(bound_by_dense_formulas(workload, weights, epsilon, prior), rel=1e-7)
        assert found.verify()
        # On the scale where C is the inverse of an information matrix: its row sums are n p.
        assert found.inverse.sum(axis=1) == pytest.approx(9 * prior, rel=1e-7)


def test_even_weights_are_the_centred_svd_bound():
    workload, prior = workloads.prefix(20), np.random.default_rng(0).dirichlet(np.ones(20))
    found = certified(workload, 1.5, prior, weighted.even(20))
    assert found.value == pytest.approx(bounds.centred_svd(workload, 1.5, prior), rel=1e-7)


def relaxation_by_cvxpy(workload, epsilon):
    """The moment relaxation without its whole-number cuts, by a general solver."""
    n, D = workload.n, math.expm1(epsilon)
    Y = cp.Variable((n + 1, n + 1), PSD=True)
    a, b, T = Y[0, 0], Y[0, 1:], Y[1:, 1:]
    ones, column = np.ones((n, 1)), cp.reshape(b, (n, 1), order="C")
    M = a * np.ones((n, n)) + column @ ones.T + ones @ column.T + T
    constraints = [cp.diag(T) == D * b, T >= 0, cp.sum(M, axis=1) == 1]
    objective = cp.matrix_frac(workload.gram_root.T, M)
    return float(cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL"))


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_best_weights_reach_the_relaxation(kind, epsilon):
    workload, prior = WORKLOADS[kind](7), np.full(7, 1 / 7)
    weights, share = weighted.best(workload.gram_dense(), math.exp(epsilon), prior)
    value = certified(workload, epsilon, prior, weights).value
    expected = relaxation_by_cvxpy(workload, epsilon)
    assert expected * (1 - 1e-3) < value < expected * (1 + 1e-5)
    assert share == pytest.approx(1)


def by_blocks_alone(workload, epsilon, prior, stop=lambda: False):
    with blas_threads(workload.n):
        return by_blocks(workload, epsilon, prior, stop, unchecked)


CASES = {
    "totals": (workloads.prefix, 3.0, None, 0.08),
    "totals, small epsilon": (workloads.prefix, 1.0, None, 0.015),
    "ranges": (workloads.all_range, 3.0, None, 0.03),
    "totals, a slope of people": (workloads.prefix, 3.0, np.linspace(3, 1, 300) / 600, 0.05),
    "totals, nobody at the ends": (
        workloads.prefix,
        3.0,
        np.r_[np.zeros(50), np.full(200, 1 / 200), np.zeros(50)],
        0.05,
    ),
}
SELDOM = ("totals, small epsilon", "totals, a slope of people")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] if case in SELDOM else []) for case in CASES],
)
def test_blocks_gain_on_the_closed_form_and_others_can_check_it(case):
    of, epsilon, prior, gain = CASES[case]
    workload, prior = of(300), np.full(300, 1 / 300) if prior is None else prior
    found, done = by_blocks_alone(workload, epsilon, prior)
    assert found.verify()
    assert found.value > (1 + gain) * closed_form(workload, epsilon, prior).value
    assert done
    written = certificate_file.write(found, f"{epsilon:g}")
    assert "no mechanism" in verify.verified(written.document, written.arrays)
    assert certificate_file.read(written, workload, f"{epsilon:g}").value == pytest.approx(found.value, rel=MARGIN)


def test_most_of_what_others_ask_is_within_blocks():
    rng = np.random.default_rng(1)
    workload, prior = workloads.custom(rng.standard_normal((500, 300))), np.full(300, 1 / 300)
    found, done = by_blocks_alone(workload, 1.0, prior)
    assert not done
    assert found.value >= closed_form(workload, 1.0, prior).value * (1 - 1e-6)


@pytest.mark.parametrize(("n", "side"), [(256, 16), pytest.param(300, 15, marks=pytest.mark.slow)])
def test_what_is_said_of_blocks_beforehand_is_what_comes_of_them(n, side):
    rng = np.random.default_rng(1)
    asked = {
        workloads.prefix(n): True,
        workloads.all_range(n): True,
        workloads.product([workloads.prefix(side), workloads.prefix(n // side)]): n > 256,
        workloads.custom(rng.standard_normal((n, n))): False,
    }
    for workload, expected in asked.items():
        for prior in (np.full(n, 1 / n), np.linspace(3, 1, n) / (2 * n)):
            assert weighted.suffice(workload, prior) == expected
            assert by_blocks_alone(workload, 1.0, prior, lambda: False)[1] == expected
        assert weighted.suffice(workload) == expected


def test_where_blocks_suffice_single_types_have_nothing_to_add():
    workload, prior = workloads.prefix(140), np.full(140, 1 / 140)
    found, done = by_blocks_alone(workload, 1.0, prior)
    *_, (last, relaxation) = stages(workload, 1.0, prior, lambda: False, unchecked)
    assert done
    assert found.value > last.value
    assert found.value > relaxation * (1 - 1e-3)


def test_a_search_that_is_stopped_hands_out_what_it_has():
    workload, prior = workloads.prefix(300), np.full(300, 1 / 300)
    found, _ = by_blocks_alone(workload, 3.0, prior, lambda: True)
    assert found.verify()
    assert found.value == pytest.approx(bounds.centred_svd(workload, 3.0), rel=1e-6)


@pytest.fixture(scope="module")
def honest():
    return by_blocks_alone(workloads.prefix(300), 3.0, np.full(300, 1 / 300))[0]


@pytest.mark.parametrize(
    "forged",
    [
        lambda c: replace(c, value=c.value * (1 + 1e-4)),
        lambda c: replace(c, epsilon=3.05),
        lambda c: replace(c, multipliers=c.multipliers * 0.999),
        lambda c: replace(c, diagonal=c.diagonal * 1.001),
        lambda c: replace(c, pairs=c.pairs * 1.01),
        lambda c: replace(c, pairs=c.pairs - 1e-6 * c.pairs.max()),
        lambda c: replace(c, inverse=c.inverse * 1.001),
        lambda c: replace(c, workload=workloads.histogram(300)),
        lambda c: replace(c, prior=np.linspace(2, 1, 300) / 450),
    ],
)
def test_forged_ones_are_refused(honest, forged):
    assert honest.verify()
    assert not forged(honest).verify()


def test_forged_files_are_refused(honest):
    written = certificate_file.write(honest, "3")
    document = json.loads(written.document)
    for change in ({"value": document["value"] * 1.0001}, {"epsilon": "3.1"}, {"workload": {"gram": "all_range"}}):
        with pytest.raises(ValueError):
            verify.verified(json.dumps({**document, **change}), written.arrays)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "gain"), [(1.0, 0.009), (3.0, 0.06)])
def test_a_proof_for_two_thousand_types(epsilon, gain):
    workload = workloads.prefix(2000)
    found = bounds.certificate(workload, epsilon, time_limit=None)
    written = certificate_file.write(found, f"{epsilon:g}")
    assert verify.verified(written.document, written.arrays)
    assert found.value > (1 + gain) * closed_form(workload, epsilon, np.full(2000, 1 / 2000)).value
