"""Certificates against an adversary: what floating point accepts, rational arithmetic over all 2^n rows must accept too."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldp_core import bounds, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.proof import Certificate, decimal
from ldp_core.bounds.symmetric import symmetric_certificate
from tests.certificates import attained, forged, matrix
from tests.exact import e_to_the

NUMBERS = {
    "inverse": np.array([-6.727200840928755e17, 2.8830860746837523e17, -1.235608317721608e17]),
    "multipliers": np.array([1.0, 1.0]),
    "diagonal": np.zeros(2),
    "pairs": np.zeros(3),
    "sizes": np.zeros(0),
    "size_multipliers": np.zeros(0),
}
FORGED = Certificate(workloads.custom([[0.3, 0.7]]), 1.0, 477.0, "general", NUMBERS, np.array([0.5, 0.5]))


def exact_matrix(workload):
    """W in fractions."""
    if isinstance(workload, workloads.Union):
        pairs = zip(workload.parts, workload.weights, strict=True)
        return [[Fraction(w) * entry for entry in row] for part, w in pairs for row in exact_matrix(part)]
    return [[Fraction(float(entry)) for entry in row] for row in workload.matrix]


def proved_exactly(workload, epsilon, prior, C, mu):
    """What C (n x n) and mu (n) of fractions prove: the condition in rational arithmetic for each of the 2^n rows."""
    n, W, E = workload.n, exact_matrix(workload), e_to_the(epsilon)[1]
    types = range(n)
    WC = [[sum(row[k] * C[k][j] for k in types) for j in types] for row in W]
    trace = sum(a * b for left, right in zip(W, WC, strict=True) for a, b in zip(left, right, strict=True))
    r = [n * Fraction(float(p)) for p in prior]
    missing = Fraction(0)
    for v in itertools.product((Fraction(1), E), repeat=n):
        length = sum(sum(row[j] * v[j] for j in types) ** 2 for row in WC)  # v'C G C v
        mass = sum(r[j] * v[j] for j in types)
        missing = max(missing, (length / mass - sum(mu[j] * v[j] for j in types)) / sum(v))
    total = sum(mu) + n * missing
    return trace**2 / total if trace > 0 and total > 0 else Fraction(0)


def exactly(certificate):
    """`proved_exactly` of a certificate of any kind."""
    workload, n = certificate.workload, certificate.workload.n
    if certificate.kind == "classes":  # all mu are alike, and the least that will do
        C, mu = by_types(certificate), [Fraction(0)] * n
    else:
        C = [[Fraction(entry) for entry in row] for row in matrix(certificate, "inverse").tolist()]
        mu = [Fraction(float(entry)) for entry in certificate.numbers["multipliers"]]
    prior = np.full(n, 1 / n) if certificate.prior is None else certificate.prior
    return proved_exactly(workload, certificate.epsilon, prior, C, mu)


@np.errstate(all="ignore")
def by_script(certificate):
    """What the script says of the numbers alone, which may be less than that no variance is negative."""
    text = decimal(certificate.epsilon)
    try:
        return verify.by_numbers(*certificate.to_file(text), verify.exp_epsilon_minus_one(text))
    except ValueError:
        return -math.inf


def by_types(certificate):
    """C written out: sum of its eigenvalues times the projections onto the classes of characters."""
    scheme = certificate.workload.symmetry_group.scheme
    n, K = scheme.n, scheme.eigenvalues
    classes = [
        sum(Fraction(float(c)) * int(k) for c, k in zip(certificate.numbers["inverse"], row, strict=True)) / n
        for row in K
    ]
    of = (lambda u, v: (u ^ v).bit_count()) if scheme.binary else (lambda u, v: int(u != v))
    # The schemes are self-dual: entry of class i is sum_j C_j K_j(i) / n.
    return [[classes[of(u, v)] for v in range(n)] for u in range(n)]


# --- a certificate that was accepted ----------------------------------------------------------------------------------


def test_a_forgery_that_lives_off_rounding_is_refused():
    assert attained(FORGED.workload, 1.0) < 2
    assert not FORGED.verify()
    assert by_script(FORGED) <= exactly(FORGED)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e6, 1e30, 1e60])
@pytest.mark.parametrize("total", [1e-30, 1e-6, 1.0, 1e9])
def test_no_scale_of_the_forgery_is_better(scale, total):
    other = forged(FORGED, inverse=NUMBERS["inverse"] * scale, multipliers=np.full(2, total))
    assert by_script(other) <= min(attained(FORGED.workload, 1.0), max(0, exactly(other)))


# --- attacks at large ---------------------------------------------------------------------------------------------------


def nearly_singular(kind, n, rng):
    """Workloads whose Gram matrix is singular, or all but."""
    row = rng.random(n).round(1) + 0.1
    if kind == "one query":
        return workloads.custom(row[None])
    if kind == "nearly parallel":
        return workloads.custom(np.vstack([row, row * (1 + 1e-9 * rng.standard_normal(n))]))
    if kind == "weighted":
        return workloads.union([workloads.custom(row[None]), workloads.prefix(n)], [0.7, 1e-8])
    if kind == "signs":
        return workloads.custom(rng.standard_normal((max(1, n - 1), n)))
    return workloads.prefix(n)


@settings(max_examples=40)
@given(
    kind=st.sampled_from(["one query", "nearly parallel", "weighted", "signs", "prefix"]),
    n=st.integers(2, 5),
    epsilon=st.floats(0.01, 8),
    height=st.floats(-4, 22),
    total=st.floats(-12, 12),
    seed=st.integers(0, 2**32 - 1),
)
@example(kind="one query", n=2, epsilon=1.0, height=17.0, total=0.0, seed=0)
def test_nothing_that_rounding_alone_supports_is_proven(kind, n, epsilon, height, total, seed):
    rng = np.random.default_rng(seed)
    workload = nearly_singular(kind, n, rng)
    null = np.linalg.eigh(workload.gram_dense())[1][:, 0] if rng.random() < 0.8 else rng.standard_normal(n)
    base = closed_form(workload, epsilon, np.full(n, 1 / n))
    C = rng.choice([0.0, 1.0]) * matrix(base, "inverse") + rng.choice([-1, 1]) * 10**height * np.outer(null, null)
    mu = (np.abs(rng.standard_normal(n)) if rng.random() < 0.7 else base.numbers["multipliers"]) * 10**total
    diagonal = base.numbers["diagonal"] * rng.choice([0.0, 1.0, 10**total])
    other = forged(base, inverse=(C + C.T) / 2, multipliers=mu, diagonal=diagonal)
    proven = by_script(other)
    assert proven <= exactly(other)
    assert proven <= attained(workload, epsilon)


SYMMETRIC = {
    "histogram 2": workloads.histogram(2),
    "histogram 4": workloads.histogram(4),
    "parity": workloads.parity(2, 1),
    "marginals": workloads.k_way_marginals(2, 1),
    "union": workloads.union([workloads.parity(2, 1), workloads.all_marginals(2)], [0.3, 1e-7]),
    "seen": workloads.union([workloads.k_way_marginals(2, 1), workloads.parity(2, 1)], [0.1, 0.7]),
}


@cache
def honest_symmetric(kind, epsilon):
    return symmetric_certificate(SYMMETRIC[kind], epsilon)


@settings(max_examples=30)
@given(
    kind=st.sampled_from(list(SYMMETRIC)),
    epsilon=st.sampled_from([0.1, 1.0, 5.0]),
    height=st.floats(-4, 30),
    seed=st.integers(0, 2**32 - 1),
)
def test_nor_for_symmetric_workloads(kind, epsilon, height, seed):
    rng, base = np.random.default_rng(seed), honest_symmetric(kind, epsilon)
    inverse = base.numbers["inverse"].copy()
    inverse[rng.integers(len(inverse))] += rng.choice([-1, 1]) * 10**height
    other = forged(base, inverse=inverse)
    assert by_script(other) <= max(0, exactly(other))


def test_nothing_is_proven_by_a_matrix_that_rounding_swallows():
    # C = H (c I - v v') with W v all but 0: the true C G C is c^2 H^2 G, the computed one rounding of size u H^2.
    rng, tried = np.random.default_rng(0), 0
    for _ in range(600):
        n = int(rng.integers(2, 4))
        w = rng.random(n).round(2) + 0.01
        v = rng.standard_normal(n)
        v -= w * (w @ v) / (w @ w)
        height, small = 10 ** rng.uniform(3, 12), 10 ** rng.uniform(-15, -5)
        C = height * (small * np.eye(n) - np.outer(v, v) / (v @ v))
        base = closed_form(workloads.custom(w[None]), 1.0, np.full(n, 1 / n))
        trace = small * height * (w @ w)
        mu = np.full(n, trace * 10 ** rng.uniform(-6, 1))
        proven = by_script(forged(base, inverse=(C + C.T) / 2, multipliers=mu, diagonal=np.zeros(n)))
        tried += proven > 0
        assert proven <= attained(workloads.custom(w[None]), 1.0, ["randomized_response"])
    assert tried > 15


def test_eigenvalues_that_cancellation_spoils_are_not_relied_on():
    # G = a^2 J + b^2 I with b of 1e-7.5 to 1e-6: b^2 is right to a few per cent in floating point. A proof that leaves the ones
    # alone lives off b^2 only.
    rng, proved = np.random.default_rng(0), 0
    base = symmetric_certificate(workloads.histogram(4), 1.0)
    for _ in range(60):
        a, b = rng.uniform(0.1, 3), 10 ** rng.uniform(-7.5, -6)
        workload = workloads.union([workloads.parity(2, 0), workloads.histogram(4)], [a, b])
        inverse = np.zeros(workload.symmetry_group.scheme.classes)
        inverse[1:] = base.numbers["inverse"][1] / b
        own = base.numbers["pairs"]
        numbers = {"inverse": inverse, "pairs": np.append(own, [own[1]] * (len(inverse) - 2))}
        numbers |= dict.fromkeys(("cut_multipliers", "floors"), np.zeros(0))
        other = replace(base, workload=workload, numbers=numbers)
        proved += by_script(other) > 0
        assert by_script(other) <= max(0, exactly(other))
    assert proved > 30


def test_tight_proofs_are_not_off_by_a_unit_in_the_last_place():
    # A set of types of probability 1/(E + 1) makes the closed form's condition an equality for the row that favours it.
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, epsilon = int(rng.integers(2, 5)), rng.uniform(0.2, 3)
        favoured, others = rng.dirichlet(np.ones(n - 1)), 1 / (1 + math.exp(epsilon))
        prior = np.append(favoured * (1 - others), others)
        workload = workloads.custom(rng.standard_normal((n, n)))
        certificate = closed_form(workload, epsilon, prior)
        exact = exactly(certificate)
        assert (1 - Fraction(1, 10**8)) * exact < by_script(certificate) <= exact


# --- honest ones lose nothing visible -----------------------------------------------------------------------------------


HONEST = {
    "prefix": workloads.prefix(6),
    "all_range": workloads.all_range(6),
    "histogram": workloads.histogram(6),
    "parity": workloads.parity(2, 1),
    "custom": workloads.custom(np.random.default_rng(0).standard_normal((4, 6))),
    "union": workloads.union([workloads.prefix(6), workloads.histogram(6)], [0.1, 3.3]),
}


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("kind", HONEST)
def test_honest_certificates_hold_in_rational_arithmetic(kind, epsilon):
    workload = HONEST[kind]
    closed = closed_form(workload, epsilon, np.full(workload.n, 1 / workload.n))
    assert closed.value == pytest.approx(max(bounds.centred_svd(workload, epsilon), workload.trace), rel=1e-6)
    for certificate in (bounds.certificate(workload, epsilon, None), closed):
        assert certificate.verify()
        assert certificate.value <= max(exactly(certificate), workload.trace)
