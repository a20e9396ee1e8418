"""The contents of the Papers page: the chosen panel and its numbers."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from ldp_core import charts, papers, wording
from ldp_core.designs import Configuration
from ldp_core.library import USUAL
from ldp_core.papers import Panel, Paper
from pages.ui import layout, listing, say
from pages.ui.controls import view_switch
from pages.ui.session import exchange
from pages.ui.session.state import Session

AXES = {"Epsilon": "Over epsilon", "Types": "Over domain size"}
"""The tab of Compare with the axis of a panel."""
STORED = "These results are stored. The command python -m ldp_core.papers make {} finds them again with this project's mechanisms, in about {}."


def chosen() -> tuple[Paper, Panel]:
    """The paper and the panel on screen, with the controls that choose them: the figure or table, and which part of it."""
    by_key = {paper.key: paper for paper in papers.PAPERS}
    paper = by_key[view_switch("papers-paper", {key: f"{p.authors} {p.year:d}" for key, p in by_key.items()}, "Paper")]
    places = {panel.place: panel.place for panel in paper.panels}
    place = view_switch(f"papers-place-{paper.key}", places, "Figure or table")
    panels = {panel.key: panel for panel in paper.panels if panel.place == place}
    titles = {key: panel.title for key, panel in panels.items()}
    if len(panels) == 1:
        return paper, next(iter(panels.values()))
    return paper, panels[view_switch(f"papers-panel-{place}", titles, "Of it")]


@st.cache_data(
    max_entries=128, show_spinner="Working it out"
)  # of the papers' settings only, so all visitors may share it
def _points(key: str) -> pd.DataFrame:
    """The numbers of a panel."""
    return next(panel for paper in papers.PAPERS for panel in paper.panels if panel.key == key).frame()


def show(state: Session, panel: Panel) -> None:
    """The panel: what it is, its picture and numbers, and its setting as a design."""
    st.markdown(say.plain(panel.setting))
    if panel.design is not None:
        with layout.actions("papers"):
            _opening(state, panel, panel.design())
    try:
        frame = _points(panel.key)
    except ValueError as error:
        st.error(say.plain(str(error)))
        return
    origin = STORED.format(panel.key, wording.duration(panel.seconds)) if panel.seconds else "Worked out on this page."
    sentence = " ".join(filter(None, [papers.agreement(frame), panel.remark, origin]))
    layout.chart(
        lambda look: charts.panel(frame, panel.x, panel.y, panel.log_x, panel.log_y, look),
        say.plain(sentence),
        panel.key,
        frame,
        title=f"{panel.place}: {panel.title}",
        of_design=False,
    )
    _table(frame, panel)


def _opening(state: Session, panel: Panel, design: Configuration) -> None:
    """A button to the design: where the panel has several mechanisms, to their comparison along its axis."""
    if st.button(
        "Open as a design",
        key="papers-open",
        icon=":material/open_in_new:",
        help="Data, workload, epsilon and mechanism of this setting become your design. Undo brings the present one back.",
    ):
        exchange.begin(state, design)
        if design.compared == USUAL:
            st.switch_page("pages/design.py")
        state.view["compare-tabs"] = AXES.get(_first_words(panel.x), "People needed")
        st.switch_page("pages/compare.py")


def _table(frame: pd.DataFrame, panel: Panel) -> None:
    """The numbers, found here beside printed; columns that say nothing are left out."""
    shown = pd.DataFrame({"Series": [charts.title(name) for name in frame["series"]]})
    shown[_first_words(panel.x)] = [x if isinstance(x, str) else f"{x:,.12g}" for x in frame["x"]]
    shown["Here"] = _numbers(frame["here"], 4)
    if frame["standard_error"].notna().any():
        shown["Standard error"] = _numbers(frame["standard_error"], 2)
    if frame["printed"].notna().any():
        shown["Printed"] = _numbers(frame["printed"], 4)
        shown["Printed / here"] = _numbers(frame["printed"] / frame["here"], 3)
    if frame["series"].nunique() == 1:
        shown = shown.drop(columns="Series")
    with st.expander(
        say.text("Numbers ({number:,} points)", number=len(shown)), expanded=frame["printed"].notna().any()
    ):
        listing.show_table(shown, "The points of the figure.", key="papers-table")


def _numbers(values: pd.Series, digits: int) -> list[str]:
    return ["" if math.isnan(value) else wording.significant(value, digits) for value in values]


def _first_words(axis: str) -> str:
    """The title of an axis without what stands in brackets: "epsilon (log scale)" -> "Epsilon"."""
    words = axis.partition(" (")[0]
    return wording.capital(words)


def about(paper: Paper) -> None:
    """The source paper, and its parts without a panel, with the reasons."""
    with st.expander("The paper, and what of it is not here"):
        say.markdown("{authors} ({year:d}), *{title}*.", authors=paper.authors, year=paper.year, title=paper.title)
        for place, reason in paper.absent:
            say.markdown("- **{place}**: {reason}", place=place, reason=reason)
