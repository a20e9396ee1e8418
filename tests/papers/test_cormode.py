"""Cormode, Kulkarni and Srivastava 2019, Figure 5: error of all ranges on Cauchy data with N = 2^26 users.

Their figures (printed as mean squared errors, times 1000) are roots of mean squared errors of shares; each is a mean of five
runs. OUE trees with consistency, and HaarHRR.
"""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.data.population import expected_counts
from ldp_core.papers.cormode import SERIES, USERS, exact, mechanism, printed, thousandths

EXACT_256 = (0.752, 0.732, 0.814, 0.754)  # an independent computation of the covariances at eps = 1.1
CASES = [(epsilon, place) for epsilon in (0.2, 1.1) for place in range(4)]


def errors_below(estimate, counts):
    """(n + 1,) errors of the shares below each type, from 0 to 0."""
    return np.concatenate([[0.0], np.cumsum(estimate.counts() - counts) / counts.sum()])


def range_errors(r, spacing=1):
    """Mean squared error of all ranges that begin at multiples of ``spacing``: of all pairs i < j, (r_j - r_i)^2."""
    starts = np.arange(0, r.size - 1, spacing)
    ends = r.size - 1 - starts
    sums, squares = r.sum() - np.cumsum(r)[starts], np.sum(r**2) - np.cumsum(r**2)[starts]
    return float(np.sum(squares - 2 * r[starts] * sums + ends * r[starts] ** 2) / ends.sum())


@pytest.mark.parametrize(("epsilon", "place"), CASES)
def test_ranges_over_256_types(epsilon, place):
    counts, workload = expected_counts("cauchy", 256, USERS), workloads.all_range(256)
    collection = mechanism(SERIES[place], 256, epsilon)
    variances = collection.query_variances(workload, counts)
    found = exact(collection, workload, counts)
    assert found == pytest.approx(thousandths(variances.mean() / USERS**2))
    assert found == pytest.approx(printed()[5, 8, SERIES[place], epsilon], rel=0.15)
    if epsilon == 1.1:
        assert found == pytest.approx(EXACT_256[place], abs=1.5e-3)
    rng, trials = np.random.default_rng(place), 40
    errors = [
        range_errors(errors_below(collection.estimate(collection.simulate(counts, rng)), counts)) for _ in range(trials)
    ]
    expected = variances.mean() / USERS**2
    assert abs(np.mean(errors) - expected) <= 4.5 * np.std(errors, ddof=1) / np.sqrt(trials)
