"""Theorems of Cormode, Kulkarni and Srivastava 2019: exact variances beside the printed formulas, per user and for one answer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ldp_core import workloads
from ldp_core.bounds.theorems import ranges
from ldp_core.mechanisms import Mechanism
from ldp_core.mechanisms.trees import haar, hierarchical
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.papers.panel import Panel, Row, frame_of

EPSILON = 1.1
TYPES = 256
BRANCHING = 4
BRANCHINGS = (2, 4, 8, 16)
LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 200, 256)


def largest() -> pd.DataFrame:
    """Fact 1, Theorem 4.3 and equations (2) and (3): the largest variance of a range by its length."""
    workload = workloads.AllRange(TYPES)
    low, high = workload.ends(np.arange(workload.num_queries))
    mechanisms: dict[str, Mechanism] = {
        "OUE of all types (Fact 1)": UnaryEncoding("oue", TYPES, EPSILON, "standard"),
        "Tree (Theorem 4.3)": hierarchical.build(TYPES, EPSILON, BRANCHING, "oue", "raw"),
        "Consistent tree (equation 2)": hierarchical.build(TYPES, EPSILON, BRANCHING, "oue", "consistent"),
        "HaarHRR (equation 3)": haar.Haar(TYPES, EPSILON),
    }
    formulas = (
        lambda r: ranges.flat_error(EPSILON, r),
        lambda r: ranges.raw_bound(TYPES, EPSILON, BRANCHING, r),
        lambda r: ranges.consistent_error(TYPES, EPSILON, BRANCHING, r),
        lambda r: ranges.haar_bound(TYPES, EPSILON),
    )
    rows = list[Row]()
    for (series, mechanism), formula in zip(mechanisms.items(), formulas, strict=True):
        variances = mechanism.query_variances(workload, np.ones(TYPES)) / TYPES
        for r in LENGTHS:
            variance = float(variances[high - low + 1 == r].max())
            if variance > 1e-9:  # the whole domain is known to those who use the number of users
                rows.append((series, float(r), variance, np.nan, formula(r) or np.nan))
    return frame_of(rows)


PANEL = Panel(
    "cormode-theorem-4-3",
    "Theorem 4.3",
    f"The largest variance of a range of {TYPES} types by its length",
    f"Epsilon {EPSILON:g}, B = {BRANCHING}, people spread evenly over the types; variances are exact. Printed are the formulas; that of "
    "equation (2) is 0 for single types.",
    "Length of the range",
    "Variance of an answer per user (squared users)",
    largest,
    "Theorem 4.3 and equation (3) bound every range here; equation (2) is too small for short ranges.",
    log_x=True,
)
