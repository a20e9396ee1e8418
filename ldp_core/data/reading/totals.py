"""Lines that are no people: one that adds up all others, as tables of counts have at their end, and remarks below a table."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.reading.options import Loaded, ReadOptions
from ldp_core.limits import MOST_TOTALLED_COLUMNS, MOST_TOTALLED_ROWS
from ldp_core.wording import quoted

_WORD = re.compile(
    r"(?i)\W*((grand |sub|over)?-?(totals?|totaux|totale?n?|totaal)( \w+)?|sum|all|overall|insgesamt|gesamt|summe|ensemble|"
    r"somme|suma|razem|итого|всего|合计|总计|合計)\W*"
)


_REMARK = re.compile(
    r"(?i)\W*(sources?|quelle|notes?|n\.?b|remarks?|fuente|copyright|stand|as of|last updated)\b.*[\s:].*|[*\u00a9\u2020].*"
)


_WHERE = '"Lines of totals and remarks"'
_IF_WRONG = f'If it stands for people, choose "rows like others" under {_WHERE}.'


@dataclass(frozen=True)
class Line:
    """The row at ``place`` is no person, as ``note`` says. It is ``left_out`` if that is sure, or stated."""

    place: int
    left_out: bool
    note: str


def left_out(table: pd.DataFrame, options: ReadOptions) -> tuple[list[int], ReadOptions, tuple[str, ...]]:
    """The places of remarks below the rows, and of the line of totals, the last one or the first; the options used; and notes. None
    where the options say that these are rows like others."""
    rows, width = table.shape
    if options.total is False or not 3 <= rows <= MOST_TOTALLED_ROWS or not 2 <= width <= MOST_TOTALLED_COLUMNS:
        return [], options, ()
    remarks = _remarks(table)
    last, stated = rows - 1 - len(remarks), bool(options.total)
    totals = [line for place in (last, 0) if (line := _total(table.head(last + 1), place, stated)) is not None]
    lines = [*remarks, *sorted(totals, key=lambda line: not line.left_out)[:1]]
    gone = [line.place for line in lines if line.left_out]
    used = options.model_copy(update={"total": bool(gone)}) if lines else options
    return gone, used, tuple(line.note for line in lines)


def without_extra(loaded: Loaded) -> Loaded:
    """The table without the lines that are no people, as notes say."""
    gone, used, notes = left_out(loaded.table, loaded.options)
    table = loaded.table.drop(index=loaded.table.index[gone]).reset_index(drop=True) if gone else loaded.table
    return replace(loaded, table=table, options=used, notes=(*loaded.notes, *notes))


def _remarks(table: pd.DataFrame) -> list[Line]:
    """The last rows, if they fill one cell only, unlike all others, with a text that is plainly a remark."""
    parsed = [columns.parse(table[name]) for name in table]
    filled = np.sum([column.codes >= 0 for column in parsed], axis=0)
    first, lines = parsed[0], list[Line]()
    numbers = np.append(np.isfinite(first.numbers), False)[first.codes]
    for place in range(len(table) - 1, max(2, len(table) - 11), -1):
        text = str(first.texts[first.codes[place]]) if first.codes[place] >= 0 else ""
        plainly = _REMARK.fullmatch(text) or (numbers[:place].all() and not numbers[place])
        if len(parsed) < 3 or filled[place] > 1 or not text or not plainly:
            break
        note = f"The line {quoted(text)} below the table was left out, as a remark. {_IF_WRONG}"
        lines.append(Line(place, True, note))
    alone = all((first.codes == first.codes[line.place]).sum() == 1 for line in lines)
    return lines if alone and (filled[: len(table) - len(lines)] > 1).all() else []


def _total(table: pd.DataFrame, place: int, stated: bool) -> Line | None:
    """The row at ``place`` as the one that adds up all others, if it seems to be."""
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
            called = f" {quoted(label)}" if label else ""
            note = f"The line{called} was left out, since it adds up all others. {_IF_WRONG}"
            if not sure and not stated:
                note = f"The line{called} was read as a row. If it adds up all others, leave it out under {_WHERE}."
            return Line(place, sure or stated, note)
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
