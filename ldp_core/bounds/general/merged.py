"""A lower bound on L for few questions on any number of types: the bound for the types that they
distinguish.

**The proof.** A mechanism Q for all n types answers questions that depend on the merged type of a
person only (`ldp_core.workloads.quotient`). Let a person of a merged type draw one of its types
evenly and report as Q says. That is a mechanism for the c merged types, with the same epsilon, and
unbiased if Q is. Its variance for a merged type is the mean over its types, since the answer has
one mean there. Now let p be the shares of the merged types. No variance on average over all types
is below the least on average over p. ``L / n`` is that variance plus the mean of G's diagonal, both
equal for the two, so ``L >= n / c`` times a bound on ``tr(M_p^-1 G)`` there.

**The worst case.** Let p be any other shares of the merged types. No mechanism has a smaller
variance for its worst type than on average over p, so the proof bounds the worst type alone.

**The rounding.** p is a fraction of whole numbers, rounded once, and the reference c p of the proof once more. Where ``v'Xv <= (r'v)(mu'v)`` holds for
those numbers and r is larger than the true one by a share of 3 u at most, it holds for the true one and ``(1 + 3 u) mu``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ldp_core.bounds.proof import OTHER_QUESTIONS, Arrays, Certificate, Document, Proof
from ldp_core.bounds.verify import U
from ldp_core.priors import check_prior
from ldp_core.workloads import Workload
from ldp_core.workloads.quotient import quotient

MERGED_TYPES = 512
"""Most merged types: this number takes seconds."""

MEANING = (
    "The {merged} types are those that the questions distinguish, of as many combinations of values as the number beside this. Their shares of the "
    "people are those of their combinations. No mechanism for the combinations does better, on average over these."
)
"""What a file says of them."""
WORST = (
    "The {merged} types are those that the questions distinguish, of as many combinations of values as the number beside this. No mechanism for "
    "the combinations has a smaller variance for its worst one than this average."
)
"""The same where people are spread in another way."""


@dataclass(frozen=True, repr=False)
class MergedCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for ``workload``, from
    ``types``, a proof for the types that it distinguishes. Unless it is ``even``, about people
    spread evenly over all types, it bounds the worst type only, and ``value`` is n times its
    variance + tr G."""

    workload: Workload
    epsilon: float
    value: float
    types: Certificate
    even: bool = True

    besides = "merged"

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        document, arrays = self.types.to_file(epsilon)
        meaning = (MEANING if self.even else WORST).format(merged=self.types.workload.n)
        return {**document, "merged": {"types": int(self.workload.n), "meaning": meaning}}, arrays

    @classmethod
    def from_file(
        cls, document: Document, data: Mapping[str, np.ndarray], workload: Workload, epsilon: float, value: float
    ) -> MergedCertificate:
        merging = quotient(workload, MERGED_TYPES)
        if merging is None:
            raise ValueError(OTHER_QUESTIONS)
        types = Certificate.from_file(document, data, merging.workload, epsilon, value)
        even = np.array_equal(check_prior(types.prior, merging.workload.n), merging.even)
        return cls(workload, epsilon, scaled(workload, types, even), types, even)

    @property
    def claimed(self) -> float:
        return self.types.value

    def proven(self) -> float:
        """The bound that the proof for merged types comes to, rounded down; -inf if it is none, or about other questions or people."""
        merging = quotient(self.workload, MERGED_TYPES)
        if merging is None or self.types.epsilon < self.epsilon:
            return -math.inf
        if self.even and not np.array_equal(check_prior(self.types.prior, merging.workload.n), merging.even):
            return -math.inf
        about = replace(self.types, workload=merging.workload)  # whatever it says that it is about
        proven = max(about.proven(), about.trivial)
        return scaled(self.workload, replace(about, value=proven), self.even) if about.value <= proven else -math.inf


def scaled(workload: Workload, types: Certificate, even: bool = True) -> float:
    """A little less than what a proof for merged types says of all, or of the worst type."""
    n, reduced, per_type = float(workload.n), types.workload, types.value / types.workload.n
    if even:
        return max(workload.trace, n * per_type * (1 - 16 * U))
    known = float(check_prior(types.prior, reduced.n) @ reduced.gram_diag)
    off = (reduced.n + reduced.gram_roundings + 64) * U * (n * per_type + n * known + workload.trace)
    return max(workload.trace, n * (per_type - known) + workload.trace - off)
