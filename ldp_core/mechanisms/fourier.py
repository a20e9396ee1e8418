"""Fourier (Cormode, Kulkarni and Srivastava 2018, marginals): each user reports one character of their binary attributes."""

from __future__ import annotations

import numpy as np

from ldp_core.mechanisms.explicit import STRATEGY_ENTRIES, ExplicitMechanism
from ldp_core.privacy import check_epsilon, odds
from ldp_core.workloads import Workload, parity


def build(n: int, epsilon: float, max_weight: int | None = None) -> ExplicitMechanism:
    """Sample a character (-1)^|S & u| with 1 <= |S| <= ``max_weight`` (all by default), send its sign by randomized response.

    Weight 0 is left out: the number of users is known. Answers by the optimal reconstruction; a workload must lie in the
    span of the characters sampled, such as k-way marginals for ``max_weight`` >= k.

    ValueError unless n is a power of two and the strategy fits in memory.
    """
    epsilon = check_epsilon(epsilon)
    if n & (n - 1):
        raise ValueError(domain_rule(n, epsilon, None))
    d = n.bit_length() - 1
    weight = d if max_weight is None else max_weight
    if isinstance(weight, bool) or int(weight) != weight or not 1 <= weight <= d:
        raise ValueError(f"The largest weight must be a whole number from 1 to {d}; got {max_weight!r}.")
    characters = parity(d, int(weight))
    sampled = characters.num_queries - 1
    if 2 * sampled * n > STRATEGY_ENTRIES:
        raise ValueError(
            f"Fourier on {n:,} types needs a {2 * sampled:,} x {n:,} strategy matrix, too large here. Use fewer attributes or "
            "a smaller max_weight."
        )
    E = odds(epsilon)
    signs = characters.rows(np.arange(1, sampled + 1))
    positive, negative = np.where(signs > 0, E, 1.0), np.where(signs > 0, 1.0, E)
    Q = np.stack([positive, negative], axis=1).reshape(2 * sampled, n) / (sampled * (1 + E))
    parameters = {"max_weight": int(weight)}
    return ExplicitMechanism(
        "fourier",
        Q,
        epsilon,
        parameters,
        f"Each person draws one of {sampled:,} groups of attributes and reports whether they would answer yes to an even or "
        "an odd number of them, by randomized response.",
    )


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why Fourier with all characters cannot run on ``n`` types, None when it can."""
    if n & (n - 1):
        return f"Fourier reads types as answers to yes-or-no attributes, so their number must be a power of two, not {n:,}."
    if 2 * n * n > STRATEGY_ENTRIES:
        return f"Fourier with all characters of {n:,} types needs too large a strategy matrix. Use fewer attributes."
    return None
