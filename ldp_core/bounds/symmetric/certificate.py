"""Certificates for symmetric workloads: the moment relaxation in as many numbers as there are classes of pairs.

Averaging over the symmetry group keeps the moments of rows inside the relaxation whose dual
`ldp_core.bounds.general.dual` solves, and does not raise tr(M^-1 G), so first moments may be taken
equal, and second moments constant on classes of pairs. The proof is the one of
`ldp_core.bounds.general.certificate`, with eigenvalues in closed form: milliseconds at 2^16 types.
There are few numbers, so the relaxation can afford what it otherwise lacks: whole-number cuts
(`ldp_core.bounds.general.whole`), found and added in rounds.

Rounding is bounded as in `ldp_core.bounds.general.certificate`, class by class: G by ``e_j`` (`Scheme.spectrum`), which changes
tr(C G) by ``sum_j multiplicity_j |C_j| e_j`` and the norm of C G C by ``max_j C_j^2 e_j`` at most; every other number below is
a sum of at most 4 (s + 1) + 2 c + 64 terms and products (s + 1 classes, c cuts; transforms of cuts are exact, `Cut.valid`), and
so off by as many u times the sum of their absolute values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.general.whole import Cut, averaged
from ldp_core.bounds.proof import (
    ABOVE,
    LARGEST,
    NOTHING,
    UNDERFLOW,
    Arrays,
    Document,
    QuotientProof,
    U,
    exp_epsilon_minus_one,
    magnitudes_fit,
    numbers,
    repair,
)
from ldp_core.bounds.scales import average_variance
from ldp_core.bounds.symmetric.classes import ClassRelaxation
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload
from ldp_core.workloads.symmetry import Scheme

# Cuts are added for at most _MOST_ROUNDS, and only while WINDOW rounds together gain this share of the value: a single round may
# gain nothing, because it only moves the moments to another place that is as good.
_MOST_ROUNDS = 16
WINDOW = 4
LEAST_GAIN = 1e-4


class AlikeProof(QuotientProof):
    """A bound for a workload whose symmetry makes all types alike."""

    @property
    def prior(self) -> np.ndarray:
        """(n,) uniform: the least favourable one, since the symmetry makes all types alike."""
        return check_prior(None, self.workload.n)

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over the types, nor for its worst type."""
        return max(0.0, average_variance(self.value, self.workload, self.prior))


@dataclass(frozen=True, repr=False)
class SymmetricCertificate(AlikeProof):
    """A proven lower bound ``value`` on L of every epsilon-LDP strategy, for a workload with a `Scheme`.

    The proof, by class: ``inverse`` (s+1,) eigenvalues of C on the characters, ``multiplier`` mu of every type,
    ``diagonal`` Gamma of every type, ``pairs`` (s+1,) entries of N on the classes of pairs (0 for equal types), ``cuts``
    and their multipliers ``cut_multipliers`` kappa, one each.
    """

    workload: Workload
    epsilon: float
    value: float
    inverse: np.ndarray
    multiplier: float
    diagonal: float
    pairs: np.ndarray
    cuts: tuple[Cut, ...]
    cut_multipliers: np.ndarray

    file_kinds = (("classes", None),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        scheme = self.workload.symmetry_group.scheme
        if scheme is None:
            raise ValueError("the questions do not treat all types alike")
        arrays: Arrays = {
            "gram": scheme.by_class(self.workload.gram_column),
            "inverse": self.inverse,
            "pairs": self.pairs,
            "cut_multipliers": self.cut_multipliers,
            "floors": np.array([cut.floor for cut in self.cuts]),
            **{f"cut{k}": np.asarray(cut.weights, dtype=float) for k, cut in enumerate(self.cuts)},
            "diagonal": np.array([self.diagonal]),
            "multiplier": np.array([self.multiplier]),
        }
        bits = scheme.classes - 1 if scheme.binary else 0
        return {"kind": "classes", **self._about(epsilon), "workload": {"gram": "classes", "bits": bits}}, arrays

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> SymmetricCertificate:
        cuts = tuple(Cut(data[f"cut{k}"], float(floor)) for k, floor in enumerate(data["floors"]))
        mu, gamma = float(data["multiplier"][0]), float(data["diagonal"][0])
        C, N, kappa = (data[name] for name in ("inverse", "pairs", "cut_multipliers"))
        return cls(workload, epsilon, 0.0, C, mu, gamma, N, cuts, kappa)

    def mended(self, epsilon: str) -> SymmetricCertificate:
        """With the least gamma, and then the least mu, that pass in exact fractions."""
        D = verify.exp_epsilon_minus_one(epsilon)
        n, _, _, _, X, taken, linear, constant = verify.terms(*self.to_file(epsilon), D)
        gamma = -verify.below(-max(x + t for x, t in zip(X[1:], taken[1:], strict=True)))
        # With u = n mu - X_0 the matrix that remains is [[n u - constant, sqrt n (u + e)], [., u + f]]:
        # its determinant is linear in u.
        e, f = -(D * Fraction(gamma) + linear) / 2, Fraction(gamma) - taken[0]
        rises = n * f - constant - 2 * n * e
        if not rises > 0:
            raise ValueError("The certificate proves nothing yet.")
        least = max((constant * f + n * e**2) / rises, constant / n, -f)
        return replace(self, diagonal=gamma, multiplier=-verify.below(-(least + X[0]) / n))

    def _trace_and_total(self) -> tuple[float, float]:
        scheme = self.workload.symmetry_group.scheme
        if scheme is None:
            return NOTHING
        gamma, off = scheme.spectrum(self.workload.gram_column, self.workload.gram_roundings)
        n, D, kappa = scheme.n, exp_epsilon_minus_one(self.epsilon), numbers(self.cut_multipliers)
        C, pairs = numbers(self.inverse), numbers(self.pairs)
        mu, diagonal = (float(numbers(value)) for value in (self.multiplier, self.diagonal))
        fits = C.shape == pairs.shape == gamma.shape and kappa.shape == (len(self.cuts),)
        if not fits or not magnitudes_fit(C, pairs, kappa, mu, diagonal, gamma):
            return NOTHING
        if np.min(pairs) < 0 or np.min(kappa, initial=0.0) < 0 or not all(cut.valid(scheme) for cut in self.cuts):
            return NOTHING
        unit = (4 * len(gamma) + 2 * len(kappa) + 64) * U
        shares = scheme.multiplicities * np.abs(C)
        trace = (
            float(scheme.multiplicities @ (C * gamma))
            - ABOVE * float(shares @ (off + unit * np.abs(gamma)))
            - UNDERFLOW
        )
        lowest, size = self._lowest(scheme, C**2 * gamma, mu, diagonal, pairs, kappa, D)
        if not size < LARGEST:  # nor nan, which max and min below would pass over
            return NOTHING
        slack_z = max(0.0, ABOVE * unit * size + UNDERFLOW - lowest)
        slack_v = ABOVE * float(np.max(C**2 * off)) + UNDERFLOW
        return trace, n * mu + ABOVE * n * (unit * abs(mu) + repair(np.ones(n), D, slack_v, slack_z))

    def _lowest(
        self, scheme: Scheme, X: np.ndarray, mu: float, diagonal: float, pairs: np.ndarray, kappa: np.ndarray, D: float
    ) -> tuple[float, float]:
        """The smallest eigenvalue of the form in (1, y), with (1, 1'y / sqrt n) as a block, and the
        size of its terms."""
        n = scheme.n
        squares, linear, constant = averaged(self.cuts, scheme, D)
        taken = scheme.eigenvalues @ pairs + kappa @ squares
        on_ones = mu * n - X[0]
        corner = n * on_ones - kappa @ constant
        side = np.sqrt(n) * (on_ones - D * diagonal / 2 - kappa @ linear / 2)
        middle = on_ones - taken[0] + diagonal
        # The smaller eigenvalue of the 2 x 2 block, without the cancellation of the textbook formula where it is near 0.
        mean, half = (corner + middle) / 2, np.hypot((corner - middle) / 2, side)
        lowest = (corner * middle - side**2) / (mean + half) if mean > 0 else mean - half
        size = 2 * n * (X[0] + abs(mu) * n) + kappa @ (np.abs(constant) + n * np.abs(linear))
        size += X.max() + (np.abs(scheme.eigenvalues) @ pairs + kappa @ squares).max()
        size += (1 + np.sqrt(n) * D) * abs(diagonal)
        return min(float(lowest), float((diagonal - X - taken)[1:].min())), float(size)


def symmetric_certificate(
    workload: Workload, epsilon: float, stop: Callable[[], bool] = lambda: False, rounds: int = _MOST_ROUNDS
) -> SymmetricCertificate | None:
    """The relaxation's bound for a workload with a scheme; None for other workloads. Whole-number
    cuts are added in at most ``rounds`` rounds, until ``stop()``."""
    scheme, epsilon = workload.symmetry_group.scheme, check_epsilon(epsilon)
    if scheme is None:
        return None
    gamma, _ = scheme.spectrum(workload.gram_column)
    relaxation = ClassRelaxation(scheme, gamma, np.expm1(epsilon))
    best, reached = None, []
    for _ in range(rounds):
        relaxation.solve()
        certificate = _extracted(workload, epsilon, relaxation)
        if best is None or certificate.value > best.value:
            best = certificate
        reached.append(relaxation.objective)
        settled = len(reached) > WINDOW and reached[-1] < reached[-1 - WINDOW] * (1 + LEAST_GAIN)
        if settled or stop() or not relaxation.add_cuts():
            break
    return best


def _extracted(workload: Workload, epsilon: float, relaxation: ClassRelaxation) -> SymmetricCertificate:
    """C = M^-1, kappa and N from the centre, then the least Gamma and the least mu that leave the form non-negative."""
    scheme, gamma, D, n = relaxation.scheme, relaxation.gamma, relaxation.exp_epsilon_minus_one, relaxation.scheme.n
    inverse, pairs, kappa = relaxation.multipliers()
    inverse = np.where(gamma == 0, 0.0, inverse)  # of no use where G is nothing but rounding
    squares, linear, constant = averaged(relaxation.cuts, scheme, D)
    X = inverse**2 * gamma
    taken = scheme.eigenvalues @ pairs + kappa @ squares
    diagonal = float((X + taken)[1:].max())
    # The block of the ones is [[n u - c, sqrt n (u + e)], [., u + f]] where u = n mu - X_0: its
    # determinant is linear in u.
    c, e, f = kappa @ constant, -(D * diagonal + kappa @ linear) / 2, diagonal - taken[0]
    u = (c * f + n * e**2) / (n * f - c - 2 * n * e)
    mu = float(u + X[0]) / n
    cuts = tuple(relaxation.cuts)
    certificate = SymmetricCertificate(workload, epsilon, 0.0, inverse, mu, diagonal, pairs, cuts, kappa)
    return replace(certificate, value=certificate.claim())
