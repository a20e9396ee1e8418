"""Ratios a/b within groups of people: shares, averages, and the difference of two of these.

A ratio R = a/b, of a sum a over the people of a group by their number b, has to first order the
error of the linear query ``(a - R b)/b`` about everybody (Taylor linearisation, the delta method of
survey sampling). Where the collector knows the group, b is a known number and the query is exactly
a/b. A difference of two ratios has two *sides*, s = 2; else s = 1.

Source: Särndal, Swensson and Wretman 1992, Model Assisted Survey Sampling, chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.units import Unit

DIGITS = 2
"""Significant digits that a design takes of shares and averages in planning data."""


def two_digits(numbers: np.ndarray | float) -> np.ndarray:
    """Two significant digits of each, which is what a design takes of planning data."""
    return np.vectorize(lambda x: float(f"{x:.{DIGITS}g}"), otypes=[float])(numbers)


def compared(sides: np.ndarray) -> np.ndarray:
    """(...) what ``sides`` (s, ...) come to: the first less the second, where there are two."""
    return np.asarray(sides[0] - sides[1] if len(sides) == 2 else sides[0])


@dataclass(frozen=True, eq=False)
class Rates:
    """What a design takes of planning data for one question.

    Attributes
    ----------
    ratios : ndarray (s, p)
        Of each side of each answer the ratio a/b, NaN in groups without people.
    sizes : ndarray (s, p)
        The sizes b of their groups, as shares of everybody.
    spread : float
        The standard deviation of the numbers averaged.
    """

    ratios: np.ndarray
    sizes: np.ndarray
    spread: float = 0.0

    def rounded(self, unit: Unit) -> Rates:
        """Two significant digits of each, of ratios in their ``unit``."""
        ratios = (two_digits(unit.middle + unit.factor * self.ratios) - unit.middle) / unit.factor
        return Rates(ratios, two_digits(self.sizes), float(two_digits(self.spread)))


@dataclass(frozen=True, eq=False)
class Ratios:
    """q answers ``middle + factor * a/b``, or ``factor * (a/b - a'/b')`` of two sides (see `Unit`).

    Attributes
    ----------
    attributes : tuple of int
        Places of the attributes that they are about.
    names : tuple of str
        (q,) what the answers are.
    sums, inside : ndarray (s, q, cells)
        The queries a, and b, of each side, on the table of these attributes.
    unit : Unit
        Of the answers.
    known : bool
        Whether the collector knows all b.
    queries_of : ndarray (q,)
        Their numbers among the answers of the question.
    place : callable
        Brings queries on that table to the types of the domain.
    """

    attributes: tuple[int, ...]
    names: tuple[str, ...]
    sums: np.ndarray
    inside: np.ndarray
    unit: Unit
    known: bool
    queries_of: np.ndarray
    place: Callable[[Workload], Workload]

    @property
    def linear(self) -> Workload:
        """(2 s q queries) all a, then all b."""
        return self.queries(np.stack([self.sums, self.inside]))

    def queries(self, rows: np.ndarray, names: Sequence[str] | None = None) -> Workload:
        """The queries ``rows`` (..., cells), one after the other."""
        return self.place(Custom(rows.reshape(-1, rows.shape[-1]), names))

    def parts(self, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., s, q) a and b in ``answers`` (..., 2 s q) to `linear`."""
        a, b = np.moveaxis(answers.reshape(*answers.shape[:-1], 2, *self.sums.shape[:2]), -3, 0)
        return a, b

    def values(self, answers: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
        """The ratios, in their unit.

        Parameters
        ----------
        answers : ndarray (..., 2 s q)
            To `linear`.
        sizes : ndarray (s, q), optional
            b, where these are known: estimates that are biased do not keep to what is not asked.

        Returns
        -------
        ndarray (..., q)
            NaN where a group has nobody, or fewer.
        """
        a, b = self.parts(answers)
        b = b if sizes is None else sizes
        return self.unit.answers(np.moveaxis(a / np.where(b > 0, b, np.nan), -2, 0))

    def each(self, ratios: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """(s, q, cells) the rows ``(a - R b)/b`` of each side, with R ``ratios`` (s, q) and b
        ``sizes`` (s, q)."""
        return (self.sums - ratios[..., None] * self.inside) / sizes[..., None]

    def errors(self, answers: np.ndarray) -> Workload:
        """(q queries) whose error, of answers without weights, is that of the ratios in their unit
        by the delta method."""
        a, b = self.parts(answers)
        size = np.where(b > 0, b, np.nan)
        return self.queries(self.unit.factor * np.nan_to_num(compared(self.each(a / size, size))))

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(s, q) each: the least and the most that a ratio can be."""
        inside = self.inside > 0
        return np.where(inside, self.sums, np.inf).min(-1), np.where(inside, self.sums, -np.inf).max(-1)

    def by_size(self, sizes: np.ndarray) -> np.ndarray:
        """(s, q, cells) the rows whose answers are the ratios of each side, in groups of known
        ``sizes`` (s, q)."""
        return self.sums / np.where(sizes > 0, sizes, 1.0)[..., None]

    def there(self, sizes: np.ndarray) -> np.ndarray:
        """(q,) whether there are people enough for each answer."""
        return np.all(sizes > 0, axis=0)

    def possible(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q,) each: the least and the most that the answers can be, divided by their factor."""
        least, most = self.ends
        return (least[0] - most[1], most[0] - least[1]) if len(least) == 2 else (least[0], most[0])
