"""Asking one thing after the other, each knowing the answers to those before (Bassily 2019, Algorithm 6), on simulated people.

Every person belongs to one round, drawn at random, and answers in that round only: once, with
epsilon. A later question may depend on earlier answers, but no one can be asked again, so undo is
impossible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import bounds
from ldp_core.limits import MOST_SESSION_ROUNDS, MOST_TRANSFORMED_TYPES
from ldp_core.mechanisms.noise.adaptive import AdaptiveSession, Answer, SimulatedUsers
from ldp_core.workloads import averageable, expressions
from ldp_core.workloads.axes import Axis, axes_of


@dataclass(frozen=True, eq=False)
class Question:
    """One question: ``query`` (n,) has entries from 0 to 1, and its mean over all people is the
    answer.

    ``low`` and ``high`` are what means of 0 and 1 stand for: shares from 0 to 1, or an attribute's least and greatest value.
    """

    text: str
    query: np.ndarray
    low: float = 0.0
    high: float = 1.0

    @property
    def is_share(self) -> bool:
        """True if the answer is a share of all people."""
        return (self.low, self.high) == (0.0, 1.0)

    def in_units(self, mean: float) -> float:
        """A mean of the query in the unit of the answer."""
        return self.low + mean * (self.high - self.low)


def condition(attributes: Any, text: str) -> Question:
    """The share of people for whom a condition holds. ValueError with where and what is wrong (see `expressions`)."""
    axes = axes_of(attributes)
    parsed = expressions.parse(text, axes)
    return Question(text.strip(), expressions.row(parsed, [axis.size for axis in axes]))


def average(attributes: Any, axis: int) -> Question:
    """The mean of a numeric attribute, each person at the middle of their bin."""
    axes = axes_of(attributes)
    chosen = axes[axis]
    if not averageable(chosen):
        raise ValueError(f"{chosen.name} has no mean: it is not made of bins of numbers that hold everyone.")
    edges = np.asarray(chosen.edges, dtype=float)
    middles = (edges[1:] + edges[:-1]) / 2
    low, high = float(middles[0]), float(middles[-1])
    if low == high:
        raise ValueError(f"{chosen.name} has one bin only, so its mean is known without asking.")
    return Question(f"average {chosen.name}", _spread(axes, {axis: (middles - low) / (high - low)}), low, high)


def weighted(text: str, n: int) -> Question:
    """A query of one's own: a number from 0 to 1 for each of the n types, separated by commas or spaces."""
    words = text.replace(",", " ").split()
    try:
        query = np.array([float(word) for word in words])
    except ValueError:
        raise ValueError("Weights are numbers from 0 to 1 such as 0, 0.5, 1, separated by commas.") from None
    if query.size != n:
        raise ValueError(f"A query of one's own needs a number for each of the {n:,} types; there are {query.size:,}.")
    if not np.all((query >= 0) & (query <= 1)):
        raise ValueError("Weights lie between 0 and 1, because that range was fixed before the first question.")
    shown = ", ".join(f"{value:g}" for value in query[:4])
    return Question(f"weights {shown}{', ...' if n > 4 else ''}", query)


def _spread(axes: Sequence[Axis], factors: dict[int, np.ndarray]) -> np.ndarray:
    """(n,) the product over attributes of their factors, 1 for attributes without one."""
    table = np.ones((1,))
    for i, axis in enumerate(axes):
        table = np.multiply.outer(table, np.asarray(factors.get(i, np.ones(axis.size)), dtype=float))
    return table.ravel()


@dataclass(frozen=True, eq=False)
class AnsweredQuestion:
    """A question with its answer, both in the question's unit; ``truth`` over all people. The interval holds it in at least
    95 % of sessions."""

    question: Question
    answer: Answer
    truth: float

    @property
    def value(self) -> float:
        return self.question.in_units(self.answer.value)

    @property
    def interval(self) -> tuple[float, float]:
        return self.question.in_units(self.answer.low), self.question.in_units(self.answer.high)


class Asking:
    """A session of at most ``rounds`` questions to simulated people ``counts`` (n,), epsilon-LDP for each of them.

    Queries lie between 0 and 1 and are centred at 1/2 before people answer: a quarter of the variance of asking them as they
    are. ValueError for rounds out of range.
    """

    def __init__(self, counts: np.ndarray, epsilon: float, rounds: int, seed: int = 0):
        counts = np.asarray(counts)
        if not 1 <= rounds <= MOST_SESSION_ROUNDS:
            raise ValueError(f"A session has 1 to {MOST_SESSION_ROUNDS} rounds; got {rounds}.")
        if counts.size > MOST_TRANSFORMED_TYPES:
            raise ValueError(f"A session is about at most {MOST_TRANSFORMED_TYPES:,} types; there are {counts.size:,}.")
        people = SimulatedUsers(counts, epsilon, rounds, np.random.default_rng(seed), bound=0.5)
        self._counts, self.epsilon, self.rounds, self.seed = counts, epsilon, rounds, seed
        self._session = AdaptiveSession(counts.size, epsilon, rounds, people, bound=0.5, centre=0.5)
        self.answered: tuple[AnsweredQuestion, ...] = ()

    @property
    def users(self) -> int:
        return int(self._counts.sum())

    @property
    def remaining(self) -> int:
        """Rounds left."""
        return self._session.remaining

    def ask(self, question: Question) -> AnsweredQuestion:
        """The answer of the people of the next round. ValueError where the question or the session is at its end."""
        answer = self._session.ask(question.query)
        truth = float(question.query @ self._counts / max(1, self.users))
        answered = AnsweredQuestion(question, answer, question.in_units(truth))
        self.answered = (*self.answered, answered)
        return answered

    @property
    def expected_error(self) -> float:
        """Standard error of a mean between 0 and 1 at most, from the people of one round."""
        return self._session.size / math.sqrt(max(self.users / self.rounds, 1))

    @property
    def held(self) -> int:
        """How many of the intervals so far hold the truth."""
        return sum(low <= question.truth <= high for question in self.answered for low, high in [question.interval])

    @property
    def largest_error(self) -> float:
        """The error of all answers so far, as means between 0 and 1, which Theorem 5.2 bounds on
        average over sessions; 0 before the first."""
        return max(
            (
                abs(question.value - question.truth) / (question.question.high - question.question.low)
                for question in self.answered
            ),
            default=0.0,
        )

    @property
    def error_bound(self) -> float:
        """The bound on the largest error of all rounds, on average over sessions (Bassily 2019,
        bound (20), r = 1/2)."""
        return bounds.few_users.adaptive(self.rounds, self.users, self.epsilon, radius=0.5, form="sharp")

    def transcript(self) -> pd.DataFrame:
        """The publishable record: a row per question with round, question, answer, low, high (95 %)
        and people who answered; no truths."""
        rows = [
            (k, question.question.text, question.value, *question.interval, question.answer.users)
            for k, question in enumerate(self.answered, start=1)
        ]
        return pd.DataFrame(rows, columns=["round", "question", "answer", "low", "high", "people"])
