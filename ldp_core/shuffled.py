"""What mixing the reports would give: the central epsilon against anyone who sees reports only
after they were mixed.

The *privacy blanket* (Balle, Bell, Gascon, Nissim 2019, arXiv 1903.02837, Lemma 5.3), derived here
once more, for tables Q (m, n) in which some types cannot send some reports too. Let
``w_y <= min_x Q_yx``, and gamma be the sum of w. A person of type x sends a report of the blanket
w/gamma with probability gamma, and one of (Q_x - w)/(1 - gamma) else. Whoever is told which of the
N - 1 others did the latter, and what they sent, sees the one person's report among M ~
Binomial(N - 1, gamma) of the blanket, and nothing else depends on x.

*Rows that somebody cannot send* (w_y = 0) never come from the blanket, so that one of them is the
person's own. As outcomes these add ``sum_y (Q_yx - e^c Q_yx')_+`` to delta, at most ``unsent``, the
largest mass that any type has in them.
*The other rows.* The multiset of the person's report and M = k of the blanket has, against k + 1
reports y_i of the blanket, the density ``gamma/(k + 1) sum_i Q_x(y_i)/w(y_i)``, whether or not Q_x
sums to 1 over these rows. Since ``C(N - 1, k)/(k + 1) = C(N, k + 1)/N``,

    delta(c) <= unsent + E[(L_1 + ... + L_m)_+]/N,    m ~ Binomial(N, gamma),    L = (Q_yx - e^c Q_yx')/w_y,    y drawn from w/gamma.

*Four values.* A row from 1 to E times w_y is a mixture of rows with the two values 1 and E, its
layers, of which reports can be made that mixing tells no better. With a and b the chance that x and
x' are *high* (E) in a report of the blanket, and o that both are, L is

    E - F with a - o,    1 - E F with b - o,    E (1 - F) with o,    1 - F with 1 - a - b + o,    F = e^c.

E[(L_1 + ...)_+] grows with a, as mass moves to larger values, falls with b for the same reason, and
falls with o, as mass moves outwards around the same mean. So the worst pair has the largest a, the
least b and the least o of all types at once. Column x sums to 1: ``1 - (its mass in rows somebody
cannot send) = gamma (1 + (E - 1) a)``. All a are the same where every type can send all, and in
general lie between those of no such mass and of ``unsent``. o is at least the sum of the smaller
heights of two types.

*Rounding.* Monotony makes it safe to round a up, b and o down, values up, and masses below 0 down,
which moves them to 0. Sums are taken by a fast Fourier transform of the tilted law, rounded so that
delta is never too small (as in arXiv 2504.07414 up to the tilt).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import fft, optimize

from ldp_core import wording
from ldp_core.limits import MOST_STRATEGY_ENTRIES, MOST_USERS
from ldp_core.mechanisms import Mechanism
from ldp_core.mechanisms.exchangeable import ExchangeableMechanism
from ldp_core.mechanisms.hrr import HadamardRandomizedResponse
from ldp_core.mechanisms.strata import InStrata
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.people import Counts, users_of
from ldp_core.wording import plural, rounded_up

DELTA = 1e-6
"""The delta of a central epsilon where none is asked for; it is at most 1/N."""
_ROUGH, _FINE = 0.5, 0.1
"""Steps of the grid, as shares of the standard deviation that one person adds: the fine one makes
that at most 0.2 % larger."""
_TAIL = 40.0
"""What the grid leaves out has a probability of at most e^-40."""
_MOST_POINTS = 2**22
"""A sum that needs a longer grid has a few people in it who decide: nothing is proved then."""
_CLOSE = 1e-4
"""Epsilon is found to this share."""
_ROUNDING, _DIGITS = 1e-9, 1e-12
"""Shares of people, and values, are computed to this part of themselves, and rounded to the safe
side."""


@dataclass(frozen=True)
class Blanket:
    """Of all reports a share ``gamma`` is drawn without a look at the person. Among these, both of
    two types are high, where rows are ``ratio`` to 1, with a probability of at least ``overlap``.
    No type has more than ``unsent`` in rows that somebody cannot send."""

    gamma: float
    ratio: float
    overlap: float
    unsent: float = 0.0

    @classmethod
    def mixed(cls, parts: Iterable[tuple[float, Blanket]]) -> Blanket:
        """The blanket of people who are each in one of several designs, with these probabilities.
        The worst pair of types is taken in each of them, which is worse than any one pair."""
        parts = list(parts)
        gamma, unsent = (sum(share * getattr(part, of) for share, part in parts) for of in ("gamma", "unsent"))
        ratio = max(part.ratio for _, part in parts)
        # Layers of lower rows are as much rarer as these are lower.
        both = sum(share * part.gamma * part.overlap * (part.ratio - 1) for share, part in parts)
        return cls(gamma, ratio, both / (gamma * (ratio - 1)), unsent)

    @classmethod
    def of_table(cls, Q: np.ndarray) -> Blanket:
        """That of the outputs (m, n) of a table."""
        everybody = Q.min(axis=1) > 0
        unsent = float(Q[~everybody].sum(axis=0).max()) * (1 + _ROUNDING)
        Q, low = Q[everybody], Q[everybody].min(axis=1)
        ratio = float((Q.max(axis=1) / low).max(initial=1.0))
        heights = (Q / low[:, None] - 1) / max(ratio - 1, 1e-300)
        gamma = float(low.sum())
        # The product of two heights is at most the smaller one, and equal to it for rows of two values.
        overlaps = heights.T @ (heights * (low / gamma)[:, None])
        return cls(gamma, ratio, max(0.0, float(overlaps.min())), unsent)

    def high_chance(self, unsent: float = 0.0) -> float:
        """The chance that a type with the mass ``unsent`` in rows somebody cannot send is high in a
        report from the blanket."""
        return ((1 - unsent) / self.gamma - 1) / (self.ratio - 1)

    def atoms(self, c: float) -> tuple[np.ndarray, np.ndarray]:
        """The values of one person's L that are not 0, and their probabilities, at the central
        epsilon ``c``, rounded to the safe side."""
        up, down = 1 + _ROUNDING, 1 - _ROUNDING
        most, least = min(self.high_chance() * up, 1.0), max(self.high_chance(self.unsent) * down, 0.0)
        both = min(max(self.overlap * down, most + least - 1, 0.0), least)
        E, F = self.ratio - 1, math.expm1(c) * (1 - _DIGITS)  # less 1
        low = E * (1 - _DIGITS)
        values = np.array([-F - low * F, -F, E * (1 + _DIGITS) - F, -F - low - low * F])
        masses = np.array([both * down, (1 - most - least + both) * down, (most - both) * up, (least - both) * down])
        return values, self.gamma * np.maximum(masses, 0.0)


@singledispatch
def blanket(mechanism: Any) -> Blanket:
    """The blanket of ``mechanism``'s reports. ValueError, one sentence, where there is none or it
    is not known."""
    if not mechanism.protects_all:
        raise ValueError(
            "What mixing would give is not worked out where some values are not secret: a report that says its value hides nobody among others."
        )
    Q = mechanism.strategy
    if Q is None and (channel := mechanism.channel) is not None and math.prod(channel.shape) <= MOST_STRATEGY_ENTRIES:
        Q = np.asarray(channel @ np.eye(mechanism.n))
    if Q is None:
        raise ValueError(
            "What mixing would give is computed from a table of reports, and this mechanism has none or too large a one."
        )
    return Blanket.of_table(Q)


@blanket.register
def _(mechanism: ExchangeableMechanism) -> Blanket:
    high, low = mechanism._two_probabilities()
    ratio = float(high / low)
    gamma = (1 - mechanism.p) + mechanism.p / ratio
    return Blanket(gamma, ratio, mechanism.both_own / (gamma * ratio))


@blanket.register
def _(mechanism: HadamardRandomizedResponse) -> Blanket:
    # Products of the signs of two types sum to -1 over the K - 1 coefficients.
    ratio = math.exp(mechanism.epsilon)
    return Blanket(2 / (1 + ratio), ratio, (1 - 1 / (mechanism.order - 1)) / 4)


@blanket.register
def _(mechanism: HierarchicalTree) -> Blanket:
    return Blanket.mixed(
        (1 / gain, blanket(oracle)) for gain, oracle in zip(mechanism.gains, mechanism.oracles, strict=True)
    )


@blanket.register
def _(mechanism: Haar) -> Blanket:
    # Types on both sides of the top: opposite signs there, independent ones below.
    levels, ratio = len(mechanism.blocks), math.exp(mechanism.epsilon)
    return Blanket(2 / (1 + ratio), ratio, (levels - 1) / (4 * levels))


@blanket.register
def _(mechanism: SurveyMechanism) -> Blanket:
    parts = [(share, blanket(table)) for _, share, table in mechanism.table_reports]
    if mechanism.scrambled is not None:
        ratio = math.exp(mechanism.epsilon)
        left = 1 - sum(share for share, _ in parts)
        sets = zip(mechanism.scrambled.shares.tolist(), mechanism.scrambled.patterns, strict=True)
        parts += [(left * share, _of_set(pattern.cells, ratio)) for share, pattern in sets]
    return Blanket.mixed(parts)


def _of_set(cells: np.ndarray, ratio: float) -> Blanket:
    """That of a random image of a set of ``cells``. The overlap is that of two cells that differ
    along the worst axes."""
    total, axes = cells.size, range(cells.ndim)
    inside = int(np.count_nonzero(cells))
    gamma = 1 / (1 + (ratio - 1) * inside / total)
    # Pairs of cells inside that agree at least on the axes with a 1, then exactly on them.
    agreeing = np.empty((2,) * cells.ndim)
    for kept in np.ndindex(agreeing.shape):
        others = tuple(axis for axis in axes if not kept[axis])
        agreeing[kept] = (cells.sum(axis=others, dtype=np.int64) ** 2).sum()
    for axis in axes:
        least_on, exactly_on = np.moveaxis(agreeing, axis, 0)[:2]
        least_on -= exactly_on
    least = inside / total
    for kept in list(np.ndindex(agreeing.shape))[:-1]:
        pairs = total * math.prod(cells.shape[axis] - 1 for axis in axes if not kept[axis])
        least = min(least, float(agreeing[kept]) / pairs) if pairs else least
    return Blanket(gamma, ratio, least)


def delta(of: Blanket, users: int, epsilon: float, fineness: float = _FINE) -> float:
    """The least delta proved for ``users`` mixed reports at the central ``epsilon``; never too
    small."""
    if math.expm1(epsilon) >= (of.ratio - 1) * (1 + _DIGITS):
        return of.unsent
    values, chances = of.atoms(epsilon)
    values, chances = values[chances > 0], chances[chances > 0]
    if values @ chances >= 0:  # an epsilon so small that rounding outweighs it
        return math.inf
    tilt, spread = _tilted(values, chances)
    reach = _reach(values, chances, users, tilt, spread)
    step = fineness * spread
    # What lies below the grid is moved up to it, which can only add.
    values = np.maximum(values, -reach)
    return of.unsent + _mean_above(values / step, chances, users, tilt * step, reach / step) * step / users


def _tilted(values: np.ndarray, chances: np.ndarray) -> tuple[float, float]:
    """The tilt under which the mean is 0, and the standard deviation of one person's value then."""
    top = float(values.max())

    def slope(tilt: float) -> float:
        weights = chances * np.exp(tilt * (values - top))
        return float(weights @ values)

    high = 1 / top
    while slope(high) < 0:
        high *= 2
    tilt = float(optimize.brentq(slope, 0.0, high, xtol=1e-12 * high))
    weights = chances * np.exp(tilt * values)
    return tilt, math.sqrt(float(weights @ values**2) / (1 - chances.sum() + weights.sum()))


def _reach(values: np.ndarray, chances: np.ndarray, users: int, tilt: float, spread: float) -> float:
    """A number that the tilted sum is above, and its negative below, with probabilities of at most
    e^-`_TAIL` (Chernoff)."""

    def cumulant(t: float) -> float:
        return math.log1p(float(chances @ np.expm1(np.minimum(t * values, 700.0))))

    deviation = spread * math.sqrt(users)
    reach, base = 9 * deviation, cumulant(tilt)
    while True:
        slope = _TAIL * 2 / reach
        ends = [users * (cumulant(tilt + side * slope) - base) - slope * reach for side in (1, -1)]
        if max(ends) <= -_TAIL:
            return reach
        reach *= 1.25


def _mean_above(values: np.ndarray, chances: np.ndarray, users: int, tilt: float, reach: float) -> float:
    """E[S_+] of a sum S of ``users`` values, 0 but for ``chances``, in units of the grid's step;
    rounded up.

    Each value is split among the two grid points around it, its mean unchanged: sums spread more,
    and S_+ is convex. The tail beyond ``reach`` and the roundings of the transform are added.
    """
    below = np.floor(values)
    needed = 2 * reach + 2 * float(np.abs(below).max()) + 7
    if not needed <= _MOST_POINTS:  # asked in floats, before anything is too large for an integer
        return math.inf
    points = np.concatenate([below, below + 1]).astype(np.int64)
    weights = np.concatenate([chances * (below + 1 - values), chances * (values - below)])
    raised = weights * np.expm1(tilt * points)
    total = raised.sum()  # of the tilted law, less 1
    size = fft.next_fast_len(math.ceil(needed), real=True)
    law = np.bincount(points % size, (weights + raised) / (1 + total), minlength=size)
    law[0] += 1 - law.sum()
    spectrum = fft.rfft(law)
    heard = np.abs(spectrum) > math.exp(-_TAIL / users)
    spectrum[heard] = np.exp(users * np.log(spectrum[heard]))
    spectrum[~heard] = 0.0
    probabilities = fft.irfft(spectrum, size)
    above = np.arange(1, min(size // 2, math.ceil(2 * _TAIL / tilt)))
    worth = above * np.exp(-tilt * above)
    off = float(np.abs(spectrum).mean()) * users * 2.0**-46 + math.exp(-_TAIL)
    mean = float(np.maximum(probabilities[1 : 1 + len(above)], 0.0) @ worth) + off * float(worth.sum())
    peak = max(above[-1], 1 / tilt)
    mean += math.exp(-_TAIL) * peak * math.exp(-tilt * peak)
    return math.exp(min(700.0, users * math.log1p(total))) * mean * (1 + _ROUNDING)


def shuffled(mechanism: Mechanism | Blanket, users: int, delta_allowed: float | None = None) -> float:
    """The central epsilon of the reports of ``users`` people, mixed before anyone sees them: at
    most epsilon itself, and never too small. It is infinite where reports that some people cannot
    send are more likely than ``delta_allowed``, so that mixing proves nothing.

    ``delta_allowed`` is 10^-6, or 1/``users`` where that is less, unless given. It holds against
    anyone who sees nothing but the mixed reports, if at least ``users`` took part. ValueError for a
    mechanism with a delta of its own or with noise, for fewer than one user, and for a delta that
    is not between 0 and 1/``users``.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=2, epsilon=1.0)
    >>> 0.04 < ldp.analysis.shuffled(mechanism, users=10_000) < 0.05
    True
    """
    if not 1 <= users <= MOST_USERS:
        raise ValueError(f"Reports are mixed among 1 to {MOST_USERS:,} people; got {users:,}.")
    allowed = usual_delta(users) if delta_allowed is None else float(delta_allowed)
    if not 0 < allowed <= 1 / users:
        raise ValueError(f"Delta must be above 0 and at most 1/N = {1 / users:.2g}; got {allowed:g}.")
    of = blanket_of(mechanism)
    local = math.log(of.ratio) if of.unsent <= allowed else math.inf
    if math.isinf(local):
        return local

    def excess(epsilon: float, fineness: float) -> float:
        return math.log(max(delta(of, int(users), epsilon, fineness), 1e-300) / allowed)

    least, most, found = 1e-6 * local, local * (1 - 1e-6), local
    for fineness in (_ROUGH, _FINE):
        if excess(most, fineness) > 0:
            return found
        if excess(least, fineness) <= 0:
            return least
        found = float(optimize.brentq(excess, least, most, (fineness,), rtol=_CLOSE))
        while excess(found, fineness) > 0:
            found *= 1 + _CLOSE
        least, most = 0.9 * found, min(found, most)
    return found


def blanket_of(mechanism: Mechanism | Blanket, reports: int = 1) -> Blanket:
    """`blanket`, where it makes sense: not where each person sends several ``reports``."""
    if reports > 1:
        raise ValueError("What mixing gives is worked out for one report a person.")
    if isinstance(mechanism, Blanket):
        return mechanism
    drawn = mechanism.drawn
    if isinstance(drawn, InStrata):
        raise ValueError(
            "Every report names its group, so that people are mixed within their group alone: work this out for a group."
        )
    if drawn.delta > 0:
        raise ValueError(
            "This is computed for pure epsilon only: noise with a delta of its own is unbounded, so no share of its reports comes without a "
            "look at the person."
        )
    return blanket(drawn)


def usual_delta(users: int) -> float:
    """`DELTA`, or 1/``users`` where that is less."""
    return min(DELTA, 1 / max(users, 1))


TRUST = (
    "This holds only if nobody sees reports before they are mixed, and at least that many people take part. The epsilon of a report is "
    "what holds against everybody."
)


def promised(mechanism: Mechanism | Blanket, people: Counts | int, reports: int = 1) -> str:
    """What mixing gives, in a sentence, and what it takes for granted; of groups that the collector
    knows, and that are mixed each on its own, for the smallest of those that have people.
    ``people`` are (n,) by type, or how many there are. ValueError as of `blanket_of`."""
    users = people if isinstance(people, int) else users_of(people)
    among, parts = (
        f"If the reports of {plural(users, 'person', 'people')} are mixed before anyone sees them",
        [mechanism],
    )
    if isinstance(mechanism, Mechanism) and isinstance(drawn := mechanism.drawn, InStrata):
        sizes = np.full(len(drawn.strata), users / len(drawn.strata))
        if not isinstance(people, int):
            sizes = np.array([users_of(group) for group in drawn.people_within(people)])
        users, parts = int(min(sizes[sizes >= 1], default=1)), list(drawn.drawn_by_design)
        among = f"If the reports of each group, of at least {plural(users, 'person', 'people')}, are mixed before anyone sees them"
    blankets = [blanket_of(part, reports) for part in parts]
    central, of = max(((shuffled(of, users), of) for of in blankets), key=lambda found: found[0])
    if math.isinf(central):
        return f"{among}, mixing proves nothing: up to {wording.share(of.unsent)} of a person's reports are ones that some others never send."
    if not of.unsent and central >= math.log(of.ratio) * (1 - _CLOSE):
        given = "nothing better than the epsilon of a report is proved"
    else:
        given = f"central epsilon {rounded_up(central, 3)} at delta {rounded_up(usual_delta(users), 1)}"
    return f"{among}: {given}. {TRUST}"
