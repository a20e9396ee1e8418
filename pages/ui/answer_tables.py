"""Answers as pictures: those about two or more columns as a table that the reader chooses, the others with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ldp_core import charts, verdicts, wording
from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.workloads import Questionnaire, answer_tables
from ldp_core.workloads.shown import spread
from pages.ui import layout, say
from pages.ui.session.state import Session

FITS = 16
"""Letters of a column's name in the picker: two of them fit on a telephone."""


def result_and_tables(
    state: Session,
    questionnaire: Questionnaire,
    found: pd.DataFrame,
    words: str,
    name: str,
    like: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The answers ``found`` with the ``words`` about all of them, and a download. Returns those that are shown: the table chosen, and of many others
    some, evenly spread. ``like`` is what was promised, on whose axes they are drawn."""
    whole = len(found) == sum(line.workload.num_queries for line in questionnaire.lines)
    tables = answer_tables(questionnaire) if whole else []
    rest = found.drop([row for table in tables for row in table.cells(found, {}).index])
    rest = rest.iloc[spread(rest.groupby("line").size().tolist() or [0], MOST_SHOWN_QUERIES)[0]]
    if len(rest):
        layout.chart(lambda look: charts.result(rest, look, like), words, name, found)
    else:
        st.markdown(say.plain(words))
        layout.download_table(found, name, label="All answers (CSV)")
    if not tables:
        return rest
    with layout.controls(f"{name}-table"):
        several = len({table.line for table in tables}) > 1
        named = [table.title(FITS) for table in tables]
        if several:
            named = [
                f"{questionnaire.lines[one.line].question}: {what}" for one, what in zip(tables, named, strict=True)
            ]
        table = tables[_chosen(state, "Table", f"{name}-table", named)]
        at = {
            k: _chosen(state, say.plain(table.sides[k][0]), f"{name}-table-{k}", table.sides[k][1])
            for k in range(2, len(table.sides))
        }
    cells = table.cells(found, at)
    where = "".join(f", {table.sides[k][0]} {table.sides[k][1][label]}" for k, label in at.items())
    down, across = (table.sides[k][0] for k in table.drawn)
    layout.chart(
        lambda look: charts.table(cells, look),
        _said(cells),
        f"{name}-table",
        lambda: table.wide(cells),
        title=f"{down} (down) x {across} (across){where}",
    )
    return pd.concat([rest, cells[found.columns]]).sort_index()


def _chosen(state: Session, label: str, key: str, shown: Sequence[str]) -> int:
    """The place of one of what is ``shown``, remembered under its key."""
    return st.selectbox(
        say.plain(label), range(len(shown)), format_func=shown.__getitem__, key=key, persist_state="session"
    )


def _said(cells: pd.DataFrame) -> str:
    """What a table shows, in words."""
    answered, unit, tally = cells[cells["answer"].notna()], str(cells["unit"].iloc[0]), verdicts.tally(cells["verdict"])
    if answered.empty:
        return "There are no answers here."
    largest, off = answered.loc[answered["answer"].idxmax()], verdicts.in_unit(answered["standard_error"].max(), unit)
    return (
        f"Answers here are off by up to ± {off}. {tally.in_words()} {verdicts.MARKS[verdicts.ROUGH]} is rough, {verdicts.MARKS[verdicts.NOISE]} noise. "
        f"The largest is that of {largest['name']}: {wording.significant(largest['answer'])} ± {verdicts.in_unit(largest['standard_error'], unit)}."
    )
