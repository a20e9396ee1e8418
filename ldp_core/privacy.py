"""The privacy parameter: what values make sense, and arithmetic with e^epsilon that never oversteps a promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

MIN_EPSILON = 0.001
MAX_EPSILON = 20.0

STEP = 2.0**-53
"""The step of uniform random numbers: one is below a multiple of it with exactly that probability."""


MARGIN = 2.0**-48
"""The margin left below e^epsilon, as a share of it: 16 units in the last place, for a few
roundings."""


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


def exp_epsilon(epsilon: float) -> float:
    """e^epsilon, the largest ratio allowed between two probabilities of one report, lowered by `MARGIN` of itself.

    Probabilities computed with it and rounded a few times still have ratios of at most the true e^epsilon.
    """
    return math.exp(epsilon) * (1 - MARGIN)


def fitted_exp_epsilon(epsilon: float) -> float:
    """`exp_epsilon` for strategies whose columns sum to 1 within 1e-12 only: they are scaled before they are written as a table
    (`ldp_core.mechanisms.quantised`), which stretches ratios by twice as much."""
    return math.exp(epsilon) * (1 - 2.0**-38)


def least_meant(epsilon: str | float | Decimal | Fraction) -> Fraction:
    """``epsilon`` as the exact number that a text says; a float as a number that no decimal text read as it lies below, which is at
    most 1 + 2^-52 times as large. ValueError where it says no finite number."""
    try:
        exact = Fraction(epsilon)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(
            f"Epsilon must be a decimal number from {MIN_EPSILON:g} to {MAX_EPSILON:g}; got {epsilon!r}."
        ) from None
    return exact * (1 - Fraction(1, 2**53)) if isinstance(epsilon, float) else exact


_PLACES = 192  # binary places that are kept, all cut off, so that nothing is rounded up


@lru_cache(maxsize=64)
def exponential_below(epsilon: str | Decimal | Fraction) -> Fraction:
    """A rational number below e^epsilon for the exact number that ``epsilon`` >= 0 says, by less than 2^-80 of it.

    Let x = epsilon / 2^k be below 1/2. The first 32 terms of e^x = 1 + x + x^2/2 + ... are all
    positive, so that leaving out the rest (below x^32) and cutting off places only makes the sum
    smaller; it is then squared k times. ValueError beyond `MAX_EPSILON`.
    """
    exact = least_meant(epsilon)
    if not 0 <= exact <= MAX_EPSILON:
        raise ValueError(f"Epsilon must lie between 0 and {MAX_EPSILON:g} here; got {epsilon}.")
    halvings = math.floor(exact).bit_length() + 1
    x = (exact.numerator << _PLACES) // (exact.denominator << halvings)
    total = term = 1 << _PLACES
    for k in range(1, 32):
        term = (term * x // k) >> _PLACES
        total += term
    for _ in range(halvings):
        total = (total * total) >> _PLACES
    return Fraction(total, 1 << _PLACES)


def in_steps(shares: np.ndarray) -> np.ndarray:
    """Positive ``shares`` (k,) of a whole as multiples of `STEP` that sum to exactly 1, none of them 0, so that what is drawn
    whatever the person is like is drawn exactly as it is said to be. Shares that are in steps already stay as they are."""
    units = np.asarray(shares, dtype=float) / STEP
    whole = np.rint(units).astype(np.int64)
    if whole.min() >= 1 and int(whole.sum()) == 2**53 and (whole == units).all():
        return whole * STEP
    whole = np.maximum(np.rint(units / (units.sum() * STEP)).astype(np.int64), 1)
    whole[whole.argmax()] += 2**53 - int(whole.sum())
    return whole * STEP


def probability_within(wanted: float, ratio: Callable[[Fraction], Fraction], limit: float) -> float:
    """The largest multiple of `STEP` below 1, and at most about ``wanted``, whose ``ratio`` (increasing) is at most ``limit``.

    Near 1 the rounding of a probability is many units of what is left to 1, and would overstep the ratio.
    """
    steps = min(math.floor(wanted / STEP), 2**53 - 1)
    while ratio(Fraction(steps, 2**53)) > limit:
        steps -= 1
    return steps * STEP


def log_ratio(high: Fraction, low: Fraction) -> float:
    """log(high/low) as the next float above; infinite where ``low`` is 0."""
    if low == 0:
        return math.inf
    ratio = Fraction(high) / Fraction(low)
    if ratio == 1:
        return 0.0
    with localcontext(Context(prec=60)):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() + Decimal("1e-50")
        logarithm = float(exact)
        return logarithm if Decimal(logarithm) >= exact else math.nextafter(logarithm, math.inf)
