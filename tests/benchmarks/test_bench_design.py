"""How near optimiser and certificate come to each other within a time, measured in one run."""

import time

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize import design

pytestmark = pytest.mark.benchmark

# Seconds for optimiser and certificate together, and the gap L / bound - 1 they must reach.
TARGETS = {32: (10, 0.005), 64: (20, 0.006), 128: (60, 0.012), 256: (120, 0.03), 512: (300, 0.06)}
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
MAKERS = {
    "prefix": workloads.prefix,
    "all_range": workloads.all_range,
    "histogram": workloads.histogram,
    "all_marginals": lambda n: workloads.all_marginals(n.bit_length() - 1),
    "3-way marginals": lambda n: workloads.k_way_marginals(n.bit_length() - 1, 3),
    "parity": lambda n: workloads.parity(n.bit_length() - 1),
}


@pytest.mark.parametrize("n", TARGETS)
@pytest.mark.parametrize("name", MAKERS)
def test_certified_gap(name, n, capsys):
    limit, target = TARGETS[n]
    gaps = {}
    for epsilon in EPSILONS if n <= 128 else (0.25, 1.0, 4.0):
        workload = MAKERS[name](n)
        started = time.perf_counter()
        certificate = bounds.certificate(workload, epsilon, time_limit=limit / 4)
        proven = time.perf_counter() - started
        # A quarter of the time allowed: what is measured here should hold on slower machines.
        result = design(workload, epsilon, time_limit=max(1.0, limit / 4 - proven))
        seconds = time.perf_counter() - started
        assert certificate.verify()
        gaps[epsilon] = result.objective / certificate.value - 1
        with capsys.disabled():
            print(
                f"\n{name} {n} eps {epsilon:g}: L {result.objective:.6g}, bound {certificate.value:.6g} ({proven:.2f} s), "
                f"gap {100 * gaps[epsilon]:.2f} %, {len(result.strategy)} rows, {result.rounds} rounds, {seconds:.1f} s",
                end="",
            )
        assert seconds < limit
        assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    # 3-way marginals want rows of degree 3, whose sizes are multiples of n/8: where none is near n/(e^epsilon + 1), three
    # searches agree on an optimum up to 7 % above the bound (epsilon = 3, n = 128), which is what is loose there.
    assert max(gaps.values()) < (target if name != "3-way marginals" else max(target, 0.1))
