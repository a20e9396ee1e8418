"""Results kept by the digest of their inputs, within one limit on memory for all sessions of a server."""

from __future__ import annotations

import hashlib
import itertools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar
from weakref import WeakSet

from ldp_core.limits import MOST_SERVER_BYTES

T = TypeVar("T")


def digest(key: object) -> str:
    """The name of a result: ``key`` itself where it is a text, else the digest of its repr."""
    return key if isinstance(key, str) else hashlib.sha256(repr(key).encode()).hexdigest()


@dataclass
class _Held:
    """A value of ``size`` bytes, ``used`` last at this count of uses."""

    value: Any
    size: int
    expensive: bool
    used: int


_USES = itertools.count()
_LOCK = threading.RLock()


class Results:
    """Values by key, safe across threads, in all `Results` of a process within `MOST_SERVER_BYTES`.

    Quickly recomputed values are dropped first, ``expensive`` ones (fits and proofs) last. Of each kind
    the least recently used goes first, whosever it is; what other sessions have on screen goes last.
    The newest value is always kept, and an expensive one never makes room for one that is not.
    """

    beside = 0
    """Bytes that tables take of `MOST_SERVER_BYTES`."""
    _all: ClassVar[WeakSet[Results]] = WeakSet()

    def __init__(self) -> None:
        self._items: dict[str, _Held] = {}
        self._closed = False
        self._shown = math.inf
        with _LOCK:
            Results._all.add(self)

    def show(self, shown: bool = True) -> None:
        """A page begins to be drawn: what it uses from now on is on screen. Or no page is ``shown`` any more."""
        self._shown = next(_USES) if shown else math.inf

    def get(self, key: object) -> Any:
        """The value of a key, None where there is none."""
        name = digest(key)
        with _LOCK:
            held = self._items.get(name)
            if held is None:
                return None
            held.used = next(_USES)
            return held.value

    def put(self, key: object, value: Any, size: int = 0, expensive: bool = False) -> None:
        """Keep a value that holds ``size`` bytes."""
        name = digest(key)
        with _LOCK:
            if self._closed:
                return
            self._items[name] = _Held(value, size, expensive, next(_USES))
            if size:
                self._drop(expensive)

    @classmethod
    def make_room(cls, beside: int) -> None:
        """Drop what does not fit any more where tables take ``beside`` bytes."""
        with _LOCK:
            cls.beside = beside
            cls()._drop(expensive=True)

    def _drop(self, expensive: bool) -> None:
        """Drop what was used longest ago, but for the newest, until the others fit; ``expensive`` values only if the newest is."""
        sized = [(held, name, one) for one in Results._all for name, held in one._items.items() if held.size]
        over = sum(held.size for held, _, _ in sized) + Results.beside - MOST_SERVER_BYTES
        if over <= 0:  # most often
            return
        newest = max(held.used for held, _, _ in sized)
        order = lambda item: (item[0].expensive, self._on_another_screen(item[0], item[2]), item[0].used)  # noqa: E731
        for held, name, one in sorted(sized, key=order):
            if over > 0 and held.used < newest and (expensive or not held.expensive):
                over -= one._items.pop(name).size

    def _on_another_screen(self, held: _Held, one: Results) -> bool:
        return one is not self and held.used >= one._shown

    def cached(self, key: object, compute: Callable[[], T], size: Callable[[T], int] = lambda value: 0) -> T:
        """``compute()`` once per ``key`` (anything with a stable repr)."""
        value: T | None = self.get(key)
        if value is None:
            value = compute()
            self.put(key, value, size(value))
        return value

    def refused(self, size: int) -> str:
        """Why no expensive result of this ``size`` is to be begun, in a sentence; empty where it will fit."""
        if size > MOST_SERVER_BYTES:
            return "This number of rows is too large to keep: choose fewer, or leave it empty."
        with _LOCK:
            every = [(held, one) for one in self._all for held in one._items.values() if held.expensive]
            others = sum(held.size for held, one in every if self._on_another_screen(held, one))
        if size + others <= MOST_SERVER_BYTES:
            return ""
        return "Results that others have on screen leave no room on this server for one of this size: try again later, or use coarser bins."

    @classmethod
    def room(cls, size: int) -> bool:
        """True if an expensive result of this ``size`` fits beside all the others."""
        with _LOCK:
            others = (held.size for one in cls._all for held in one._items.values() if held.expensive)
            return size + cls.beside + sum(others) <= MOST_SERVER_BYTES

    def close(self) -> None:
        """Drop everything and keep nothing from now on: work may still end after its session has."""
        with _LOCK:
            self._closed = True
            self._items.clear()
