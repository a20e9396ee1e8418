"""Theorems of Cormode, Kulkarni and Srivastava 2019: exact variances beside the printed formulas, per user and for one answer."""

from __future__ import annotations

from functools import partial

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
SIBLINGS = (4, 8, 16)
UNIT = "Variance of an answer per user (squared users)"
PEOPLE = "people spread evenly over the types; variances are exact"


def averages() -> pd.DataFrame:
    """Theorem 4.5: the average over all ranges by branching factor, without consistency."""
    workload, rows = workloads.all_range(TYPES), list[Row]()
    for oracle in ("oue", "hrr"):
        for B in BRANCHINGS:
            tree = hierarchical.build(TYPES, EPSILON, B, oracle, "raw")
            exact = float(tree.variance_profile(workload).mean()) / workload.num_queries
            rows.append((f"Tree of {oracle.upper()}", float(B), exact, np.nan, ranges.range_error(TYPES, EPSILON, B)))
    return frame_of(rows)


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


def siblings() -> pd.DataFrame:
    """Lemma 4.6: r of the B leaves below one node, all B + 1 of them known with variance V_F, by least squares."""
    rows = list[Row]()
    for B in SIBLINGS:
        covariance = np.linalg.inv(np.eye(B) + np.ones((B, B))) * ranges.count_variance(EPSILON)
        for r in range(1, B + 1):
            exact = float(covariance[:r, :r].sum())
            rows.append((f"B = {B}", float(r), exact, np.nan, ranges.siblings_error(EPSILON, B, r)))
    return frame_of(rows)


_panel = partial(Panel, y=UNIT, log_x=True, design=None)
PANELS = (
    _panel(
        "cormode-theorem-4-5",
        "Theorem 4.5",
        f"The average over all ranges of {TYPES} types by branching factor",
        f"Epsilon {EPSILON:g}, {PEOPLE}. Printed is the formula of the theorem.",
        "Branching factor",
        compute=averages,
        remark="The theorem is a prediction, and generous here. Lopuhaä-Zwakenberg et al. have a Theorem 4.5 of their own, about "
        "histograms. Both are on Bounds, for your design.",
    ),
    _panel(
        "cormode-theorem-4-3",
        "Theorem 4.3",
        f"The largest variance of a range of {TYPES} types by its length",
        f"Epsilon {EPSILON:g}, B = {BRANCHING}, {PEOPLE}. Printed are the formulas; that of equation (2) is 0 for single types.",
        "Length of the range",
        compute=largest,
        remark="Theorem 4.3 and equation (3) bound every range here; equation (2) is too small for short ranges.",
    ),
    _panel(
        "cormode-lemma-4-6",
        "Lemma 4.6",
        "The gain of consistency among the leaves of one node",
        f"Epsilon {EPSILON:g}: B leaves and their parent, all estimated with the variance V_F, by least squares.",
        "Leaves in the range",
        compute=siblings,
        remark="The lemma is exact.",
    ),
)
