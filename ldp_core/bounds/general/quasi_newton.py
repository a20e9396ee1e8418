"""Projected quasi-Newton steps for many variables, some of which must not be negative.

L-BFGS (Nocedal 1980) in the variables that are free, as in Bertsekas's projected Newton methods (1982): those at 0 whose slope
would take them below stay there for one step. SciPy's L-BFGS-B in its place loses 0.7 to 1.4 % of the bounds for a dozen questions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np


def minimised(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x: np.ndarray,
    free: int,
    most: int,
    settled: float,
    stop: Callable[[], bool] = lambda: False,
) -> np.ndarray:
    """A point (n,) where ``function``, which returns its value and slopes (n,), is lower than at ``x`` (n,): the first ``free`` variables
    take any values, the others are not negative. Ends after ``most`` evaluations, when a step gains less than ``settled`` as a share, or
    after a step when ``stop()`` is true. Values may be infinite, but at ``x``."""
    value, slopes = function(x)
    memory: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=10)
    evaluations = 1
    while evaluations < most and not stop():
        held = (x <= 0) & (slopes > 0)
        held[:free] = False
        direction = _direction(slopes, held, memory)
        if not direction @ slopes < 0:
            memory.clear()
            direction = _direction(slopes, held, memory)
        length = 1.0
        for _ in range(20):
            moved = x + length * direction
            np.maximum(moved[free:], 0.0, out=moved[free:])
            step = moved - x
            reached, there = function(moved)
            evaluations += 1
            promised = slopes @ step
            if reached <= value + 1e-4 * promised:
                break
            # the lowest point of the parabola through what is known
            curved = reached - value - promised
            length *= float(np.clip(-promised / (2 * curved), 0.1, 0.5)) if np.isfinite(curved) else 0.1
        else:
            if not memory:
                return x
            memory.clear()
            continue
        memory.append((step, there - slopes))
        gained = value - reached
        x, value, slopes = moved, reached, there
        if gained <= settled * max(1.0, abs(value)):
            break
    return x


def _direction(slopes: np.ndarray, held: np.ndarray, memory: deque[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The quasi-Newton direction (n,), 0 where variables are ``held`` (n,)."""
    direction = np.where(held, 0.0, -slopes)
    used = []
    for step, turn in reversed(memory):
        turn = np.where(held, 0.0, turn)
        curvature = step @ turn
        if not curvature > 1e-12 * (turn @ turn) ** 0.5 * (step @ step) ** 0.5:
            continue
        share = (step @ direction) / curvature
        direction -= share * turn
        used.append((step, turn, curvature, share))
    if not used:
        return direction / max(np.abs(direction).max(), 1.0)
    step, turn, curvature, _ = used[0]
    direction *= curvature / (turn @ turn)
    for step, turn, curvature, share in reversed(used):
        direction += (share - (turn @ direction) / curvature) * step
    direction[held] = 0.0
    return direction
