"""Workloads of the papers, and some that no one tuned for: the distance of the design from the proof, and from everything
else.

Run a few cells with ``-k``: ``-m benchmark -s -k "random and 256 and average and eps1"``.
"""

import time

import numpy as np
import pytest

from ldp_core import bounds, mechanisms, workloads
from ldp_core.bounds import equivalent_objective
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.optimize import SearchLimits, design, projected_gradient

pytestmark = pytest.mark.benchmark

EPSILONS = (0.5, 1.0, 3.0)
# Largest number of types, seconds on two quiet cores, and the gap to reach.
GOALS = ((64, 5, 0.01), (256, 20, 0.02), (512, 60, 0.03), (1024, 60, 0.05))
PROOF = 0.4  # share of the time for the certificate
# Mechanisms in closed form, or next to it, that fit any workload.
CLOSED = (
    "randomized_response",
    "subset_selection",
    "rappor",
    "oue",
    "olh",
    "hadamard",
    "projective_geometry",
    "hierarchical",
    "haar",
    "fourier",
    "projected_hadamard",
)


def distinct_bits(queries, types):
    """Random 0/1 queries (p, n), p at least 10, no two of whose types are alike."""
    drawn = np.random.default_rng(0).integers(0, 2, (queries, 4 * types)).astype(float)
    _, first = np.unique(drawn, axis=1, return_index=True)
    return drawn[:, np.sort(first)[:types]]


def gaussian(queries, types):
    return np.random.default_rng(0).standard_normal((queries, types))


def random_ranges(queries, types):
    ends = np.sort(np.random.default_rng(0).integers(0, types, (queries, 2)), axis=1)
    places = np.arange(types)
    return ((places >= ends[:, :1]) & (places <= ends[:, 1:])).astype(float)


def conditions(queries, shape):
    """Each of two columns' values in a random interval, and one in a random set, at random."""
    rng, grid = np.random.default_rng(0), np.indices(shape).reshape(len(shape), -1)
    rows = []
    for _ in range(queries):
        held = np.ones(grid.shape[1], dtype=bool)
        for column in rng.choice(len(shape), rng.integers(1, len(shape) + 1), replace=False):
            low, high = np.sort(rng.integers(0, shape[column], 2))
            inside = (np.arange(shape[column]) >= low) & (np.arange(shape[column]) <= high)
            scattered = rng.random(shape[column]) < 0.5
            held &= (inside if rng.random() < 0.5 else scattered)[grid[column]]
        rows.append(held.astype(float))
    return np.array(rows)


def grid(side):
    return workloads.product([workloads.all_range(side), workloads.all_range(side)])


def mixture(types):
    """Totals, a histogram and random conditions with weights from 1 to 100."""
    parts = [workloads.prefix(types), workloads.histogram(types), workloads.custom(distinct_bits(20, types))]
    return workloads.union(parts, weights=[1.0, 10.0, 100.0])


CELLS = {
    f"{kind} {queries} x {types}": lambda make=make, queries=queries, types=types: workloads.custom(
        make(queries, types)
    )
    for kind, make in (("random", distinct_bits), ("gaussian", gaussian), ("sparse ranges", random_ranges))
    for queries in (5, 20, 100)
    for types in (64, 256, 512, 1024)
    if kind != "random" or 2**queries > 4 * types
}
CELLS |= {f"conditions 20 x {n}": lambda n=n: workloads.custom(conditions(20, (n // 8, 4, 2))) for n in (64, 256, 512)}
CELLS |= {f"mixture {n}": lambda n=n: mixture(n) for n in (64, 256, 512)}
CELLS |= {
    f"{name} {n}": lambda make=make, n=n: make(n)
    for name, make in {
        "prefix": workloads.prefix,
        "all ranges": workloads.all_range,
        "histogram": workloads.histogram,
        "all marginals": lambda n: workloads.all_marginals(n.bit_length() - 1),
        "3-way marginals": lambda n: workloads.k_way_marginals(n.bit_length() - 1, 3),
        "parity, weight <= 3": lambda n: workloads.parity(n.bit_length() - 1, 3),
    }.items()
    for n in (64, 256, 512, 1024)
}
CELLS |= {f"width {n}": lambda n=n: workloads.width_range(n, n // 8) for n in (64, 256, 1024)}
CELLS |= {f"grid {side * side}": lambda side=side: grid(side) for side in (8, 16, 32)}
CELLS |= {
    f"histogram and totals {n}": lambda n=n: workloads.union([workloads.histogram(n), workloads.prefix(n)])
    for n in (64, 256, 512, 1024)
}


def concentrated(types):
    p = 1 / np.arange(1.0, types + 1)
    return p / p.sum()


def measured(mechanism, workload, target, prior):
    """The variance per user that ``target`` judges by, on the scale of L."""
    profile = mechanism.variance_profile(workload)
    variance = {"average": profile.mean(), "worst": profile.max(), "prior": prior @ profile}[target]
    return equivalent_objective(float(variance), workload)


def best_closed(workload, epsilon, target, prior):
    """Objective and name of the best mechanism in closed form."""
    found = []
    for name in CLOSED:
        try:
            mechanism = mechanisms.create(name, n=workload.n, epsilon=epsilon, workload=workload)
        except ValueError:
            continue  # does not fit this number of types or this epsilon
        if mechanism.supports(workload) is None:
            found.append((measured(mechanism, workload, target, prior), name))
    return min(found)


def designed(workload, epsilon, target, prior, seconds):
    """A mechanism for ``target``, and the proof of how good any can be."""
    if target == "worst":
        made = mechanisms.create(
            "optimized", epsilon=epsilon, workload=workload, time_limit=(1 - PROOF) * seconds, target="worst_case"
        )
        return made, bounds.worst_case(workload, epsilon, PROOF * seconds, prior=getattr(made, "prior", None))
    given = prior if target == "prior" else None
    found = design(workload, epsilon, time_limit=(1 - PROOF) * seconds, prior=given)
    made = ExplicitMechanism("design", found.strategy, epsilon, prior=given)
    return made, bounds.certificate(workload, epsilon, PROOF * seconds, prior=given)


@pytest.mark.parametrize("target", ["average", "worst", "prior"])
@pytest.mark.parametrize("epsilon", EPSILONS, ids=lambda e: f"eps{e:g}")
@pytest.mark.parametrize("cell", CELLS)
def test_cell(cell, epsilon, target, capsys):
    workload = CELLS[cell]()
    n, prior = workload.n, concentrated(workload.n)
    _, limit, goal = next(line for line in GOALS if n <= line[0])
    started = time.perf_counter()
    made, proof = designed(workload, epsilon, target, prior, limit)
    seconds = time.perf_counter() - started
    bound = equivalent_objective(proof.variance, workload)
    reached = measured(made, workload, target, prior)
    closed, name = best_closed(workload, epsilon, target, prior)
    theirs = projected_gradient(workload, epsilon, limits=SearchLimits(time_limit=limit))
    paper = measured(ExplicitMechanism("paper", theirs.strategy, epsilon), workload, target, prior)
    with capsys.disabled():
        print(
            f"\n{cell}, epsilon {epsilon:g}, {target}: gap {reached / bound - 1:.2%} of {goal:.0%} in {seconds:.0f} s "
            f"of {limit}, paper's method {paper / bound - 1:.2%}, {name} {closed / bound - 1:.2%}",
            end="",
        )
    assert proof.verify()
    assert bound <= reached * (1 + 1e-9)
    # Allowance: searches end a thousandth short of optima that are known in closed form.
    assert reached <= min(paper, closed) * 1.001
    if reached > (1 + goal) * bound:
        pytest.xfail(f"gap {reached / bound - 1:.1%}, goal {goal:.0%}")
