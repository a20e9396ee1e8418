"""Moments inside the relaxation to start from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import optimize
from scipy.special import ndtri

from ldp_core.bounds.centred import field_correlation, high_share
from ldp_core.bounds.general.moments import InteriorPoint, Moments, Relaxation
from ldp_core.run import Check, unchecked

# Barrier weights to start with, as a share of the objective spread over all pairs: near the optimum, and from afar.
NEAR = 0.01
FAR = 1.0
SHRINKAGES = (0.95, 0.8, 0.5)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def starting_point(relaxation: Relaxation, ratio: float, check: Check = unchecked) -> tuple[InteriorPoint, float]:
    """A point strictly inside, and the barrier's weight to begin with.

    The moments of thresholded Gaussian fields shaped by the workload (as the optimiser's first
    rows) are a few per cent off the optimum. If they violate a constraint, the moments of
    independent entries are used, which never do.
    """
    for moments, weight in _candidates(relaxation, ratio, check):
        check()
        if (point := relaxation.point(moments)) is not None:
            return point, weight * point.objective / relaxation.n**2
    raise ValueError("The relaxation is too narrow for floating-point numbers; choose an epsilon that is less extreme.")


def _candidates(relaxation: Relaxation, ratio: float, check: Check) -> Iterator[tuple[Moments, float]]:
    """Moments to try in turn, each with the weight to begin with."""
    n, r, D = relaxation.n, relaxation.reference, relaxation.exp_epsilon_minus_one
    share, _ = _independent(relaxation, ratio)
    correlation = field_correlation(relaxation.gram)
    for shrinkage in SHRINKAGES:
        both = D**2 * _orthant(shrinkage * correlation, share, check)
        np.fill_diagonal(both, 0.0)
        total = n**2 + 2 * D * n * (r @ share) + r @ both @ r + D**2 * (share @ r**2)
        yield relaxation.moments(n / total, np.asfortranarray(both * (n / total))), NEAR
    yield independent(relaxation, ratio), FAR


def independent(relaxation: Relaxation, ratio: float) -> Moments:
    """The moments of independent entries, which meet every constraint that rows meet."""
    share, mass = _independent(relaxation, ratio)
    second = mass * relaxation.exp_epsilon_minus_one**2 * np.outer(share, share)
    np.fill_diagonal(second, 0.0)
    return relaxation.moments(mass, np.asfortranarray(second))


def _independent(relaxation: Relaxation, ratio: float) -> tuple[np.ndarray, float]:
    """Shares pi (n,) of high entries, independent of each other, and the mass that makes M r = 1
    exact.

    With ``A = r'(1 + D pi)`` the condition reads ``A (1 + D pi_i) + r_i D^2 pi_i (1 - pi_i) = A theta``, the same for all
    i: a quadratic equation for pi_i given A, and one equation for A. theta is such that r = 1 has the best share.
    """
    r, D, n = relaxation.reference, relaxation.exp_epsilon_minus_one, relaxation.n
    share = high_share(ratio, n)
    height = D * share + D**2 * share * (1 - share) / (n * (1 + D * share))

    def shares(A: float) -> np.ndarray:
        linear = A * D + r * D**2
        return 2 * A * height / (linear + np.sqrt(linear**2 - 4 * r * D**2 * A * height))

    A = optimize.brentq(lambda A: n + D * (r @ shares(A)) - A, n, n * ratio, xtol=1e-14 * n, rtol=1e-14)
    return shares(A), 1 / (A * (1 + height))


def _orthant(correlation: np.ndarray, share: np.ndarray, check: Check = unchecked) -> np.ndarray:
    """P(both high) of pairs of standard normal variables above thresholds passed with probability ``share`` (n,).

    Plackett (1954): the derivative by the correlation sin(t) is the density at the thresholds; Gauss-Legendre in t.
    """
    c = ndtri(1 - share)
    angle = np.arcsin(np.clip(correlation, -1 + 1e-6, 1 - 1e-6))
    squares, products = c[:, None] ** 2 + c**2, 2 * np.outer(c, c)
    integral = np.zeros_like(angle)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        check()
        sine = np.sin(angle * (node + 1) / 2)
        integral += weight * np.exp(-(squares - products * sine) / (2 * (1 - sine**2)))
    return np.outer(share, share) + integral * angle / (4 * np.pi)
