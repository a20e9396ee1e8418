"""The closed form for surveys whose questions follow an order or single out values, as a proof: all parts together, not added up.

**The proof.** A row of a mechanism, scaled to mean 1, has a variance over the types of at most
``mu = D^2 / (4 (1 + D)) = sinh(epsilon/2)^2``, and M is ``11'/n`` plus the covariance M_c of such
rows: tr M_c <= n mu. Take any R such that ``R'R`` is no more than G off the constants, and any U
with singular values of at most 1. By Cauchy's inequality

    tr(U'R)^2  <=  tr(R M_c^-1 R') tr(U M_c U')  <=  tr(M^-1 G off the constants) n mu,

and U is best where tr(U'R) is the sum of the singular values. So ``L >= g_0 + (sum of roots of lower bounds on the eigenvalues of G off the
constants)^2 / mu`` when all is over n. G is taken in the blocks of `survey_blocks.parts_of`, each as often as its component has dimensions.

**The rounding.** Whatever V and lambda a routine returns as the eigenvalues of a block H, with ``e = |V'V - 1|`` and ``r = |H - V lambda V'|`` the
i-th largest eigenvalue of H is ``(1 - e) lambda_i - r`` at least, where that is positive (Ostrowski; Weyl: Horn and Johnson 2013, Theorems
4.5.9 and 4.3.1). Both norms are Frobenius norms of what is computed, plus rounding: m products and a few more steps are off by
``(m + 4) u`` times the same products of absolute values, of norms ``|V|^2`` and ``sum |lambda_k| |v_k|^2``. r also has what H itself is off by.
Being small beside the largest eigenvalue, r costs the small ones most, and these add least to a sum of roots.

Measured in November 2026, gap to the best proved bound with it and without it: 0.9 and
139 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import linalg

from ldp_core.bounds.proof import ABOVE, Arrays, Document, Proof, U, exp_epsilon_minus_one
from ldp_core.bounds.survey_blocks import GramBlock, parts_of
from ldp_core.bounds.surveys.grouped import GroupedCertificate
from ldp_core.workloads import Survey, Workload


@dataclass(frozen=True, repr=False)
class BlocksCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey`. The
    questions and epsilon prove it: the check recomputes the eigenvalues. ``plain`` is the bound
    part by part, which a short script can check; nothing here rests on it."""

    proves_by: ClassVar[str] = "eigenvalues of a matrix for each set of columns"

    workload: Survey
    epsilon: float
    value: float
    plain: GroupedCertificate

    file_kinds = (("parts", "blocks"),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        document, arrays = self.plain.to_file(epsilon)
        return {**document, "proof": {"blocks": True}}, arrays

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> BlocksCertificate:
        plain = GroupedCertificate.from_file(document, data, workload, epsilon, checked)
        return cls(plain.workload, epsilon, 0.0, plain)

    def too_large_for_file(self) -> str | None:
        return self.plain.too_large_for_file()

    def mended(self, epsilon: str) -> BlocksCertificate:
        return replace(self, plain=self.plain.mended(epsilon))

    @property
    def parts_claimed(self) -> list[float]:
        return self.plain.parts_claimed

    def proven(self) -> float:
        return proved(self.workload, self.epsilon)


def blocks_certificate(survey: Survey, epsilon: float, plain: GroupedCertificate) -> BlocksCertificate:
    """The certificate of the closed form."""
    certificate = BlocksCertificate(survey, epsilon, 0.0, plain)
    return replace(certificate, value=certificate.claimable(proved(survey, epsilon)))


def proved(survey: Survey, epsilon: float) -> float:
    """The closed form, rounded down; at least the trace of G, as no variance is negative."""
    parts = parts_of(survey)
    norms = [
        float(parts.dims @ np.sqrt(parts.alone)) * (1 - (4 * len(parts.dims) + 4 * survey.gram_roundings + 64) * U)
    ]
    for block in parts.blocks:
        norms.append(block.dim * roots_at_least(block))
    D = exp_epsilon_minus_one(epsilon)
    root, most = math.fsum(norms), D / (1 + D) * D / 4
    together = survey.components.constant * (1 - 1e-9) + root / most * root * (1 - 64 * U)
    return float(survey.n) * max(together, survey.trace / survey.n * (1 - 1e-9))


def roots_at_least(block: GramBlock) -> float:
    """A lower bound on the sum of the roots of the eigenvalues of a block."""
    H, m = block.gram, len(block.gram)
    if not m:
        return 0.0
    values, V = linalg.eigh(H, driver="evd")
    steps, lengths = (m + 4) * U, (V**2).sum(axis=0)
    off = float(linalg.norm(V.T @ V - np.eye(m))) + steps * (float(lengths.sum()) + math.sqrt(m))
    size = float(np.abs(values) @ lengths) + float(linalg.norm(H))
    residual = float(linalg.norm(H - (V * values) @ V.T)) + steps * size + block.rounding
    least = (1 - ABOVE * off) * values - ABOVE * residual
    return float(np.sqrt(np.maximum(least, 0.0)).sum()) * (1 - (m + 16) * U) if off < 0.5 else 0.0
