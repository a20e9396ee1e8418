"""Mechanisms of random sizes, epsilons and parameters: none exceeds its epsilon in exact arithmetic."""

import math

import hostile
import numpy as np
import pytest
from fuzzing import attack, tried
from hypothesis import strategies as st

from ldp_core import library, mechanisms, workloads
from ldp_core.mechanisms.noise.additive import AdditiveMechanism, GaussianNoise
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from tests.exact import exact_delta, exceeds

QUICK = {"matrix_l1", "matrix_l2", "optimized_gradient", "optimized"}
"""Mechanisms whose fit is cut short: what they promise holds after any number of rounds."""
of = st.sampled_from
sizes = of([2, 3, 4, 5, 7, 8, 9, 16]) | st.integers(2, 24)
ENDS = [MIN_EPSILON, MAX_EPSILON, 19.6, 0.001 * (1 + 2**-52), math.log(3), math.log(2), 2 * math.log(2), 1.0, 18.02]
epsilons = of(ENDS) | st.floats(math.log(MIN_EPSILON), math.log(MAX_EPSILON)).map(math.exp).filter(
    lambda epsilon: MIN_EPSILON <= epsilon <= MAX_EPSILON
)


@st.composite
def parameters(draw, name, n):
    """Choices of the registry, of the constructors, and now and then a hostile value."""
    spec = library.spec(name)
    offered = {key: of(values) for key, values in spec.choices.items()}
    grids = [[rows, n // rows] for rows in range(2, n // 2 + 1) if n % rows == 0] or [[n, 1]]
    offered |= {
        "subset_selection": {"size": st.integers(1, n - 1)},
        "fourier": {"max_weight": st.integers(1, 4)},
        "hadamard": {"blocks": of([1, 2, 4, 8, 3])},
        "gaussian": {"delta": of([1e-6, 1e-100, 0.1, 1e-12])},
        "matrix_l2": {"delta": of([1e-6, 1e-100, 0.1, 1e-12])},
    }.get(name, {})
    chosen = draw(st.fixed_dictionaries({}, optional=offered))
    if name == "hierarchical_2d":
        chosen["shape"] = draw(of(grids))
    if name in QUICK:
        chosen["max_rounds"] = draw(of([1, 2, 5]))
        chosen.update({"seed": draw(st.integers(0, 8))} if name != "matrix_l2" else {})
    if draw(hostile.chance(20)):
        key = draw(of([*spec.choices, "size", "blocks", "delta", "shape", "unknown"]))
        chosen[key] = draw(hostile.numbers | of([None, "", math.nan, math.inf, True, "a"]))
    return chosen


@st.composite
def questions(draw, n):
    rows = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=(draw(st.integers(1, 5)), n))
    made = [workloads.histogram(n), workloads.prefix(n), workloads.all_range(n)]
    return draw(of([*made, workloads.custom(rows * draw(of([1, 1e-6, 1e6])))]))


@st.composite
def made(draw):
    """What `mechanisms.create` is asked for."""
    name = draw(of(mechanisms.names()))
    n = min(draw(sizes), 6 if name in QUICK else 24)
    workload = draw(questions(n)) if library.spec(name).needs_workload else None
    return name, n, draw(epsilons), workload, draw(parameters(name, n))


@pytest.mark.promise
@attack(made(), seen=[True])
def test_mechanisms(made):
    name, n, asked, workload, chosen = made
    mechanism = tried(mechanisms.create, name, n, asked, workload, **chosen)
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


@st.composite
def large(draw):
    name, n = (
        draw(of(["randomized_response", "subset_selection", "rappor", "oue", "olh"])),
        2 ** draw(st.integers(2, 20)),
    )
    n -= draw(st.integers(0, 1))
    sized = {"size": draw(of([1, n - 1, n // 2]) | st.integers(1, n - 1))} if name == "subset_selection" else {}
    return name, n, draw(epsilons), sized


@pytest.mark.promise
@attack(large(), seen=[True])
def test_large_mechanisms(asked):
    """Closed forms at the sizes where probabilities round worst: only two numbers each, so any number of types."""
    name, n, epsilon, chosen = asked
    mechanism = tried(mechanisms.create, name, n, epsilon, **chosen)
    if mechanism is None:
        return False
    assert exceeds(mechanism) is None, f"{name}, n = {n}, epsilon = {epsilon!r}, {dict(mechanism.parameters)}"
    return True
