"""Lower bounds from few numbers: a weighted variance of each row, less products of entries that are never negative.

Take weights gamma (n,) of the types, positive, and a non-negative symmetric N (n, n), and write with the prior p (n,), S = diag p,

    g = p'gamma,   nu = p'Np,   c = g E - nu > 0,   w = S (gamma (E + 1)/2 - N p),   A = S diag(gamma) - S N S - w w'/c.

**v'Av <= 0 for every v in {1, E}^n.** As (v_i - 1)(v_i - E) = 0, ``v_i^2 = (E + 1) v_i - E``; as v - 1 is not negative,
``-v'SNSv <= -2 v'SNp + nu``. So ``v'(S diag(gamma) - S N S)v <= 2 w'v - c``, and ``2 w'v - c - (w'v)^2/c = -(w'v - c)^2/c <= 0``.

**The bound.** So tr(A M) <= 0 for the information matrix M of every epsilon-LDP strategy. Then
``tr(M^-1 G) >= tr(CG)^2 / 1'mu`` as in `ldp_core.bounds.general.certificate`, for every symmetric C
such that CGC agrees with A orthogonally to p. The best such C gives

    tr(M_p^-1 G)  >=  n (p'Gp + |A_p^(1/2) K^(1/2)|_*^2 / b),      b = -1'A1 = (g (E - 1))^2 / (4 c),

K the centred Gram matrix, S^(1/2) A_p S^(1/2) what A is orthogonally to p (positive semidefinite),
|.|_* the nuclear norm. Even gamma and N = 0 give the centred SVD bound: b is sinh(epsilon/2)^2 for
gamma = 1 (this project).

**How gamma and N are found.** The relaxation of `ldp_core.bounds.general.moments`, its whole-number
cuts aside, has a dual which is this: the best gamma and N give its value. If neighbouring types are
alike, as with totals and ranges, both are smooth, so they are taken as even over blocks of
neighbours of about the same share of people. Within a block, orthogonally to the blocks, A is
gamma, and that part of K counts with sqrt(gamma) times its own nuclear norm. This estimate ignores
the coupling of blocks with their interiors. It only serves to choose gamma and N; every choice is
allowed. The logarithm of the estimate is maximised over a few blocks first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy import linalg, optimize
from scipy.optimize import OptimizeResult

from ldp_core.bounds.centred import centred_gram
from ldp_core.bounds.mirrored import LEAST_MIRRORED, halves, is_mirrored, whole
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.run import Check, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

BLOCKS = (32, 128)
"""Blocks of types over which gamma and N are looked for, in turn; more gain less than 5e-4."""
_MOST_EVALUATIONS = 300
SETTLED = 1e-8
MEMORY = 20
_MOST_BETWEEN = {256: 0.8, MOST_MATRIX_TYPES: 0.5}
"""Blocks suffice if at least this share of the nuclear norm is between them, by number of types. A
relaxation by single types takes seconds for few types, and gains half a per cent where types lie in
two dimensions."""
# Workload -> digest of the prior -> True if blocks suffice.
_KEPT: WeakKeyDictionary[Workload, dict[str, bool]] = WeakKeyDictionary()
# The objective of gamma and N that prove nothing: worse than all others.
NOTHING = 1e3


@dataclass(frozen=True)
class Weights:
    """gamma and N, the same for all types of a block: ``types`` (m,), ``pairs`` (m, m), and ``block`` (n,) the block of each type."""

    types: np.ndarray
    pairs: np.ndarray
    block: np.ndarray

    @property
    def spread_out(self) -> tuple[np.ndarray, np.ndarray]:
        """gamma (n,) and N (n, n) by types."""
        return self.types[self.block], self.pairs[self.block][:, self.block]


def even(n: int) -> Weights:
    """Those of the centred SVD bound."""
    return Weights(np.ones(1), np.zeros((1, 1)), np.zeros(n, dtype=int))


@dataclass(frozen=True)
class Numbers:
    """The arrays of a certificate: ``inverse`` C (n, n), ``multipliers`` mu (n,), ``diagonal`` (n,)
    and ``pairs`` (n, n)."""

    inverse: np.ndarray
    multipliers: np.ndarray
    diagonal: np.ndarray
    pairs: np.ndarray


def numbers(gram: np.ndarray, ratio: float, prior: np.ndarray, weights: Weights, check: Check = unchecked) -> Numbers:
    """The arrays that prove the bound of ``weights``, on the scale of the corresponding M: C =
    M^-1. LinAlgError where A_p is not definite.

    C is 0 in directions that the workload ignores. CGC is then below A, which does no harm.
    """
    n, root = len(gram), np.sqrt(prior)
    gamma, N = weights.spread_out
    check()
    K = centred_gram(gram, prior)
    mirrored = n > LEAST_MIRRORED and is_mirrored(root) and is_mirrored(K)
    if mirrored:  # then the mean of gamma and N and of their mirror images is no worse
        gamma, N = (gamma + gamma[::-1]) / 2, (N + N[::-1, ::-1]) / 2
    g, c = _masses(gamma, N, prior, ratio)
    w = gamma * (ratio + 1) / 2 - N @ prior
    A = np.outer(root * w, root * w / -c) - root[:, None] * N * root
    A[np.diag_indices(n)] += gamma
    A = _orthogonal(A, root) + g * np.outer(root, root)
    check()
    C, nuclear = _halfway(A, K, mirrored, check)
    b = (g * (ratio - 1)) ** 2 / (4 * c)
    scale = n * nuclear / b
    C *= scale * np.outer(root, root)
    C += n * np.outer(prior, prior)
    check()
    # Of CGC - A, orthogonally to p, nothing is left, so it is (mu r' + r mu')/2 with r = n p, and its row sums say which. (A has other
    # row sums than A_p: those of its definition, where 1'w = g (E + 1)/2 - nu.)
    sums = C @ (gram @ C.sum(axis=1)) - scale**2 * prior * (gamma - N @ prior - w * (prior @ w) / c)
    mu = (2 * sums - prior * sums.sum()) / n
    return Numbers(C, mu, scale**2 * prior * gamma, scale**2 * np.outer(prior, prior) * N)


def _masses(gamma: np.ndarray, N: np.ndarray, shares: np.ndarray, ratio: float) -> tuple[float, float]:
    """g and c."""
    g = float(shares @ gamma)
    return g, g * ratio - float(shares @ N @ shares)


def _orthogonal(A: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """``(I - unit unit') A (I - unit unit')`` for a symmetric A and a unit vector."""
    along = A @ unit
    along = along - (unit @ along / 2) * unit
    return A - np.outer(along, unit) - np.outer(unit, along)


def _halfway(A: np.ndarray, K: np.ndarray, mirrored: bool, check: Check) -> tuple[np.ndarray, float]:
    """The positive semidefinite C with ``C K C = A`` on the range of K, 0 elsewhere, and ``tr(C K)``; A is positive definite. Matrices that
    are ``mirrored`` fall into two of half the size."""
    spectra = []
    for part, other in zip(halves(A), halves(K), strict=True) if mirrored else [(A, K)]:
        factor = linalg.cholesky(part, lower=True)
        check()
        values, vectors = linalg.eigh(factor.T @ other @ factor, overwrite_a=True)
        check()
        spectra.append((values, factor @ vectors))
    # Directions that are nothing but rounding (one always is) would make C huge; what they hold is 1e-7 of the rest at most.
    least = max(values[-1] for values, _ in spectra) * _noise(len(A))
    parts, nuclear = [], 0.0
    for values, vectors in spectra:
        check()
        kept = values > least
        half = vectors[:, kept] / values[kept] ** 0.25
        parts.append(half @ half.T)
        nuclear += float(np.sqrt(values[kept]).sum())
    C = whole(*parts) if mirrored else parts[0]
    return (C + C.T) / 2, nuclear


def _noise(n: int) -> float:
    """Eigenvalues of an (n, n) matrix up to this share of the largest may be pure rounding."""
    return n * 1e-14


def enough(n: int, share: float) -> bool:
    """True if the ``share`` of the nuclear norm between blocks of n types is so large that single
    types have next to nothing to add."""
    return share >= next(least for size, least in _MOST_BETWEEN.items() if n <= size)


def suffice(workload: Workload, prior: np.ndarray | None = None) -> bool:
    """True if weights by blocks complete a certificate for this workload. The certificate then
    takes half a second for 1,024 types; this check takes hundredths. ValueError past
    `ldp_core.limits.MOST_MATRIX_TYPES` types."""
    n = workload.n
    p, known = check_prior(prior, n), _KEPT.setdefault(workload, {})
    about = hashlib.sha256(p.tobytes()).hexdigest()
    if about not in known:
        blocks = Blocks(centred_gram(workload.gram_dense(), p), 1.0, p, min(BLOCKS[-1], n))
        known[about] = enough(n, blocks.share_between)
    return known[about]


# --- the search ---------------------------------------------------------------------------------------------------


def best(
    gram: np.ndarray,
    ratio: float,
    prior: np.ndarray,
    stop: Callable[[], bool] = lambda: False,
    check: Check = unchecked,
) -> tuple[Weights, float]:
    """gamma and N of a large bound, the best so far where ``stop`` says so; and the share of the nuclear norm that is between blocks
    rather than within them: 1 where nothing is lost by taking gamma and N as even over blocks."""
    weights, share = even(len(gram)), 0.0
    K = centred_gram(gram, prior)
    for count in BLOCKS:
        check()
        if stop():
            break
        blocks = Blocks(K, ratio, prior, min(count, len(gram)))
        weights, share = blocks.improved(blocks.taken_over(weights), stop, check), blocks.share_between
    return weights, share


class Blocks:
    """The estimate of the bound for gamma and N that are even over ``count`` blocks, from K (n, n)."""

    def __init__(self, K: np.ndarray, ratio: float, prior: np.ndarray, count: int):
        n, root = len(prior), np.sqrt(prior)
        upper = np.cumsum(prior)
        starts = np.unique(np.append(0, np.searchsorted(upper, upper[-1] * np.arange(1, count) / count * (1 + 1e-12))))
        starts = starts[np.add.reduceat(prior, starts) > 0]
        starts[0] = 0  # also if no one has the first types
        self.starts, self.ratio = starts, ratio
        self.block = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))
        self.shares = np.add.reduceat(prior, starts)
        self._root = np.sqrt(self.shares)
        unit = root / self._root[self.block]
        both = unit[:, None] * K * unit
        self._gram = np.add.reduceat(np.add.reduceat(both, starts, axis=0), starts, axis=1)
        within = (
            np.linalg.eigvalsh(_orthogonal(K[own, own], unit[own]))
            for own in map(slice, starts, np.append(starts[1:], n))
        )
        self._within = np.array([np.sqrt(np.maximum(values, 0)).sum() for values in within])

    def taken_over(self, weights: Weights) -> Weights:
        """Those of other blocks, as they are at the first type of each."""
        old = weights.block[self.starts]
        return Weights(weights.types[old], weights.pairs[old][:, old], self.block)

    @property
    def share_between(self) -> float:
        """The share of the nuclear norm of K, as estimated here, that is between blocks."""
        between = float(np.sqrt(np.maximum(np.linalg.eigvalsh(self._gram), 0)).sum())
        return between / (between + float(self._within.sum()) or 1.0)

    def improved(self, weights: Weights, stop: Callable[[], bool], check: Check) -> Weights:
        """Better weights by L-BFGS-B on (log gamma, N)."""
        m = len(self.starts)
        below = np.tril_indices(m)
        twice = np.where(below[0] == below[1], 1.0, 2.0)
        best = np.append(np.log(weights.types), weights.pairs[below])

        def unpacked(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            N = np.zeros((m, m))
            N[below] = x[m:]
            return np.exp(x[:m]), N + np.tril(N, -1).T

        first = self.logarithm(*unpacked(best))
        if first is None:
            return weights

        def falling(x: np.ndarray) -> tuple[float, np.ndarray]:
            check()
            gamma, N = unpacked(x)
            derivatives = self.logarithm(gamma, N)
            if derivatives is None:
                return NOTHING, np.zeros_like(x)
            value, slope, slopes = derivatives
            return first[0] - value, -np.append(slope * gamma, twice * slopes[below])

        def watch(intermediate_result: OptimizeResult) -> None:
            nonlocal best
            best = intermediate_result.x.copy()
            if stop():
                raise StopIteration

        bounds = [(None, None)] * m + [(0, None)] * len(twice)
        options = {"maxfun": _MOST_EVALUATIONS, "maxcor": MEMORY, "ftol": SETTLED, "gtol": 0.0}
        with blas_threads(m):
            optimize.minimize(
                falling, best, jac=True, method="L-BFGS-B", bounds=bounds, callback=watch, options=options
            )
        gamma, N = unpacked(best)
        return Weights(gamma, N, self.block)

    def logarithm(self, gamma: np.ndarray, N: np.ndarray) -> tuple[float, np.ndarray, np.ndarray] | None:
        """``log(nuclear norm) + log(c)/2 - log(g)`` for gamma (m,) and N (m, m), with its slopes by these; None where they prove nothing."""
        g, c = _masses(gamma, N, self.shares, self.ratio)
        w = gamma * (self.ratio + 1) / 2 - N @ self.shares
        root, unit = self._root, self._root / np.sqrt(self.shares.sum())
        if not c > 0:
            return None
        A = _orthogonal(np.diag(gamma) - (N + np.outer(w, w) / c) * np.outer(root, root), unit)
        try:
            factor = linalg.cholesky(A + g * np.outer(unit, unit), lower=True)
        except linalg.LinAlgError:
            return None
        values, vectors = linalg.eigh(factor.T @ self._gram @ factor)
        roots = np.sqrt(np.where(values > values[-1] * _noise(len(values)), values, 0.0))
        nuclear = float(roots.sum() + self._within @ np.sqrt(gamma))
        # The nuclear norm changes by half the trace of M_p with the change of A_p.
        turned = linalg.solve_triangular(factor, vectors, lower=True, trans=1)
        M = _orthogonal((turned * roots) @ turned.T, unit) / (2 * nuclear)
        within = M.diagonal() + self._within / (2 * nuclear * np.sqrt(gamma))
        M = M * np.outer(root, root)
        u = M @ w / c
        rest = float(w @ u) / c + 1 / (2 * c)
        slope = within - (self.ratio + 1) * u + (rest * self.ratio - 1 / g) * self.shares
        along = np.outer(u, self.shares)
        slopes = along + along.T - M - rest * np.outer(self.shares, self.shares)
        return float(np.log(nuclear) + np.log(c) / 2 - np.log(g)), slope, slopes
