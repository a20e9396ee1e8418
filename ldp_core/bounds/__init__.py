"""What no mechanism can beat: on the scale of the objective L, or as a variance per user."""

from ldp_core.bounds.general.certificate import Certificate, certificate
from ldp_core.bounds.general.hardest_prior import worst_case
from ldp_core.bounds.scales import average_variance, equivalent_objective
from ldp_core.bounds.singular_values import centred_svd, least_favourable_prior, svd, worst_case_variance
from ldp_core.bounds.symmetric.certificate import SymmetricCertificate

__all__ = [
    "Certificate",
    "SymmetricCertificate",
    "average_variance",
    "centred_svd",
    "certificate",
    "equivalent_objective",
    "least_favourable_prior",
    "svd",
    "worst_case",
    "worst_case_variance",
]
