"""The sidebar: the current design in five lines, each a link with a mark; below them undo and redo, the File menu, and what is being
computed: how far it is, and a way to stop it, whatever page asked for it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from ldp_core import charts, designs, frames, library, wording
from ldp_core.designs import Setting
from ldp_core.run import Progress
from pages.ui import file_menu
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, give_up_earlier, give_up_unasked, jobs, poll
from pages.ui.words import case_title, gap_in_words, people, plain

SET = ":material/check_circle:"
UNSET = ":material/radio_button_unchecked:"
STALE = ":material/history:"

Line = tuple[str, str, str, str]
"""A page, a mark, what the link says, and more about it."""
LINE = 34
"""Letters that a line of the sidebar holds."""


def draw_design(state: Session) -> Callable[[], None]:
    """The lines about the design, as the last page found it. The caller runs the returned function after the page is drawn, which draws
    them again where the page has found something else."""
    with st.sidebar:
        st.markdown(f"**{plain(state.saved.name or 'Current design')}**")
        with st.container(key="current-design"):
            place = st.empty()
    shown: list[Line] = []

    def lines() -> None:
        nonlocal shown
        design = state.setting
        if state.lines is None or state.lines[0] is not design:
            state.lines = design, _lines_about(state, design)
        if state.lines[1] is shown:
            return
        shown = state.lines[1]
        with place.container(gap="xsmall"):
            for page, mark, label, detail in shown:
                st.page_link(page, label=label, icon=mark, help=detail)

    lines()
    return lines


def _lines_about(state: Session, design: Setting) -> list[Line]:
    return [
        _data(state, design),
        _workload(state, design),
        _privacy(design),
        *_mechanism(design, state.costed is design),
    ]


def draw(state: Session) -> Callable[[], None]:
    """What stands below the lines about the design; it begins no work. The caller runs the returned function after the page is drawn: see
    `draw_jobs`."""
    with st.sidebar:
        known = begin_jobs(state)
        _actions(state)
        return draw_jobs(state, known)


def _line(page: str, mark: str, text: str, detail: str) -> Line:
    return page, mark, plain(wording.shortened(text, LINE)), plain(f"{text}. {detail}")


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
        mark, words, detail = SET, wording.plural(design.answers.told.num_queries, "query", "queries"), design.questions
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
        strongest = charts.title(frames.strongest(design.bounds(design.case)))
        mark, gap = SET, f"At most {gap_in_words(share)} the minimum"
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


# --- the job list ------------------------------------------------------------------------------------------------------

SHOWN_AFTER = 0.7
"""Seconds a job runs before it has a line: what ends sooner would only flicker."""
KEPT = 20.0
"""Seconds that the line of a finished job stays, at least: until the page is drawn after them."""
KEPT_AFTER = 2.0
"""Seconds a job must have taken for that."""
LINES = 6
LETTERS = 72


def begin_jobs(state: Session) -> set[int]:
    """A page begins to be drawn: what depends on an earlier design is given up. Returns the numbers of the jobs that have ended."""
    give_up_earlier(state)
    state.awaited = set()
    return {job.number for job in jobs().of(state.id) if not job.active}


def draw_jobs(state: Session, known: set[int]) -> Callable[[], None]:
    """The running jobs, then those that have just ended. ``known`` had ended before the page drew anything about work: if another has
    since, the page is out of date and is drawn again. The caller runs the returned function after the page is drawn, which has begun
    work of its own by then, and no longer waits for some."""
    place, followed = st.empty(), any(job.number not in known for job in jobs().of(state.id))
    if followed:
        with place.container():
            poll(partial(_lines, state))
    elif ended := _just_ended(state):
        with place.container(gap="xsmall", key="jobs-ended"):  # the lines of running jobs have the other key
            for job in ended:
                _ended(job)

    def follow() -> None:
        give_up_unasked(state)
        if _has_ended(state):  # while the page was drawn
            st.rerun()
        # A failed job is left alone: a page that starts it again would be drawn without end.
        begun = [job for job in jobs().of(state.id) if job.number not in known]
        if not followed and any(job.active or job.state == "done" for job in begun):
            with place.container():
                poll(partial(_lines, state))

    return follow


def _lines(state: Session) -> bool:
    """The running jobs, drawn again and again without the page. True when nothing runs any more, or something that the page waits for
    has ended: then the whole page follows."""
    active = jobs().active(state.id)
    if not active or _has_ended(state):
        return True
    shown = [job for job in active if job.state == "queued" or job.seconds >= SHOWN_AFTER]
    with st.container(gap="xsmall", key="jobs"):
        if shown:
            st.markdown("**Working**")
        for job in shown[:LINES]:
            _job_line(job)
        if len(shown) > LINES:
            st.caption(f"and {len(shown) - LINES:,} more")
        for job in _just_ended(state):
            _ended(job)
    return False


def _has_ended(state: Session) -> bool:
    """True if something that the page waits for has ended."""
    return not state.awaited <= {job.key for job in jobs().active(state.id)}


def share(job: Job) -> float | None:
    """The share of a job that is done, 0 to 1: by its own progress, else by the expected time. None
    where no one knows."""
    progress, lasts = job.progress, job.limit or job.expected
    if isinstance(progress, float):
        return min(1.0, progress)
    if isinstance(progress, Progress) and progress.max_rounds:
        return min(1.0, progress.round / progress.max_rounds)
    return None if lasts is None else min(1.0, job.seconds / lasts)


def so_far(job: Job) -> str:
    """How long a job has run, and how much longer it takes where that is known."""
    if job.cancelled():
        return "stopping"
    if job.state == "queued":
        return "waiting"
    done, limit = share(job) or 0.0, job.limit
    if limit is not None:
        rest = f", at most {wording.duration(limit - job.seconds)} left" if job.seconds < limit else ", finishing"
    elif isinstance(job.progress, Progress) and 0.05 <= done < 1:  # a guess from less would be wild
        rest = f", about {wording.duration(job.seconds * (1 / done - 1))} left"
    else:
        rest = ""
    return f"{wording.duration(job.seconds)}{rest}"


def _title(job: Job) -> str:
    return wording.shortened(wording.capital(job.title), LETTERS)


def _job_line(job: Job) -> None:
    done, words = share(job), f"{_title(job)}: {so_far(job)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"job-{job.number}"):
        if done is None or job.state == "queued":
            st.caption(plain(words), width="stretch")
        else:
            st.progress(done, text=plain(words), width="stretch")
        st.button(
            "Stop",
            key=f"stop-{job.number}",
            type="tertiary",
            disabled=job.cancelled(),
            on_click=job.stop,
            help=plain(f"Stop {job.title}"),
        )


def _just_ended(state: Session) -> list[Job]:
    """Jobs of some length that ended a moment ago, the latest attempt of each; what somebody stopped needs no telling."""
    now = time.monotonic()
    latest = {job.key: job for job in jobs().of(state.id)}.values()
    return [
        job
        for job in latest
        if not job.active
        and job.page
        and not job.cancelled()
        and job.seconds >= KEPT_AFTER
        and now - job.finished < KEPT
    ]


def _ended(job: Job) -> None:
    page = job.page
    outcome = "done" if job.state == "done" else "not done"
    title = f"{_title(job)}: {outcome}, see {page}"
    mark = ":material/check_circle:" if job.state == "done" else ":material/error:"
    st.page_link(f"pages/{page.lower()}.py", label=plain(title), icon=mark)
