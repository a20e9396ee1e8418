"""The certificate: its proof re-checked by brute force, tampering, CVXPY oracles, symmetric and prior variants."""

import itertools
import math
from dataclasses import replace
from functools import cache, partial

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.bounds.general.certificate import closed_form, general_certificate
from ldp_core.bounds.proof import MARGIN
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.optimize import design, exact
from ldp_core.run import Budget
from tests.certificates import forged, matrix
from tests.exact import all_sets
from tests.refused import refused

UNIFORM = {n: np.full(n, 1 / n) for n in range(2, 65)}
# Values of the moment relaxation (with non-negative 0/1 moments) found with a general solver: prefix, 32 types.


def general(workload, epsilon, prior=None):
    """The certificate by types, without use of symmetry."""
    return general_certificate(workload, epsilon, UNIFORM[workload.n] if prior is None else prior, Budget())


def bound_by_brute_force(certificate):
    """What C and mu of a certificate prove, with the condition looked at for all 2^n rows; at least that no variance is negative."""
    workload, n = certificate.workload, certificate.workload.n
    G, C, mu = workload.gram_dense(), matrix(certificate, "inverse"), certificate.numbers["multipliers"]
    rows = 1 + np.expm1(certificate.epsilon) * all_sets(n)
    masses = n * rows @ certificate.prior
    left = np.einsum("ki,ij,kj->k", rows, C @ G @ C, rows)
    missing = np.max((left / masses - rows @ mu) / rows.sum(axis=1))
    return max(certificate.trivial, np.trace(C @ G) ** 2 / (mu.sum() + n * max(0.0, missing)))


WORKLOADS = {
    "prefix": workloads.prefix,
    "all_range": workloads.all_range,
    "histogram": workloads.histogram,
    "width": lambda n: workloads.width_range(n, 2),
}
kinds = st.sampled_from(list(WORKLOADS))


@pytest.mark.promise
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("kind", WORKLOADS)
@pytest.mark.parametrize("n", [2, 5, 7, pytest.param(9, marks=pytest.mark.slow)])
def test_the_proof_holds_for_all_rows(kind, n, epsilon):
    certificate = general(WORKLOADS[kind](n), epsilon)
    assert certificate.verify()
    assert certificate.proven() * (1 - 2 * MARGIN) <= certificate.value < certificate.proven()
    assert certificate.value <= bound_by_brute_force(certificate) * (1 + 1e-9)


@pytest.mark.crossed
@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_is_just_below_the_best_strategy(kind, epsilon, with_prior):
    workload = WORKLOADS[kind](8)
    prior = np.arange(1.0, 9) / 36 if with_prior else UNIFORM[8]
    best = design(workload, epsilon, time_limit=None, max_rounds=120, prior=prior).objective
    certificate = bounds.certificate(workload, epsilon, None, prior)
    assert certificate.verify()
    assert 0.98 * best < certificate.value <= best * (1 + 1e-9)
    assert certificate.value >= bounds.centred_svd(workload, epsilon, prior) * (1 - 1e-6)


def size_form(k, n, D):
    """The matrix in (1, y) of (sum y - k D)(sum y - (k + 1) D)."""
    form = np.ones((n + 1, n + 1))
    form[0, 0] = k * (k + 1) * D**2
    form[0, 1:] = form[1:, 0] = -(k + 0.5) * D
    return form


def relaxation_by_cvxpy(workload, epsilon, triangles=False):
    """The relaxation of the moments of rows whose dual `ldp_core.bounds.general.dual` solves, by a general solver; with ``triangles``
    also all the cuts of `ldp_core.bounds.general.few_types`, as they stand in textbooks."""
    n, D = workload.n, math.expm1(epsilon)
    Y = cp.Variable((n + 1, n + 1), PSD=True)
    a, b, T = Y[0, 0], Y[0, 1:], Y[1:, 1:]
    ones = np.ones((n, 1))
    column = cp.reshape(b, (n, 1), order="C")
    M = a * np.ones((n, n)) + column @ ones.T + ones @ column.T + T
    middle = int(n / (D + 2))
    sizes = [k for k in (middle - 1, middle, middle + 1) if 1 <= k < n] or [1]
    constraints = [cp.diag(T) == D * b, T >= 0, cp.sum(M, axis=1) == 1]
    constraints += [cp.sum(cp.multiply(size_form(k, n, D), Y)) >= 0 for k in sizes]
    if triangles:
        for i, j, k in itertools.combinations(range(n), 3):
            constraints += [D * b[x] + T[y, z] >= T[x, y] + T[x, z] for x, y, z in ((i, j, k), (j, i, k), (k, i, j))]
            constraints.append(D**2 * a + T[i, j] + T[i, k] + T[j, k] >= D * (b[i] + b[j] + b[k]))
    objective = cp.matrix_frac(workload.gram_root.T, M)
    return float(cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL"))


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_relaxation_against_a_general_solver(kind, epsilon):
    workload = WORKLOADS[kind](6)
    value = general(workload, epsilon).value
    expected = relaxation_by_cvxpy(workload, epsilon)
    # Cuts on few types say more than the relaxation, and never too much.
    assert expected * (1 - 1.5e-3) < value < exact(workload, epsilon).objective * (1 + 1e-9)


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [3.0, 1.0, 0.3])
@pytest.mark.parametrize(("queries", "n"), [(1, 8), (5, 20), pytest.param(10, 40, marks=pytest.mark.slow)])
def test_few_questions_about_many_types_are_bounded_as_closely(queries, n, epsilon):
    workload = workloads.custom(np.random.default_rng(n).standard_normal((queries, n)))
    found = bounds.certificate(workload, epsilon, time_limit=None)
    best = design(workload, epsilon, time_limit=None, max_rounds=200).objective
    assert found.verify()
    assert 0.85 * best < found.value < best
    if n == 8:  # the general solver is not exact for more
        assert found.value == pytest.approx(relaxation_by_cvxpy(workload, epsilon, triangles=True), rel=4e-3)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_closed_form_proves_the_centred_svd_bound(kind, with_prior, epsilon):
    workload = WORKLOADS[kind](12)
    prior = np.random.default_rng(1).dirichlet(np.ones(12)) if with_prior else UNIFORM[12]
    certificate = closed_form(workload, epsilon, prior)
    assert certificate.verify()
    proved = max(bounds.centred_svd(workload, epsilon, prior), 12 * prior @ workload.gram_diag)
    assert certificate.proven() == pytest.approx(proved, rel=1e-6)
    assert certificate.value == pytest.approx(proved, rel=1e-6)
    assert certificate.proven() <= bound_by_brute_force(certificate) * (1 + 1e-9)


@pytest.mark.parametrize("rows", [np.ones((1, 6)), np.outer([1.0, -0.3, 0.0], np.ones(4)), np.full((1, 2), 1e-3)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 16.0])
def test_the_bound_of_a_constant_is_exact(rows, epsilon):
    """It is known without a question, so its variance is 0: L = tr G."""
    workload = workloads.custom(rows)
    prior = np.arange(1.0, rows.shape[1] + 1)
    for certificate in (
        bounds.certificate(workload, epsilon, None),
        bounds.certificate(workload, epsilon, None, prior / prior.sum()),
        bounds.worst_case(workload, epsilon, None),
    ):
        assert certificate.verify()
        assert certificate.variance == pytest.approx(0.0, abs=1e-12 * workload.trace)
        assert certificate.value == pytest.approx(workload.trace, rel=1e-12)
        assert not replace(certificate, value=workload.trace * (1 + 1e-9)).verify()


# --- tampering ------------------------------------------------------------------------------------------------------

ARRAYS = ["inverse", "multipliers", "diagonal", "pairs", "size_multipliers"]


@cache
def honest():
    workload = workloads.prefix(8)
    best = design(workload, 2.0, time_limit=None, max_rounds=120).objective
    return bounds.certificate(workload, 2.0, None), best


@settings(max_examples=150)
@given(st.sampled_from(ARRAYS), st.floats(-8, 1), st.integers(0, 2**32 - 1))
def test_nothing_false_is_ever_proven(field, size, seed):
    # Whatever the arrays hold, what they prove is true: at most what the best strategy attains.
    certificate, best = honest()
    array = certificate.numbers[field]
    noise = 10**size * np.abs(array).max() * np.random.default_rng(seed).standard_normal(array.shape)
    changed = array + noise
    if field in ("pairs", "size_multipliers"):
        changed = np.abs(changed)
    assert forged(certificate, **{field: changed}).proven() <= best * (1 + 1e-9)


# --- symmetric workloads --------------------------------------------------------------------------------------------

SYMMETRIC = [
    workloads.histogram(16),
    workloads.all_marginals(4),
    workloads.k_way_marginals(4, 2),
    workloads.parity(4),
    workloads.parity(5, 2),
]


@pytest.mark.crossed
@pytest.mark.parametrize(
    "epsilon", [pytest.param(0.25, marks=pytest.mark.slow), 1.0, pytest.param(3.0, marks=pytest.mark.slow), 6.0]
)
@pytest.mark.parametrize("workload", SYMMETRIC, ids=repr)
def test_symmetric_certificates_agree_with_general_ones(workload, epsilon):
    small, large = bounds.certificate(workload, epsilon, None), general(workload, epsilon)
    assert (small.kind, large.kind) == ("classes", "general")
    assert small.verify()
    assert large.verify()
    # Whole-number cuts are in the symmetric relaxation only, which makes it stronger for low degrees.
    assert small.value >= large.value * (1 - 1e-5)
    if workload.symmetry == "exchangeable":
        assert small.value == pytest.approx(large.value, rel=2.5e-3)
    best = design(workload, epsilon, time_limit=None, max_rounds=60).objective
    assert small.value <= best * (1 + 1e-9)
    assert best < 1.02 * small.value


UNTRUE_CUTS = {
    "fraction": (np.array([1.0, 0.5, 0.0, 0.0, 0.0]), 0.0),
    "fractional floor": (np.ones(5), 0.5),
    "shape": (np.ones((2, 5)), 0.0),
    "not exact": (np.array([2.0**60, 0.0, 0.0, 0.0, 0.0]), 0.0),
    "nan": (np.full(5, np.nan), 0.0),
    "empty axis": (np.ones((1, 5)), 0.0),
}


@pytest.mark.parametrize("name", UNTRUE_CUTS)
def test_cuts_that_are_not_true_prove_nothing(name):
    certificate = symmetric_certificate(workloads.parity(4, 1), 1.0)
    assert with_cut(certificate, *UNTRUE_CUTS[name]).proven() == -np.inf
    exchangeable = symmetric_certificate(workloads.histogram(16), 1.0)
    assert with_cut(exchangeable, np.zeros((2, 1)), 0.0).proven() == -np.inf  # attributes where there are none


def with_cut(certificate, weights, floor):
    """With a cut more, which counts for nothing."""
    held = certificate.numbers
    more = {name: np.append(held[name], x) for name, x in (("cut_multipliers", 0.0), ("floors", floor))}
    return forged(certificate, **more, **{f"cut{len(held['floors'])}": weights})


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("n", [2, 8, 32, 1000])
def test_subset_selection_is_certified_exactly(n, epsilon):
    workload = workloads.histogram(n)
    best = analysis.objective(mechanisms.create("subset_selection", n, epsilon), workload)
    value = bounds.certificate(workload, epsilon, None).value
    assert best * (1 - 1e-5) < value <= best * (1 + 1e-12)


@settings(max_examples=60)
@given(
    st.sampled_from(["inverse", "pairs", "cut_multipliers", "epsilon"]),
    st.floats(-8, 1),
    st.integers(0, 2**32 - 1),
)
def test_symmetric_certificates_prove_nothing_false(field, size, seed):
    certificate, best = honest_symmetric()
    held = np.asarray(certificate.epsilon if field == "epsilon" else certificate.numbers[field])
    changed = held + 10**size * np.abs(held).max() * np.random.default_rng(seed).standard_normal(held.shape)
    if field == "epsilon":  # a larger epsilon allows more: what is proven for it holds for the smaller one
        changed = min(20.0, certificate.epsilon + abs(float(changed) - certificate.epsilon))
    if field in ("pairs", "cut_multipliers"):
        changed = np.abs(changed)
    assert forged(certificate, **{field: changed}).proven() <= best * (1 + 1e-9)


@cache
def honest_symmetric():
    best = analysis.objective(mechanisms.create("subset_selection", 8, 2.0), workloads.histogram(8))
    return symmetric_certificate(workloads.histogram(8), 2.0), best


# --- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.001, 8.0, 20.0])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_extreme_epsilon(n, epsilon):
    workload = workloads.prefix(n)
    certificate = bounds.certificate(workload, epsilon, None)
    assert certificate.verify()
    best = design(workload, epsilon, time_limit=None, max_rounds=60).objective
    assert bounds.centred_svd(workload, epsilon) * (1 - 1e-4) <= certificate.value <= best * (1 + 1e-9)


# --- the worst case -------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(kinds, st.integers(2, 20), st.floats(0.1, 4))
def test_no_mechanism_has_a_smaller_worst_case(kind, n, epsilon):
    workload = WORKLOADS[kind](n)
    bound = bounds.worst_case_variance(workload, epsilon)
    assert bound >= (bounds.centred_svd(workload, epsilon) - workload.trace) / n * (1 - 1e-9)
    for name in ("randomized_response", "subset_selection", "hadamard", "hierarchical"):
        assert bound <= analysis.worst_case_variance(mechanisms.create(name, n, epsilon), workload) * (1 + 1e-9)


@pytest.mark.parametrize("call", [partial(bounds.certificate, time_limit=None), bounds.worst_case_variance])
def test_bad_epsilon_and_priors_are_refused(call):
    refused("out of range", lambda: call(workloads.prefix(4), 0.0))
    refused("each of the 4 types", lambda: bounds.certificate(workloads.prefix(4), 1.0, None, np.full(3, 1 / 3)))
