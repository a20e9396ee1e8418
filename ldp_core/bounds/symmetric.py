"""Certificates for symmetric workloads: the moment relaxation in as many numbers as there are classes of pairs.

Averaging over the symmetry group keeps every moment inside the relaxation of `ldp_core.bounds.moments` and does not raise
tr(M^-1 G), so first moments may be taken equal, and second moments constant on classes of pairs. The proof is the one of
`ldp_core.bounds.certificate`, with eigenvalues in closed form: milliseconds at 2^16 types. With numbers so few, the
relaxation can afford what it lacks: whole-number cuts (`ldp_core.bounds.whole`), found and added in rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ldp_core.bounds.centred import check_prior
from ldp_core.bounds.classes import ClassRelaxation
from ldp_core.bounds.scales import average_variance
from ldp_core.bounds.schemes import Scheme, scheme_of
from ldp_core.bounds.whole import Cut, averaged
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

ROUNDING = 64 * np.finfo(float).eps
# Cuts are added for at most so many rounds, and while so many rounds together gain this share of the value: some gain nothing
# by themselves, for moving the moments to another place that is as good.
MOST_ROUNDS, WINDOW, LEAST_GAIN = 16, 4, 1e-4


@dataclass(frozen=True)
class SymmetricCertificate:
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

    @property
    def prior(self) -> np.ndarray:
        """(n,) uniform: the least favourable one, since the symmetry makes all types alike."""
        return check_prior(None, self.workload.n)

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over the types, nor for its worst type."""
        return max(0.0, average_variance(self.value, self.workload, self.prior))

    def verify(self) -> bool:
        """Whether ``value`` is proven by the stored numbers: signs, and the eigenvalues of one matrix by class."""
        return bool(self.value <= self.proven())

    def proven(self) -> float:
        """The bound that the stored numbers prove, -inf if none."""
        found = scheme_of(self.workload)
        if found is None:
            return -np.inf
        scheme, gamma = found
        arrays = (self.inverse, self.multiplier, self.diagonal, self.pairs, self.cut_multipliers)
        shapes = (np.shape(gamma), (), (), np.shape(gamma), (len(self.cuts),))
        if any(np.shape(a) != s or not np.all(np.isfinite(a)) for a, s in zip(arrays, shapes, strict=True)):
            return -np.inf
        if np.min(self.pairs) < 0 or np.min(self.cut_multipliers, initial=0.0) < 0:
            return -np.inf
        if not all(cut.valid(scheme) for cut in self.cuts):
            return -np.inf
        n, D = scheme.n, np.expm1(check_epsilon(self.epsilon))
        trace = float(scheme.multiplicities @ (self.inverse * gamma))
        total = n * float(self.multiplier)
        j = np.arange(n + 1)
        gain = float(((n + D * j) ** 2 / (1 + D**2 * j)).min())
        total += n * max(0.0, -self._lowest(scheme, gamma, D)) / gain
        if trace <= 0 or total <= 0:
            return -np.inf
        return trace**2 / total * (1 - ROUNDING * len(gamma))

    def _lowest(self, scheme: Scheme, gamma: np.ndarray, D: float) -> float:
        """A lower bound on the smallest eigenvalue of the form in (1, y), of which (1, 1'y / sqrt n) is one block."""
        n, kappa = scheme.n, np.asarray(self.cut_multipliers)
        squares, linear, constant = averaged(self.cuts, scheme, D)
        X = self.inverse**2 * gamma
        taken = scheme.eigenvalues @ self.pairs + kappa @ squares
        on_ones = self.multiplier * n - X[0]
        corner = n * on_ones - kappa @ constant
        side = np.sqrt(n) * (on_ones - D * self.diagonal / 2 - kappa @ linear / 2)
        middle = on_ones - taken[0] + self.diagonal
        # The smaller eigenvalue of the 2 x 2 block, without the cancellation of the textbook formula where it is near 0.
        mean, half = (corner + middle) / 2, np.hypot((corner - middle) / 2, side)
        lowest = (corner * middle - side**2) / (mean + half) if mean > 0 else mean - half
        size = n * (abs(on_ones) + X[0] + self.multiplier * n) + kappa @ (constant + n * np.abs(linear))
        size += np.abs(X).max() + (np.abs(scheme.eigenvalues) @ self.pairs + kappa @ squares).max()
        size += (1 + D) * abs(self.diagonal)
        return min(lowest, (self.diagonal - X - taken)[1:].min()) - ROUNDING * len(gamma) * size


def symmetric_certificate(
    workload: Workload, epsilon: float, stop: Callable[[], bool] = lambda: False
) -> SymmetricCertificate | None:
    """The relaxation's bound for a workload with a scheme, with whole-number cuts until ``stop()``; None for other workloads."""
    found = scheme_of(workload)
    if found is None:
        return None
    epsilon, (scheme, gamma) = check_epsilon(epsilon), found
    relaxation = ClassRelaxation(scheme, gamma, np.expm1(epsilon))
    best, reached = None, []
    for _ in range(MOST_ROUNDS):
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
    scheme, gamma, D, n = relaxation.scheme, relaxation.gamma, relaxation.spread, relaxation.scheme.n
    inverse, pairs, kappa = relaxation.multipliers()
    squares, linear, constant = averaged(relaxation.cuts, scheme, D)
    X = inverse**2 * gamma
    taken = scheme.eigenvalues @ pairs + kappa @ squares
    diagonal = float((X + taken)[1:].max())
    # With u = n mu - X_0 the block of the ones is [[n u - c, sqrt n (u + e)], [., u + f]]: its determinant is linear in u.
    c, e, f = kappa @ constant, -(D * diagonal + kappa @ linear) / 2, diagonal - taken[0]
    u = (c * f + n * e**2) / (n * f - c - 2 * n * e)
    mu = float(u + X[0]) / n
    cuts = tuple(relaxation.cuts)
    found = SymmetricCertificate(workload, epsilon, 0.0, inverse, mu, diagonal, pairs, cuts, kappa)
    return replace(found, value=max(0.0, found.proven()))
