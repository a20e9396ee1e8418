"""Trees and Haar at n = 2^22 types and N = 2^26 users: time and peak memory of a whole simulated collection."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark
ROOT = Path(__file__).parents[2]

# In a process of its own, so that its peak memory is its own.
COLLECTION = """
import resource, sys, time
import numpy as np
from ldp_core import workloads
from ldp_core.mechanisms import haar, hierarchical

n, users = 2**22, 2**26
centre, scale = 0.4 * n, n / 10
shares = np.diff(np.arctan((np.arange(n + 1) - centre) / scale))
rng = np.random.default_rng(0)
counts = rng.multinomial(users, shares / shares.sum())
name, branching, oracle = sys.argv[1:]
start = time.perf_counter()
if name == "haar":
    mechanism = haar.Haar(n, 1.1)
else:
    mechanism = hierarchical.build(n, 1.1, int(branching), oracle, "consistent")
reports = mechanism.simulate(counts, rng)
simulated = time.perf_counter() - start
estimate = mechanism.estimate(reports)
workload = workloads.all_range(n)
queries = rng.integers(workload.num_queries, size=4000)
found = estimate.answers(workload, queries)
median = estimate.quantile(0.5)
seconds = time.perf_counter() - start
error = np.sqrt(np.mean((found - workload.answers(counts, queries)) ** 2)) / users
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(simulated, seconds, peak, error, abs(np.searchsorted(np.cumsum(counts), users / 2) - median) / n)
"""


@pytest.mark.parametrize(
    ("name", "branching", "oracle"),
    [("hierarchical", B, oracle) for B in (2, 4, 16) for oracle in ("oue", "hrr")] + [("haar", 2, "hrr")],
)
def test_collection_at_scale(name, branching, oracle, capsys):
    run = [sys.executable, "-c", COLLECTION, name, str(branching), oracle]
    printed = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    simulated, seconds, peak, error, median_error = map(float, printed.split())
    with capsys.disabled():
        print(
            f"\n{name} B={branching} {oracle}: {seconds:.1f} s (simulation {simulated:.1f} s), peak {peak:.2f} GiB, "
            f"error of a range {1000 * error:.3f} per mille, median off by {100 * median_error:.2f} % of the domain"
        )
    assert seconds < 30
    assert peak < 4
    assert error < 0.01  # a tree that lost its way would be off by tens of percent
    assert median_error < 0.02
