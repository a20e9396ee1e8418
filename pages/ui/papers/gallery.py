"""The contents of the Papers page: the chosen panel, its numbers, and their recomputation."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from ldp_core import charts, papers, wording
from ldp_core.papers import Panel, Paper
from ldp_core.run import Progress
from pages.ui import layout, listing
from pages.ui.controls import control, guarded
from pages.ui.session import exchange
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.task import Task
from pages.ui.words import plain

AT_ONCE = 3.0
"""A panel that takes at most this many seconds is computed as soon as it is on screen."""


def chosen(state: Session) -> tuple[Paper, Panel]:
    """The paper and the panel on screen, with the controls that choose them: the figure or table, and which part of it."""
    by_key = {paper.key: paper for paper in papers.PAPERS}
    paper = by_key[
        _choice(state, "Paper", "paper", {key: f"{plain(p.authors)} {p.year:d}" for key, p in by_key.items()})
    ]
    places = {panel.place: plain(panel.place) for panel in paper.panels}
    place = _choice(state, "Figure or table", f"place-{paper.key}", places)
    panels = {panel.key: panel for panel in paper.panels if panel.place == place}
    titles = {key: plain(panel.title) for key, panel in panels.items()}
    if len(panels) == 1:
        return paper, next(iter(panels.values()))
    return paper, panels[_choice(state, "Of it", f"panel-{place}", titles)]


def _choice(state: Session, label: str, name: str, shown: dict[str, str]) -> str:
    """One of the keys of ``shown``, the first until somebody chooses."""
    kept: dict[str, str] = state.view.setdefault("papers", {})
    now = kept.get(name)
    now = now if now in shown else next(iter(shown))
    control(
        st.segmented_control if name == "paper" else st.pills,
        label,
        f"papers-{name}",
        now,
        lambda key: kept.update({name: key or now}),  # a second click on a choice takes it back: it stays
        options=list(shown),
        format_func=lambda key: shown[key],
        label_visibility="collapsed",
    )
    return now


def task(state: Session, panel: Panel) -> Task[pd.DataFrame]:
    """A panel computed in the background. A cancelled result is kept only if there is nothing else
    to show."""

    def work(job: Job) -> pd.DataFrame | None:
        frame = panel.compute(job.followed["callback"], job.cancelled)
        return None if job.cancelled() and (panel.stored is not None or frame.empty) else frame

    title = f"working out {panel.place}: {panel.title}"
    return Task(state, f"panel:{panel.key}", title, work, page="Papers", expected=panel.seconds)


@st.cache_data(
    max_entries=128, show_spinner="Working it out"
)  # of the papers' settings only, so all visitors may share it
def _known(key: str) -> pd.DataFrame | None:
    """Numbers shown without a request: quick panels computed, others as stored; None if there are
    neither."""
    panel = next(panel for paper in papers.PAPERS for panel in paper.panels if panel.key == key)
    if panel.seconds <= AT_ONCE:
        return panel.compute(None, None)
    return None if panel.stored is None else panel.stored()


def show(state: Session, panel: Panel) -> None:
    """The panel: what it is, its picture and numbers, and what can be done with it."""
    long = task(state, panel)
    running, panels = long.running, long.result
    st.markdown(f"**{plain(panel.place)}: {plain(panel.title)}.** {plain(panel.setting)}")
    _buttons(state, panel, long)
    if long.error:
        st.error(plain(long.error))
    if running is not None:
        layout.live(running, _progress)
    frame = _known(panel.key) if panels is None else panels
    if frame is None:
        if running is None:
            st.info(f"This is not worked out unasked: it takes about {wording.duration(panel.seconds)}.")
        return
    if frame.empty:
        st.info("Nothing was finished when this was cancelled.")
        return
    sentence = " ".join(filter(None, [papers.agreement(frame), panel.remark, _origin(panel, long)]))
    layout.chart(
        lambda look: charts.panel(frame, panel.x, panel.y, panel.log_x, panel.log_y, look),
        plain(sentence),
        panel.key,
        frame,
        of_design=False,
    )
    _table(frame, panel)


def _origin(panel: Panel, long: Task[pd.DataFrame]) -> str:
    """The origin of the numbers on screen, in a sentence."""
    if long.result is not None:
        return "It was cancelled: these are the points finished by then." if long.cut_short else "Worked out just now."
    if panel.seconds <= AT_ONCE:
        return "Worked out on this page."
    return "These are stored results of the same calculation."


def _buttons(state: Session, panel: Panel, long: Task[pd.DataFrame]) -> None:
    with layout.actions("papers"):
        running = long.running  # which may end at any time
        if running is not None:
            st.button("Cancel", on_click=running.cancel, key="papers-cancel", icon=":material/stop_circle:")
        elif panel.seconds > AT_ONCE:
            again = panel.stored is not None or long.result is not None
            st.button(
                f"Work it out{' again' if again else ''}",
                on_click=long.start,
                key="papers-compute",
                icon=":material/play_arrow:",
                help=f"About {wording.duration(panel.seconds)}, in the background. The page goes on meanwhile.",
            )
        if panel.design is not None and st.button(
            "Open as a design",
            key="papers-open",
            icon=":material/open_in_new:",
            help="Data, workload, epsilon and mechanism of this setting become your design. Undo brings the present one back.",
        ):
            guarded(state, exchange.load, state, panel.design().to_json())
            st.switch_page("pages/design.py")


def _progress(progress: Progress, job: Job) -> None:
    done, of = progress.round, progress.max_rounds or 1
    st.progress(min(1.0, done / of), text=f"{done:,} of {of:,} points, {wording.duration(job.seconds)} so far")


def _table(frame: pd.DataFrame, panel: Panel) -> None:
    """The numbers, live beside printed; columns that say nothing are left out."""
    shown = pd.DataFrame({"Series": [charts.title(name) for name in frame["series"]]})
    shown[_first_words(panel.x)] = [_place(x) for x in frame["x"]]
    shown["Here"] = _numbers(frame["here"], 4)
    if frame["standard_error"].notna().any():
        shown["Standard error"] = _numbers(frame["standard_error"], 2)
    if frame["printed"].notna().any():
        shown["Printed"] = _numbers(frame["printed"], 4)
        shown["Printed / here"] = _numbers(frame["printed"] / frame["here"], 3)
    if frame["series"].nunique() == 1:
        shown = shown.drop(columns="Series")
    with st.expander(f"Numbers ({len(shown):,} points)", expanded=frame["printed"].notna().any()):
        listing.show_table(shown, "The points of the figure.", key="papers-table")


def _numbers(values: pd.Series, digits: int) -> list[str]:
    return ["" if math.isnan(value) else wording.significant(value, digits) for value in values]


def _place(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:,.12g}"


def _first_words(axis: str) -> str:
    """The title of an axis without what stands in brackets: "epsilon (log scale)" -> "Epsilon"."""
    words = axis.partition(" (")[0]
    return wording.capital(words)


def about(paper: Paper) -> None:
    """The source paper, and its parts without a panel, with the reasons."""
    with st.expander("The paper, and what of it is not here"):
        st.markdown(f"{plain(paper.authors)} ({paper.year:d}), *{plain(paper.title)}*.")
        for place, reason in paper.absent:
            st.markdown(f"- **{plain(place)}**: {plain(reason)}")
