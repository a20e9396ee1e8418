"""Certificates for symmetric workloads: the moment relaxation in as many numbers as there are classes of pairs.

Averaging over the symmetry group keeps the moments of rows inside the relaxation whose dual
`ldp_core.bounds.general.dual` solves, and does not raise tr(M^-1 G), so first moments may be taken
equal, and second moments constant on classes of pairs: milliseconds at 2^16 types. There are few numbers, so the relaxation can afford what it
otherwise lacks: whole-number cuts (`ldp_core.bounds.general.whole`), found and added in rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import optimize

from ldp_core.bounds.general.whole import Cut, Profile, averaged, shapes
from ldp_core.bounds.proof import Certificate
from ldp_core.privacy import check_epsilon
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
    relaxation = ClassRelaxation(scheme, gamma, D := float(np.expm1(epsilon)))
    found, reached = list[Certificate](), list[float]()
    for _ in range(rounds):
        relaxation.solve()
        found.append(_extracted(workload, epsilon, relaxation))
        reached.append(relaxation.objective)
        # A single round may gain nothing, because it only moves the moments to another place that is as good.
        settled = len(reached) > 4 and reached[-1] < reached[-5] * (1 + 1e-4)
        if settled or stop() or not relaxation.add_cuts():
            break
    best = replace(found[-1], value=found[-1].claim())
    if best.value < max(reached) * (1 - 1e-4):  # rounding spoils it
        best = max((replace(one, value=one.claim()) for one in found), key=lambda one: one.value)
    if workload.symmetry == "exchangeable" and scheme.n < D and gamma[1] > 0:
        best = max(best, _of_single_types(workload, epsilon, D, gamma[1]), key=lambda one: one.value)
    return best


def _of_single_types(workload: Workload, epsilon: float, D: float, rest: float) -> Certificate:
    """For types that are all alike, where randomized response is the best there is: its C, and the two multipliers that prove most. They
    are small like 1/D and 1/D^2, and the path of centres leaves nothing but rounding of them.

    ``rest`` is the eigenvalue of G on all but the ones; what `verify.classes` proves is written in gamma D and kappa D^2."""
    n = workload.n
    C = (n + D) ** 2 / D**2
    X = C**2 * rest

    def least(unknown: np.ndarray) -> float:
        gamma, kappa = np.abs(unknown)
        e, f = (3 * kappa / D - gamma) / 2, gamma / D - (n - 1) * (X - gamma / D) - n * kappa / D**2
        rises = n * f - 2 * kappa - 2 * n * e
        if rises <= 0 or gamma > D * X:
            return 1e300
        return float(max((2 * kappa * f + n * e**2) / rises, 2 * kappa / n, -f))

    multipliers = np.array([2.0, 1.0]) * n * X
    for _ in range(6):  # a convex function of two numbers, with edges: the search begins anew where it got stuck
        tight = {"xatol": 1e-13 * multipliers.max(), "fatol": 1e-15 * X, "maxfev": 4000}
        multipliers = np.abs(optimize.minimize(least, multipliers, method="Nelder-Mead", options=tight).x)
    numbers = {
        "inverse": np.array([1.0, C]),
        "pairs": np.array([0.0, max(X - multipliers[0] / D, 0.0)]),
        "cut_multipliers": multipliers[1:] / D**2,
        "floors": np.ones(1),
        "cut0": np.ones(2),
    }
    found = Certificate(workload, epsilon, 0.0, "classes", numbers)
    return replace(found, value=found.claim())


def _extracted(workload: Workload, epsilon: float, relaxation: ClassRelaxation) -> Certificate:
    """C = M^-1, kappa and N from the centre, claiming nothing yet."""
    inverse, pairs, kappa = relaxation.multipliers()
    numbers = {
        "inverse": np.where(relaxation.gamma == 0, 0.0, inverse),  # of no use where G is nothing but rounding
        "pairs": pairs,
        "cut_multipliers": kappa,
        "floors": np.array([cut.floor for cut in relaxation.cuts]),
        **{f"cut{k}": np.asarray(cut.weights, dtype=float) for k, cut in enumerate(relaxation.cuts)},
    }
    return Certificate(workload, epsilon, 0.0, "classes", numbers)


class ClassRelaxation:
    """Minimise ``tr(M^-1 G)`` over second moments by class and the mass, (t_1 .. t_s, a); b follows from M 1 = 1.

    ``gamma`` (s+1,) eigenvalues of G on the characters, ``exp_epsilon_minus_one`` D = E - 1. All constraints but one are linear;
    a - n b^2 / tau >= 0 (tau the eigenvalue of T on the ones) is written as ``a tau - n b^2 >= 0``. Rows of ``_linear``
    are the linear forms, as coefficients of (t, a) and a constant.
    """

    def __init__(self, scheme: Scheme, gamma: np.ndarray, exp_epsilon_minus_one: float):
        self.scheme, self.gamma, self.exp_epsilon_minus_one = scheme, gamma, exp_epsilon_minus_one
        n, D, s = scheme.n, exp_epsilon_minus_one, scheme.classes - 1
        self._s, v = s, scheme.multiplicities[1:]
        self._b = np.concatenate([-v, [-float(n), 1.0]]) / (2 * n + D)
        offset = D * self._b
        self._values_of_T = offset + np.hstack([scheme.eigenvalues[:, 1:], np.zeros((s + 1, 2))])
        self._tau = self._values_of_T[0]
        self._schur_weight = float(n) ** 2
        share = max(1 / (D + 2), 1 / n)
        mean = 1 + D * share
        mass = 1 / (n * mean**2 + D**2 * share * (1 - share))
        # Independent entries: a measure over all rows, strictly inside whatever is true of every row.
        self._start = np.concatenate([np.full(s, mass * (D * share) ** 2), [mass]])
        middle = int(n / (D + 2))
        sizes = sorted({k for k in (middle - 1, middle, middle + 1) if 1 <= k < n} or {1})
        self.cuts: list[Cut] = []
        self._hold([Cut(np.ones(s + 1), float(k)) for k in sizes])

    def _hold(self, cuts: list[Cut]) -> None:
        self.cuts = cuts
        n, s, D = self.scheme.n, self._s, self.exp_epsilon_minus_one
        squares, linear, constant = averaged(cuts, self.scheme, D)
        unit = np.eye(s + 2)
        forms = squares @ (self.scheme.multiplicities[:, None] * self._values_of_T)
        forms += np.outer(n * linear, self._b) + np.outer(constant, unit[s])
        self._linear = np.vstack([unit[:s], self._values_of_T[1:], forms])
        weights = np.concatenate([self.scheme.multiplicities[1:], np.zeros(s), np.full(len(forms), float(n))]) * n
        # Characters the workload is blind to still need m > 0: their share of the objective vanishes with the barrier.
        weights[s : 2 * s][self.gamma[1:] == 0] = n
        self._weights = weights

    def solve(self) -> None:
        """Solves to a relative accuracy of 1e-6, along the central path."""
        x = self._start
        tau = self._objective(x) / self.scheme.n**2
        constraints = self._weights.sum() + self._schur_weight
        while True:
            x = self._centred(x, tau)
            if tau * constraints <= 1e-6 * self._objective(x):
                break
            tau *= 0.2
        self._x, self._barrier_weight, self.objective = x, tau, self._objective(x)

    def add_cuts(self) -> bool:
        """Adds the new whole-number cuts that the solution violates; True if there are any."""
        full, a = np.append(self._x, 1.0), self._x[self._s]
        n, D = self.scheme.n, self.exp_epsilon_minus_one
        fourier_weights = self.scheme.multiplicities * (self._values_of_T @ full) / (n * D**2 * a)
        profile = Profile(self.scheme, float(self._b @ full) / (D * a), fourier_weights)
        known = {(cut.weights.shape, cut.weights.tobytes(), cut.floor) for cut in self.cuts}
        new = []
        for shape in shapes(self.scheme):
            new += [cut for cut in profile.violated(shape) if (shape, cut.weights.tobytes(), cut.floor) not in known]
        self._hold(self.cuts + new)
        return bool(new)

    def multipliers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Eigenvalues of M^-1 (s+1,), and the multipliers of T_ij >= 0 by class (s+1,) and of the cuts held."""
        s, tau = self._s, self._barrier_weight
        linear = self._values(self._x)[1]
        inverse = np.concatenate([[1.0], 1 / linear[s : 2 * s]])
        pairs = np.concatenate([[0.0], tau / self._x[:s]])  # the weight of T_ij counts once for each ordered pair
        return inverse, pairs, tau * self._weights[2 * s :] / linear[2 * s :]

    def _values(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        full = np.append(x, 1.0)
        b, tau = self._b @ full, self._tau @ full
        return full, self._linear @ full, float(full[self._s] * tau - self.scheme.n * b**2) if tau > 0 else -1.0

    def _objective(self, x: np.ndarray) -> float:
        m = self._values(x)[1][self._s : 2 * self._s]
        return float(self.gamma[0] + (self.scheme.multiplicities[1:] * self.gamma[1:] / m).sum())

    def _barrier(self, x: np.ndarray, tau: float) -> float:
        _, linear, schur = self._values(x)
        if linear.min() <= 0 or schur <= 0:
            return 1e300
        return self._objective(x) - tau * (self._weights @ np.log(linear) + self._schur_weight * np.log(schur))

    def _centred(self, x: np.ndarray, tau: float) -> np.ndarray:
        """Newton's method with halving, from x on the previous centre."""
        for _ in range(60):
            gradient, hessian = self._derivatives(x, tau)
            scale = 1 / np.sqrt(hessian.diagonal())
            # Many cuts that are nearly the same leave it singular in floating point.
            scaled = scale[:, None] * hessian * scale + 1e-14 * np.eye(len(x))
            move = -scale * np.linalg.solve(scaled, scale * gradient)
            slope = gradient @ move
            length, before = 1.0, self._barrier(x, tau)
            while not self._barrier(x + length * move, tau) <= before + 1e-4 * length * slope:
                length /= 2
                if length < 1e-12:
                    return x
            x = x + length * move
            if -slope < 1e-14 * tau * self._schur_weight:
                break
        return x

    def _derivatives(self, x: np.ndarray, tau: float) -> tuple[np.ndarray, np.ndarray]:
        s, n = self._s, self.scheme.n
        full, linear, schur = self._values(x)
        A = self._linear[:, :-1]
        m, worth = linear[s : 2 * s], self.scheme.multiplicities[1:] * self.gamma[1:]
        first = -tau * self._weights / linear
        second = tau * self._weights / linear**2
        first[s : 2 * s] -= worth / m**2
        second[s : 2 * s] += 2 * worth / m**3
        gradient, hessian = A.T @ first, (A.T * second) @ A
        b, t = self._b[:-1], self._tau[:-1]
        unit = np.zeros(s + 1)
        unit[s] = 1.0
        slope = unit * (self._tau @ full) + full[s] * t - 2 * n * (self._b @ full) * b
        curve = np.outer(unit, t) + np.outer(t, unit) - 2 * n * np.outer(b, b)
        weight = tau * self._schur_weight
        gradient -= weight * slope / schur
        hessian += weight * (np.outer(slope, slope) / schur**2 - curve / schur)
        return gradient, hessian
