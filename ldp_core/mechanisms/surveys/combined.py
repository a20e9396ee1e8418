"""Reports about tables that share attributes, put together: every question uses the information of
all tables.

Strategies Q_k, each for a share a_k of the people, ask about the tables of the attributes B_k.
Their information lies in the space U of the functions whose components (`ldp_core.anova`) are each
of attributes of a single B_k, without the mean, which is known. Let e be an orthonormal basis of U
for the mean over the types, Helmert's along each attribute. A report y about table k reads

    f_k(y) = sum_u Q_k[y, u] e(u) / sum_u Q_k[y, u]      (u over the cells of the table; zero for what is no function of B_k),

the expectation of e given the report when all types are as frequent. Its expectation for a person of type u is M_k e(u), with M_k the mean
over the cells of the sum over y of f_k(y) Q_k[y, u] e(u)': the information of the strategy. With M = sum_k a_k M_k, the sum of
M^-1 f_k(y) over all reports is an unbiased estimate of the sum of e(u) over the people: a question with coordinates r in that basis is
answered by r' M^-1 f_k(y) added up. The part of r that table k answers is h_k = a_k M_k M^-1 r, and these sum to r.

It is the best there is, on average over the types: the second moment of what a person adds is then
a quadratic form in what reports add, sum_k a_k sum_y D_k[y] c_k(y)^2, with D_k[y] the mean
probability of y, and by Gauss and Markov its least value among all unbiased c is r' M^-1 r, at c_k
= r' M^-1 f_k. Dividing a question into parts, each for one table alone, is one of these c: it is
never better. It is equally good if tables share no attribute, since M is then in blocks. If
connected tables have too many dimensions for one matrix, there are several matrices, and each
answers the components that none before it holds. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.definite import pseudo_inverse
from ldp_core.workloads import Survey

_MOST_DIMENSIONS = 2_048
"""Tables are put together up to this number of dimensions: a matrix of this size takes half a
second."""


@dataclass(frozen=True)
class Tables:
    """Tables whose reports are put together: their ``numbers`` among all tables ``sets``, and the components ``answered`` from them."""

    sizes: tuple[int, ...]
    numbers: tuple[int, ...]
    sets: tuple[Set, ...]
    answered: frozenset[Set]

    @cached_property
    def attributes(self) -> Set:
        """All attributes of the tables."""
        return tuple(sorted(set().union(*self.sets)))

    @cached_property
    def at(self) -> dict[Set, slice]:
        """The places of the coordinates of each component among those of U."""
        slices, start = dict[Set, slice](), 0
        for members in _components(self.sizes, self.sets):
            dims = int(anova.dimensions(self.sizes, members))
            slices[members] = slice(start, start + dims)
            start += dims
        return slices

    @property
    def dimensions(self) -> int:
        return max(place.stop for place in self.at.values())

    def places(self, attributes: Set) -> np.ndarray:
        """(cells,) where each coordinate (`anova.coordinates`) of functions on the table of ``attributes`` is in U, -1 for nowhere."""
        places = np.full([self.sizes[i] for i in attributes], -1)
        for members, place in self.at.items():
            if set(members) <= set(attributes):
                inside = tuple(slice(1, None) if i in members else 0 for i in attributes)
                places[inside] = np.arange(place.start, place.stop).reshape(places[inside].shape)
        return places.ravel()

    def seen(self, rows: np.ndarray, attributes: Set) -> tuple[np.ndarray, np.ndarray]:
        """(c,) places in U and (q, c) coordinates there of what is answered of ``rows`` (q, cells) on the table of ``attributes``."""
        places = self.places(attributes)
        kept = self.answerable[places] & (places >= 0)
        coordinates = anova.coordinates(rows.reshape(-1, *(self.sizes[i] for i in attributes)))
        return places[kept], coordinates.reshape(len(rows), len(places))[:, kept] / math.sqrt(len(places))

    @cached_property
    def answerable(self) -> np.ndarray:
        """(dimensions,) which coordinates belong to components that are answered."""
        answerable = np.zeros(self.dimensions, dtype=bool)
        for members in self.answered:
            answerable[self.at[members]] = True
        return answerable

    def gram(self, survey: Survey) -> np.ndarray:
        """(dimensions, dimensions) the sum of r r' over the answered parts of all queries."""
        gram, diagonal = np.zeros((self.dimensions, self.dimensions)), np.zeros(self.dimensions)
        for group, values in zip(survey.groups, survey.spectra, strict=True):
            if values is not None:
                for members in self.answered & values.keys():
                    diagonal[self.at[members]] += group.weight**2 * values[members] / group.base.n
            elif set(group.attributes) & set(self.attributes):
                places, rows = self.seen(group.base.gram_root, group.attributes)
                gram[np.ix_(places, places)] += group.weight**2 * rows.T @ rows
        gram[np.diag_indices_from(gram)] += diagonal
        return gram


def together(sizes: Sequence[int], sets: Sequence[Set]) -> list[Tables]:
    """The tables of ``sets`` in those whose reports are put together: such as attributes of more than one value tie together, as many as
    `_MOST_DIMENSIONS` allow, and those that are left the same way; these answer the components that none before them holds."""
    tables, several = list[Tables](), [tuple(i for i in members if sizes[i] > 1) for members in sets]
    for group in anova.tied_together(several):
        remaining = [k for k, members in enumerate(several) if set(members) <= set(group)]
        answered = frozenset[Set]()
        while remaining:
            numbers = remaining[:1]
            for k in remaining[1:]:
                more = _components(sizes, [sets[j] for j in (*numbers, k)])
                if math.fsum(anova.dimensions(sizes, members) for members in more) <= _MOST_DIMENSIONS:
                    numbers.append(k)
            held = frozenset(_components(sizes, [sets[k] for k in numbers]))
            tables.append(Tables(tuple(sizes), tuple(numbers), tuple(sets[k] for k in numbers), held - answered))
            answered |= held
            remaining = [k for k in remaining if k not in numbers]
    return tables


def _components(sizes: Sequence[int], sets: Iterable[Set]) -> list[Set]:
    """The non-empty sets of attributes of more than one value that one of ``sets`` holds, each once."""
    held = (
        members for attributes in sets for members in anova.subsets(i for i in attributes if sizes[i] > 1) if members
    )
    return list(dict.fromkeys(held))


class Strategies:
    """The strategies (m_k, cells) for ``tables``, and what their reports tell of U."""

    def __init__(self, tables: Tables, strategies: Sequence[np.ndarray]):
        self.tables, self.strategies = tables, tuple(strategies)

    @cached_property
    def readings(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(places in U of its coordinates (c,), f_k (m_k, c)) for each table."""
        readings = []
        for members, Q in zip(self.tables.sets, self.strategies, strict=True):
            places = self.tables.places(members)
            coordinates = anova.coordinates(Q.reshape(-1, *(self.tables.sizes[i] for i in members))).reshape(Q.shape)
            scale = math.sqrt(Q.shape[1]) / Q.sum(axis=1, keepdims=True)
            readings.append((places[places >= 0], coordinates[:, places >= 0] * scale))
        return readings

    @cached_property
    def information(self) -> list[np.ndarray]:
        """M_k (c, c) of each table."""
        return [(read.T * Q.mean(axis=1)) @ read for (_, read), Q in zip(self.readings, self.strategies, strict=True)]


class Combined:
    """The answers of ``strategies`` that people take part in with probabilities ``shares``, one for each table."""

    def __init__(self, strategies: Strategies, shares: np.ndarray):
        self.by, self.shares, self.tables = strategies, shares, strategies.tables

    @cached_property
    def _inverse(self) -> tuple[np.ndarray, np.ndarray | None]:
        """M^-1 and, when the reports do not tell all of U, M^+ and the projector on what they do tell."""
        M = np.zeros((self.tables.dimensions, self.tables.dimensions))
        for share, (places, _), information in zip(self.shares, self.by.readings, self.by.information, strict=True):
            M[np.ix_(places, places)] += share * information
        return pseudo_inverse(M, 1e-13)

    @cached_property
    def inflation(self) -> dict[Set, float]:
        """{A: tr(P_A M^-1) / dim_A} for the components that the reports tell all of."""
        inverse, projector = self._inverse
        inflation = {}
        for members in self.tables.answered:
            place = self.tables.at[members]
            dims = place.stop - place.start
            if projector is None or dims - np.trace(projector[place, place]) <= 1e-9 * dims:
                inflation[members] = float(np.trace(inverse[place, place])) / dims
        return inflation

    def added(self, rows: np.ndarray, attributes: Set) -> Iterator[np.ndarray]:
        """The contribution (q, m_k) of a report about each table to ``rows`` (q, cells) on the
        table of ``attributes``."""
        places, coordinates = self.tables.seen(rows, attributes)
        solved = coordinates @ self._inverse[0][places]
        for places, read in self.by.readings:
            yield solved[:, places] @ read.T

    def squares(self, gram: np.ndarray) -> Iterator[np.ndarray]:
        """The sum (m_k,) of the squared contributions of a report about each table to queries with
        the ``gram`` of `Tables`."""
        spread = self._spread(gram)
        for places, read in self.by.readings:
            yield ((read @ spread[np.ix_(places, places)]) * read).sum(axis=1)

    def cost(self, gram: np.ndarray) -> float:
        """tr(M^-1 G): the sum of r' M^-1 r over the queries with the ``gram`` of `Tables`, on average over the types."""
        return float(np.vdot(self._inverse[0], gram))

    def gains(self, gram: np.ndarray) -> np.ndarray:
        """(K,) by how much that falls with the share of each table: tr(M_k M^-1 G M^-1)."""
        spread = self._spread(gram)
        return np.array(
            [
                np.vdot(information, spread[np.ix_(places, places)])
                for information, (places, _) in zip(self.by.information, self.by.readings, strict=True)
            ]
        )

    def parts(self, gram: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
        """(sum (cells, cells) of h_k h_k' / a_k^2 over all queries, tr(M_k^-1 of it)) for each
        table. The first is the Gram matrix of the table's part of the questions, when each part
        comes from the table with most information about it. The second is the cost of that part
        with the strategy that the table has."""
        spread = self._spread(gram)
        for members, information, (places, _) in zip(
            self.tables.sets, self.by.information, self.by.readings, strict=True
        ):
            sizes = [self.tables.sizes[i] for i in members]
            basis = anova.coordinates(np.eye(math.prod(sizes)).reshape(-1, *sizes)).reshape(math.prod(sizes), -1)
            basis = basis[:, self.tables.places(members) >= 0] * math.sqrt(len(basis))
            here = spread[np.ix_(places, places)]
            yield basis @ (information @ here @ information) @ basis.T, float(np.vdot(information, here))

    def _spread(self, gram: np.ndarray) -> np.ndarray:
        """M^-1 G M^-1."""
        spread: np.ndarray = self._inverse[0] @ gram @ self._inverse[0]
        return spread

    def components(self, tallies: Sequence[np.ndarray]) -> dict[Set, np.ndarray]:
        """{A: component A, in users} from how often each report was sent about each table (m_k,)."""
        sums = np.zeros(self.tables.dimensions)
        for (places, read), tally in zip(self.by.readings, tallies, strict=True):
            np.add.at(sums, places, tally @ read)
        sums, components = self._inverse[0] @ sums, {}
        for members in self.inflation:
            sizes = [self.tables.sizes[i] for i in members]
            part = sums[self.tables.at[members]].reshape([size - 1 for size in sizes])
            for size in sizes:  # the first axis is read, and goes last
                part = np.tensordot(part, anova.coordinates(np.eye(size))[:, 1:], axes=(0, 1))
            components[members] = part / math.sqrt(part.size)
        return components
