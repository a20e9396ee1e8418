"""A line that adds up all others, as tables of counts have at their end: counted, everybody would be in it twice."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.reading.options import Loaded
from ldp_core.wording import quoted

MOST_ROWS, MOST_COLUMNS = 10_000, 100
"""Tables of counts are small: in larger tables no line of totals is looked for."""
_WORD = re.compile(
    r"(?i)\W*((grand |sub|over)?-?(totals?|totaux|totale?n?|totaal)( \w+)?|sum|all|overall|insgesamt|gesamt|summe|ensemble|"
    r"somme|suma|razem|итого|всего|合计|总计|合計)\W*"
)


@dataclass(frozen=True)
class Total:
    """The row at ``place`` adds up all others: in ``column`` it alone has this ``label``, which may be
    blank. ``sure`` if a column of numbers bears it out."""

    place: int
    column: str
    label: str
    sure: bool

    def note(self, left_out: bool) -> str:
        """What was done with it."""
        called = f" {quoted(self.label)}" if self.label else ""
        if left_out:
            return f"The line{called} that adds up all others was left out; say so if it is a row like them."
        return f"The line{called} was read as a row like all others; say so if it adds them up."


def total_of(table: pd.DataFrame, stated: bool | None) -> Total | None:
    """The line of totals, the last one or the first; None where there is none, or where it is ``stated`` that there is none."""
    if stated is False or not 3 <= len(table) <= MOST_ROWS or not 2 <= table.shape[1] <= MOST_COLUMNS:
        return None
    found = [total for place in (len(table) - 1, 0) if (total := _at(table, place)) is not None]
    return next((total for total in found if total.sure), next((total for total in found if total.label), None))


def without_total(loaded: Loaded) -> Loaded:
    """The table without its line of totals, where it seems or is stated to have one; a note says so."""
    total = total_of(loaded.table, loaded.options.total)
    if total is None:
        return loaded
    left_out = total.sure or bool(loaded.options.total)
    table = (
        loaded.table.drop(index=loaded.table.index[total.place]).reset_index(drop=True) if left_out else loaded.table
    )
    used = loaded.options.model_copy(update={"total": left_out})
    return replace(loaded, table=table, options=used, notes=(*loaded.notes, total.note(left_out)))


def _at(table: pd.DataFrame, place: int) -> Total | None:
    ends = table.iloc[[place]]
    cells = [columns.parse(ends[name]) for name in table]
    labels = [str(cell.texts[0]) if len(cell.texts) else "" for cell in cells]
    likely = [i for i, label in enumerate(labels) if not label or _WORD.fullmatch(label)]
    for i in sorted(likely, key=lambda i: not labels[i]):
        label, name = labels[i], str(table.columns[i])
        column = columns.parse(table[name])
        alike = column.codes == (column.codes[place] if label else -1)
        if alike.sum() > 1:
            continue
        sums = [_adds_up(table[other], place) for other in table if other != name]
        sure = True in sums and (bool(label) or False not in sums)
        if sure or (label and False in sums):
            return Total(place, name, label, sure)
    return None


def _adds_up(cells: pd.Series, place: int) -> bool | None:
    """True if a cell is the sum of all others and larger than each; None where these are no numbers."""
    column = columns.parse(cells)
    numbers = np.append(column.numbers, np.nan)[column.codes]
    others = np.delete(numbers, place)
    if np.isfinite(others).sum() < 2 or np.isnan(others[np.delete(column.codes, place) >= 0]).any():
        return None
    total, largest = float(np.nansum(others)), float(np.nanmax(others))
    return bool(total > largest and np.isclose(numbers[place], total, rtol=1e-9, atol=0))
