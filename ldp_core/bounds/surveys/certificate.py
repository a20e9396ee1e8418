"""A lower bound on L of every epsilon-LDP mechanism for a survey, checked on numbers by set of attributes.

**The proof.** A mechanism is a mixture of two-valued rows ``1 + D 1_T``, T a set of types of share s, D = e^epsilon - 1. Its information
on the functions that vary with exactly the attributes in A, ``x_A = tr(P_A M)``, is the mean over its rows of

    e_A(T) = D^2 W_A(T) / (1 + D s)^2,    W_A(T) = |P_A 1_T|^2 / n.

As ``tr(P_A M^-1 P_A) >= dim_A^2 / tr(P_A M P_A)`` (the harmonic and the arithmetic mean of eigenvalues), and ``M 1 = 1``,
``L >= g_0 + sum_A dim_A^2 g_A / x_A``. By Cauchy's inequality, for any weights lambda_A >= 0,

    L  >=  g_0 + (sum_A dim_A sqrt(g_A lambda_A))^2 / mu    where    sum_A lambda_A e_A(T) <= mu  for every T.

These facts hold for every T of share s, besides W_A >= 0 and ``sum_A W_A = s`` with W of the empty
set s^2:

* two types that differ in the attributes C and nowhere else (or anywhere among those that are not tracked) are both in T with a
  probability that is not negative: ``sum_A W_A K_C(A) >= 0``, K_C(A) the product over i in A and C of ``-1 / (n_i - 1)`` (Delsarte 1973);
* `fibres`: what varies within some attributes B is at most ``beta + alpha (what varies with B at all)``;
* what varies with A alone is the mean of what varies with A along all fibres, that is, over all values z of the attributes outside a set C
  around A. A fibre that meets T holds at least one of its m_C types, so at most a share ``m_C s``
  of the fibres do. By Cauchy's inequality ``W_A = |E_z P_A 1_T(., z)|^2 <= m_C s E_z |P_A 1_T(.,
  z)|^2 = m_C s (sum of W_B over B whose intersection with C is A)``. If C has few values, varying
  with A alone therefore wastes much (this project).

Let N, kappa and nu >= 0 be multipliers of these, and gamma the largest coefficient of any W_A that
they and lambda give. Then

    sum_A lambda_A W_A  <=  gamma(s) (s - s^2) + sum N s^2 + sum kappa beta(s),

and mu is the largest ratio of that to ``(1 + D s)^2 / D^2``. Each slice of [0, 1] has multipliers of its own. Without any, lambda = 1
gives mu = sinh(epsilon / 2)^2 and the bound of `ldp_core.bounds.centred_svd` for surveys.

**The ratio on an interval.** beta is at most its chord between the points of a fine grid, and so is
gamma, the largest of linear functions. The rise of the latter's chord, ``(s - a) / (b - a)`` times
``s - s^2``, is convex if ``3 b <= 1 + a``, and then at most its own chord. A fall is above its
chord by at most ``(b - a) / 2`` times the whole fall (the second derivative of
``(s - a) (s - s^2)`` is at most 4). A ratio ``(p + q s + r s^2) / (1 + D s)^2`` is a quadratic in
``z = 1 / (1 + D s)``, whose largest value is at an end or in closed form.

**The rounding.** The stored numbers are taken as exact, D as no smaller than it is. Sums of k terms are off by at most k u times the sum
of their absolute values, with a few more roundings of each term (Higham 2002, Chapter 3); beta by what `fibres.largest` adds.
g_A / n is taken from the workload, off by `Workload.gram_roundings`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.proof import (
    ABOVE,
    LARGEST,
    OTHER_QUESTIONS,
    SMALLEST,
    Arrays,
    Document,
    Proof,
    U,
    exp_epsilon_minus_one,
    magnitudes_fit,
)
from ldp_core.bounds.surveys import fibres
from ldp_core.bounds.surveys.traces import Kinds, Traces
from ldp_core.workloads import Histogram, Survey, Workload
from ldp_core.workloads.surveys import eigenvalues

_MOST_CELLS = 5_000
_MOST_INEQUALITIES = 2_000
_MOST_SLICES = 500
FIBRE_VALUES = 2**20
"""What `SurveyCertificate.verify` looks at: larger ones prove nothing."""
# Neighbours of the grid differ by these shares of them: fine ones from 1 / NARROW to WIDE times 1 / (E + 1), where ratios are largest.
FINE = 4e-3
COARSE = 3e-2
NARROW = 8
WIDE = 24
LEAST = 1e-3
# On intervals that are shorter than this share of their end, a ratio is taken for no better than its parts.
SHORT = 1e-7


IN_FILES = ("weights", "differing", "within", "slopes", "ends", "differing_multipliers", "within_multipliers")
ALIGNED_IN_FILES = ("aligned", "aligned_multipliers")
"""Only in files where there are any: older files have none."""


@dataclass(frozen=True, repr=False)
class SurveyCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey` whose questions treat values alike.

    The proof: ``weights`` (k,) lambda of the sets of `Survey.components`, and inequalities: ``kinds`` of tracked attributes;
    ``differing`` (c, kinds + 1) C as how many attributes of each kind, and 1 where those that are not tracked may differ as well;
    ``within`` (f, kinds) B likewise with its ``slopes`` (f,) alpha; ``aligned`` (k, 2 kinds) A and then C.
    Slices of [0, 1] between the ``ends`` (r + 1,), with multipliers ``differing_multipliers`` N (r, c),
    ``within_multipliers`` kappa (r, f) and ``aligned_multipliers`` nu (r, k).
    """

    proves_by: ClassVar[str] = "inequalities for each set of columns"

    workload: Survey
    epsilon: float
    value: float
    weights: np.ndarray
    kinds: Kinds
    differing: np.ndarray
    within: np.ndarray
    slopes: np.ndarray
    aligned: np.ndarray
    ends: np.ndarray
    differing_multipliers: np.ndarray
    within_multipliers: np.ndarray
    aligned_multipliers: np.ndarray

    file_kinds = (("tables", None), ("tables", "kinds"))

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        about = tables_about(self.workload, self._about(epsilon))
        if np.all(self.weights == 1) and not any(map(len, (self.differing, self.slopes, self.aligned))):
            return about, {}
        names = (*IN_FILES, *(ALIGNED_IN_FILES if len(self.aligned) else ()))
        arrays = {name: np.asarray(getattr(self, name), dtype=float) for name in names}
        return {**about, "proof": {"kinds": [list(kind) for kind in self.kinds]}}, arrays

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> SurveyCertificate:
        survey = survey_of(workload)
        if "proof" not in document:
            return closed_form(survey, epsilon)
        kinds = tuple(tuple(map(int, kind)) for kind in document["proof"]["kinds"])
        weights, differing, within, slopes, ends, N, kappa = (data[name] for name in IN_FILES)
        none = np.zeros((len(N), 0))
        aligned, nu = data.get("aligned", np.zeros((0, 2 * len(kinds)))), data.get("aligned_multipliers", none)
        most = max(survey.shape) * len(survey.shape)
        if any(np.any(np.abs(array) > most) for array in (differing, within, aligned)):
            raise ValueError("it counts columns that there are not")
        sets, pairs = (differing.astype(np.int64), within.astype(np.int64)), aligned.astype(np.int64)
        return cls(survey, epsilon, 0.0, weights, kinds, *sets, slopes, pairs, ends, N, kappa, nu)

    def proven(self) -> float:
        """The bound that the stored numbers prove, rounded down; -inf if none."""
        with np.errstate(all="ignore"):  # overflow shows as inf or nan, which prove nothing
            ratio = float(np.max(self.ratios()[1]))
        weighted = bound(self.workload, self.weights, ratio)
        return weighted if math.isfinite(weighted) else -math.inf

    def ratios(self) -> tuple[np.ndarray, np.ndarray]:
        """The grid (g + 1,), and an upper bound on ``sum lambda_A e_A(T)`` for T with a share in each of its intervals (g,). ValueError
        where the numbers are none of a proof."""
        self._check()
        traces = Traces(self.workload.shape, self.kinds)
        D, N, kappa = exp_epsilon_minus_one(self.epsilon), self.differing_multipliers, self.within_multipliers
        grid = self._grid(traces, D)
        owner = np.clip(np.searchsorted(self.ends, (grid[:-1] + grid[1:]) / 2) - 1, 0, len(N) - 1)
        beta = self._largest_within(traces, grid)
        total = N.sum(axis=1)[owner]
        # The numerator at both ends, without the terms in s and s^2, is on the chord or below.
        above = 1 + ABOVE * (len(self.slopes) + 8) * U
        low, high = (above * (kappa[owner] * beta[side]).sum(axis=1) for side in (slice(None, -1), slice(1, None)))
        start, end = grid[:-1], grid[1:]
        fixed, rising = self._multiples(traces)
        gamma, at_end = (_largest_multiple(fixed, rising, owner, side) for side in (start, end))
        # gamma is convex: what its chord rises by, times s - s^2, is below the chord of that, which is convex where 3 s <= 1 + start.
        convex, rise = 3 * end < 1 + start, at_end - gamma
        top = np.where(convex, rise, 0.0) * (end - end**2)
        fall = np.where(convex, np.maximum(0.0, -rise), 0.0) * (end - start) / 2
        gamma = np.where(convex, gamma, np.maximum(gamma, at_end))
        low, high = low + fall, high + fall + top
        linear, square = gamma, total - gamma
        unit = ABOVE * (len(self.slopes) + len(self.differing) + 64) * U
        added = unit * (np.abs(top) + fall)
        low, high = low + added, high + added
        linear = linear + unit * (np.abs(gamma) + total + np.abs(square))
        return grid, largest_ratio(grid, low, high, linear, square, D)

    def _check(self) -> None:
        kinds, (r, c), f, k = len(self.kinds), self.differing_multipliers.shape, len(self.slopes), len(self.aligned)
        multipliers = (self.differing_multipliers, self.within_multipliers, self.aligned_multipliers)
        arrays = (self.weights, self.slopes, self.ends, *multipliers)
        shapes = ((len(self.workload.components.sets),), (f,), (r + 1,), (r, c), (r, f), (r, k))
        fits = all(array.shape == shape for array, shape in zip(arrays, shapes, strict=True))
        fits &= self.differing.shape == (c, kinds + 1) and self.within.shape == (f, kinds)
        fits &= self.aligned.shape == (k, 2 * kinds)
        if not (fits and self.workload.symmetric and magnitudes_fit(*arrays)):
            raise ValueError("The numbers are not of the shapes of a proof.")
        if not (0 < r <= _MOST_SLICES and c + f + k <= _MOST_INEQUALITIES):
            raise ValueError("The proof is too large to be checked.")
        if math.prod(len(kind) + 1 for kind in self.kinds) > _MOST_CELLS:
            raise ValueError("The proof has too many traces to be checked.")
        if any(array.size and array.min() < 0 for array in arrays):
            raise ValueError("Multipliers are not negative.")
        if self.ends[0] != 0 or self.ends[-1] != 1 or np.any(np.diff(self.ends) < 0):
            raise ValueError("The slices make up all shares from 0 to 1.")

    def _multiples(self, traces: Traces) -> tuple[np.ndarray, np.ndarray]:
        """(r, cells) of each slice the coefficient of each W_A at s = 0, and what it rises by with s, rounded up."""
        weights = np.zeros(traces.cells)
        np.maximum.at(weights, traces.places(self.workload.components.sets), self.weights)
        C, B = coefficients_differing(traces, self.differing), coefficients_within(traces, self.within, self.slopes)
        alone, around = coefficients_aligned(traces, self.aligned)
        N, kappa, nu = self.differing_multipliers, self.within_multipliers, self.aligned_multipliers
        terms = len(self.differing) + len(self.slopes) + len(self.aligned) + 2 * len(self.kinds) + 24
        sizes = weights + N @ np.abs(C) + kappa @ (1 + self.slopes)[:, None] + nu @ alone
        sizes = sizes + N.sum(axis=1)[:, None]  # coefficients are off by roundings of 1, not of what they are
        fixed = weights + N @ C - kappa @ B - nu @ alone + ABOVE * (terms * U * sizes)
        rising = nu @ around
        return fixed, rising + ABOVE * (terms * U * rising)

    def _used(self) -> np.ndarray:
        return np.flatnonzero(self.within_multipliers.any(axis=0))

    def _grid(self, traces: Traces, D: float) -> np.ndarray:
        """Points from 0 to 1, all places where some beta is not convex among them."""
        sizes = {self._values(traces, self.within[j]) for j in self._used()}
        if not sizes and not len(self.aligned):
            return np.unique(self.ends)
        multiples = [np.arange(1, n) / n for n in sizes]
        grid = np.unique(np.concatenate([self.ends, steps(D), *multiples]))
        apart = np.diff(grid, append=2.0) > fibres.NEARBY
        apart[0] = True
        return grid[apart]

    def _values(self, traces: Traces, counts: np.ndarray) -> int:
        values = traces.size_of(counts) if traces.known([int(c) for c in counts]) else 0
        if not 2 <= values <= fibres.VALUES_ALONG:
            raise ValueError(f"Fibres are looked at along 2 to {fibres.VALUES_ALONG} values; got {values}.")
        return values

    def _largest_within(self, traces: Traces, grid: np.ndarray) -> np.ndarray:
        """(points, f) upper bounds on beta; 0 where no slice uses it."""
        largest = np.zeros((len(grid), len(self.slopes)))
        used = self._used()
        values = np.array([self._values(traces, self.within[j]) for j in used], dtype=np.int64)
        for size in np.unique(values):
            own = used[values == size]
            largest[:, own] = fibres.largest(int(size), grid, self.slopes[own])
        return largest


def closed_form(survey: Survey, epsilon: float) -> SurveyCertificate:
    """The bound without inequalities: ``g_0 + (sum_A dim_A sqrt(g_A))^2 / sinh(epsilon / 2)^2``."""
    none, ends = np.zeros(0), np.array([0.0, 1.0])
    weights, multipliers = np.ones(len(survey.components.sets)), np.zeros((1, 0))
    differing, within = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    inequalities = (differing, within, none, within)
    certificate = SurveyCertificate(survey, epsilon, 0.0, weights, (), *inequalities, ends, *[multipliers] * 3)
    return replace(certificate, value=certificate.claim())


def survey_of(workload: Workload) -> Survey:
    """The survey that a document of tables is about; ValueError where the questions are none."""
    if workload.survey is None:
        raise ValueError(OTHER_QUESTIONS)
    return workload.survey


def tables_about(survey: Survey, about: Document) -> Document:
    """A document of the questions of a survey that treat the values of each attribute alike."""
    groups = []
    for group in survey.groups:
        document: Document = {"columns": list(group.attributes), "weight": float(group.weight)}
        if not isinstance(group.base, Histogram):
            values = eigenvalues(group.base, [survey.shape[i] for i in group.attributes]) or {}
            places = verify.subsets(tuple(range(len(group.attributes))))
            document["eigenvalues"] = [float(values.get(members, 0.0)) for members in places]
        groups.append(document)
    return {"kind": "tables", **about, "workload": {"gram": "tables", "sizes": list(survey.shape), "groups": groups}}


def _largest_multiple(fixed: np.ndarray, rising: np.ndarray, owner: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(g,) gamma of the slices ``owner`` at these ``shares`` s, rounded up, of coefficients ``fixed + s rising`` (r, cells)."""
    if not fixed.shape[1]:
        return np.zeros(len(owner))
    largest = [(fixed[k] + s * rising[k]).max() for k, s in zip(owner, shares, strict=True)]
    sizes = (np.abs(fixed).max(axis=1) + np.abs(rising).max(axis=1))[owner]
    return np.array(largest) + 4 * U * sizes


def steps(D: float) -> np.ndarray:
    """Points of the grid between 0 and 1."""
    middle = 1 / (D + 2)
    marks = [LEAST * middle, middle / NARROW, min(1.0, WIDE * middle), 1.0]
    parts = [
        np.geomspace(start, end, 2 + math.ceil(math.log(end / start) / step))
        for (start, end), step in zip(pairwise(marks), (COARSE, FINE, COARSE), strict=True)
    ]
    return np.concatenate(parts)


def bound(survey: Survey, weights: np.ndarray, ratio: float) -> float:
    """``g_0 + (sum dim sqrt(g lambda))^2 / mu``, rounded down, for ``weights`` lambda of its components and mu the ``ratio``."""
    c = survey.components
    root = float(c.dims @ np.sqrt(c.gram * weights))
    if not root > 0:
        return float(survey.n) * c.constant * (1 - 1e-9)
    if not (SMALLEST < root < LARGEST and SMALLEST < ratio < LARGEST):  # underflow may be all of a number
        return -math.inf
    unit = (4 * len(c.sets) + 4 * survey.gram_roundings + 64) * U
    return float(survey.n) * ((c.constant + root / ratio * root) * (1 - ABOVE * unit))


def coefficients_differing(traces: Traces, differing: np.ndarray) -> np.ndarray:
    """(c, cells) K_C of each inequality."""
    coefficients = np.empty((len(differing), traces.cells))
    for row, chosen in zip(coefficients, differing, strict=True):
        counts = [int(c) for c in chosen[:-1]]
        if not traces.known(counts) or not any(counts) or list(chosen) != [*counts, chosen[-1] == 1]:
            raise ValueError("Two types differ in tracked attributes, one at least.")
        row[:] = traces.differing(counts)[traces.trace]
        if chosen[-1]:
            row[~traces.alone] = 0.0
    return coefficients


def coefficients_within(traces: Traces, within: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """(f, cells) the share of the sets B that A lies in, less the slope times the share of those that it meets."""
    coefficients = np.empty((len(within), traces.cells))
    for row, chosen, slope in zip(coefficients, within, slopes, strict=True):
        counts = [int(c) for c in chosen]
        if not traces.known(counts) or not any(counts) or list(chosen) != counts:
            raise ValueError("Fibres are along tracked attributes, one at least.")
        inside = traces.within(counts)[traces.trace] * traces.alone
        row[:] = inside - slope * (1 - traces.missed(counts)[traces.trace])
    return coefficients


def coefficients_aligned(traces: Traces, aligned: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, cells) of the means over the sets A of W_A, and over the pairs of A and C of what C makes A of, times the values of C."""
    alone, around = np.zeros((len(aligned), traces.cells)), np.zeros((len(aligned), traces.cells))
    kinds = len(traces.kinds)
    for own, others, chosen in zip(alone, around, aligned, strict=True):
        counts = [int(c) for c in chosen]
        A, C = counts[:kinds], counts[kinds:]
        fits = traces.known(A) and traces.known(C) and any(A) and all(a <= c for a, c in zip(A, C, strict=True))
        if not fits or list(chosen) != counts or traces.size_of(C) > FIBRE_VALUES:
            raise ValueError(f"Fibres are looked at along {FIBRE_VALUES:,} values at most, of tracked attributes.")
        sets = math.prod(math.comb(number, a) for number, a in zip(traces.numbers, A, strict=True))
        own[traces.alone & (traces.counts[traces.trace] == A).all(axis=1)] = 1 / sets
        others[:] = traces.size_of(C) * traces.aligned(A, C)[traces.trace]
    return alone, around


def largest_ratio(
    grid: np.ndarray, low: np.ndarray, high: np.ndarray, linear: np.ndarray, square: np.ndarray, D: float
) -> np.ndarray:
    """(g,) upper bounds on ``D^2 (h(s) + linear s + square s^2) / (1 + D s)^2`` over the intervals of ``grid`` (g + 1,), h the chord from
    ``low`` to ``high``.

    With ``z = 1 / (1 + D s)`` that is ``A z^2 + B z + C``: where A < 0, no value is above that at z = -B / (2 A), and one at a z that is off
    by a share eta of it is at most ``|A| (eta z)^2`` below. On very short intervals the largest numerator and the smallest denominator do.
    """
    start, end = grid[:-1], grid[1:]
    slope = (high - low) / (end - start)
    rounding = ABOVE * 64 * U * (np.abs(low) + np.abs(high) + (np.abs(linear) + np.abs(square)) * end)
    at_ends = np.stack([h + linear * s + square * s**2 for h, s in ((low, start), (high, end))])
    ratios = (D**2 * (at_ends + rounding) / np.stack([1 + D * start, 1 + D * end]) ** 2).max(axis=0)

    p, q, p_size, q_size = (
        low - slope * start,
        linear + slope,
        np.abs(low) + np.abs(slope) * start,
        np.abs(linear) + np.abs(slope),
    )
    A, B = p * D**2 - q * D + square, q * D - 2 * square
    eta = (
        64
        * U
        * (
            1
            + (p_size * D**2 + q_size * D + np.abs(square)) / np.abs(A)
            + (q_size * D + 2 * np.abs(square)) / np.abs(B)
        )
    )
    z = -B / (2 * A)
    # Rounding may put the top on the wrong side of an end, where the values are then nearly the same.
    inside = (A < 0) & (z * (1 + D * start) < 1 + 1e-6 + eta) & (z * (1 + D * end) > 1 - 1e-6 - eta)
    s = np.clip((1 / z - 1) / D, 0, 2)
    top = (
        D**2 * (low + slope * (s - start) + linear * s + square * s**2 + 2 * rounding) * z**2
        + ABOVE * np.abs(A) * (eta * z) ** 2
    )
    ratios = np.where(inside, np.fmax(ratios, top), ratios)
    short = end - start < SHORT * end
    crude = D**2 * (at_ends.max(axis=0) + np.abs(square) * (end - start) ** 2 + rounding) / (1 + D * start) ** 2
    ratios = np.where(short, np.maximum(crude, 0.0), ratios)
    return ratios + 16 * U * np.abs(ratios)
