"""People by their attributes: who takes part, and all that is ever asked of them, counts by the
values of a few attributes.

A survey of eleven columns has 10^9 possible people. No computation needs a number for each of them:
a workload of marginals reads tables over the columns of its questions, and a simulated collection
goes through the people themselves.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from ldp_core.limits import MOST_TABLE_CELLS, MOST_VALUES
from ldp_core.wording import magnitude

ROWS_AT_ONCE = 2**16


@runtime_checkable
class Tables(Protocol):
    """A source of counts (or estimates) of how many people have each combination of values of a few
    attributes."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each attribute."""

    def table(self, attributes: Sequence[int]) -> np.ndarray:
        """(cells,) users by the values of the attributes at these places, in row-major order of the
        places as given."""


class People(ABC):
    """Some ``users``, each with a value of every attribute."""

    def __init__(self, sizes: Sequence[int]):
        self.sizes = tuple(map(int, sizes))
        self._known: dict[tuple[int, ...], np.ndarray] = {}

    @property
    @abstractmethod
    def users(self) -> int: ...

    @property
    @abstractmethod
    def digest(self) -> str:
        """Equal where the people are."""

    @property
    def by_type(self) -> np.ndarray | None:
        """(n,) users of each type; None where there are too many types to have a number each."""
        return None

    def added(self, place: int, attributes: Sequence[int]) -> np.ndarray | None:
        """(cells,) the numbers of the attribute at a place added up over the people in each cell of
        the table of ``attributes``; None where only their bins are known."""
        return None

    @property
    @abstractmethod
    def different(self) -> tuple[int, int]:
        """How many different records there are, and how many people have the most common one."""

    @abstractmethod
    def at(self, places: np.ndarray) -> np.ndarray:
        """(k, d) value indices of the people at these ``places`` (k,), in the order of `chunks`."""

    def chunks(self) -> Iterator[np.ndarray]:
        """Everyone once: arrays (at most `ROWS_AT_ONCE`, d) of value indices. ValueError where
        there are too many people."""
        for start in range(0, self.users, ROWS_AT_ONCE):
            yield self.at(np.arange(start, min(start + ROWS_AT_ONCE, self.users)))

    @abstractmethod
    def within(self, attributes: Sequence[int]) -> Sequence[Counted | Records]:
        """The people of each combination of values of the attributes at these places, the last
        running fastest, by their other attributes."""

    @abstractmethod
    def _count(self, attributes: tuple[int, ...]) -> np.ndarray: ...

    def table(self, attributes: Sequence[int]) -> np.ndarray:
        """(cells,) users by the values of the attributes at these places, in row-major order of the
        places as given; kept for the next time. ValueError for a table of more than
        `MOST_TABLE_CELLS` cells."""
        places = tuple(map(int, attributes))
        if places in self._known:
            return self._known[places]
        table = self._count(places)
        table.flags.writeable = False
        self._known[places] = table
        return table

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.users:,} users, {len(self.sizes)} attributes>"


class Counted(People):
    """People given as ``counts`` (n,) of all types, in a table of ``sizes``, the last attribute
    running fastest."""

    def __init__(self, counts: np.ndarray, sizes: Sequence[int], sums: Mapping[int, np.ndarray] | None = None):
        super().__init__(sizes)
        self.counts, self.sums = np.asarray(counts), dict(sums or {})
        if self.counts.shape != (math.prod(self.sizes),):
            raise ValueError(
                f"Counts must have one entry for each of the {magnitude(math.prod(self.sizes))} types; got shape {self.counts.shape}. Records "
                "have a row per person and a column for each attribute."
            )

    @property
    def users(self) -> int:
        return users_of(self.counts)

    @property
    def by_type(self) -> np.ndarray:
        return self.counts

    @cached_property
    def digest(self) -> str:
        hasher = hashlib.sha256(np.ascontiguousarray(self.counts, dtype=float).tobytes())
        for place, sums in sorted(self.sums.items()):
            hasher.update(f"{place}:".encode() + sums.tobytes())
        return hasher.hexdigest()

    def added(self, place: int, attributes: Sequence[int]) -> np.ndarray | None:
        sums = self.sums.get(place)
        return None if sums is None or not np.isfinite(sums).all() else Counted(sums, self.sizes).table(attributes)

    @property
    def different(self) -> tuple[int, int]:
        return int(np.count_nonzero(self.counts)), int(self.counts.max())

    def at(self, places: np.ndarray) -> np.ndarray:
        return np.stack(np.unravel_index(_owners(self.counts, places), self.sizes), axis=1).astype(np.int64)

    def within(self, attributes: Sequence[int]) -> Sequence[Counted | Records]:
        others = [i for i in range(len(self.sizes)) if i not in attributes]
        table = self.counts.reshape(self.sizes).transpose([*attributes, *others])
        sizes = [self.sizes[i] for i in others]
        return [Counted(row, sizes) for row in table.reshape(-1, math.prod(sizes))]

    def _count(self, attributes: tuple[int, ...]) -> np.ndarray:
        others = tuple(i for i in range(len(self.sizes)) if i not in attributes)
        table = self.counts.reshape(self.sizes).sum(axis=others)
        increasing = sorted(attributes)
        return np.array(table.transpose([increasing.index(i) for i in attributes]).ravel())


class Records(People):
    """People given one by one: ``codes`` (rows, d) value indices of attributes of these ``sizes``;
    each row stands for as many people as ``weights`` (rows,) says, one by default."""

    def __init__(self, codes: np.ndarray, sizes: Sequence[int], weights: np.ndarray | None = None):
        super().__init__(sizes)
        self.codes = check_records(codes, self.sizes)
        self.weights = None if weights is None else np.asarray(weights, dtype=np.int64)
        if self.weights is not None and (self.weights.shape != (len(self.codes),) or (self.weights < 0).any()):
            raise ValueError("Weights must be non-negative whole numbers of people, one for each row.")

    @property
    def users(self) -> int:
        return len(self.codes) if self.weights is None else int(self.weights.sum())

    @property
    def nbytes(self) -> int:
        """Memory that the records take."""
        return self.codes.nbytes + (0 if self.weights is None else self.weights.nbytes)

    @cached_property
    def different(self) -> tuple[int, int]:
        rows = np.ascontiguousarray(self.codes)
        _, group = np.unique(
            rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel(), return_inverse=True
        )
        each = np.bincount(group, self.weights)
        return int(np.count_nonzero(each)), int(each.max())

    @cached_property
    def digest(self) -> str:
        hasher = hashlib.sha256(repr((self.codes.shape, self.codes.dtype.str, self.sizes)).encode())
        hasher.update(np.ascontiguousarray(self.codes).data)
        if self.weights is not None:
            hasher.update(np.ascontiguousarray(self.weights).data)
        return hasher.hexdigest()

    def at(self, places: np.ndarray) -> np.ndarray:
        rows = places if self.weights is None else _owners(self.weights, places)
        return self.codes[rows].astype(np.int64)

    def within(self, attributes: Sequence[int]) -> Sequence[Counted | Records]:
        others = [i for i in range(len(self.sizes)) if i not in attributes]
        sizes, cells = [self.sizes[i] for i in others], self._cells(attributes)
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(1, math.prod(self.sizes[i] for i in attributes)))
        weights = self.weights
        return [
            Records(self.codes[rows][:, others], sizes, None if weights is None else weights[rows])
            for rows in np.split(order, ends)
        ]

    def _cells(self, attributes: Sequence[int]) -> np.ndarray:
        """(rows,) the cell of the table of ``attributes`` that each row is in."""
        cells = np.zeros(len(self.codes), dtype=np.int64)
        for i in attributes:
            cells = cells * self.sizes[i] + self.codes[:, i].astype(np.int64)
        return cells

    def _count(self, attributes: tuple[int, ...]) -> np.ndarray:
        check_cells(self.sizes, attributes)
        cells, most = self._cells(attributes), math.prod(self.sizes[i] for i in attributes)
        if self.weights is None:
            return np.bincount(cells, minlength=most)
        return np.rint(np.bincount(cells, self.weights, minlength=most)).astype(np.int64)


class Drawn(Records):
    """People who are expected: ``counts`` of each attribute's values, a list of arrays (n_i,) that
    sum to the same number of users, and beyond that attributes that have nothing to do with each
    other. The people are put together at random, by ``seed``, once somebody goes through them."""

    def __init__(self, counts: Sequence[np.ndarray], seed: int = 0):
        People.__init__(self, list(map(len, counts)))
        self.counts = [np.asarray(column, dtype=np.int64) for column in counts]
        self.seed, self.weights = seed, None
        if len({int(column.sum()) for column in self.counts}) != 1:
            raise ValueError("The counts of all attributes must add up to the same number of users.")

    @property
    def users(self) -> int:
        return int(self.counts[0].sum())

    @property
    def too_many(self) -> bool:
        """True if there are too many people to put together: tables then hold expected numbers,
        which need not be whole."""
        return self.users * len(self.sizes) > MOST_VALUES

    @cached_property
    def codes(self) -> np.ndarray:  # type: ignore[override]
        """(users, d) value indices. ValueError where there are too many people."""
        if self.too_many:
            raise ValueError(
                f"{self.users:,} people with {len(self.sizes)} attributes are too many to simulate one by one: at most "
                f"{MOST_VALUES // len(self.sizes):,} are drawn. Simulate fewer people; errors fall with their square root."
            )
        rng = np.random.default_rng(self.seed)
        codes = np.empty((self.users, len(self.sizes)), dtype=smallest_type(self.sizes))
        for i, column in enumerate(self.counts):
            codes[:, i] = rng.permutation(np.repeat(np.arange(len(column), dtype=codes.dtype), column))
        return codes

    @property
    def different(self) -> tuple[int, int]:
        """All are taken to differ: they have not been put together."""
        return min(self.users, math.prod(self.sizes)), 1

    @cached_property
    def digest(self) -> str:
        written = repr((self.seed, [column.tolist() for column in self.counts]))
        return hashlib.sha256(written.encode()).hexdigest()

    def within(self, attributes: Sequence[int]) -> Sequence[Counted | Records]:
        if not self.too_many:
            return super().within(attributes)
        others = [self.counts[i] for i in range(len(self.sizes)) if i not in attributes]
        return [
            Drawn([_apportioned(column, users) for column in others], self.seed) for users in self.table(attributes)
        ]

    def _count(self, attributes: tuple[int, ...]) -> np.ndarray:
        if len(attributes) == 1:
            return self.counts[attributes[0]].copy()
        if attributes and not self.too_many:
            return super()._count(attributes)
        check_cells(self.sizes, attributes)
        table = np.array([float(self.users)])
        for i in attributes:
            table = np.multiply.outer(table, self.counts[i] / self.users).ravel()
        return table


Counts = np.ndarray | Counted | Records
"""The people who take part: users of each type (n,), or people asked for by a few attributes."""


def _apportioned(counts: np.ndarray, users: float) -> np.ndarray:
    """(n,) whole numbers that sum to about ``users``, in proportion to ``counts`` (n,)."""
    ends = np.rint(np.cumsum(counts) * (round(users) / counts.sum()))
    return np.diff(ends, prepend=0).astype(np.int64)


def _owners(numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(k,) the entry of ``numbers`` that each of ``places`` (k,) falls into: every entry has as
    many places as it says."""
    return np.searchsorted(np.cumsum(numbers.astype(np.int64)), places, side="right")


def dense(counts: np.ndarray | Tables) -> np.ndarray:
    """(n,) users of each type. ValueError where there are too many types to have a number each."""
    if not isinstance(counts, Tables):
        return np.asarray(counts)
    if isinstance(counts, People) and counts.by_type is not None:
        return counts.by_type
    raise ValueError(
        f"{magnitude(math.prod(counts.sizes))} possible combinations of values are too many to have a number each: this works for at most "
        f"{MOST_TABLE_CELLS:,}. Use fewer attributes, or coarser values."
    )


def drawn_anew(counts: Counts, rng: np.random.Generator) -> Counts:
    """As many people as ``counts`` has, each drawn from its distribution, whoever the others
    are."""
    if isinstance(counts, Records):  # each row for as many people as it happens to be drawn
        weights = np.ones(len(counts.codes)) if counts.weights is None else counts.weights
        return Records(counts.codes, counts.sizes, _drawn(weights, rng))
    found = _drawn(dense(counts), rng)
    return Counted(found, counts.sizes) if isinstance(counts, Counted) else found


def _drawn(before: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) how many of as many people as ``before`` (n,) has are drawn from each of its entries."""
    users, present = int(before.sum()), np.flatnonzero(before)
    counts = np.zeros(before.size, dtype=np.int64)
    counts[present] = rng.multinomial(users, before[present] / users)
    return counts


def users_of(counts: Counts) -> int:
    """How many people take part; shares of them add up to 1 but for rounding."""
    return counts.users if isinstance(counts, People) else round(float(np.sum(counts)))


def checked_counts(counts: Counts, n: int) -> Counts:
    """``counts`` where they are people, or a number from 0 up for each of ``n`` types, else a
    ValueError."""
    if isinstance(counts, People):
        return counts
    checked = None
    with suppress(TypeError, ValueError):
        checked = np.asarray(counts, dtype=float)
    if checked is None or checked.shape != (n,) or not np.all(np.isfinite(checked) & (checked >= 0)):
        raise ValueError(f"Counts must be numbers of users from 0 up, one for each of the {n:,} types.")
    return counts


def smallest_type(sizes: Sequence[int]) -> np.dtype:
    """The smallest whole-number type that holds the value indices of attributes of these sizes."""
    return np.dtype(np.min_scalar_type(max(sizes) - 1))


def records_of(people: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Value indices (N, d) of attributes of these sizes for people given by them, or by their types
    (N,), the last attribute running fastest; or a ValueError."""
    given, n = np.asarray(people), math.prod(sizes)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer) or n > np.iinfo(np.int64).max:
        return check_records(given, sizes)
    if given.size and not 0 <= given.min() <= given.max() < n:
        raise ValueError(f"Types run from 0 to {n - 1:,}; some people lie outside.")
    return np.stack(np.unravel_index(given, tuple(sizes)), axis=1).astype(smallest_type(sizes))


def check_records(records: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Value indices (N, d) of attributes of these sizes, or a ValueError."""
    checked = np.asarray(records)
    if checked.ndim != 2 or checked.shape[1] != len(sizes) or not np.issubdtype(checked.dtype, np.integer):
        raise ValueError(
            f"Records must be whole-number value indices, a row per person and a column for each of the {len(sizes)} "
            f"attributes; got shape {checked.shape} of {checked.dtype}."
        )
    if checked.size:
        low, high = checked.min(axis=0), checked.max(axis=0)
        for i, size in enumerate(sizes):
            if low[i] < 0 or high[i] >= size:
                raise ValueError(f"Values of attribute {i + 1} run from 0 to {size - 1}; some records lie outside.")
    return checked


def check_cells(sizes: Sequence[int], attributes: Sequence[int], names: Sequence[str] | None = None) -> None:
    """ValueError, which names what to coarsen, where the table of these attributes has more than
    `MOST_TABLE_CELLS` cells."""
    cells = math.prod(sizes[i] for i in attributes)
    if cells <= MOST_TABLE_CELLS:
        return
    named = [f"attribute {i + 1}" if names is None else names[i] for i in attributes]
    largest = max(range(len(named)), key=lambda k: sizes[attributes[k]])
    factors = f"{' x '.join(f'{sizes[i]:,}' for i in attributes)} = " if len(named) > 1 else ""
    raise ValueError(
        f"The table of {' x '.join(named)} has {factors}{cells:,} cells, more than the "
        f"{MOST_TABLE_CELLS:,} that are counted: use fewer or coarser values for {named[largest]}, or leave it out."
    )


def people_of(who: object, sizes: Sequence[int]) -> Counted | Records:
    """People as they are, as dense counts (n,), or as records (N, d) of value indices."""
    if isinstance(who, Counted | Records):
        if who.sizes != tuple(sizes):
            raise ValueError(f"The people have attributes of sizes {list(who.sizes)}, the workload of {list(sizes)}.")
        return who
    array = np.asarray(who)
    return Counted(array, sizes) if array.ndim == 1 else Records(array, sizes)
