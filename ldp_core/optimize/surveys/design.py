"""The best mechanism for a survey, whatever the number of types: a mixture of patterns over few attributes each, by column generation.

The search fits the shares, and adds the patterns with the best value at the resulting prices.
Every set of attributes in the questions begins with evenly spread patterns and random ones:
together they are nearly the best where tables have many cells. Each round has three steps. Patterns
climb on the tables of sets in the questions. Columns whose cells are too coarse gain one attribute
(a pattern of few cells spends its Fourier weight better over several attributes, where epsilon is
large and columns have few values). Known patterns climb with one attribute in place of another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ldp_core.anova import Set
from ldp_core.limits import MOST_DESIGNED_SETS, MOST_DESIGNED_SUBSETS
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.optimize.base import DEFAULT, Design, SearchLimits, fields_of
from ldp_core.optimize.surveys.climbing import (
    CLIMBED_CELLS,
    Grown,
    Starts,
    balanced_patterns,
    climb,
    exchanged,
    grown,
    random_patterns,
)
from ldp_core.optimize.surveys.mixture import Mixture, NumberedSets, Shape
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.run import Check, drive, generator, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Survey

# Updates of the shares at the start, in a round, and in the end.
UPDATES = 800
# The share of all new columns together, and the least gain in value over those held that lets a
# column in.
NEW_SHARE = 0.1
LEAST_GAIN = 2e-5
# Columns that contribute less than LITTLE of the Fourier weight of every set are dropped. If there
# are more than _MOST_COLUMNS columns for each set, as many as there are sets are chosen among them.
# This takes long where many are equally good, so it is left out past _MOST_FOURIER_WEIGHTS Fourier weights
# in all.
LITTLE = 1e-5
_MOST_COLUMNS = 10
_MOST_FOURIER_WEIGHTS = 100_000
# This number of columns for each set is then tried in the end; it may cost the share FREE.
FEW_COLUMNS = (2, 4)
FREE = 1e-4


@dataclass(frozen=True)
class Held:
    """The best mixture so far: the columns and shares of each shape, and the objective."""

    parts: tuple[tuple[Shape, np.ndarray, np.ndarray], ...]
    objective: float


class Patience:
    """A step that gained nothing waits twice as many rounds as before."""

    def __init__(self) -> None:
        self._waits, self._due = Counter[object](), Counter[object]()

    def ended(self, kind: object, now: int) -> bool:
        return self._due[kind] <= now

    def tried(self, kind: object, now: int, gained: bool) -> None:
        self._waits[kind] = 0 if gained else 2 * self._waits[kind] + 1
        self._due[kind] = now + 1 + self._waits[kind]


class SurveySearch:
    """What `ldp_core.run.drive` drives; finds patterns and their shares for a survey with components."""

    def __init__(self, survey: Survey, epsilon: float, rng: np.random.Generator, check: Check = unchecked):
        components, self._n = survey.components, float(survey.n)
        roots = components.dims * np.sqrt(components.gram)
        self._constant, self._bound = components.constant, float(roots.sum()) ** 2 / math.sinh(epsilon / 2) ** 2
        self._costs = components.dims**2 * components.gram / self._bound  # the closed-form bound is then 1
        self._sizes, self._epsilon, self._rng, self._check = survey.shape, epsilon, rng, unchecked
        self._difference, self._share = exp_epsilon(epsilon) - 1, 1 / (exp_epsilon(epsilon) + 1)
        self._most_cells = min(CLIMBED_CELLS, int(64 / self._share))
        self._numbered = NumberedSets(components.sets, len(survey.shape))
        self._shapes: dict[tuple[int, ...], Shape] = {}
        self._rounds, self._patience = 0, Patience()
        self._grown = Grown(3)
        self._start(components.sets)
        self._mixture = self._fitted(300)
        self.best = self._held()
        self.finished = self._is_close()
        self._check = check  # the start is always there

    def prepare(self) -> None:
        """Does nothing: the search is ready."""

    def round(self) -> None:
        self._rounds += 1
        self._check()
        worth = self._mixture.worth
        level = self._mixture.objective * (1 + LEAST_GAIN)
        for shape in list(self._shapes.values()):
            self._climb(shape, worth)
        self._widen(worth, level)
        self._price(worth, level)
        self._mixture = self._fitted(UPDATES)
        most = _MOST_COLUMNS * len(self._costs)
        if len(self._mixture.shares) > most and self._mixture.fourier_weights.nnz <= _MOST_FOURIER_WEIGHTS:
            self._simplify()
        self._drop(most)
        if self._objective(self._mixture.objective) < self.best.objective:
            self.best = self._held()
        self.finished = self._is_close()

    def finish(self, at_once: bool) -> tuple[tuple[list[Pattern], np.ndarray], float]:
        """The patterns and their shares (p,), with the objective L."""
        self._restore(self.best)
        if not at_once:
            self._mixture.fit(2000)
        if not at_once or self._mixture.fourier_weights.nnz <= 2**15:
            self._simplify()
        patterns: list[Pattern] = []
        cells: dict[tuple[tuple[int, ...], int, tuple[int, ...]], np.ndarray] = {}
        for shape in self._mixture.shapes:
            for place, known in shape.columns.tolist():
                members = shape.attributes[place]
                order = tuple(np.argsort(members).tolist())
                key = (shape.sizes, known, order)
                if key not in cells:
                    table = shape.patterns[known].reshape(shape.sizes)
                    cells[key] = np.ascontiguousarray(table.transpose(order))
                patterns.append(Pattern(tuple(members[list(order)].tolist()), cells[key]))
        used = self._mixture.shares > 1e-12
        shares = self._mixture.shares[used] / self._mixture.shares[used].sum()
        return (
            [pattern for pattern, sent in zip(patterns, used.tolist(), strict=True) if sent],
            shares,
        ), self._objective(self._mixture.objective)

    def _is_close(self) -> bool:
        return self.best.objective <= self._objective(1 + 1e-4)

    # --- the mixture --------------------------------------------------------------------------------------------

    def _objective(self, relative: float) -> float:
        """L, from what the part besides the total is relative to its bound."""
        return self._n * (self._constant + self._bound * relative)

    def _fitted(self, updates: int) -> Mixture:
        """New columns get a little of the shares, then all are fitted."""
        shares = [shape.shares for shape in self._shapes.values()]
        new = sum(int(np.count_nonzero(part == 0)) for part in shares)
        old = sum(len(part) for part in shares) - new
        if new:
            for shape in self._shapes.values():
                fresh = NEW_SHARE / new if old else 1 / new
                shape.shares = np.where(shape.shares == 0, fresh, shape.shares * (1 - NEW_SHARE))
        mixture = Mixture(list(self._shapes.values()), self._costs)
        mixture.fit(updates, self._check)
        return mixture

    def _held(self) -> Held:
        parts = tuple((shape, shape.columns, shape.shares) for shape in self._mixture.shapes)
        return Held(parts, self._objective(self._mixture.objective))

    def _restore(self, held: Held) -> None:
        for shape in self._shapes.values():
            shape.columns, shape.shares = shape.columns[:0], shape.shares[:0]
        for shape, columns, shares in held.parts:
            shape.columns, shape.shares = columns, shares
        self._mixture = Mixture(list(self._shapes.values()), self._costs)

    def _drop(self, most: int) -> None:
        """Drop the columns that bring next to nothing of the Fourier weight of any set, and those that bring least where there are more than
        ``most``; none that brings most to some set."""
        parts, leading = self._mixture.parts()
        least = LITTLE if len(parts) <= most else max(LITTLE, float(np.sort(parts)[-most]))
        for shape, kept in zip(self._mixture.shapes, self._mixture.split((parts >= least) | leading), strict=True):
            shape.columns, shape.shares = shape.columns[kept], shape.shares[kept]
        self._mixture = Mixture(list(self._shapes.values()), self._costs)
        self._mixture.give(self._mixture.shares)

    def _simplify(self) -> None:
        """About as few columns as there are sets, for the same Fourier weights or nearly so."""
        if self._mixture.fourier_weights.nnz <= _MOST_FOURIER_WEIGHTS:
            self._mixture.give(self._mixture.spare())
            self._drop(len(self._mixture.shares))
            self._mixture.fit(UPDATES)
            return
        before = self._held()
        for columns in FEW_COLUMNS:
            self._drop(columns * len(self._costs))
            self._mixture.fit(UPDATES)
            if self._objective(self._mixture.objective) <= before.objective * (1 + FREE):
                return
            self._restore(before)

    # --- columns ------------------------------------------------------------------------------------------------

    def _shape(self, sizes: Sequence[int]) -> Shape:
        if tuple(sizes) not in self._shapes:
            self._shapes[tuple(sizes)] = Shape(sizes, self._numbered, self._epsilon)
        return self._shapes[tuple(sizes)]

    def _start(self, sets: Sequence[tuple[int, ...]]) -> None:
        """Patterns spread evenly over the tables of every set asked for, and some at random."""
        drawn = min(8, max(1, 20_000 // len(sets)))
        by_sizes: dict[tuple[int, ...], list[list[int]]] = {}
        for members in sets:
            ordered = sorted(members, key=lambda i: (self._sizes[i], i))
            by_sizes.setdefault(tuple(self._sizes[i] for i in ordered), []).append(ordered)
        for sizes, alike in by_sizes.items():
            shape = self._shape(sizes)
            places = shape.add_attributes(alike)
            ideal = self._share * shape.cells
            high = {min(max(1, round_(ideal)), shape.cells - 1) for round_ in (math.floor, math.ceil)}
            if shape.cells <= CLIMBED_CELLS:
                high.add(1)  # a single cell has Fourier weight on all sets
            cells = balanced_patterns(sizes, sorted(high))
            if len(sizes) > 1 and shape.cells <= CLIMBED_CELLS:
                order = self._rng.random((drawn, shape.cells)).argsort(axis=1)
                cells = np.vstack([cells, order < max(1, round(ideal))])
            known = np.unique(shape.add_patterns(cells))
            shape.add_columns(np.repeat(places, len(known)), np.tile(known, len(places)))

    def _starts(self, shape: Shape) -> int:
        return min(max(2**14 // shape.cells, 4), 32)

    def _high(self, cells: int, count: int) -> np.ndarray:
        """(count,) how many cells patterns may begin with: about the ideal share."""
        ideal = self._share * cells * np.exp(0.2 * self._rng.standard_normal(count))
        return np.clip(np.rint(ideal) + self._rng.integers(-1, 2, count), 1, cells - 1).astype(np.int64)

    def _climb(self, shape: Shape, worth: np.ndarray) -> None:
        """From patterns known, with some cells changed, and from random ones. Shapes where that brought nothing wait twice as long."""
        distinguished = len(shape.patterns) > 0 and len(shape.sizes) > 1 and shape.cells <= CLIMBED_CELLS
        if not distinguished or not self._patience.ended(shape.sizes, self._rounds):
            return
        self._check()
        rng, count = self._rng, self._starts(shape)
        numbers = shape.numbers[rng.integers(len(shape.numbers), size=count)]
        weights = shape.weights(numbers, worth)
        before = (worth[numbers] @ shape.spectra.T).max(axis=1)
        starts = random_patterns(weights, shape.sizes, self._high(shape.cells, count), rng)
        varied = count // 2
        best = (worth[numbers[:varied]] @ shape.spectra.T).argmax(axis=1)
        starts[:varied] = shape.patterns[best] ^ (rng.random((varied, shape.cells)) < 1.5 / shape.cells)
        climbed, values = climb(starts, shape.sizes, weights, self._difference, self._check)
        better = values > before * (1 + LEAST_GAIN)
        held = len(shape.patterns)
        shape.add_patterns(climbed[better])
        self._patience.tried(shape.sizes, self._rounds, len(shape.patterns) > held)

    def _price(self, worth: np.ndarray, level: float) -> None:
        """Takes in the best pattern for every set of attributes."""
        for shape in self._shapes.values():
            if len(shape.attributes) and len(shape.patterns):
                prices = shape.prices(worth)
                best = prices.argmax(axis=1)
                places = np.flatnonzero(prices.max(axis=1) > level)
                shape.add_columns(places, best[places])

    def _widen(self, worth: np.ndarray, level: float) -> None:
        """Columns over other attributes than now: one more for those that lose most against reports with the ideal share of cells, and for some
        drawn; and one in place of another."""
        mixture = self._mixture
        efficiency = np.asarray(mixture.fourier_weights.sum(axis=1)).ravel() / math.sinh(self._epsilon / 2) ** 2
        losses = mixture.shares * (1 - efficiency)
        chosen = self._grown.chosen(mixture, losses, 24, self._rounds, self._most_cells, self._rng)
        count = min(600, int(2.5 * len(self._costs)))
        others = exchanged(mixture, count, self._sizes, CLIMBED_CELLS, self._rng)
        self._take(grown(chosen, self._sizes, self._most_cells, self._rng), worth, level, drawn=True)
        self._take(others, worth, level, drawn=False)

    def _take(self, starts: Starts, worth: np.ndarray, level: float, drawn: bool) -> None:
        """Take in what climbs from ``starts``, and from as many patterns drawn at random if ``drawn``, to more than ``level``."""
        for sizes, started in starts.items():
            self._check()
            shape = self._shape(sizes)
            members = np.array([members for members, _ in started])
            weights = shape.weights(shape.numbers_of(members), worth)
            cells = np.stack([cells for _, cells in started])
            if drawn:
                fresh = random_patterns(weights, sizes, self._high(shape.cells, len(started)), self._rng)
                cells, weights, members = np.vstack([cells, fresh]), np.tile(weights, (2, 1)), np.tile(members, (2, 1))
            climbed, values = climb(cells, sizes, weights, self._difference, self._check)
            better = values > level
            if better.any():
                places = shape.add_attributes(members[better].tolist())
                shape.add_columns(places, shape.add_patterns(climbed[better]))


@dataclass(frozen=True, repr=False)
class SurveyDesign(Design):
    """``patterns`` and their probabilities ``shares`` (p,), for `ldp_core.mechanisms.surveys.scrambled.ScrambledPatterns`.

    ``tables`` are pairs of a set of attributes and a strategy (m, cells) on their table. People take part in one of these or, last, in the
    patterns, if there are any, with probabilities ``people`` (K,): `ldp_core.mechanisms.surveys.split_survey.SplitSurvey`.
    ``objective`` is L on average over the types; ``rounds`` and ``stopped`` are those of patterns for all questions, which come first.
    """

    patterns: tuple[Pattern, ...]
    shares: np.ndarray
    survey: Survey
    tables: tuple[tuple[Set, np.ndarray], ...] = ()
    people: np.ndarray = field(default_factory=lambda: np.ones(1))

    @property
    def prior(self) -> None:
        """Its reconstruction is for users spread evenly."""
        return None

    def mechanism(self) -> ScrambledPatterns | SplitSurvey:
        """The mechanism with these patterns, and people divided so."""
        sizes, epsilon = self.survey.shape, self.epsilon
        parameters = {"workload": self.survey.spec, "seed": self.seed, "rounds": self.rounds}
        if not self.tables:
            return ScrambledPatterns("optimized", sizes, epsilon, self.patterns, self.shares, parameters)
        tables = [
            GroupTable(members, ExplicitMechanism("optimized", strategy, epsilon)) for members, strategy in self.tables
        ]
        rest = ScrambledPatterns("optimized", sizes, epsilon, self.patterns, self.shares) if self.patterns else None
        return SplitSurvey("optimized", sizes, epsilon, tables, rest, self.people, parameters)

    @property
    def contents(self) -> str:
        sets = len({pattern.attributes for pattern in self.patterns})
        beside = f"{len(self.tables)} strategies on tables of their own and " if self.tables else ""
        return f"{beside}{len(self.patterns):,} patterns on {sets:,} sets of attributes"


def design_survey(
    survey: Survey,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
) -> SurveyDesign:
    """Patterns and probabilities of least L for a survey.

    L is convex in the probabilities. If the questions treat the values of every attribute alike, no
    mechanism of any kind is better than the best of these, and worst and average case are the same.
    If they do not (totals along an order, conditions), it is the best mechanism that treats the
    values alike, for the average over the types. Neither the time nor the memory depends on the
    number of types.

    Raises ValueError for an epsilon out of range, for questions that depend on too many sets of attributes (`too_many`), and for
    those that have only one possible answer.

    >>> survey = ldp.workloads.survey([16, 9, 7, 5, 2], ways=2)
    >>> best = ldp.optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=3)
    >>> 0 <= best.objective / ldp.bounds.centred_svd(survey, 1.0) - 1 < 0.005
    True
    """
    budget = limits.budget()
    epsilon = check_epsilon(epsilon)
    if reason := too_many(survey):
        raise ValueError(reason)
    with blas_threads(1):
        run = drive(SurveySearch(survey, epsilon, generator(limits.seed), budget.check), budget, 16)
    patterns, shares = run.found[0]
    return SurveyDesign(tuple(patterns), shares, survey, **fields_of(run, epsilon, limits))


def too_many(survey: Survey) -> str | None:
    """Why no mechanism is designed for this survey, None where one is."""
    sets = survey.components.sets
    if not sets:
        return "All that is asked about has a single possible value: there is nothing to design."
    if len(sets) > MOST_DESIGNED_SETS:
        return (
            f"The questions depend on {len(sets):,} sets of attributes, and mechanisms are designed for at most {MOST_DESIGNED_SETS:,}: ask about "
            "fewer sets, or about fewer attributes at a time."
        )
    subsets = sum(2 ** len(members) for members in sets)
    if subsets > MOST_DESIGNED_SUBSETS:
        return (
            f"The questions depend on sets of up to {max(map(len, sets))} attributes with {subsets:,} subsets in all, and mechanisms are "
            f"designed for at most {MOST_DESIGNED_SUBSETS:,}: ask about fewer attributes at a time."
        )
    return None
