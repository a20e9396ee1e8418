"""The process that reads what no one has checked: bounded by the operating system in memory, time and written bytes.

Started by `ldp_core.data.reading.child`. Standard input: one line of JSON (the task), then the file. Standard output: the table,
then one line of JSON (the outcome), then the length of that line in 8 bytes.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
from typing import BinaryIO

from ldp_core.data.reading.common import UnreadableTable
from ldp_core.limits import Limits

TASKS = {name: f"ldp_core.data.reading.{name}" for name in ("text", "parquet", "excel", "sqlite", "duck")}
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
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    # The parent ends us in time; this is for when it is gone. Threads count one by one.
    seconds = int(limits.seconds + 1) * (os.cpu_count() or 1)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The process writes to no file, whatever a library would like to spill.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _output() -> BinaryIO:
    """The pipe to the parent; what libraries print goes nowhere near it."""
    pipe = os.fdopen(os.dup(1), "wb", buffering=2**16)
    os.dup2(2, 1)
    return pipe
