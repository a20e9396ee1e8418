"""Weights of fixed two-valued rows: majorise-minimise updates that stay feasible, and the best ones.

Notation: `ldp_core/README.md`, with masses ``d_k = r'v_k``, so that ``M = sum_k w_k v_k v_k' / d_k``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from ldp_core.run import Check, unchecked

BLOCK = 2**33
"""Matrices are multiplied in parts of so many multiplications, a fifth of a second, so that a cancelled search ends soon."""
# Column sums are solved to this accuracy; what rounding allows is about 1e-15.
SUM_TOLERANCE = 1e-13
# Fewer types are fast enough in double precision. Single precision loses the differences between
# types for E outside this range.
LEAST_TYPES = 96
RATIOS = (1.05, 500.0)
# Column sums are balanced to this accuracy in single precision.
ROUGH_TOLERANCE = 1e-5
# Powers of the ratio of value to price by which weights change: the majoriser's own, which never
# raises L, and a longer step. At powers of 1 or more, weights that alone decide an eigenvalue of M
# would swing for ever: their value falls with their square.
MONOTONE = 0.5
BOLD = 0.8
# The least weights on the way from alike ones, as shares of the mean.
ALIKE = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


class Singular(ValueError):
    """The rows cannot tell all types apart, so no unbiased reconstruction exists."""


@dataclass(frozen=True)
class RowBlock:
    """``rows`` (k, c) in some coordinates, the ``root`` (r, c) of G there, and the same rows in
    ``single`` precision. Where M and G fall into blocks in two sets of coordinates, what is said of
    one M is said of each."""

    rows: np.ndarray
    root: np.ndarray
    single: SinglePrecision | None = None


@dataclass(frozen=True)
class Update:
    """One update: ``objective`` tr(M^-1 G) at the weights given, the new ``weights`` (k,), the
    ``multipliers`` mu (n,) of the column sums, and ``solved`` = M^-1 root' (n, r) for each block, so that X =
    solved solved'. ``hessian`` (n, n) is the factor of that of the column sums by mu."""

    objective: float
    weights: np.ndarray
    multipliers: np.ndarray
    solved: list[np.ndarray]
    hessian: np.ndarray | None


def update(
    row_blocks: Sequence[RowBlock],
    masses: np.ndarray,
    weights: np.ndarray,
    multipliers: np.ndarray | None,
    power: float,
    check: Check = unchecked,
    *,
    floor: float = 0.0,
    fixed: int = 0,
    hessian: np.ndarray | None = None,
    exact: bool = True,
) -> Update:
    """One majorise-minimise step for ``tr(M(w)^-1 G)``, ``G = root' root``, on the rows (k, n) of ``row_blocks``.

    With ``X = M^-1 G M^-1`` and ``g_k = v_k'X v_k / d_k`` the objective is majorised by ``sum_k w0_k^2 g_k / w_k`` (the
    old reconstruction stays unbiased when columns are scaled by w0 / w), whose minimum under ``V'w = 1`` is
    ``w_k = w0_k (g_k / mu'v_k)^(1/2)``. ``power`` is that exponent, MONOTONE or BOLD; w0 is at least ``floor``, so
    that a row needed to balance columns can come back. The first
    ``fixed`` rows keep their weights, which add the same to all columns. ``hessian`` is that of an update
    before, to start from. With rows in single precision, only the objective and the column sums are taken in
    double precision, and unless ``exact`` not even these. Only the first block bears on the column sums. Raises Singular where M is.
    """
    objective, worth, solved = 0.0, np.zeros(len(masses)), []
    for block in row_blocks:
        double = DoublePrecision(block.rows)
        rough = block.single or double
        M = (double if exact else rough).moments(weights / masses, check)
        factor, failed = lapack.dpotrf(M, lower=1)
        if failed:
            raise Singular("the rows cannot tell all types apart, so L is infinite: add independent rows.")
        check()
        part, _ = lapack.dpotrs(factor, block.root.T, lower=1)
        objective += float(np.einsum("ij,ji->", part, block.root))
        worth += rough.lengths(part, check)
        solved.append(part)
    first = row_blocks[0]
    if multipliers is None:
        multipliers = np.full(first.rows.shape[1], objective / first.rows.shape[1])
    scaled = (np.maximum(weights, floor) * (worth / masses) ** power)[fixed:]
    total = 1 - float(weights[:fixed] @ first.rows[:fixed, 0])
    rows, single = DoublePrecision(first.rows[fixed:]), first.single and first.single.after(fixed)
    balance = Balance(rows, single or rows, exact, check, total)
    free, multipliers, hessian = balance.restored(scaled, multipliers, objective, power, hessian)
    return Update(objective, np.concatenate([weights[:fixed], free]), multipliers, solved, hessian)


@dataclass(frozen=True)
class Balance:
    """Restores column sums of ``total`` for ``rows`` (k, n), by products of the same rows in single
    precision where they are ``rough``; unless ``exact``, column sums are as well."""

    rows: DoublePrecision
    rough: DoublePrecision | SinglePrecision
    exact: bool
    check: Check
    total: float = 1.0

    def restored(
        self, scaled: np.ndarray, mu: np.ndarray, objective: float, power: float, factor: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Weights ``scaled / (mu'v)^power`` with the mu that makes ``V'w = total``, and the Hessian. Where rows of next to no weight keep the
        steps at the border of the cone, on the way from weights that are more alike, and as near as balances."""
        try:
            return self._newton(scaled, mu, objective, power, factor)
        except Singular:
            mu = np.full_like(mu, objective / len(mu))
        for share in ALIKE:
            weights, mu, factor = self._newton(np.maximum(scaled, share * scaled.mean()), mu, objective, power, None)
        return weights, mu, factor

    def _newton(
        self, scaled: np.ndarray, mu: np.ndarray, objective: float, power: float, factor: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """As `restored`, by Newton steps on a concave dual.

        The Hessian is factored again only when its steps stop helping, since a factorisation costs as much as forming M;
        ``factor`` is the one of the update before.
        """
        slopes = self.rough.images(mu)
        if slopes.min() <= 0:  # new rows can lie outside the cone where mu'v is positive; the even mu is well inside
            even = np.full_like(mu, objective / len(mu))
            middle = self.rough.images(even)
            # From the border of the cone Newton steps would be short.
            part = (1 - 0.05) / (1 - float((slopes / middle).min()))
            mu, slopes = even + part * (mu - even), middle + part * (slopes - middle)
        previous, carried, precise = np.inf, factor is not None, self.rough is self.rows
        for step in range(60):
            self.check()
            balanced = scaled / slopes**power
            short = self.total - (self.rows if precise else self.rough).sums(balanced)
            error = np.abs(short).max()
            if not np.isfinite(error):
                raise Singular("the rows held cannot make all columns sum to 1: add independent rows.")
            tolerance = SUM_TOLERANCE if precise else ROUGH_TOLERANCE
            if error <= tolerance or (error < 10 * tolerance and error >= previous):
                if precise or not self.exact:
                    break
                precise, previous = True, np.inf
                continue
            # A step that shrinks the error no more than to 0.6 means that the factored Hessian is out of date.
            if factor is None or (step == 1 and not carried) or error > 0.6 * previous:
                factor, failed = lapack.dpotrf(self.rough.moments(power * (balanced / slopes), self.check), lower=1)
                if failed:
                    raise Singular("the rows held cannot make all columns sum to 1: add independent rows.")
            previous = error
            move, _ = lapack.dpotrs(factor, -short, lower=1)
            turn = self.rough.images(move)
            falling = turn < 0
            room = (-slopes[falling] / turn[falling]).min() if falling.any() else np.inf
            length = min(1.0, 0.9 * room)  # inside the cone mu'v > 0 ...
            if error >= 1e-3 or length < 1:  # else convergence is quadratic, and differences of the dual are rounding
                # ... and so far that the dual ``sum scaled (mu'v)^(1 - power) / (1 - power) - total 1'mu`` rises.
                cost, rate = self.total * move.sum(), -short @ move
                before = scaled @ slopes ** (1 - power)
                for _ in range(30):
                    gain = (scaled @ (slopes + length * turn) ** (1 - power) - before) / (1 - power) - length * cost
                    if gain >= 1e-4 * length * rate:
                        break
                    length /= 2
            mu = mu + length * move
            slopes = slopes + length * turn
        if error > 1e3 * tolerance:
            raise Singular("the rows held cannot make all columns sum to 1: add independent rows.")
        return balanced, mu, factor


def fitted_shares(shares: np.ndarray, fourier_weights: np.ndarray, worth: np.ndarray, rounds: int) -> np.ndarray:
    """Shares (k,) that make ``sum_j worth_j / m_j`` small, ``m = shares @ Fourier weights`` (k, c): the updates above where M is
    diagonal and all columns alike, so that only the sum of the shares needs restoring. Row 0 is randomized response."""
    for _ in range(rounds):
        m = shares @ fourier_weights
        shares = shares * (fourier_weights @ (worth / m**2)) ** BOLD
        shares /= shares.sum()
        shares[0] = max(shares[0], 1e-7)  # no direction is ever lost
    return shares / shares.sum()


@dataclass(frozen=True)
class DoublePrecision:
    """``rows`` (k, n) and their products, by the BLAS that everything else here uses: NumPy's has
    threads of its own."""

    rows: np.ndarray

    def moments(self, weights: np.ndarray, check: Check) -> np.ndarray:
        """(n, n) ``sum_k weights_k v_k v_k'``, the lower triangle."""
        n = self.rows.shape[1]
        total, roots = np.zeros((n, n), order="F"), np.sqrt(weights)[:, None]
        for part in blocks(*self.rows.shape):
            check()
            total = blas.dsyrk(1.0, (self.rows[part] * roots[part]).T, beta=1.0, c=total, lower=1, overwrite_c=1)
        return total

    def lengths(self, solved: np.ndarray, check: Check) -> np.ndarray:
        """v'Xv (k,) for X = solved solved'."""
        lengths = np.empty(len(self.rows))
        for part in blocks(*self.rows.shape):
            check()
            product = blas.dgemm(1.0, solved, self.rows[part].T, trans_a=1)
            lengths[part] = np.einsum("ij,ij->j", product, product)
        return lengths

    def images(self, vector: np.ndarray) -> np.ndarray:
        """v'vector (k,)."""
        return blas.dgemv(1.0, self.rows.T, vector, trans=1)

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """``sum_k weights_k v_k`` (n,)."""
        return blas.dgemv(1.0, self.rows.T, weights)


class SinglePrecision:
    """As `DoublePrecision`, for rows ``v = base + D t`` by few-valued t such as 0 and 1, D = ``ratio`` - 1: products are taken of t, whose entries are exact, and
    the part along the ones is added in double precision, so that D need not be large beside the ``base``, which is 1 or 0."""

    def __init__(self, high: np.ndarray, ratio: float, base: float = 1.0):
        self._bits, self._spread, self._base = high.astype(np.float32), ratio - 1, base

    @staticmethod
    def fits(n: int, ratio: float) -> bool:
        """True if single precision is of use for ``n`` types and E = ``ratio``."""
        return n >= LEAST_TYPES and RATIOS[0] <= ratio <= RATIOS[1]

    def after(self, first: int) -> SinglePrecision:
        """The same without the ``first`` rows."""
        rest = copy(self)
        rest._bits = self._bits[first:]
        return rest

    def moments(self, weights: np.ndarray, check: Check) -> np.ndarray:
        n, D, largest = self._bits.shape[1], self._spread, weights.max()
        total, roots = np.zeros((n, n), order="F"), np.sqrt(weights / largest).astype(np.float32)[:, None]
        for part in blocks(*self._bits.shape):
            check()
            total += blas.ssyrk(1.0, (self._bits[part] * roots[part]).T, lower=1)
        total *= D**2 * largest
        if self._base:
            along = D * self._summed(weights)
            total += along
            total += (along + weights.sum())[:, None]
        return total

    def lengths(self, solved: np.ndarray, check: Check) -> np.ndarray:
        """Where X has full rank by a triangular root of it, which takes half the time."""
        lengths, D, triangular = np.empty(len(self._bits)), self._spread, solved.shape[1] >= len(solved)
        if triangular:
            solved = linalg.qr(solved.T, mode="r", check_finite=False)[0][: len(solved)].T
        narrow = solved.T.astype(np.float32, order="F")
        ones = self._base * solved.sum(axis=0)
        for part in blocks(*self._bits.shape):
            check()
            product = (blas.strmm if triangular else blas.sgemm)(1.0, narrow, self._bits[part].T)
            lengths[part] = np.einsum("ij,ij->j", product, product)
        lengths *= D**2
        lengths += 2 * D * self._bits_times(blas.dgemv(1.0, solved, ones)) + ones @ ones
        return np.maximum(lengths, 0.0)  # rounding can leave less than nothing of a small one

    def images(self, vector: np.ndarray) -> np.ndarray:
        return self._spread * self._bits_times(vector) + self._base * vector.sum()

    def sums(self, weights: np.ndarray) -> np.ndarray:
        return self._spread * self._summed(weights) + self._base * weights.sum()

    def _bits_times(self, vector: np.ndarray) -> np.ndarray:
        return blas.sgemv(1.0, self._bits.T, vector.astype(np.float32), trans=1).astype(float)

    def _summed(self, weights: np.ndarray) -> np.ndarray:
        return blas.sgemv(1.0, self._bits.T, weights.astype(np.float32)).astype(float)


def blocks(k: int, n: int) -> Iterator[slice]:
    """``k`` rows of ``n`` entries in parts whose products with an n x n matrix take little time."""
    size = max(1, BLOCK // n**2)
    for start in range(0, k, size):
        yield slice(start, start + size)
