"""What was computed in a session, kept within a limit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

KEPT_BYTES = 960 * 2**20
"""Room for the largest strategy that is fitted, with its proof."""


class Results:
    """Values by key within `KEPT_BYTES`, safe across threads. What is soon worked out again goes first, what is ``dear`` (fits and
    proofs) last, of each the least recently used; the newest is always kept, and what is dear makes no room for what is not."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, tuple[Any, int, bool]] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    def get(self, key: str) -> Any:
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key][0]

    def put(self, key: str, value: Any, size: int = 0, dear: bool = False) -> None:
        with self._lock:
            if self._closed:
                return
            self._items[key] = (value, size, dear)
            self._items.move_to_end(key)
            total = sum(size for _, size, _ in self._items.values())
            for goes in (False, True) if dear else (False,):
                for old, (_, held, precious) in list(self._items.items())[:-1]:
                    if total > KEPT_BYTES and held and precious == goes:  # dropping what weighs nothing frees nothing
                        total -= self._items.pop(old)[1]

    def room(self, size: int) -> bool:
        """Whether something dear of this ``size`` fits beside all that is."""
        with self._lock:
            return size + sum(held for _, held, dear in self._items.values() if dear) <= KEPT_BYTES

    @property
    def bytes(self) -> int:
        """What all values hold, as it was stated."""
        with self._lock:
            return sum(size for _, size, _ in self._items.values())

    def close(self) -> None:
        """Let go of everything and take nothing any more: work whose session has departed may still end."""
        with self._lock:
            self._closed = True
            self._items.clear()
