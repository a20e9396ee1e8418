"""From reports to answers. All post-processing is free of privacy cost; what it may cost is unbiasedness, and it says so.

estimate = estimators.apply("wnnls", reports, mechanism, workload)
estimators.spec("mle").unsuitable(mechanism, workload)      # None, or a sentence that says why it does not work here
estimators.intervals(mechanism, workload, mechanism.estimate(reports), level=0.95)
"""

from ldp_core.estimators.intervals import INTERVAL_PART, METHODS, Intervals, intervals
from ldp_core.estimators.mle import LikelihoodEstimate
from ldp_core.estimators.posterior import PosteriorEstimate
from ldp_core.estimators.registry import ESTIMATORS, EstimatorSpec, apply, improve, names, spec

__all__ = [
    "ESTIMATORS",
    "INTERVAL_PART",
    "METHODS",
    "EstimatorSpec",
    "Intervals",
    "LikelihoodEstimate",
    "PosteriorEstimate",
    "apply",
    "improve",
    "intervals",
    "names",
    "spec",
]
