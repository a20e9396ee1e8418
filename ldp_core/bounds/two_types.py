"""Randomized response on two types, where errors are exact for every number of users (Lopuhaä-Zwakenberg et al. 2020).

They show from how many users on the large-sample figures of `ldp_core.bounds.frequency` mean something. All errors are N
times a squared error of shares, summed over both types, as there. Notation: E = e^epsilon, b = (E - 1)/(E + 1), and people are
of the first type with a probability P of the symmetric Beta prior of this ``concentration`` (1/2 is Jeffreys').
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, roots_jacobi, xlogy

from ldp_core.bounds.arguments import check_choice, check_positive, check_whole
from ldp_core.bounds.frequency import ERRORS, entropy_bound, mean_squared_shares
from ldp_core.limits import MOST_SUMMED_USERS
from ldp_core.privacy import check_epsilon

_CELLS_AT_ONCE = 2**21


@dataclass(frozen=True)
class BayesError:
    """N x MSE of the posterior mean of the distribution, and N times the entropy bound of Theorem
    4.1 on it, for this number of users. No estimator has a smaller MSE on average over the prior."""

    users: int
    error: float
    entropy_bound: float


def bayes_error(epsilon: float, users: int, concentration: float = 0.5) -> BayesError:
    """The exact error of the best estimator of the distribution at this number of users, and the
    entropy bound on it.

    The error is 2 N E Var(P | S), S the number of reports of the first type; the entropy h(P | S) = h(P) - I(P; S). Both are
    sums over S of Gauss-Jacobi sums over P, whose nodes lie closer than the width of the likelihood, 1/(b sqrt N).

    >>> found = ldp.bounds.two_types.bayes_error(1.0, users=100)
    >>> round(found.error, 4), round(ldp.bounds.two_types.bayes_limit(1.0), 4)
    (1.6228, 2.0913)
    """
    epsilon, N = check_epsilon(epsilon), check_whole("number of users", users, 1, MOST_SUMMED_USERS)
    alpha, b = check_positive("concentration", concentration), math.tanh(epsilon / 2)
    nodes, weights = roots_jacobi(64 + math.ceil(4 * math.sqrt(N) * b), alpha - 1, alpha - 1)
    centred, weights = nodes / 2, weights / weights.sum()  # P - 1/2
    pi = (1 + b * nodes) / 2
    logs = np.stack([np.log(pi), np.log1p(-pi)])
    squared_means = information = 0.0
    # S and N - S are alike, so half of the outcomes will do; those farther from every mean than 9 deviations have no share.
    low = max(0, math.floor(N * pi.min() - 4.5 * math.sqrt(N)) - 1)
    choose = _log_choose(N)
    size = max(1, _CELLS_AT_ONCE // nodes.size)
    for start in range(low, N // 2 + 1, size):
        S = np.arange(start, min(start + size, N // 2 + 1))
        alike = np.where(2 * S == N, 1.0, 2.0)
        log_chance = choose[S][:, None] + S[:, None] * logs[0] + (N - S)[:, None] * logs[1]
        joint = np.exp(log_chance) * weights
        total = joint.sum(axis=1)
        squared_means += float(alike @ ((joint @ centred) ** 2 / np.where(total > 0, total, 1.0)))
        information += float(alike @ (np.einsum("sk,sk->s", joint, log_chance) - xlogy(total, total)))
    variance = float(weights @ centred**2) - squared_means
    bound = entropy_bound(2, _beta_entropy(alpha) - information)
    return BayesError(N, 2 * N * variance, N * bound)


def _log_choose(N: int) -> np.ndarray:
    """(N + 1,) log of the binomial coefficients C(N, S)."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, N + 1)))])
    return factorials[-1] - factorials - factorials[::-1]


def bayes_limit(epsilon: float, concentration: float = 0.5) -> float:
    """Where N x MSE of the best estimator goes as N grows: 2 E[I_P^-1] = 2 E[pi (1 - pi)]/b^2, pi = 1/2 + b (P - 1/2)."""
    b, alpha = math.tanh(check_epsilon(epsilon) / 2), check_positive("concentration", concentration)
    return 2 * (1 / b**2 - 1 / (2 * alpha + 1)) / 4


def unbiased_error(epsilon: float, error: str = "frequency", concentration: float | None = None) -> float:
    """N x MSE of the unbiased estimate, exact at every N (Proposition 4.6):

        frequency     2 E / (E - 1)^2
        distribution  the same + 2 E[P (1 - P)] = the same + 1 - E |P|^2,

    the latter with P even where ``concentration`` is None.

    >>> round(ldp.bounds.two_types.unbiased_error(1.0), 5)
    1.84135
    """
    epsilon = check_epsilon(epsilon)
    check_choice("error", error, ERRORS)
    sampling = 1 - mean_squared_shares(2, concentration)
    return 2 * math.exp(epsilon) / math.expm1(epsilon) ** 2 + (sampling if error == "distribution" else 0.0)


def _beta_entropy(alpha: float) -> float:
    """Differential entropy, in nats, of Beta(alpha, alpha)."""
    return float(betaln(alpha, alpha) - 2 * (alpha - 1) * (digamma(alpha) - digamma(2 * alpha)))
