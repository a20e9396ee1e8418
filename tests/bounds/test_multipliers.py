"""Bounds from multipliers: against all rows, general solvers, finite differences and dense formulas; what they gain; forged ones refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general import dual
from ldp_core.bounds.general.certificate import closed_form, general_certificate, of
from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers
from ldp_core.bounds.proof import MARGIN
from ldp_core.designs import certificate_file
from ldp_core.run import Budget
from tests.certificates import matrix

WORKLOADS = {
    "prefix": workloads.prefix,
    "all_range": workloads.all_range,
    "width": lambda n: workloads.width_range(n, 2),
}
TRIANGLES = np.array([[0, 1, 2, 1, -1, -1, -1], [3, 0, 1, 1, 1, 1, 1]], dtype=float)


def some_multipliers(n, epsilon, rng, prior):
    """Near those of the closed form, so that A stays definite, with others that are by no means small."""
    pairs = np.tril(rng.random((n, n)) * (rng.random((n, n)) < 0.3), -1)
    cuts = Cuts.read(TRIANGLES[: max(0, n - 2)][: 2 if n > 3 else 1], n) if n > 2 else Cuts.none(n)
    sizes = np.arange(1.0, min(n, 4))
    return Multipliers(
        prior * rng.uniform(0.8, 1.2, n),
        0.1 * math.exp(epsilon) / n * np.outer(prior, prior) * (pairs + pairs.T),
        sizes,
        0.02 / n**2 * rng.random(len(sizes)) * prior.min(),
        cuts,
        0.02 * rng.random(len(cuts)) * prior.min(),
    )


def pieces(found, epsilon):
    """A, c and b as the module's docstring has them, term by term."""
    D, n = math.expm1(epsilon), len(found.q)
    form = np.zeros((n + 1, n + 1))  # of all that is taken away, in (1, y)
    form[1:, 1:] = found.pairs
    ones = np.ones(n)
    for k, kappa in zip(found.sizes, found.size_multipliers, strict=True):
        form += kappa * np.block(
            [[k * (k + 1) * D**2, -(k + 0.5) * D * ones], [-(k + 0.5) * D * ones[:, None], np.ones((n, n))]]
        )
    for row, nu in zip(found.cuts.written, found.cut_multipliers, strict=True):
        c, k, w = np.zeros(n), row[-1], len(row) // 2
        c[row[:w].astype(int)] = row[w : 2 * w]
        linear = D / 2 * (c**2 - (2 * k + 1) * c)  # as y_i^2 = D y_i
        form += nu * np.block([[k * (k + 1) * D**2, linear], [linear[:, None], np.outer(c, c) - np.diag(c**2)]])
    Q, f, h = np.diag(found.q) - form[1:, 1:], form[0, 1:], form[0, 0]
    w = Q @ ones + D * found.q / 2 + f
    c = 2 * (D * found.q.sum() / 2 + f.sum()) + Q.sum() - h
    A = Q - np.outer(w, w) / c
    return A, c, -A.sum()


def matrix_root(A):
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def bound_by_dense_formulas(workload, found, epsilon, prior):
    """n (p'Gp + |A^(1/2) K^(1/2)|_*^2 / b) by matrix roots and singular values, in a basis of the vectors whose entries sum to 0."""
    A, _, b = pieces(found, epsilon)
    n, G = workload.n, workload.gram_dense()
    basis = np.linalg.svd(np.ones((1, n)))[2][1:].T
    off_prior = (np.eye(n) - np.outer(np.ones(n), prior)) @ basis
    roots = matrix_root(off_prior.T @ A @ off_prior) @ matrix_root(basis.T @ G @ basis)
    return n * (prior @ G @ prior + np.linalg.svd(roots, compute_uv=False).sum() ** 2 / b)


@given(seed=st.integers(0, 2**32 - 1), epsilon=st.floats(0.1, 5), n=st.integers(2, 9))
def test_no_row_has_a_positive_form(seed, epsilon, n):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(n))
    found = some_multipliers(n, epsilon, rng, prior)
    A, c, b = pieces(found, epsilon)
    form = found.form(math.expm1(epsilon))
    assert pytest.approx(A, rel=1e-9, abs=1e-12) == form.A
    assert form.c == pytest.approx(c)
    assert form.top / form.c == pytest.approx(b, rel=1e-6)
    rows = np.array(list(itertools.product([1.0, math.exp(epsilon)], repeat=n)))
    values = np.einsum("ki,ij,kj->k", rows, A, rows)
    assert form.A is not None
    assert values.max() <= 1e-9 * np.abs(A).sum() * math.exp(2 * epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_proof_is_that_of_the_formula(kind, epsilon):
    rng, workload = np.random.default_rng(3), WORKLOADS[kind](9)
    for prior in (np.full(9, 1 / 9), rng.dirichlet(np.full(9, 3.0))):
        found = some_multipliers(9, epsilon, rng, prior)
        proof = of(found, workload, epsilon, prior)
        proved = bound_by_dense_formulas(workload, found, epsilon, prior)
        assert proof.proven() == pytest.approx(max(proved, proof.trivial), rel=1e-7)
        assert proof.value == pytest.approx(max(proved, len(prior) * prior @ workload.gram_diag), rel=1e-7)
        assert proof.verify()
        # On the scale where C is the inverse of an information matrix: its row sums are n p.
        assert matrix(proof, "inverse").sum(axis=1) == pytest.approx(9 * prior, rel=1e-7)


def last_of(workload, epsilon, prior, stop=lambda: False):
    *_, last = dual.searched(workload, epsilon, prior, stop)
    return of(last, workload, epsilon, prior)


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


@pytest.mark.parametrize("case", CASES)
def test_blocks_gain_on_the_closed_form_and_others_can_check_it(case):
    made, epsilon, prior, gain = CASES[case]
    workload, prior = made(300), np.full(300, 1 / 300) if prior is None else prior
    found = last_of(workload, epsilon, prior)
    assert found.verify()
    assert found.value > (1 + gain) * closed_form(workload, epsilon, prior).value
    written = certificate_file.write(found, f"{epsilon:g}")
    assert "no mechanism" in verify.verified(written.document, written.arrays)
    assert certificate_file.read(written, workload, f"{epsilon:g}").value == pytest.approx(found.value, rel=MARGIN)


@pytest.mark.parametrize(("n", "side"), [(256, 16), pytest.param(300, 15, marks=pytest.mark.slow)])
def test_blocks_suffice_where_types_are_alike(n, side):
    rng = np.random.default_rng(1)
    asked = {
        workloads.prefix(n): True,
        workloads.all_range(n): True,
        workloads.product([workloads.prefix(side), workloads.prefix(n // side)]): True,
        workloads.custom(rng.standard_normal((n, n))): False,
    }
    for workload, expected in asked.items():
        for prior in (np.full(n, 1 / n), np.linspace(3, 1, n) / (2 * n)):
            assert dual.suffice(workload, prior) == expected
        assert dual.suffice(workload) == expected


def test_a_search_that_is_stopped_hands_out_what_it_has():
    workload, prior = workloads.prefix(300), np.full(300, 1 / 300)
    found = general_certificate(workload, 3.0, prior, Budget(None, None, lambda: True))
    assert found.verify()
    assert found.value == pytest.approx(bounds.centred_svd(workload, 3.0), rel=1e-6)


def test_many_types_are_left_at_once_when_cancelled_and_bounded_whatever_the_time_limit(lower, clock):
    lower(UNASKED_TYPES=512)
    workload = workloads.custom(np.random.default_rng(0).standard_normal((4, 520)))
    assert bounds.certificate(workload, 1.0, None, cancel=lambda: True).value == workload.trace
    assert bounds.worst_case(workload, 1.0, None, np.full(520, 1 / 520), cancel=lambda: True).value == workload.trace
    hurried = bounds.certificate(workload, 1.0, time_limit=0)
    assert hurried.verify()
    assert hurried.value == pytest.approx(bounds.centred_svd(workload, 1.0), rel=1e-6)
