"""What was computed in a session, kept within a limit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

KEPT_BYTES = 256 * 2**20


class Results:
    """Values by key, least recently used dropped past `KEPT_BYTES` (the newest is always kept). Safe across threads."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def get(self, key: str) -> Any:
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key][0]

    def put(self, key: str, value: Any, size: int = 0) -> None:
        with self._lock:
            if self._closed:
                return
            self._items[key] = (value, size)
            self._items.move_to_end(key)
            total = sum(size for _, size in self._items.values())
            for old in list(self._items)[:-1]:
                if total <= KEPT_BYTES:
                    break
                if self._items[old][1]:  # dropping what weighs nothing frees nothing
                    total -= self._items.pop(old)[1]

    @property
    def bytes(self) -> int:
        """What all values hold, as it was stated."""
        with self._lock:
            return sum(size for _, size in self._items.values())

    def close(self) -> None:
        """Let go of everything and take nothing any more: work whose session has departed may still end."""
        with self._lock:
            self._closed = True
            self._items.clear()
