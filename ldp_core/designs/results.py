"""Results kept by the digest of their inputs, within a limit on memory."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from ldp_core.limits import MOST_RESULT_BYTES

T = TypeVar("T")


def digest(key: object) -> str:
    """The name of a result: ``key`` itself where it is a text, else the digest of its repr."""
    return key if isinstance(key, str) else hashlib.sha256(repr(key).encode()).hexdigest()


class Results:
    """Values by key within `MOST_RESULT_BYTES`, safe across threads.

    Quickly recomputed values are dropped first, ``expensive`` ones (fits and proofs) last, and of
    each kind the least recently used. The
    newest value is always kept, and an expensive one never makes room for one that is not.
    """

    def __init__(self) -> None:
        self._items: OrderedDict[str, tuple[Any, int, bool]] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def get(self, key: object) -> Any:
        """The value of a key, None where there is none."""
        name = digest(key)
        with self._lock:
            if name not in self._items:
                return None
            self._items.move_to_end(name)
            return self._items[name][0]

    def put(self, key: object, value: Any, size: int = 0, expensive: bool = False) -> None:
        """Keep a value that holds ``size`` bytes."""
        name = digest(key)
        with self._lock:
            if self._closed:
                return
            self._items[name] = (value, size, expensive)
            self._items.move_to_end(name)
            total = sum(size for _, size, _ in self._items.values())
            for leaving in (False, True) if expensive else (False,):
                for old, (_, bytes_held, precious) in list(self._items.items())[:-1]:
                    # dropping what weighs nothing frees nothing
                    if total > MOST_RESULT_BYTES and bytes_held and precious == leaving:
                        total -= self._items.pop(old)[1]

    def cached(self, key: object, compute: Callable[[], T], size: Callable[[T], int] = lambda value: 0) -> T:
        """``compute()`` once per ``key`` (anything with a stable repr)."""
        value: T | None = self.get(key)
        if value is None:
            value = compute()
            self.put(key, value, size(value))
        return value

    @staticmethod
    def too_large(size: int) -> bool:
        """True if a result of this ``size`` is never kept."""
        return size > MOST_RESULT_BYTES

    def room(self, size: int) -> bool:
        """True if an expensive result of this ``size`` fits beside all the others."""
        with self._lock:
            return size + sum(held for _, held, expensive in self._items.values() if expensive) <= MOST_RESULT_BYTES

    @property
    def bytes(self) -> int:
        """The total size of all values, as it was stated."""
        with self._lock:
            return sum(size for _, size, _ in self._items.values())

    def close(self) -> None:
        """Drop everything and keep nothing from now on: work may still end after its session has."""
        with self._lock:
            self._closed = True
            self._items.clear()
