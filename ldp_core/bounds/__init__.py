"""Lower bounds that no mechanism can beat, on the scale of the objective L or as a variance per
user. The papers' theorems are in `theorems`: `frequency` (large samples), `ranges` and `few_users`;
`statements` lists all of them."""

from ldp_core.bounds.best import certificate
from ldp_core.bounds.closed_form import (
    average_variance,
    centred_svd,
    equivalent_objective,
    least_favourable_prior,
    svd,
    worst_case_variance,
    worst_from_average,
)
from ldp_core.bounds.general.hardest_prior import worst_case
from ldp_core.bounds.general.merged import MergedCertificate
from ldp_core.bounds.promise import every_value_is_secret
from ldp_core.bounds.proof import Certificate, Proof
from ldp_core.bounds.surveys.singles import SinglesCertificate
from ldp_core.bounds.theorems import few_users, frequency, ranges, statements
from ldp_core.bounds.theorems.frequency import efficient_of, large_sample, large_sample_of
from ldp_core.bounds.theorems.ranges import best_branching, range_error
from ldp_core.bounds.theorems.statements import STATEMENTS, Statement

__all__ = [
    "STATEMENTS",
    "Certificate",
    "MergedCertificate",
    "Proof",
    "SinglesCertificate",
    "Statement",
    "average_variance",
    "best_branching",
    "centred_svd",
    "certificate",
    "efficient_of",
    "equivalent_objective",
    "every_value_is_secret",
    "few_users",
    "frequency",
    "large_sample",
    "large_sample_of",
    "least_favourable_prior",
    "range_error",
    "ranges",
    "statements",
    "svd",
    "worst_case",
    "worst_case_variance",
    "worst_from_average",
]
