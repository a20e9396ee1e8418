"""Users of each type, from rows or weighted rows in memory or a local file, for all types or only those that occur."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import Attribute, Domain
from ldp_core.data.domain.attributes import BaseAttribute
from ldp_core.data.reading import LocalTable
from ldp_core.data.reading.local import TooManyRows

LARGEST_TALLY = 2**26
"""Most types that `tally` counts into an array: half a gigabyte."""
MOST_USERS = 2**53


@dataclass(frozen=True)
class Tally:
    """Users of each type.

    Attributes:
        counts: (n,) int64, in the order of the domain's types (C order of its attributes).
        users: their sum.
        dropped: users left out for a missing value.
        outside: users with a value outside the domain, counted in "(other)" or clamped.
        notes: sentences that say, by attribute, how many users were left out or moved, and why.
    """

    counts: np.ndarray
    users: int
    dropped: int
    outside: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SparseTally:
    """Users of the types that occur, of a domain too large for an array.

    Attributes:
        types: (k,) int64, increasing; counts: (k,) int64, all positive.
        n: number of types of the domain; the others as in `Tally`.
    """

    types: np.ndarray
    counts: np.ndarray
    n: int
    users: int
    dropped: int
    outside: int
    notes: tuple[str, ...] = ()

    def dense(self) -> np.ndarray:
        """(n,) int64 counts; ValueError past `LARGEST_TALLY` types."""
        _check_dense(self.n)
        counts = np.zeros(self.n, dtype=np.int64)
        counts[self.types] = self.counts
        return counts


def tally(
    table: pd.DataFrame | pd.Series | LocalTable, domain: Domain | Attribute, weights: str | np.ndarray | None = None
) -> Tally:
    """Count the users of each type; a row is one user, or as many users as `weights` says.

    Args:
        table: a table with the domain's columns, or one column for a single attribute.
        weights: the name of a column of counts, or (rows,) counts for a table in memory.

    Raises:
        ValueError: no users are left, a value the domain refuses, a missing column, counts that are not whole numbers.
    """
    domain = _as_domain(domain)
    if isinstance(table, pd.Series) and len(domain.attributes) > 1:
        raise ValueError("a single column cannot fill several attributes: pass the whole table.")
    _check_dense(domain.size)
    counts, report = np.zeros(domain.size, dtype=np.int64), _Report()
    for types, users in _encoded(table, domain, weights, report):
        counts += np.bincount(types, users, minlength=domain.size).astype(np.int64)
    report.check()
    return Tally(counts, int(counts.sum()), report.dropped, report.outside, report.notes())


def tally_sparse(
    table: pd.DataFrame | pd.Series | LocalTable, domain: Domain | Attribute, weights: str | np.ndarray | None = None
) -> SparseTally:
    """As `tally`, for domains of any size: only the types that occur."""
    domain, report = _as_domain(domain), _Report()
    types, counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for some, users in _encoded(table, domain, weights, report):
        types, position = np.unique(np.concatenate([types, some]), return_inverse=True)
        counts = np.bincount(position, np.concatenate([counts, users]), minlength=types.size).astype(np.int64)
    report.check()
    types, counts = types[counts > 0], counts[counts > 0]
    return SparseTally(types, counts, domain.size, int(counts.sum()), report.dropped, report.outside, report.notes())


def checked_weights(table: pd.DataFrame, weights: str | np.ndarray | None) -> np.ndarray:
    """(rows,) int64: users each row stands for, ones where `weights` is None.

    Raises:
        ValueError: counts that are missing, negative, not whole, or more than 2^53 in all.
    """
    if weights is None:
        return np.ones(len(table), dtype=np.int64)
    what = "the weights"
    if isinstance(weights, str):
        if weights not in table.columns:
            raise ValueError(f"the table lacks the column of counts {columns.quoted(weights)}: choose one that it has.")
        column = columns.parse(table[weights])
        what, numbers = column.name, np.append(column.numbers, np.nan)[column.codes]
    else:
        numbers = np.asarray(weights, dtype=float)
        if numbers.shape != (len(table),):
            raise ValueError(f"there are {numbers.size:,} counts for {len(table):,} rows: give one for each row.")
    bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers <= MOST_USERS))
    if bad.any():
        shown = f"{table[weights].iloc[int(np.argmax(bad))]}" if isinstance(weights, str) else numbers[bad][0]
        raise ValueError(
            f"{bad.sum():,} of {bad.size:,} counts in {what} are not whole numbers from 0, such as {str(shown)[:30]!r} "
            f"in row {int(np.argmax(bad)) + 1:,}: choose the column that holds the counts, or mend them."
        )
    # The sum of floats may be rounded down to the limit; that of whole numbers overflows far beyond it.
    if numbers.sum() > MOST_USERS or numbers.astype(np.int64).sum() > MOST_USERS:
        raise ValueError(f"the counts in {what} add up to more than 2^53 users: check the column.")
    return numbers.astype(np.int64)


@dataclass
class _Report:
    """What is left out and why, added up over chunks of rows."""

    rows: int = 0
    users: int = 0
    kept: int = 0
    dropped: int = 0
    outside: int = 0
    by_attribute: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, attribute: BaseAttribute, what: str, users: int) -> None:
        key = (attribute.name, what)
        if users:
            self.by_attribute[key] = self.by_attribute.get(key, 0) + users

    def check(self) -> None:
        if self.kept == 0:
            reason = "all have missing values" if self.dropped else "all counts are 0"
            raise ValueError(
                f"no users are left of {self.rows:,} rows, since {reason}: "
                "choose another column, or make missing values a category."
            )

    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"{users:,} of {self.users:,} users {_HAPPENED[what].format(name=name)}."
            for (name, what), users in self.by_attribute.items()
        )


_HAPPENED = {
    "dropped": "are left out because {name} is missing",
    "unread": "have a text in {name} that could not be read and counts as missing",
    "category": "have no {name} and count as a category of their own",
    "other": "have a value of {name} outside the domain and count as (other)",
    "clamp": "have a value of {name} outside the domain and were moved to the nearest end",
}


def _encoded(
    table: pd.DataFrame | pd.Series | LocalTable, domain: Domain, weights: str | np.ndarray | None, report: _Report
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Types and users of the rows that are kept, chunk by chunk; what is left out goes into `report`."""
    for frame, times in _chunks(table, domain, weights):
        users = times * checked_weights(frame, weights)
        weighted = None if weights is None and not isinstance(table, LocalTable) else users
        parts = domain.encode_rows(frame, weighted)
        types = domain.join([part.codes for part in parts])
        kept = types >= 0
        report.rows += int(times.sum())
        report.users += int(users.sum())
        report.kept += int(users[kept].sum())
        report.dropped += int(users[~kept].sum())
        report.outside += int(users[np.any([part.outside for part in parts], axis=0)].sum())
        for attribute, part in zip(domain.attributes, parts, strict=True):
            report.add(attribute, "dropped", int(users[part.codes < 0].sum()))
            report.add(attribute, "unread", int(users[part.unread].sum()))
            if attribute.missing == "category":
                report.add(attribute, "category", int(users[part.missing].sum()))
            if attribute.outside != "refuse":
                report.add(attribute, attribute.outside, int(users[part.outside].sum()))
        yield types[kept], users[kept]


def _chunks(
    table: pd.DataFrame | pd.Series | LocalTable, domain: Domain, weights: str | np.ndarray | None
) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Rows, and how many times each occurs."""
    if isinstance(table, pd.Series):
        table = table.to_frame(domain.attributes[0].name)
    if not isinstance(table, LocalTable):
        yield table, np.ones(len(table), dtype=np.int64)
        return
    needed = [attribute.name for attribute in domain.attributes]
    needed = list(dict.fromkeys(needed if weights is None else [*needed, weights]))
    try:
        yield table.counts(needed)
        return
    except TooManyRows:
        pass
    # Nearly every row is different, so counting them first saves nothing.
    for frame in table.batches(needed):
        yield frame, np.ones(len(frame), dtype=np.int64)


def _as_domain(domain: Domain | Attribute) -> Domain:
    return domain if isinstance(domain, Domain) else Domain(attributes=(domain,))


def _check_dense(size: int) -> None:
    if size > LARGEST_TALLY:
        raise ValueError(f"{size:,} types are too many to count one by one: use coarser bins or fewer attributes.")
