"""Plotly figures from tidy frames, for pages, reports and notebooks alike."""

from ldp_core.charts.compare import query_errors as query_errors
from ldp_core.charts.compare import users_needed as users_needed
from ldp_core.charts.design import closing_gap as closing_gap
from ldp_core.charts.inputs import joint as joint
from ldp_core.charts.inputs import marginal as marginal
from ldp_core.charts.lines import over_epsilon as over_epsilon
from ldp_core.charts.lines import over_size as over_size
from ldp_core.charts.lines import trade_off as trade_off
from ldp_core.charts.outcomes import distribution as distribution
from ldp_core.charts.outcomes import group_errors as group_errors
from ldp_core.charts.outcomes import intervals as intervals
from ldp_core.charts.outcomes import predicted as predicted
from ldp_core.charts.outcomes import quantile_errors as quantile_errors
from ldp_core.charts.outcomes import releases as releases
from ldp_core.charts.queries import query_shares as query_shares
from ldp_core.charts.queries import singular_values as singular_values
from ldp_core.charts.queries import workload_matrix as workload_matrix
from ldp_core.charts.simulation import answers as answers
from ldp_core.charts.simulation import errors as errors
from ldp_core.charts.simulation import pair_names as pair_names
from ldp_core.charts.strategies import patterns as patterns
from ldp_core.charts.theme import DARK as DARK
from ldp_core.charts.theme import LIGHT as LIGHT
from ldp_core.charts.theme import Theme as Theme
from ldp_core.charts.theme import colour as colour
from ldp_core.charts.theme import title as title
