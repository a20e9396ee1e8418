"""The sidebar: the current design in five lines, each a link with a mark; below them undo and redo, the File menu, and what is being
computed, whatever page asked for it."""

from __future__ import annotations

import math

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import designs, frames, library, wording
from ldp_core.designs import Setting
from pages.ui import file_menu, say
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.words import case_title, people

SET = ":material/check_circle:"
UNSET = ":material/radio_button_unchecked:"
STALE = ":material/history:"

Line = tuple[str, str, str, str]
"""A page, a mark, what the link says, and more about it."""
LINE = 34
"""Letters that a line of the sidebar holds."""


def draw(state: Session) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The sidebar before the page is drawn. Returns the places of the lines about the design, for `draw_design`, and of the list of what
    runs, for `later.wait`: until the page is drawn they show what the page before has found."""
    with st.sidebar:
        lines = st.container(gap="xsmall", key="current-design")
        with lines:
            say.markdown("**{name}**", name=state.saved.name or "Current design")
        _actions(state)
        return lines, st.container(gap="xsmall", key="jobs")


def draw_design(state: Session, place: DeltaGenerator) -> None:
    """The lines about the design, as the page has found it."""
    design = state.setting
    if state.lines is None or state.lines[0] is not design:
        costs = _mechanism(design, state.costed is design)
        state.lines = design, [_data(state, design), _workload(state, design), _privacy(design), *costs]
    with place:
        for page, mark, label, detail in state.lines[1]:
            st.page_link(page, label=say.Markdown(label), icon=mark, help=say.Markdown(detail))


def _line(page: str, mark: str, text: str, detail: str) -> Line:
    return page, mark, say.plain(wording.shortened(text, LINE)), say.plain(f"{text}. {detail}")


def _data(state: Session, design: Setting) -> Line:
    if not design.has_domain:
        return _line("pages/data.py", UNSET, "Data: not chosen", "Upload, pick a sample, or declare")
    missing = state.configuration.population.shape == "data" and not design.on_data
    names = ", ".join(attribute.name for attribute in design.domain.attributes)
    detail = f"{people(design.users)}, {wording.magnitude(design.domain.size)} types"
    return _line(
        "pages/data.py",
        STALE if missing else SET,
        f"Data: {names}" + (", file not loaded" if missing else ""),
        detail,
    )


def _workload(state: Session, design: Setting) -> Line:
    mark, words, detail = UNSET, "not chosen", "Which questions matter"
    if not design.has_domain and (recipe := state.configuration.workload) is not None:
        mark, words, detail = STALE, "waits for the data", recipe.summary
    if design.misfit:
        mark, detail = STALE, design.misfit
        words = "too many questions" if design.expensive else "does not fit the data"
    elif design.waiting:
        mark, words, detail = STALE, "to be worked out", design.questions
    elif design.has_questions:
        mark, words, detail = SET, wording.plural(design.answers.workload.num_queries, "answer"), design.questions
    return _line("pages/workload.py", mark, f"Workload: {words}", detail)


def _privacy(design: Setting) -> Line:
    risk = designs.risk_in_words(design.epsilon, design.delta)
    return _line("pages/design.py", SET, f"Epsilon: {design.configuration.epsilon}", wording.capital(risk))


def _mechanism(design: Setting, costed: bool) -> list[Line]:
    """The mechanism, and how far it is from the best, where a page has worked out what it costs."""
    title, mechanism = library.spec(design.chosen).title, design.mechanism(design.chosen) if costed else None
    if mechanism is None:
        mark = STALE if design.has_questions else UNSET
        return [
            _line("pages/design.py", mark, title, "Open Design to see what it costs"),
            _line(
                "pages/design.py", UNSET, "Minimum: not worked out", "Open Design to see how far it is from the best"
            ),
        ]
    case, share = case_title(design.case), design.gap(mechanism)
    needed = wording.users(design.users_needed(mechanism, design.case))
    if design.from_file(design.chosen):
        title += ", loaded from a file and not computed here"
    mark, gap, why = UNSET, "Minimum: unknown", "At this epsilon the lower bounds say nothing"
    if not math.isinf(share):
        strongest = frames.BOUND_TITLES[frames.strongest(design.bounds(design.case))]
        mark, gap = SET, f"At most {wording.gap(share)} the minimum" if share > 0 else "At the minimum"
        why = f"People against what the {strongest} allows, {case}"
    costs = _line("pages/design.py", SET, title, f"{needed} needed for {design.error_in_words(1.0)}, {case}")
    return [costs, _line("pages/compare.py", mark, gap, why)]


def _actions(state: Session) -> None:
    left, right = st.columns(2)
    with left:
        help = "Back to the design before the last change."
        button("Undo", "undo", "undo", state.undo, width="stretch", disabled=not state.history.past, help=help)
    with right:
        help = "Forward again to what was undone."
        button("Redo", "redo", "redo", state.redo, width="stretch", disabled=not state.history.future, help=help)
    with st.popover("File", icon=":material/folder:", width="stretch"):
        file_menu.draw(state)
