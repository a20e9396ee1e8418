"""Anderson's acceleration, on iterations with known fixed points."""

import numpy as np
import pytest

from ldp_core.estimators.acceleration import MEMORY, Acceleration


def rounds(step, start, accelerated, scale=1.0):
    """How many rounds until a step is shorter than 1e-9, and where they end."""
    found, point, count = Acceleration(np.full(len(start), scale)), start, 0
    while count < 10_000 and np.abs((image := step(point)) - point).max() >= 1e-9:
        point = found.following(image, image - point) if accelerated else image
        count += 1
    return count, point


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_linear_iterations_end_after_as_many_rounds_as_they_have_rates(scale):
    rates = np.repeat([0.5, 0.9, 0.99, 0.999, -0.7], 3)
    count, found = rounds(lambda x: rates * x + 1, np.zeros(15), True, scale)
    np.testing.assert_allclose(found, 1 / (1 - rates), rtol=1e-5)
    assert count <= MEMORY + 4
    assert rounds(lambda x: rates * x + 1, np.zeros(15), False)[0] > 5_000


def test_iterations_with_corners_end_at_the_same_point():
    """Alternating projections between a subspace and the non-negative orthant."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((30, 12)))[0]
    target = rng.standard_normal(30) + 0.2

    def step(state):
        agreed = basis @ (basis.T @ ((target + np.abs(state)) / 2))
        return state + 1.7 * (agreed - np.maximum(state, 0))

    plain, fast = (rounds(step, np.zeros(30), accelerated) for accelerated in (False, True))
    np.testing.assert_allclose(np.maximum(fast[1], 0), np.maximum(plain[1], 0), atol=1e-6)
    assert fast[0] < plain[0]
