"""A lower bound on L of every epsilon-LDP mechanism for a survey, in closed form.

**The proof.** A mechanism is a mixture of two-valued rows ``1 + D 1_T``, T a set of types of share s, D = e^epsilon - 1. Its information
on the functions that vary with exactly the attributes in A, ``x_A = tr(P_A M)``, is the mean over its rows of

    e_A(T) = D^2 W_A(T) / (1 + D s)^2,    W_A(T) = |P_A 1_T|^2 / n.

As ``tr(P_A M^-1 P_A) >= dim_A^2 / tr(P_A M P_A)`` (the harmonic and the arithmetic mean of eigenvalues), and ``M 1 = 1``,
``L >= g_0 + sum_A dim_A^2 g_A / x_A``. By Cauchy's inequality, for any weights lambda_A >= 0,

    L  >=  g_0 + (sum_A dim_A sqrt(g_A lambda_A))^2 / mu    where    sum_A lambda_A e_A(T) <= mu  for every T.

As ``sum_A W_A = s - s^2`` over the sets A that are not empty, lambda = 1 has ``mu = sinh(epsilon / 2)^2``: the bound of
`ldp_core.bounds.centred_svd` for surveys. `singles` knows more about W, and has better weights. Questions that follow an order or
single out values are bounded in blocks (`ldp_core.bounds.verify`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.verify import MOST, UP, U
from ldp_core.workloads import Survey


def closed_form(survey: Survey, epsilon: float) -> Certificate:
    """The closed form, of any survey."""
    certificate = Certificate(survey, epsilon, 0.0, "tables" if survey.symmetric else "blocks", {})
    return replace(certificate, value=certificate.claim())


def bound(constant: float, dims: np.ndarray, gram: np.ndarray, weights: np.ndarray, ratio: float, units: int) -> float:
    """``g_0 + (sum dim sqrt(g lambda))^2 / mu``, rounded down, for ``weights`` lambda of components, mu the ``ratio``, and numbers that are off by so
    many ``units`` of rounding; -inf where it is none."""
    root = float(dims @ np.sqrt(gram * weights))
    if not root > 0:
        return constant * (1 - 1e-9)
    if not (1 / MOST < root < MOST and 1 / MOST < ratio < MOST):  # underflow may be all of a number
        return -math.inf
    return (constant + root / ratio * root) * (1 - UP * (4 * len(dims) + units + 64) * U)
