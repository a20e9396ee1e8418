"""The process that reads what no one has checked: bounded in memory, time and written bytes as far as the operating system can.

Started by `ldp_core.data.reading.child`. Standard input: one line of JSON (the task), then the file. Standard output: the table,
then one line of JSON (the outcome), then the length of that line in 8 bytes.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from ldp_core.data.reading.common import UnreadableTable
from ldp_core.limits import Limits

try:
    import resource as _resource
except ImportError:  # on Windows
    resource: Any = None
else:
    resource = _resource

TASKS = {name: f"ldp_core.data.reading.{name}" for name in ("parquet", "excel", "sqlite", "duck")}
TASKS["proof"] = "ldp_core.designs.proof_check"


def main() -> None:
    """Do the task of standard input."""
    task = json.loads(sys.stdin.buffer.readline())
    limits = Limits(**task["limits"])
    _bound(limits)
    with _output() as output:
        try:
            if task["name"] not in TASKS:
                raise ValueError(task["name"])
            module = importlib.import_module(TASKS[task["name"]])
            outcome = {"found": module.work(sys.stdin.buffer.read(), task["options"], limits, output)}
        except MemoryError:
            outcome = {"memory": True}
        except UnreadableTable as error:
            outcome = {"sentence": str(error)}
        end = json.dumps(outcome).encode()
        output.write(end + len(end).to_bytes(8, "big"))


def _bound(limits: Limits) -> None:
    _lower("RLIMIT_AS", limits.memory)
    # The parent ends us in time; this is for when it is gone. Threads count one by one.
    _lower("RLIMIT_CPU", int(limits.seconds + 1) * (os.cpu_count() or 1))
    _lower("RLIMIT_CORE", 0)
    # The process writes to no file, whatever a library would like to spill.
    _lower("RLIMIT_FSIZE", 0)
    with suppress(AttributeError):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _lower(name: str, value: int) -> None:
    """Lower a limit of this process, if the system can: Windows has none of them, and macOS refuses some."""
    with suppress(AttributeError, ValueError, OSError):
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        hard = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # The signal that time is over comes a second before the one that kills.
        resource.setrlimit(kind, (hard - (name == "RLIMIT_CPU" and hard > 1), hard))


def memory_allowed() -> float:
    """Bytes of address space that the system lets a process have (``ulimit -v``), as far as it says."""
    with suppress(AttributeError, ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        return math.inf if hard == resource.RLIM_INFINITY else hard
    return math.inf


def _output() -> BinaryIO:
    """The pipe to the parent; what libraries print goes nowhere near it."""
    pipe = os.fdopen(os.dup(1), "wb", buffering=2**16)
    os.dup2(2, 1)
    return pipe
