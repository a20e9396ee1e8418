"""Users of each type, from rows or weighted rows in memory or a local file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain import Attribute, Domain, Encoding
from ldp_core.data.reading import LocalTable, TooManyRows
from ldp_core.limits import MOST_COUNTED_USERS, MOST_TABLE_CELLS, MOST_VALUES
from ldp_core.people import Records, smallest_type
from ldp_core.wording import quoted


@dataclass(frozen=True)
class Tally:
    """Users of each type.

    Attributes:
        counts: (n,) int64, in the order of the domain's types (C order of its attributes); past `MOST_TABLE_CELLS` types the
            people themselves.
        users: their sum.
        dropped: users left out for a missing value.
        outside: users with a value outside the domain, counted in "(other)" or clamped.
        notes: sentences that say, by attribute, how many users were left out or moved, and why.
        sums: by the place of each attribute made of bins of numbers, the numbers themselves added up over the users of each type.
    """

    counts: np.ndarray | Records
    users: int
    dropped: int
    outside: int
    notes: tuple[str, ...] = ()
    sums: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.counts.nbytes + sum(numbers.nbytes for numbers in self.sums.values())


def tally(
    table: pd.DataFrame | pd.Series | LocalTable, domain: Domain | Attribute, weights: str | np.ndarray | None = None
) -> Tally:
    """Count the users of each type; a row is one user, or the number of users that ``weights`` gives.

    Parameters
    ----------
    table : DataFrame, Series or LocalTable
        A table with the domain's columns, or one column for a single attribute.
    domain : Domain or Attribute
    weights : str or ndarray, optional
        The name of a column of counts, or (rows,) counts for a table in memory.

    Returns
    -------
    Tally

    Raises
    ------
    ValueError
        No users are left, a value the domain refuses, a missing column, counts that are not whole numbers.
    """
    domain = domain if isinstance(domain, Domain) else Domain(attributes=(domain,))
    if isinstance(table, pd.Series) and len(domain.attributes) > 1:
        raise ValueError("a single column cannot fill several attributes: pass the whole table.")
    report, rows = _Report(), _Rows(domain)
    by_type = domain.size <= MOST_TABLE_CELLS
    counts, sums = np.zeros(domain.size if by_type else 0, dtype=np.int64), dict[int, np.ndarray]()
    for frame, times in _chunks(table, domain, weights):
        users = times * checked_weights(frame, weights)
        parts = domain.encode_each(frame, None if weights is None and not isinstance(table, LocalTable) else users)
        kept = np.all([part.codes >= 0 for part in parts], axis=0)
        codes = [part.codes[kept] for part in parts]
        if by_type:
            types = domain.join(codes)
            counts += np.bincount(types, users[kept], minlength=domain.size).astype(np.int64)
            _add_up(sums, domain, types, parts, kept, users)
        else:
            rows.add(codes, users[kept])
        report.rows += int(times.sum())
        report.add(domain, parts, kept, users)
    report.check()
    people = counts if by_type else rows.people()
    return Tally(people, report.users - report.dropped, report.dropped, report.outside, report.notes(), sums)


def _add_up(
    sums: dict[int, np.ndarray],
    domain: Domain,
    types: np.ndarray,
    parts: tuple[Encoding, ...],
    kept: np.ndarray,
    users: np.ndarray,
) -> None:
    """Add the numbers of the ``kept`` rows, of these ``types``, to the ``sums`` of each type. Who has no number counts as 0; a label of a
    bin is no number that is known."""
    for place, (attribute, part) in enumerate(zip(domain.attributes, parts, strict=True)):
        if part.numbers is not None:
            ordinary = part.codes[kept] < attribute.size - attribute.special
            numbers = np.where(ordinary, part.numbers[kept], 0.0) * users[kept]
            sums[place] = sums.get(place, 0.0) + np.bincount(types, numbers, minlength=domain.size)


class _Rows:
    """People one by one, each row with the users it stands for. ValueError where they do not fit."""

    def __init__(self, domain: Domain):
        self._shape, self._type = domain.shape, smallest_type(domain.shape)
        self._codes: list[np.ndarray] = []
        self._users: list[np.ndarray] = []
        self._rows = 0

    def add(self, codes: list[np.ndarray], users: np.ndarray) -> None:
        self._rows += len(users)
        if self._rows * len(self._shape) > MOST_VALUES:
            raise ValueError(
                f"more than {MOST_VALUES // len(self._shape):,} rows of {len(self._shape)} columns do not fit into memory: use "
                "fewer columns, or a part of the rows."
            )
        self._codes.append(np.stack(codes, axis=1).astype(self._type))
        self._users.append(users)

    def people(self) -> Records:
        users = np.concatenate(self._users)
        return Records(np.concatenate(self._codes), self._shape, None if (users == 1).all() else users)


def checked_weights(table: pd.DataFrame, weights: str | np.ndarray | None) -> np.ndarray:
    """(rows,) int64: users each row stands for, ones where `weights` is None.

    Raises
    ------
    ValueError
        Counts that are missing, negative, not whole, or more than 2^53 in all.
    """
    if weights is None:
        return np.ones(len(table), dtype=np.int64)
    what = "the weights"
    if isinstance(weights, str):
        if weights not in table.columns:
            raise ValueError(f"the table lacks the column of counts {quoted(weights)}: choose one that it has.")
        column = columns.parse(table[weights])
        what, numbers = column.name, np.append(column.numbers, np.nan)[column.codes]
    else:
        numbers = np.asarray(weights, dtype=float)
        if numbers.shape != (len(table),):
            raise ValueError(f"there are {numbers.size:,} counts for {len(table):,} rows: give one for each row.")
    bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers <= MOST_COUNTED_USERS))
    if bad.any():
        shown = f"{table[weights].iloc[int(np.argmax(bad))]}" if isinstance(weights, str) else numbers[bad][0]
        raise ValueError(
            f"{bad.sum():,} of {bad.size:,} counts in {what} are not whole numbers of at least 0, such as {str(shown)[:30]!r} "
            f"in row {int(np.argmax(bad)) + 1:,}: choose the column that holds the counts, or fix them."
        )
    # The sum of floats may be rounded down to the limit; that of whole numbers overflows far beyond it.
    if numbers.sum() > MOST_COUNTED_USERS or numbers.astype(np.int64).sum() > MOST_COUNTED_USERS:
        raise ValueError(f"the counts in {what} add up to more than 2^53 users: check the column.")
    return numbers.astype(np.int64)


@dataclass
class _Report:
    """The rows left out, by reason, added up over chunks."""

    rows: int = 0
    users: int = 0
    dropped: int = 0
    outside: int = 0
    by_attribute: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, domain: Domain, parts: tuple[Encoding, ...], kept: np.ndarray, users: np.ndarray) -> None:
        """Rows: each attribute of them, a mask of those that are kept, and the users each stands for."""
        self.users += int(users.sum())
        self.dropped += int(users[~kept].sum())
        self.outside += int(users[np.any([part.outside for part in parts], axis=0)].sum())
        for attribute, part in zip(domain.attributes, parts, strict=True):
            happened = {"dropped": part.codes < 0, "unread": part.unread}
            if attribute.missing == "category":
                happened["category"] = part.missing
            if attribute.outside != "refuse":
                happened[attribute.outside] = part.outside
            for what, where in happened.items():
                if some := int(users[where].sum()):
                    self.by_attribute[attribute.name, what] += some

    def check(self) -> None:
        if self.users == self.dropped:
            reason = "all have missing values" if self.dropped else "all counts are 0"
            raise ValueError(
                f"no users are left of {self.rows:,} rows, since {reason}: "
                "choose another column, or make missing values a category."
            )

    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"{users:,} of {self.users:,} users {_HAPPENED[what].format(name=name, **_VERBS[users == 1])}."
            for (name, what), users in self.by_attribute.items()
        )


_HAPPENED = {
    "dropped": "{are} left out because {name} is missing",
    "unread": "{have} a text in {name} that could not be read and counts as missing",
    "category": "{have} no {name} and {count} as a category of their own",
    "other": "{have} a value of {name} outside the domain and {count} as (other)",
    "clamp": "{have} a value of {name} outside the domain and {were} moved to the nearest end",
}
_VERBS = (
    {"are": "are", "have": "have", "count": "count", "were": "were"},
    {"are": "is", "have": "has", "count": "counts", "were": "was"},  # of one
)


def _chunks(
    table: pd.DataFrame | pd.Series | LocalTable, domain: Domain, weights: str | np.ndarray | None
) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """Rows, and how many times each occurs."""
    if isinstance(table, pd.Series):
        table = table.to_frame(domain.attributes[0].name)
    if not isinstance(table, LocalTable):
        yield table, np.ones(len(table), dtype=np.int64)
        return
    needed = columns_needed([attribute.name for attribute in domain.attributes], weights)
    if domain.size <= MOST_TABLE_CELLS:
        try:
            yield table.counts(needed)
            return
        except TooManyRows:
            pass
    # Nearly every row is different, so counting them first saves nothing.
    for frame in table.batches(needed):
        yield frame, np.ones(len(frame), dtype=np.int64)


def columns_needed(names: list[str], weights: str | np.ndarray | None) -> list[str]:
    """The columns of a local file to read: `names` and that of the counts."""
    if isinstance(weights, np.ndarray):
        raise ValueError("the counts of a local file must be one of its columns: give the name of that column.")
    return names if weights is None else list(dict.fromkeys([*names, weights]))
