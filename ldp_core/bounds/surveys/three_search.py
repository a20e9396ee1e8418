"""Inequalities by three types at a time that sets of a share would break: semidefinite programs over the moments of `three`.

Of sets of one share, the largest ``sum_A lambda_A W_A`` that nothing rules out is found with Clarabel (Goulart and Chen 2024); what its multipliers
say of three types is an inequality that holds for all shares. Pairs may obey inequalities of their own meanwhile, which it leaves out.
"""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse

from ldp_core.bounds.interior_point import solved
from ldp_core.bounds.surveys.three import MOST_NUMBER, Patterns, fits, moments
from ldp_core.bounds.surveys.traces import Traces
from ldp_core.run import Check

MOST_MOMENTS = 500
"""Kinds are fused until there are no more: a programme takes seconds."""
_REGULAR = 1e-9


def fusing(traces: Traces) -> tuple[int, ...] | None:
    """Which kinds to take together, those of most values first, for moments to be few enough; None where they are too many all the same."""
    kinds = len(traces.kinds)
    tried = (tuple(min(k, last) for k in range(kinds)) for last in range(kinds - 1, -1, -1))
    few = (fused for fused in tried if moments(traces, fused) <= MOST_MOMENTS)
    return next((fused for fused in few if fits(traces, fused)), None)


class Separation:
    """For ``known`` patterns."""

    def __init__(self, known: Patterns):
        self.known = known
        self._corners = [_corner(block.size) for block in known.blocks]
        forms = zip(known.blocks, self._corners, strict=True)
        self._squares = [_twice(i, j) @ block.form[i * block.size + j] for block, (i, j) in forms]
        pairs = np.array([known.traces.differing(r) for r in known.traces.counts.tolist()])
        self._spectrum = sparse.csr_matrix(np.linalg.inv(pairs)[1:])
        self._spectrum.resize(len(pairs) - 1, known.moments)
        own = sparse.eye(known.triples, known.moments, known.pairs)
        self._sides = sparse.vstack([side - own for side in known.sides])
        self._class_sizes = np.bincount(known.apart, known.around, known.classes)
        self._pairs = sparse.csr_matrix((known.around, (known.apart, np.arange(known.pairs))), shape=known.sums.shape)

    def solve(self, weights: np.ndarray, share: float, rows: np.ndarray, check: Check) -> np.ndarray | None:
        """(width,) numbers of the inequality for ``weights`` (cells,) and sets of this ``share``, of which pairs obey ``rows`` (i, cells + 1) as in
        `ldp_core.bounds.surveys.relaxation.Relaxation.rows`; None where the solver fails."""
        known, N = self.known, share * self.known.types
        # All moments are looked at as shares of s, and squares through vectors for which these are near 1.
        norms = [one.norms * np.sqrt(1 + share * one.norms**2 * one.plain) for one in known.blocks]
        lengths = N * self._class_sizes
        sizes = sparse.diags(1 / lengths) @ (known.sums - N * self._pairs)
        pairs = sparse.vstack([self._spectrum * (1 / share), -sparse.csr_matrix(rows[:, :-1]) @ self._spectrum])
        inequalities = sparse.vstack([self._sides, sparse.eye(known.moments), pairs])
        limits = np.zeros(inequalities.shape[0])
        limits[len(limits) - len(rows) :] = -rows[:, -1]
        seen = [
            sparse.diags(1 / (own[i] * own[j])) @ square
            for own, (i, j), square in zip(norms, self._corners, self._squares, strict=True)
        ]
        A = sparse.vstack([sparse.eye(1, known.moments), sizes, -inequalities, *(-one for one in seen)], format="csc")
        b = np.concatenate([[1.0], np.zeros(known.classes), limits, np.zeros(sum(one.shape[0] for one in seen))])
        cones = [clarabel.ZeroConeT(1 + known.classes), clarabel.NonnegativeConeT(len(limits))]
        cones += [clarabel.PSDTriangleConeT(block.size) for block in known.blocks]
        objective = weights @ self._spectrum
        unit = np.abs(objective).max()
        found = solved(-objective / unit, A, b, cones, _REGULAR, check)
        if found is None:
            return None
        ends = np.cumsum([1, known.classes, len(limits), *(one.shape[0] for one in seen)])[:-1]
        _, of_sizes, of_rows, *of_squares = np.split(np.array(found.z) * unit, ends)
        factors = [_factor(*one) for one in zip(of_squares, self._corners, norms, strict=True)]
        numbers = np.concatenate([-of_sizes / lengths, *factors, np.maximum(of_rows[: 3 * known.triples], 0.0)])
        return numbers if np.abs(numbers).max() < MOST_NUMBER else None  # a solver that gets nowhere may go far


def _corner(size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of an upper triangle, column by column."""
    j, i = np.tril_indices(size)
    return i, j


def _twice(i: np.ndarray, j: np.ndarray) -> sparse.dia_matrix:
    return sparse.diags(np.where(i == j, 1.0, np.sqrt(2.0)))


def _factor(triangle: np.ndarray, corner: tuple[np.ndarray, np.ndarray], norms: np.ndarray) -> np.ndarray:
    """F with F F' the nearest positive semidefinite matrix, row by row."""
    (i, j), Q = corner, np.zeros((len(norms), len(norms)))
    Q[i, j] = Q[j, i] = triangle / np.where(i == j, 1.0, np.sqrt(2.0))
    values, vectors = np.linalg.eigh(Q)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0)) / norms[:, None]).ravel())
