"""Types with equal answers to all queries are searched as one, and nothing is lost."""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.optimize import design, exact

FEW = np.random.default_rng(5).integers(0, 3, (4, 5)).astype(float)
CLASSES = np.array([0, 1, 1, 2, 0, 3, 4, 4, 4])
WORKLOAD = workloads.custom(FEW[:, CLASSES])


@pytest.mark.parametrize("prior", [None, np.arange(1.0, 10) / 45], ids=["even", "prior"])
def test_the_design_is_the_optimum_for_all_types(prior):
    result = design(WORKLOAD, 1.0, time_limit=None, max_rounds=100, prior=prior)
    best = exact(WORKLOAD, 1.0, prior)
    assert best.bound * (1 - 1e-6) <= result.objective < 1.001 * best.objective
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (result.strategy.max(axis=1) / result.strategy.min(axis=1)).max() <= np.e
    p = np.full(9, 1 / 9) if prior is None else prior
    profile = ExplicitMechanism("design", result.strategy, 1.0, prior=prior).variance_profile(WORKLOAD)
    assert result.objective == pytest.approx(9 * p @ (profile + WORKLOAD.gram_diag), rel=1e-6)


def test_what_is_told_on_the_way_is_a_strategy_for_all_types():
    seen = []
    design(WORKLOAD, 1.0, time_limit=None, max_rounds=3, callback=lambda p: seen.append((p.objective, p.strategy)))
    for objective, strategy in seen:
        assert strategy.sum(axis=0) == pytest.approx(np.ones(9))
        profile = ExplicitMechanism("design", strategy, 1.0).variance_profile(WORKLOAD)
        assert profile.sum() + WORKLOAD.trace <= objective * (1 + 1e-6)
