"""Any question, any people, any epsilon: designs and their proofs keep their promises for workloads that nobody thought of."""

import math

import hostile
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
FEW, LONG = 7, 80
"""Some designs about FEW types are compared with the exact optimum, after LONG rounds."""


of = st.sampled_from


def rows(rng, q, n):
    """Questions (q, n) of many kinds."""
    whole, normal = rng.integers(-1, 2, (q, n)).astype(float), rng.standard_normal((q, n))
    rank = int(rng.integers(1, n + 1))
    return {
        "normal": normal,
        "zero or one": np.abs(whole),
        "contrasts": whole,
        "centred": whole - whole.mean(axis=1, keepdims=True),
        "one constant": np.vstack([np.full((1, n), rng.uniform(0.1, 5)), np.abs(whole)]),
        "duplicates": normal[rng.integers(0, q, q)][:, rng.integers(0, n, n)],
        "few dimensions": rng.standard_normal((q, rank)) @ rng.standard_normal((rank, n)),
        "running totals": np.tril(np.ones((n, n))),
        "a column of numbers": np.vstack([np.sort(rng.gamma(1.0, 1.0, n)) for _ in range(min(q, 3))]),
        "sparse": np.abs(normal) * (rng.random((q, n)) < 0.3),
    }


KINDS = tuple(rows(np.random.default_rng(0), 2, 2))


@st.composite
def cases(draw):
    """A workload, epsilon and the expected people or None."""
    n = draw(st.integers(2, 7) | st.integers(2, 12) | st.integers(2, 40))
    q = draw(of([1, 1, 2, 3, n, 2 * n]) | st.integers(1, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = rows(rng, q, n)[draw(of(KINDS))]
    if draw(hostile.chance(3)):
        made = made * 10 ** rng.uniform(-1.5, 1.5, (len(made), 1))
    if draw(hostile.chance(5)):
        made[:, rng.integers(0, n, rng.integers(1, n))] = 0
    if draw(hostile.chance(10)):
        made[rng.integers(0, len(made))] = 0
    if not made.any():  # which is refused
        made[0, 0] = 1.0
    epsilon = math.exp(draw(st.floats(math.log(0.01), math.log(16))))
    prior = rng.dirichlet(np.full(n, draw(of([0.3, 1.0, 9.0])))) if draw(hostile.chance(5)) else None
    return workloads.custom(made), epsilon, prior


def patience(steps):
    """A function that says to stop when it has been asked so often."""
    asked = 0

    def stop():
        nonlocal asked
        asked += 1
        return asked > steps

    return stop


TWO_SIZES = np.array([[8.33] * 18, [0.0995, 0] * 9])
"""A large question about all beside a small one about half of them: digits that are lost for the first are many of the second's."""


@pytest.mark.promise
@example((workloads.custom(TWO_SIZES), 1.0, None), False, False)
@given(cases(), hostile.chance(4), hostile.chance(4))
def test_designs_and_proofs_keep_their_promises(case, compared, solved):
    workload, epsilon, prior = case
    n, p = workload.n, np.full(workload.n, 1 / workload.n) if prior is None else prior
    least = n * float(p @ workload.gram_diag)
    solved = solved and n <= FEW
    try:
        found = optimize.design(workload, epsilon, None, LONG if solved else ROUNDS, prior=prior)
    except ValueError as error:  # weights that rounding cannot hold beside each other are refused
        if "too far apart" not in str(error):
            raise
        return
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
    if compared:
        for name in MECHANISMS:
            if library.spec(name).unsuitable(n, epsilon, workload) is None:
                other = library.create(name, n, epsilon, types="all")
                error = n * float(p @ (other.variance_profile(workload) + workload.gram_diag))
                assert found.objective <= error * (1 + 2e-4), name
    if solved:
        exact = optimize.exact(workload, epsilon, prior)
        assert exact.bound <= found.objective * (1 + 1e-9)
        assert found.objective - least <= 1.05 * (exact.objective - least) + 1e-6 * least
