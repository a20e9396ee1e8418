"""How many BLAS threads numerical work on n x n matrices should use, and work that goes on beside other work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache

import scipy.linalg  # noqa: F401  (brings a BLAS of its own, beside NumPy's)
from threadpoolctl import ThreadpoolController

# Up to this many types a second thread gains little, and where another process wants the core it costs a lot.
ONE_THREAD = 512


def blas_threads(n: int) -> AbstractContextManager:
    """A context that gives BLAS one thread for up to `ONE_THREAD` types, and all its threads beyond
    that."""
    return _libraries().limit(limits=1 if n <= ONE_THREAD else None, user_api="blas")


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do ``work`` in a thread of its own while the block lasts. It is given an event, which the end of the block sets, and awaited."""
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@cache
def _libraries() -> ThreadpoolController:
    """The loaded BLAS libraries, searched for once: that takes as long as a round of a small
    search."""
    return ThreadpoolController()
