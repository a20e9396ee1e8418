"""The privacy parameter: what values make sense, and e^epsilon as arithmetic that never overshoots."""

from __future__ import annotations

import math

MIN_EPSILON = 0.001
MAX_EPSILON = 20.0


def check_epsilon(epsilon: float) -> float:
    """``epsilon`` as a float, or a ValueError that says which values are allowed."""
    try:
        value = float(epsilon)
    except (TypeError, ValueError):
        raise ValueError(
            f"Epsilon must be a number from {MIN_EPSILON:g} to {MAX_EPSILON:g}; got {epsilon!r}."
        ) from None
    if not MIN_EPSILON <= value <= MAX_EPSILON:  # also catches nan
        raise ValueError(
            f"Epsilon {value:g} is out of range. Enter a number from {MIN_EPSILON:g} (very private) to "
            f"{MAX_EPSILON:g} (hardly private); 0.5 to 4 is common."
        )
    return value


def odds(epsilon: float) -> float:
    """e^epsilon, the largest ratio allowed between two probabilities of one report, lowered by a few units in the last place.

    Probabilities computed with it and rounded once or twice still have ratios of at most the true e^epsilon as stored.
    """
    return math.exp(epsilon) * (1 - 2.0**-50)
