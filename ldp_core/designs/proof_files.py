"""Proofs of a design as files, and from files."""

from __future__ import annotations

import numpy as np

from ldp_core import bounds
from ldp_core.analysis import Case
from ldp_core.designs import certificate_file, proof_check
from ldp_core.designs.certificate_file import Written
from ldp_core.designs.proofs import Proof
from ldp_core.designs.setting import Setting


def written(setting: Setting, case: str, before: bool = False) -> Written | None:
    """The best proof of a case as files; None if there is nothing to write.

    It takes as long as two checks of the proof, and no time where only files written ``before`` are asked for.
    """
    proof, epsilon = setting.proof(case), setting.configuration.epsilon
    if proof is None or proof.certificate.too_large_for_file():
        return None
    certificate = proof.certificate
    key = ("written", setting.certificate_key(case), certificate.value, type(certificate).__name__, epsilon)
    if before:
        return setting.results.get(key)
    return setting.results.cached(
        key, lambda: certificate_file.write(certificate, epsilon), lambda files: len(files.arrays)
    )


def adopt(setting: Setting, files: Written) -> None:
    """Take over what files prove, once that has been checked for the questions and epsilon of the design.

    ValueError, one sentence, where they prove nothing for any of its cases.
    """
    proof = proof_check.read(files, setting.answers.workload, setting.configuration.epsilon)
    names = [name for name, case in setting.cases.items() if _about(proof, case, setting)]
    for name in names or [name for name, case in setting.cases.items() if case.prior is None]:
        setting.keep_proof(name, Proof(proof, (), False))


def _about(certificate: bounds.Proof, case: Case, setting: Setting) -> bool:
    """True if a certificate is about the people of a case, rather than about others."""
    if isinstance(certificate, bounds.MergedCertificate) and not certificate.even:
        return case.prior is None
    prior = getattr(certificate, "prior", None)
    even = prior is None or np.array_equal(prior, np.full(len(prior), 1 / len(prior)))
    if case.prior is None:
        return even and (prior is None or setting.answers.workload.symmetry_group.all_alike)
    if even or prior is None:
        return case.uniform
    near = 0.0 if certificate.workload.strata is None else 1e-11  # the shares of groups are rounded in files
    return bool(np.allclose(np.asarray(case.prior), prior, near, 0.0))
