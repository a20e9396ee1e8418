"""How a file is to be read, and the table that was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, Strict, field_validator, model_validator

from ldp_core.limits import MOST_COLUMN_NAME, MOST_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

Encoding = Literal[
    "utf-8", "utf-16", "utf-32", "cp1252", "latin-1", "iso8859-15", "cp1250", "cp1251", "gb18030", "shift_jis"
]
ENCODINGS: tuple[str, ...] = get_args(Encoding)


class Together(BaseModel):
    """Columns of 0/1 that belong together, under the ``name`` of the one that is read in their place."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=MOST_COLUMN_NAME)
    columns: Annotated[tuple[str, ...], Strict(False), Field(min_length=2, max_length=MOST_COLUMNS)]

    def among(self, names: Sequence[str]) -> list[str]:
        """The ``names`` of the columns of a table, with that in the place of the first of these."""
        first = self.columns[0]
        return [self.name if name == first else name for name in names if name == first or name not in self.columns]


class ReadOptions(BaseModel):
    """How to read a file; None leaves the choice to what the file looks like.

    Attributes:
        delimiter: one character between the cells of a text file.
        encoding: of a text file.
        decimal: the decimal sign in the numbers of a text file. Cells such as 1.234,5 are rewritten as 1234.5 where it is a comma.
        thousands: the sign between thousands in the numbers of a text file; empty where there is none.
        above: lines with cells above the table, which are left out.
        header: the first line names the columns; otherwise they are column_1, column_2, ... or `names`.
        below: lines between the names and the values, such as the texts of questions, which are left out.
        total: a line that adds up all others, and remarks below the table, are left out.
        names: names for all the columns, instead of those in the file.
        sheet: of an Excel workbook; the first one that Excel shows by default.
        hidden: rows that Excel hides, by a filter or by hand, are left out.
        merged: the value of cells of Excel that are merged below each other counts for each of their rows, not only for the first.
        together: columns of 0/1 that are read as one; those that a table lacks are not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    delimiter: str | None = None
    encoding: Encoding | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal["", ",", ".", "'", " "] | None = Field(default=None, exclude_if=lambda sign: sign is None)
    above: int | None = Field(default=None, ge=0, exclude_if=lambda lines: lines is None)
    header: bool | None = None
    below: int | None = Field(default=None, ge=0, exclude_if=lambda lines: lines is None)
    total: bool | None = Field(default=None, exclude_if=lambda total: total is None)
    names: Annotated[tuple[str, ...], Strict(False), Field(max_length=MOST_COLUMNS)] = ()
    sheet: str | None = None
    hidden: bool | None = Field(default=None, exclude_if=lambda hidden: hidden is None)
    merged: bool | None = Field(default=None, exclude_if=lambda merged: merged is None)
    together: Annotated[tuple[Together, ...], Strict(False)] = Field(
        default=(), max_length=MOST_COLUMNS, exclude_if=lambda together: not together
    )

    @field_validator("delimiter")
    @classmethod
    def _one_sign(cls, delimiter: str | None) -> str | None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n\0."):
            raise ValueError(
                "a delimiter is one character such as , or ; but not a letter, a digit or a quotation mark."
            )
        return delimiter

    @model_validator(mode="after")
    def _two_signs(self) -> ReadOptions:
        if self.thousands and self.thousands == self.decimal:
            raise ValueError(
                f"{self.decimal} cannot be both the decimal and the thousands sign: choose another for one."
            )
        return self


@dataclass(frozen=True)
class Loaded:
    """A table as read.

    Attributes:
        table: unique text column names, at least one row.
        options: the options used, with everything that was found out filled in.
        notes: sentences about everything that was guessed, rewritten or left out.
        sheets: of an Excel workbook, the names of those that hold cells, in their order.
    """

    table: pd.DataFrame
    options: ReadOptions
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
