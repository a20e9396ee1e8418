"""How many BLAS threads numerical work on n x n matrices should use."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits

# Up to this many types a second thread gains little, and where another process wants the core it costs a lot.
ONE_THREAD = 512


def blas_threads(n: int) -> AbstractContextManager:
    """A context in which BLAS uses one thread for up to `ONE_THREAD` types, and all the threads it has beyond that."""
    return threadpool_limits(limits=1 if n <= ONE_THREAD else None, user_api="blas")
