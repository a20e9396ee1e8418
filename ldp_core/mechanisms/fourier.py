"""Fourier (Cormode, Kulkarni and Srivastava 2018, marginals): each user reports one character of their binary attributes."""

from __future__ import annotations

import numpy as np

from ldp_core.arguments import check_whole
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.explicit import ExplicitMechanism, check_entries
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.workloads import Parity, Workload, walsh_hadamard


def build(n: int, epsilon: float, max_weight: int | None = None, workload: Workload | None = None) -> ExplicitMechanism:
    """Sample a character (-1)^|S & u|, evenly among those that ``workload`` needs, and send its sign by randomized response.

    Sampled are the characters that take part in a query, such as 1 <= |S| <= k for k-way marginals; all without a
    workload, or those up to ``max_weight`` where that is given. Weight 0 is left out: the number of users is known.
    Answers by the optimal reconstruction; a workload must lie in the span of the characters sampled.

    ValueError unless n is a power of two and the strategy fits in memory.
    """
    epsilon = check_epsilon(epsilon)
    if n & (n - 1):
        raise ValueError(domain_rule(n, epsilon, None))
    d = n.bit_length() - 1
    characters = Parity(d, None if max_weight is None else check_whole("largest weight", max_weight, 1, d))
    chosen = np.arange(1, characters.num_queries)
    if max_weight is None and workload is not None:
        needed = chosen[_parts(workload)[characters.characters[1:]] > 0]
        chosen = needed if needed.size else chosen  # the total alone is known without any
    sampled = len(chosen)
    check_entries(2 * sampled, n, "Fourier", "Use fewer attributes or a smaller max_weight.")
    E = exp_epsilon(epsilon)
    signs = characters.rows(chosen)
    positive, negative = np.where(signs > 0, E, 1.0), np.where(signs > 0, 1.0, E)
    Q = np.stack([positive, negative], axis=1).reshape(2 * sampled, n) / (sampled * (1 + E))
    parameters = {"max_weight": int(np.bitwise_count(characters.characters[chosen[-1]]))}
    if sampled < Parity(d, parameters["max_weight"]).num_queries - 1:
        parameters["parities"] = sampled
    return ExplicitMechanism(
        "fourier",
        Q,
        epsilon,
        parameters,
        f"Each person draws one of {sampled:,} groups of attributes and reports whether they would answer yes to an even or "
        "an odd number of them, by randomized response.",
    )


def _parts(workload: Workload) -> np.ndarray:
    """(n,) squared length |W c|^2 = c'Gc of the answers to each character c, by its mask; 0 where it is nothing but
    rounding."""
    n = workload.n
    if all(size == 2 and same for size, same in workload.symmetry_group.shifts):
        parts = n * walsh_hadamard(workload.gram_column)  # G is diagonal in the characters
    else:
        masks, rows = np.arange(n), max(1, 2**22 // n)
        signs = (1.0 - 2.0 * (np.bitwise_count(masks[i : i + rows, None] & masks) % 2) for i in range(0, n, rows))
        parts = np.concatenate([workload.quadratic(some) for some in signs])
    return np.where(parts > 1e-13 * parts.max(), parts, 0.0)


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why Fourier with all characters cannot run on ``n`` types, None when it can."""
    if n & (n - 1):
        return f"Fourier reads types as answers to yes-or-no attributes, so their number must be a power of two, not {n:,}."
    if 2 * n * n > MOST_STRATEGY_ENTRIES:
        return f"Fourier with all characters of {n:,} types needs too large a strategy matrix. Use fewer attributes."
    return None
