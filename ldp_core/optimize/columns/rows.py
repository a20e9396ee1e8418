"""Two-valued rows. Those to start from are Gaussian fields shaped by the workload, high above a threshold or at their highest entries. Better ones
come by climbing with single flips from many starts at once, and by exchanges of single entries between rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import fft, linalg
from scipy.linalg import blas
from scipy.special import ndtri

from ldp_core.bounds.closed_form import centred_root_correlation, field_correlation, high_share
from ldp_core.optimize.columns.weights import BOLD, MONOTONE, RowBlock, update
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

# Sizes of rows are tried on a thinned domain of PILOT_TYPES types, as multiples of the share 1/(E +
# 1) of high entries, up to the first that is worse than the last. They then vary by SPREAD (the
# standard deviation of their logarithm).
PILOT_TYPES = 64
SHARES = (1.0, 1.15, 1.3, 1.5, 1.7, 2.0, 2.3, 2.7, 3.2)
SPREAD = 0.1
TOGETHER = 2**19
"""Rows climb together in blocks of at most so many entries, which fit a cache."""


def threshold_rows(
    gram: np.ndarray,
    ratio: float,
    rows: int,
    rng: np.random.Generator,
    check: Check = unchecked,
    share: float | None = None,
) -> np.ndarray:
    """Boolean rows (rows, n), high where a Gaussian field exceeds its quantile; ``ratio`` is E, and ``share`` that of high entries where it is another.

    The centred SVD bound (`ldp_core.bounds.centred_svd`) is attained by rows with a share 1/(E + 1) of high entries and a
    covariance proportional to ``(P G P)^(1/2)``, P the projection off the ones: see `field_correlation`. The field's
    source vectors are orthogonal in groups of n: the second moments then vary less between draws.
    """
    n = len(gram)
    correlation = field_correlation(gram)
    check()
    values, vectors = linalg.eigh(correlation)
    field = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    field /= np.sqrt(np.square(field).sum(axis=1))[:, None]
    threshold = ndtri(1 - (high_share(ratio, n) if share is None else share))
    rows_made = np.empty((rows, n), dtype=bool)
    basis, narrow = linalg.qr(rng.standard_normal((n, n)), check_finite=False)[0], field.T.astype(np.float32, order="F")
    for start in range(0, rows, n):
        check()
        source = _turned(basis, rng).astype(np.float32)
        block = rows_made[start : start + n]
        np.greater(blas.sgemm(1.0, source, narrow)[: len(block)], threshold, out=block)
    return rows_made


def _turned(basis: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n, n) another orthogonal basis, whose vectors have length n^(1/2), by random signs and a cosine transform."""
    return fft.dct(basis * rng.choice((-1.0, 1.0), len(basis)), norm="ortho", axis=1) * np.sqrt(len(basis))


def query_rows(workload: Workload) -> np.ndarray:
    """Boolean rows (k, n): high where a query has the larger of its two values, and the opposite.

    With even weights, each person is asked one random query and answers by randomized response
    (Bassily 2019, Algorithm 6, without adaptivity). The best rows of few queries nearly follow
    one of them. Climbing from random rows takes long to get there: 10 and 20 random queries of 256
    types reached in 2 s what took 4 minutes (epsilon 1). Empty where queries are many, or one
    has more than two values.
    """
    if workload.num_queries > workload.n / 4:  # 100 queries of 256 types gain nothing
        return np.empty((0, workload.n), dtype=bool)
    queries = workload.rows(np.arange(workload.num_queries))
    least, largest = queries.min(axis=1, keepdims=True), queries.max(axis=1, keepdims=True)
    if not np.all((queries == least) | (queries == largest)):
        return np.empty((0, workload.n), dtype=bool)
    high = (queries == largest)[(least < largest)[:, 0]]
    return np.vstack([high, ~high])


def sized_rows(
    gram: np.ndarray, ratio: float, rows: int, rng: np.random.Generator, check: Check = unchecked
) -> np.ndarray:
    """Boolean rows (rows, n), high at the highest entries of a Gaussian field, for G with ``P G P`` the same turned round (see `search`);
    ``ratio`` is E.

    Rows of about the same size have about the same mass, and less of their second moments is chance
    than of `threshold_rows`. Rows of a share 1/(E + 1) of the types attain the closed-form bound.
    Larger rows are better at large epsilon, especially for smooth workloads: The size is therefore
    tried on every k-th type: the best share hardly depends on the number of types.
    """
    n = len(gram)
    step = max(1, n // PILOT_TYPES)
    thin = gram[step // 2 :: step, step // 2 :: step]
    share = min(_best_share(thin, ratio, np.random.default_rng(0), check) * high_share(ratio, n), 0.5)
    field = _field(gram, high_share(ratio, n), check)
    rows_made = np.empty((rows, n), dtype=bool)
    bases = [linalg.qr(rng.standard_normal((c, c)), check_finite=False)[0] for c in ((n + 1) // 2, n // 2)]
    for start in range(0, rows, n // 2):
        check()
        drawn = blas.dgemm(1.0, field, sources(bases, rng).T).T[: rows - start]
        rows_made[start : start + n // 2] = highest(drawn, share, rng)
    return rows_made


def sources(bases: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """(n // 2, n) random vectors whose even halves are orthogonal, and whose odd halves are, which lets second moments vary less between
    draws. From an orthogonal basis for each half, random signs and a cosine transform make as many others as are wanted."""
    even, odd = (_turned(basis, rng) / np.sqrt(2) for basis in bases)
    half = len(odd)
    even = even[:half]
    return np.hstack([even[:, :half] + odd, even[:, half:] * np.sqrt(2), (even[:, :half] - odd)[:, ::-1]])


def highest(field: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """(k, n) booleans: the highest entries of every row of ``field`` (k, n), about ``share`` of them, at least one and never all."""
    k, n = field.shape
    sizes = np.clip(np.rint(n * share * np.exp(SPREAD * rng.standard_normal(k))), 1, n - 1).astype(int)
    ordered = np.sort(field, axis=1)
    return field >= np.take_along_axis(ordered, n - sizes[:, None], axis=1)


def _best_share(gram: np.ndarray, ratio: float, rng: np.random.Generator, check: Check) -> float:
    """The best of `SHARES` for ``gram`` (n, n): after a few updates of the weights of the same fields."""
    n = len(gram)
    drawn = rng.standard_normal((16 * n, n)) @ _field(gram, high_share(ratio, n), check).T
    root = linalg.cholesky(gram + 1e-9 * np.trace(gram) * np.eye(n) / n)
    best, least = SHARES[0], np.inf
    for share in SHARES:
        high = np.vstack(
            [np.eye(n, dtype=bool), highest(drawn, share * high_share(ratio, n), np.random.default_rng(0))]
        )
        objective = _fitted(np.where(high, ratio, 1.0), root, check)
        if objective > least:
            break
        best, least = share, objective
    return best


def _fitted(rows: np.ndarray, root: np.ndarray, check: Check) -> float:
    """The objective of ``rows`` (k, n) after a few updates of their weights."""
    masses, mu, hessian, objective = rows.sum(axis=1), None, None, np.inf
    weights, power = rows.shape[1] / len(rows) / masses, MONOTONE
    for _ in range(10):
        done = update([RowBlock(rows, root)], masses, weights, mu, power, check, hessian=hessian)
        weights, mu, hessian, objective, power = done.weights, done.multipliers, done.hessian, done.objective, BOLD
    return objective


def _field(gram: np.ndarray, share: float, check: Check) -> np.ndarray:
    """(n, n) F: of F g, g standard normal, the entries above their quantile, a ``share`` of them, correlate like ``(P G P)^(1/2)`` as far
    as any Gaussian field's can."""
    wanted = centred_root_correlation(gram)
    check()
    correlation, of_field = tabulated(share)
    values, vectors = linalg.eigh(np.interp(wanted, correlation, of_field))
    check()
    field = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return field / np.sqrt(np.square(field).sum(axis=1))[:, None]


def tabulated(share: float) -> tuple[np.ndarray, np.ndarray]:
    """Correlations of the indicators of two normal variables above their quantile, with probability ``share`` each, and the correlations
    ``sin theta`` of the variables that give them. The probability of both grows with theta at the rate
    ``exp(-tau^2 / (1 + sin theta)) / (2 pi)``, tau the quantile (Plackett 1954)."""
    angles, step = np.linspace(-np.pi / 2, np.pi / 2, 4001, retstep=True)
    middles = angles[1:] - step / 2
    rates = np.exp(-(ndtri(1 - share) ** 2) / (1 + np.sin(middles))) / (2 * np.pi)
    both = step * np.concatenate([[0.0], np.cumsum(rates)])
    both += max(0.0, 2 * share - 1)
    return (both - share**2) / (share * (1 - share)), np.sin(angles)


def climb(
    high: np.ndarray,
    curvature: np.ndarray,
    multipliers: np.ndarray,
    reference: np.ndarray,
    spread: float,
    check: Check = unchecked,
    still: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows that flips of single entries, but for the last ``still`` ones, cannot improve, from the starts ``high`` (k, n) of booleans.

    With ``v = 1 + D t`` (``spread`` D = E - 1, t the 0/1 row), ``curvature`` X (n, n),
    ``multipliers`` mu (n,) and ``reference`` r (n,), a row helps the mixture where
    ``v'Xv / (r'v) > mu'v``. Every pass flips, in each row, the one entry that raises the difference
    most. Returns the rows (k, n) and their relative gains ``v'Xv / ((r'v)(mu'v)) - 1`` (k,),
    infinite where mu'v <= 0: such rows always help.

    Works in single precision on the polynomial in t (v itself would lose the small D): gains need two or three digits.
    """
    if len(high) > (size := max(1, TOGETHER // high.shape[1])):
        starts = (high[start : start + size] for start in range(0, len(high), size))
        parts = [climb(part, curvature, multipliers, reference, spread, check, still) for part in starts]
        return np.concatenate([climbed for climbed, _ in parts]), np.concatenate([gains for _, gains in parts])
    form = np.asfortranarray(spread**2 * curvature, dtype=np.float32)
    ones = curvature.sum(axis=1)
    # A flip with sign s changes v'Xv by ``s y + X_uu D^2``, r'v by ``s D r_u``, mu'v by ``s D mu_u``.
    diagonal, linear = form.diagonal().copy(), (2 * spread * ones).astype(np.float32)
    diagonal[len(diagonal) - still :] = -np.inf  # no flip of these gains
    mass_steps, mass = (spread * reference).astype(np.float32), np.float32(reference.sum())
    price_steps, price = (spread * multipliers).astype(np.float32), np.float32(multipliers.sum())
    t = high.astype(np.float32)
    y = 2 * blas.sgemm(1.0, form, t.T).T  # the slopes of t'(D^2 X)t ...
    value = (np.float32(ones.sum()) + np.einsum("ij,ij->i", t, y / 2 + linear)).astype(float)
    y += linear  # ... and of v'Xv
    d, c = mass + high @ mass_steps.astype(float), price + high @ price_steps.astype(float)
    sign = 1 - 2 * t
    climbed, gains = high.copy(), _gains(value, d, c)
    index = np.arange(len(t))  # places of the rows still climbing
    for _ in range(2 * high.shape[1]):
        check()
        score = sign * y
        score += diagonal
        score += value.astype(np.float32)[:, None]
        masses = sign * mass_steps
        masses += d.astype(np.float32)[:, None]
        score /= np.maximum(masses, mass, out=masses)  # r'v is at least r'1, which rounding loses where E is huge
        score -= sign * price_steps
        best = score.argmax(axis=1)
        rows = np.arange(len(index))
        rising = score[rows, best] - c > value / d - c + 2e-6 * c  # single precision resolves no less
        if not rising.all():  # rows at their peak leave, so that the rest go on faster
            index, y, sign, value, d, c, best = (part[rising] for part in (index, y, sign, value, d, c, best))
            rows = np.arange(len(index))
            if not len(index):
                break
        step = sign[rows, best]
        value += step * y[rows, best] + diagonal[best]
        d += step * mass_steps[best]
        c += step * price_steps[best]
        y += (2 * step)[:, None] * form[best]
        sign[rows, best] = -step
        climbed[index, best] ^= True
        gains[index] = _gains(value, d, c)
    return climbed, gains


def _gains(value: np.ndarray, d: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.divide(value, d * c, out=np.full(len(c), np.inf), where=c > 0) - 1


def exchanged(
    high: np.ndarray, curvature: np.ndarray, reference: np.ndarray, spread: float, most: int, check: Check = unchecked
) -> np.ndarray:
    """The rows ``high`` (k, n) of booleans after exchanges: in every column up to ``most`` rows go up and as many go down,
    those that gain most by it, as long as a pair gains.

    As in `climb`, a row is worth ``v'Xv / (r'v)``, ``v = 1 + D t`` with the ``spread`` D = E - 1, X the ``curvature``
    (n, n) and r the ``reference`` (n,), and costs mu'v. Costs do not matter here: what one row of a pair
    pays for a column, the other saves. Sums over rows of equal weight stay the same.
    """
    spread, together = float(spread), max(1, TOGETHER // max(1, len(high)))
    t = np.ascontiguousarray(high.T, dtype=np.float32)
    form, ones = np.asfortranarray(curvature, dtype=np.float32), curvature.sum(axis=1)
    check()
    slopes = blas.sgemm(2 * spread, t.T, form).T
    slopes += (2 * ones).astype(np.float32)[:, None]  # 2 X v
    values = ones.sum() + spread * (ones @ t + np.einsum("ij,ij->j", t, slopes) / 2)
    steps = (spread * reference).astype(np.float32)
    masses, least_mass = reference.sum() + steps @ t, np.float32(reference.sum())
    values, masses, shares = (part.astype(np.float32) for part in (values, masses, values / masses))
    changed = high.copy()
    for start in range(0, len(t), together):
        check()
        part = slice(start, start + together)
        up = t[part] == 0
        sign = np.where(up, np.float32(1), np.float32(-1))
        gains = values + spread * sign * slopes[part] + (spread**2 * form.diagonal()[part])[:, None]
        gains /= np.maximum(masses + sign * steps[part, None], least_mass)  # which rounding loses where E is huge
        gains -= shares
        risers, raised = _highest(np.where(up, gains, -np.inf), most)
        fallers, lowered = _highest(np.where(up, -np.inf, gains), most)
        taken = raised + lowered > 0
        columns = np.nonzero(taken)[0] + start
        changed[risers[taken], columns] = True
        changed[fallers[taken], columns] = False
    return changed


def _highest(values: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the highest ``values`` (c, k) of every row are, and these, the highest first: both (c, most)."""
    places = np.argpartition(-values, most - 1, axis=1)[:, :most]
    found = np.take_along_axis(values, places, axis=1)
    order = np.argsort(-found, axis=1)
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(found, order, axis=1)
