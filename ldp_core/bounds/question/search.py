"""The best mechanism and the best proof for one question, found together by exchange of values.

The programme over given values (`programme`) has multipliers alpha and beta. They prove something where F(v) >= 0 for all real v
(`ldp_core.bounds.verify`), not only for the values given: the least points of F in between are the next values. With many types the first
programmes are about a few of them, and every type between two of these sends as one of the two, drawn so that the mean is right:
columns are mixtures of columns, so that everything holds for all types. For the worst type, what the multipliers prove of the average over a
prior holds as well, whatever the prior. Source: this project.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.question.programme import solved
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Check, Interrupted
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

GOAL = 2e-4
"""The search is over when the gap is below this."""
_LEAST_TOLERANCE = 1e-12
"""No programme is solved more closely than to this share of its value."""
_LEAST_SHARE = 1e-14
"""A type counts as this share of the average at least."""


class Dual(NamedTuple):
    """Multipliers ``alpha`` and ``beta`` for a ``prior`` (all (n,)), and the variance that they prove."""

    alpha: np.ndarray
    beta: np.ndarray
    prior: np.ndarray
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


def repaired(multipliers: Iterable[np.ndarray], w: np.ndarray, D: float) -> Dual:
    """The multipliers alpha, beta and p with alpha lowered until F is not negative anywhere."""
    alpha, beta, p = multipliers
    for _ in range(30):
        F = pieces(alpha, beta, p, D)
        lacking = float((-F.least / F.growth).max())
        if lacking <= 1e-15 * np.abs(alpha).max():
            break
        alpha = alpha - lacking
    return Dual(alpha, beta, p, float(alpha.sum() + beta @ w - p @ w**2))


@dataclass(frozen=True)
class Nodes:
    """Some ``targets`` (m,) in order and a type that has each, and the ``place`` (n,) and ``share`` (n,) of the second of the two beside
    each type; whether they are ``all``."""

    targets: np.ndarray
    types: np.ndarray
    place: np.ndarray
    share: np.ndarray
    all: bool

    @classmethod
    def of(cls, w: np.ndarray, p: np.ndarray, most: int) -> Nodes:
        """At most ``most``, spread over the range and over the people."""
        distinct, types, which = np.unique(w.round(12), return_index=True, return_inverse=True)
        complete = len(distinct) <= most
        if not complete:
            people = np.cumsum(np.bincount(which, p))
            along = people - people[0] + (distinct - distinct[0]) / np.ptp(distinct)
            kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], most) * (1 - 1e-12)))
            distinct, types = distinct[kept], types[kept]
        place = np.clip(np.searchsorted(distinct, w), 1, len(distinct) - 1)
        share = np.clip((w - distinct[place - 1]) / (distinct[place] - distinct[place - 1]), 0.0, 1.0)
        return cls(distinct, types, place, share, complete)

    def spread(self, columns: np.ndarray) -> np.ndarray:
        """(..., n) of numbers (..., m) for each node: those of a type between two are between theirs."""
        return np.asarray(columns[..., self.place] * self.share + columns[..., self.place - 1] * (1 - self.share))

    def gathered(self, p: np.ndarray) -> np.ndarray:
        """(m,) shares of the nodes where types have ``p`` (n,)."""
        m = len(self.targets)
        return np.bincount(self.place, p * self.share, m) + np.bincount(self.place - 1, p * (1 - self.share), m)

    def alone(self, of: np.ndarray) -> np.ndarray:
        """(n,) of numbers (m,): 0 for all types but one for each node."""
        put = np.zeros(len(self.place))
        put[self.types] = of
        return put


class Primal(NamedTuple):
    """A mechanism over ``nodes``: ``rows`` (k, m), their least entries ``lows`` (k,), the ``prior`` (n,) that its answers are best for, and
    their variance."""

    nodes: Nodes
    rows: np.ndarray
    lows: np.ndarray
    prior: np.ndarray
    value: float


class Exchange:
    """Rounds of programmes for ``targets`` (n,), on average over the ``prior`` or, without one, for the worst type. ``primal`` and ``dual`` are
    the best so far; their variances are those of targets moved and scaled to lie between -1 and 1."""

    _nodes: Nodes
    _values: np.ndarray
    _about: Dual
    _tolerance: float
    _idle: int

    def __init__(self, targets: np.ndarray, prior: np.ndarray | None, epsilon: float, check: Check):
        self._half, n = np.ptp(targets) / 2, len(targets)
        self._w, self._prior = (targets - (targets.max() + targets.min()) / 2) / self._half, prior
        self._ratio, self._check = float(np.exp(epsilon)), check
        self._people = np.maximum(1 / n if prior is None else prior, _LEAST_SHARE / n) * np.ones(n)
        self._levels = [
            64,
            192,
            512,
        ]  # types that programmes are about: tenths of a second, a second, and several, a round
        nodes, most = self._next_nodes(), 1.1 * (self._ratio + 1) / (self._ratio - 1)
        self.dual, self.primal = self._closed(self._w, self._people), self._randomized(nodes)
        self._begin(nodes, np.linspace(-most, most, 41))
        self._prove(self._closed(nodes.targets, nodes.gathered(self._people)))
        self.finished = self.gap < GOAL

    @property
    def gap(self) -> float:
        """The share by which the best mechanism so far needs more people than is proved."""
        return _more(self.primal.value, self.dual.value)

    def on_scale(self, value: float) -> float:
        """A variance on the scale of the targets."""
        return float(value * self._half**2)

    def multipliers(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of `dual` on the scale of the targets, less their mean over its prior."""
        alpha, beta, p = self.dual.alpha * self._half**2, self.dual.beta * self._half, self.dual.prior
        shift = -self._half * (p @ self._w)
        return alpha - (beta + p * shift) * shift, beta + 2 * p * shift

    def round(self) -> None:
        """One programme, and the values that it lacks."""
        nodes, D, values, old = self._nodes, self._ratio - 1, self._values, self._about
        shares = None if self._prior is None else old.prior
        found = solved(nodes.targets, shares, self._ratio, values, self._tolerance, self._check)
        p = found.prior
        value = self._variance(nodes, values, found.rows)
        part = value / (value + float(p @ nodes.targets**2))
        # Making up for columns that are off 1 costs twice as much.
        balanced = np.abs(found.rows.sum(axis=0) - 1).max() <= 5e-5 * part * D / (D + 1)
        if balanced and value < self.primal.value:
            self.primal = Primal(nodes, found.rows, found.lows, self._of_types(p), value)
        pairs = list(zip(old[:3], (found.alpha, found.beta, p), strict=True))
        # Beside the new multipliers, points on the way to them from the best so far are tried.
        between = ([a + share * (b - a) for a, b in pairs] for share in (0.1, 0.3, 0.6, 1.0))
        new = max((repaired(each, nodes.targets, D) for each in between), key=_value)
        self._idle += 1
        if new.value > old.value:
            if _more(value, old.value) > 1.02 * _more(value, new.value):  # the gap is 2 % smaller
                self._idle = 0
            self._prove(new)
        F = pieces(found.alpha, found.beta, p, D)
        lacking = F.at[F.inside & (F.least < -1e-9 * value)]  # less negative is rounding
        # Values that hardly any report stands for are dropped, once there are many.
        used = (found.rows @ p > 1e-7 / len(values)) | (len(values) < 4 * len(p) + 41)
        self._values = np.unique(np.concatenate([values[used], lacking]))
        gap = _more(value, self._about.value) if balanced else np.inf
        exact = self._tolerance <= _LEAST_TOLERANCE and not len(lacking)
        settled = exact or gap < GOAL / 4 or self._idle == 12  # so many rounds that brought next to nothing
        last = nodes.all or not self._levels
        self.finished = self.gap < GOAL or (settled and last)
        if not last and (settled or gap < 5e-3):
            self._finer()
        elif balanced:
            # Programmes stop short of their optimum: near the middle, multipliers hold best between the values given.
            self._tolerance = max(_LEAST_TOLERANCE, min(self._tolerance, 0.03 * gap * part))
        else:
            self._tolerance /= 10

    def _variance(self, nodes: Nodes, values: np.ndarray, rows: np.ndarray) -> float:
        """On average, or of the worst type, of a mechanism whose outputs stand for ``values``."""
        variances = nodes.spread(values**2 @ rows) - self._w**2
        return float(variances.max() if self._prior is None else self._people @ variances)

    def _of_types(self, p: np.ndarray) -> np.ndarray:
        return self._nodes.alone(p) if self._prior is None else self._people

    def _next_nodes(self) -> Nodes:
        return Nodes.of(self._w, self._people, self._levels.pop(0))

    def _begin(self, nodes: Nodes, values: np.ndarray) -> None:
        """The next programmes are about these nodes."""
        reported = self._reported(nodes.targets)
        self._values = np.unique(np.concatenate([values, reported[np.abs(reported) <= 1.5 * np.abs(values).max()]]))
        self._nodes, self._idle = nodes, 0
        self._tolerance = max(_LEAST_TOLERANCE, 1e-3 * min(1.0, len(reported) / self._ratio))

    def _finer(self) -> None:
        """More nodes, with the values and multipliers that there are."""
        before, even = self._nodes.targets, self._nodes.gathered(self._people)
        self._begin(self._next_nodes(), self._values)
        x, shares = self._nodes.targets, self._nodes.gathered(self._people)
        each = [np.interp(x, before, of / even) * shares for of in self._about[:3]]
        between = repaired((of / each[2].sum() for of in each), x, self._ratio - 1)
        self._about = max(between, self._closed(x, shares), key=_value)

    def _prove(self, about: Dual) -> None:
        """The best multipliers for nodes are these, which prove something of all types."""
        self._about, nodes = about, self._nodes
        each = [nodes.alone(of) for of in about[:3]]
        if self._prior is not None:
            shares = nodes.gathered(self._people)
            each = [nodes.spread(of / shares) * self._people for of in about[:3]]
        self.dual = max(self.dual, repaired(each, self._w, self._ratio - 1), key=_value)

    def _reported(self, w: np.ndarray) -> np.ndarray:
        """The values of reports of randomized response."""
        return np.asarray(((self._ratio + len(w) - 1) * w - w.sum()) / (self._ratio - 1))

    def _randomized(self, nodes: Nodes) -> Primal:
        """Randomized response on the nodes."""
        m, E = len(nodes.targets), self._ratio
        rows = np.where(np.eye(m, dtype=bool), E, 1.0) / (E + m - 1)
        value = self._variance(nodes, self._reported(nodes.targets), rows)
        return Primal(nodes, rows, rows.min(axis=1), self._people, value)

    def _closed(self, w: np.ndarray, p: np.ndarray) -> Dual:
        """The better of two closed forms: the centred bound by singular values, a second moment of Var(w) / sinh(epsilon / 2)^2 beside the mean,
        which is largest where half of the people have each end; and the multipliers for which F and its slope are 0 at the values of randomized
        response, the optimum of large epsilon."""
        if self._prior is None:
            ends = sum(np.maximum(end / end.sum() / 2, _LEAST_SHARE) for end in (w == w.min(), w == w.max()))
            return max((self._forms(w, each) for each in (p, ends)), key=_value)
        return self._forms(w, p)

    def _forms(self, w: np.ndarray, p: np.ndarray) -> Dual:
        D, mean, reported = self._ratio - 1, p @ w, self._reported(w)
        along, weights = 4 * (D + 1) / D**2 * (w - mean), 1 + D * p
        centred = -p * (mean**2 + 2 * mean * along + along @ (p * (w - mean))), 2 * p * (mean + along)
        alpha, beta = -(reported**2) * weights, 2 * reported * weights
        singles = (alpha - alpha.sum() / (len(w) + D)) / D, (beta - beta.sum() / (len(w) + D)) / D
        return max((repaired((*each, p), w, D) for each in (centred, singles)), key=_value)


def _value(dual: Dual) -> float:
    return dual.value


def _more(value: float, proved: float) -> float:
    """The share by which a variance is more than one that is proved."""
    return value / proved - 1 if proved > 0 else np.inf


def question_certificate(
    workload: Workload, epsilon: float, prior: np.ndarray | None, direction: np.ndarray, budget: Budget
) -> Certificate:
    """The best certificate for questions along one ``direction`` within ``budget``: from the closed form on. Without a ``prior`` it is that for
    the hardest one, whose `variance` bounds the worst type's."""
    known = workload.trace if prior is None else workload.n * float(prior @ workload.gram_diag)
    search = Exchange(workload.apply_gram(direction), prior, check_epsilon(epsilon), budget.check)
    with blas_threads(workload.n), suppress(Interrupted):
        while not search.finished and budget.stopped() is None:
            search.round()
            budget.tell(bound=known + workload.n * search.on_scale(search.dual.value))
    alpha, beta = search.multipliers()
    numbers = {"direction": direction, "alpha": alpha, "beta": beta}
    best = Certificate(workload, epsilon, 0.0, "question", numbers, search.dual.prior if prior is None else prior)
    return replace(best, value=best.claim())
