"""The certified-optimal strategies against published figures and earlier bounds (McKenna et al. 2020, epsilon = 1)."""

import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize import design

# Objective L of the strategies found by the code of McKenna et al., prefix, 4n rows.
PUBLISHED_PREFIX = {32: 8677.2, 64: 46574, 128: 246057, 256: 1276272, 512: 7390036}


@pytest.mark.parametrize(("n", "rounds"), [(32, 10), (64, 10), (128, 10)])
def test_prefix_is_ten_per_cent_better_than_the_published_code(n, rounds):
    result = design(workloads.prefix(n), 1.0, time_limit=None, max_rounds=rounds)
    assert result.objective < 0.9 * PUBLISHED_PREFIX[n]


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
