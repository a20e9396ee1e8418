"""Any question, any people, any epsilon: designs and their proofs keep their promises for workloads that nobody thought of.

A workload is made from its seed alone. A failure names the seed, and that one runs again with

    FUZZ_SEED=1234 pytest tests/adversary/test_fuzz_designs.py
"""

import math
import os

import numpy as np
import pytest

from ldp_core import bounds, library, optimize, workloads
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import ClosedFormDesign

MECHANISMS = (
    "randomized_response",
    "subset_selection",
    "oue",
    "rappor",
    "hadamard",
    "hrr",
    "haar",
    "hierarchical",
    "olh",
)
ROUNDS, STEPS = 3, 40
"""Rounds of a search, and how often a proof may ask whether to go on: limits that are the same on every machine."""
EXACT, COMPARED = 8, 4
"""One design in so many is compared with the exact optimum, where its types are FEW, after LONG rounds; one with the library."""
FEW, LONG = 7, 80


def rows(rng, n):
    """Questions (q, n) of one of many kinds."""
    q = int(rng.choice([1, 1, 2, 3, n, 2 * n, rng.integers(1, 301)]))
    kind = rng.integers(9)
    if kind == 0:
        return rng.standard_normal((q, n))
    if kind == 1:
        return rng.integers(0, 2, (q, n)).astype(float)
    if kind == 2:  # contrasts: A less B, centred means
        made = rng.integers(-1, 2, (q, n)).astype(float)
        return made - made.mean(axis=1, keepdims=True) if rng.random() < 0.5 else made
    if kind == 3:  # constant rows, alone or among others
        return np.vstack([np.full((1, n), rng.uniform(0.1, 5)), rng.integers(0, 2, (q - 1, n))])
    if kind == 4:  # duplicates of rows and of columns
        made = rng.standard_normal((q, n))[rng.integers(0, q, q)]
        return made[:, rng.integers(0, n, n)]
    if kind == 5:  # any rank
        rank = int(rng.integers(1, n + 1))
        return rng.standard_normal((q, rank)) @ rng.standard_normal((rank, n))
    if kind == 6:
        return np.tril(np.ones((n, n)))
    if kind == 7:  # a column of numbers
        return np.vstack([np.sort(rng.gamma(1.0, 1.0, n)) for _ in range(min(q, 3))])
    return np.abs(rng.standard_normal((q, n))) * (rng.random((q, n)) < 0.3)


def case(seed):
    """A workload, epsilon and the expected people or None."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, rng.integers(2, 8), *rng.integers(2, 13, 2), rng.integers(2, 41)]))
    made = rows(rng, n)
    if rng.random() < 0.3:
        made = made * 10 ** rng.uniform(-1.5, 1.5, (len(made), 1))
    if rng.random() < 0.2:
        made[:, rng.integers(0, n, rng.integers(1, n))] = 0
    if rng.random() < 0.1:
        made[rng.integers(0, len(made))] = 0
    if not made.any():  # which is refused
        made[0, 0] = 1.0
    epsilon = float(math.exp(rng.uniform(math.log(0.01), math.log(16))))
    prior = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 9.0]))) if rng.random() < 0.2 else None
    return workloads.custom(made), epsilon, prior


def patience(steps):
    """A function that says to stop when it has been asked so often."""
    asked = 0

    def stop():
        nonlocal asked
        asked += 1
        return asked > steps

    return stop


def kept(seed):
    workload, epsilon, prior = case(seed)
    n, p = workload.n, np.full(workload.n, 1 / workload.n) if prior is None else prior
    least = n * float(p @ workload.gram_diag)
    solved = seed % EXACT == 0 and n <= FEW
    found = optimize.design(workload, epsilon, None, LONG if solved else ROUNDS, prior=prior)
    if isinstance(found, ClosedFormDesign):
        audit = found.mechanism().audit()
    else:
        strategy = found.strategy
        assert np.abs(strategy.sum(axis=0) - 1).max() <= 1e-11
        assert (strategy.max(axis=1) <= math.exp(epsilon) * (1 + 1e-15) * strategy.min(axis=1)).all()
        mechanism = ExplicitMechanism("optimized", strategy, epsilon, prior=prior)
        audit = mechanism.audit()
        again = n * float(p @ (mechanism.variance_profile(workload) + workload.gram_diag))
        assert again - least == pytest.approx(found.objective - least, rel=1e-4, abs=1e-7 * least)
    assert audit.epsilon <= epsilon * (1 + 1e-12)
    proof = bounds.certificate(workload, epsilon, None, prior, cancel=patience(STEPS))
    assert proof.verify()
    assert least * (1 - 1e-12) <= proof.value <= found.objective * (1 + 1e-9)
    if seed % COMPARED == 0:
        for name in MECHANISMS:
            if library.spec(name).unsuitable(n, epsilon, workload) is None:
                other = library.create(name, n, epsilon, types="all")
                error = n * float(p @ (other.variance_profile(workload) + workload.gram_diag))
                assert found.objective <= error * (1 + 2e-4), name
    if solved:
        exact = optimize.exact(workload, epsilon, prior)
        assert exact.bound <= found.objective * (1 + 1e-9)
        assert found.objective - least <= 1.05 * (exact.objective - least) + 1e-6 * least


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(200), id="200"),
        pytest.param(range(200, 20_200), id="20000", marks=[pytest.mark.slow, pytest.mark.timeout(36_000)]),
    ],
)
def test_designs_and_proofs_keep_their_promises(seeds):
    if "FUZZ_SEED" in os.environ:
        seeds = [int(os.environ["FUZZ_SEED"])]
    for seed in seeds:
        try:
            kept(seed)
        except Exception as error:
            raise AssertionError(f"FUZZ_SEED={seed}: {type(error).__name__}: {error}"[:1000]) from error
