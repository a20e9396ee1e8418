"""The sidebar: the current design in five lines, each a link with its mark, and sample, load, share, save, undo, redo below."""

from __future__ import annotations

import math

import streamlit as st

from ldp_core import designs, library, wording
from pages.ui.controls import guarded
from pages.ui.data import choice as data_choice
from pages.ui.session import exchange
from pages.ui.session.state import Design, Session
from pages.ui.sources import catalogue
from pages.ui.tasks import work
from pages.ui.tasks.jobs import jobs
from pages.ui.words import case_title, gap_in_words, people, plain

SET, UNSET, STALE, RUNNING = (
    ":material/check_circle:",
    ":material/radio_button_unchecked:",
    ":material/history:",
    ":material/progress_activity:",
)

LINE = 31
"""Letters that a line of the sidebar holds."""


def draw(state: Session) -> None:
    """The whole sidebar, and a quiet poll while work is running so that its mark and the page follow."""
    with st.sidebar:
        design = state.design()
        st.markdown("**Current design**")
        with st.container(gap=None, key="current-design"):
            _data(state, design)
            _workload(design)
            _privacy(state)
            _mechanism(state, design)
        _actions(state)
    if jobs().active(state.id):
        with st.sidebar:
            _follow(state)


def _line(page: str, mark: str, text: str, detail: str) -> None:
    st.page_link(page, label=plain(text), icon=mark)
    st.caption(plain(detail))


def _data(state: Session, design: Design | None) -> None:
    if design is None:
        _line("pages/data.py", UNSET, "Data: not chosen", "Upload, pick a sample, or declare")
        return
    missing = state.configuration.population.shape == "data" and not design.on_data
    names = ", ".join(attribute.name for attribute in design.domain.attributes)
    detail = f"{people(design.users)}, {design.domain.size:,} types"
    _line(
        "pages/data.py",
        STALE if missing else SET,
        wording.shortened(f"Data: {names}", LINE),
        detail + (", file not loaded" if missing else ""),
    )


def _workload(design: Design | None) -> None:
    if design is not None and design.misfit:
        _line(
            "pages/workload.py",
            STALE,
            f"Workload: {'too many questions' if design.dear else 'does not fit the data'}",
            design.misfit,
        )
        return
    if design is not None and design.unasked:
        _line("pages/workload.py", STALE, "Workload: to be worked out", design.questions)
        return
    if design is None or design.workload is None:
        _line("pages/workload.py", UNSET, "Workload: not chosen", "Which questions matter")
        return
    _line("pages/workload.py", SET, f"Workload: {design.workload.num_queries:,} queries", design.questions)


def _privacy(state: Session) -> None:
    c = state.configuration
    risk = designs.risk_in_words(c.epsilon_value, state.delta)
    _line("pages/design.py", SET, f"Epsilon: {c.epsilon}", risk[0].upper() + risk[1:])


def _mechanism(state: Session, design: Design | None) -> None:
    name = state.configuration.mechanism.name
    title = library.spec(name).title
    if design is None or design.workload is None:
        _line("pages/design.py", UNSET, "Mechanism", f"{title}: needs data and a workload")
        _line("pages/compare.py", UNSET, "Gap to the best: unknown", "Needs a mechanism")
        return
    try:
        mechanism, case = state.priced(name), state.aim(name)
        if mechanism is None:
            running = work.fit(state, name).running is not None
            mark, detail = (RUNNING, "optimising") if running else (STALE, "not optimised for this design yet")
            _line("pages/design.py", mark, "Mechanism", f"{title}: {detail}")
            _line("pages/compare.py", mark, "Gap to the best: unknown", "Follows once it is optimised")
            return
        needed, gap = state.users_needed(mechanism, case), state.gap(mechanism)
    except ValueError as error:
        _line("pages/design.py", STALE, "Mechanism", f"{title}: {error}")
        _line("pages/compare.py", UNSET, "Gap to the best: unknown", "Choose another mechanism")
        return
    target = wording.error(state.configuration.target_alpha**0.5)
    if state.from_file(name):
        title += ", loaded from a file and not computed here"
    _line(
        "pages/design.py", SET, "Mechanism", f"{title}: {wording.users(needed)} needed for {target}, {case_title(case)}"
    )
    if math.isinf(gap):
        _line("pages/compare.py", SET, "Gap to the best: unknown", "At this epsilon the lower bounds say nothing")
        return
    _line(
        "pages/compare.py",
        SET,
        f"Gap to the best: at most {gap_in_words(gap)}",
        f"More users than the best lower bound allows, {case_title(case)}",
    )


def _actions(state: Session) -> None:
    with st.popover("Sample data", icon=":material/dataset:", width="stretch"):
        for sample in catalogue():
            st.button(
                sample["title"],
                key=f"sample-{sample['file']}",
                help=sample["sentence"],
                width="stretch",
                on_click=guarded,
                args=(state, data_choice.load_sample, state, sample["file"]),
            )
    with st.popover("Load a design", icon=":material/upload_file:", width="stretch"):
        # A new key after each load empties the uploader, so the same file can be chosen again.
        key = f"load-{st.session_state.setdefault('loads', 0)}"
        uploaded = st.file_uploader("Exported zip or configuration.json", type=["zip", "json"], key=key)
        if uploaded is not None:
            st.session_state["loads"] += 1
            guarded(state, exchange.load, state, uploaded.getvalue())
            st.rerun()
    with st.popover("Share a link", icon=":material/link:", width="stretch"):
        _link(state)
    st.download_button(
        "Save",
        data=state.configuration.to_json,
        file_name="configuration.json",
        mime="application/json",
        icon=":material/save:",
        width="stretch",
        on_click="ignore",
        key="save",
        help="The choices you made, as a small file. The Export page adds results and the strategy.",
    )
    left, right = st.columns(2)
    left.button(
        "Undo",
        icon=":material/undo:",
        width="stretch",
        disabled=not state.past,
        on_click=state.undo,
        key="undo",
        help="Back to the design before the last change.",
    )
    right.button(
        "Redo",
        icon=":material/redo:",
        width="stretch",
        disabled=not state.future,
        on_click=state.redo,
        key="redo",
        help="Forward again to what was undone.",
    )


def _link(state: Session) -> None:
    """The address that opens this design elsewhere; it tells about the data only where that is asked for."""
    told = designs.revealing(state.configuration)
    everything = bool(told) and st.checkbox("Include what was read off the data or given by hand", key="link-all")
    try:
        address = exchange.address(state, st.context.url or "", everything)
    except ValueError as error:
        st.info(plain(str(error)))
        return
    st.code(address, language=None, wrap_lines=True, height=120)
    if everything:
        st.caption(f"Opens this design on this server, without the rows. It tells: {plain(' '.join(told))}")
    elif told:
        st.caption("Opens this design on this server, without the data and what was read off it or given by hand.")
    else:
        st.caption("Opens this design on this server, with every choice but not the data.")


@st.fragment(run_every=1.0)
def _follow(state: Session) -> None:
    """While work is running: what and for how long; when it ends, the whole page follows."""
    active = jobs().active(state.id)
    for job in active:
        if job.state == "queued":
            st.caption(f"Waiting: {plain(job.title)} ({jobs().waiting_before(job):,} before it)")
        else:
            st.caption(f"Running: {plain(job.title)}, {wording.duration(job.seconds)}")
    if not active:
        st.rerun()
