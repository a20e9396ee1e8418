"""Numbers of the wrong kind get one sentence, and never a result: limits, seeds, targets and counts as a notebook may pass them."""

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, optimize, workloads
from ldp_core.people import people_of
from ldp_core.studies import simulate
from tests.refused import refused

PREFIX, SURVEY = workloads.prefix(4), workloads.survey([3, 2, 4], ways=2)
OUE = mechanisms.create("oue", n=4, epsilon=1.0)
SEARCHES = [
    lambda **limits: optimize.design(PREFIX, 1.0, **limits),
    lambda **limits: optimize.design(SURVEY, 1.0, **limits),
    lambda **limits: optimize.design(workloads.parity(12, 6), 1.0, **limits),
]


@pytest.mark.crossed
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("limit", ["1", -1, float("nan")])
def test_limits_that_are_no_numbers_are_refused(search, limit):
    refused("time_limit must be a number of seconds from 0 up", search, time_limit=limit)
    refused("max_rounds must be a whole number", search, max_rounds=limit)


@pytest.mark.crossed
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", ["1", 1.5, -1])
def test_seeds_that_are_no_whole_numbers_are_refused(search, seed):
    refused("seed must be a non-negative whole number, but is", search, seed=seed, max_rounds=1)


def test_numpy_numbers_are_numbers():
    found = optimize.design(PREFIX, 1.0, time_limit=np.float64(1e6), max_rounds=np.int64(1), seed=np.int64(3))
    assert found.objective == optimize.design(PREFIX, 1.0, time_limit=None, max_rounds=1, seed=3).objective


def test_proofs_refuse_such_limits_too():
    refused("time_limit must be", bounds.certificate, PREFIX, 1.0, time_limit="1")


def test_simulations_refuse_such_seeds_too():
    refused("seed must be", simulate.run, OUE, PREFIX, [1, 2, 3, 4], trials=1, seed=1.5)


@pytest.mark.parametrize("alpha", ["0.01", 0, float("inf"), float("nan")])
def test_targets_that_are_no_numbers_are_refused(alpha):
    refused(
        "The target error alpha must be a finite number above 0", analysis.sample_complexity, OUE, PREFIX, alpha=alpha
    )


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 3, -1], [1, 2, 3, np.nan], list("abcd")])
@pytest.mark.crossed
@pytest.mark.parametrize(
    "figures",
    [analysis.standard_errors, analysis.variance_on_data, analysis.answers, analysis.people_needed],
    ids=lambda one: one.__name__,
)
def test_counts_of_other_types_have_no_errors(figures, counts):
    """Three counts for four types had three errors, those of another domain."""
    refused("Counts must be numbers of users from 0 up, one for each of the 4 types", figures, OUE, PREFIX, counts)


def test_errors_of_questions_about_other_types_are_refused():
    refused(
        "The mechanism has 4 types, the workload 5",
        lambda: analysis.standard_errors(OUE, workloads.prefix(5), [1, 2, 3, 4, 5]),
    )


def test_people_and_shares_are_counts():
    counts = np.array([1, 2, 3, 4])
    expected = analysis.standard_errors(OUE, PREFIX, counts)
    assert np.array_equal(expected, analysis.standard_errors(OUE, PREFIX, people_of(counts, (4,))))
    assert np.allclose(expected / np.sqrt(10), analysis.standard_errors(OUE, PREFIX, counts / 10), atol=1e-6)
