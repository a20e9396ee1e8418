"""Gram matrices that rounding made indefinite, and others that were made so: no certificate lives off what they lack.

``tr(M^-1 G) >= 2 tr(C G) - tr(C G C M)`` needs a semidefinite G. If one eigenvalue is below 0, a
large C along its eigenvector makes C G C negative there, so that multipliers mu cost nothing.
"""

from fractions import Fraction

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.bounds import MergedCertificate, verify
from ldp_core.bounds.general.certificate import closed_form
from ldp_core.bounds.general.merged import scaled
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.workloads.quotient import quotient
from tests.certificates import attained, forged, matrix

SIZES = tuple(10.0**power for power in range(-3, 16, 2))


def least(matrix):
    """The smallest eigenvalue as computed, and its eigenvector."""
    values, vectors = np.linalg.eigh(matrix)
    return values[0], vectors[:, 0]


def value_of(matrix, w):
    """w'Gw in fractions."""
    exact = [Fraction(float(x)) for x in w]
    rows = [[Fraction(float(x)) for x in row] for row in matrix]
    return sum(a * x * b for a, row in zip(exact, rows, strict=True) for x, b in zip(row, exact, strict=True))


# --- the script -----------------------------------------------------------------------------------


def script_proves(honest, G, roundings, epsilon):
    """The most that the script says for C with more and more along the worst eigenvector of G, and smaller mu."""
    n, w = len(G), least(G)[1]
    below, found = np.tril_indices(n), -np.inf
    document = {
        "kind": "general",
        "types": n,
        "epsilon": epsilon,
        "workload": {"gram": "array", "roundings": roundings},
        "prior": "even",
    }
    for size in SIZES:
        for share in (1.0, 1e-3, 1e-8):
            arrays = {
                "gram": G[below],
                "inverse": honest.numbers["inverse"] + size * np.outer(w, w)[below],
                "multipliers": honest.numbers["multipliers"] * share,
                "diagonal": honest.numbers["diagonal"],
                "pairs": np.zeros(len(below[0])),
                "sizes": np.zeros(0),
                "size_multipliers": np.zeros(0),
            }
            try:
                found = max(found, verify.proven(document, arrays))
            except ValueError:
                continue
    return found


@pytest.mark.parametrize(("n", "epsilon"), [(2, "1"), (16, "0.5")])
@pytest.mark.parametrize("roundings", [0, 10, 2**20, 2**30])
def test_the_script_proves_no_more_of_indefinite_matrices_than_attained(n, epsilon, roundings):
    workload = workloads.custom(np.repeat([[1.0, -1.0]], n // 2, axis=1))
    honest = closed_form(workload, float(epsilon), np.full(n, 1 / n))
    most, G, ones = attained(workload, float(epsilon)), workload.gram_dense(), np.full((n, n), 1 / n)
    for lacking in (0.0, 2.0**-54, 2.0**-50, 1e-13, 1.8e-9, 1e-6, 0.1):
        for sign in (1, -1):  # too little of the constants, or too much
            assert script_proves(honest, G - sign * lacking * n * ones, roundings, epsilon) <= most * (1 + 1e-6 * n)


def test_an_honest_rounded_matrix_still_proves_its_bound():
    rng = np.random.default_rng(0)
    for n in (3, 8, 40):
        workload = workloads.custom(rng.random((n // 2, n)))  # singular, so rounding makes it indefinite
        found = closed_form(workload, 1.0, np.full(n, 1 / n))
        G, below = workload.gram_dense(), np.tril_indices(n)
        about = {"gram": "array", "roundings": workload.gram_roundings}
        document = {"kind": "general", "types": n, "epsilon": "1", "workload": about, "prior": "even"}
        assert verify.proven(document, {"gram": G[below], **found.numbers}) == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("lacking", [2.0**-52, 1e-9, 1e-3])
def test_a_negative_eigenvalue_of_classes_proves_nothing_more(lacking):
    honest = symmetric_certificate(workloads.histogram(8), 1.0)
    # Eigenvalues -lacking on the constants, and 1 elsewhere.
    gram = np.array([(7 - lacking) / 8, -(1 + lacking) / 8])
    for size in (0.0, *SIZES):
        arrays = {
            "gram": gram,
            "inverse": np.array([size, honest.numbers["inverse"][1]]),
            "pairs": honest.numbers["pairs"],
            "cut_multipliers": np.zeros(0),
            "floors": np.zeros(0),
        }
        document = {"kind": "classes", "types": 8, "epsilon": "1", "workload": {"gram": "classes", "bits": 0}}
        try:
            found = verify.proven(document, arrays)
        except ValueError:
            continue
        assert size == 0
        assert found <= attained(workloads.histogram(8), 1.0)


# --- the application ------------------------------------------------------------------------------


def rounded_below_zero(n, rng):
    """Questions whose Gram matrix, as computed, has an eigenvalue below 0, in fractions."""
    while True:
        workload = workloads.custom(rng.random((1, n)))
        if value_of(workload.gram_dense(), least(workload.gram_dense())[1]) < 0:
            return workload


@pytest.mark.parametrize("n", [2, 5])
def test_proofs_by_types_live_off_no_negative_eigenvalue_of_the_questions(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        workload = rounded_below_zero(n, rng)
        w, most = least(workload.gram_dense())[1], attained(workload, 1.0)
        honest = closed_form(workload, 1.0, np.full(n, 1 / n))
        for size in SIZES:
            for share in (1.0, 1e-3, 1e-8):
                C, mu = matrix(honest, "inverse") + size * np.outer(w, w), honest.numbers["multipliers"]
                assert forged(honest, inverse=(C + C.T) / 2, multipliers=mu * share).proven() <= most


def test_nor_do_those_by_merged_types():
    rng, workload = np.random.default_rng(0), workloads.custom(np.repeat([[0.3, 0.7, 0.1]], [4, 3, 5], axis=1))
    found, most = quotient(workload, 100), attained(workload, 1.0)
    honest = closed_form(found.workload, 1.0, found.even)
    tried = 0
    for vector in (least(found.workload.gram_dense())[1], *rng.standard_normal((3, 3))):
        for size in SIZES:
            C, mu = matrix(honest, "inverse") + size * np.outer(vector, vector), honest.numbers["multipliers"] * 1e-6
            types = forged(honest, inverse=C, multipliers=mu, value=most * found.workload.n / workload.n * 1.1)
            assert not MergedCertificate(workload, 1.0, scaled(workload, types), types).verify()
            tried += 1
    assert tried == 4 * len(SIZES)


@pytest.mark.parametrize("weight", [1e-7, 0.1, 0.3])
def test_nor_do_those_by_classes(weight):
    """Eigenvalues that are 0 are computed with rounding on either side of it."""
    workload = workloads.union([workloads.parity(3, 1), workloads.k_way_marginals(3, 1)], [weight, 0.7])
    honest, most = symmetric_certificate(workload, 1.0), attained(workload, 1.0)
    inverse = honest.numbers["inverse"]
    for place in range(len(inverse)):
        for size in (*SIZES, *(-one for one in SIZES)):
            assert forged(honest, inverse=inverse + size * np.eye(len(inverse))[place]).proven() <= most
