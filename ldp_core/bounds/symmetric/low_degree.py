"""Yes-or-no attributes where only functions of degree one and two are asked about: a bound that knows more of small sets.

The relaxation of `ldp_core.bounds.symmetric.certificate` knows pairs of types alone, and so too little of how few neighbours small sets
have. For degree two, `ldp_core.bounds.surveys.binary` bounds ``lambda_1 W^1 + lambda_2 W^2`` for sets of records of every size. Let C be constant
on characters of one weight, with ``C_l = sqrt(lambda_l / gamma_l)`` (gamma the eigenvalues of G), X = C G C, and v = 1 + D 1_T for a set T of
share a. As the transform of 1_T on the characters of weight l has the square n^2 W^l,

    v'X v / (1'v)^2  =  X_0 / n + D^2 (lambda_1 W^1 + lambda_2 W^2) / (n (1 + D a)^2)  <=  (X_0 + ratio) / n,

so that multipliers ``mu_i = (X_0 + ratio) / n`` meet the condition of `ldp_core.bounds.general.certificate`, and ``L >= tr(C G)^2 / 1'mu``. Rounding
is bounded as in `ldp_core.bounds.symmetric.certificate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ldp_core.bounds.proof import ABOVE, NOTHING, UNDERFLOW, QuotientProof, U, magnitudes_fit, repair, spread
from ldp_core.bounds.scales import average_variance
from ldp_core.bounds.surveys import binary
from ldp_core.bounds.symmetric.certificate import SymmetricCertificate
from ldp_core.priors import check_prior
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

DEGREE = 2
FEWEST_BITS, MOST_BITS = 5, binary.MOST_BITS
# Angles of the first grid, and how often the search goes on between the best ones; what must be gained, as a share.
_FIRST, _HALVINGS, _LEAST_GAIN = 12, 3, 1e-4


@dataclass(frozen=True, repr=False)
class LowDegreeCertificate(QuotientProof):
    """A proven lower bound ``value`` on L of every epsilon-LDP strategy, for a workload over yes-or-no attributes that asks about functions
    of degree one and two alone: the ``angle`` of (lambda_1, lambda_2) proves it, and the rest is worked out anew (seconds for ten bits).
    ``plain`` is the bound by pairs of types, which a short script can check."""

    proves_by: ClassVar[str] = "what sets of records of few bits can be, from few bits to more"

    workload: Workload
    epsilon: float
    value: float
    angle: float
    plain: SymmetricCertificate

    @property
    def prior(self) -> np.ndarray:
        """(n,) uniform: the least favourable one, since the symmetry makes all types alike."""
        return check_prior(None, self.workload.n)

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over the types, nor for its worst type."""
        return max(0.0, average_variance(self.value, self.workload, self.prior))

    def _trace_and_total(self) -> tuple[float, float]:
        if not (fits(self.workload) and 0 <= self.angle <= math.pi / 2):
            return NOTHING
        return _trace_and_total(self.workload, self.epsilon, float(self.angle))


def fits(workload: Workload) -> bool:
    """Whether all types are alike but for the number of bits that differ, and only degrees one and two are asked about."""
    scheme = workload.symmetry_group.scheme
    if scheme is None or not scheme.binary or not FEWEST_BITS <= scheme.classes - 1 <= MOST_BITS:
        return False
    gamma, _ = scheme.spectrum(workload.gram_column)
    return bool(gamma[1:].any() and not gamma[DEGREE + 1 :].any())


def _ratio(workload: Workload, epsilon: float, angle: float) -> float:
    """The largest ``D^2 (lambda_1 W^1 + lambda_2 W^2) / (1 + D a)^2``, rounded up."""
    n, D = workload.n, spread(epsilon)
    largest = binary.row(n.bit_length() - 1, angle)
    return float((largest * (D / (1 + D * np.arange(n + 1) / n)) ** 2).max()) * (1 + 16 * U)


def _trace_and_total(workload: Workload, epsilon: float, angle: float) -> tuple[float, float]:
    scheme = workload.symmetry_group.scheme
    assert scheme is not None
    gamma, off = scheme.spectrum(workload.gram_column, workload.gram_roundings)
    if not magnitudes_fit(gamma):
        return NOTHING
    n, D, many = scheme.n, spread(epsilon), scheme.multiplicities
    weights = np.zeros(len(gamma))
    weights[1 : DEGREE + 1] = binary.weights(angle)
    weights[gamma == 0] = 0.0
    ratio = _ratio(workload, epsilon, angle)
    asked = gamma > 0
    C = np.zeros(len(gamma))
    C[asked] = np.sqrt(weights[asked] / gamma[asked])
    root = float(many @ (C * gamma))
    if not (ratio > 0 and root > 0):
        return NOTHING
    C[0] = ratio / root if gamma[0] > 0 else 0.0
    unit = (4 * len(gamma) + 64) * U
    trace = float(many @ (C * gamma)) - ABOVE * float((many * C) @ (off + unit * gamma)) - UNDERFLOW
    slack = ABOVE * float(np.max(C**2 * off)) + UNDERFLOW
    total = (float(C[0] ** 2 * gamma[0]) + ratio) * (1 + unit)
    return trace, total + ABOVE * n * repair(np.ones(n), D, slack, 0.0)


def improved(
    plain: SymmetricCertificate, stop: Callable[[], bool] = lambda: False, check: Check = unchecked
) -> Iterator[LowDegreeCertificate]:
    """Certificates for the workload of ``plain`` if it `fits`, better and better, until ``stop()``: at angles of a coarse grid, from its
    middle to both sides, and then between the best ones. Only those that are worth more than ``plain``."""
    workload, epsilon = plain.workload, plain.epsilon
    if not fits(workload):
        return
    found: dict[float, float] = {}

    def tried(angle: float) -> LowDegreeCertificate:
        one = LowDegreeCertificate(workload, epsilon, 0.0, angle, plain)
        found[angle] = max(0.0, one.proven())
        return replace(one, value=found[angle])

    def better(one: LowDegreeCertificate) -> bool:
        return one.value >= max(*found.values(), plain.value * (1 + _LEAST_GAIN))

    step = math.pi / 2 / _FIRST
    for side in (range(_FIRST // 2, _FIRST + 1), range(_FIRST // 2 - 1, -1, -1)):
        before = 0.0
        for k in side:
            if stop():
                return
            check()
            one = tried(min(k * step, math.pi / 2))
            if better(one):
                yield one
            if one.value < before:
                break
            before = one.value
    for _ in range(_HALVINGS):
        step /= 2
        top = max(found, key=found.__getitem__)
        for angle in (top - step, top + step):
            if stop():
                return
            check()
            if 0 <= angle <= math.pi / 2 and better(one := tried(angle)):
                yield one
