"""Forged reports: against all reports of small mechanisms, one after the other."""

import itertools
import math

import numpy as np
import pytest

from ldp_core import mechanisms, workloads
from ldp_core.deploy import collector
from ldp_core.mechanisms import ExplicitMechanism


def strategy(m, n, seed):
    rng = np.random.default_rng(seed)
    Q = rng.uniform(1, 2, size=(m, n))
    return ExplicitMechanism("any", Q / Q.sum(axis=0), 5.0)


def farthest(mechanism, workload, reports):
    """(q,) by trying all ``reports``: the estimate of one report, less the answer of the person it is sent for."""
    answers = [mechanism.estimate(mechanism.aggregate(report)).answers(workload) for report in reports]
    W = workload.matrix
    return np.max([np.abs(answer[:, None] - W).max(axis=1) for answer in answers], axis=0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["histogram", "prefix"])
def test_reach_is_the_farthest_of_all_reports_of_a_strategy(kind, seed):
    n, m = 3 + seed % 2, 5 + seed
    mechanism, workload = strategy(m, n, seed), getattr(workloads, kind)(n)
    found = collector.manipulation(mechanism, workload)
    expected = farthest(mechanism, workload, np.arange(m)[:, None])
    assert np.allclose(found.reach, expected, atol=1e-9)
    assert np.allclose(found.honest, np.abs(workload.matrix).max(axis=1))


@pytest.mark.parametrize("reconstruction", ["known_total", "standard"])
def test_reach_of_bits_is_that_of_whole_reports(reconstruction):
    mechanism = mechanisms.create("oue", n=4, epsilon=1.0, reconstruction=reconstruction)
    reports = np.array(list(itertools.product([0, 1], repeat=4)))[:, None, :]
    for workload in (workloads.histogram(4), workloads.prefix(4)):
        found = collector.manipulation(mechanism, workload)
        assert np.allclose(found.reach, farthest(mechanism, workload, reports), atol=1e-9)


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hrr", "haar", "hierarchical"])
def test_reach_of_other_mechanisms_is_that_of_the_reports_that_are_sent(name):
    workload = workloads.prefix(8)
    mechanism = mechanisms.create(name, n=8, epsilon=1.0, **({"branching": 2} if name == "hierarchical" else {}))
    raw = mechanism.privatize(np.arange(4000) % 8, np.random.default_rng(0))
    reports = np.unique(raw, axis=0)[:, None]
    found = collector.manipulation(mechanism, workload)
    assert np.allclose(found.reach, farthest(mechanism, workload, reports), atol=1e-9)


def test_share_and_number_of_forged_reports():
    mechanism, workload = strategy(6, 3, 0), workloads.histogram(3)
    found = collector.manipulation(mechanism, workload)
    for users in (10, 1000, 10**6):
        errors = [np.sqrt(mechanism.query_variances(workload, np.eye(3, dtype=int)[u] * users)) for u in range(3)]
        needed = np.max(errors, axis=0) / found.reach
        assert found.share(users) == pytest.approx(needed.min() / users)
        assert found.reports(users) == math.ceil(needed.min() - 1e-9)
        assert found.worst == int(np.argmin(needed))
    assert found.share(400) == pytest.approx(found.share(100) / 2)


def test_answers_known_without_reports_cannot_be_moved():
    mechanism, workload = mechanisms.create("randomized_response", n=4, epsilon=1.0), workloads.prefix(4)
    found = collector.manipulation(mechanism, workload)
    assert found.reach[-1] == 0  # everybody
    assert found.worst != 3
    alone = collector.manipulation(mechanism, workload, np.array([3]))
    assert alone.share(100) == alone.reports(100) == math.inf


def test_vectors_have_no_limits():
    workload = workloads.prefix(4)
    found = collector.manipulation(mechanisms.create("matrix_l2", workload=workload, epsilon=1.0), workload)
    assert np.all(np.isinf(found.reach))
    assert found.share(100) == 0
