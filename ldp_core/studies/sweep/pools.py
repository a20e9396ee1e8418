"""The executors of points: the calling thread, or the workers of a Dask cluster, through joblib.

Closed forms cost less than handing them over, so the calling thread computes them while the cluster starts on the rest.

Cancelling is cooperative. A flag that all workers can see is raised. Fits in progress check it
every round, points not yet started return at once, and the cluster is left empty and usable by others.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import joblib

from ldp_core.limits import MOST_SILENT_SECONDS
from ldp_core.studies.sweep.points import Outcome, SweepPoint, evaluate
from ldp_core.threads import beside

SCHEDULER_VARIABLE = "LDP_DASK_SCHEDULER"
"""Environment variable with the address of a Dask scheduler, such as tcp://10.0.0.5:8786."""

CONNECT_SECONDS = 3.0
WHAT_WORKERS_NEED = "import ldp_core.studies.sweep"
LOOK_EVERY = 0.2  # seconds between looks at a flag or at the caller's wish to cancel

Record = Callable[[int, Outcome], None]


def compute(
    points: Mapping[int, SweepPoint], record: Record, scheduler: str | None, cancelled: Callable[[], bool]
) -> None:
    """``record(number, outcome)``, in the calling thread, for each of the numbered ``points`` in the order they are done.

    By the workers of the cluster at ``scheduler``, else by the calling thread. Returns early, with no work left behind, once
    ``cancelled``. ValueError when the cluster cannot be used.
    """
    if not scheduler:
        _in_turn(points, record, cancelled)
        return
    with _cluster(scheduler) as (parallel, flag), beside(partial(_watch, cancelled, flag)):
        results = parallel(joblib.delayed(_work)(i, point, flag) for i, point in points.items() if point.heavy)
        try:
            _in_turn({i: point for i, point in points.items() if not point.heavy}, record, cancelled)
            for number, outcome in results:
                if outcome is not None:
                    record(number, outcome)
        except TimeoutError:
            raise ValueError(
                f"No result has come back for {MOST_SILENT_SECONDS / 60:.0f} minutes. Check the workers, or use fewer types."
            ) from None
        finally:
            flag.set()
            for _ in results:  # what is in progress ends at its next look at the flag
                pass


def _in_turn(points: Mapping[int, SweepPoint], record: Record, cancelled: Callable[[], bool]) -> None:
    for number, point in points.items():
        outcome = evaluate(point, cancelled)
        if outcome is None:
            return
        record(number, outcome)


def _work(number: int, point: SweepPoint, flag: Any) -> tuple[int, Outcome | None]:
    """One point, at a worker."""
    stop = _seldom(flag.is_set)
    return number, None if stop() else evaluate(point, stop)


def _seldom(ask: Callable[[], bool]) -> Callable[[], bool]:
    """``ask``, whose answer turns true once, called at most every `LOOK_EVERY` seconds: it may cost a message."""
    answer, due = False, -float("inf")

    def looked() -> bool:
        nonlocal answer, due
        now = time.monotonic()
        if not answer and now >= due:
            answer, due = ask(), now + LOOK_EVERY
        return answer

    return looked


def _watch(cancelled: Callable[[], bool], flag: Any, ended: threading.Event) -> None:
    """Raise ``flag`` soon after ``cancelled()`` turns true, while the caller waits for results."""
    while not ended.wait(LOOK_EVERY):
        if cancelled():
            flag.set()
            return


@contextmanager
def _cluster(address: str) -> Iterator[tuple[joblib.Parallel, Any]]:
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
            # Single points go out, all at once, and come back as they are done. None goes through a file, where joblib puts what is
            # larger than ``max_nbytes``.
            out = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": "all", "max_nbytes": None}
            try:
                yield joblib.Parallel(-1, timeout=MOST_SILENT_SECONDS, **out), flag
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
