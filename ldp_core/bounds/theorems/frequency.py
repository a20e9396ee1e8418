"""How well any estimator can do on histograms as the number of users grows (Lopuhaä-Zwakenberg et al. 2020, Section 4).

Every figure here is **N times a mean squared error, summed over the n types, of shares**. Two errors:

    distribution    |estimate - P|^2, P the distribution that people are drawn from
    frequency       |estimate - F|^2, F the shares among the N people who report; smaller, as no sampling is in it

P is random with a continuous prior: ``concentration`` alpha stands for the symmetric Dirichlet (1/2 is Jeffreys' prior, 1 the
uniform one), None for the limit of priors that gather at the even population. Estimators may be biased. All hold as N grows, not for a
given N: the exact error of the best estimator lies below for long (see the Papers page).

Mechanisms have a ``strategy`` (m, n) where it is small enough to write out, the same as a ``channel``, or ``information()`` (n, n), their M for the
uniform prior.

Notation: Q (m, n) strategy, pi = Q P, M_P = Q' diag(1/pi) Q; dropping one type, I_P is the Fisher information, with det I_P =
det M_P, its inverse is ``M_P^-1 - P P'``, and Sigma_P = diag P - P P'.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import psi

from ldp_core.arguments import check_choice, check_positive, check_whole
from ldp_core.bounds.theorems.few_users import FORMS
from ldp_core.bounds.theorems.statement import Design
from ldp_core.limits import MOST_LIKELIHOOD_OUTPUTS, MOST_LIKELIHOOD_STEPS, MOST_MATRIX_TYPES
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Callback, Cancel

ERRORS = ("distribution", "frequency")
HALF_CORRELATED = 2 * math.atanh(math.sqrt(0.5))
"""Up to this epsilon no squared correlation of type and report exceeds 1/2, so that log(1/lambda - 1) is convex."""


def large_sample(
    n: int,
    epsilon: float,
    error: str = "distribution",
    form: str = "paper",
    concentration: float | None = None,
) -> float:
    """A lower bound on N x MSE of every epsilon-LDP protocol and every estimator as N grows.

    ``form`` "paper": Theorem 4.5, for every prior (E = e^epsilon):

        distribution  n / (E - 1)^2                   (59)
        frequency     n / (E (E - 1)^2)               (60), derived again without the printed factor, the number of outputs

    ``form`` "sharp" (this project), from the squared correlations lambda of type and report, each at most tanh^2(epsilon/2) and
    together at most sinh^2(epsilon/2); with lambda = min(tanh^2(epsilon/2), sinh^2(epsilon/2)/(n - 1)):

        distribution  n (1/lambda)     exp(sum_x E log P_x / (n - 1))
        frequency     n (1/lambda - 1) exp(sum_x E log P_x / (n - 1)),  with lambda = tanh^2(epsilon/2) above `HALF_CORRELATED`

    Neither is always the larger: the paper's may be larger for priors that favour the edges of the
    simplex. Both hold.

    >>> round(ldp.bounds.large_sample(5, 1.0), 5), round(ldp.bounds.large_sample(5, 1.0, form="sharp"), 5)
    (1.69348, 9.85106)
    """
    n, epsilon = check_whole("number of types", n, 2), check_epsilon(epsilon)
    check_choice("error", error, ERRORS)
    check_choice("form", form, FORMS)
    logs = mean_log_shares(n, concentration)
    if form == "paper":
        return n / math.expm1(epsilon) ** 2 * (1 if error == "distribution" else math.exp(-epsilon))
    single, together = math.tanh(epsilon / 2) ** 2, math.sinh(epsilon / 2) ** 2 / (n - 1)
    scale, largest = n * math.exp(logs / (n - 1)), min(single, together)
    if error == "distribution":
        return scale / largest
    return scale * (1 / (largest if epsilon <= HALF_CORRELATED else single) - 1)


def mean_log_shares(n: int, concentration: float | None) -> float:
    """sum_x E log P_x of the Dirichlet prior of this ``concentration``, or at the even population."""
    if concentration is None:
        return -n * math.log(n)
    alpha = check_positive("concentration", concentration)
    return n * float(psi(alpha) - psi(n * alpha))


def mean_squared_shares(n: int, concentration: float | None) -> float:
    """E |P|^2 of the same priors."""
    if concentration is None:
        return 1 / n
    alpha = check_positive("concentration", concentration)
    return (alpha + 1) / (n * alpha + 1)


def large_sample_of(
    mechanism: Design,
    error: str = "distribution",
    concentration: float | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> tuple[float, float]:
    """(lower bound on N x MSE of every estimator from the reports of ``mechanism`` as N grows, its standard error): Corollary 4.3, see `figures_of`.

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=5, epsilon=1.0)
    >>> round(ldp.bounds.large_sample_of(mechanism)[0], 5)
    10.22316
    """
    check_choice("error", error, ERRORS)
    return figures_of(mechanism, concentration, draws, seed)[f"corollary_{error}"]


def efficient_of(
    mechanism: Design,
    error: str = "distribution",
    concentration: float | None = None,
    draws: int = 4000,
    seed: int = 0,
) -> tuple[float, float]:
    """(N x MSE of an efficient estimator from the reports of ``mechanism`` as N grows, its standard error), which maximum likelihood attains and
    which is never below `large_sample_of` (by the inequality of the means and Hadamard's inequality).

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=5, epsilon=1.0)
    >>> round(ldp.bounds.efficient_of(mechanism)[0], 5)
    12.22975
    """
    check_choice("error", error, ERRORS)
    return figures_of(mechanism, concentration, draws, seed)[f"efficient_{error}"]


def figures_of(
    mechanism: Design,
    concentration: float | None = None,
    draws: int = 4000,
    seed: int = 0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> dict[str, tuple[float, float]]:
    """Figures of the likelihood of a mechanism's reports, with their standard errors, over ``draws`` populations of the prior:

        corollary_distribution  n exp(E log det I_P^-1 / (n - 1))               efficient_distribution  E tr M_P^-1 - E |P|^2
        corollary_frequency     n exp(E log det(I_P^-1 - Sigma_P) / (n - 1))    efficient_frequency     E tr M_P^-1 - 1

    Errors are 0 for the even population, where values are exact. The frequency form is that of Corollary 4.3, written with
    I^-1 Sigma^-1 B = I^-1 - Sigma (Louis' identity). Rounds are populations; once cancelled (see `ldp_core.run`), from those there
    are by then, a batch at least. ValueError if the likelihood is not available (see `why_not`).

    >>> mechanism = ldp.mechanisms.create("randomized_response", n=5, epsilon=1.0)
    >>> round(ldp.bounds.frequency.figures_of(mechanism)["efficient_frequency"][0], 5)
    11.42975
    """
    budget = Budget(None, None if concentration is None else draws, cancel, callback)
    parts, done = [], 0
    for part in _inverses(mechanism, concentration, draws, seed):
        parts.append([*(part.log_determinants(error) for error in ERRORS), part.traces()])
        done += len(part.populations)
        budget.tell(done)
        if budget.stopped() == "cancelled":
            break
    *logs, traces = (np.concatenate(column) for column in zip(*parts, strict=True))
    n, figures = mechanism.n, dict[str, tuple[float, float]]()
    for error, log in zip(ERRORS, logs, strict=True):
        value = n * math.exp(log.mean() / (n - 1))
        figures[f"corollary_{error}"] = value, value * _standard_error(log) / (n - 1)
        known = mean_squared_shares(n, concentration) if error == "distribution" else 1.0
        figures[f"efficient_{error}"] = float(traces.mean()) - known, _standard_error(traces)
    return figures


def why_not(mechanism: Design, concentration: float | None = None) -> str:
    """Why the likelihood of the reports of ``mechanism`` is not worked out here; empty where it is."""
    if mechanism.n > MOST_MATRIX_TYPES:
        return (
            f"Its likelihood needs an n x n matrix, formed for at most {MOST_MATRIX_TYPES:,} types; there are {mechanism.n:,}. "
            "Use coarser bins."
        )
    if concentration is None and hasattr(mechanism, "information"):
        return ""
    try:
        _strategy_of(mechanism)
    except ValueError as error:
        return str(error)
    return ""


def _strategy_of(mechanism: Design) -> np.ndarray:
    """(m, n) probabilities of all outputs; ValueError with the reason why they are not available."""
    if getattr(mechanism, "sends_numbers", False):
        raise ValueError(
            "It sends numbers with noise, not one of a list of reports, and its likelihood is not worked out here. Choose a "
            "mechanism whose reports can be listed, such as randomized_response or haar."
        )
    listed = (
        2.0 ** min(getattr(mechanism, "bits_per_report", 0), 64) <= MOST_LIKELIHOOD_OUTPUTS
    )  # before 2^n of them are listed
    strategy: np.ndarray | None = getattr(mechanism, "strategy", None) if listed else None
    channel = getattr(mechanism, "channel", None) if listed else None
    if strategy is None and channel is not None:  # trees and wavelets, whose reports keep what was sent
        listed = channel.shape[0] <= MOST_LIKELIHOOD_OUTPUTS
        strategy = np.asarray(channel @ np.eye(mechanism.n)) if listed else None
    if not listed or (strategy is not None and len(strategy) > MOST_LIKELIHOOD_OUTPUTS):
        raise ValueError(
            f"The likelihood of its reports needs the probability of every possible report, worked out for at most "
            f"{MOST_LIKELIHOOD_OUTPUTS:,} of them; choose fewer types, or the even population."
        )
    if strategy is None:
        raise ValueError(
            "The probability of every possible report is not written out for this mechanism. Choose one with a list of "
            "reports, such as randomized_response or haar."
        )
    return strategy


# --- M_P^-1 for many populations at once ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Inverses:
    """M_P^-1 (k, n, n) of k populations P (k, n)."""

    inverse: np.ndarray
    populations: np.ndarray

    def traces(self) -> np.ndarray:
        return np.trace(self.inverse, axis1=1, axis2=2)

    def log_determinants(self, error: str) -> np.ndarray:
        """log det I_P^-1, or log det(I_P^-1 - Sigma_P), where I_P^-1 - Sigma_P = M_P^-1 - diag P without one type."""
        if error == "distribution":
            return np.linalg.slogdet(self.inverse)[1]
        types = np.arange(self.populations.shape[1])
        covariance = self.inverse.copy()
        covariance[:, types, types] -= self.populations
        return np.linalg.slogdet(covariance[:, :-1, :-1])[1]


@dataclass(frozen=True)
class _DirectInverses:
    """The same for Q = b I + g 11', one type reported: M_P^-1 = (diag pi - g (1 pi' + pi 1') + g^2 11')/b^2."""

    b: float
    g: float
    populations: np.ndarray

    def traces(self) -> np.ndarray:
        k, n = self.populations.shape
        return np.full(k, (1 - 2 * self.g + n * self.g**2) / self.b**2)

    def log_determinants(self, error: str) -> np.ndarray:
        b, g, P, n = self.b, self.g, self.populations, self.populations.shape[1]
        pi = b * P + g
        if error == "distribution":
            return np.log(pi).sum(axis=1) - 2 * (n - 1) * math.log(b)
        # diag(pi/b^2 - P) plus a matrix of rank two in (pi, 1), without the last type.
        pi, d = pi[:, :-1], P[:, :-1] * n * g / b + g / b**2
        by_pi, by_both, by_one = ((weights / d).sum(axis=1) for weights in (pi**2, pi, np.ones_like(pi)))
        first = 1 - g / b**2 * by_both
        lemma = first * (first + g**2 / b**2 * by_one) + (g / b**2) ** 2 * by_one * (g * by_both - by_pi)
        return np.log(d).sum(axis=1) + np.log(lemma)


def _inverses(
    mechanism: Design, concentration: float | None, draws: int, seed: int
) -> Iterable[_Inverses | _DirectInverses]:
    """Those of the populations of a prior, in batches."""
    if concentration is None:
        return [_even(mechanism)]
    draws, alpha = check_whole("number of draws", draws, 2), check_positive("concentration", concentration)
    populations = np.random.default_rng(seed).dirichlet(np.full(mechanism.n, alpha), size=draws)
    return _drawn(_strategy_of(mechanism), populations)


def _even(mechanism: Design) -> _Inverses:
    """At the even population M_P is n times the information matrix, which some mechanisms know in closed form."""
    if reason := why_not(mechanism):
        raise ValueError(reason)
    n, information = mechanism.n, getattr(mechanism, "information", None)
    if information is None:
        strategy = _strategy_of(mechanism)
        M = strategy.T @ (strategy / strategy.mean(axis=1, keepdims=True))
    else:
        M = n * information()
    _check_identified(M)
    return _Inverses(np.linalg.inv(M)[None], np.full((1, n), 1 / n))


def _drawn(Q: np.ndarray, populations: np.ndarray) -> Iterator[_Inverses | _DirectInverses]:
    m, n = Q.shape
    if _direct(Q):
        truth, other = float(Q[0, 0]), float(Q[0, 1])
        yield _DirectInverses(truth - other, other, populations)
        return
    if len(populations) * _steps(Q) > MOST_LIKELIHOOD_STEPS:
        raise ValueError(
            f"{len(populations):,} populations of {n:,} types take too long; draw at most "
            f"{max(2, int(MOST_LIKELIHOOD_STEPS / _steps(Q))):,}, or choose fewer types."
        )
    _check_identified(Q.T @ (Q / Q.mean(axis=1, keepdims=True)))
    size = max(1, 2**22 // (m * n))
    for start in range(0, len(populations), size):
        batch = populations[start : start + size]
        scaled = Q / np.sqrt(batch @ Q.T)[:, :, None]
        yield _Inverses(np.linalg.inv(scaled.transpose(0, 2, 1) @ scaled), batch)


def _direct(Q: np.ndarray) -> bool:
    """True if a type is reported truthfully with one probability, and as each other type with one
    smaller probability."""
    m, n = Q.shape
    truth, other = float(Q[0, 0]), float(Q[0, 1])
    return m == n and truth > other and np.array_equal(Q, np.where(np.eye(n, dtype=bool), truth, other))


def _steps(Q: np.ndarray) -> float:
    """Multiplications that a population takes."""
    m, n = Q.shape
    return float(n) * (m * n + n * n)


def _check_identified(M: np.ndarray) -> None:
    values = np.linalg.eigvalsh(M)
    if values[0] <= 1e-13 * values[-1]:
        raise ValueError(
            "This strategy sends the same reports for types that a histogram distinguishes; choose another."
        )


def _standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else 0.0
