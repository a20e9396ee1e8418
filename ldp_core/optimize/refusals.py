"""The reasons why no strategy is fitted to this number of types, and the limits of each kind of
strategy."""

from __future__ import annotations

from ldp_core.limits import MOST_FITTED_TYPES, MOST_MATRIX_TYPES, MOST_VECTOR_TYPES
from ldp_core.workloads import Workload
from ldp_core.workloads.ordered import AllRange, Prefix, WidthRange


def too_large(n: int) -> str | None:
    """Why no strategy is fitted to ``n`` types, None where one is."""
    if n <= MOST_FITTED_TYPES:
        return None
    return (
        f"A strategy matrix for {n:,} types would be too large to design; at most {MOST_FITTED_TYPES:,} are. Use coarser bins, or a "
        "closed-form mechanism such as subset selection."
    )


def most_types(workload: Workload | None, continuous: bool, any_rows: bool) -> int:
    """Most types that ``continuous`` vectors or strategies are fitted to; ``any_rows`` where those need not be written out."""
    if continuous:
        return MOST_VECTOR_TYPES
    return MOST_MATRIX_TYPES if any_rows and along_an_order(workload) else MOST_FITTED_TYPES


def along_an_order(workload: Workload | None) -> bool:
    """True if questions are running totals or ranges, which are designed on a ring past `MOST_FITTED_TYPES`."""
    return isinstance(workload, Prefix | AllRange | WidthRange)


def ring_too_large(n: int) -> str | None:
    """Why no rows on a ring are fitted to running totals or ranges over ``n`` types, None where they are."""
    if n <= MOST_MATRIX_TYPES:
        return None
    return (
        f"Strategies for running totals and ranges are designed for at most {MOST_MATRIX_TYPES:,} types; there are {n:,}. Use coarser "
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
