"""The certified-optimal strategies against published figures and earlier bounds (McKenna et al. 2020, epsilon = 1)."""

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize import design

# Objective L of the strategies found by the code of McKenna et al., prefix, 4n rows.
PUBLISHED_PREFIX = {32: 8677.2, 64: 46574, 128: 246057, 256: 1276272, 512: 7390036}
PUBLISHED_OTHERS = {"histogram": 3961.0, "all_range": 194287}


@pytest.mark.parametrize(("n", "rounds"), [(32, 10), (64, 10), (128, 10)])
def test_prefix_is_ten_per_cent_better_than_the_published_code(n, rounds):
    result = design(workloads.prefix(n), 1.0, time_limit=None, max_rounds=rounds)
    assert result.objective < 0.9 * PUBLISHED_PREFIX[n]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rounds"), [(256, 5), (512, 2)])
def test_prefix_is_ten_per_cent_better_on_many_types(n, rounds):
    result = design(workloads.prefix(n), 1.0, time_limit=None, max_rounds=rounds)
    assert result.objective < 0.9 * PUBLISHED_PREFIX[n]
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12


@pytest.mark.parametrize("kind", PUBLISHED_OTHERS)
def test_others_are_ten_per_cent_better_too(kind):
    result = design(getattr(workloads, kind)(32), 1.0, time_limit=None, max_rounds=40)
    assert result.objective < 0.9 * PUBLISHED_OTHERS[kind]


def test_figures_of_the_centred_svd_bound():
    assert bounds.centred_svd(workloads.prefix(32), 1.0) == pytest.approx(7291.3, abs=0.05)
    assert bounds.centred_svd(workloads.all_marginals(6), 1.0) == pytest.approx(557557.1, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("kind", ["histogram", "prefix", "all_range"])
def test_optimum_and_bound_meet_within_half_a_per_cent(kind, epsilon):
    workload = getattr(workloads, kind)(32)
    certificate = bounds.certificate(workload, epsilon)
    assert certificate.verify()
    assert certificate.value >= bounds.svd(workload, epsilon)
    result = design(workload, epsilon, time_limit=None, max_rounds=150)
    assert certificate.value <= result.objective < 1.005 * certificate.value
