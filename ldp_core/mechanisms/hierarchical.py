"""Hierarchical histograms HH_B (Cormode et al. 2019, Section 4): each user reports their node on one random level of a tree."""

from __future__ import annotations

import numpy as np

from ldp_core.mechanisms import hadamard
from ldp_core.mechanisms.exchangeable import RandomizedResponse
from ldp_core.mechanisms.explicit import STRATEGY_ENTRIES, ExplicitMechanism

ORACLES = {
    "hadamard": lambda nodes, epsilon: hadamard.build(nodes, epsilon).strategy,
    "randomized_response": lambda nodes, epsilon: RandomizedResponse(nodes, epsilon).strategy,
}
RECONSTRUCTIONS = ("optimal",)


def level_widths(n: int, branching: int) -> list[int]:
    """Types under one node on each level, leaves first: 1, B, B^2, ... below n. The known root is left out."""
    widths = [1]
    while widths[-1] * branching < n:  # an integer loop: log_B(n) rounds the wrong way at exact powers
        widths.append(widths[-1] * branching)
    return widths


def build(
    n: int, epsilon: float, branching: int = 4, oracle: str = "hadamard", reconstruction: str = "optimal"
) -> ExplicitMechanism:
    """HH_B with ``oracle`` on a uniformly chosen level; answers by the optimal reconstruction from all levels together.

    ValueError for a branching factor below 2, an unknown oracle or reconstruction, or a strategy too large to write out.
    """
    if isinstance(branching, bool) or not isinstance(branching, (int, np.integer)) or branching < 2:
        raise ValueError(f"The branching factor must be a whole number of at least 2; got {branching}.")
    if oracle not in ORACLES:
        raise ValueError(f"Unknown oracle {oracle!r}; choose one of {', '.join(ORACLES)}.")
    if reconstruction not in RECONSTRUCTIONS:
        raise ValueError(f"Unknown reconstruction {reconstruction!r}; choose one of {', '.join(RECONSTRUCTIONS)}.")
    if 3 * n * n > STRATEGY_ENTRIES:
        raise ValueError(
            f"Hierarchical histograms on {n:,} types need a strategy matrix too large to write out here. Use coarser bins."
        )
    widths = level_widths(n, branching)
    levels = [
        np.repeat(ORACLES[oracle](-(-n // width), epsilon), width, axis=1)[:, :n] / len(widths) for width in widths
    ]
    parameters = {"branching": int(branching), "oracle": oracle, "reconstruction": reconstruction}
    sizes = ", ".join(f"{-(-n // width):,}" for width in widths)
    return ExplicitMechanism(
        "hierarchical",
        np.vstack(levels),
        epsilon,
        parameters,
        f"The types are the leaves of a tree with {branching} children a node. Each person picks one of {len(widths)} "
        f"levels at random ({sizes} nodes) and reports their node there by {oracle.replace('_', ' ')}.",
    )
