"""Reports in one of several parts, each with a mechanism of its own: levels of a tree, groups, sets of columns, designs.

A raw report is the number of the part in the clear, a report of its mechanism, and a filler up to one width. The part is drawn whatever
the secret value is, or is known: the guarantee is that of the part where it is weakest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ldp_core.mechanisms.base import Audit, Mechanism, Reports, below, by_number, check_reports, check_rows


@dataclass(frozen=True)
class Parts:
    """The ``mechanisms`` of the parts; ``what`` is what people call one, and ``filler`` ends short reports."""

    mechanisms: Sequence[Mechanism]
    what: str
    filler: int = -1

    @cached_property
    def widths(self) -> list[int]:
        """(K,) numbers in a report of each part."""
        return [math.prod(mechanism.nothing.shape[1:]) for mechanism in self.mechanisms]

    @cached_property
    def width(self) -> int:
        """Numbers in a report after that of its part."""
        return max(self.widths)

    @cached_property
    def _dtype(self) -> np.dtype:
        """The type of numbers that hold every report, with the number of its part and what fills it up."""
        least = np.min_scalar_type(self.filler), np.min_scalar_type(len(self.mechanisms))
        return np.result_type(*least, *{mechanism.nothing.dtype for mechanism in self.mechanisms})

    def privatize(
        self, numbers: np.ndarray, values: Callable[[int, np.ndarray], np.ndarray], rng: np.random.Generator
    ) -> np.ndarray:
        """(users, 1 + width) reports of people in the parts ``numbers`` (users,), those at some places in part k having
        ``values(k, places)`` there. Simulation only."""
        raw = np.full((len(numbers), 1 + self.width), self.filler, self._dtype)
        raw[:, 0] = numbers
        for k, places in by_number(numbers):
            sent = self.mechanisms[k].privatize(values(k, places), rng)
            raw[places, 1 : 1 + self.widths[k]] = sent.reshape(len(places), self.widths[k])
        return raw

    def sorted(self, raw: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Each part that is reported on, and the reports of its mechanism. ValueError for rows that are none."""
        raw = check_rows(raw, 1 + self.width, f"the number of {self.what} and {self.width} numbers")
        numbers = raw[:, 0] if raw.dtype.kind in {"i", "u", self._dtype.kind} else np.full(len(raw), -1)
        if not below(numbers[:, None], len(self.mechanisms)).all() or (numbers != np.floor(numbers)).any():
            raise ValueError(
                f"Each report must begin with the number of {self.what}, from 0 to {len(self.mechanisms) - 1}."
            )
        for k, places in by_number(numbers.astype(np.int64)):
            sent, rest = np.split(raw[places, 1:], [self.widths[k]], axis=1)
            if (rest != self.filler).any():
                raise ValueError(f"The rest of a report must be filled up with {self.filler}.")
            yield k, sent.reshape(len(places), *self.mechanisms[k].nothing.shape[1:])

    def aggregate(self, raw: np.ndarray) -> list[Reports]:
        """(K,) what is kept of the reports of each part."""
        sent = dict(self.sorted(raw))
        return [each.aggregate(sent.get(k, each.nothing)) for k, each in enumerate(self.mechanisms)]

    def joined(self, digest: str, reports: Sequence[Reports]) -> Reports:
        """The reports of all parts as those of the mechanism with this ``digest``: how many people each has, and then what is kept of it."""
        users = np.array([own.users for own in reports], dtype=np.int64)
        return Reports(digest, int(users.sum()), (users, *(array for own in reports for array in own.arrays)))

    @cached_property
    def _arrays(self) -> list[int]:
        """(K,) how many arrays the reports of each part are."""
        different = {id(each): len(each.aggregate(each.nothing).arrays) for each in self.mechanisms}
        return [different[id(each)] for each in self.mechanisms]

    def apart(self, digest: str, reports: Reports) -> list[Reports]:
        """(K,) the reports of each part, as it keeps them. ValueError for those of another mechanism."""
        check_reports(reports, digest)
        users, *arrays = reports.arrays
        ends = np.cumsum([0, *self._arrays]).tolist()
        return [
            Reports(each.digest, int(own), tuple(arrays[start:stop]))
            for each, own, start, stop in zip(self.mechanisms, users, ends, ends[1:], strict=False)
        ]

    def audit(self) -> tuple[int, Audit]:
        """The part with the weakest guarantee, and that guarantee with the largest delta of all: the types are those of the part."""
        audits = [each.audit() for each in self.mechanisms]
        worst = max(range(len(audits)), key=lambda k: (audits[k].epsilon, audits[k].delta))
        return worst, replace(audits[worst], delta=max(each.delta for each in audits))

    def possible(self, rows: np.ndarray) -> np.ndarray:
        """(N,) which of the ``rows`` (N, 1 + width) of whole numbers are reports."""
        possible, known = np.zeros(len(rows), dtype=bool), np.flatnonzero(below(rows[:, :1], len(self.mechanisms)))
        for k, some in by_number(rows[known, 0]):
            own = known[some]
            sent, rest = np.split(rows[own, 1:], [self.widths[k]], axis=1)
            possible[own] = self.mechanisms[k].possible(sent) & (rest == self.filler).all(axis=1)
        return possible


class InParts(Mechanism):
    """A mechanism whose reports are in `Parts`."""

    parts: Parts

    @property
    def width(self) -> int:
        """Numbers in a report after that of its part."""
        return self.parts.width

    @property
    def outcomes(self) -> float:
        return sum(mechanism.outcomes for mechanism in self.parts.mechanisms)

    def possible(self, rows: np.ndarray) -> np.ndarray:
        return self.parts.possible(rows)

    def aggregate(self, raw: np.ndarray) -> Reports:
        """How many people reported in each part, and what is kept of the reports of one part after the other."""
        return self.parts.joined(self.digest, self.parts.aggregate(raw))

    def tally(self, reports: Reports) -> np.ndarray:
        """(m,) how often each output of each part was sent; also of the reports of a mechanism that this one draws for."""
        each = zip(self.parts.mechanisms, self.parts.apart(reports.mechanism_digest, reports), strict=True)
        return np.concatenate([mechanism.tally(sent) for mechanism, sent in each])


def drawn(users: int, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(users,) the parts of people who each draw one with the probabilities ``shares`` (K,). Simulation only."""
    return rng.permutation(np.repeat(np.arange(len(shares)), rng.multinomial(users, shares)))
