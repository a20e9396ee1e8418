"""HaarHRR against the Haar matrix written out, and every possible report one by one."""

import math

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.mechanisms.trees.haar import Haar
from tests.refused import refused


def test_a_large_domain_answers_ranges_and_quantiles():
    n, users = 2**17 - 3, 10**7
    counts = np.full(n, users // n)
    counts[: users - counts.sum()] += 1
    mechanism, workload = Haar(n, 3.0), workloads.all_range(n)
    estimate = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(1)))
    queries = np.random.default_rng(0).integers(workload.num_queries, size=500)
    error = estimate.answers(workload, queries) - workload.answers(counts, queries)
    # A long range cuts two blocks a level, each with mean squared weight 1/12 (002, Section 4.6, averaged over ends).
    predicted = math.sqrt(users * 17 * 17 / (6 * math.tanh(1.5) ** 2))
    assert np.sqrt(np.mean(error**2)) < 2 * predicted
    assert estimate.quantile([0.25, 0.5]) == pytest.approx([n / 4, n / 2], abs=5 * predicted / users * n)
    for view in (lambda: mechanism.variance_profile(workload), lambda: mechanism.covariance(counts)):
        refused(r"needs an n x n matrix.*131,069", view)


def test_bad_input_is_refused():
    mechanism = Haar(8, 1.0)
    for raw, words in (
        (np.zeros(3, dtype=int), "a level and an output"),
        (np.array([[3, 0]]), "from 0 to 2"),
        (np.array([[2, 2]]), "from 0 to 1"),
        (np.array([[0.5, 0]]), "whole-number"),
    ):
        refused(words, mechanism.aggregate, raw)
    refused(
        "made by another mechanism",
        lambda: mechanism.estimate(Haar(8, 1.1).simulate(np.arange(8), np.random.default_rng(0))),
    )
    refused("at least 2 types", Haar, 1, 1.0)
    refused("out of range", Haar, 8, 0)
    assert "8 types, the workload 9" in mechanism.supports(workloads.prefix(9))
    refused("8 types", lambda: mechanism.variance_profile(workloads.prefix(9)))
    assert "3 times" in mechanism.explain()
