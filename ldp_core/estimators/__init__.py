"""From reports to answers. All post-processing is free of privacy cost; what it may cost is unbiasedness, and it says so.

estimate = estimators.apply("wnnls", reports, mechanism, workload)
estimators.spec("mle").unsuitable(mechanism, workload)      # None, or a sentence that says why it does not work here
estimators.intervals(mechanism, workload, mechanism.estimate(reports), level=0.95)
"""

from ldp_core.estimators.confidence import INTERVAL_PART as INTERVAL_PART
from ldp_core.estimators.confidence import METHODS as METHODS
from ldp_core.estimators.confidence import Intervals as Intervals
from ldp_core.estimators.confidence import intervals as intervals
from ldp_core.estimators.lines import Estimated as Estimated
from ldp_core.estimators.lines import line_answers as line_answers
from ldp_core.estimators.posterior import PosteriorEstimate as PosteriorEstimate
from ldp_core.estimators.ratios import ratio_answers as ratio_answers
from ldp_core.estimators.ratios import unbounded_in_words as unbounded_in_words
from ldp_core.estimators.registry import ESTIMATORS as ESTIMATORS
from ldp_core.estimators.registry import apply as apply
from ldp_core.estimators.registry import improve as improve
from ldp_core.estimators.registry import names as names
from ldp_core.estimators.registry import spec as spec
from ldp_core.estimators.sequences import any_time as any_time
from ldp_core.estimators.totals import WORSE as WORSE
from ldp_core.estimators.totals import contradicted_in_words as contradicted_in_words
from ldp_core.estimators.totals import estimated_total as estimated_total
from ldp_core.estimators.totals import missed_in_words as missed_in_words
from ldp_core.estimators.totals import misses as misses
from ldp_core.estimators.totals import remedy as remedy
from ldp_core.estimators.totals import why as why
