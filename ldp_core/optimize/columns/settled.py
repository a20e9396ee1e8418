"""The best weights of fixed rows, by a primal-dual interior-point method.

The updates of `ldp_core.optimize.columns.weights` gain by the ratios of values to prices of rows. Where epsilon is large L is little more
than tr G, which nothing lessens; these ratios are all near 1, and updates take for ever. Newton steps do not: with ``X = M^-1 G M^-1``, slopes of
L by the weights are ``-v'Xv / d``, its second derivatives ``2 (v'M^-1 u)(v'Xu) / (d_v d_u)``, and the column sums are linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ldp_core.optimize.columns.weights import RowBlock
from ldp_core.run import Check

CENTRED, TO_BORDER = 0.15, 0.95
"""The part of the complementarity a step aims at, and how far to go towards a border."""


@dataclass(frozen=True)
class Settled:
    """The best ``weights`` (k,), the ``objective`` L there, the ``multipliers`` mu (n,), and M^-1 root' for each block."""

    weights: np.ndarray
    objective: float
    multipliers: np.ndarray
    solved: list[np.ndarray]


def settled(blocks: Sequence[RowBlock], masses: np.ndarray, weights: np.ndarray, loss: float, check: Check) -> Settled:
    """The best weights of the rows of ``blocks`` (k, n), of which columns of the first sum to 1; from ``weights`` (k,) that are positive, to
    a ``loss`` of this much in L. Raises Singular where the rows cannot tell all types apart."""
    V = blocks[0].rows
    factors, solved, objective = _at(blocks, weights / masses, check)
    mu = np.full(V.shape[1], objective / V.shape[1])
    spare = np.zeros(0)
    for _ in range(40):
        check()
        along = [block.rows @ part for block, part in zip(blocks, solved, strict=True)]
        worth = sum(np.einsum("ij,ij->i", part, part) for part in along) / masses
        if not len(spare):
            spare = np.maximum(V @ mu - worth, 1e-2 * (V @ mu))
        complementary, off = spare @ weights, V @ mu - worth - spare
        if complementary < loss and np.abs(off).max() * weights.sum() < loss:
            break
        hessian = np.zeros((len(V), len(V)))
        for block, factor, part in zip(blocks, factors, along, strict=True):
            check()
            half = linalg.solve_triangular(factor, block.rows.T, lower=True).T
            hessian += (half @ half.T) * (part @ part.T)
        hessian *= 2 / np.outer(masses, masses)
        hessian[np.diag_indices(len(V))] += spare / weights
        check()
        aimed = CENTRED * complementary / len(V) / weights - spare
        inverse = linalg.cho_factor(hessian, lower=True, overwrite_a=True)
        images = linalg.cho_solve(inverse, np.column_stack([V, aimed - off]))
        change = linalg.solve(V.T @ images[:, :-1], V.T @ images[:, -1] - (1 - V.T @ weights), assume_a="pos")
        move = images[:, -1] - images[:, :-1] @ change
        turn = aimed - spare / weights * move
        length = min(_room(weights, move), _room(spare, turn))
        weights, spare, mu = weights + length * move, spare + length * turn, mu + length * change
        factors, solved, _ = _at(blocks, weights / masses, check)
    left = 1 - V.T @ weights  # by rounding
    weights = weights * (1 + V @ linalg.solve((V.T * weights) @ V, left, assume_a="pos"))
    _, solved, objective = _at(blocks, weights / masses, check)
    return Settled(weights, objective, mu, solved)


def _at(
    blocks: Sequence[RowBlock], weights: np.ndarray, check: Check
) -> tuple[list[np.ndarray], list[np.ndarray], float]:
    """The factors of M and M^-1 root' for each block, and L."""
    factors = [block.factor(weights, True, check) for block in blocks]
    solved = [block.solved(factor) for block, factor in zip(blocks, factors, strict=True)]
    return factors, solved, sum(block.objective(part) for block, part in zip(blocks, solved, strict=True))


def _room(at: np.ndarray, move: np.ndarray) -> float:
    """How much of a ``move`` keeps numbers positive."""
    falling = move < 0
    return min(1.0, TO_BORDER * float((-at[falling] / move[falling]).min())) if falling.any() else 1.0
