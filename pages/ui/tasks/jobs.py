"""Work that may take long: each piece is a `Task` by its inputs, and one call gives its value now or later.

Threads that outlive page switches do it. They never touch Streamlit: a task is a function of its `Job`, which reports through
``job.progress`` and stops when ``job.cancelled()``; fragments on the pages poll. A job drops what it works on when it ends; results
belong to the session. Work goes on when no one looks, until its design is changed or its session is forgotten, see
`pages.ui.session.browser`.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st

from ldp_core.designs.results import digest
from ldp_core.limits import MOST_FINISHED_JOBS, MOST_JOBS_AT_ONCE
from ldp_core.run import Cancel

if TYPE_CHECKING:
    from pages.ui.session.state import Session

T = TypeVar("T")

DESIGN = ("epsilon", "questions", "data")


@dataclass
class Job:
    """One piece of work of one session. ``key`` identifies its inputs, so equal work is never started twice.

    Attributes:
        asked: what it depends on of the design, as that was when it was requested: see `features`.
        page: title of the page that shows its result. asker: title of the page that waits for it, empty where it was begun by hand.
        limit: seconds after which it ends. expected: seconds it takes by an estimate. None where these are not known.
        stopped: whether a person stopped it, who has not asked for it again; nobody waits for what the program cancels.
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
    asker: str = ""
    progress: Any = None
    state: str = "queued"  # queued, running, done, cancelled, failed
    error: str = ""
    stopped: bool = False
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
                    job.stopped = False  # it is asked for again
            job = Job(key, session, title, work, **about)
            self._jobs.append(job)
            finished = [job for job in self._jobs if job.session == session and not job.active]
            for old in finished[: max(0, len(finished) - MOST_FINISHED_JOBS)]:
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

    def forgive(self, session: str) -> None:
        """Another page is opened: what people stopped that pages wait for may begin again."""
        for job in self.of(session):
            job.stopped &= not job.asker

    def forget(self, session: str) -> None:
        """Keep nothing of a session; jobs still running are cancelled and no longer found."""
        for job in self.active(session):
            job.cancel()
        with self._lock:
            self._jobs = [job for job in self._jobs if job.session != session]

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


def features(state: Session) -> dict[str, str]:
    """The features that distinguish designs: epsilon, and digests of the questions, the domain
    ("data") and the people."""
    c = state.configuration
    return {
        "epsilon": f"{state.setting.epsilon:.15g}",
        "questions": c.digest(["workload"]),
        "data": c.digest(["domain"]),
        "people": state.setting.people.digest,
    }


def give_up_earlier(state: Session) -> None:
    """Cancel what depends on the design that was on screen until now, where that is another one."""
    was, now = state.worked_for, features(state)
    state.worked_for = now
    for job in jobs().active(state.id):
        if job.asked.items() <= was.items() and not job.asked.items() <= now.items():
            job.cancel()


def give_up_unasked(state: Session) -> None:
    """Cancel what the page on screen waited for, and no longer does now that it is drawn."""
    for job in jobs().active(state.id):
        if job.asker == state.page and job.key not in state.awaited:
            job.cancel()


class Stopped(ValueError):
    """A visitor has stopped the work that the page would show."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """One piece of work for a session. ``key`` identifies its inputs, ``title`` says what is being done; ``work`` returns what is
    to be kept (None for nothing), ``size`` is how many bytes that holds, and ``expensive`` keeps it
    longest: see `Results`. ``of`` names the `features` of the design that the result depends on.
    `Job` describes the rest."""

    state: Session
    key: str
    title: str
    work: Callable[[Job], T | None]
    size: Callable[[T], int] = lambda result: 0
    of: Sequence[str] = ()
    page: str = ""
    limit: float | None = None
    expected: float | None = None
    expensive: bool = False

    @property
    def result(self) -> T | None:
        """The result; None until there is one."""
        return self.state.results.get(self.key)

    @property
    def job(self) -> Job | None:
        """The latest attempt."""
        return jobs().find(self.state.id, self.key)

    @property
    def running(self) -> Job | None:
        """The latest attempt, while it has not ended."""
        job = self.job
        return job if job is not None and job.active else None

    @property
    def cut_short(self) -> bool:
        """True if the latest attempt was cancelled, so that the result, if there is one, is only a part."""
        job = self.job
        return job is not None and job.state == "cancelled"

    @property
    def unbegun(self) -> bool:
        """True if it may begin unasked: it never has, or the program gave it up, as no one waited for it any more."""
        job = self.job
        return job is None or (job.cancelled() and not job.stopped)

    @property
    def error(self) -> str:
        """Why the latest attempt failed, in a sentence; empty if it did not."""
        job = self.job
        return "" if job is None else job.error

    def start(self, asker: str = "") -> None:
        """Begin it, unless it is running."""
        now = features(self.state)
        asked = {name: now[name] for name in self.of}
        about = {"page": self.page, "limit": self.limit, "expected": self.expected, "asker": asker}
        jobs().submit(self.state.id, self.key, self.title, self._run, asked=asked, **about)

    def get(self, quick: bool = False) -> T | None:
        """The result, computed now where that is ``quick``; else None until it has been computed in the background, and the page
        follows. ValueError with a sentence when it is not available, `Stopped` where somebody stopped it by hand since the page was opened."""
        if (value := self.result) is not None:
            return value
        if quick:
            return self._run(Job(self.key, self.state.id, self.title, None))
        job = self.job
        if job is None or not job.active:
            if (value := self.result) is not None:  # it ended just now
                return value
            if job is not None and job.stopped:
                raise Stopped(f"You stopped “{self.title}”; it begins again when a page that shows it is opened.")
            if job is not None and job.state == "failed":
                raise ValueError(job.error)
            self.start(self.state.page)
        self.state.awaited.add(self.key)
        return None

    def _run(self, job: Job) -> T | None:
        value = self.work(job)
        if value is not None:
            self.state.results.put(self.key, value, self.size(value), self.expensive)
        return value


def ask(
    state: Session, key: object, title: str, quick: bool, compute: Callable[[Cancel], T], size: int = 0
) -> T | None:
    """``compute(cancel)`` for the current design, now or later as by `Task.get`. The result of a job cancelled in the meantime is not kept,
    because it may have been cut short."""

    def work(job: Job) -> T | None:
        value = compute(job.cancelled)
        return None if job.cancelled() else value

    return Task(state, f"value:{digest(key)}", title, work, lambda _: size, (*DESIGN, "people")).get(quick)
