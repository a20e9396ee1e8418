"""A folder that no one else reads, gone when the work is done. Files that are replaced at one stroke. Locks that end with the process that
holds them, however it ends.

A process that is killed leaves its folder behind, with people's ids in it, or a file that it was writing. The next one removes these: each
has a lock.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from ldp_core.deploy.collector.reasons import UnreadableReports

PREFIX = "ldp-collector-"
NO_ROOM = "There is no room left on the disk: free some and start again."
_LOCK = "lock"


def no_room(error: Exception) -> bool:
    """True if a write found no room left: every library passes on what the system says."""
    return any(os.strerror(number) in str(error) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


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


@contextmanager
def private_folder(place: Path | None) -> Iterator[Path]:
    """A new folder in ``place`` (None: the usual one for temporary files). Those of processes that are gone are removed."""
    try:
        remove_abandoned(Path(tempfile.gettempdir()) if place is None else place)
    except FileNotFoundError:
        raise UnreadableReports(
            "There is no folder for temporary files that can be written to: set TMPDIR to one."
        ) from None
    with ExitStack() as ours:
        for _ in range(5):  # another process may find the lock before it is held, and remove the folder
            with suppress(Held, FileNotFoundError):
                made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True)
                folder = Path(ours.enter_context(made))
                ours.enter_context(held(folder / _LOCK))
                (folder / _LOCK).stat()
                break
        else:
            raise UnreadableReports(
                "Folders for temporary files are removed as soon as they are made: set TMPDIR to another one."
            )
        yield folder


def remove_abandoned(place: Path) -> None:
    """Remove the folders in ``place`` whose process is gone."""
    for folder in place.glob(f"{PREFIX}*"):
        # One without a lock is just being made by another process, or was left in the moment before it had one.
        with suppress(Held, OSError):
            if _ours(folder, stat.S_IFDIR) and (folder / _LOCK).is_file():
                with held(folder / _LOCK):
                    shutil.rmtree(folder)


def _ours(path: Path, kind: int) -> bool:
    """True if it is of this ``kind`` and this user made it, and no link to another place."""
    about = path.lstat()
    return stat.S_IFMT(about.st_mode) == kind and (not hasattr(os, "getuid") or about.st_uid == os.getuid())


def replace(path: Path, write: Callable[[IO[bytes]], object], mode: int = 0o600) -> None:
    """Put a file that ``write`` writes in the place of ``path`` at one stroke. Its ``mode`` says who may read it."""
    beginning = f".{path.name[:100]}."
    for left in path.parent.glob(f"{glob.escape(beginning)}*.part"):
        with suppress(Held, OSError):
            if _ours(left, stat.S_IFREG):
                with held(left):
                    pass  # it is removed
    unfinished = path.with_name(f"{beginning}{secrets.token_hex(8)}.part")  # no file that is there
    try:
        with open(unfinished, "x+b", opener=partial(os.open, mode=mode)) as file:
            with suppress(OSError):  # not every file system has locks
                _lock(file)
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
