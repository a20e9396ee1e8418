"""Checks of numbers and names that are given, each a ValueError of one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from ldp_core.wording import meant


def check_whole(what: str, value: int, least: int, most: int | None = None) -> int:
    """``value`` as an int from ``least`` to ``most``, or a ValueError about ``what`` it is ("number of types")."""
    upper = math.inf if most is None else most
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= upper:
        allowed = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise ValueError(f"The {what} must be a whole number {allowed}; got {value!r}.")
    return int(value)


def check_positive(what: str, value: float) -> float:
    """``value`` as a finite float above 0, or a ValueError about ``what`` it is."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < math.inf:
        raise ValueError(f"The {what} must be a number above 0; got {value!r}.")
    return float(value)


def check_choice(what: str, value: str, known: Iterable[str]) -> str:
    """``value``, or a ValueError that says which are ``known``."""
    known = tuple(known)
    if value not in known:
        raise ValueError(f"Unknown {what} {value!r}; {meant(value, known)}")
    return value
