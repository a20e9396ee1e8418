"""The job list in the sidebar: what is being computed, how far it is, and a way to stop it, whatever page asked for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from ldp_core import wording
from ldp_core.run import Progress
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, give_up_earlier, give_up_unasked, jobs, poll
from pages.ui.words import plain

SHOWN_AFTER = 0.7
"""Seconds a job runs before it has a line: what ends sooner would only flicker."""
KEPT = 20.0
"""Seconds that the line of a finished job stays, at least: until the page is drawn after them."""
KEPT_AFTER = 2.0
"""Seconds a job must have taken for that."""
LINES = 6
LETTERS = 72


def begin(state: Session) -> set[int]:
    """A page begins to be drawn: what depends on an earlier design is given up. Returns the numbers of the jobs that have ended."""
    give_up_earlier(state)
    state.awaited = set()
    return {job.number for job in jobs().of(state.id) if not job.active}


def draw(state: Session, known: set[int]) -> Callable[[], None]:
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
            _line(job)
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


def _line(job: Job) -> None:
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
