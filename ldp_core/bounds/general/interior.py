"""Interior point steps on the moment relaxation: primal-dual Newton directions by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from ldp_core.bounds.general.moments import InteriorPoint, Relaxation
from ldp_core.run import Check, unchecked

TO_BOUNDARY = 0.98
SUFFICIENT = 1e-4
SHORTEST = 1e-9
# Multipliers of T_ij may differ from their value on the central path by this factor: they precondition the Hessian.
OFF_PATH = 100.0


@dataclass(frozen=True)
class Direction:
    """A Newton step: changes of T (n, n) and a, and the ``slope`` of the barrier along it (negative)."""

    second: np.ndarray
    mass: float
    slope: float


class Path:
    """A point near the central path, moved by `newton` and made to aim closer to the boundary by `tighten`.

    ``weight`` is the barrier's weight of each ordered pair of types; every other constraint weighs n^2 times as much.
    """

    def __init__(self, relaxation: Relaxation, start: InteriorPoint, weight: float):
        self.relaxation, self.weight, self.point = relaxation, weight, start
        self._pair_multipliers = self._central()

    @property
    def gap(self) -> float:
        """How far the objective is above the relaxation's value at most, as a share, once on the central path."""
        constraints = len(self.point.cuts) + 2
        pairs = constraints * self.relaxation.n**2 + len(self.point.triples)
        return pairs * self.weight / self.point.objective

    @property
    def cut_weight(self) -> float:
        return self.relaxation.n**2 * self.weight

    def tighten(self, factor: float) -> None:
        self.weight *= factor

    def turn(self, gram: np.ndarray) -> None:
        """Aim at the same for another G (n, n), from here."""
        self.relaxation.gram = np.asfortranarray(gram)
        point = self.relaxation.point(self.point.moments)
        assert point is not None  # it is inside whatever G is
        self.point = point

    def decrement(self, direction: Direction) -> float:
        """Squared Newton decrement on the scale of the barrier: far below 1 on the central path."""
        return -direction.slope / self.cut_weight

    def barrier(self, point: InteriorPoint) -> float:
        return self.relaxation.barrier(point, self.weight, self.cut_weight)

    def _central(self) -> np.ndarray:
        second = self.point.moments.second + np.eye(self.relaxation.n)
        return self.weight / second

    def curvature(self) -> np.ndarray:
        """X = M^-1 G M^-1 (n, n)."""
        X = blas.dgemm(1.0, self.point.inverse, self.point.half)
        return np.asfortranarray((X + X.T) / 2)

    def gradient(self, X: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Gradient of the barrier by the variables, and the multipliers mu (n,) of M r = 1."""
        point, relaxation = self.point, self.relaxation
        second, first, mass = relaxation.pulled(-X)
        every_pair, every_type, whole = relaxation.cut_gradient(-self.cut_weight / point.cuts)
        share, p = -self.cut_weight / point.schur, point.null
        second += every_pair
        second += share * np.outer(p, p)
        second -= self._central()
        products, singles, constant = self._triples(-self.weight / point.triples)
        second += products
        mass += constant
        first = first + singles + every_type + share * (2 * p + relaxation.exp_epsilon_minus_one * p * p)
        return relaxation.eliminated(second, first, mass + whole + share)

    def _triples(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        return self.relaxation.triples.adjoint(weights, self.relaxation.exp_epsilon_minus_one)

    def newton(
        self, tolerance: float, most_steps: int, stop: Callable[[], bool], check: Check = unchecked
    ) -> Direction:
        """The Newton direction, to a relative ``tolerance``: conjugate gradients, preconditioned by the diagonal."""
        X = self.curvature()
        check()
        gradient, at_mass, _ = self.gradient(X)
        apply = self._hessian(X)
        diagonal = self._hessian_diagonal(X)
        mass_diagonal = apply(np.zeros_like(gradient), 1.0)[1]
        x, x0 = np.zeros_like(gradient), 0.0
        r, r0 = -gradient, -at_mass
        p, p0 = r / diagonal, r0 / mass_diagonal
        rz = np.vdot(r, p) + r0 * p0
        target = tolerance**2 * rz
        for _ in range(most_steps):
            check()
            q, q0 = apply(p, p0)
            bend = np.vdot(p, q) + p0 * q0
            if not bend > 0:
                break  # nothing but rounding is left of the residual
            step = rz / bend
            x += step * p
            x0 += step * p0
            r -= step * q
            r0 -= step * q0
            z, z0 = r / diagonal, r0 / mass_diagonal
            rz, previous = np.vdot(r, z) + r0 * z0, rz
            if rz <= target or stop():
                break
            p = z + (rz / previous) * p
            p0 = z0 + (rz / previous) * p0
        return Direction(x, x0, float(np.vdot(gradient, x) + at_mass * x0))

    def _hessian(self, X: np.ndarray) -> Callable[[np.ndarray, float], tuple[np.ndarray, float]]:
        point, relaxation = self.point, self.relaxation
        bend = self._pair_multipliers / (point.moments.second + np.eye(relaxation.n))
        cut_bend = self.cut_weight / point.cuts**2
        triple_bend = self.weight / point.triples**2
        share, p, D = self.cut_weight / point.schur, point.null, relaxation.exp_epsilon_minus_one

        def apply(second: np.ndarray, mass: float) -> tuple[np.ndarray, float]:
            change = relaxation.moments(mass, second, 0.0)
            turned = blas.dgemm(1.0, blas.dgemm(1.0, point.inverse, relaxation.information(change)), X)
            T, b, a = relaxation.pulled(turned + turned.T)
            T += bend * second
            every_pair, every_type, whole = relaxation.cut_gradient(cut_bend * relaxation.cut_values(change))
            # a - b'T^-1 b: its first derivative is (1, p)'dY(1, p), its second one -2 e'T^-1 e with e = db + dT p.
            e = change.first + blas.dgemv(1.0, second, p) + D * change.first * p
            along = share / point.schur * (mass + change.first @ p + e @ p)
            h = share * blas.dsymv(1.0, point.second_inverse, e)
            T += every_pair
            outer = np.outer(along / 2 * p + h, p)
            T += outer
            T += outer.T
            products, singles, constant = self._triples(triple_bend * relaxation.triple_values(change))
            T += products
            b = b + every_type + along * (2 * p + D * p * p) + 2 * h * (1 + D * p) + singles
            return relaxation.eliminated(T, b, a + whole + along + constant)[:2]

        return apply

    def _hessian_diagonal(self, X: np.ndarray) -> np.ndarray:
        """Diagonal of the Hessian by T_ij, without the little that comes through b and the whole-number cuts."""
        point = self.point
        C, S = point.inverse, point.second_inverse
        diagonal = np.outer(C.diagonal(), X.diagonal())
        diagonal = diagonal + diagonal.T + 2 * C * X
        squares = np.outer(point.null**2, S.diagonal()) * (self.cut_weight / point.schur)
        diagonal += squares + squares.T
        triples = abs(self.relaxation.triples.products).T @ (self.weight / point.triples**2)
        diagonal += 2 * triples.reshape(diagonal.shape)
        return diagonal + self._pair_multipliers / (point.moments.second + np.eye(self.relaxation.n))

    def advance(self, direction: Direction, check: Check = unchecked) -> bool:
        """Step along the direction while inside and descending; False where no step is left."""
        point, relaxation = self.point, self.relaxation
        change = relaxation.moments(direction.mass, direction.second, 0.0)
        second = point.moments.second
        room = _room(second + np.eye(relaxation.n), direction.second)
        before = self.barrier(point)
        room = min(room, _room(point.cuts, relaxation.cut_values(change)))
        room = min(room, _room(point.triples, relaxation.triple_values(change)))
        length = min(1.0, TO_BOUNDARY * room)
        while True:
            check()
            moved = relaxation.moments(point.moments.mass + length * direction.mass, second + length * direction.second)
            moved_point = relaxation.point(moved)
            allowed = before + SUFFICIENT * length * direction.slope + 1e-12 * abs(before)
            if moved_point is not None and self.barrier(moved_point) <= allowed:
                break
            length /= 2
            if length < SHORTEST:
                return False
        # The primal-dual step of the pairs' multipliers N: N T = weight to first order.
        central, held = self._central(), self._pair_multipliers
        move = central - held - held * direction.second / (second + np.eye(relaxation.n))
        held = held + min(1.0, TO_BOUNDARY * _room(held, move)) * move
        self.point = moved_point
        central = self._central()
        self._pair_multipliers = np.clip(held, central / OFF_PATH, central * OFF_PATH)
        np.fill_diagonal(self._pair_multipliers, 0)
        return True


def _room(values: np.ndarray, moves: np.ndarray) -> float:
    """The longest step that keeps positive ``values`` non-negative."""
    falling = moves < 0
    return float((-values[falling] / moves[falling]).min()) if falling.any() else np.inf
