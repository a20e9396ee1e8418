"""Queries chosen one by one, each after seeing the answers to the earlier ones (Bassily 2019, Algorithm 6).

Users are split at random into groups; those of group k answer the k-th query q, |q|_inf <= r, once, with +c r or -c r,
c = (e^epsilon + 1)/(e^epsilon - 1), where P(+) = (1 + q_v/(c r))/2 for type v: the mean of an answer is q_v.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from ldp_core.arguments import check_positive, check_whole
from ldp_core.limits import MOST_MATRIX_TYPES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import check_counts
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.privacy import STEP, check_epsilon, exp_epsilon, probability_within
from ldp_core.workloads import Workload


@dataclass(frozen=True)
class Answer:
    """Estimated mean of a query over all users, in the query's own unit (a share for queries of 0 and 1).

    ``standard_error`` is estimated from the ``users`` who answered: infinite for fewer than two of them. The truth lies between
    ``low`` and ``high`` in at least 95 % of sessions (Clopper and Pearson 1934 on the number of pluses, cut at the bound).
    """

    value: float
    standard_error: float
    users: int
    low: float
    high: float


LEVEL = 0.95


Source = Callable[[np.ndarray, int], tuple[int, int]]
"""Asks the users of one group: (query (n,), group from 0) -> (how many sent +, how many sent either)."""


def chance_of_plus(query: np.ndarray, epsilon: float, bound: float) -> np.ndarray:
    """P(+) for each entry of ``query``, at most ``bound`` in size: multiples of `STEP` from 1/(E + 1) to 1 less that, E = e^epsilon."""
    E = exp_epsilon(epsilon)
    most = probability_within(E / (E + 1), lambda p: p / (1 - p), E)
    wanted = 1 / (E + 1) + (1 + np.asarray(query, dtype=float) / bound) / 2 * (E - 1) / (E + 1)
    return np.clip(np.rint(wanted / STEP) * STEP, 1 - most, most)


def check_query(query: np.ndarray, n: int, bound: float, centre: float = 0.0) -> np.ndarray:
    """``query`` as n floats within ``bound`` of ``centre``, or a ValueError."""
    query = np.asarray(query, dtype=float)
    if query.shape != (n,) or not np.all(np.isfinite(query)):
        raise ValueError(
            f"A query needs a finite number for each of the {n} types; got an array of shape {query.shape}."
        )
    if np.abs(query - centre).max() > bound:
        raise ValueError(
            f"The entries of a query must lie between {centre - bound:g} and {centre + bound:g}; they reach from "
            f"{query.min():g} to {query.max():g}. Scale the query, or begin with a larger bound."
        )
    return query


class SimulatedUsers:
    """Simulation only: users ``counts`` (n,) split at random into ``groups``, each user choosing a group evenly, answering when asked.

    The members of a group are drawn when it is asked: binomial shares of those still waiting, which is exactly the same split.
    """

    def __init__(self, counts: np.ndarray, epsilon: float, groups: int, rng: np.random.Generator, bound: float = 1.0):
        self._waiting = check_counts(counts, np.size(counts))
        self._epsilon, self._groups, self._rng, self._bound = check_epsilon(epsilon), groups, rng, bound

    def __call__(self, query: np.ndarray, group: int) -> tuple[int, int]:
        """How many of the group sent plus, and how many sent either. Simulation only."""
        members = self._rng.binomial(self._waiting, 1 / (self._groups - group))
        self._waiting = self._waiting - members
        plus = self._rng.binomial(members, chance_of_plus(query, self._epsilon, self._bound))
        return int(plus.sum()), int(members.sum())


class AdaptiveSession:
    """At most ``groups`` queries on ``n`` types, asked one after the other; epsilon-LDP, as every user answers only once.

    ``source`` asks the users: `SimulatedUsers`, or a function that collects the reports of real people; it is given the query
    less ``centre``. ``bound`` is r, how far an entry of a query may be from ``centre``; both are public and fixed before the
    first query. Queries of 0 and 1 have both at 1/2: centred at 0 they would use half of their range, at four times the variance.
    """

    def __init__(self, n: int, epsilon: float, groups: int, source: Source, bound: float = 1.0, centre: float = 0.0):
        self.n, self.groups = check_whole("number of types", n, 2), check_whole("number of groups", groups, 1)
        self.bound, self.centre = check_positive("bound of the queries", bound), float(centre)
        if not math.isfinite(centre):
            raise ValueError(f"The centre of the queries must be a number; got {centre}.")
        self.epsilon = check_epsilon(epsilon)
        self._source = source
        self._history: list[tuple[np.ndarray, Answer]] = []

    @property
    def history(self) -> tuple[tuple[np.ndarray, Answer], ...]:
        """Queries asked so far and their answers."""
        return tuple(self._history)

    @property
    def remaining(self) -> int:
        """Groups that have not answered yet."""
        return self.groups - len(self._history)

    @property
    def size(self) -> float:
        """c r, what a user's plus stands for, and their minus for the negative of."""
        E = exp_epsilon(self.epsilon)
        return self.bound * (E + 1) / (E - 1)

    def ask(self, query: np.ndarray) -> Answer:
        """Unbiased mean of ``query`` (n,) over all users, from the next group. An empty group answers ``centre`` +- infinity.

        ValueError for a query out of bounds, or when every group has answered.
        """
        query = check_query(query, self.n, self.bound, self.centre)
        if not self.remaining:
            raise ValueError(f"All {self.groups} groups have answered; a new session needs new users.")
        plus, users = self._source(query - self.centre, len(self._history))
        self._history.append((query, self._answer(plus, users)))
        return self._history[-1][1]

    def _answer(self, plus: int, users: int) -> Answer:
        least, most = self.centre - self.bound, self.centre + self.bound
        if not users:
            return Answer(self.centre, math.inf, 0, least, most)
        size = self.size
        value = size * (2 * plus - users) / users
        # Every answer is +-size, so the sample variance follows from the mean.
        variance = (size**2 - value**2) / (users - 1) if users > 1 else math.inf
        tail = (1 - LEVEL) / 2
        low = betaincinv(plus, users - plus + 1, tail) if plus else 0.0
        high = betaincinv(plus + 1, users - plus, 1 - tail) if plus < users else 1.0
        low, high = (min(max(self.centre + size * (2 * share - 1), least), most) for share in (low, high))
        return Answer(self.centre + value, math.sqrt(max(0.0, variance)), users, float(low), float(high))


def build(workload: Workload, epsilon: float) -> ExplicitMechanism:
    """The version with the workload's own queries: each user answers one, drawn at random, as in a session.

    There are two outputs per query. Queries that give all types the same number get no users: the total is known. Queries are centred at the middle of the range of the entries
    of W, and r is half that range. (With r the largest entry, as printed, queries of 0 and 1 would
    have four times the variance.) Answers by the optimal reconstruction, which uses all queries for
    each. ValueError where the 2p x n strategy is too large to write out.
    """
    epsilon = check_epsilon(epsilon)
    p, n = workload.num_queries, workload.n
    if reason := domain_rule(n, epsilon, workload):
        raise ValueError(reason)
    W = workload.matrix
    centre, bound = float(W.max() + W.min()) / 2, float(W.max() - W.min()) / 2 or 1.0
    varied = W[(W[:, :1] != W).any(axis=1)]
    W = varied if len(varied) else W[:1]
    p = len(W)
    plus, minus = (chance_of_plus(sign * (W - centre), epsilon, bound) / p for sign in (1, -1))
    Q = np.stack([plus, minus], axis=1).reshape(2 * p, n)
    explanation = (
        f"Each person is given one of {p:,} queries at random and answers it with a plus or a minus: the larger their "
        "own answer, the more often with a plus."
    )
    return ExplicitMechanism("adaptive", Q, epsilon, {"workload": workload.spec}, explanation)


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why the queries of ``workload`` cannot be asked one by one, None when they can (or are not known yet)."""
    if n > MOST_MATRIX_TYPES:
        return (
            f"Asking queries one by one works with an n x n matrix, formed for at most {MOST_MATRIX_TYPES:,} types; there are {n:,}. "
            "Use coarser bins, fewer attributes, or an adaptive session."
        )
    if workload is None or 2 * workload.num_queries * n <= MOST_STRATEGY_ENTRIES:
        return None
    return (
        f"Asking the {workload.num_queries:,} queries of this workload one by one needs a strategy matrix of "
        f"{2 * workload.num_queries:,} x {n:,} entries, too large here. Use coarser bins, a smaller workload, or an adaptive "
        "session."
    )
