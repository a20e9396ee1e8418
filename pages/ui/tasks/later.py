"""The earlier name of `pages.ui.tasks.jobs.ask`, for branches that have yet to follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ldp_core.run import Cancel
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Task, ask

T = TypeVar("T")


class Later:
    """Values that a page shows once they are known."""

    def __init__(self, state: Session, part: str = ""):
        self._state = state

    def value(self, key: object, title: str, quick: bool, compute: Callable[[Cancel], T], size: int = 0) -> T | None:
        """See `ask`."""
        return ask(self._state, key, title, quick, compute, size)

    def wait(self, task: Task[T], quick: bool = False) -> T | None:
        """See `Task.get`."""
        return task.get(quick)

    def finish(self) -> None:
        """Nothing is left to do."""
