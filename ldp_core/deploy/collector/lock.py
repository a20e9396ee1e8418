"""Locks that end with the process that holds them, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]


class Held(Exception):
    """Another process holds the lock."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of the file ``path``, which exists as long as the lock is held. `Held` where another process has it."""
    file = _locked(path)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file: it stays, and is locked again next time
            path.unlink()
        file.close()


def _locked(path: Path) -> IO[bytes]:
    while True:
        file = path.open("ab")
        try:
            _lock(file)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return file
        except (BlockingIOError, PermissionError):
            file.close()
            raise Held from None
        file.close()  # the process that had it has just removed it


def _lock(file: IO[bytes]) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
