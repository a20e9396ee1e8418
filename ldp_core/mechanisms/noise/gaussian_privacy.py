"""What Gaussian noise of a given size guarantees, exactly (Balle and Wang 2018, "Improving the Gaussian Mechanism").

``scale`` is the standard deviation of the noise on each coordinate, ``diameter`` the largest Euclidean distance between
the vectors of two types: both in the same unit, and only their ratio matters.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr

from ldp_core.privacy import check_epsilon
from ldp_core.wording import significant

DEFAULT_DELTA = 1e-6
MAX_DELTA = 0.1


def check_delta(delta: float) -> float:
    """``delta`` as a float, or a ValueError that says which values are allowed."""
    try:
        value = float(delta)
    except (TypeError, ValueError):
        raise ValueError(f"Delta must be a number above 0 and at most {MAX_DELTA:g}; got {delta!r}.") from None
    if not 1e-100 <= value <= MAX_DELTA:  # also catches nan
        raise ValueError(
            f"Delta {significant(value)} is out of range: it is added to every chance the guarantee bounds, so enter a small number such as "
            f"0.000001, above 0 and at most {MAX_DELTA:g}."
        )
    return value


def exact_delta(epsilon: float, scale: float, diameter: float) -> float:
    """The smallest delta that makes the noise (epsilon, delta)-LDP: their Theorem 8.

    Phi(D/2s - epsilon s/D) - e^epsilon Phi(-D/2s - epsilon s/D), with D the diameter and s the scale.
    """
    check_epsilon(epsilon)
    if not (scale > 0 and diameter >= 0 and math.isfinite(scale) and math.isfinite(diameter)):
        raise ValueError(
            f"Give a positive scale of the noise and a diameter of at least 0, both finite; got {scale} and {diameter}."
        )
    if diameter == 0:
        return 0.0
    distance = diameter / scale
    upper = float(log_ndtr(distance / 2 - epsilon / distance))
    lower = epsilon + float(log_ndtr(-distance / 2 - epsilon / distance))
    # In logs, because both terms can be far below the smallest float times e^epsilon.
    return math.exp(upper) * -math.expm1(min(0.0, lower - upper)) if math.isfinite(upper) else 0.0


def calibrated_scale(epsilon: float, delta: float, diameter: float) -> float:
    """The smallest standard deviation that gives (``epsilon``, ``delta``)-LDP at ``diameter``, by root finding.

    Rounded up by a few units in the last place, so that `exact_delta` of the result never exceeds ``delta``.
    """
    check_epsilon(epsilon)
    delta = check_delta(delta)
    if not (diameter > 0 and math.isfinite(diameter)):
        raise ValueError(f"The diameter must be a positive finite number; got {diameter}.")

    def excess(log_scale: float) -> float:
        # A delta that underflows is on the right side already; any finite value below keeps the bracket.
        return math.log(max(exact_delta(epsilon, math.exp(log_scale), 1.0), 1e-300) / delta)

    low, high = -5.0, 0.0  # delta falls as the scale grows
    while excess(low) <= 0:
        low -= 5.0
    while excess(high) > 0:
        high += 1.0
    root = brentq(excess, low, high, xtol=1e-14, rtol=1e-14)
    scale = math.exp(root) * diameter
    while exact_delta(epsilon, scale, diameter) > delta:
        scale *= 1 + 1e-13
    return scale
