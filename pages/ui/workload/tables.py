"""The results of the Workload page for a survey: a picture of its questions, and how hard they are,
by sets of attributes instead of types."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ldp_core import charts, frames, limits, wording
from ldp_core.designs import Setting
from ldp_core.workloads import Survey, WorkloadPart, example_queries, tables_asked
from pages.ui import layout
from pages.ui.session.state import Session
from pages.ui.words import plain
from pages.ui.workload import figures


def show(state: Session, design: Setting, parts: Sequence[WorkloadPart]) -> None:
    """All results of the page."""
    survey = design.workload.survey
    if survey is None:
        return
    _metrics(state, design)
    figures.hardness(state, design)
    if len({group.attributes for group in survey.groups}) > 1:
        _asked(state, design, survey, parts)
        _shares(state, survey)


def _metrics(state: Session, design: Setting) -> None:
    """The questions in numbers."""
    asked, row = tables_asked(design.workload, design.domain.shape), layout.metrics("workload")
    row.metric("Queries (p)", f"{asked.queries:,}", help="Numbers that will be estimated, each a count of people.")
    row.metric(
        "Sets of columns", f"{asked.sets:,}", help="Each set has a table of counts that queries are answered from."
    )
    names = plain(" x ".join(design.domain.attributes[i].name for i in asked.largest))
    row.metric("Largest table (cells)", f"{asked.largest_cells:,}", help=f"The table of {names}.")
    figures.users_metric(row, state, design)


def _asked(state: Session, design: Setting, survey: Survey, parts: Sequence[WorkloadPart]) -> None:
    """The sets of attributes in the questions, with some queries by name."""
    names = (survey.query_name(query) for query in example_queries(survey))
    named = ", ".join(f"**{plain(wording.shortened(name))}**" for name in names)

    def table() -> pd.DataFrame:
        many = figures.groups_of(state, design, parts)
        return figures.query_table(design, many)

    layout.chart(
        lambda look: charts.asked_together(survey, look),
        f"How many of the {survey.num_queries:,} queries are about each column, and about each two of them together. Examples: {named}.",
        "workload",
        table if survey.num_queries <= limits.MOST_DOWNLOADED_QUERIES else None,
    )


def _shares(state: Session, survey: Survey) -> None:
    """The sets of attributes that make the questions hard."""
    try:
        shares = state.results.cached(("attribute sets", survey.digest), lambda: frames.attribute_sets(survey))
    except ValueError as error:
        st.caption(plain(str(error)))
        return
    first, drawn = shares.iloc[0], shares.head(limits.MOST_DRAWN_SETS)
    some = (
        f"These {len(drawn)} of {len(shares):,} sets hold {wording.share(drawn['share'].sum())}."
        if len(drawn) < len(shares)
        else f"These are all {len(shares):,} sets."
    )
    layout.chart(
        lambda look: charts.attribute_sets(shares, look),
        f"Which columns make the questions hard: reports that treat the values of a column alike best spend "
        f"{wording.share(first['share'])} of their information on **{plain(wording.shortened(first['attributes']))}**. "
        f"{some} Of each set, only what varies with exactly its columns is counted: {wording.magnitude(shares['dimension'].sum())} "
        "independent contrasts in all.",
        "attribute-sets",
        shares,
    )
