"""Hadamard randomized response: the strategy from its definition, and the transform against it."""

import math

import numpy as np

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism, hrr
from tests.refused import refused


def test_size_decides_the_reconstruction_and_large_domains_work():
    assert isinstance(hrr.build(64, 1.0), ExplicitMechanism)
    large = hrr.build(2**17, 3.0)
    assert large.parameters == {"reconstruction": "transform"}
    counts = np.zeros(2**17, dtype=np.int64)
    counts[[5, 2**17 - 1]] = 200_000, 100_000
    estimate = large.estimate(large.simulate(counts, np.random.default_rng(0))).counts()
    own = large.variance_profile(workloads.histogram(2**17)) / 2**17
    assert np.abs(estimate - counts).max() < 7 * math.sqrt(counts.sum() * own.max())
    for view in (large.information, lambda: large.covariance(counts)):
        refused("too large", view)
    refused('Use reconstruction "transform"', hrr.build, 2**17, 1.0, "optimal")
    refused("Unknown reconstruction 'best'", mechanisms.create, "hrr", 8, 1.0, reconstruction="best")
