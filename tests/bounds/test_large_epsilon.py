"""Bounds for large epsilon: randomized response is proved to be best where it is."""

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, optimize, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.general import dual
from ldp_core.bounds.general.certificate import general_certificate
from ldp_core.bounds.general.singles import of_single_entries
from ldp_core.designs import certificate_file
from ldp_core.run import Budget
from tests.exact import all_sets

KINDS = {
    "histogram": workloads.histogram,
    "totals": workloads.prefix,
    "ranges": workloads.all_range,
    "width 8": lambda n: workloads.width_range(n, 8),
    "histogram and totals": lambda n: workloads.union([workloads.histogram(n), workloads.prefix(n)]),
    "pairs": lambda n: workloads.product([workloads.prefix(n // 3), workloads.histogram(3)]),
    "random": lambda n: workloads.custom(np.random.default_rng(n).integers(0, 2, (30, n)).astype(float)),
    "real": lambda n: workloads.custom(np.random.default_rng(n).standard_normal((9, n))),
}


def gap(workload, objective, found):
    """In users."""
    assert found.variance > 0
    return (objective - workload.trace) / (found.value - workload.trace) - 1


def objective(workload, epsilon):
    return analysis.objective(mechanisms.create("randomized_response", workload.n, epsilon), workload)


@pytest.mark.promise
@pytest.mark.parametrize("epsilon", [8.0, 11.0, 16.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [9, 33, pytest.param(129, marks=pytest.mark.slow)])
def test_randomized_response_is_proved_to_be_best(kind, n, epsilon):
    workload = KINDS[kind](n)
    if n > 33 and epsilon < 10:
        pytest.skip("pairs of types are better there")
    found = bounds.certificate(workload, epsilon, None)
    assert found.verify()
    assert abs(gap(workload, objective(workload, epsilon), found)) < 1e-3
    files = certificate_file.write(found, f"{epsilon:g}")
    assert verify.verified(files.document, files.arrays)
    assert certificate_file.read(files, workload, f"{epsilon:g}").value == pytest.approx(found.value, rel=1e-8)


@pytest.mark.parametrize("n", [2, 5, 6, 16, 24, 39, 100])
def test_no_epsilon_is_too_large_for_a_histogram(n):
    workload = workloads.histogram(n)
    for epsilon in range(10, 21):
        found = bounds.certificate(workload, float(epsilon), None)
        assert found.verify()
        assert abs(gap(workload, objective(workload, float(epsilon)), found)) < 1e-3


@pytest.mark.parametrize("epsilon", [4.0, 6.0, 9.0])
@pytest.mark.parametrize("kind", ["totals", "ranges", "random", "real"])
@pytest.mark.parametrize("even", [True, False])
def test_what_holds_for_pairs_holds_for_all_sets(kind, epsilon, even):
    """Against all 2^n rows; and randomized response is the optimum where no row violates the condition."""
    workload, n, E = KINDS[kind](9), 9, np.exp(epsilon)
    prior = np.full(n, 1 / n) if even else np.random.default_rng(5).dirichlet(np.full(n, 9.0))
    made = of_single_entries(workload.gram_dense(), E, prior)
    v = 1 + (E - 1) * all_sets(n)
    left = np.einsum("ki,ij,kj->k", v, made.inverse @ workload.gram_dense() @ made.inverse, v)
    lacks = left / ((v @ (n * prior)) * v.sum(axis=1)) - v @ made.mu / v.sum(axis=1)
    high, rounding = all_sets(n).sum(axis=1), 1e-11 * np.abs(made.mu).max()
    assert np.abs(lacks[high == 1]).max() < rounding
    if lacks[high == 2].max() < rounding:
        assert lacks.max() < 3 * rounding
        found = general_certificate(workload, epsilon, prior, Budget(None, None, None, None))
        optimum = optimize.exact(workload, epsilon, prior).objective
        assert found.value == pytest.approx(optimum, rel=1e-5)
        assert made.exactly == pytest.approx(optimum, rel=1e-5)
    elif epsilon == 9:
        pytest.fail("single entries are enough for nine types there")


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(
    ("kind", "n", "epsilon"), [("totals", 33, 6.0), ("totals", 64, 7.0), ("ranges", 64, 7.0), ("random", 96, 6.0)]
)
def test_the_search_goes_on_where_single_entries_do_not_suffice(kind, n, epsilon, even):
    workload = KINDS[kind](n)
    prior = np.full(n, 1 / n) if even else np.random.default_rng(5).dirichlet(np.full(n, 30.0))
    found = bounds.certificate(workload, epsilon, None, None if even else prior)
    design = optimize.design(workload, epsilon, None, max_rounds=60, prior=None if even else prior)
    assert found.verify()
    least = n * float(prior @ workload.gram_diag)
    assert -1e-9 < (design.objective - least) / (found.value - least) - 1 < 0.03


def test_types_are_looked_at_one_by_one_where_few_entries_are_high(monkeypatch):
    """Blocks of types, which suffice for totals at small epsilon, prove next to nothing there."""
    workload = workloads.prefix(48)
    whole = bounds.certificate(workload, 6.5, None)
    monkeypatch.setattr(dual, "BLOCKS", 32)
    monkeypatch.setattr(dual, "FEW_TYPES", 40)
    found = bounds.certificate(workload, 6.5, None)
    assert found.variance == pytest.approx(whole.variance, rel=0.02)
