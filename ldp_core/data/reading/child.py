"""Reading in a process of its own, with hard limits on memory, time and size, and killed as a whole when it passes one.

The process imports only what its task needs: ldp_core as a whole would take seconds.
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from ldp_core.data.reading.common import UnreadableTable, watch
from ldp_core.data.reading.limits_in_words import died, not_started, too_long, too_much
from ldp_core.data.reading.worker import memory_allowed
from ldp_core.limits import Limits

_HERE = Path(__file__).parent
_PLACES = {
    "ldp_core.data.reading": str(_HERE),
    "ldp_core.data": str(_HERE.parent),
    "ldp_core.designs": str(_HERE.parents[1] / "designs"),
    "ldp_core": str(_HERE.parents[1]),
}
# Packages without their __init__.py, which would import everything.
_START = f"""
import sys, types
for name, place in {_PLACES}.items():
    package = sys.modules[name] = types.ModuleType(name)
    package.__path__ = [place]
from ldp_core.data.reading.worker import main
main()
"""
# Thread pools and allocators that reserve address space they never use would eat up the limit. Days
# of times that a database stores in UTC would be those of the machine's time zone.
_SPARING = {
    "TZ": "UTC",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
_POLL = 0.1
_PIECE = 2**20
_COMPLAINT = 4096
_PLAIN = {("datetime", name) for name in ("date", "datetime", "time", "timedelta")}


def run(name: str, options: dict[str, Any], limits: Limits, content: bytes, mend: str) -> tuple[bytearray, dict]:
    """The output of the task ``name``, and its report.

    Parameters
    ----------
    name : str
        One of `ldp_core.data.reading.worker.TASKS`.
    options : dict
        Of the task, as JSON has them.
    limits : Limits
        On memory and written bytes, in bytes, and on time, in seconds.
    content : bytes
        The file, where the task does not open it itself.
    mend : str
        The end of the sentence about a limit that was passed, after a colon.

    Returns
    -------
    written : bytearray
        What the task wrote.
    report : dict
        What it says besides.

    Raises
    ------
    UnreadableTable
        With the sentence of the task, or because it passed a limit.
    Stopped
        It was cancelled.
    """
    guard, until = watch(), time.monotonic() + limits.seconds
    head = json.dumps({"name": name, "options": options, "limits": asdict(limits)}).encode() + b"\n"
    written, said = bytearray(), bytearray()
    with _started() as process:
        # Threads, since Windows can wait for no pipe.
        _thread(_feed, process.stdin, head, content)
        complaints = _thread(_drain, process.stderr, said, math.inf)
        reader = _thread(_drain, process.stdout, written, limits.unpacked + _PIECE)
        while reader.is_alive():
            guard.check()
            if time.monotonic() > until:
                raise UnreadableTable(too_long(limits.seconds, mend))
            reader.join(_POLL)
        if len(written) > limits.unpacked + _PIECE:
            raise UnreadableTable(too_much(limits.unpacked, mend))
        outcome = _outcome(written)
        if outcome is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(_POLL, until - time.monotonic()))
            complaints.join(_POLL)
            raise UnreadableTable(
                died(process.returncode, said.decode(errors="replace"), limits.memory, memory_allowed(), mend)
            )
    if "memory" in outcome:
        raise UnreadableTable(too_much(limits.memory, mend, memory_allowed()))
    if "sentence" in outcome:
        raise UnreadableTable(outcome["sentence"])
    return written, outcome["found"]


@contextmanager
def _started() -> Iterator[subprocess.Popen[bytes]]:
    """The process, with pipes, ended as a whole afterwards."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **_SPARING},
            start_new_session=True,
        )
    except OSError as error:
        raise UnreadableTable(not_started(error.strerror or "")) from error
    try:
        yield process
    finally:
        # Its own process group, where the system has such, so that whatever it has started ends with it.
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def _thread(target: Callable[..., None], *about: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=about, daemon=True)
    thread.start()
    return thread


def _feed(inlet: IO[bytes], head: bytes, content: bytes) -> None:
    with suppress(OSError), inlet:
        inlet.write(head)
        inlet.write(content)


def _drain(outlet: IO[bytes], into: bytearray, most: float) -> None:
    """All that comes, or a little more than ``most`` bytes; of complaints without end, the last."""
    with outlet:
        while len(into) <= most and (piece := os.read(outlet.fileno(), _PIECE)):
            into += piece
            if most == math.inf:
                del into[:-_COMPLAINT]


def _outcome(written: bytearray) -> dict | None:
    """The outcome, which is taken off the end; None where the process died before it."""
    size = int.from_bytes(written[-8:], "big")
    if size > len(written) - 8:
        return None
    try:
        outcome = json.loads(written[-8 - size : -8])
    except ValueError:
        return None
    del written[-8 - size :]
    return outcome


class _Plain(pickle.Unpickler):
    """Numbers, texts, dates and lists of them, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PLAIN:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def rows_of(written: bytearray) -> list[Any]:
    """The rows that a task pickled, batch by batch."""
    stream, rows = io.BytesIO(written), []
    while stream.tell() < len(written):
        rows += _Plain(stream).load()
    return rows


def table_of(written: bytearray) -> pa.Table:
    """The table that a task wrote as an Arrow stream."""
    with pa.ipc.open_stream(pa.py_buffer(written)) as stream:
        return stream.read_all()
