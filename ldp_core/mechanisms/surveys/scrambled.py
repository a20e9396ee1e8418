"""Scrambled patterns: a person's place in a random pattern over a few attributes, its values renamed at random.

A report (B, t, S) consists of three parts: a set B of a few attributes, the number t of a pattern T
of cells of their table, and an image S of T. The image is under independent, uniformly random
permutations of the values of each attribute. The choice of the pattern does not depend on the
person. Let s = |T|/n_B and D = e^epsilon - 1. The person's cell is in S with probability e^epsilon
s / (1 + D s), and given that, S is uniform among the images that hold the cell (or do not). Images
are thus e^epsilon times as likely for the people inside as for those outside. The information is
diagonal in the components of `ldp_core.anova`,

    m_A dim_A = sum of share_T e_A(T)        (e_A: `ldp_core.mechanisms.surveys.pattern`),

and the optimal unbiased estimate (McKenna et al. 2020, Theorem 3.10) has on A the component (1/m_A) sum_B (1/n_B) P_A K_B, summed to the
table of A, of the tables K_B, the sum of D/(1 + D s) 1_S over the reports about B. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import special

from ldp_core import anova, wording
from ldp_core.anova import Set
from ldp_core.limits import MOST_REPORT_NUMBERS
from ldp_core.mechanisms.base import Audit, Reports, below, by_number, check_generator, check_reports, check_rows, runs
from ldp_core.mechanisms.files import PATTERNS, MechanismFile
from ldp_core.mechanisms.moments import Ends, Moments, Rows
from ldp_core.mechanisms.parts import drawn
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys.estimates import ComponentEstimate
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.mechanisms.surveys.moments import PatternMoments
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.people import Counts, People, people_of, records_of, smallest_type
from ldp_core.privacy import exp_epsilon, in_steps, log_ratio, probability_within


def patterns_file(count: int, document: Callable[[], dict[str, Any]]) -> MechanismFile:
    """The file of ``count`` patterns."""
    about = f"the {count:,} patterns and how often each is sent, plain JSON that any language reads"
    return MechanismFile(PATTERNS, "strategy", {"patterns": count}, about, document)


class ScrambledPatterns(SurveyMechanism):
    """``patterns`` over attributes of ``sizes``, and their probabilities ``shares`` (r,).

    Raises ValueError for shares that are no probabilities, and patterns of other attributes.
    """

    def __init__(
        self,
        name: str,
        sizes: Sequence[int],
        epsilon: float,
        patterns: Sequence[Pattern],
        shares: np.ndarray,
        parameters: Mapping[str, Any] | None = None,
        explanation: str = "",
    ):
        super().__init__(name, sizes, epsilon, parameters or {}, explanation)
        self.patterns, self.shares = tuple(patterns), np.array(shares, dtype=float)
        if not self.patterns or self.shares.shape != (len(self.patterns),) or not (self.shares > 0).all():
            raise ValueError(
                f"The {len(self.patterns):,} patterns need one positive probability each, at least one of them."
            )
        if abs(self.shares.sum() - 1) > 1e-9:
            raise ValueError(f"The probabilities of the patterns must sum to 1; they sum to {self.shares.sum():g}.")
        self.shares = in_steps(self.shares)
        for pattern in self.patterns:
            if pattern.attributes[-1] >= len(self.sizes) or pattern.cells.shape != tuple(
                self.sizes[i] for i in pattern.attributes
            ):
                raise ValueError(
                    f"A pattern with cells {pattern.cells.shape} over the attributes {pattern.attributes} does not fit sizes "
                    f"{list(self.sizes)}."
                )
        self._ratio = exp_epsilon(self.epsilon)
        self._inside = np.array([np.count_nonzero(sent_pattern.cells) for sent_pattern in self.patterns])
        self._cells = np.array([sent_pattern.cells.size for sent_pattern in self.patterns])
        self.weights = (self._ratio - 1) / (1 + (self._ratio - 1) * self._inside / self._cells)
        """(r,) w of each pattern."""
        self._starts = np.concatenate([[0], np.cumsum(self._cells)])

    @property
    def scrambled(self) -> ScrambledPatterns:
        return self

    @property
    def bytes_held(self) -> int:
        """The patterns, and what estimates need of them."""
        return 16 * sum(pattern.cells.size for pattern in self.patterns)

    def files(self) -> tuple[MechanismFile, ...]:
        """The patterns, and how often each is sent."""
        return (patterns_file(len(self.patterns), self.document),)

    def document(self) -> dict[str, Any]:
        """The patterns as JSON: the format is described in `ldp_core.designs.patterns_file`."""
        tables: dict[tuple[tuple[int, ...], bytes], int] = {}
        patterns = []
        for pattern, share in zip(self.patterns, self.shares.tolist(), strict=True):
            key = pattern.cells.shape, np.packbits(pattern.cells).tobytes()
            patterns.append(
                {"attributes": list(pattern.attributes), "table": tables.setdefault(key, len(tables)), "share": share}
            )
        written = [{"sizes": list(sizes), "cells": packed.hex()} for sizes, packed in tables]
        return {"epsilon": self.epsilon, "sizes": list(self.sizes), "tables": written, "patterns": patterns}

    def _content(self) -> bytes:
        written = [
            repr(pattern.attributes).encode() + np.packbits(pattern.cells).tobytes() for pattern in self.patterns
        ]
        return b"".join(written) + self.shares.tobytes()

    @property
    def bits_per_report(self) -> float:
        """Whole bits that number a pattern and the permutations of its attributes' values."""
        logs = [sum(math.lgamma(size + 1) for size in pattern.cells.shape) for pattern in self.patterns]
        return float(math.ceil(special.logsumexp(logs) / math.log(2) - 1e-9))

    # --- what reports tell --------------------------------------------------------------------------------------

    @cached_property
    def component_information(self) -> dict[Set, float]:
        """{A: m_A} of the non-empty sets A that reports tell something about."""
        fourier_weight: dict[Set, float] = {}
        weights_of: dict[int, dict[Set, float]] = {}
        for pattern, share in zip(self.patterns, self.shares.tolist(), strict=True):
            if id(pattern.cells) not in weights_of:  # patterns of many sets share their cells
                plain = Pattern(tuple(range(pattern.cells.ndim)), pattern.cells)
                weights_of[id(pattern.cells)] = plain.fourier_weights(self.epsilon)
            for places, value in weights_of[id(pattern.cells)].items():
                members = tuple(pattern.attributes[k] for k in places)
                fourier_weight[members] = fourier_weight.get(members, 0.0) + share * value
        least = 1e-12 * math.fsum(fourier_weight.values())
        return {
            members: value / anova.dimensions(self.sizes, members)
            for members, value in fourier_weight.items()
            if value > least and all(self.sizes[i] > 1 for i in members)
        }

    @cached_property
    def _moments(self) -> PatternMoments:
        information = self.component_information
        return PatternMoments(self.sizes, self.epsilon, self.patterns, self.shares, self.weights, information)

    def second_moments(self, questions: Rows, columns: Set) -> Moments:
        return [(columns, self._moments.squares(columns, questions.rows))]

    def ends(self, rows: Rows, columns: Set) -> Ends:
        return Ends(*self._moments.ends(columns, rows.rows))

    # --- reports ------------------------------------------------------------------------------------------------

    @cached_property
    def true_probability(self) -> np.ndarray:
        """(r,) probability that an image of a pattern holds the person's cell."""
        E = self._ratio

        @cache
        def chance(size: int, cells: int) -> float:
            return probability_within(
                E * size / (E * size + cells - size), lambda p: p * (cells - size) / ((1 - p) * size), E
            )

        return np.array([chance(*pair) for pair in zip(self._inside.tolist(), self._cells.tolist(), strict=True)])

    @property
    def width(self) -> int:
        """Numbers in a report after that of its pattern."""
        return max(sum(pattern.cells.shape) for pattern in self.patterns)

    def privatize(self, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(users, 1 + width) the pattern's number, then where the values of each of its attributes go, one attribute after the other;
        -1 fills up. ``records`` (users, d) are value indices, or types (users,). Simulation only: a client needs a secure random source.
        ValueError for reports of more than `MOST_REPORT_NUMBERS` numbers together."""
        check_generator(rng)
        records = records_of(records, self.sizes)
        if len(records) * (1 + self.width) > MOST_REPORT_NUMBERS:
            raise ValueError(
                f"{len(records):,} reports of {1 + self.width:,} numbers each are more than {MOST_REPORT_NUMBERS:,} together: privatize at most "
                f"{MOST_REPORT_NUMBERS // (1 + self.width):,} people at a time and add up what aggregate makes of them, or simulate."
            )
        largest = max(len(self.patterns), *self.sizes)
        raw = np.full((len(records), 1 + self.width), -1, dtype=np.result_type(np.int16, np.min_scalar_type(-largest)))
        for number, users in by_number(drawn(len(records), self.shares, rng)):
            for places in runs(len(users), self._step(number)):
                some = users[places]
                moved = self._scrambled(number, records[some], rng)
                raw[some, 0] = number
                raw[some, 1 : 1 + sum(block.shape[1] for block in moved)] = np.concatenate(moved, axis=1)
        return raw

    def _step(self, number: int) -> int:
        return max(1, 2**22 // sum(self.patterns[number].cells.shape))

    def _scrambled(self, number: int, records: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """The permutations (users, n_i) of the values of each attribute of a pattern, for people
        with ``records`` (users, d). Simulation only."""
        pattern = self.patterns[number]
        flat = pattern.cells.ravel()
        members, others = np.flatnonzero(flat), np.flatnonzero(~flat)
        inside = rng.random(len(records)) < self.true_probability[number]
        within, without = (rng.integers(len(places), size=len(records)) for places in (members, others))
        places = np.unravel_index(np.where(inside, members[within], others[without]), pattern.cells.shape)
        return [
            permutations(place, records[:, i].astype(np.int64), self.sizes[i], rng)
            for i, place in zip(pattern.attributes, places, strict=True)
        ]

    def possible(self, rows: np.ndarray) -> np.ndarray:
        """(N,) which of the ``rows`` (N, 1 + width) hold the number of a pattern, a permutation for each of its attributes, and -1."""
        possible, known = np.zeros(len(rows), dtype=bool), np.flatnonzero(below(rows[:, :1], len(self.patterns)))
        for number, some in by_number(rows[known, 0]):
            moved, rest = self._moved(number, rows[known[some], 1:])
            good = (rest == -1).all(axis=1)
            for block in moved:
                good &= (np.sort(block, axis=1) == np.arange(block.shape[1])).all(axis=1)
            possible[known[some]] = good
        return possible

    def _moved(self, number: int, rows: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """What ``rows`` of reports hold of each attribute of a pattern, and what fills them up."""
        *moved, rest = np.split(rows.astype(np.int64), np.cumsum(self.patterns[number].cells.shape), axis=1)
        return moved, rest

    def aggregate(self, raw: np.ndarray) -> Reports:
        """Reports: how often each pattern was sent (r,), and how many of its images held each cell, one pattern after the other."""
        raw = check_rows(raw, 1 + self.width, f"a pattern and {self.width} places")
        if not self.possible(raw).all():
            raise ValueError(
                f"Each report must hold the number of a pattern, from 0 to {len(self.patterns) - 1}, a permutation of the values of each of its "
                "attributes, and -1 in the rest."
            )
        sent, cover = np.zeros(len(self.patterns), dtype=np.int64), np.zeros(self._starts[-1], dtype=np.int64)
        for number, rows in by_number(raw[:, 0]):
            sent[number] = len(rows)
            for some in runs(len(rows), self._step(number)):
                moved, _ = self._moved(number, raw[rows[some], 1:])
                cover[self._starts[number] : self._starts[number + 1]] += covered(self.patterns[number].cells, moved)
        return Reports(self.digest, len(raw), (sent, cover))

    def simulate(self, counts: Counts, rng: np.random.Generator) -> Reports:
        """Reports of people: `ldp_core.people.People`, records (users, d), or counts (n,) of all types. Simulation only."""
        sent, cover, users = np.zeros(len(self.patterns), dtype=np.int64), np.zeros(self._starts[-1], dtype=np.int64), 0
        for records in batches(people_of(counts, self.sizes)):
            users += len(records)
            for number, members in by_number(drawn(len(records), self.shares, rng)):
                sent[number] += len(members)
                cover[self._starts[number] : self._starts[number + 1]] += self._covered(number, records[members], rng)
        return Reports(self.digest, users, (sent, cover))

    def _covered(self, number: int, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(cells,) how many images of a pattern that people with ``records`` send hold each cell. Simulation only."""
        pattern, size = self.patterns[number], int(self._inside[number])
        if pattern.cells.ndim == 1:  # sets of values, whose sums need no loop over people
            values = np.bincount(records[:, pattern.attributes[0]], minlength=pattern.cells.size)
            sets = SubsetSelection(pattern.cells.size, self.epsilon, size)
            return sets.simulate(values, rng).arrays[0]
        places_covered = np.zeros(pattern.cells.size, dtype=np.int64)
        for some in runs(len(records), self._step(number)):
            places_covered += covered(pattern.cells, self._scrambled(number, records[some], rng))
        return places_covered

    def estimate(self, reports: Reports) -> ComponentEstimate:
        """Unbiased tables of every set of attributes that reports tell about; consistent, and adding up to the number of people."""
        check_reports(reports, self.digest)
        _, cover = reports.arrays
        tables: dict[Set, np.ndarray] = {}
        for number, pattern in enumerate(self.patterns):
            table = (
                cover[self._starts[number] : self._starts[number + 1]].reshape(pattern.cells.shape)
                * self.weights[number]
            )
            tables[pattern.attributes] = tables.get(pattern.attributes, 0) + table
        return ComponentEstimate.of_tables(tables, self.component_information, self.sizes, reports.users)

    # --- what is said of it -------------------------------------------------------------------------------------

    def audit(self) -> Audit:
        """From the two probabilities of each pattern, as people draw them: its images share them."""
        kinds: dict[tuple[int, int], int] = {}
        for number, key in enumerate(zip(self._inside.tolist(), self._cells.tolist(), strict=True)):
            kinds.setdefault(key, number)
        p = {number: Fraction(float(self.true_probability[number])) for number in kinds.values()}
        ratios = {k: p[k] * (cells - size) / ((1 - p[k]) * size) for (size, cells), k in kinds.items()}
        worst = max(ratios, key=ratios.__getitem__)
        method = f"exact: the two probabilities of each of {len(self.patterns):,} patterns, which its images share"
        return Audit(log_ratio(ratios[worst], Fraction(1)), 0.0, method, self._worst_types(self.patterns[worst]))

    def _worst_types(self, pattern: Pattern) -> tuple[int, int]:
        """Two types that differ in one attribute, such that an image of the pattern can hold one
        type without the other."""
        for axis, i in enumerate(pattern.attributes):
            if (pattern.cells.any(axis=axis) & ~pattern.cells.all(axis=axis)).any():
                return 0, math.prod(self.sizes[i + 1 :])
        raise AssertionError("A pattern has cells inside and outside.")

    def explain(self) -> str:
        return self._explanation or report_in_words(self.patterns, self.shares, self.true_probability)


def batches(people: People) -> Iterator[np.ndarray]:
    """Everyone once, in arrays (users, d) of value indices, large ones so that each pattern is sent by many."""
    waiting: list[np.ndarray] = []
    most, kind = max(1, 2**26 // len(people.sizes)), smallest_type(people.sizes)
    for chunk in people.chunks():
        waiting.append(chunk.astype(kind))
        if sum(map(len, waiting)) >= most:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def report_in_words(patterns: Sequence[Pattern], shares: np.ndarray, inside: np.ndarray) -> str:
    """A report in words: its columns, and the size of the scrambled set among the combinations of
    their values."""
    ways = np.array([len(pattern.attributes) for pattern in patterns])
    by_ways = {int(k): float(shares[ways == k].sum()) for k in np.unique(ways)}
    common = max(by_ways, key=by_ways.__getitem__)
    some = np.flatnonzero(ways == common)
    some = some[np.argsort([patterns[k].cells.size for k in some.tolist()], kind="stable")]
    place = int(np.searchsorted(np.cumsum(shares[some]), by_ways[common] / 2))
    middle = int(some[min(len(some) - 1, place)])
    cells, size = patterns[middle].cells.size, int(np.count_nonzero(patterns[middle].cells))
    values = f"{'about ' if len(some) > 1 else ''}{_rounded(size)} of {'its' if common == 1 else 'their'} {cells:,} "
    values += "values" if common == 1 else "combinations of values"
    share = by_ways[common]
    first = "Each report names" if share > 0.995 else f"{'Most' if share > 0.5 else 'Many'} reports name"
    sentences = [
        f"{first} {_columns(common)}, drawn at random whatever the person's values are, and a scrambled set of {values}.",
        f"The set holds the person's own with probability {wording.significant(inside[middle], 2)}; the rest of the set is random.",
    ]
    rest = [f"{_columns(k)} ({wording.share(share)})" for k, share in by_ways.items() if k != common and share > 0.005]
    return " ".join([*sentences, *([f"The others are about {' or '.join(rest)}."] if rest else [])])


def _columns(k: int) -> str:
    word = _NUMBERS[k] if k < len(_NUMBERS) else str(k)
    return f"{word} column{'' if k == 1 else 's'}"


def _rounded(number: int) -> str:
    """A number in its two leading digits."""
    scale = 10 ** max(0, len(str(number)) - 2)
    return f"{round(number / scale) * scale:,}"


# Numbers handled in one step: few enough to stay in the cache of a processor.
_AT_ONCE = 2**16


def permutations(places: np.ndarray, values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """(users, size) permutations of 0..size - 1, uniform among those that take each user's ``places`` (users,) to ``values`` (users,).
    Simulation only."""
    images = rng.permuted(np.tile(np.arange(size), (len(values), 1)), axis=1)
    # A uniform permutation, shifted along the circle of values until it fits: every one that fits comes of ``size`` others.
    images += (values - images[np.arange(len(values)), places])[:, None]
    images[images < 0] += size
    images[images >= size] -= size
    return images


def covered(cells: np.ndarray, moved: Sequence[np.ndarray]) -> np.ndarray:
    """(cells,) how many images of a pattern hold each cell, ``moved`` being the (users, n_i) permutations of the values of its axes."""
    users = len(moved[0])
    if 2 * np.count_nonzero(cells) > cells.size:
        return users - covered(~cells, moved)
    places = np.nonzero(cells)
    counts = np.zeros(cells.size, dtype=np.int64)
    steps = np.cumprod([1, *cells.shape[:0:-1]])[::-1]
    for start in range(0, users, _AT_ONCE // 16):
        columns = [
            np.ascontiguousarray(block[start : start + _AT_ONCE // 16].T) * step
            for block, step in zip(moved, steps, strict=True)
        ]
        several = max(1, _AT_ONCE // 2 // columns[0].shape[1])
        for first in range(0, len(places[0]), several):
            some = [column[place[first : first + several]] for column, place in zip(columns, places, strict=True)]
            counts += np.bincount(sum(some[1:], start=some[0]).ravel(), minlength=cells.size)
    return counts
