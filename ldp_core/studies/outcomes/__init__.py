"""Repeated collections, simulated: mechanisms x estimators on the same people, as tidy frames for
charts.

found = outcomes.compare({"haar": mechanism}, workload, counts, labels, trials=100, estimators=("unbiased", "wnnls"))
found.answers, found.lines, found.errors, ...
"""

from ldp_core.studies.outcomes.quantiles import QUANTILES as QUANTILES
from ldp_core.studies.outcomes.quantiles import Scale as Scale
from ldp_core.studies.outcomes.quantiles import positions as positions
from ldp_core.studies.outcomes.quantiles import rank_errors as rank_errors
from ldp_core.studies.outcomes.quantiles import scales_of as scales_of
from ldp_core.studies.outcomes.views import LEVEL as LEVEL
from ldp_core.studies.outcomes.views import Outcomes as Outcomes
from ldp_core.studies.outcomes.views import compare as compare
from ldp_core.studies.outcomes.views import left_out as left_out
