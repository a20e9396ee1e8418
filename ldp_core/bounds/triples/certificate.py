"""Certificates for questions about yes-or-no attributes, from inequalities on triples of types.

All types are alike but for the number of bits that differ. Let C be constant on characters of one
weight l, with ``C_l = sqrt(lambda_l / gamma_l)`` (gamma the eigenvalues of G), X = C G C, and v = 1
+ D 1_T for a set T of share a. The transform of 1_T on the characters of weight l has the square
n^2 W^l. Now let ``ratio`` be the largest value of ``D^2 sum_l lambda_l W^l / (1 + D a)^2`` that
`ldp_core.bounds.triples.duals` cannot rule out:

    v'X v / (1'v)^2  =  X_0 / n + D^2 sum_l lambda_l W^l / (n (1 + D a)^2)  <=  (X_0 + ratio) / n.

Multipliers ``mu_i = (X_0 + ratio) / n`` then meet the condition of
`ldp_core.bounds.general.certificate`, and ``L >= tr(C G)^2 / 1'mu``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ldp_core.bounds.proof import (
    ABOVE,
    NOTHING,
    UNDERFLOW,
    Arrays,
    Document,
    U,
    exp_epsilon_minus_one,
    magnitudes_fit,
    repair,
)
from ldp_core.bounds.symmetric.certificate import AlikeProof, SymmetricCertificate
from ldp_core.bounds.triples.duals import Duals
from ldp_core.bounds.triples.search import TriplesSearch
from ldp_core.run import Check, Interrupted, unchecked
from ldp_core.workloads import Workload

FEWEST_BITS = 3
_MOST_BITS = 12
# Pairs of types give the same bound for questions about a larger share of the attributes at once.
HIGHEST_DEGREE = 2 / 3
# The least gain on the bound by pairs of types, as a share.
_LEAST_GAIN = 1e-4


@dataclass(frozen=True, repr=False)
class TripleCertificate(AlikeProof):
    """A proven lower bound ``value`` on L of every epsilon-LDP strategy, for a workload over yes-or-no attributes that treats all of them alike. The proof is
    ``duals``; ``plain`` is the bound by pairs of types, which a short script can check."""

    proves_by: ClassVar[str] = "inequalities and matrices for three types at a time"

    workload: Workload
    epsilon: float
    value: float
    duals: Duals
    plain: SymmetricCertificate

    file_kinds = (("classes", "intervals"),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        document, arrays = self.plain.to_file(epsilon)
        return {**document, "proof": {"intervals": len(self.duals.values)}}, arrays | self.duals.to_file()

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> TripleCertificate:
        plain = SymmetricCertificate.from_file(document, data, workload, epsilon)
        return cls(workload, epsilon, 0.0, Duals.from_file(data), plain)

    def mended(self, epsilon: str) -> TripleCertificate:
        return replace(self, plain=self.plain.mended(epsilon))

    def _trace_and_total(self) -> tuple[float, float]:
        scheme = self.workload.symmetry_group.scheme
        if scheme is None or not fits(self.workload) or np.shape(self.duals.weights) != (scheme.classes - 1,):
            return NOTHING
        return trace_and_total(self.workload, self.epsilon, self.duals.weights, self.duals.ratio(self.epsilon))


def fits(workload: Workload) -> bool:
    """True if the workload treats all types alike but for the number of bits that differ, has few
    enough bits, and asks about not too many of them at once."""
    scheme = workload.symmetry_group.scheme
    if scheme is None or not scheme.binary or not FEWEST_BITS <= scheme.classes - 1 <= _MOST_BITS:
        return False
    asked = np.flatnonzero(scheme.spectrum(workload.gram_column)[0])
    return bool(0 < asked.max(initial=0) <= HIGHEST_DEGREE * (scheme.classes - 1))


def trace_and_total(workload: Workload, epsilon: float, weights: np.ndarray, ratio: float) -> tuple[float, float]:
    """``tr(C G)`` rounded down and ``1'mu`` rounded up, for ``weights`` lambda (d,) and the ``ratio`` proven for them."""
    scheme = workload.symmetry_group.scheme
    assert scheme is not None
    gamma, off = scheme.spectrum(workload.gram_column, workload.gram_roundings)
    n, many, asked = scheme.n, scheme.multiplicities, gamma[1:] > 0
    C = np.zeros(len(gamma))
    C[1:][asked] = np.sqrt(weights[asked] / gamma[1:][asked])
    root = float(many @ (C * gamma))
    if not (magnitudes_fit(gamma) and ratio > 0 and root > 0):
        return NOTHING
    C[0] = ratio / root if gamma[0] > 0 else 0.0
    unit = (4 * len(gamma) + 64) * U
    trace = root + float(C[0] * gamma[0]) - ABOVE * float((many * C) @ (off + unit * gamma)) - UNDERFLOW
    slack = ABOVE * float(np.max(C**2 * off)) + UNDERFLOW
    total = (float(C[0] ** 2 * gamma[0]) + ratio) * (1 + unit)
    return trace, total + ABOVE * n * repair(np.ones(n), exp_epsilon_minus_one(epsilon), slack, 0.0)


def improved(
    plain: SymmetricCertificate, stop: Callable[[], bool] = lambda: False, check: Check = unchecked
) -> Iterator[TripleCertificate]:
    """Ever better certificates for the workload of ``plain`` if it `fits`, until ``stop()``; each
    has a larger bound than the last."""
    workload, epsilon = plain.workload, plain.epsilon
    if not fits(workload):
        return
    scheme = workload.symmetry_group.scheme
    assert scheme is not None
    gamma, best = scheme.spectrum(workload.gram_column)[0], plain.value * (1 + _LEAST_GAIN)
    worth = (scheme.multiplicities**2 * gamma)[1:]
    try:
        for duals in TriplesSearch(len(worth), epsilon, worth, until(stop, check)).rounds(best - gamma[0]):
            certificate = TripleCertificate(workload, epsilon, 0.0, duals, plain)
            certificate = replace(certificate, value=certificate.claim())
            if certificate.value > best:
                best = certificate.value
                yield certificate
    except Interrupted:
        return


def until(stop: Callable[[], bool], check: Check) -> Check:
    """A `Check` that is over when ``stop()`` says so as well."""

    def over() -> None:
        check()
        if stop():
            raise Interrupted

    return over
