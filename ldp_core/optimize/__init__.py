"""Optimisers that design a strategy matrix for a workload.

Notation: `ldp_core/README.md`. Where a method of the papers is followed, the transposed strategy Q' (n, m) is used, so
that the entries of one type are contiguous in memory.
"""

from ldp_core.optimize.base import SearchLimits
from ldp_core.optimize.closed_form import ClosedFormDesign
from ldp_core.optimize.columns.reweighting import worst_case_design
from ldp_core.optimize.dispatch import design
from ldp_core.optimize.enumeration import ExactOptimum, exact
from ldp_core.optimize.gradient.method import projected_gradient
from ldp_core.optimize.gradient.projection import project
from ldp_core.optimize.strategy import Optimized
from ldp_core.run import Progress

__all__ = [
    "ClosedFormDesign",
    "ExactOptimum",
    "Optimized",
    "Progress",
    "SearchLimits",
    "design",
    "exact",
    "project",
    "projected_gradient",
    "worst_case_design",
]
