"""Hadamard response (Acharya, Sun and Zhang 2019): near-optimal histograms from one short report."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import hadamard

from ldp_core.mechanisms.explicit import ExplicitMechanism, check_entries
from ldp_core.privacy import check_epsilon, exp_epsilon


def _power_of_two_at_least(x: float) -> int:
    return 1 << (math.ceil(x) - 1).bit_length()


def blocks_and_size(n: int, epsilon: float) -> tuple[int, int]:
    """Number B of blocks and their size b (both powers of two) of the general-privacy form; outputs are K = B b.

    B = 2^(ceil(log2 min(e^epsilon, 2n)) - 1), b = 2^ceil(log2(n/B + 1)); B = 1 is the high-privacy form.
    """
    blocks = _power_of_two_at_least(min(np.exp(epsilon), 2 * n)) // 2
    return blocks, _power_of_two_at_least(n / blocks + 1)


def build(n: int, epsilon: float, blocks: int | None = None) -> ExplicitMechanism:
    """Hadamard response on ``n`` types with the optimal reconstruction; ``blocks`` (a power of two) overrides B.

    ValueError for another number of blocks, or when K x n is too large to write out.
    """
    epsilon = check_epsilon(epsilon)
    Q, size = _strategy(n, epsilon, blocks)
    return ExplicitMechanism(
        "hadamard", Q, epsilon, {} if blocks is None else {"blocks": int(blocks)}, _explanation(size, len(Q))
    )


def build_projected(n: int, epsilon: float) -> ExplicitMechanism:
    """Projected Hadamard response (Bassily 2019, Algorithm 5): one block at every epsilon.

    Its estimate is the unbiased one; the paper's projection onto the simplex is the estimator "norm_sub".
    """
    epsilon = check_epsilon(epsilon)
    Q, size = _strategy(n, epsilon, 1)
    explanation = (
        f"{_explanation(size, len(Q))} The projection that the paper adds is the estimator Norm-Sub: choose it to get counts "
        "that are never negative and sum to the number of people."
    )
    return ExplicitMechanism("projected_hadamard", Q, epsilon, {}, explanation)


def _strategy(n: int, epsilon: float, blocks: int | None) -> tuple[np.ndarray, int]:
    """(K, n) probabilities and the block size b."""
    if blocks is None:
        blocks, size = blocks_and_size(n, epsilon)
    else:
        if isinstance(blocks, (bool, float)) or blocks not in {1 << k for k in range(n.bit_length())}:
            raise ValueError(f"The number of blocks must be a power of two from 1 to {n}; got {blocks!r}.")
        size = _power_of_two_at_least(n / blocks + 1)
    outputs = blocks * size
    check_entries(outputs, n, "Hadamard response", "Use coarser bins, randomized response or subset selection.")
    E = exp_epsilon(epsilon)
    Q = np.ones((outputs, blocks * (size - 1)))
    block = np.where(hadamard(size)[:, 1:] > 0, E, 1.0)  # the all-ones first column would distinguish no types
    for i in range(blocks):
        Q[i * size : (i + 1) * size, i * (size - 1) : (i + 1) * (size - 1)] = block
    # Every column holds size/2 likely outputs, so one divisor keeps the ratios within a row exact.
    return Q[:, :n] / (size / 2 * E + outputs - size / 2), size


def _explanation(size: int, outputs: int) -> str:
    return (
        f"Each type owns {size // 2:,} of {outputs:,} possible reports, a row pattern of a Hadamard matrix; a person "
        f"sends each report of their own set e^epsilon times as often as any other. A report is one number of "
        f"{int(np.log2(outputs))} bits."
    )
