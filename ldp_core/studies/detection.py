"""Differences between two groups of people, or two collections: how many people find one, and which one so many people find.

Per report, the answer of a group has the variance ``V = sum_x p_x E[(answer of the report)^2 | x] - (w'p)^2``: that of the mechanism
and the chance of who was drawn, p the shares of the group. A difference is found where the answers of the two groups are further apart than
z_(1-a/2) standard errors, which are estimated from the same people (Wald's test at the two-sided level a).

The people are as they are but for one group, whose answer has moved by d. Its variance is then another one: of a share p, p (1 - p) nearly doubles
from 1 to 1.7 %. Its people p move in the direction p (w - w'p), in which their relative entropy grows least: all types that count, and all that
do not, by a common factor each. So V(d) = V + V' d - d^2, with V' = Cov_p(v + w^2, w)/Var_p(w) - 2 w'p and v the variance of a report of each type.

With S/N the variance of the difference after the move, the estimated one is larger where the difference is: by C/N^2 for a covariance of C = V_1 V_1'/s_1^2
+ V_2 V_2'/s_2^2, s the shares of all people. The chance to find d is b where d - z_b sigma = z sqrt(sigma^2 - z_b sigma^3 C/S^2), sigma^2 = S/N; to the first
order ``d = (z + z_b) sigma - z z_b sigma^2 C/(2 S^2)``, solved for sigma. N is the largest over both groups, up and down, where there is room to move.
Source: the usual size of samples (Cohen 1988), with V of this project; the move and the covariance were derived here, and hold in simulations
(`tests/studies/test_detection.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from scipy.special import ndtri

from ldp_core import frames
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.noise.additive import AdditiveMechanism
from ldp_core.people import Counts, dense, users_of
from ldp_core.studies import sampling
from ldp_core.workloads import Workload, in_chunks

POWER, LEVEL = 0.8, 0.05
"""The chance to find a difference that is there, and to find one that is not, where no one says."""
_ROUNDS = 50
"""Of the search for a difference, which halves its error at least."""


@dataclass(frozen=True)
class Contrasts:
    """Of q answers compared, the ``shares`` (q, 2) of all people that are in the two groups, the ``variances`` (q, 2) per report of the
    answer of each group, a share of it, their ``slopes`` (q, 2) where the answer moves up, and the ``rooms`` (q, 2, 2) to move down and up: none
    where variances are those after the move."""

    shares: np.ndarray
    variances: np.ndarray
    slopes: np.ndarray = field(default_factory=lambda: np.zeros((1, 2)))
    rooms: np.ndarray = field(default_factory=lambda: np.zeros((1, 2, 2)))

    def only(self, told: np.ndarray) -> Contrasts:
        """Those where ``told`` (q,) is true."""
        return Contrasts(*(getattr(self, one.name)[told] for one in fields(self)))

    @property
    def spread(self) -> np.ndarray:
        """(q,) the variance of the difference between people as they are, times the number of all people."""
        return np.sum(self.variances / self.shares, axis=1)

    def _worst(self, difference: float | np.ndarray, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """(q,) the most ``of`` the `spread` (4, q) after a move by ``difference`` (q,) and the skewness C/S^2 (4, q), over the moves of either group, down
        and up, for which there is room; over all where there is none."""
        ways, rooms = np.array([[[-1, 0]], [[1, 0]], [[0, -1]], [[0, 1]]]), self.rooms.reshape(-1, 4).T
        far = ways * np.minimum(difference, rooms)[..., None]
        variances, slopes = self.variances + far * (self.slopes - far), self.slopes - 2 * far
        spread = np.sum(variances / self.shares, axis=2)
        skewness = ways.sum(axis=2) * np.sum(variances * slopes / self.shares**2, axis=2) / spread**2
        possible = difference <= rooms * (1 + 1e-9)
        return np.where(possible | ~possible.any(axis=0), of(spread, skewness), -np.inf).max(axis=0)

    def users(self, difference: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) how many people there must be, other groups included, to find a move of either group by a ``difference`` of shares with a chance of
        ``power``."""
        if not 0 < difference <= 1:
            raise ValueError(
                f"A difference to detect must be above 0 and at most 100 percentage points; got {difference:.6g}."
            )
        apart, bent = reach(power, level), 2 * reach(0.5, level) * float(ndtri(power)) * difference
        root = lambda skewness: np.sqrt(np.maximum(apart**2 - bent * skewness, 0.0))  # noqa: E731
        return self._worst(difference, lambda S, skewness: S * ((apart + root(skewness)) / (2 * difference)) ** 2)

    def difference(self, users: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) the difference of shares that so many ``users`` in all find with a chance of ``power``, whichever group moves."""
        apart, bent = reach(power, level), reach(0.5, level) * float(ndtri(power)) / 2
        found = apart * np.sqrt(self.spread / users)
        for _ in range(_ROUNDS):
            found = self._worst(found, lambda S, skewness: apart * np.sqrt(S / users) - bent * skewness * S / users)
        return found


def reach(power: float, level: float) -> float:
    """``z_(1-level/2) + z_power``: how many standard errors a difference must have. ValueError for chances out of range.

    >>> round(ldp.studies.detection.reach(0.8, 0.05), 4)
    2.8016
    """
    if not (0.5 <= power < 1 and 0 < level <= 0.5):
        raise ValueError(
            f"The power is a chance from 50 % to less than 100 %, the level one above 0 and up to 50 %; got {100 * power:.6g} % and "
            f"{100 * level:.6g} %."
        )
    return float(ndtri(1 - level / 2) + ndtri(power))


def _of_people(
    mechanism: Mechanism,
    workload: Workload,
    counts: Counts,
    queries: np.ndarray,
    inside: np.ndarray | slice = slice(None),
) -> np.ndarray:
    """(q, 4) variance, slope and rooms of `Contrasts` for people spread as ``counts`` are, all of whom are of the types ``inside`` (n,)."""
    found = np.zeros((len(queries), 4))
    found[:, 0] = frames.variances_of(mechanism, workload, counts, queries) / users_of(counts)
    for places, base, local, people, attributes in sampling.by_table(workload, counts, queries):
        made = mechanism.survey.on(attributes) if mechanism.survey is not None and attributes else mechanism
        p = np.zeros(len(people))
        p[inside] = people[inside] / people.sum() + 1e-10  # a few of all: who moves is not open where there is nobody
        for some in in_chunks(np.arange(len(local)), base.n):
            rows, weights = base.rows(local[some]), base.query_weights(local[some])[:, None]
            noise = 0 * rows  # the same for all types
            if not isinstance(mechanism.drawn, AdditiveMechanism):
                noise = made.query_contributions(base, local[some]).variances / weights**2
            rows = rows / weights
            means, low, high = rows @ p / p.sum(), rows[:, inside].min(axis=1), rows[:, inside].max(axis=1)
            off = rows - means[:, None]
            drawn = off**2 @ p
            slopes = ((noise + rows**2) * off) @ p / np.maximum(drawn, 1e-300) - 2 * means
            found[places[some]] += np.stack([drawn, slopes, means - low, high - means], axis=1)
    return found


def of_collections(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> Contrasts:
    """Two collections of as many people each, spread as ``counts`` are, such as this month's and the next: both are all the people."""
    own = _of_people(mechanism, workload, counts, queries)
    other = own[:, [0, 1, 3, 2]] * [1, -1, 1, 1]  # taken away
    found = np.stack([own, other], axis=1)
    return Contrasts(np.ones((len(queries), 2)), found[..., 0], found[..., 1], found[..., 2:])


def of_groups(
    mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray, groups: Sequence[np.ndarray]
) -> Contrasts:
    """The people of two known ``groups``, (n,) whether each type is in them, in the `strata` that a query is about.

    ValueError where one of them has no people.
    """
    assert workload.strata is not None
    people, types = dense(counts).astype(float), workload.strata.types
    about = np.abs(workload.rows(queries))[:, types].any(axis=2)  # (q, K)
    shares, found = np.empty((len(queries), 2)), np.empty((len(queries), 2, 4))
    for strata in np.unique(about, axis=0):
        here = np.flatnonzero((about == strata).all(axis=1))
        inside = np.zeros(workload.n, dtype=bool)
        inside[types[strata].ravel()] = True
        for k, group in enumerate(groups):
            own = np.where(group & inside, people, 0.0)
            if not own.any():
                raise ValueError("One of the groups compared has no people, so no difference from it can be found.")
            shares[here, k] = own.sum() / people.sum()
            found[here, k] = _of_people(mechanism, workload, own, queries[here], group & inside)
    return Contrasts(shares, found[..., 0], found[..., 1], found[..., 2:])


def joined(parts: Sequence[Contrasts]) -> Contrasts:
    """All of these, one after the other."""
    return Contrasts(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Contrasts)))
