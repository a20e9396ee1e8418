"""The privacy parameter: what values make sense, and arithmetic with e^epsilon that never oversteps a promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

MIN_EPSILON = 0.001
MAX_EPSILON = 20.0

STEP = 2.0**-53
"""The step of uniform random numbers: one is below a multiple of it with exactly that probability."""


MARGIN = 2.0**-48
"""What is left free below e^epsilon, as a share of it: 16 units in the last place, for a few roundings."""


def check_epsilon(epsilon: float | None) -> float:
    """``epsilon`` as a float, or a ValueError that says which values are allowed."""
    try:
        value = float("" if epsilon is None else epsilon)
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
    """e^epsilon, the largest ratio allowed between two probabilities of one report, lowered by `MARGIN` of itself.

    Probabilities computed with it and rounded a few times still have ratios of at most the true e^epsilon.
    """
    return math.exp(epsilon) * (1 - MARGIN)


def fitted_odds(epsilon: float) -> float:
    """`odds` for strategies whose columns sum to 1 within 1e-12 only: they are scaled when reports are drawn, which stretches
    ratios by twice as much."""
    return math.exp(epsilon) * (1 - 2.0**-38)


def probability_within(wanted: float, ratio: Callable[[Fraction], Fraction], limit: float) -> float:
    """The largest multiple of `STEP` below 1, and at most about ``wanted``, whose ``ratio`` (increasing) is at most ``limit``.

    Near 1 the rounding of a probability is many units of what is left to 1, and would overstep the ratio.
    """
    steps = min(math.floor(wanted / STEP), 2**53 - 1)
    while ratio(Fraction(steps, 2**53)) > limit:
        steps -= 1
    return steps * STEP


def in_steps(wanted: float) -> float:
    """The smallest multiple of `STEP` that is at least ``wanted``, from 0 to 1: a uniform random number is below it with exactly that
    probability."""
    return math.ceil(wanted / STEP) * STEP


def log_ratio(high: Fraction, low: Fraction) -> float:
    """log(high/low) as the next float above; infinite where ``low`` is 0."""
    if low == 0:
        return math.inf
    ratio = Fraction(high) / Fraction(low)
    if ratio == 1:
        return 0.0
    with localcontext(Context(prec=60)):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() + Decimal("1e-50")
        found = float(exact)
        return found if Decimal(found) >= exact else math.nextafter(found, math.inf)
