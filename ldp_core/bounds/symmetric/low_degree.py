"""Yes-or-no attributes where only functions of low degree are asked about: a bound that knows more of small sets.

The relaxation of `ldp_core.bounds.symmetric.certificate` knows pairs of types alone, and so too little of how few neighbours small sets
have. Let C be constant on characters of one weight, with ``C_l = sqrt(lambda_l / gamma_l)`` (gamma the eigenvalues of G), X = C G C, and
v = 1 + D 1_T for a set T of share a. As the transform of 1_T on the characters of weight l has the square n^2 W^l,

    v'X v / (1'v)^2  =  X_0 / n + D^2 sum_l lambda_l W^l / (n (1 + D a)^2)  <=  (X_0 + ratio) / n,

so that multipliers ``mu_i = (X_0 + ratio) / n`` meet the condition of `ldp_core.bounds.general.certificate`, and ``L >= tr(C G)^2 / 1'mu``. What is
known of the W^l of every T of share a, beside ``W^l >= 0`` and ``sum_l W^l = a - a^2``:

* types at distance i are both in T with a probability that is not negative: ``a^2 + sum_l W^l K_i(l) / C(d, i) >= 0`` (Delsarte 1973);
* whole-number cuts, averaged (`ldp_core.bounds.general.whole`): those of the relaxation;
* ``sum_l w_l W^l <= F(a; w)`` for the directions w of which `ldp_core.bounds.surveys.binary` (degree two) or
  `ldp_core.bounds.symmetric.energies` (degree three) bound F, from few bits to more.

Multipliers N, kappa, rho >= 0 of these, with g the largest over l of lambda_l plus or less what they multiply, give

    sum_l lambda_l W^l  <=  g (a - a^2) + sum N a^2 + sum kappa (..)(a) + sum rho F(a; w).

Any multipliers are valid at any a: of several sets of them, the best one counts at every a. The weights lambda come from columns: moments
(a, W) that obey all this, mixed as strategies are, until no others would improve the mixture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.optimize import linprog

from ldp_core.bounds.general.whole import averaged
from ldp_core.bounds.proof import ABOVE, NOTHING, UNDERFLOW, U, magnitudes_fit, repair, spread
from ldp_core.bounds.surveys import binary
from ldp_core.bounds.symmetric import energies
from ldp_core.bounds.symmetric.certificate import AlikeProof, SymmetricCertificate
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

HIGHEST_DEGREE, FEWEST_BITS, MOST_BITS = 3, 5, 10
# Rounds of the search for weights, its end, and how many sizes of sets it looks at; what must be gained on the plain bound, as a share.
_ROUNDS, _CLOSE, _SIZES, _LEAST_GAIN = 40, 5e-4, 24, 1e-4
# Updates of the shares of columns in a round, the share of the new ones together, and that below which one is dropped.
_UPDATES, _NEW_SHARE, _LEAST_SHARE = 300, 0.2, 1e-9


@dataclass(frozen=True, repr=False)
class LowDegreeCertificate(AlikeProof):
    """A proven lower bound ``value`` on L of every epsilon-LDP strategy, for a workload over yes-or-no attributes that asks about functions
    of low degree alone. The proof: ``weights`` (d,) lambda, and m sets of multipliers: ``pairs`` (m, d) N, ``cut_multipliers`` (m, c) kappa of the
    cuts of ``plain``, ``row_multipliers`` (m, r) rho of the directions, that of ``weights`` last. What is known of small sets is worked out anew (seconds for ten
    bits). ``plain`` is the bound by pairs of types, which a short script can check."""

    proves_by: ClassVar[str] = "inequalities for sets of types, from few bits to more"

    workload: Workload
    epsilon: float
    value: float
    weights: np.ndarray
    pairs: np.ndarray
    cut_multipliers: np.ndarray
    row_multipliers: np.ndarray
    plain: SymmetricCertificate

    def _trace_and_total(self) -> tuple[float, float]:
        if not fits(self.workload) or not magnitudes_fit(self.weights):
            return NOTHING
        known = Known.of(self.workload, self.plain).towards(self.weights)
        arrays = (self.weights, self.pairs, self.cut_multipliers, self.row_multipliers)
        m, d = len(self.pairs), known.bits
        shapes = ((d,), (m, d), (m, len(known.squares)), (m, len(known.directions)))
        fitting = all(array.shape == shape for array, shape in zip(arrays, shapes, strict=True))
        if not (fitting and m and magnitudes_fit(*arrays)) or min(array.min(initial=0.0) for array in arrays) < 0:
            return NOTHING
        ratios = known.ratios(self.epsilon, self.weights, self.pairs, self.cut_multipliers, self.row_multipliers)
        return trace_and_total(self.workload, self.epsilon, self.weights, float(ratios.max()))


def fits(workload: Workload) -> bool:
    """Whether all types are alike but for the number of bits that differ, and only low degrees are asked about."""
    scheme = workload.symmetry_group.scheme
    if scheme is None or not scheme.binary or not FEWEST_BITS <= scheme.classes - 1 <= MOST_BITS:
        return False
    gamma, _ = scheme.spectrum(workload.gram_column)
    return bool(gamma[1:].any() and not gamma[HIGHEST_DEGREE + 1 :].any())


def trace_and_total(workload: Workload, epsilon: float, weights: np.ndarray, ratio: float) -> tuple[float, float]:
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
    return trace, total + ABOVE * n * repair(np.ones(n), spread(epsilon), slack, 0.0)


@dataclass(frozen=True)
class Known:
    """What is known of the energies (d,) of sets by weight, for 0, 1, .., n types: ``together`` (d, d), by distance and weight; ``squares``
    (c, d) and ``constants`` (c, n + 1) of cuts; ``directions`` (r, d) and ``most`` (r, n + 1), F there."""

    bits: int
    degree: int
    together: np.ndarray
    squares: np.ndarray
    constants: np.ndarray
    cut_sizes: np.ndarray
    directions: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, workload: Workload, plain: SymmetricCertificate, check: Check = unchecked) -> Known:
        """For a workload that `fits`, with the cuts of ``plain``. ValueError for cuts that are none."""
        scheme = workload.symmetry_group.scheme
        assert scheme is not None
        if not all(cut.valid(scheme) for cut in plain.cuts):
            raise ValueError("The cuts are none.")
        n, d, K = scheme.n, scheme.classes - 1, scheme.eigenvalues
        a = np.arange(n + 1) / n
        squares, linear, constant = averaged(plain.cuts, scheme, 1.0)
        parts = np.stack([n * squares[:, :1] * a**2, n * linear[:, None] * a, constant[:, None] + 0 * a])
        gamma, _ = scheme.spectrum(workload.gram_column)
        degree = 3 if gamma[3] > 0 else 2
        directions, most = _rows(d, degree, check)
        together, sizes = (K / K[0]).T[1:, 1:], np.abs(parts).sum(axis=0)
        return cls(d, degree, together, n * squares[:, 1:], parts.sum(axis=0), sizes, directions, most)

    def towards(self, weights: np.ndarray, check: Check = unchecked) -> Known:
        """With the direction of ``weights`` (d,) as well, last."""
        if self.degree == 2:
            angle = float(np.arctan2(weights[1], weights[0]))
            direction, most = np.array(binary.weights(angle)), binary.row(self.bits, angle, check)
        else:
            direction = weights[:3] / max(float(weights[:3].sum()), UNDERFLOW)
            most = energies.row(self.bits, direction, check)
        directions = np.vstack([self.directions, np.append(direction, np.zeros(self.bits - len(direction)))])
        return replace(self, directions=directions, most=np.vstack([self.most, most]))

    def ratios(
        self, epsilon: float, weights: np.ndarray, N: np.ndarray, kappa: np.ndarray, rho: np.ndarray
    ) -> np.ndarray:
        """(n + 1,) upper bounds on ``D^2 sum_l lambda_l W^l / (1 + D a)^2`` for sets of 0, 1, .., n types, by (m, ..) multipliers."""
        n, D = self.most.shape[1] - 1, spread(epsilon)
        a = np.arange(n + 1) / n
        unit = ABOVE * (4 * self.bits + 2 * len(self.squares) + len(self.directions) + 64) * U
        size = weights + N @ np.abs(self.together) + kappa @ self.squares + rho @ self.directions
        g = (weights + N @ self.together + kappa @ self.squares - rho @ self.directions + unit * size).max(axis=1)
        g = np.maximum(g, 0.0)[:, None]
        values = g * (a - a**2) + N.sum(axis=1)[:, None] * a**2 + kappa @ self.constants + rho @ self.most
        terms = g * a + N.sum(axis=1)[:, None] * a**2 + kappa @ self.cut_sizes + rho @ self.most
        least = np.maximum((values + unit * terms).min(axis=0), 0.0)
        return np.asarray(least * (D / (1 + D * a)) ** 2 * (1 + 16 * U))

    def highest(
        self, weights: np.ndarray, size: int
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]] | None:
        """(d,) the energies of a set of ``size`` types with the most of ``sum_l lambda_l W^l`` that is not known to be impossible, and the
        multipliers; None where the linear program is not solved."""
        a = size / (self.most.shape[1] - 1)
        inequalities = np.vstack([-self.together, -self.squares, self.directions])
        limits = np.concatenate([np.full(self.bits, a**2), self.constants[:, size], self.most[:, size]])
        # Energies of small sets are small: numbers near 1 are better for the solver.
        scale = a - a**2
        found = linprog(
            -weights, inequalities, limits / scale, np.ones((1, self.bits)), [1.0], bounds=(0, None), method="highs"
        )
        if not found.success:
            return None
        multipliers = np.split(np.maximum(-found.ineqlin.marginals, 0.0), [self.bits, self.bits + len(self.squares)])
        return found.x * scale, (multipliers[0], multipliers[1], multipliers[2])


def _rows(bits: int, degree: int, check: Check) -> tuple[np.ndarray, np.ndarray]:
    """Directions (r, bits) and F there (r, 2^bits + 1)."""
    if degree == 2:
        corners = binary._DIRECTION
        most = np.stack([binary.row(bits, float(angle), check) for angle in binary._ANGLES])
    else:
        corners, most = energies.directions(), energies.rows(bits, check)
    return np.hstack([corners, np.zeros((len(corners), bits - corners.shape[1]))]), most


def improved(
    plain: SymmetricCertificate, stop: Callable[[], bool] = lambda: False, check: Check = unchecked
) -> Iterator[LowDegreeCertificate]:
    """Certificates for the workload of ``plain`` if it `fits`, better and better, until ``stop()``; only such as are worth more."""
    workload, epsilon = plain.workload, plain.epsilon
    if not fits(workload):
        return
    every, scheme = Known.of(workload, plain, check), workload.symmetry_group.scheme
    assert scheme is not None
    gamma, _ = scheme.spectrum(workload.gram_column)
    worth, D, n = (scheme.multiplicities**2 * gamma)[1:], np.expm1(epsilon), scheme.n
    asked = worth > 0
    sizes = set(map(int, np.rint(np.geomspace(1, n / 2, _SIZES))))
    columns, shares = np.empty((0, len(worth))), np.empty(0)
    weights, best = (np.asarray(plain.inverse) ** 2 * gamma)[1:], plain.value * (1 + _LEAST_GAIN)
    for _ in range(_ROUNDS):
        tried, known = [], every.towards(weights, check)
        for size in sorted(sizes):
            if stop():
                return
            check()
            if (one := known.highest(weights, size)) is not None:
                tried.append((one[0] * (D / (1 + D * size / n)) ** 2, one[1]))
        if not tried:
            return
        N, kappa, rho = (np.array([own[kind] for _, own in tried]) for kind in range(3))
        found = LowDegreeCertificate(workload, epsilon, 0.0, weights, N, kappa, rho, plain)
        found = replace(found, value=found.claim())
        if found.value > best:
            best = found.value
            yield found
        sizes.add(int(known.ratios(epsilon, weights, N, kappa, rho)[: n // 2 + 1].argmax()))
        new = np.array([column for column, _ in tried])
        columns = np.vstack([columns, new])
        shares = np.concatenate([shares * (1 - _NEW_SHARE), np.full(len(new), _NEW_SHARE / len(new))])
        shares = mixed(shares / shares.sum(), columns[:, asked], worth[asked], _UPDATES)
        columns, shares = columns[shares > _LEAST_SHARE], shares[shares > _LEAST_SHARE]
        x = shares @ columns / shares.sum()
        if gamma[0] + (worth[asked] / x[asked]).sum() < best * (1 + _CLOSE):
            return  # moments that obey all that is known do no better
        weights = np.zeros(len(worth))
        weights[asked] = worth[asked] / x[asked] ** 2
        weights /= weights.sum()


def mixed(shares: np.ndarray, columns: np.ndarray, worth: np.ndarray, updates: int) -> np.ndarray:
    """Shares (k,) of columns (k, d) of a smaller ``sum worth / (shares @ columns)``: multiplicative updates, which never raise it."""
    for _ in range(updates):
        x = shares @ columns
        shares = shares * np.sqrt(columns @ (worth / x**2) / (worth / x).sum())
        shares /= shares.sum()
    return shares
