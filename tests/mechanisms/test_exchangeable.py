"""Randomized response and subset selection: closed forms against their written-out strategies and exact enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, workloads
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection, best_subset_size
from tests.refused import refused


@pytest.mark.parametrize("size", [1, 1199])
def test_large_strategies_written_out_are_probabilities(size):
    mechanism = SubsetSelection(1200, 8.0, size)
    Q = mechanism.strategy
    assert Q.sum(axis=0) == pytest.approx(np.ones(1200), abs=1e-12)
    assert np.log(Q.max() / Q.min()) <= 8.0
    assert Q.max() / Q.min() == pytest.approx(math.exp(8.0))


# --- the best size ------------------------------------------------------------------------------------------------


def histogram_objective(n, k, epsilon):
    """tr M^-1 for two-valued rows with k high entries (design notes): M has the eigenvalue 1 and n - 1 equal others."""
    E = math.exp(epsilon)
    high, low = E * n / (E * k + n - k), n / (E * k + n - k)
    variance = k / n * high**2 + (n - k) / n * low**2 - 1
    return 1 + (n - 1) ** 2 / variance


@settings(max_examples=80)
@given(st.integers(2, 400), st.floats(0.001, 12))
def test_the_best_size_is_the_best_of_all(n, epsilon):
    values = [histogram_objective(n, k, epsilon) for k in range(1, n)]
    chosen = best_subset_size(n, epsilon)
    assert values[chosen - 1] <= min(values) * (1 + 1e-9)
    mechanism = SubsetSelection(n, epsilon)
    assert mechanism.size == chosen == mechanism.parameters["size"]
    assert analysis.objective(mechanism, workloads.histogram(n)) == pytest.approx(min(values), rel=1e-6)


@pytest.mark.parametrize("size", [0, 5, 2.5, True])
def test_bad_sizes_are_refused(size):
    refused("whole number from 1 to 4", SubsetSelection, 5, 1.0, size)


# --- what is sent -------------------------------------------------------------------------------------------------


def test_users_beyond_one_hypergeometric_draw_come_in_batches(lower):
    counts = np.array([3 * 10**9, 0, 5, 10**9])
    mechanism = SubsetSelection(4, 1.0, 2)
    reports = mechanism.simulate(counts, np.random.default_rng(0))
    spread = np.sqrt(np.diag(mechanism.covariance(counts)))
    assert reports.users == counts.sum()
    assert (np.abs(mechanism.estimate(reports).counts() - counts) < 5 * spread).all()
    # The split into batches changes nothing in distribution: small batches against the exact covariance.
    lower(_HYPERGEOMETRIC_USERS=7)
    few, rng = np.array([10, 0, 5, 20]), np.random.default_rng(1)
    estimates = np.array([mechanism.estimate(mechanism.simulate(few, rng)).counts() for _ in range(1000)])
    spread = np.sqrt(np.diag(mechanism.covariance(few)))
    assert (np.abs(estimates.mean(axis=0) - few) < 4.5 * spread / math.sqrt(1000)).all()
    assert estimates.std(axis=0) == pytest.approx(spread, rel=4.5 / math.sqrt(2 * 1000))


def test_sets_of_the_wrong_length_are_refused():
    refused("must hold 2 types", lambda: SubsetSelection(5, 1.0, 2).aggregate(np.zeros((4, 3), dtype=int)))
    refused("from 0 to 4", lambda: SubsetSelection(5, 1.0, 2).aggregate(np.array([[0, 5]])))


def test_bits_number_all_reports():
    assert RandomizedResponse(5, 1.0).bits_per_report == 3
    assert SubsetSelection(5, 1.0, 2).bits_per_report == 4  # 10 subsets
    assert SubsetSelection(4, 1.0, 1).bits_per_report == 2
    assert SubsetSelection(2000, 1.0, 500).bits_per_report == math.ceil(math.log2(math.comb(2000, 500)))
