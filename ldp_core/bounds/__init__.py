"""What no mechanism can beat, on the scale of the objective L."""

from ldp_core.bounds.certificate import Certificate, CertificateProgress, certificate
from ldp_core.bounds.svd import centred_svd, svd, worst_case_variance
from ldp_core.bounds.symmetric import SymmetricCertificate

__all__ = [
    "Certificate",
    "CertificateProgress",
    "SymmetricCertificate",
    "centred_svd",
    "certificate",
    "svd",
    "worst_case_variance",
]
