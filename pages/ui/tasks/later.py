"""Values that a page shows once they are known: computed at once where that is quick, else in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ldp_core.designs.results import digest
from ldp_core.run import Cancel
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, jobs
from pages.ui.tasks.task import Task

PREFIX = "later:"

T = TypeVar("T")


class Later:
    """Values of the current design that may take long, by key. Made again whenever a page is drawn; where a page has several, each has a
    ``part`` of its own. A result, or a stop by hand, counts for all pages."""

    def __init__(self, state: Session, part: str = ""):
        self._state, self._part = state, f"{PREFIX}{part}"
        self._waited: set[str] = set()

    def value(self, key: object, title: str, quick: bool, compute: Callable[[Cancel], T], size: int = 0) -> T | None:
        """``compute(cancel)``, now where it is ``quick``; else None until it has been computed in the background. ValueError
        with a sentence when it is not available. The result of a job cancelled in the meantime is
        not kept, because it may have been cut short."""

        def work(job: Job) -> T | None:
            value = compute(job.cancelled)
            return None if job.cancelled() else value

        return self.wait(Task(self._state, PREFIX + digest(key), title, work, lambda _: size, part=self._part), quick)

    def wait(self, task: Task[T], quick: bool = False) -> T | None:
        """The same of any task. One that is not of this part is not cancelled by `finish`."""
        value = task.known(at_once=quick)
        if value is None:
            self._waited.add(task.key)
        return value

    def finish(self) -> None:
        """Cancel what earlier questions were waiting for, and let the page follow what these wait for: see `pages.ui.job_list`."""
        for job in jobs().active(self._state.id):
            if job.part == self._part and job.key not in self._waited:
                job.cancel()
        self._state.awaited |= self._waited
