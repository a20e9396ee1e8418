"""Plotly figures from tidy frames, for pages, reports and notebooks alike."""

from ldp_core.charts.compare import over_epsilon, query_errors, users_needed
from ldp_core.charts.design import convergence, strategy
from ldp_core.charts.inputs import histogram, singular_values, workload_matrix
from ldp_core.charts.simulation import answers, errors
from ldp_core.charts.theme import DARK, LIGHT, Theme, theme

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "answers",
    "convergence",
    "errors",
    "histogram",
    "over_epsilon",
    "query_errors",
    "singular_values",
    "strategy",
    "theme",
    "users_needed",
    "workload_matrix",
]
