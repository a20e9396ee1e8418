"""Background work: threads that outlive page switches, a visible queue, and cancellation.

Workers never touch Streamlit. A page submits a function of the `Job`, which reports through ``job.progress`` and stops when
``job.cancelled()``; fragments on the pages poll. A job drops what it works on when it ends; results belong to the session.
They go on when no one looks; once their session is forgotten they are cancelled, see `pages.ui.session.session_store`.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from ldp_core.limits import MOST_FINISHED_JOBS, MOST_JOBS_AT_ONCE


@dataclass
class Job:
    """One piece of work of one session. ``key`` identifies its inputs, so equal work is never started twice.

    Attributes:
        asked: what it depends on of the design, as that was when it was requested: see `pages.ui.tasks.task.features`.
        page: title of the page that shows its result.
        limit: seconds after which it ends. expected: seconds it takes by an estimate. None where these are not known.
        part: of a page that waits for it, see `pages.ui.tasks.later`. Empty where others say when it is given up.
    """

    key: str
    session: str
    title: str
    work: Callable[[Job], object] | None
    """None once it has run: it holds tables and workloads."""
    asked: dict[str, str] = field(default_factory=dict)
    page: str = ""
    limit: float | None = None
    expected: float | None = None
    part: str = ""
    progress: Any = None
    state: str = "queued"  # queued, running, done, cancelled, failed
    error: str = ""
    stopped: bool = False
    """True if a person stopped it, who has not asked for it again. Nobody waits any more for jobs
    that the program cancels."""
    lacked: bool = False
    """True if the page on screen goes without what this was to find, as it was stopped."""
    started: float = 0.0
    finished: float = 0.0
    number: int = field(default_factory=itertools.count().__next__)
    _cancel: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        self._cancel.set()

    def stop(self) -> None:
        """Cancel it by hand: a page that waits for it does not begin it again unasked."""
        self.stopped = True
        self.cancel()

    def allow(self) -> None:
        """Pages may begin it again."""
        self.stopped = False

    def cancelled(self) -> bool:
        return self._cancel.is_set()

    @property
    def followed(self) -> dict[str, Any]:
        """Options for what it works on: report progress here, and stop when this is cancelled."""
        return {"callback": partial(setattr, self, "progress"), "cancel": self.cancelled}

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running")

    @property
    def seconds(self) -> float:
        return (self.finished or time.monotonic()) - self.started if self.started else 0.0


class Jobs:
    """All jobs of the server: at most `MOST_JOBS_AT_ONCE` run at once, the rest wait in order."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._lock = threading.Condition()
        for _ in range(MOST_JOBS_AT_ONCE):
            threading.Thread(target=self._worker, daemon=True).start()

    def submit(self, session: str, key: str, title: str, work: Callable[[Job], object], **about: Any) -> Job:
        """Queue ``work``; if the same work is already queued or running for this session, return that job.
        ``about`` are further fields of the `Job`."""
        with self._lock:
            for job in self._jobs:
                if job.session == session and job.key == key:
                    if job.state == "queued" and job.cancelled():  # it would only wait for its end
                        job.work, job.state = None, "cancelled"
                    if job.active:
                        return job
                    job.allow()  # it is asked for again
            job = Job(key, session, title, work, **about)
            self._jobs.append(job)
            finished = [job for job in self._jobs if job.session == session and not job.active]
            for old in finished[: max(0, len(finished) - MOST_FINISHED_JOBS)]:
                if old.stopped:
                    old.progress = None  # that it was stopped is all that must be remembered
                else:
                    self._jobs.remove(old)
            self._lock.notify()
            return job

    def find(self, session: str, key: str) -> Job | None:
        """The latest job with these inputs."""
        with self._lock:
            return next((j for j in reversed(self._jobs) if j.session == session and j.key == key), None)

    def of(self, session: str) -> list[Job]:
        """All jobs of a session that are remembered, in the order they were asked for."""
        with self._lock:
            return [job for job in self._jobs if job.session == session]

    def active(self, session: str) -> list[Job]:
        return [job for job in self.of(session) if job.active]

    def sessions(self) -> set[str]:
        """The sessions that have jobs."""
        with self._lock:
            return {job.session for job in self._jobs}

    def cancel(self, session: str, which: Callable[[str], bool] = lambda key: True) -> None:
        """Give up the jobs of a session, or ``which`` of them by their keys."""
        for job in self.active(session):
            if which(job.key):
                job.cancel()

    def forget(self, session: str) -> None:
        """Keep nothing of a session; jobs still running are cancelled and no longer found."""
        self.cancel(session)
        with self._lock:
            self._jobs = [job for job in self._jobs if job.session != session]

    def waiting_before(self, job: Job) -> int:
        """How many jobs, of whatever session, will run before this queued one."""
        with self._lock:
            ahead = self._jobs[: self._jobs.index(job)] if job in self._jobs else []
            return sum(other.active for other in ahead)

    def _worker(self) -> None:
        while True:
            with self._lock:
                while not (job := next((j for j in self._jobs if j.state == "queued"), None)):
                    self._lock.wait()
                job.state, job.started = "running", time.monotonic()
            self._run(job)
            del job  # this thread may wait long for the next one

    def _run(self, job: Job) -> None:
        state = "failed"
        try:
            if job.work is not None and not job.cancelled():
                job.work(job)
            state = "cancelled" if job.cancelled() else "done"
        except ValueError as error:  # the core's sentence for people
            job.error = str(error)
        except MemoryError:
            job.error = "This needs more memory than the server has. Use coarser bins."
        except Exception as error:
            job.error = f"The calculation stopped unexpectedly ({type(error).__name__}). Try other settings."
        job.work = None
        job.finished = time.monotonic()
        job.state = state


@st.cache_resource
def jobs() -> Jobs:
    return Jobs()


@st.fragment(run_every=0.7)
def poll(draw: Callable[[], bool]) -> None:
    """``draw()`` again and again without the page, until it says that the whole page has to follow: the one way to follow work."""
    if draw():
        st.rerun()
