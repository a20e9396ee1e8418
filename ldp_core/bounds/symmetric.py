"""Certificates for symmetric workloads: the moment relaxation in as many numbers as there are classes of pairs.

Averaging over the symmetry group keeps every moment inside the relaxation of `ldp_core.bounds.moments` and does not raise
tr(M^-1 G), so first moments may be taken equal, and second moments constant on classes of pairs. The proof is the one of
`ldp_core.bounds.certificate`, with eigenvalues in closed form: milliseconds at 2^16 types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ldp_core.bounds.schemes import Scheme, cuts_of, scheme_of
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

GOAL, SHRINK, MOST_NEWTON = 1e-6, 0.2, 60
ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True)
class SymmetricCertificate:
    """A proven lower bound ``value`` on L of every epsilon-LDP strategy, for a workload with a `Scheme`.

    The proof, by class: ``inverse`` (s+1,) eigenvalues of C on the characters, ``multiplier`` mu of every type,
    ``diagonal`` Gamma of every type, ``pairs`` (s+1,) entries of N on the classes of pairs (0 for equal types),
    ``sizes`` k (c,), ``subcubes`` (w, k) (e, 2) and ``cut_multipliers`` kappa (c + e,) of those `Cuts`.
    """

    workload: Workload
    epsilon: float
    value: float
    inverse: np.ndarray
    multiplier: float
    diagonal: float
    pairs: np.ndarray
    sizes: np.ndarray
    subcubes: np.ndarray
    cut_multipliers: np.ndarray

    def verify(self) -> bool:
        """Whether ``value`` is proven by the stored numbers: signs, and the eigenvalues of one matrix by class."""
        return bool(self.value <= self.proven())

    def proven(self) -> float:
        """The bound that the stored numbers prove, -inf if none."""
        found = scheme_of(self.workload)
        if found is None:
            return -np.inf
        scheme, gamma = found
        classes, cuts = np.shape(gamma), (np.size(self.sizes) + len(self.subcubes),)
        arrays = (self.inverse, self.multiplier, self.diagonal, self.pairs, self.cut_multipliers)
        shapes = (classes, (), (), classes, cuts)
        if any(np.shape(a) != s or not np.all(np.isfinite(a)) for a, s in zip(arrays, shapes, strict=True)):
            return -np.inf
        if np.min(self.pairs) < 0 or np.min(self.cut_multipliers, initial=0.0) < 0 or not self._cuts_valid(scheme):
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

    def _cuts_valid(self, scheme: Scheme) -> bool:
        """Whether the cuts are whole numbers that make sense, and subcubes are used on binary attributes only."""
        if not np.array_equal(self.sizes, np.rint(self.sizes)):
            return False
        if not len(self.subcubes):
            return True
        w, k = np.transpose(self.subcubes)
        inside = self.workload.symmetry == "hamming" and w.min() >= 1 and w.max() < len(scheme.valencies)
        return bool(inside and np.array_equal(w, np.rint(w)) and np.array_equal(k, 2 * np.rint(k / 2)))

    def _lowest(self, scheme: Scheme, gamma: np.ndarray, D: float) -> float:
        """A lower bound on the smallest eigenvalue of the form in (1, y), of which (1, 1'y / sqrt n) is one block."""
        n, kappa = scheme.n, np.asarray(self.cut_multipliers)
        cuts = cuts_of(scheme, D, self.sizes, self.subcubes)
        X = self.inverse**2 * gamma
        classes = self.pairs + kappa @ cuts.pairs
        taken = scheme.eigenvalues @ classes
        on_ones = self.multiplier * n - X[0]
        corner = n * on_ones - kappa @ cuts.constant
        side = np.sqrt(n) * (on_ones - D * self.diagonal / 2 - kappa @ cuts.linear / 2)
        middle = on_ones - taken[0] + self.diagonal
        # The smaller eigenvalue of the 2 x 2 block, without the cancellation of the textbook formula where it is near 0.
        mean, half = (corner + middle) / 2, np.hypot((corner - middle) / 2, side)
        lowest = (corner * middle - side**2) / (mean + half) if mean > 0 else mean - half
        size = n * (abs(on_ones) + X[0] + self.multiplier * n) + kappa @ (cuts.constant + n * np.abs(cuts.linear))
        size += np.abs(X).max() + (np.abs(scheme.eigenvalues) @ classes).max() + (1 + D) * abs(self.diagonal)
        return min(lowest, (self.diagonal - X - taken)[1:].min()) - ROUNDING * len(gamma) * size


def symmetric_certificate(workload: Workload, epsilon: float) -> SymmetricCertificate | None:
    """The relaxation's bound for a workload with a scheme, to about 1e-6; None for other workloads."""
    found = scheme_of(workload)
    if found is None:
        return None
    return _Small(workload, check_epsilon(epsilon), *found).solve()


class _Small:
    """Barrier method on (t_1 .. t_s, a): second moments by class and the mass, b following from M 1 = 1.

    All constraints but one are linear; a - n b^2 / tau >= 0 (tau the eigenvalue of T on the ones) is written as
    ``a tau - n b^2 >= 0``. Rows of ``_linear`` are the linear forms, as coefficients of (t, a) and a constant.
    """

    def __init__(self, workload: Workload, epsilon: float, scheme: Scheme, gamma: np.ndarray):
        self._workload, self._epsilon, self._scheme, self._gamma = workload, epsilon, scheme, gamma
        n, D, s = scheme.n, np.expm1(epsilon), len(gamma) - 1
        self._D = D
        v = scheme.valencies[1:]
        self.sizes, self.subcubes = _cuts_for(workload, D)
        self._cuts = cuts_of(scheme, D, self.sizes, self.subcubes)
        own = 2 * n + D
        self._b = np.concatenate([-v, [-float(n), 1.0]]) / own
        unit = np.eye(s + 2)
        self._tau = D * self._b + np.concatenate([v, [0.0, 0.0]])
        M = D * self._b + np.hstack([scheme.eigenvalues[1:, 1:], np.zeros((s, 2))])
        cuts = n * (self._cuts.pairs[:, 1:] * v) @ np.eye(s, s + 2)
        cuts += np.outer(n * (D * self._cuts.pairs[:, 0] + self._cuts.linear), self._b)
        cuts += np.outer(self._cuts.constant, unit[s])
        self._linear = np.vstack([unit[:s], M, cuts])
        self._weights = np.concatenate([v, np.zeros(s), np.full(len(cuts), float(n))]) * n
        # Characters the workload is blind to still need m > 0: their share of the objective vanishes with the barrier.
        self._weights[s : 2 * s][gamma[1:] == 0] = n
        self._schur_weight = float(n) ** 2
        self._s = s

    def solve(self) -> SymmetricCertificate:
        n, D, s = self._scheme.n, self._D, self._s
        share = max(1 / (D + 2), 1 / n)
        mean = 1 + D * share
        mass = 1 / (n * mean**2 + D**2 * share * (1 - share))
        x = np.concatenate([np.full(s, mass * (D * share) ** 2), [mass]])
        tau = self._objective(x) / n**2
        constraints = self._weights.sum() + self._schur_weight
        while True:
            x = self._centred(x, tau)
            if tau * constraints <= GOAL * self._objective(x):
                return self._extracted(x, tau)
            tau *= SHRINK

    def _values(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        full = np.append(x, 1.0)
        b, tau = self._b @ full, self._tau @ full
        return full, self._linear @ full, float(full[self._s] * tau - self._scheme.n * b**2) if tau > 0 else -1.0

    def _objective(self, x: np.ndarray) -> float:
        m = self._values(x)[1][self._s : 2 * self._s]
        return float(self._gamma[0] + (self._scheme.multiplicities[1:] * self._gamma[1:] / m).sum())

    def _barrier(self, x: np.ndarray, tau: float) -> float:
        _, linear, schur = self._values(x)
        if linear.min() <= 0 or schur <= 0:
            return np.inf
        return self._objective(x) - tau * (self._weights @ np.log(linear) + self._schur_weight * np.log(schur))

    def _centred(self, x: np.ndarray, tau: float) -> np.ndarray:
        """Newton's method with halving, from x on the previous centre."""
        for _ in range(MOST_NEWTON):
            gradient, hessian = self._derivatives(x, tau)
            scale = 1 / np.sqrt(hessian.diagonal())
            move = -scale * np.linalg.solve(scale[:, None] * hessian * scale, scale * gradient)
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
        s, n = self._s, self._scheme.n
        full, linear, schur = self._values(x)
        A = self._linear[:, :-1]
        m, worth = linear[s : 2 * s], self._scheme.multiplicities[1:] * self._gamma[1:]
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

    def _extracted(self, x: np.ndarray, tau: float) -> SymmetricCertificate:
        """C = M^-1, kappa and N from the centre, then the least Gamma and the least mu that leave the form non-negative."""
        n, D, s, cuts = self._scheme.n, self._D, self._s, self._cuts
        _, linear, _ = self._values(x)
        inverse = np.concatenate([[1.0], 1 / linear[s : 2 * s]])
        pairs = np.concatenate([[0.0], tau / x[:s]])  # the weight of T_ij counts once for each ordered pair
        kappa = tau * self._weights[2 * s :] / linear[2 * s :]
        X = inverse**2 * self._gamma
        taken = self._scheme.eigenvalues @ (pairs + kappa @ cuts.pairs)
        gamma = float((X + taken)[1:].max())
        # With u = n mu - X_0 the block of the ones is [[n u - c, sqrt n (u + e)], [., u + f]]: its determinant is linear in u.
        c, e, f = kappa @ cuts.constant, -(D * gamma + kappa @ cuts.linear) / 2, gamma - taken[0]
        u = (c * f + n * e**2) / (n * f - c - 2 * n * e)
        mu = float(u + X[0]) / n
        arrays = (inverse, mu, gamma, pairs, self.sizes, self.subcubes, kappa)
        found = SymmetricCertificate(self._workload, self._epsilon, 0.0, *arrays)
        return replace(found, value=max(0.0, found.proven()))


def _cuts_for(workload: Workload, D: float) -> tuple[np.ndarray, np.ndarray]:
    """Sizes (c,) and subcubes (e, 2) next to the share 1/(E + 1) of high entries that the centred SVD bound asks for."""
    n, share = workload.n, 1 / (D + 2)
    middle = int(n * share)
    sizes = sorted({k for k in (middle - 1, middle, middle + 1) if 1 <= k < n} or {1})
    subcubes = []
    if workload.symmetry == "hamming":
        for w in range(2, n.bit_length()):  # for w = 1 the polynomial is zero
            even = 2 * int(2**w * share / 2)
            subcubes += [(w, k) for k in (even - 2, even, even + 2) if 0 <= k <= 2**w - 2]
    return np.array(sizes, dtype=float), np.reshape(np.array(subcubes, dtype=float), (-1, 2))
