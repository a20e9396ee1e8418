"""Differences between two groups of people, or two collections: how many people find one, and which
one so many people find.

Per report, the answer of a group has the variance
``V = sum_x p_x E[(answer of the report)^2 | x] - (w'p)^2``: that of the mechanism and the chance of
who was drawn, p the shares of the group. A difference is found where the answers of the two groups
are further apart than z_(1-a/2) standard errors, which are estimated from the same people (Wald's
test at the two-sided level a).

The people are as they are but for one group, whose answer has moved by d. Its variance is then
another one: of a share p, p (1 - p) nearly doubles from 1 to 1.7 %. Its people p move in the
direction p (w - w'p), in which their relative entropy grows least: all types that count, and all
that do not, by a common factor each. So V(d) = V + V' d - d^2, with
V' = Cov_p(v + w^2, w)/Var_p(w) - 2 w'p and v the variance of a report of each type.

With S/N the variance of the difference after the move, the estimated one is larger where the
difference is: by C/N^2 for a covariance of C = V_1 V_1'/s_1^2 + V_2 V_2'/s_2^2, s the shares of all
people. The chance to find d is b where d - z_b sigma = z sqrt(sigma^2 - z_b sigma^3 C/S^2),
sigma^2 = S/N; to the first order ``d = (z + z_b) sigma - z z_b sigma^2 C/(2 S^2)``, solved for
sigma. N is the largest over both groups, up and down, where there is room to move.
Source: the usual size of samples (Cohen 1988), with V of this project; the move and the covariance
were derived here, and hold in simulations (`tests/test_detection.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from ldp_core.errors import of_queries, variances_of
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, dense, users_of
from ldp_core.workloads import Detect, Line, units
from ldp_core.workloads.units import LEVEL as LEVEL
from ldp_core.workloads.units import OF_GROUP
from ldp_core.workloads.units import POWER as POWER

_ROUNDS, _PEOPLE = 50, 1e6
"""Of the search for a difference, which halves its error at least; and people that slopes are taken
of, which does not matter."""


@dataclass(frozen=True)
class Contrasts:
    """Of q answers compared, the ``shares`` (q, 2) of all people that are in the two groups, the
    ``variances`` (q, 2) per report of the answer of each group, a share of it, their ``slopes``
    (q, 2) where the answer moves up, and the ``rooms`` (q, 2, 2) to move down and up: none where
    variances are those after the move."""

    shares: np.ndarray
    variances: np.ndarray
    slopes: np.ndarray = field(default_factory=lambda: np.zeros((1, 2)))
    rooms: np.ndarray = field(default_factory=lambda: np.zeros((1, 2, 2)))

    @property
    def spread(self) -> np.ndarray:
        """(q,) the variance of the difference between people as they are, times the number of all
        people."""
        return np.sum(self.variances / self.shares, axis=1)

    def _moved(self, group: int, up: int, difference: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the answer of a ``group`` moves by ``difference`` (q,), down or up (0 or 1):
        `spread`, the skewness C/S^2, and whether it can."""
        way, room = 2 * up - 1, self.rooms[:, group, up]
        far = way * np.minimum(difference, room)
        variances, slopes = self.variances.copy(), self.slopes + np.zeros_like(self.variances)
        variances[:, group] += far * (slopes[:, group] - far)
        slopes[:, group] -= 2 * far
        spread = np.sum(variances / self.shares, axis=1)
        skewness = way * np.sum(variances * slopes / self.shares**2, axis=1)
        skewness = np.divide(
            skewness, spread**2, out=np.zeros_like(spread), where=spread != 0
        )  # of what is known, none
        return spread, skewness, difference <= room * (1 + 1e-9)

    def _worst(self, difference: np.ndarray, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """(q,) the most ``of`` a spread and a skewness, over the moves that are possible; over all
        where none is."""
        moves = [self._moved(group, up, difference) for group, up in product((0, 1), repeat=2)]
        each, possible = np.array([of(*move[:2]) for move in moves]), np.array([move[2] for move in moves])
        return np.where(possible | ~possible.any(axis=0), each, -np.inf).max(axis=0)

    def users(self, difference: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) how many people there must be, other groups included, to find a move of either group
        by a ``difference`` with a chance of ``power``."""
        apart, bent = reach(power, level), reach(0.5, level) * float(ndtri(power))

        def needed(spread: np.ndarray, skewness: np.ndarray) -> np.ndarray:
            root = np.sqrt(np.maximum(apart**2 - 2 * bent * skewness * difference, 0.0))
            return spread * ((apart + root) / (2 * difference)) ** 2

        return self._worst(np.full(len(self.shares), difference), needed)

    def difference(self, users: float, power: float = POWER, level: float = LEVEL) -> np.ndarray:
        """(q,) the difference that so many ``users`` in all find with a chance of ``power``,
        whichever group moves."""
        apart, bent = reach(power, level), reach(0.5, level) * float(ndtri(power))
        found = apart * np.sqrt(self.spread / users)
        for _ in range(_ROUNDS):
            found = self._worst(
                found, lambda S, skewness: apart * np.sqrt(S / users) - bent * skewness * S / (2 * users)
            )
        return found

    def power(self, difference: float, users: float, level: float = LEVEL) -> np.ndarray:
        """(q,) the chance that so many ``users`` find a move by ``difference``, on whichever side,
        of the group where it is least."""
        z = reach(0.5, level)

        def missed(spread: np.ndarray, skewness: np.ndarray) -> np.ndarray:
            error, bent = np.sqrt(spread / users), z**2 * skewness * spread / (2 * users)
            limit = bent + np.sqrt(np.maximum(bent**2 + z**2 * error**2 - 2 * bent * difference, 0.0))
            return 1 - ndtr((difference - limit) / error) - ndtr((-difference - limit) / error)

        return 1 - self._worst(np.full(len(self.shares), difference), missed)


def reach(power: float, level: float) -> float:
    """``z_(1-level/2) + z_power``: how many standard errors a difference must have. ValueError for
    chances out of range.

    >>> round(ldp.detection.reach(0.8, 0.05), 4)
    2.8016
    """
    if not (0.5 <= power < 1 and 0 < level <= 0.5):
        raise ValueError(
            f"The power is a chance from 50 % to less than 100 %, the level one above 0 and up to 50 %; got {100 * power:.6g} % and "
            f"{100 * level:.6g} %."
        )
    return units.reach(Detect(1.0, power, level))


def contrasts_of(mechanism: Mechanism, line: Line, counts: Counts | None, noise: np.ndarray | None = None) -> Contrasts:
    """The differences that a question asks for, between people spread as ``counts`` are, as ratios
    a/b (their unit divided by its factor).

    ``noise`` (q,) is the variance of the answers a person in another case than that of these
    people; who takes part is then as the design takes answers and sizes of groups to be, or for
    numbers of people as ``counts`` are (None: whatever is worst)."""
    queries = np.arange(line.workload.num_queries)
    if noise is None:
        assert counts is not None
        if line.by_group and line.cells is None and line.workload.survey is None:
            return _known(mechanism, line, counts, queries)
        noise = variances_of(mechanism, line.workload, counts, queries) / users_of(counts)
    if not line.by_group:  # numbers of people, and slopes
        whole = noise + _chance(line, counts, queries)
        half = np.repeat(whole[:, None] / 2, 2, axis=1)
        return Contrasts(np.ones_like(half), half)
    sides = [_side(line, k, queries, noise / 2) for k in (0, 1)]  # reports are about both groups
    return Contrasts(*(np.stack(parts, axis=1) for parts in zip(*sides, strict=True)))


def of_collections(mechanism: Mechanism, line: Line, counts: Counts, queries: np.ndarray) -> Contrasts:
    """Answers to ``queries`` (q,) of a question in two collections of as many people each, spread
    as ``counts`` are."""
    noise = variances_of(mechanism, line.workload, counts, queries) / users_of(counts)
    if line.by_group:
        sides = [_side(line, 0, queries, noise, sign) for sign in (1, -1)]
        return Contrasts(*(np.stack(parts, axis=1) for parts in zip(*sides, strict=True)))
    variances = np.repeat((noise + _chance(line, counts, queries))[:, None], 2, axis=1)
    if line.rates is not None or line.workload.survey is not None:
        return Contrasts(np.ones_like(variances), variances)
    people, everybody = dense(counts).astype(float), np.ones(line.workload.n, dtype=bool)
    moving = np.array([_moving(mechanism, line, people, q, everybody, 1.0) for q in queries.tolist()]).reshape(-1, 3)
    slopes, rooms = moving[:, 0], moving[:, 1:]  # the second is taken away
    return Contrasts(
        np.ones_like(variances), variances, np.stack([slopes, -slopes], 1), np.stack([rooms, rooms[:, ::-1]], 1)
    )


def _chance(line: Line, counts: Counts | None, queries: np.ndarray) -> np.ndarray:
    """(q,) the variance of answers by the chance of who takes part, a person, divided by the square
    of their factor."""
    if line.rates is not None:
        return line.drawn[0, queries] / line.unit.factor**2
    return of_queries(line.workload, counts, queries) / (1 if counts is None else users_of(counts))


def _side(
    line: Line, k: int, queries: np.ndarray, noise: np.ndarray, sign: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Shares, variances, slopes and rooms of the answers of side ``k``, as the planning data have
    them. Averages keep their spread."""
    assert line.rates is not None
    sign, ratio = sign or 1 - 2 * k, np.nan_to_num(line.rates.ratios[k, queries])
    size = np.maximum(line.rates.sizes[k, queries], 1e-300)
    variances = size * (noise + line.drawn[k, queries] / line.unit.factor**2)
    if line.unit.name != OF_GROUP:
        return size, variances, 0 * ratio, np.zeros((len(queries), 2))
    rooms = np.stack([ratio, 1 - ratio], axis=1)
    return size, variances, sign * (1 - 2 * ratio), rooms if sign > 0 else rooms[:, ::-1]


def _known(mechanism: Mechanism, line: Line, counts: Counts, queries: np.ndarray) -> Contrasts:
    """Two groups that the collector knows, whose reports are independent."""
    assert line.group_question is not None
    assert line.rates is not None
    people, many = dense(counts).astype(float), line.group_question.cells.shape[1]
    of_type = line.group_question.group_of_types
    shares, variances = np.empty((2, len(queries), 2))
    moving = np.zeros((len(queries), 2, 3))
    for k, cells in enumerate(line.group_question.cells):
        for g, cell in enumerate(cells):
            here, inside = queries[queries % many == g], of_type == cell
            members, size = np.where(inside, people, 0.0), line.rates.sizes[k, g]
            shares[here, k] = max(size, 1e-300)
            if not members.any() or not size:
                variances[here, k] = np.nan
                continue
            whole = variances_of(mechanism, line.workload, members, here) + of_queries(line.workload, members, here)
            variances[here, k] = size**2 * whole / members.sum()
            moving[here, k] = [_moving(mechanism, line, members, query, inside, size) for query in here.tolist()]
    slopes, rooms = moving[..., 0], moving[..., 1:]
    return Contrasts(shares, variances, slopes, rooms)


def _moving(
    mechanism: Mechanism, line: Line, people: np.ndarray, query: int, inside: np.ndarray, size: float
) -> tuple[float, float, float]:
    """Slope and rooms of `Contrasts` of the answer of one group of a ``size`` in the difference,
    for people (n,) in it."""
    one = np.array([query])
    row = size * line.workload.rows(one)[0] / line.workload.query_weights(one)[0]

    def noise(counts: np.ndarray) -> float:
        return size**2 * float(variances_of(mechanism, line.workload, counts, one)[0])

    # A few of everybody: where nobody is counted, it is not open who moves.
    people = people / people.sum() * _PEOPLE + inside * 1e-3
    (low, high), users = (row[inside].min(), row[inside].max()), people.sum()
    if high - low <= 1e-9 * max(abs(low), abs(high)):  # the same of everybody, but for rounding: nothing can move
        return 0.0, 0.0, 0.0
    mean = people @ row / users
    tied = noise(people * (row - low)) - (mean - low) * noise(people) + people @ (row**2 * (row - mean))
    slope = tied / max(people @ (row - mean) ** 2, 1e-300) - 2 * mean
    return slope, mean - low, high - mean


def break_even(share: float, silent: float, epsilon: float) -> float:
    """The number of people from which on a private answer is better than an open one, for one yes
    or no.

    An open answer has the squared error ``(w pi)^2 + q (1 - q)/N`` with ``q = pi (1 - w)``, a
    private one ``(pi (1 - pi) + e^eps/(e^eps - 1)^2)/N``. Studies disagree on w: a meta-analysis
    found more openness in private, a validation of single answers false yeses as well.

    Parameters
    ----------
    share, silent : float
        The share pi of people whom a yes concerns, and the share w of these who say no if asked
        openly, above 0 and up to 1.
    epsilon : float
        Of the private answer.

    Returns
    -------
    float
        In people.

    References
    ----------
    Lensvelt-Mulders, Hox, van der Heijden and Maas 2005, Sociological Methods & Research 33;
    Höglinger and Jann 2018, PLOS ONE 13.

    >>> round(ldp.detection.break_even(0.1, 0.5, 1.0))
    385
    """
    said = share * (1 - silent)
    private = share * (1 - share) + np.exp(-epsilon) / np.expm1(-epsilon) ** 2
    return float((private - said * (1 - said)) / (silent * share) ** 2)
