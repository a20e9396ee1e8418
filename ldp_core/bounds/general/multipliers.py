"""Lower bounds from multipliers: what proves, of any of them, that a quadratic form of a row is never positive.

Take numbers q (n,), which are gamma in `ldp_core.bounds.verify`, and quadratic functions of y that are never negative for rows v (notation:
`ldp_core/README.md`):

* ``y_i y_j`` of two types, with multipliers N (n, n), non-negative and symmetric;
* ``(sum y - k D)(sum y - (k + 1) D)`` for whole k, with multipliers kappa, and the same for any few types with whole coefficients
  (`ldp_core.bounds.general.few_types`), with multipliers nu.

Write their sum ``y' F y + 2 f'y + h``. As ``q_i (y_i^2 - D y_i) = 0``, with

    Q = diag(q) - F,   w = Q 1 + D q / 2 + f,   t = D 1'q / 2 + 1'f,   c = 2 t + 1'Q 1 - h > 0,   A = Q - w w'/c

**v'Av <= 0 for every v in {1, E}^n**: ``v'Qv - 2 w'v + c`` is less the sum of all these functions, which is not positive, and
``2 w'v - c - (w'v)^2/c = -(w'v - c)^2/c``.

**The bound.** So tr(A M) <= 0 for the information matrix M of every epsilon-LDP strategy. Then
``tr(M^-1 G) >= tr(CG)^2 / 1'mu`` as in `ldp_core.bounds.verify`, for every symmetric C
such that CGC agrees with A on the vectors x with p'x = 0, p the prior. If A is positive semidefinite there, the best such C gives

    tr(M_p^-1 G)  >=  n (p'Gp + |A^(1/2) K^(1/2)|_*^2 / b),      b = -1'A1 = (t^2 + h 1'Q1) / c,

K = W'W the Gram matrix of the questions less their mean over the prior, W = V (I - p1') for G = V'V, and |.|_* the nuclear norm:
``|A^(1/2) K^(1/2)|_* = tr (W A W')^(1/2)``. If q = p and all else is 0, this is the centred SVD bound: b = sinh(epsilon/2)^2 (this project).
`ldp_core.bounds.general.dual` looks for the best multipliers; every choice proves what it proves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ldp_core.bounds.general.few_types import Cuts
from ldp_core.run import Check, unchecked

LEAST_SHARE = 1e-9
"""Types that nobody has count as this share of the average, so that A is definite for them too."""
NOISE = 1e-14
"""Eigenvalues of an (n, n) matrix up to n times this share of the largest may be pure rounding."""


@dataclass(frozen=True)
class Form:
    """What of the multipliers bears on A: ``Q`` (m, m), its row ``sums`` (m,), ``w`` (m,), the numbers t, 1'Q1 (``total``), h and
    c, and b c (``top``); ``A`` (m, m) itself, None where c or b is not positive, and nothing is proved."""

    Q: np.ndarray
    sums: np.ndarray
    w: np.ndarray
    t: float
    total: float
    h: float
    c: float
    top: float
    A: np.ndarray | None


@dataclass(frozen=True)
class Multipliers:
    """``q`` (m,), ``pairs`` N (m, m), ``size_multipliers`` kappa (s,) of whole ``sizes`` (s,), and ``cut_multipliers`` nu (t,) of ``cuts`` on few types."""

    q: np.ndarray
    pairs: np.ndarray
    sizes: np.ndarray
    size_multipliers: np.ndarray
    cuts: Cuts
    cut_multipliers: np.ndarray

    def times(self, scale: float) -> Multipliers:
        """All of them, multiplied by ``scale``."""
        return replace(
            self,
            q=scale * self.q,
            pairs=scale * self.pairs,
            size_multipliers=scale * self.size_multipliers,
            cut_multipliers=scale * self.cut_multipliers,
        )

    def form(self, D: float) -> Form:
        """Q, w, t and h of the module's docstring, for D = E - 1."""
        k, kappa = self.sizes, self.size_multipliers
        Q, f = -(self.pairs + kappa.sum()), np.full(len(self.q), -D * (kappa @ (k + 0.5)))
        h = D**2 * float(kappa @ (k * (k + 1)))
        if len(self.cut_multipliers):
            products, singles, constant = self.cuts.adjoint(self.cut_multipliers, D)
            Q, f, h = Q - products, f + singles / 2, h + constant
        Q[np.diag_indices(len(Q))] += self.q
        sums, half = Q.sum(axis=1), D / 2 * self.q
        t, total = float(half.sum() + f.sum()), float(sums.sum())
        w, c, top = sums + half + f, 2 * t + total - h, t**2 + h * total
        A = Q - np.outer(w, w / c) if c > 0 and top > 0 else None
        return Form(Q, sums, w, t, total, h, c, top, A)


def plain(q: np.ndarray, pairs: np.ndarray) -> Multipliers:
    """Those without sizes and cuts."""
    none = np.zeros(0)
    return Multipliers(q, pairs, none, none, Cuts.none(len(q)), none)


def held(prior: np.ndarray) -> np.ndarray:
    """The shares (n,) of ``prior``, none of them 0."""
    return np.maximum(prior, LEAST_SHARE / len(prior))


def definite(A: np.ndarray, prior: np.ndarray, scale: float) -> np.ndarray:
    """(m, m) A on the vectors x with p'x = 0, and ``scale`` pp' besides: ``(I - p1') A (I - 1p') + scale pp'``."""
    along = A.sum(axis=1)
    along = along - (along.sum() + scale) / 2 * prior
    return A - np.outer(along, prior) - np.outer(prior, along)


@dataclass(frozen=True)
class Numbers:
    """The arrays of a certificate: ``inverse`` C (n, n), ``mu`` (n,), and the ``multipliers`` on the scale of these. They would prove
    ``exactly`` so much without rounding."""

    inverse: np.ndarray
    mu: np.ndarray
    multipliers: Multipliers
    exactly: float


def numbers(
    gram: np.ndarray, ratio: float, prior: np.ndarray, found: Multipliers, check: Check = unchecked, least: float = 0.0
) -> Numbers:
    """The arrays that prove the bound of the multipliers ``found``, on the scale of the corresponding M: C = M^-1. LinAlgError where A is
    not positive definite on the vectors x with p'x = 0.

    C is 0 in directions that the workload ignores, and smaller than M^-1 in those that it hardly asks about, where eigenvalues are below
    the share ``least`` of the largest: CGC is then below A, which does no harm, and rounding matters less.
    """
    n, along = len(gram), gram @ prior
    along = along - prior @ along / 2
    K = gram - along[:, None] - along
    form = found.form(ratio - 1)
    if form.A is None:
        raise linalg.LinAlgError("these multipliers prove nothing")
    check()
    A = definite(form.A, prior, float(found.q.sum()))
    check()
    C, nuclear = halfway(A, K, check, least)
    best = form.c / form.top
    scale = n * nuclear * best
    C *= scale
    C += n * np.outer(prior, prior)
    check()
    # Of CGC - A, on the vectors x with p'x = 0, nothing is left, so it is (mu r' + r mu')/2 with r = n p, and its row sums say which.
    sums = C @ (gram @ C.sum(axis=1)) - scale**2 * (form.sums - form.w * (form.w.sum() / form.c))
    exactly = n * (float(prior @ along) * 2 + nuclear**2 * best)
    return Numbers(C, (2 * sums - prior * sums.sum()) / n, found.times(scale**2), exactly)


def halfway(A: np.ndarray, K: np.ndarray, check: Check, share: float) -> tuple[np.ndarray, float]:
    """The positive semidefinite C with ``C K C = A`` on the range of K, or below it as in `numbers`, 0 elsewhere, and ``tr(C K)``; A is
    positive definite."""
    factor = linalg.cholesky(A, lower=True)
    check()
    values, vectors = linalg.eigh(factor.T @ K @ factor, overwrite_a=True)
    check()
    # Directions that are nothing but rounding (one always is) would make C huge; what they hold is 1e-7 of the rest at most.
    kept = values > values[-1] * NOISE * len(A)
    roots = np.sqrt(np.maximum(values[kept], share * values[-1]))
    half = factor @ (vectors[:, kept] / np.sqrt(roots))
    check()
    C = half @ half.T
    return (C + C.T) / 2, float((values[kept] / roots).sum())
