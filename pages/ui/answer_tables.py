"""Answers as pictures: those about two or more columns as a table that the reader chooses, the others with their intervals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import charts, verdicts, wording
from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.workloads import Answers, AnswerTable, answer_tables, wide
from ldp_core.workloads.shown import spread
from pages.ui import layout
from pages.ui.controls import pick
from pages.ui.session.state import Session
from pages.ui.words import plain


def show(
    state: Session, asked: Answers, found: pd.DataFrame, words: str, name: str, data: pd.DataFrame
) -> pd.DataFrame:
    """The answers ``found`` with the ``words`` about all of them, and a download of ``data``. Returns those that are shown: of many some, evenly
    spread, and the table chosen."""
    tables = [table for table in answer_tables(asked) if table.holds(found).sum() == math.prod(table.shape)]
    inside = np.any([np.zeros(len(found), dtype=bool), *(table.holds(found) for table in tables)], axis=0)
    rest = found[~inside]
    rest = rest.iloc[spread(rest.groupby("line").size().tolist() or [0], MOST_SHOWN_QUERIES)[0]]
    if len(rest):
        layout.chart(lambda look: charts.result(rest, look), words, name, data)
    else:
        st.markdown(words)
        layout.download_table(data, name, label="All answers (CSV)")
    if not tables:
        return rest
    with layout.controls(f"{name}-table"):
        titles = [table.title for table in tables]
        named = [
            title if titles.count(title) == 1 else f"{asked.lines[table.line].question}: {title}"
            for title, table in zip(titles, tables, strict=True)
        ]
        table = tables[_chosen(state, "Table", f"{name}-table", named) if len(tables) > 1 else 0]
        at = {
            side: _chosen(state, column, f"{name}-table-{column}", labels)
            for side, (column, labels) in enumerate(table.sides)
            if side > 1
        }
    cells, (down, across) = table.cells(found, at), (table.sides[side][0] for side in table.drawn)
    layout.chart(
        lambda look: charts.answer_table(cells, down, across, look),
        plain(_said(table, at, cells)),
        f"{name}-table",
        lambda: wide(cells, down),
        title=plain(f"{asked.lines[table.line].question}"),
    )
    return pd.concat([rest, cells.drop(columns=["row", "column"])]).sort_index()


def _chosen(state: Session, label: str, key: str, shown: list[str]) -> int:
    """The place of one of what is ``shown``, remembered under its key."""
    now = state.view.get(key, 0)
    choices = dict(enumerate(shown))
    return pick(label, key, now if now in choices else 0, lambda place: state.view.update({key: place}), choices)


def _said(table: AnswerTable, at: dict[int, int], cells: pd.DataFrame) -> str:
    """What a table shows, in words."""
    first, second = table.drawn
    words = " x ".join(table.sides[side][0] for side in (first, second))
    words += "".join(f", {table.sides[side][0]} {table.sides[side][1][label]}" for side, label in at.items())
    told, tally = cells[cells["answer"].notna()], verdicts.tally(cells["verdict"])
    if told.empty:
        return f"{words}: there are no answers."
    largest, unit = told.loc[told["answer"].idxmax()], str(told["unit"].iloc[0])
    off = verdicts.in_unit(told["standard_error"].max(), unit)
    marks = (
        ""
        if tally.usable == tally.judged
        else f" ({verdicts.marked(verdicts.ROUGH)}, {verdicts.marked(verdicts.NOISE)})"
    )
    return (
        f"{words}: answers are off by up to ± {off}. {tally.in_words()[:-1]}{marks}. The largest is that of {largest['name']}, "
        f"{wording.significant(largest['answer'])} ± {verdicts.in_unit(largest['standard_error'], unit)}."
    )
