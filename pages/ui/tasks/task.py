"""Long work by its inputs: asked for once, done in the background, its result kept with those of the session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, jobs

T = TypeVar("T")

DESIGN = ("epsilon", "questions", "data")


def features(state: Session) -> dict[str, str]:
    """The features that distinguish designs: epsilon, and digests of the questions, the domain
    ("data") and the people."""
    c, design = state.configuration, state.design()
    return {
        "epsilon": f"{c.epsilon_value:.15g}",
        "questions": c.digest(["workload"]),
        "data": c.digest(["domain"]),
        "people": "" if design is None else design.people_digest,
    }


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
    part: str = ""

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
    def given_up(self) -> bool:
        """True if the program cancelled the latest attempt, as no one waited for it any more: it may begin again unasked."""
        job = self.job
        return job is not None and job.cancelled() and not job.stopped

    @property
    def error(self) -> str:
        """Why the latest attempt failed, in a sentence; empty if it did not."""
        job = self.job
        return "" if job is None else job.error

    def start(self) -> None:
        """Begin it, unless it is running."""
        now = features(self.state)
        asked = {name: now[name] for name in self.of}
        about = {"page": self.page, "limit": self.limit, "expected": self.expected, "part": self.part}
        jobs().submit(self.state.id, self.key, self.title, self._run, asked=asked, **about)

    def known(self, at_once: bool = False) -> T | None:
        """The result, computed now if ``at_once``; else None until it has been computed in the background. ValueError with a
        sentence when it is not available, `Stopped` where somebody stopped it by hand and has not asked for it again."""
        if (value := self.result) is not None:
            return value
        if at_once:
            return self._run(Job(self.key, self.state.id, self.title, None))
        job = self.job
        if job is not None and job.active:
            return None
        if (value := self.result) is not None:  # it ended just now
            return value
        if job is not None and job.stopped:
            job.lacked = True
            raise Stopped(f"You stopped “{self.title}”; press “Begin again” in the sidebar if you want it after all.")
        if job is not None and job.state == "failed":
            raise ValueError(job.error)
        self.start()
        return None

    def _run(self, job: Job) -> T | None:
        value = self.work(job)
        if value is not None:
            self.state.results.put(self.key, value, self.size(value), self.expensive)
        return value
