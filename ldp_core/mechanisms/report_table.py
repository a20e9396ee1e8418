"""What one report says about each type, as a table: the content of a mechanism's picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.limits import MOST_DRAWN_TYPES, MOST_TABLE_ENTRIES, SAMPLED_REPORTS

Kind = Literal["reports", "bits", "numbers"]


@dataclass(frozen=True)
class ReportTable:
    """A table (k, n) with a column for each type.

    Attributes:
        kind: what a row is. "reports": one possible report, and the probability that each type sends it. "bits": one
            part of a report, such as a bit of a unary encoding, and the probability that it is 1. "numbers": one
            number of a report, and its mean before noise is added.
        entries: (k, n) the table, or some rows of it where there are too many.
        sampled: True if the rows were drawn at random, or thinned evenly for "bits".
        note: what the rows are or what hides them, in one sentence; empty where the kind says all.
    """

    kind: Kind
    entries: np.ndarray
    sampled: bool = False
    note: str = ""

    @classmethod
    def of(cls, kind: Kind, table: np.ndarray | LinearOperator, note: str = "") -> ReportTable:
        """All rows of ``table`` (m, n) if it is written out already, or small enough to be; otherwise some of them.

        ValueError for more types than are drawn.
        """
        if isinstance(table, np.ndarray):
            return cls(kind, table, note=note)
        m, n = table.shape
        if n > MOST_DRAWN_TYPES:
            raise ValueError(too_many_types(n))
        if m * n <= MOST_TABLE_ENTRIES:
            return cls(kind, np.asarray(table @ np.eye(n)), note=note)
        if kind == "bits":  # they have an order, which even steps keep
            chosen = np.linspace(0, m - 1, SAMPLED_REPORTS).astype(np.int64)
        else:
            chosen = np.sort(np.random.default_rng(0).choice(m, SAMPLED_REPORTS, replace=False, shuffle=False))
        unit = np.zeros(m)
        rows = np.empty((SAMPLED_REPORTS, n))
        for row, place in enumerate(chosen):
            unit[place] = 1.0
            rows[row] = table.rmatvec(unit)
            unit[place] = 0.0
        return cls(kind, rows, sampled=True, note=note)


def too_many_types(n: int) -> str:
    """Why reports about ``n`` types are not drawn."""
    return (
        f"Reports are drawn for at most {MOST_DRAWN_TYPES:,} types; there are {n:,} here. Use coarser bins to see them."
    )
