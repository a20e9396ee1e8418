"""Mechanisms of random sizes, epsilons and parameters: none exceeds its epsilon in exact arithmetic."""

import math

import hostile
import numpy as np
from exact import exact_delta, exceeds
from fuzzing import fuzz, tried

from ldp_core import library, mechanisms, workloads
from ldp_core.mechanisms.noise.additive import AdditiveMechanism, GaussianNoise
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON

QUICK = {"matrix_l1", "matrix_l2", "optimized_gradient", "optimized"}
"""Mechanisms whose fit is cut short: what they promise holds after any number of rounds."""
SLOW = {"rejection_gaussian"}
"""Whose fit takes a tenth of a second; one in ten is built."""
ORACLES = ("hadamard", "oue", "hrr", "randomized_response", "subset_selection")


def size(rng):
    return rng.choice([2, 3, 4, 5, 7, 8, 9, 16, rng.randint(2, 24)])


def epsilon(rng):
    ends = [MIN_EPSILON, MAX_EPSILON, 19.6, 0.001 * (1 + 2**-52), math.log(3), math.log(2), 2 * math.log(2), 1.0, 18.02]
    return (
        rng.choice(ends) if rng.random() < 0.3 else math.exp(rng.uniform(math.log(MIN_EPSILON), math.log(MAX_EPSILON)))
    )


def parameters(rng, name, n):
    """Choices of the registry, of the constructors, and now and then a hostile value."""
    spec = library.spec(name)
    chosen = {key: rng.choice(values) for key, values in spec.choices.items() if rng.random() < 0.7}
    if name == "subset_selection" and rng.random() < 0.7:
        chosen["size"] = rng.randint(1, n - 1)
    if name == "fourier" and rng.random() < 0.5:
        chosen["max_weight"] = rng.randint(1, 4)
    if name == "hierarchical_2d":
        rows = rng.choice([k for k in range(2, n // 2 + 1) if n % k == 0] or [n])
        chosen["shape"] = [rows, n // rows]
    if name == "hadamard" and rng.random() < 0.4:
        chosen["blocks"] = rng.choice([1, 2, 4, 8, 3])
    if name in ("gaussian", "matrix_l2") and rng.random() < 0.5:
        chosen["delta"] = rng.choice([1e-6, 1e-100, 0.1, 1e-12])
    if name in QUICK:
        chosen["max_rounds"] = rng.choice([1, 2, 5])
        chosen.update({"seed": rng.randrange(9)} if name != "matrix_l2" else {})
    if rng.random() < 0.05:
        strange = rng.choice([*hostile.NUMBERS, None, "", math.nan, math.inf, True, "a"])
        chosen[rng.choice([*spec.choices, "size", "blocks", "delta", "shape", "unknown"])] = strange
    return chosen


def workload(rng, n):
    made = [workloads.histogram(n), workloads.prefix(n), workloads.all_range(n)]
    rows = np.random.default_rng(rng.randrange(2**32)).normal(size=(rng.randint(1, 5), n))
    return rng.choice([*made, workloads.custom(rows * rng.choice([1, 1e-6, 1e6]))])


@fuzz(250, accepted=(0.5, 1))
def test_mechanisms(rng):
    name, n, asked = rng.choice(mechanisms.names()), size(rng), epsilon(rng)
    if name in SLOW and rng.random() < 0.9:
        name = "randomized_response"
    if name in QUICK:
        n = min(n, 6)
    questions = workload(rng, n) if library.spec(name).needs_workload else None
    mechanism = tried(mechanisms.create, name, n, asked, questions, **parameters(rng, name, n))
    if mechanism is None:
        return False
    assert mechanism.epsilon == asked
    if isinstance(mechanism, AdditiveMechanism) and isinstance(mechanism.noise, GaussianNoise):
        paper = mechanism.parameters.get("calibration") == "paper"  # sold as what it delivers, which the audit says
        promised = mechanism.audit().delta if paper else mechanism.delta
        assert exact_delta(mechanism) <= promised * (1 + 1e-6) + 1e-15
    elif mechanism.parameters.get("variant") == "paper":  # printed in the paper, and labelled as not private
        assert mechanism.audit().epsilon == math.inf
    else:
        assert exceeds(mechanism) is None, f"{name}, n = {n}, epsilon = {asked!r}, {dict(mechanism.parameters)}"
        assert mechanism.audit().epsilon <= asked
    return True


@fuzz(150, accepted=(0.9, 1))
def test_large_mechanisms(rng):
    """Closed forms at the sizes where probabilities round worst: only two numbers each, so any number of types."""
    name, n = rng.choice(["randomized_response", "subset_selection", "rappor", "oue", "olh"]), 2 ** rng.randint(2, 20)
    asked, n = epsilon(rng), n - rng.choice([0, 1])
    chosen = {"size": rng.choice([1, n - 1, n // 2, rng.randint(1, n - 1)])} if name == "subset_selection" else {}
    mechanism = tried(mechanisms.create, name, n, asked, **chosen)
    if mechanism is None:
        return False
    assert exceeds(mechanism) is None, f"{name}, n = {n}, epsilon = {asked!r}, {dict(mechanism.parameters)}"
    return True
