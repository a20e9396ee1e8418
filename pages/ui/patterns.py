"""Strategies as pictures: which types share a report, and for a survey who is asked about what."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ldp_core import charts, frames, limits, wording
from ldp_core.data.domain import Domain
from ldp_core.designs import Setting
from ldp_core.mechanisms import Mechanism, ScrambledPatterns, SplitSurvey, StratifiedSurveyMechanism
from ldp_core.mechanisms.report_table import ReportTable
from ldp_core.mechanisms.surveys.face import SurveyMechanism
from ldp_core.workloads import Survey
from pages.ui import layout, say
from pages.ui.session.state import Session

PICTURE_BYTES = 2**21
TITLES = {"bits": "How likely each bit is 1", "numbers": "The numbers of a report"}
DRAWN_STRATEGIES = 6
"""Most strategies of their own that are drawn."""


def table_of(setting: Setting, mechanism: Mechanism) -> ReportTable:
    """The table that the picture of a mechanism shows. ValueError, one sentence, where it has none."""
    key = ("report table", mechanism.digest)
    return setting.results.cached(key, mechanism.report_table, lambda table: table.entries.nbytes)


def picture(setting: Setting, mechanism: Mechanism, look: charts.Theme) -> go.Figure:
    """The picture of that table. Finding the order of its rows takes a tenth of a second."""
    prior = setting.cases[setting.aim(mechanism.name)].prior if setting.workload.survey is None else None
    key = ("patterns", mechanism.digest, setting.naming, None if prior is None else prior.tobytes(), look)
    table = table_of(setting, mechanism)
    draw = lambda: charts.report_table(table, setting.labels, look, mechanism.name, prior)  # noqa: E731
    return setting.results.cached(key, draw, lambda figure: PICTURE_BYTES)


def meaning(table: ReportTable, mechanism: Mechanism) -> str:
    """What the picture of a table shows, in words."""
    rows, bits = len(table.entries), wording.count(math.ceil(mechanism.bits_per_report))
    low, high = (wording.significant(float(end)) for end in (table.entries.min(), table.entries.max()))
    if table.kind == "bits":
        some = f" {rows:,} of them are drawn, evenly spread."
        words = (
            f"Each row is a bit of the report: its probability of being 1 is {low} to {high}, depending on the type."
        )
    elif table.kind == "numbers":
        some = ""
        words = f"Each row is one of the {rows:,} numbers of a report: its mean for each type."
    else:
        some = f" They are drawn at random: all reports, of {bits} bits each, are too many to draw."
        words = f"Each of the {rows:,} reports is a band, taller the more common it is."
    return f"{words}{some if table.sampled else ''} {table.note}".strip()


def explained(state: Session, mechanism: Mechanism) -> str:
    """How a report is made, in words."""
    return mechanism.explain_with([attribute.name for attribute in state.setting.domain.attributes])


def of_survey(state: Session, mechanism: Mechanism) -> None:
    """A survey mechanism: who is asked about which columns, what a report shows, and how well that suits the questions."""
    survey, sent = state.setting.workload.survey, mechanism.survey
    if survey is None or sent is None:
        return
    if isinstance(sent, StratifiedSurveyMechanism) and survey.strata is not None:  # that of the first group
        survey, sent = survey.strata.designs[survey.strata.which[0]].survey, sent.strata[0]
        assert survey is not None
    if sent.split is not None:
        _of_designs(state, sent.split, survey)
    _of_tables(state, sent, survey)
    if sent.scrambled is not None:
        part = 1.0 if sent.split is None else float(sent.split.shares[-1])
        _of_patterns(state, sent.scrambled, survey, part)
    if sent.component_information is not None:
        spent = frames.fourier_weights(sent, survey)
        off = float((spent["fourier_weight"] - spent["ideal"]).abs().sum()) / 2
        say.markdown(
            "{share} of the information in the reports would have to be about other columns for the lower "
            "bound to be met.",
            share=wording.share(off),
        )


def _of_designs(state: Session, mechanism: SplitSurvey, survey: Survey) -> None:
    """The designs that people are split among, and the strategies of single tables."""
    names = frames.names_of(survey)
    split = frames.people_by_design(mechanism, names)
    layout.chart(
        _kept(state, "designs", mechanism, lambda look: charts.people_by_design(split, look, mechanism.name)),
        f"Chance alone decides in which of {len(split):,} designs a person takes part, whatever their values are. Questions that follow an order or "
        "single out values have strategies of their own.",
        "designs",
        split,
    )


def _of_tables(state: Session, mechanism: SurveyMechanism, survey: Survey) -> None:
    """The reports about the tables of single sets of columns, the commonest first, two abreast."""
    names, named = frames.names_of(survey), {one.name: one for one in state.setting.domain.attributes}
    reports, drawn = mechanism.table_reports, 0
    for k in sorted(range(len(reports)), key=lambda k: -reports[k][1])[:DRAWN_STRATEGIES]:
        attributes, share, mechanism_of_table = reports[k]
        labels = Domain(attributes=tuple(named[names[i]] for i in attributes)).type_labels
        try:
            table = table_of(state.setting, mechanism_of_table)
        except ValueError as error:
            st.caption(say.plain(str(error)))
            continue
        if drawn % 2 == 0:
            sides = st.columns(2)
        with sides[drawn % 2]:
            say.markdown("**{columns}**", columns=" x ".join(names[i] for i in attributes))
            layout.chart(
                _kept(
                    state,
                    f"table {k}",
                    mechanism,
                    partial(charts.report_table, table, labels, of=mechanism.name, compact=True),
                ),
                say.text(
                    "For {share} of people. {meaning}",
                    share=wording.share(share),
                    meaning=meaning(table, mechanism_of_table),
                ),
                f"strategy-{mechanism.name}-{k}",
                partial(pd.DataFrame, table.entries, columns=list(labels)),
            )
        drawn += 1
    if len(reports) > drawn:
        say.caption(
            "{drawn} of {number} tables are drawn, those that most people report about.",
            drawn=drawn,
            number=len(reports),
        )


def _of_patterns(state: Session, mechanism: ScrambledPatterns, survey: Survey, part: float = 1.0) -> None:
    """The columns in reports with patterns, and the commonest patterns; ``part`` of all people send
    one."""
    names = frames.names_of(survey)
    sets = frames.column_sets(mechanism, names, part)
    layout.chart(
        _kept(state, "column sets", mechanism, lambda look: charts.column_sets(sets, look, mechanism.name)),
        say.text(
            "{what}: chance alone decides which of {number:,} sets of columns a person reports about. "
            "{most} The commonest is {columns}, for {share} of people.",
            what="Who is asked about what" if part == 1 else "Everything else",
            number=len(sets),
            most=f"The {limits.MOST_DRAWN_SETS:,} largest are drawn; the download has all."
            if len(sets) > limits.MOST_DRAWN_SETS
            else "",
            columns=sets["columns"][0],
            share=wording.share(float(sets["share"][0])),
        ),
        "column-sets",
        sets,
    )
    shown = charts.drawn_patterns(mechanism)
    layout.chart(
        _kept(
            state, "scrambled", mechanism, lambda look: charts.scrambled(mechanism, names, look, mechanism.name, part)
        ),
        f"The {len(shown)} commonest of {len(mechanism.patterns):,} patterns. A report shows one with the values of each column shuffled, so that "
        "a cell in colour may stand for any combination of values; the person's own lies in colour e^epsilon times as often, cell for cell, as outside.",
        "scrambled",
    )


def _kept(
    state: Session, what: str, mechanism: Mechanism, draw: Callable[[charts.Theme], go.Figure]
) -> Callable[[charts.Theme], go.Figure]:
    """``draw``, which takes a tenth of a second, kept with the results."""
    about = (what, mechanism.digest, state.setting.workload.digest, state.setting.naming)
    return lambda look: state.results.cached((*about, look), lambda: draw(look), lambda _: PICTURE_BYTES)
