"""Each person reports in one of several parts, each with a mechanism of its own: levels of a tree,
groups, sets of columns, designs.

A raw report is the number of the part in the clear, a report of its mechanism, and a filler up to
one width. The part is drawn whatever the secret value is, or is known: the guarantee is that of the
part where it is weakest.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms.base import Audit, Mechanism, Reports, below, by_number, check_generator, check_rows


class InParts(Mechanism):
    """The reports of all ``parts``."""

    parts: Sequence[Any]
    """(K,) their mechanisms."""
    part_name: str
    """What people call one."""
    filler = -1
    """Ends short reports."""
    guarantee: str
    """How the guarantee is worked out, ``{}`` standing for that of the weakest part."""

    @cached_property
    def widths(self) -> list[int]:
        """(K,) numbers in a report of each part."""
        return [math.prod(made.nothing.shape[1:]) for made in self.parts]

    @cached_property
    def width(self) -> int:
        """Numbers in a report after that of its part."""
        return max(self.widths)

    @cached_property
    def _dtype(self) -> np.dtype:
        """The type of numbers that hold every report, with the number of its part and what fills it
        up."""
        least = np.min_scalar_type(self.filler), np.min_scalar_type(len(self.parts))
        return np.result_type(*least, *{made.nothing.dtype for made in self.parts})

    @property
    def outcomes(self) -> float:
        return sum(made.outcomes for made in self.parts)

    @abstractmethod
    def _assigned(
        self, people: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, Callable[[int, np.ndarray], np.ndarray]]:
        """(users,) the number of the part of each of the ``people``, and what its mechanism takes
        of those at some places. Simulation only."""

    def privatize(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One report of each person. Simulation only: a client needs a secure random source.

        Parameters
        ----------
        people : (users,) types or, of surveys, (users, columns) records.
        rng : NumPy's generator, which is not secure.

        Returns
        -------
        (users, 1 + width) the number of the part, a report of its mechanism, and fillers.
        """
        check_generator(rng)
        numbers, taken = self._assigned(people, rng)
        raw = np.full((len(numbers), 1 + self.width), self.filler, self._dtype)
        raw[:, 0] = numbers
        for k, places in by_number(numbers):
            sent = self.parts[k].privatize(taken(k, places), rng)
            raw[places, 1 : 1 + self.widths[k]] = sent.reshape(len(places), self.widths[k])
        return raw

    def possible(self, rows: np.ndarray) -> np.ndarray:
        possible, known = np.zeros(len(rows), dtype=bool), np.flatnonzero(below(rows[:, :1], len(self.parts)))
        for k, some in by_number(rows[known, 0]):
            sent, rest = np.split(rows[known[some], 1:], [self.widths[k]], axis=1)
            possible[known[some]] = self.parts[k].possible(sent) & (rest == self.filler).all(axis=1)
        return possible

    def _sorted(self, raw: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Each part that is reported on, and the reports of its mechanism. ValueError for rows that
        are none."""
        raw = check_rows(raw, 1 + self.width, f"the number of {self.part_name} and {self.width} numbers")
        numbers = raw[:, 0] if raw.dtype.kind in {"i", "u", self._dtype.kind} else np.full(len(raw), -1)
        if not below(numbers[:, None], len(self.parts)).all() or (numbers != np.floor(numbers)).any():
            raise ValueError(
                f"Each report must begin with the number of {self.part_name}, from 0 to {len(self.parts) - 1}."
            )
        for k, places in by_number(numbers.astype(np.int64)):
            sent, rest = np.split(raw[places, 1:], [self.widths[k]], axis=1)
            if (rest != self.filler).any():
                raise ValueError(f"The rest of a report must be filled up with {self.filler}.")
            yield k, sent.reshape(len(places), *self.parts[k].nothing.shape[1:])

    def aggregate(self, raw: np.ndarray) -> Reports:
        """How many people reported in each part, and what is kept of the reports of one part after
        the other."""
        sent = dict(self._sorted(raw))
        return self._joined([made.aggregate(sent.get(k, made.nothing)) for k, made in enumerate(self.parts)])

    def _joined(self, reports: Sequence[Reports]) -> Reports:
        """The ``reports`` (K,) of all parts as those of the collection."""
        users = np.array([part.users for part in reports], dtype=np.int64)
        return Reports(self.digest, int(users.sum()), (users, *(array for part in reports for array in part.arrays)))

    @cached_property
    def _arrays(self) -> list[int]:
        """(K,) how many arrays the reports of each part are."""
        different = {id(made): len(made.aggregate(made.nothing).arrays) for made in self.parts}
        return [different[id(made)] for made in self.parts]

    def reports_of(self, reports: Reports) -> list[Reports]:
        """(K,) the reports of each part, as it keeps them."""
        users, *arrays = reports.arrays
        ends = np.cumsum([0, *self._arrays]).tolist()
        each = zip(self.parts, users.tolist(), ends, ends[1:], strict=False)
        return [Reports(made.digest, number, tuple(arrays[start:stop])) for made, number, start, stop in each]

    def tally(self, reports: Reports) -> np.ndarray:
        """(m,) how often each output of each part was sent; also of the reports of a mechanism that
        this one draws for."""
        each = zip(self.parts, self.reports_of(reports), strict=True)
        return np.concatenate([made.tally(sent) for made, sent in each])

    @abstractmethod
    def _type(self, k: int, cell: int) -> int:
        """A type that part ``k`` takes for its type ``cell``."""

    def audit(self) -> Audit:
        """That of the part where it is weakest, with the largest delta of all."""
        audits = [made.audit() for made in self.parts]
        k = max(range(len(audits)), key=lambda k: (audits[k].epsilon, audits[k].delta))
        one, other = (self._type(k, cell) for cell in audits[k].worst_pair)
        method, delta = self.guarantee.format(audits[k].method), max(each.delta for each in audits)
        return replace(audits[k], delta=delta, method=method, worst_pair=(one, other))


def stacked(
    channels: Sequence[Any],
    of_parts: Callable[[np.ndarray], Sequence[np.ndarray]],
    of_types: Callable[[Sequence[np.ndarray]], np.ndarray],
    n: int,
) -> LinearOperator:
    """The strategy of reports in parts.

    Parameters
    ----------
    channels : (K,) the strategies of the parts, matrices or operators.
    of_parts : what it takes of numbers (n, ...) of the types for the types of each part.
    of_types : its adjoint.
    n : how many types there are.

    Returns
    -------
    (outputs of all parts, n) the outputs of the first part first.
    """
    ends = np.cumsum([Q.shape[0] for Q in channels])

    def forward(x: np.ndarray) -> np.ndarray:
        return np.concatenate([Q @ part for Q, part in zip(channels, of_parts(x), strict=True)])

    def adjoint(y: np.ndarray) -> np.ndarray:
        return of_types([Q.T @ part for Q, part in zip(channels, np.split(y, ends[:-1]), strict=True)])

    operators = {"matvec": forward, "matmat": forward, "rmatvec": adjoint, "rmatmat": adjoint}
    return LinearOperator((int(ends[-1]), n), dtype=float, **operators)


def drawn(users: int, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(users,) the parts of people who each draw one with the probabilities ``shares`` (K,).
    Simulation only."""
    return rng.permutation(np.repeat(np.arange(len(shares)), rng.multinomial(users, shares)))
