"""The sidebar: the current design in five lines, each a link with a mark; below them undo and redo, the File menu, and what runs."""

from __future__ import annotations

import math
from collections.abc import Callable

import streamlit as st

from ldp_core import charts, designs, frames, library, wording
from ldp_core.designs import Setting
from pages.ui import file_menu, job_list
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import case_title, gap_in_words, people, plain

SET = ":material/check_circle:"
UNSET = ":material/radio_button_unchecked:"
STALE = ":material/history:"
RUNNING = ":material/progress_activity:"

LINE = 34
"""Letters that a line of the sidebar holds."""


def draw(state: Session) -> Callable[[], None]:
    """The whole sidebar, which begins no work. The caller runs the returned function after the page is drawn: see `job_list.draw`."""
    with st.sidebar:
        known, design = job_list.begin(state), state.design()
        st.markdown(f"**{plain(state.saved.name or 'Current design')}**")
        with st.container(gap="xsmall", key="current-design"):
            _data(state, design)
            _workload(state, design)
            _privacy(state)
            _mechanism(state, design)
        _actions(state)
        return job_list.draw(state, known)


def _line(page: str, mark: str, text: str, detail: str) -> None:
    st.page_link(page, label=plain(wording.shortened(text, LINE)), icon=mark, help=plain(f"{text}. {detail}"))


def _data(state: Session, design: Setting | None) -> None:
    if design is None:
        if state.lacking:
            _line("pages/data.py", STALE, "Data: not in what was loaded", "Choose the table, or declare the values")
        else:
            _line("pages/data.py", UNSET, "Data: not chosen", "Upload, pick a sample, or declare")
        return
    missing = bool(state.lacking) or (state.configuration.population.shape == "data" and not design.on_data)
    names = ", ".join(attribute.name for attribute in design.domain.attributes)
    detail = f"{people(design.users)}, {wording.magnitude(design.domain.size)} types"
    _line(
        "pages/data.py",
        STALE if missing else SET,
        f"Data: {names}" + (", file not loaded" if missing else ""),
        detail,
    )


def _workload(state: Session, design: Setting | None) -> None:
    mark, words, detail = UNSET, "not chosen", "Which questions matter"
    if design is None and (recipe := state.configuration.workload) is not None:
        mark, words, detail = STALE, "waits for the data", recipe.summary
    if design is not None and design.misfit:
        mark, detail = STALE, design.misfit
        words = "too many questions" if design.expensive else "does not fit the data"
    elif design is not None and design.waiting:
        mark, words, detail = STALE, "to be worked out", design.questions
    elif design is not None and design.asked is not None:
        mark, words, detail = SET, wording.plural(design.workload.num_queries, "query", "queries"), design.questions
    _line("pages/workload.py", mark, f"Workload: {words}", detail)


def _privacy(state: Session) -> None:
    c = state.configuration
    risk = designs.risk_in_words(c.epsilon_value, state.delta)
    _line("pages/design.py", SET, f"Epsilon: {c.epsilon}", wording.capital(risk))


def _mechanism(state: Session, design: Setting | None) -> None:
    """The mechanism, and how far it is from the best."""
    name, gap, gap_mark = state.chosen, "Gap to minimum: unknown", UNSET
    title = library.spec(name).title
    try:
        if design is None or design.asked is None:
            mark, detail, why = UNSET, "needs data and a workload", "Needs a mechanism"
        elif (mechanism := state.setting.priced(name)) is None:
            running = work.fit(state, name).running is not None
            mark, detail = (RUNNING, "optimising") if running else (STALE, "not optimised for this design yet")
            gap_mark, why = mark, "Follows once it is optimised"
        elif work.unpriced(state, mechanism):
            running = work.price(state, mechanism).running is not None
            mark, detail = RUNNING if running else STALE, "its costs are not known yet"
            gap_mark, why = mark, "Follows once they are known"
        else:
            case, share = case_title(design.case), design.gap(mechanism)
            needed = wording.users(design.users_needed(mechanism, design.case))
            mark, gap_mark, why = SET, SET, "At this epsilon the lower bounds say nothing"
            detail = f"{needed} needed for {design.error_in_words(design.target)}, {case}"
            if state.setting.from_file(name):
                title += ", loaded from a file and not computed here"
            if not math.isinf(share):
                few = f"Gap to minimum: at most {gap_in_words(share)}"
                gap = few if share < 1 else f"Up to {gap_in_words(share)} the minimum"
                strongest = charts.title(frames.strongest(design.bounds(design.case)))
                why = f"More users than the {strongest} allows, {case}"
    except ValueError as error:
        mark, detail, why = STALE, str(error), "Choose another mechanism"
    _line("pages/design.py", mark, title, wording.capital(detail))
    _line("pages/compare.py", gap_mark, gap, why)


def _actions(state: Session) -> None:
    left, right = st.columns(2)
    left.button(
        "Undo",
        icon=":material/undo:",
        width="stretch",
        disabled=not state.history.past,
        on_click=state.undo,
        key="undo",
        help="Back to the design before the last change.",
    )
    right.button(
        "Redo",
        icon=":material/redo:",
        width="stretch",
        disabled=not state.history.future,
        on_click=state.redo,
        key="redo",
        help="Forward again to what was undone.",
    )
    with st.popover("File", icon=":material/folder:", width="stretch"):
        file_menu.draw(state)
