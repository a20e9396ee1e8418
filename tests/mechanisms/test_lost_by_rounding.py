"""The loss of a fitted strategy that becomes an exact table."""

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.optimize import strategy


def test_what_is_lost_is_the_growth_of_the_average_variance():
    workload = ldp.workloads.prefix(6)
    fine = ldp.mechanisms.create("randomized_response", n=6, epsilon=1.0).strategy
    coarse = ldp.mechanisms.create("randomized_response", n=6, epsilon=0.9).strategy
    lost = strategy.lost_by_rounding(fine, coarse, workload)
    before, after = (ldp.analysis.average_variance(ExplicitMechanism("one", Q, 1.0), workload) for Q in (fine, coarse))
    assert lost == pytest.approx(after / before - 1, rel=1e-6)
    assert strategy.lost_by_rounding(np.full((2, 6), 0.5), coarse, workload) is None
