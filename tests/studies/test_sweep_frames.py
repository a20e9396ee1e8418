"""Sweeps over epsilon and the tidy frames, against the single functions and hand computations."""

import math

import numpy as np
import pytest

from ldp_core import analysis, bounds, frames, mechanisms, workloads

# --- sweep --------------------------------------------------------------------------------------------------------


# --- frames -------------------------------------------------------------------------------------------------------


def test_users_bounds_and_gap():
    workload = workloads.prefix(32)
    even = frames.users_bounds(workload, 1.0, 32 * 0.01, analysis.average_case(32))
    assert even["centred_svd"] == pytest.approx((7291.3 - workload.trace) / (32 * 32 * 0.01), rel=1e-4)
    assert even["svd"] == pytest.approx((bounds.svd(workload, 1.0) - workload.trace) / (32 * 32 * 0.01))
    assert frames.gap(150, 100) == pytest.approx(0.5)
    assert frames.gap(150, 0) == math.inf


def test_every_case_has_a_bound_of_its_own():
    workload, n, epsilon = workloads.prefix(12), 12, 2.0
    prior = np.arange(1.0, n + 1) / np.arange(1, n + 1).sum()
    cases = {
        "worst_case": analysis.WORST_CASE,
        "average": analysis.average_case(n),
        "people": analysis.Case("people", prior),
    }
    limits = {name: frames.users_bounds(workload, epsilon, 12 * 0.01, case) for name, case in cases.items()}
    assert "svd" not in limits["people"]  # it is about the average over the types
    assert limits["worst_case"]["centred_svd"] >= limits["average"]["centred_svd"] * (1 - 1e-12)
    assert limits["worst_case"]["centred_svd"] >= limits["people"]["centred_svd"] * (1 - 1e-3)
    for name in ("subset_selection", "randomized_response", "hierarchical"):
        mechanism = mechanisms.create(name, n=n, epsilon=epsilon)
        profile = mechanism.variance_profile(workload)
        needed = {name: analysis.people_needed(mechanism, workload, case=case) for name, case in cases.items()}
        assert all(frames.gap(needed[name], max(limits[name].values())) >= -1e-9 for name in cases)
        assert needed["worst_case"] == pytest.approx(analysis.sample_complexity(mechanism, workload))
        assert needed["people"] == pytest.approx(prior @ profile / (workload.num_queries * 0.01))
