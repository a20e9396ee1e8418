"""The executors of points: the calling thread, processes of this machine, or a Dask cluster,
through joblib.

Closed forms cost less than handing them over, so the calling thread computes them while the pool starts on the rest.
Threads would share one interpreter lock: fits spend enough time in Python that two threads are slower than one.

Cancelling is cooperative. A flag that all processes can see is raised. Fits in progress check it
every round, points not yet started return at once, and the pool is left empty and usable by others.
"""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from ldp_core.limits import MOST_SILENT_SECONDS
from ldp_core.studies.sweep.points import Outcome, SweepPoint, evaluate

SCHEDULER_VARIABLE = "LDP_DASK_SCHEDULER"
"""Environment variable with the address of a Dask scheduler, such as tcp://10.0.0.5:8786."""

CONNECT_SECONDS = 3.0
WHAT_WORKERS_NEED = "import ldp_core.studies.sweep"
IDLE_SECONDS = 60  # until processes that no one uses end
LOOK_EVERY = 0.2  # seconds between looks at a flag or at the caller's wish to cancel

# The processes serve one sweep at a time: a second one would wait in their queue, even to be cancelled.
_PROCESSES = threading.Lock()

Record = Callable[[int, Outcome], None]


class Flag(Protocol):
    """Raised once, seen by all processes; travels with the points."""

    def set(self) -> None: ...
    def is_set(self) -> bool: ...


class FileFlag:
    """A flag for the processes of one machine: raised while the file exists."""

    def __init__(self, path: str):
        self._path = Path(path)

    def set(self) -> None:
        self._path.touch()

    def is_set(self) -> bool:
        return self._path.exists()


def compute(
    points: Sequence[SweepPoint], record: Record, jobs: int, scheduler: str | None, cancelled: Callable[[], bool]
) -> None:
    """``record(index, outcome)``, in the calling thread, for each of ``points`` in the order they are done.

    By the workers of the cluster at ``scheduler``, else by ``jobs`` processes (-1: as many as cores), or by the calling
    thread where that is 1 or another sweep has the processes. Returns early, with no work left behind, once
    ``cancelled``. ValueError when the cluster cannot be used.
    """
    heavy = [index for index, point in enumerate(points) if point.heavy]
    if scheduler:
        pool = _cluster(scheduler)
    elif jobs != 1 and len(heavy) > 1 and _PROCESSES.acquire(blocking=False):
        pool = _processes(jobs)
    else:
        _in_turn(points, range(len(points)), record, cancelled)
        return
    pooled = set(heavy)
    light = [index for index in range(len(points)) if index not in pooled]
    with pool as (parallel, flag), _watched(cancelled, flag):
        results = parallel(joblib.delayed(_work)(index, points[index], flag) for index in heavy)
        try:
            _in_turn(points, light, record, cancelled)
            for index, outcome in results:
                if outcome is not None:
                    record(index, outcome)
        except TimeoutError:
            raise ValueError(
                f"No result has come back for {MOST_SILENT_SECONDS / 60:.0f} minutes. Check the workers, or use fewer types."
            ) from None
        except TerminatedWorkerError:
            raise ValueError(
                "A worker process was ended from outside, most likely for lack of memory. Use fewer jobs or coarser "
                "bins."
            ) from None
        finally:
            flag.set()
            for _ in results:  # what is in progress ends at its next look at the flag
                pass


def _in_turn(
    points: Sequence[SweepPoint], chosen: Sequence[int], record: Record, cancelled: Callable[[], bool]
) -> None:
    for index in chosen:
        outcome = evaluate(points[index], cancelled)
        if outcome is None:
            return
        record(index, outcome)


def _work(index: int, point: SweepPoint, flag: Flag) -> tuple[int, Outcome | None]:
    """One point, in a process of the pool."""
    stop = _seldom(flag.is_set)
    return index, None if stop() else evaluate(point, stop)


def _seldom(ask: Callable[[], bool]) -> Callable[[], bool]:
    """``ask``, whose answer turns true once, called at most every `LOOK_EVERY` seconds: it may cost a message."""
    answer, due = False, -float("inf")

    def asked() -> bool:
        nonlocal answer, due
        now = time.monotonic()
        if not answer and now >= due:
            answer, due = ask(), now + LOOK_EVERY
        return answer

    return asked


@contextmanager
def _watched(cancelled: Callable[[], bool], flag: Flag) -> Iterator[None]:
    """Raises ``flag`` soon after ``cancelled()`` turns true, while the caller waits for results."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_EVERY):
            if cancelled():
                flag.set()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def _processes(jobs: int) -> Iterator[tuple[joblib.Parallel, Flag]]:
    """Processes of this machine, for the holder of the lock, who gives it back."""
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            joblib.parallel_config(backend="loky", inner_max_num_threads=1, idle_worker_timeout=IDLE_SECONDS),
        ):
            yield _parallel(jobs), FileFlag(os.path.join(folder, "cancelled"))
    finally:
        _PROCESSES.release()


def _parallel(jobs: int) -> joblib.Parallel:
    """Single points go out, all at once, and come back in the order they are done. No data goes
    through files, where joblib puts arrays of more than ``max_nbytes``."""
    return joblib.Parallel(
        jobs,
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch="all",
        timeout=MOST_SILENT_SECONDS,
        max_nbytes=None,
    )


@contextmanager
def _cluster(address: str) -> Iterator[tuple[joblib.Parallel, Flag]]:
    client = _client(address)
    try:
        # A worker that cannot unpickle a point would keep joblib waiting, so this is tried beforehand.
        answers = client.run(exec, WHAT_WORKERS_NEED, on_error="return")
        if not answers:
            raise ValueError(f"The Dask scheduler at {address} has no workers. Start some, or leave the address out.")
        if failed := [error for error in answers.values() if error is not None]:
            raise ValueError(
                f"{len(failed)} of the {len(answers)} workers of the Dask cluster at {address} cannot run this program "
                f"({failed[0]}). Install ldp_core and its requirements there, or leave the address out."
            )
        from distributed import Event

        flag = Event(client=client)
        with joblib.parallel_config(backend="dask", client=client):
            try:
                yield _parallel(-1), flag
            finally:
                flag.clear()  # the scheduler would keep a raised flag for ever
    finally:
        client.close()


def _client(address: str) -> Any:
    try:
        from distributed import Client  # slow to import, and only needed with a cluster
    except ImportError:
        raise ValueError(
            "Computing on a Dask cluster needs the package distributed. Install it, or leave the address out."
        ) from None
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        # Distributed keeps trying, and says little, when a name is unknown or a port closed. A plain connection fails.
        socket.create_connection((parts.hostname or "", parts.port or 8786), timeout=CONNECT_SECONDS).close()
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # whatever answers there may not be a scheduler, and then anything can go wrong
        raise ValueError(
            f"No Dask scheduler answers at {address} ({type(error).__name__}). Check the address (such as "
            "tcp://10.0.0.5:8786) and that the scheduler runs, or leave it out to compute on this machine."
        ) from None
