"""The best mechanism and the best proof for one question, found together by exchange of values.

The programme over given values (`programme`) has multipliers alpha and beta. They prove something where F(v) >= 0 for all real v
(`certificate`), not only for the values given: the least points of F in between are the next values. With many types the first
programmes are about a few of them, and every type between two of these sends as one of the two, drawn so that the mean is right:
columns are mixtures of columns, so that everything holds for all types. Source: this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ldp_core.bounds.question.programme import solved
from ldp_core.run import Check
from ldp_core.workloads import Workload

NODES = (64, 192, 512)
"""Types that programmes are about, one after the other: tenths of a second, a second, and several, a round."""
_FIRST_VALUES = 41
_RANGE = 1.1
"""First values lie so far from the middle, as a multiple of what one bit needs."""
FINE = 5e-3
"""More types come in when their gap is below this."""
GOAL = 2e-4
"""The search is over when the gap is below this."""
_FIRST_TOLERANCE, _LEAST_TOLERANCE = 1e-3, 1e-12
_AHEAD = 0.03
"""Programmes are solved to this share of the gap: near their middle, multipliers hold best between the values given."""
_BETWEEN = (0.1, 0.3, 0.6, 1.0)
"""Shares of the best multipliers so far that are tried beside the new ones."""
_PATIENCE, _GAIN = 12, 0.02
"""So many rounds that make the gap no smaller by this share are enough."""
_UNUSED = 1e-7
"""Values of less probability, over the number of values, are dropped."""
_LEAST_SHARE = 1e-14
"""A type counts as this share of the average at least."""
_EQUAL = 12
"""Decimal places of a target, over half of its range, that are looked at."""
_ZERO = 1e-9
"""F is not negative above -1 times this."""
NEARLY = 5e-5
"""How far columns of rows may be off 1, as a share of (E - 1) / E and of the variance: making up for it costs twice as much."""
_REPAIRS = 30
ONE = 1e-9
"""The share of what is asked that may lie outside one direction."""


def direction(workload: Workload) -> np.ndarray | None:
    """z (n,), of sum 0, such that the questions are multiples of G z and of constants; None where they are not of this kind. It is
    scaled so that z'Gz = 1."""
    n = workload.n
    sums = workload.gram_sums / n
    diagonal = workload.gram_diag - 2 * sums + sums.mean()
    j = int(np.argmax(diagonal))
    if not diagonal[j] > ONE * workload.gram_diag.max():
        return None
    column = workload.apply_gram(np.eye(1, n, j)[0]) - sums
    column = (column - column.mean()) / np.sqrt(diagonal[j])
    # What remains of a semidefinite matrix has entries no larger than the roots of its diagonal.
    if np.abs(diagonal - column**2).max() > ONE * diagonal[j]:
        return None
    z = column / (column @ column)
    return np.asarray(z / np.sqrt(z @ workload.apply_gram(z)))


def target(workload: Workload, z: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n,) what is asked along ``z``, less its mean over the ``prior``."""
    image = workload.apply_gram(z)
    return np.asarray(image - prior @ image)


class Dual(NamedTuple):
    """Multipliers ``alpha`` and ``beta`` (both (n,)), and the second moment that they prove."""

    alpha: np.ndarray
    beta: np.ndarray
    value: float


class Pieces(NamedTuple):
    """The least points of F ``at`` which it is smallest in its pieces, F there (``least``), how fast F grows there with a part of all alpha, and
    whether the point lies ``inside`` its piece."""

    at: np.ndarray
    least: np.ndarray
    growth: np.ndarray
    inside: np.ndarray


def pieces(alpha: np.ndarray, beta: np.ndarray, p: np.ndarray, D: float) -> Pieces:
    """Of ``F(v) = sum_x h_x(v) + D sum_x min(h_x(v), 0)``, ``h_x(v) = p_x v^2 - beta_x v - alpha_x``."""
    square = beta**2 + 4 * p * alpha
    crossing = np.flatnonzero(square > 0)
    middle = (beta + np.copysign(np.sqrt(np.maximum(square, 0.0)), beta))[crossing] / 2
    with np.errstate(divide="ignore", over="ignore"):
        roots = np.sort([middle / p[crossing], -alpha[crossing] / middle], axis=0)
    ends, x, sign = roots.ravel(), np.tile(crossing, 2), np.repeat([1.0, -1.0], len(crossing))
    order = np.argsort(ends, kind="stable")
    ends, x, sign = ends[order], x[order], sign[order]
    a, b, c, high = (
        q.sum() * (i < 3) + D * np.append(0.0, np.cumsum(sign * q[x]))
        for i, q in enumerate((p, beta, alpha, np.ones(len(p))))
    )
    v, low, up = b / (2 * a), np.append(-np.inf, ends), np.append(ends, np.inf)
    at = np.clip(v, low, up)
    return Pieces(at, (a * at - b) * at - c, len(p) + high, at == v)


def repaired(alpha: np.ndarray, beta: np.ndarray, w: np.ndarray, p: np.ndarray, D: float) -> Dual:
    """The multipliers with alpha lowered until F is not negative anywhere."""
    for _ in range(_REPAIRS):
        F = pieces(alpha, beta, p, D)
        lacking = float((-F.least / F.growth).max())
        if lacking <= 1e-15 * np.abs(alpha).max():
            break
        alpha = alpha - lacking
    return Dual(alpha, beta, float(alpha.sum() + beta @ w))


@dataclass(frozen=True)
class Nodes:
    """Some ``targets`` (m,) in order, and the ``place`` (n,) and ``share`` (n,) of the second of the two beside each type; whether
    they are ``all``."""

    targets: np.ndarray
    place: np.ndarray
    share: np.ndarray
    all: bool

    @classmethod
    def of(cls, w: np.ndarray, p: np.ndarray, most: int) -> Nodes:
        """At most ``most``, spread over the range and over the people."""
        distinct, which = np.unique(w.round(_EQUAL), return_inverse=True)
        few = len(distinct) <= most
        if not few:
            people = np.cumsum(np.bincount(which, p))
            along = people - people[0] + (distinct - distinct[0]) / np.ptp(distinct)
            distinct = distinct[np.unique(np.searchsorted(along, np.linspace(0, along[-1], most) * (1 - 1e-12)))]
        place = np.clip(np.searchsorted(distinct, w), 1, len(distinct) - 1)
        share = np.clip((w - distinct[place - 1]) / (distinct[place] - distinct[place - 1]), 0.0, 1.0)
        return cls(distinct, place, share, few)

    def spread(self, columns: np.ndarray) -> np.ndarray:
        """(..., n) of numbers (..., m) for each node: those of a type between two are between theirs."""
        return np.asarray(columns[..., self.place] * self.share + columns[..., self.place - 1] * (1 - self.share))

    def gathered(self, p: np.ndarray) -> np.ndarray:
        """(m,) shares of the nodes where types have ``p`` (n,)."""
        m = len(self.targets)
        return np.bincount(self.place, p * self.share, m) + np.bincount(self.place - 1, p * (1 - self.share), m)


class Primal(NamedTuple):
    """A mechanism over ``nodes``: ``rows`` (k, m), their least entries ``lows`` (k,), and the second moment of its answers."""

    nodes: Nodes
    rows: np.ndarray
    lows: np.ndarray
    value: float


class Exchange:
    """Rounds of programmes for ``targets`` (n,) whose mean over the ``prior`` is 0. ``primal`` and ``dual`` are the best so far; their second
    moments are those of targets moved and scaled to lie between -1 and 1."""

    _nodes: Nodes
    _shares: np.ndarray
    _values: np.ndarray
    _about: Dual
    _tolerance: float
    _idle: int

    def __init__(self, targets: np.ndarray, prior: np.ndarray, epsilon: float, check: Check):
        self._middle, self._half = (targets.max() + targets.min()) / 2, np.ptp(targets) / 2
        self._w, self._prior = (targets - self._middle) / self._half, prior
        self._ratio, self._check = float(np.exp(epsilon)), check
        self._people = np.maximum(prior, _LEAST_SHARE / len(prior))
        self._known = float(prior @ self._w**2)
        self._levels = list(NODES)
        nodes, most = self._next_nodes(), _RANGE * (self._ratio + 1) / (self._ratio - 1)
        self.dual, self.primal = self._closed(self._w, self._people), self._randomized(nodes)
        self._begin(nodes, np.linspace(-most, most, _FIRST_VALUES))
        self._prove(self._closed(nodes.targets, self._shares))
        self.finished = self.gap < GOAL

    @property
    def gap(self) -> float:
        """The share by which the best mechanism so far needs more people than is proved."""
        return _more(self.primal.value, self.dual.value, self._known)

    def on_scale(self, value: float) -> float:
        """A second moment on the scale of the targets."""
        return float((value - (self._prior @ self._w) ** 2) * self._half**2)

    def multipliers(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of `dual` on the scale of the targets."""
        alpha, beta, shift = self.dual.alpha * self._half**2, self.dual.beta * self._half, self._middle
        return alpha - (beta + self._prior * shift) * shift, beta + 2 * self._prior * shift

    def round(self) -> None:
        """One programme, and the values that it lacks."""
        nodes, p, D, values, old = self._nodes, self._shares, self._ratio - 1, self._values, self._about
        found = solved(nodes.targets, p, self._ratio, values, self._tolerance, self._check)
        value, known = float(values**2 @ (found.rows @ p)), float(p @ nodes.targets**2)
        part = (value - known) / value
        balanced = np.abs(found.rows.sum(axis=0) - 1).max() <= NEARLY * part * D / (D + 1)
        if balanced and value < self.primal.value:
            self.primal = Primal(nodes, found.rows, found.lows, value)
        steps = found.alpha - old.alpha, found.beta - old.beta
        between = ((old.alpha + share * steps[0], old.beta + share * steps[1]) for share in _BETWEEN)
        new = max((repaired(*each, nodes.targets, p, D) for each in between), key=_value)
        self._idle += 1
        if new.value > old.value:
            if _more(value, old.value, known) > (1 + _GAIN) * _more(value, new.value, known):
                self._idle = 0
            self._prove(new)
        F = pieces(found.alpha, found.beta, p, D)
        lacking = F.at[F.inside & (F.least < -_ZERO * (value - known))]
        used = (found.rows @ p > _UNUSED / len(values)) | (len(values) < 4 * len(p) + _FIRST_VALUES)
        self._values = np.unique(np.concatenate([values[used], lacking]))
        gap = _more(value, self._about.value, known) if balanced else np.inf
        exact = self._tolerance <= _LEAST_TOLERANCE and not len(lacking)
        settled = exact or gap < GOAL / 4 or self._idle == _PATIENCE
        last = nodes.all or not self._levels
        self.finished = self.gap < GOAL or (settled and last)
        if not last and (settled or gap < FINE):
            self._finer()
        elif balanced:
            self._tolerance = max(_LEAST_TOLERANCE, min(self._tolerance, _AHEAD * gap * part))
        else:
            self._tolerance /= 10

    def _next_nodes(self) -> Nodes:
        return Nodes.of(self._w, self._people, self._levels.pop(0))

    def _begin(self, nodes: Nodes, values: np.ndarray) -> None:
        """The next programmes are about these nodes."""
        told = self._told(nodes.targets)
        self._values = np.unique(np.concatenate([values, told[np.abs(told) <= 1.5 * np.abs(values).max()]]))
        self._nodes, self._shares, self._idle = nodes, nodes.gathered(self._people), 0
        self._tolerance = max(_LEAST_TOLERANCE, _FIRST_TOLERANCE * min(1.0, len(told) / self._ratio))

    def _finer(self) -> None:
        """More nodes, with the values and multipliers that there are."""
        before, each = self._nodes.targets, [of / self._shares for of in (self._about.alpha, self._about.beta)]
        self._begin(self._next_nodes(), self._values)
        x, p = self._nodes.targets, self._shares
        between = repaired(np.interp(x, before, each[0]) * p, np.interp(x, before, each[1]) * p, x, p, self._ratio - 1)
        self._about = max(between, self._closed(x, p), key=_value)

    def _prove(self, about: Dual) -> None:
        """The best multipliers for nodes are these, which prove something of all types."""
        self._about, nodes = about, self._nodes
        alpha, beta = (nodes.spread(of / self._shares) * self._people for of in (about.alpha, about.beta))
        self.dual = max(self.dual, repaired(alpha, beta, self._w, self._people, self._ratio - 1), key=_value)

    def _told(self, w: np.ndarray) -> np.ndarray:
        """The values of reports of randomized response."""
        return np.asarray(((self._ratio + len(w) - 1) * w - w.sum()) / (self._ratio - 1))

    def _randomized(self, nodes: Nodes) -> Primal:
        """Randomized response on the nodes."""
        m, E, p = len(nodes.targets), self._ratio, nodes.gathered(self._people)
        rows = np.where(np.eye(m, dtype=bool), E, 1.0) / (E + m - 1)
        return Primal(nodes, rows, rows.min(axis=1), float(self._told(nodes.targets) ** 2 @ (rows @ p)))

    def _closed(self, w: np.ndarray, p: np.ndarray) -> Dual:
        """The better of two closed forms: the centred bound by singular values, a second moment of Var(w) / sinh(epsilon / 2)^2 beside the mean;
        and the multipliers for which F and its slope are 0 at the values of randomized response, the optimum of large epsilon."""
        D, mean, told = self._ratio - 1, p @ w, self._told(w)
        along, weights = 4 * (D + 1) / D**2 * (w - mean), 1 + D * p
        centred = -p * (mean**2 + 2 * mean * along + along @ (p * (w - mean))), 2 * p * (mean + along)
        alpha, beta = -(told**2) * weights, 2 * told * weights
        singles = (alpha - alpha.sum() / (len(w) + D)) / D, (beta - beta.sum() / (len(w) + D)) / D
        return max((repaired(*each, w, p, D) for each in (centred, singles)), key=_value)


def _value(dual: Dual) -> float:
    return dual.value


def _more(value: float, proved: float, known: float) -> float:
    """The share by which a second moment means more people than one that is proved, of targets of a ``known`` one."""
    return (value - known) / (proved - known) - 1 if proved > known else np.inf
