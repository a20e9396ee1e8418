"""Optimisers that design a strategy matrix for a workload.

Notation: ``n`` types, ``m`` outputs, strategy ``Q`` (m, n) with columns summing to one and every row within a factor
``E = exp(epsilon)``, workload Gram matrix ``G = W'W``, ``d = Q 1``, information matrix ``M = Q' D^-1 Q`` and
objective ``L(Q) = tr(M^-1 G)``. Inside the optimisers the transposed strategy ``P = Q'`` (n, m) is used, so that the
entries of one type are contiguous in memory.
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
