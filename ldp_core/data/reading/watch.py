"""The watch over a reading in progress: it can cancel it, reports how far it has come, and ends it
in time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ldp_core.data.reading.common import UnreadableTable


class Stopped(UnreadableTable):
    """Somebody cancelled the reading."""


@dataclass(frozen=True)
class Watch:
    """Attributes: cancelled: asked ten times a second. progress: told how much of a look at the file is done, 0 to 1."""

    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[float], None] = lambda share: None
    begun: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raises Stopped once it is cancelled."""
        if self.cancelled():
            raise Stopped("Reading was cancelled.")


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(cancelled: Callable[[], bool], progress: Callable[[float], None] = lambda share: None) -> Iterator[None]:
    """All reading that this thread does inside is cancelled once ``cancelled()`` is true, and its time limit counts from here."""
    token = _WATCH.set(Watch(cancelled, progress))
    try:
        yield
    finally:
        _WATCH.reset(token)


def watch() -> Watch:
    """The watch whose block we are in, or a new one that begins now and only knows the time."""
    return _WATCH.get() or Watch()
