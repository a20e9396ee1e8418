"""The job list in the sidebar: what is being computed, how far it is, and a way to stop it, whatever page asked for it."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from ldp_core import wording
from ldp_core.run import Progress
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, jobs, poll
from pages.ui.tasks.task import features
from pages.ui.words import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

SHOWN_AFTER = 0.7
"""Seconds a job runs before it has a line: what ends sooner would only flicker."""
KEPT = 20.0
"""Seconds that the line of a finished job stays, at least: until the page is drawn after them."""
KEPT_AFTER = 2.0
"""Seconds a job must have taken for that."""
LINES = 6
LETTERS = 72
OTHERS = {"data": "other data", "people": "other people", "questions": "other questions"}


def settled(state: Session) -> set[int]:
    """The numbers of the jobs that have ended, to be asked for before anything is drawn: which of them the page lacks shows from here on."""
    state.awaited = set()
    for job in jobs().of(state.id):
        job.lacked = False
    return {job.number for job in jobs().of(state.id) if not job.active}


def draw(state: Session, known: set[int]) -> DeltaGenerator | None:
    """The running jobs, then those that have just ended. ``known`` are the jobs that were `settled`
    before the page drew anything about work. If another has ended since, the page is out of date
    and is drawn again. Returns the place for `catch_up`,
    None where work is followed already."""
    place = st.empty()
    if any(job.number not in known for job in jobs().of(state.id)):
        with place.container():
            _follow(state)
        return None
    if ended := _just_ended(state):
        with place.container(gap="xsmall", key="jobs-ended"):  # what `catch_up` draws has the other key
            for job in ended:
                _ended(job)
    return place


def catch_up(state: Session, place: DeltaGenerator | None, known: set[int]) -> None:
    """Follow work that the page has begun while it was drawn, after the job list. A failed job is
    left alone: a page that starts it again would be drawn without end."""
    if _has_ended(state):  # while the page was drawn
        st.rerun()
    begun = [job for job in jobs().of(state.id) if job.number not in known]
    if place is not None and any(job.active or job.state == "done" for job in begun):
        with place.container():
            _follow(state)


def lacking(state: Session) -> None:
    """A button for each value that the page, now that it is drawn, goes without because somebody stopped it by hand."""
    for job in jobs().of(state.id):
        if job.lacked:
            st.button(
                plain(f"Begin again: {wording.shortened(job.title, LETTERS)}"),
                key=f"again-{job.number}",
                icon=":material/replay:",
                width="stretch",
                on_click=job.allow,  # the page then asks for it
            )


def _follow(state: Session) -> None:
    poll(partial(_lines, state))


def _lines(state: Session) -> bool:
    """The running jobs, drawn again and again without the page. True when nothing runs any more, or something that the page waits for
    has ended: then the whole page follows."""
    active, now = jobs().active(state.id), features(state)
    if not active or _has_ended(state):
        return True
    shown = [job for job in active if job.state == "queued" or job.seconds >= SHOWN_AFTER]
    with st.container(gap="xsmall", key="jobs"):
        if shown:
            st.markdown("**Working**")
        for job in shown[:LINES]:
            _line(job, left_behind(job, now))
        if len(shown) > LINES:
            st.caption(f"and {len(shown) - LINES:,} more")
        _stop_earlier([job for job in shown if left_behind(job, now)])
        for job in _just_ended(state):
            _ended(job)
    return False


def _has_ended(state: Session) -> bool:
    """True if something that the page waits for has ended."""
    return not state.awaited <= {job.key for job in jobs().active(state.id)}


def left_behind(job: Job, now: dict[str, str]) -> str:
    """The design of a job, in words such as "epsilon 2"; empty if its inputs are the same
    ``now``."""
    other = {name: was for name, was in job.asked.items() if was != now[name]}
    return f"epsilon {other['epsilon']}" if "epsilon" in other else next((OTHERS[name] for name in other), "")


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
        before = jobs().waiting_before(job)
        return f"waiting, {before:,} before it" if before else "waiting"
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


def _line(job: Job, design: str) -> None:
    done, words = share(job), f"{_title(job)}{f', for {design}' if design else ''}: {so_far(job)}"
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


def _stop_earlier(earlier: list[Job]) -> None:
    """One button for all work whose design is no longer on screen."""
    waiting = [job for job in earlier if not job.cancelled()]
    if not waiting:
        return
    count = len(waiting)
    label = f"Stop the {count:,} for earlier designs" if count > 1 else "Stop the one for an earlier design"
    st.button(
        label,
        key="stop-earlier",
        icon=":material/stop_circle:",
        width="stretch",
        on_click=_stop,
        args=(waiting,),
        help="You have changed the design since they were asked for. Left alone they go on, and what they find is there when you come "
        "back to that design.",
    )


def _stop(some: list[Job]) -> None:
    for job in some:
        job.stop()


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
