"""Square wave (Li, Wang, Lopuhaa-Zwakenberg, Skoric and Li 2020, "Estimating numerical distributions under local differential privacy").

A mechanism for ordered types. A report is a place on the line, near the true one more often than
elsewhere: with b types on either side (the *window*),

    each of the 2b + 1 places within b of the type u is sent with probability p, each of the other n - 1 with q,
    p = E/((2b + 1) E + n - 1),    q = 1/((2b + 1) E + n - 1),    E = e^epsilon,

so that reports run from -b to n - 1 + b: n + 2b of them, since every type needs a whole window. This is the discrete form in the paper,
where values are put into bins before they are reported; the continuous one is the limit of many bins. The window that makes an upper bound
on the mutual information of value and report largest is, as a share of the domain,

    b = (epsilon E - E + 1) / (2 E (E - 1 - epsilon)),

which falls from 1/2 (small epsilon) to 0, where nothing is left but randomized response.

The strategy distinguishes all types. Columns have equal sums, so Q z = 0 requires sum z = 0, and
then the convolution of z with 2b + 1 ones to be 0. Only z = 0 gives that. But the inverse is one of
a moving sum, which makes fine detail very noisy: the paper's own estimate is expectation
maximisation with smoothing (`ldp_core.estimators.smoothed`), which is biased.
"""

from __future__ import annotations

import math

import numpy as np

from ldp_core.mechanisms.explicit import ExplicitMechanism, check_entries
from ldp_core.privacy import check_epsilon, exp_epsilon


def best_window(n: int, epsilon: float) -> int:
    """The paper's window b for ``n`` types: whole types on either side of the true one, at most (n - 1)/2.

    >>> from ldp_core.mechanisms import square_wave
    >>> [square_wave.best_window(64, epsilon) for epsilon in (0.1, 1.0, 3.0, 8.0)]
    [29, 16, 4, 0]
    """
    return math.floor(share_of_domain(epsilon) * n)


def share_of_domain(epsilon: float) -> float:
    """b of the paper, for values from 0 to 1: numerator and denominator are divided by E, so that nothing cancels near 0."""
    return (epsilon + math.expm1(-epsilon)) / (2 * (math.expm1(epsilon) - epsilon))


def build(n: int, epsilon: float, window: int | None = None) -> ExplicitMechanism:
    """Square wave on ``n`` types with the optimal reconstruction; ``window`` overrides b.

    ValueError for a window that is as wide as the domain, or where the strategy is too large to write out.
    """
    epsilon = check_epsilon(epsilon)
    b = best_window(n, epsilon) if window is None else window
    if b >= n:
        raise ValueError(
            f"The window of a square wave on {n:,} types is a whole number from 0 to {n - 1:,}; got {b:,}."
        )
    check_entries(n + 2 * b, n, "A square wave", "Use coarser bins, or a hierarchical mechanism.")
    E, places = exp_epsilon(epsilon), np.arange(-b, n + b)
    near = np.abs(places[:, None] - np.arange(n)) <= b
    # One divisor for all keeps the ratios within a row exact.
    Q = np.where(near, E, 1.0) / ((2 * b + 1) * E + n - 1)
    explanation = (
        f"A report is a place on the line, from {b:,} below the first type to {b:,} above the last: a person sends each of the "
        f"{2 * b + 1:,} places within {b:,} of their own type e^epsilon times as often as any other. The unbiased estimate takes a moving "
        "sum apart, which is noisy in fine detail; expectation maximisation with smoothing is what its authors use."
    )
    return ExplicitMechanism("square_wave", Q, epsilon, {} if window is None else {"window": int(window)}, explanation)


def outputs(n: int, epsilon: float) -> float:
    """How many different reports there are."""
    return n + 2 * best_window(n, epsilon)
