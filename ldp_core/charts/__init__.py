"""Plotly figures from tidy frames, for pages, reports and notebooks alike."""

from ldp_core.charts.asking import asked
from ldp_core.charts.compare import over_epsilon, query_errors, users_needed
from ldp_core.charts.design import closing_gap
from ldp_core.charts.inputs import histogram, joint, marginal
from ldp_core.charts.outcomes import distribution, group_errors, intervals, predicted, quantile_errors, releases
from ldp_core.charts.papers import panel
from ldp_core.charts.patterns import patterns
from ldp_core.charts.planning import trade_off
from ldp_core.charts.queries import query_shares, singular_values, workload_matrix
from ldp_core.charts.simulation import answers, errors, pair_names
from ldp_core.charts.sweep import over_size
from ldp_core.charts.theme import DARK, LIGHT, Theme, colour, theme, title

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "answers",
    "asked",
    "closing_gap",
    "colour",
    "distribution",
    "errors",
    "group_errors",
    "histogram",
    "intervals",
    "joint",
    "marginal",
    "over_epsilon",
    "over_size",
    "pair_names",
    "panel",
    "patterns",
    "predicted",
    "quantile_errors",
    "query_errors",
    "query_shares",
    "releases",
    "singular_values",
    "theme",
    "title",
    "trade_off",
    "users_needed",
    "workload_matrix",
]
