"""Strategy matrices of somebody's own, as a configuration holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from ldp_core import library
from ldp_core.library.table_strategies import LOOKS, TableStrategy, exact_table, hold
from ldp_core.limits import MOST_SUPPLIED_CHARACTERS, MOST_SUPPLIED_ENTRIES, MOST_SUPPLIED_NAME
from ldp_core.mechanisms.strategy_files import read_strategy
from ldp_core.workloads.matrix_part import pack, unpack

SUPPLIED_TABLES = len(LOOKS)


class SuppliedTable(BaseModel):
    """A strategy matrix under a name: ``reports`` x ``types`` probabilities, an exact table, in ``data`` (see
    `ldp_core.workloads.matrix_part`). As long as this exists, `ldp_core.library.spec` knows its `mechanism`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    name: str
    look: Annotated[int, Field(ge=1, le=SUPPLIED_TABLES)]
    reports: Annotated[int, Field(ge=2, le=MOST_SUPPLIED_ENTRIES)]
    types: Annotated[int, Field(ge=2, le=MOST_SUPPLIED_ENTRIES)]
    data: Annotated[str, Field(max_length=MOST_SUPPLIED_CHARACTERS)]
    _own: TableStrategy = PrivateAttr()

    @model_validator(mode="after")
    def _check(self) -> SuppliedTable:
        if self.reports * self.types > MOST_SUPPLIED_ENTRIES:
            raise ValueError(f"a strategy of {self.reports:,} x {self.types:,} numbers is too large: merge reports.")
        self._own = hold(self.name, self.look, unpack(self.data, self.reports, self.types))
        return self

    @classmethod
    def from_file(
        cls, content: bytes, name: str, held: Sequence[SuppliedTable], n: int, labels: Sequence[str] | None = None
    ) -> SuppliedTable:
        """The matrix in an uploaded file (see `read_strategy`) on ``n`` types, with a look that those ``held`` do not have. ValueError, one
        sentence, where it cannot be used."""
        free = [look for look in range(1, SUPPLIED_TABLES + 1) if look not in {supplied.look for supplied in held}]
        if not free:
            raise ValueError(f"A design holds at most {SUPPLIED_TABLES} matrices of your own: remove one first.")
        table = exact_table(read_strategy(content, n, labels))
        data = pack(table)
        check_together([*(supplied.data for supplied in held), data])
        own = TableStrategy(name.strip(), free[0], table)
        check_names([*(supplied.name for supplied in held), own.name])
        return cls(name=own.name, look=free[0], reports=table.shape[0], types=table.shape[1], data=data)

    @property
    def mechanism(self) -> str:
        """Its name as that of a mechanism."""
        return self._own.mechanism

    @property
    def epsilon(self) -> float:
        """Its epsilon, audited."""
        return self._own.epsilon

    @property
    def table(self) -> np.ndarray:
        """(reports, types) its probabilities."""
        return self._own.table


def check_together(packed: Iterable[str]) -> None:
    """ValueError, one sentence, where matrices are too large to be kept in one design."""
    size = sum(map(len, packed))
    if size > MOST_SUPPLIED_CHARACTERS:
        raise ValueError(
            f"The matrices of your own would take {size / 1e6:.1f} MB in the file of the design, packed, and {MOST_SUPPLIED_CHARACTERS / 1e6:g} MB are "
            "allowed: merge reports, use coarser bins, or remove another."
        )


def check_names(names: Sequence[str]) -> None:
    """ValueError, one sentence, where two mechanisms would be called the same."""
    taken = {entry.title.casefold(): entry.title for entry in library.REGISTRY.values()}
    for name in names:
        if name.casefold() in taken:
            raise ValueError(f"There is a mechanism called {taken[name.casefold()]} already: choose another name.")
        taken[name.casefold()] = name


def name_for(file: str, held: Sequence[SuppliedTable]) -> str:
    """A name for a matrix from that of its ``file``, which no mechanism has."""
    words = re.findall(r"[^\W_]+", re.sub(r"\.\w+$", "", file))
    name = " ".join(words)[: MOST_SUPPLIED_NAME - 3].strip() or "Own matrix"
    for candidate in (name, *(f"{name} {number}" for number in range(2, SUPPLIED_TABLES + 3))):
        try:
            check_names([*(supplied.name for supplied in held), candidate])
        except ValueError:
            continue
        return candidate
    return name
