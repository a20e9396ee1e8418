"""The common part of mechanisms whose outputs are all the translations of a few two-valued rows by
a group.

Output (k, z) has the probability ``share_k v_k(u moved by z) / 1'v_k`` for a user of type u. The
base rows ``v_k`` are in {1, E}^N over the N places that the group moves; the types are some or all
of the places. A report is a set of places, moved, and e^epsilon times as likely for types that it
holds as for others. The probabilities of a type sum to one for any rows, since it meets every place
once.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ldp_core.mechanisms.base import (
    Audit,
    Contributions,
    Mechanism,
    Reports,
    check_counts,
    check_rows,
    check_values,
)
from ldp_core.mechanisms.files import ROWS, MechanismFile
from ldp_core.people import Counts
from ldp_core.privacy import exp_epsilon, in_steps, log_ratio, probability_within

# Users drawn at once, and outcomes of one multinomial draw.
USERS_AT_ONCE = 2**20
CELLS_AT_ONCE = 2**22


class Translated(Mechanism):
    """Base rows ``high`` (b, N) of booleans, none of them constant, and the probabilities ``shares`` (b,) of their orbits, for ``n`` types.

    Raises ValueError for anything else.
    """

    moved: ClassVar[str]
    """How reports move base rows, as `files` says it: "rotated" or "flipped"."""

    def __init__(
        self,
        name: str,
        high: np.ndarray,
        shares: np.ndarray,
        n: int,
        epsilon: float,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        self.high, self.shares = np.array(high, dtype=bool), np.array(shares, dtype=float)
        if not (self.high.any(axis=1) & ~self.high.all(axis=1)).all():
            raise ValueError("Every base row must have high and low types: others say nothing about the user.")
        if self.shares.shape != (len(self.high),) or not (self.shares > 0).all() or abs(self.shares.sum() - 1) > 1e-9:
            raise ValueError(f"The {len(self.high):,} base rows need one positive probability each, summing to 1.")
        self.shares = in_steps(self.shares)
        self.name = name
        super().__init__(n, epsilon, parameters or {}, explanation)
        self._places = self.high.shape[1]
        self._ratio = exp_epsilon(self.epsilon)
        self._sizes = self.high.sum(axis=1)
        self._masses = self._places + (self._ratio - 1) * self._sizes

    @abstractmethod
    def _added(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """For every base row (q, N): what its outputs add to ``rows`` (q, n) times the estimated counts."""

    @abstractmethod
    def _sent_by(self, counts: np.ndarray) -> Iterator[np.ndarray]:
        """For every base row (N,): how often its outputs are expected from users ``counts`` (n,)."""

    @abstractmethod
    def _mean_over_outputs(self, row: int, values: np.ndarray) -> np.ndarray:
        """(q, n) the sum of ``values`` (q, N) of the outputs of a base row, times the probability of each, by type."""

    def linear_variances(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(q,) exact variance of ``rows`` (q, n) times the estimated counts.

        Each output counts with its probability times the square of what it adds, less the squared
        mean; a few transforms for each row and base row.
        """
        counts = np.asarray(counts, dtype=float)
        variances: np.ndarray = -np.square(rows) @ counts
        for values, sent in zip(self._added(rows), self._sent_by(counts), strict=True):
            variances += np.square(values) @ sent
        return variances

    def contributions(self, rows: np.ndarray) -> Contributions:
        """The contribution of a report to ``rows`` (q, n) times the estimated counts; three
        transforms for each row and base row."""
        second, lows, highs = np.zeros(rows.shape), [], []
        for row, values in enumerate(self._added(rows)):
            second += self._mean_over_outputs(row, values**2)
            lows.append(values.min(axis=1))
            highs.append(values.max(axis=1))
        variances = np.maximum(second - np.square(rows), 0.0)
        return Contributions.between(rows, variances, np.min(lows, axis=0), np.max(highs, axis=0))

    def files(self) -> tuple[MechanismFile, ...]:
        """The base rows, a bit for every place, and how often each is sent."""
        count, moved = len(self.high), "rotated on a ring" if self.moved == "rotated" else self.moved
        about = f"the {count:,} rows that are {moved} and how often each is sent, plain JSON that any language reads"
        return (MechanismFile(ROWS, "strategy", {"rows": count}, about, self._document),)

    def _document(self) -> dict[str, Any]:
        rows = [
            {"cells": np.packbits(row).tobytes().hex(), "share": share}
            for row, share in zip(self.high, self.shares.tolist(), strict=True)
        ]
        about = {"epsilon": self.epsilon, "moved": self.moved, "types": self.n, "places": self._places}
        return {**about, "rows": rows}

    @abstractmethod
    def _place(self, u: int) -> np.ndarray:
        """(N,) the place of its base row that type ``u`` meets in each translation."""

    @abstractmethod
    def _translation(self, places: np.ndarray, values: np.ndarray | int) -> np.ndarray:
        """The translations that bring types ``values`` to ``places``."""

    def _identity(self) -> dict[str, Any]:
        return {}  # the rows say it all, however they were found

    def _content(self) -> bytes:
        return np.packbits(self.high).tobytes() + self.shares.tobytes()

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number base rows and translations."""
        return float(math.ceil(math.log2(self.high.size)))

    @cached_property
    def true_probability(self) -> np.ndarray:
        """(b,) probability that a translation of a base row holds the true type among its high
        entries."""
        wanted = self._ratio * self._sizes / self._masses
        return np.array([self._within(p, int(size)) for p, size in zip(wanted, self._sizes, strict=True)])

    def _within(self, wanted: float, size: int) -> float:
        others = self._places - size
        return probability_within(wanted, lambda p: p * others / ((1 - p) * size), self._ratio)

    def privatize(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, 2) base row and translation. Simulation only: a client needs a secure random source."""
        values = check_values(values, self.n)
        raw = np.empty((values.size, 2), dtype=np.int64)
        raw[:, 0] = rng.choice(len(self.shares), values.size, p=self.shares)
        inside = rng.random(values.size) < self.true_probability[raw[:, 0]]
        order = np.argsort(raw[:, 0], kind="stable")
        for k, users in zip(*_groups(raw[order, 0], order), strict=True):
            members, others = np.flatnonzero(self.high[k]), np.flatnonzero(~self.high[k])
            for chosen, places in ((users[inside[users]], members), (users[~inside[users]], others)):
                drawn = places[rng.integers(len(places), size=len(chosen))]
                raw[chosen, 1] = self._translation(drawn, values[chosen])
        return raw

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports (b, N): how often each base row was sent with each translation."""
        raw = check_rows(raw, 2, "a base row and a translation")
        rows, moves = check_values(raw[:, 0], len(self.high)), check_values(raw[:, 1], self._places)
        tally = np.bincount(rows * self._places + moves, minlength=self.high.size)
        return Reports(self.digest, len(raw), tally.reshape(self.high.shape))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of ``counts`` (n,) users: user by user if they are few, else one multinomial per
        type and base row. Simulation only."""
        counts = check_counts(counts, self.n)
        users = int(counts.sum())
        if users <= self.high.size * np.count_nonzero(counts):
            return self._simulated_users(counts, rng)
        tally = np.zeros(self.high.shape, dtype=np.int64)
        for u in np.flatnonzero(counts).tolist():
            rows, places = rng.multinomial(counts[u], self.shares), self._place(u)
            for part in self._parts(len(rows)):
                probabilities = np.where(self.high[part][:, places], self._ratio, 1.0) / self._masses[part, None]
                tally[part] += rng.multinomial(rows[part], probabilities)
        return Reports(self.digest, users, tally)

    def _parts(self, rows: int) -> Iterator[slice]:
        size = max(1, CELLS_AT_ONCE // self._places)
        return (slice(start, start + size) for start in range(0, rows, size))

    def _simulated_users(self, counts: np.ndarray, rng: np.random.Generator) -> Reports:
        """User by user. Simulation only."""
        values = np.repeat(np.arange(self.n), counts)
        tally = np.zeros(self.high.shape, dtype=np.int64)
        for start in range(0, len(values), USERS_AT_ONCE):
            tally += self.aggregate(self.privatize(values[start : start + USERS_AT_ONCE], rng)).arrays[0]
        return Reports(self.digest, len(values), tally)

    def audit(self) -> Audit:
        """From the two probabilities of each base row, as users draw and as tallies are drawn: translations have the same."""
        ratios = [
            max(
                Fraction(p) * (self._places - k) / ((1 - Fraction(p)) * k),
                Fraction(self._ratio / mass) / Fraction(1 / mass),
            )
            for p, k, mass in zip(
                self.true_probability.tolist(), self._sizes.tolist(), self._masses.tolist(), strict=True
            )
        ]
        worst = max(range(len(ratios)), key=ratios.__getitem__)
        method = f"exact: the two probabilities of each of {len(self.high):,} base rows, which its translations share"
        return Audit(log_ratio(ratios[worst], Fraction(1)), 0.0, method, self._told_apart(worst))

    @abstractmethod
    def _told_apart(self, row: int) -> tuple[int, int]:
        """Two types such that some translation of a base row holds only the first."""


def _groups(labels: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Different sorted ``labels`` and the ``members`` that each of them labels."""
    different, first = np.unique(labels, return_index=True)
    return different, np.split(members, first[1:])
