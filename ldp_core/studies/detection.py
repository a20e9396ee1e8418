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
from functools import partial
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from ldp_core import frames
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, dense, people_of, users_of
from ldp_core.studies import sampling
from ldp_core.workloads import Workload

POWER, LEVEL = 0.8, 0.05
"""The chance to find a difference that is there, and to find one that is not, where no one says."""
_ROUNDS, _PEOPLE = 50, 1e6
"""Of the search for a difference, which halves its error at least; and people that slopes are taken of, which does not matter."""


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

    def _moved(self, group: int, up: int, difference: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the answer of a ``group`` moves by ``difference`` (q,), down or up (0 or 1): `spread`, the skewness C/S^2, and whether it can."""
        way, room = 2 * up - 1, self.rooms[:, group, up]
        far = way * np.minimum(difference, room)
        variances, slopes = self.variances.copy(), self.slopes + np.zeros_like(self.variances)
        variances[:, group] += far * (slopes[:, group] - far)
        slopes[:, group] -= 2 * far
        spread = np.sum(variances / self.shares, axis=1)
        skewness = way * np.sum(variances * slopes / self.shares**2, axis=1) / spread**2
        return spread, skewness, difference <= room * (1 + 1e-9)

    def _worst(self, difference: np.ndarray, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """(q,) the most ``of`` a spread and a skewness, over the moves that are possible; over all where none is."""
        moves = [self._moved(group, up, difference) for group, up in product((0, 1), repeat=2)]
        each, possible = np.array([of(*move[:2]) for move in moves]), np.array([move[2] for move in moves])
        return np.where(possible | ~possible.any(axis=0), each, -np.inf).max(axis=0)

    def users(self, difference: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) how many people there must be, other groups included, to find a move of either group by a ``difference`` of shares with a chance of
        ``power``."""
        if not 0 < difference <= 1:
            raise ValueError(
                f"A difference to detect must be above 0 and at most 100 percentage points; got {difference:.6g}."
            )
        apart, bent = reach(power, level), reach(0.5, level) * float(ndtri(power))

        def needed(spread: np.ndarray, skewness: np.ndarray) -> np.ndarray:
            root = np.sqrt(np.maximum(apart**2 - 2 * bent * skewness * difference, 0.0))
            return spread * ((apart + root) / (2 * difference)) ** 2

        return self._worst(np.full(len(self.shares), difference), needed)

    def difference(self, users: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) the difference of shares that so many ``users`` in all find with a chance of ``power``, whichever group moves."""
        apart, bent = reach(power, level), reach(0.5, level) * float(ndtri(power))
        found = apart * np.sqrt(self.spread / users)
        for _ in range(_ROUNDS):
            found = self._worst(
                found, lambda S, skewness: apart * np.sqrt(S / users) - bent * skewness * S / (2 * users)
            )
        return found

    def power(self, difference: float, users: float, level: float = LEVEL) -> np.ndarray:
        """(q,) the chance that so many ``users`` find a move by ``difference``, on whichever side, of the group where it is least."""
        z = reach(0.5, level)

        def missed(spread: np.ndarray, skewness: np.ndarray) -> np.ndarray:
            error, bent = np.sqrt(spread / users), z**2 * skewness * spread / (2 * users)
            limit = bent + np.sqrt(np.maximum(bent**2 + z**2 * error**2 - 2 * bent * difference, 0.0))
            return 1 - ndtr((difference - limit) / error) - ndtr((-difference - limit) / error)

        return 1 - self._worst(np.full(len(self.shares), difference), missed)


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


def per_report(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) the variance of a report's part in the answer to each query, without its weight, by people drawn as ``counts`` are spread."""
    whole = frames.variances_of(mechanism, workload, counts, queries) + sampling.of_queries(workload, counts, queries)
    return whole / users_of(counts)


def _moving(
    mechanism: Mechanism, workload: Workload, counts: Counts, query: int, inside: np.ndarray | None = None
) -> tuple[float, float, float]:
    """Slope and rooms of `Contrasts` for one ``query`` and people spread as ``counts`` are over the types ``inside`` (n,), all unless given."""
    one = np.array([query])
    if workload.survey is not None and mechanism.survey is not None:
        ((k, _, local),) = workload.survey.located(one)
        group = workload.survey.groups[k]
        row, people = group.base.rows(local)[0], people_of(counts, workload.survey.shape).table(group.attributes)
        noise = partial(mechanism.survey.on(group.attributes).linear_variances, row[None])
    else:
        row, people = (workload.rows(one) / workload.query_weights(one))[0], dense(counts)
        noise = partial(frames.variances_of, mechanism, workload, queries=one)
    inside = np.ones(len(row), dtype=bool) if inside is None else inside
    people = (
        people / people.sum() * _PEOPLE + inside * 1e-3
    )  # a few of everybody: where nobody is counted, it is not open who moves
    (low, high), users = (row[inside].min(), row[inside].max()), people.sum()
    mean = people @ row / users
    tied = (
        noise(counts=people * (row - low))[0]
        - (mean - low) * noise(counts=people)[0]
        + people @ (row**2 * (row - mean))
    )
    return tied / max(people @ (row - mean) ** 2, 1e-300) - 2 * mean, mean - low, high - mean


def of_collections(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> Contrasts:
    """Two collections of as many people each, spread as ``counts`` are, such as this month's and the next: both are all the people."""
    own = np.stack([per_report(mechanism, workload, counts, queries)] * 2, axis=1)
    moving = np.array([_moving(mechanism, workload, counts, query) for query in queries.tolist()]).reshape(-1, 3)
    slopes, rooms = moving[:, 0], moving[:, 1:]  # the second is taken away
    return Contrasts(np.ones_like(own), own, np.stack([slopes, -slopes], 1), np.stack([rooms, rooms[:, ::-1]], 1))


def of_groups(
    mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray, groups: Sequence[np.ndarray]
) -> Contrasts:
    """The people of two known ``groups``, (n,) whether each type is in them, in the `strata` that a query is about.

    ValueError where one of them has no people.
    """
    assert workload.strata is not None
    people, types = dense(counts).astype(float), workload.strata.types
    about = np.abs(workload.rows(queries))[:, types].any(axis=2)  # (q, K)
    shares, variances = np.empty((2, len(queries), 2))
    moving = np.empty((len(queries), 2, 3))
    for strata in np.unique(about, axis=0):
        here = np.flatnonzero((about == strata).all(axis=1))
        inside = np.zeros(workload.n, dtype=bool)
        inside[types[strata].ravel()] = True
        for k, group in enumerate(groups):
            own = np.where(group & inside, people, 0.0)
            if not own.any():
                raise ValueError("One of the groups compared has no people, so no difference from it can be found.")
            shares[here, k] = own.sum() / people.sum()
            variances[here, k] = per_report(mechanism, workload, own, queries[here])
            moving[here, k] = [_moving(mechanism, workload, own, queries[i], group & inside) for i in here]
    return Contrasts(shares, variances, moving[..., 0], moving[..., 1:])


def joined(parts: Sequence[Contrasts]) -> Contrasts:
    """All of these, one after the other."""
    return Contrasts(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Contrasts)))
