"""Certificates for symmetric workloads: the moment relaxation in as many numbers as there are classes of pairs.

Averaging over the symmetry group keeps the moments of rows inside the relaxation whose dual
`ldp_core.bounds.general.dual` solves, and does not raise tr(M^-1 G), so first moments may be taken
equal, and second moments constant on classes of pairs: milliseconds at 2^16 types. There are few numbers, so the relaxation can afford what it
otherwise lacks: whole-number cuts (`ldp_core.bounds.general.whole`), found and added in rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import clarabel
import numpy as np
from scipy import sparse

from ldp_core.bounds.general.whole import Cut, Profile, averaged, shapes
from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.triples.relaxation import solved
from ldp_core.privacy import check_epsilon
from ldp_core.run import unchecked
from ldp_core.workloads import Workload
from ldp_core.workloads.symmetry import Scheme


def symmetric_certificate(
    workload: Workload, epsilon: float, stop: Callable[[], bool] = lambda: False, rounds: int = 16
) -> Certificate | None:
    """The relaxation's bound for a workload with a scheme; None for other workloads. Whole-number
    cuts are added in at most ``rounds`` rounds, until ``stop()``."""
    scheme, epsilon = workload.symmetry_group.scheme, check_epsilon(epsilon)
    if scheme is None:
        return None
    gamma, _ = scheme.spectrum(workload.gram_column)
    relaxation = ClassRelaxation(scheme, gamma, np.expm1(epsilon))
    found, reached = list[Certificate](), list[float]()
    for _ in range(rounds):
        relaxation.solve(1e-6)  # from the middle of what is left cuts are deeper
        found.append(_extracted(workload, epsilon, relaxation))
        reached.append(relaxation.objective)
        # A single round may gain nothing, because it only moves the moments to another place that is as good.
        settled = len(reached) > 4 and reached[-1] < reached[-5] * (1 + 1e-4)
        if settled or stop() or not relaxation.add_cuts():
            break
    relaxation.solve(1e-9)
    found.append(_extracted(workload, epsilon, relaxation))
    best = replace(found[-1], value=found[-1].claim())
    if best.value < max(reached) * (1 - 1e-4):  # rounding spoils it
        best = max((replace(one, value=one.claim()) for one in found), key=lambda one: one.value)
    return best


def _extracted(workload: Workload, epsilon: float, relaxation: ClassRelaxation) -> Certificate:
    """The multipliers of the relaxation, and the C that they go with, claiming nothing yet."""
    inverse, pairs, kappa = relaxation.multipliers()
    numbers = {
        "inverse": inverse,
        "pairs": pairs,
        "cut_multipliers": kappa,
        "floors": np.array([cut.floor for cut in relaxation.cuts]),
        **{f"cut{k}": np.asarray(cut.weights, dtype=float) for k, cut in enumerate(relaxation.cuts)},
    }
    return Certificate(workload, epsilon, 0.0, "classes", numbers)


class ClassRelaxation:
    """Minimise ``tr(M^-1 G)`` over second moments by class and the mass, (t_1 .. t_s, a); b follows from M 1 = 1.

    ``gamma`` (s+1,) eigenvalues of G on the characters, ``D`` = E - 1. All constraints but one are linear forms in (t, a) and a constant, whose
    coefficients are the rows of ``_forms``: those of t, of the eigenvalues m of M but that on the ones, and of the cuts. The other constraint is
    ``a tau >= n b^2``, tau the eigenvalue of T on the ones.
    """

    def __init__(self, scheme: Scheme, gamma: np.ndarray, D: float):
        self.scheme, self.gamma, self.D = scheme, gamma, D
        n, s = scheme.n, scheme.classes - 1
        self._s, self._b = s, np.concatenate([-scheme.multiplicities[1:], [-float(n), 1.0]]) / (2 * n + D)
        self._values_of_T = D * self._b + np.hstack([scheme.eigenvalues[:, 1:], np.zeros((s + 1, 2))])
        share = max(1 / (D + 2), 1 / n)
        mass = 1 / (n * (1 + D * share) ** 2 + D**2 * share * (1 - share))
        # Independent entries: a measure over all rows. They are the units of (t, a, 1).
        self._units = np.concatenate([np.full(s, mass * (D * share) ** 2), [mass, 1.0]])
        middle = int(n / (D + 2))
        sizes = sorted({k for k in (middle - 1, middle, middle + 1) if 1 <= k < n} or {1})
        self._hold([Cut(np.ones(s + 1), float(k)) for k in sizes])

    def _hold(self, cuts: list[Cut]) -> None:
        self.cuts, unit = cuts, np.eye(self._s + 2)
        self._squares, linear, constant = averaged(cuts, self.scheme, self.D)
        forms = self._squares @ (self.scheme.multiplicities[:, None] * self._values_of_T)
        forms += np.outer(self.scheme.n * linear, self._b) + np.outer(constant, unit[self._s])
        self._forms = np.vstack([unit[: self._s], self._values_of_T[1:], forms])

    def solve(self, tolerance: float) -> None:
        """By an interior-point method, to a ``tolerance``, with a number ``u_j >= 1 / m_j`` for each class of characters that is asked about. Where
        it finds nothing, the units and no multipliers: the closed form."""
        s, forms = self._s, self._forms * self._units
        lengths, m = np.abs(forms).max(axis=1), forms[s : 2 * s]
        asked, at = np.flatnonzero(self.gamma[1:] > 0), m.sum(axis=1)
        worth = (self.scheme.multiplicities * self.gamma)[1:][asked]
        costs = worth / at[asked]
        largest = float(costs.max(initial=1e-300))
        cones = self._cones(m[asked] / at[asked, None])
        rows = np.vstack([_wide(forms / lengths[:, None], len(asked)), *cones])
        kinds = [clarabel.NonnegativeConeT(len(forms)), *(clarabel.SecondOrderConeT(3) for _ in cones)]
        q = np.append(np.zeros(s + 1), costs / largest)
        found = solved(q, sparse.csc_matrix(-rows[:, :-1]), rows[:, -1], kinds, tolerance, unchecked)
        x, z = np.ones(s + 1), np.zeros(len(forms))
        if found is not None:
            x, z = np.array(found.x)[: s + 1], np.maximum(np.array(found.z)[: len(forms)], 0.0) * largest / lengths
        self._full, self._multipliers = self._units * np.append(x, 1.0), z
        self._m = self._forms[s : 2 * s] @ self._full
        self.objective = float(self.gamma[0] + (worth / self._m[asked]).sum())

    def _cones(self, m: np.ndarray) -> list[np.ndarray]:
        """``a tau >= n b^2`` and ``u_j m_j >= 1``, for ``m`` (k, s + 2), each as the rows of a cone in (t, a), u and the constant."""
        k, s = len(m), self._s
        one_of, tau, b = np.eye(s + 2 + k), *(_wide(form * self._units, k) for form in (self._values_of_T[0], self._b))
        products = [(one_of[s], tau / tau.sum(), b * np.sqrt(self.scheme.n / (self._units[s] * tau.sum())))]
        products += [(one_of[s + 1 + place], _wide(own, k), one_of[-1]) for place, own in enumerate(m)]
        return [np.stack([left + right, left - right, 2 * middle]) for left, right, middle in products]

    def add_cuts(self) -> bool:
        """Adds the new whole-number cuts that the solution violates; True if there are any."""
        n, D, a = self.scheme.n, self.D, self._full[self._s]
        fourier_weights = self.scheme.multiplicities * (self._values_of_T @ self._full) / (n * D**2 * a)
        profile = Profile(self.scheme, float(self._b @ self._full) / (D * a), fourier_weights)
        known = {(cut.weights.shape, cut.weights.tobytes(), cut.floor) for cut in self.cuts}
        new = []
        for shape in shapes(self.scheme):
            new += [cut for cut in profile.violated(shape) if (shape, cut.weights.tobytes(), cut.floor) not in known]
        self._hold(self.cuts + new)
        return bool(new)

    def multipliers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Eigenvalues of C (s+1,), and the multipliers of T_ij >= 0 by class (s+1,) and of the cuts held.

        C is M^-1 but for the accuracy of M, which is poor for characters that L hardly depends on. What the multipliers leave for
        ``C_j^2 gamma_j`` is the same for all of them, so that C follows from its mean; it is 0 where G is nothing but rounding."""
        s, gamma, v = self._s, self.gamma[1:], self.scheme.multiplicities[1:]
        # The multiplier of T_ij counts once for each ordered pair.
        pairs = np.append(0.0, self._multipliers[:s] / (v * self.scheme.n))
        kappa = self._multipliers[2 * s :]
        taken = (self.scheme.eigenvalues @ pairs + kappa @ self._squares)[1:]
        C = np.where(gamma > 0, 1 / self._m, 0.0)
        told = gamma > 1e-9 * gamma.max(initial=0.0)
        if told.any():
            left = np.average((gamma * C**2 + taken)[told], weights=(v * gamma * C)[told]) - taken[told]
            C[told] = np.sqrt(np.maximum(left, 0.0) / gamma[told])
        return np.append(1.0, C), pairs, kappa


def _wide(form: np.ndarray, k: int) -> np.ndarray:
    """A form in (t, a) and the constant in k more numbers, which are the last but the constant."""
    return np.insert(form, np.full(k, form.shape[-1] - 1), 0.0, axis=-1)
