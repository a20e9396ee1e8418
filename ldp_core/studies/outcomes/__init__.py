"""What repeated collections would look like: mechanisms x estimators on the same people, in tidy tables for charts.

found = outcomes.compare({"haar": mechanism}, workload, counts, labels, trials=100, estimators=("unbiased", "wnnls"))
found.errors, found.groups, found.releases, ...
"""

from ldp_core.studies.outcomes.groups import Groups, counts_people, query_groups
from ldp_core.studies.outcomes.quantiles import QUANTILES, Scale, positions, rank_errors, scale_of
from ldp_core.studies.outcomes.views import LEVEL, RELEASES, Outcomes, compare, left_out, seconds_a_trial

__all__ = [
    "LEVEL",
    "QUANTILES",
    "RELEASES",
    "Groups",
    "Outcomes",
    "Scale",
    "compare",
    "counts_people",
    "left_out",
    "positions",
    "query_groups",
    "rank_errors",
    "scale_of",
    "seconds_a_trial",
]
