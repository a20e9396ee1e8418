"""Cormode, Kulkarni and Srivastava 2019: their formulas, and how far exact variances of ranges are from them."""

import math

import numpy as np
import pytest

from ldp_core import bounds, mechanisms, workloads
from ldp_core.bounds.theorems import ranges
from ldp_core.mechanisms.trees import hierarchical
from tests.refused import refused

BRANCHINGS = (2, 4, 8, 16)


def average(n, epsilon, branching, oracle, reconstruction):
    """Variance of a range, on average over all of them and an even population."""
    workload = workloads.all_range(n)
    tree = hierarchical.build(n, epsilon, branching, oracle, reconstruction)
    return tree.variance_profile(workload).mean() / workload.num_queries


def every_range(mechanism, workload=None):
    """(lengths, variances) of all ranges, or of the given ones, for an even population of one user."""
    workload = workload or workloads.all_range(mechanism.n)
    low, high = workload.ends(np.arange(workload.num_queries))
    return high - low + 1, mechanism.query_variances(workload, np.full(mechanism.n, 1 / mechanism.n))


@pytest.mark.parametrize("B", BRANCHINGS)
def test_how_far_the_printed_average_is_off(B):
    ratio = lambda epsilon, oracle: average(256, epsilon, B, oracle, "raw") / bounds.range_error(256, epsilon, B)  # noqa: E731
    assert all(0.265 < ratio(epsilon, "oue") < 0.375 for epsilon in (0.1, 0.5, 1.1))
    assert 0.395 < ratio(4.0, "oue") < 0.955 if B > 2 else ratio(4.0, "oue") < 0.955
    assert 3.35 < ratio(4.0, "hrr") < 4.45


def test_the_average_that_the_printed_formula_stands_for():
    for n, B in ((4096, 2), (4096, 4), (2**16, 16)):
        r = np.arange(1, n + 1)
        each = 2 * (B - 1) * ranges.count_variance(1.0) * math.log(n, B) * np.log(r) / math.log(B)
        exact = (n - r + 1) @ each / (n * (n + 1) / 2)
        assert ranges.range_error_averaged(n, 1.0, B) == pytest.approx(exact, rel=1e-3)
        assert bounds.range_error(n, 1.0, B) > 1.19 * exact
    for n, factor in ((256, 1.47), (2**16, 1.20)):
        printed, limit = bounds.range_error(n, 1.0, 4), ranges.range_error_averaged(n, 1.0, 4)
        assert printed / limit == pytest.approx(factor, abs=0.005)
    r = np.arange(1, 257)
    assert math.log(3 * 256**2 / 513) / ((257 - r) @ np.log(r) / r.sum()) == pytest.approx(1.46, abs=0.005)


def test_ranges_of_single_counts_have_the_variance_of_as_many():
    """Fact 1 and Lemma 4.2, against OUE where the people are elsewhere."""
    n, epsilon = 64, 1.1
    oue = mechanisms.create("oue", n=n, epsilon=epsilon, reconstruction="standard")
    counts = np.eye(n)[-1] * 1000
    rows = (np.arange(n) < np.arange(1, n)[:, None]).astype(float)
    expected = [1000 * ranges.flat_error(epsilon, r) for r in range(1, n)]
    assert oue.linear_variances(rows, counts) == pytest.approx(expected, rel=1e-9)
    lengths, _ = every_range(oue)
    assert lengths.mean() == pytest.approx((n + 2) / 3)  # Lemma 4.2
    # Over n (n - 1)/2 ranges, as printed, the same sum is 3.2 % more.
    assert lengths.sum() / (n * (n - 1) / 2) == pytest.approx(1.032 * (n + 2) / 3, rel=5e-4)


def test_no_raw_range_exceeds_its_bound():
    """Theorem 4.3 for every range of 256 types: the worst of each length is 1.7 to 31 times below."""
    least, most = [], []
    for B in BRANCHINGS:
        lengths, variances = every_range(hierarchical.build(256, 1.1, B, "oue", "raw"))
        factors = [ranges.raw_bound(256, 1.1, B, r) / variances[lengths == r].max() for r in range(1, 257)]
        least.append(min(factors))
        most.append(max(factors))
    assert min(least) == pytest.approx(1.70, abs=0.005)
    assert max(most) == pytest.approx(30.9, abs=0.05)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: bounds.range_error(1, 1.0, 2), "number of types"),
        (lambda: bounds.range_error(8, -1.0, 2), "Epsilon"),
        (lambda: bounds.range_error(8, 1.0, 1), "branching factor must be a whole number from 2 to 8"),
        (lambda: bounds.range_error(8, 1.0, 9), "branching factor"),
        (lambda: ranges.range_error_averaged(4, 1.0, 2), "many types"),
        (lambda: ranges.raw_bound(8, 1.0, 2, 9), "length of a range"),
        (lambda: ranges.consistent_error(8, 1.0, 2, 0), "length of a range"),
        (lambda: ranges.flat_error(1.0, 1.5), "length of a range"),
        (lambda: ranges.haar_bound(1, 1.0), "number of types"),
    ],
)
def test_bad_arguments_are_refused(call, reason):
    refused(reason, call)
