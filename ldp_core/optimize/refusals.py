"""The reasons why no strategy is fitted to this number of types, and the limits of each kind of
strategy."""

from __future__ import annotations

from ldp_core.limits import MOST_FITTED_TYPES, MOST_VECTOR_TYPES


def too_large(n: int) -> str | None:
    """Why no strategy is fitted to ``n`` types, None where one is."""
    if n <= MOST_FITTED_TYPES:
        return None
    return (
        f"A strategy matrix for {n:,} types would be too large to design; at most {MOST_FITTED_TYPES:,} are. Use coarser bins, or a "
        "mechanism in closed form: a tree or Haar for running totals and ranges, subset selection for counts of each type."
    )


def most_types(continuous: bool) -> int:
    """Most types that ``continuous`` vectors or strategies are fitted to."""
    return MOST_VECTOR_TYPES if continuous else MOST_FITTED_TYPES


def vectors_too_large(n: int) -> str | None:
    """Why no vectors are fitted to ``n`` types, None where they are."""
    if n <= MOST_VECTOR_TYPES:
        return None
    return (
        f"Strategies of the matrix mechanism are optimised for at most {MOST_VECTOR_TYPES:,} types; there are {n:,}. Use coarser "
        "bins, or the Gaussian mechanism, which needs no optimisation."
    )
