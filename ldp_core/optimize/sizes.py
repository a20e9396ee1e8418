"""How large designs may be: the one place for it."""

from __future__ import annotations

from ldp_core.workloads import Workload
from ldp_core.workloads.ordered import AllRange, Prefix, WidthRange

MOST_TYPES = 2048
"""Largest number of types that a strategy is fitted to, whichever mechanism it is for."""

MOST_RING_TYPES = 4096
"""The same for running totals and ranges, whose reports are rotations of few rows: M is an n x n matrix, but the strategy is not written out."""

MOST_VECTOR_TYPES = 1024
"""The same for vectors that are sent with noise: how far apart any two of them are takes n^3 operations that are not products of
matrices, half a second here."""

MOST_ENTRIES = 2**25
"""Largest fitted strategy, in probabilities (256 MiB): 16 rows for each type up to 1,448 types, and 8 for `MOST_TYPES`. Four do not get
anywhere: their second moments are mostly chance."""

ROWS_PER_TYPE = 16
LEAST_ROWS = 256

# Products of matrices are taken so many multiplications at a time, a fifth of a second or so; then it is asked whether to go on.
BLOCK = 2**33


def rows(n: int) -> int:
    """How many rows a strategy for ``n`` types is made of."""
    return min(max(ROWS_PER_TYPE * n, LEAST_ROWS), max(MOST_ENTRIES // n, 4 * n))


def blocks(k: int, n: int) -> list[slice]:
    """``k`` rows of ``n`` entries taken apart so that a product of each part with an n x n matrix takes little time."""
    size = max(1, BLOCK // n**2)
    return [slice(start, start + size) for start in range(0, k, size)]


def too_large(n: int) -> str | None:
    """Why no strategy is fitted to ``n`` types, None where one is."""
    if n <= MOST_TYPES:
        return None
    return (
        f"A strategy matrix for {n:,} types would be too large to design; at most {MOST_TYPES:,} are. Use coarser bins, or a "
        "closed-form mechanism such as subset selection."
    )


def most_types(workload: Workload | None, continuous: bool, any_rows: bool) -> int:
    """Most types that ``continuous`` vectors or strategies are fitted to; ``any_rows`` where those need not be written out."""
    if continuous:
        return MOST_VECTOR_TYPES
    return MOST_RING_TYPES if any_rows and along_an_order(workload) else MOST_TYPES


def along_an_order(workload: Workload | None) -> bool:
    """True if questions are running totals or ranges, which are designed on a ring past `MOST_TYPES`."""
    return isinstance(workload, Prefix | AllRange | WidthRange)


def ring_too_large(n: int) -> str | None:
    """Why no rows on a ring are fitted to running totals or ranges over ``n`` types, None where they are."""
    if n <= MOST_RING_TYPES:
        return None
    return (
        f"Strategies for running totals and ranges are designed for at most {MOST_RING_TYPES:,} types; there are {n:,}. Use coarser "
        "bins, or a tree, which needs no optimisation."
    )


def vectors_too_large(n: int) -> str | None:
    """Why no vectors are fitted to ``n`` types, None where they are."""
    if n <= MOST_VECTOR_TYPES:
        return None
    return (
        f"Strategies of the matrix mechanism are optimised for at most {MOST_VECTOR_TYPES:,} types; there are {n:,}. Use coarser "
        "bins, or the Gaussian mechanism, which needs no optimisation."
    )
