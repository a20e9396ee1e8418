"""What Bassily 2019 proves of many queries and few users: errors that hardly grow with the number of queries.

Errors are **the expected length |.|_2 of the error of the vector of answers about the population that the users are drawn from,
in shares** (largest instead of length for `adaptive`). The error about the users themselves differs by at most r/sqrt(N).

Notation: d queries, n types (his J), N users (his n), r the largest length of a column of W, E = e^epsilon,
c = (E + 1)/(E - 1); logarithms are natural. ``form`` "paper" is the theorem as printed; "sharp" has the constants that the
corrected lemmas below give (this project). Lower bounds are known up to a constant only: see `lower_order`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.integrate import quad
from scipy.special import erf

from ldp_core.bounds.arguments import check_choice, check_positive, check_whole
from ldp_core.privacy import check_epsilon

FORMS = ("paper", "sharp")
LEAST_USERS = 120
LARGEST_EPSILON = 1.0
"""What Theorem 3.4 asks for."""
ALGORITHMS = ("gaussian", "rejection", "histogram", "adaptive")


@dataclass(frozen=True)
class ErrorBound:
    """Upper bounds on the expected error: ``projected`` onto the answers that are possible, ``unprojected``, and ``trivial``,
    that of answering 0. The theorems take the smallest."""

    projected: float
    unprojected: float
    trivial: float

    @property
    def value(self) -> float:
        return min(self.projected, self.unprojected, self.trivial)


def gaussian(
    queries: int,
    n: int,
    users: int,
    epsilon: float,
    delta: float,
    radius: float,
    form: str = "paper",
    scale: float | None = None,
) -> ErrorBound:
    """Algorithm 2, Gaussian noise with a projection (Theorem 3.2); ``scale`` s is the noise's standard deviation, as printed
    r (2 ln(2/delta))^(1/2)/epsilon where it is None:

        paper  r min( (16 s^2 ln n/(N r^2))^(1/4),     (d s^2/(N r^2))^(1/2),  1 )
               = r min( (32 ln n ln(2/delta)/(N epsilon^2))^(1/4),  (2 d ln(2/delta)/(N epsilon^2))^(1/2),  1 )
        sharp  r min( (8 s^2 ln(2 n)/(N r^2))^(1/4),   (d s^2/(N r^2))^(1/2),  1 ),  never more

    The printed proof bounds the largest of n Gaussians by sqrt(ln n) deviations, which is too little (see `largest_normal`), but
    twice too much elsewhere. The printed scale does not deliver its delta where types lie more than r apart: a mechanism that is
    calibrated exactly may need a larger one, and then has to be given here.

    >>> bound = ldp.bounds.few_users.gaussian(64, n=32, users=1000, epsilon=1.0, delta=1e-6, radius=8.0)
    >>> round(bound.projected, 2), bound.value
    (9.01, 8.0)
    """
    d, n, N, epsilon = _sizes(queries, n, users, epsilon)
    r = check_positive("radius", radius)
    printed = math.sqrt(2 * math.log(2 / _check_delta(delta))) / epsilon
    noise = (printed if scale is None else check_positive("scale", scale) / r) ** 2 / N
    types = 16 * math.log(n) if check_choice("form", form, FORMS) == "paper" else 8 * math.log(2 * n)
    return ErrorBound(r * (types * noise) ** 0.25, r * math.sqrt(d * noise), r)


def rejection(queries: int, n: int, users: int, epsilon: float, radius: float) -> ErrorBound:
    """Algorithm 4, rejection sampling under pure privacy (Theorem 3.4), for N >= 120 and epsilon <= 1:

        r min( (280 ln n ln N/(N epsilon^2))^(1/4),  (10 d ln N/(N epsilon^2))^(1/2),  1 )

    As printed the step is not epsilon-LDP; the bound holds for the corrected one, `rejection_gaussian`. ValueError outside
    the theorem's conditions.
    """
    d, n, N, epsilon = _sizes(queries, n, users, epsilon)
    r = check_positive("radius", radius)
    if N < LEAST_USERS or epsilon > LARGEST_EPSILON:
        raise ValueError(
            f"Theorem 3.4 is for at least {LEAST_USERS} users and epsilon up to {LARGEST_EPSILON:g}; got {N:,} users and "
            f"epsilon {epsilon:g}."
        )
    noise = math.log(N) / (N * epsilon**2)
    return ErrorBound(r * (280 * math.log(n) * noise) ** 0.25, r * math.sqrt(10 * d * noise), r)


def histogram(n: int, users: int, epsilon: float, form: str = "paper") -> ErrorBound:
    """Algorithm 5, Hadamard response projected onto the simplex, for the shares of n types (Theorem 4.2):

        paper  min( (256 c^2 ln n/N)^(1/4),   (4 c^2 n/N)^(1/2),  1 )
        sharp  min( (8 c^2 ln(2 n)/N)^(1/4),  (c^2 n/N)^(1/2),    1 )

    By Hoeffding a coordinate is c^2-sub-Gaussian where the paper takes 4 c^2, and the projection costs 2 where it takes 4.

    >>> round(ldp.bounds.few_users.histogram(1024, users=100_000, epsilon=1.0).value, 3)
    0.438
    """
    n, N = check_whole("number of types", n, 2), check_whole("number of users", users, 1)
    c2 = _sign_size(epsilon) ** 2 / N
    if check_choice("form", form, FORMS) == "paper":
        return ErrorBound((256 * c2 * math.log(n)) ** 0.25, math.sqrt(4 * c2 * n), 1.0)
    return ErrorBound((8 * c2 * math.log(2 * n)) ** 0.25, math.sqrt(c2 * n), 1.0)


def adaptive(queries: int, users: int, epsilon: float, radius: float = 1.0, form: str = "paper") -> float:
    """Algorithm 6, one query a user, each asked knowing the answers before: the expected **largest** error of the d answers.

        paper  4 r c (d ln d/N)^(1/2)                                  for d >= 2 and N >= 8 d ln N   (Theorem 5.2)
        sharp  2 r c (2 d ln(2 d)/N)^(1/2) + r d e^(-N/(8 d))          always                (equation (20) of its proof)

    or r, the error of answering 0, where that is less: r = ``radius`` is the largest entry of a query. ValueError outside the conditions: at d = 1 the printed form would be 0.

    >>> round(ldp.bounds.few_users.adaptive(20, users=20_000, epsilon=1.0, form="sharp"), 3)
    0.372
    """
    d, N = check_whole("number of queries", queries, 1), check_whole("number of users", users, 1)
    r, c = check_positive("radius", radius), _sign_size(epsilon)
    if check_choice("form", form, FORMS) == "sharp":
        return r * min(1.0, 2 * c * math.sqrt(2 * d * math.log(2 * d) / N) + d * math.exp(-N / (8 * d)))
    if d < 2 or 8 * d * math.log(N) > N:
        raise ValueError(
            f"Theorem 5.2 is for at least 2 queries and 8 d ln N users; got {d:,} queries and {N:,} users. Its proof says something of all of them: form 'sharp'."
        )
    return r * min(1.0, 4 * c * math.sqrt(d * math.log(d) / N))


def lower_order(algorithm: str, queries: int, n: int, users: int, epsilon: float, radius: float = 1.0) -> float:
    """The order of the error that every mechanism of the kind has at least, **up to a constant that
    is not given** (his Table 1; Duchi, Jordan and Wainwright 2013, Propositions 3 and 4):

        gaussian, rejection   r min( (1/(N epsilon^2))^(1/4),  (d/(N epsilon^2))^(1/2) )
        histogram             the same with r = 1 and d = n
        adaptive              r c (d ln d/N)^(1/2)
    """
    check_choice("algorithm", algorithm, ALGORITHMS)
    d, n, N, epsilon = _sizes(queries, n, users, epsilon)
    r = check_positive("radius", radius)
    if algorithm == "adaptive":
        return r * _sign_size(epsilon) * math.sqrt(d * math.log(d) / N)
    d, r = (n, 1.0) if algorithm == "histogram" else (d, r)
    return r * min((1 / (N * epsilon**2)) ** 0.25, math.sqrt(d / (N * epsilon**2)))


def project_below(
    algorithm: str,
    queries: int,
    n: int,
    epsilon: float,
    delta: float = 0.0,
    users: int | None = None,
    noise: float | None = None,
) -> float:
    """The number of users below which the paper projects, that is d^2 s/(16 ln n), where s r^2 is the variance of the noise of a
    coordinate of a report. ``noise`` is a mechanism's own s, where it is not the printed one:

        gaussian    d^2 ln(2/delta)/(8 epsilon^2 ln n)
        rejection   d^2 ln N/(4 epsilon^2 ln n), to be compared with the vectors kept; N = ``users``
        histogram   c^2 n^2/(16 ln n), in the proof only: the algorithm always projects

    >>> round(ldp.bounds.few_users.project_below("gaussian", 64, n=32, epsilon=1.0, delta=1e-6))
    2143
    """
    check_choice("algorithm", algorithm, ALGORITHMS[:3])
    d, n, _, epsilon = _sizes(queries, n, 1, epsilon)
    if algorithm == "histogram":
        d = n
    if noise is not None:
        noise = check_positive("noise", noise)
    elif algorithm == "gaussian":
        noise = 2 * math.log(2 / _check_delta(delta)) / epsilon**2
    elif algorithm == "rejection":
        if users is None:
            raise ValueError("The projection of rejection sampling depends on the number of users; give it as users.")
        noise = 4 * math.log(check_whole("number of users", users, 1)) / epsilon**2
    else:
        noise = _sign_size(epsilon) ** 2
    return d**2 * noise / (16 * math.log(n))


def largest_normal(n: int, form: str = "sharp") -> float:
    """A bound on E max |g_j| over n standard normal g: sqrt(2 ln(2 n)), or the sqrt(ln n) of the printed proof of Theorem 3.2,
    which is false: at n = 10 the mean is 1.88 and that 1.52 (`mean_largest_normal`)."""
    n = check_whole("number of types", n, 2)
    return math.sqrt(math.log(n) if check_choice("form", form, FORMS) == "paper" else 2 * math.log(2 * n))


def mean_largest_normal(n: int) -> float:
    """E max |g_j| over n independent standard normal g: the integral of P(max > x)."""
    n = check_whole("number of types", n, 2)
    return float(quad(lambda x: 1 - erf(x / math.sqrt(2)) ** n, 0, 9 + math.sqrt(2 * math.log(n)), limit=200)[0])


def _sign_size(epsilon: float) -> float:
    """c = (E + 1)/(E - 1): what a sign sent by randomized response stands for."""
    return 1 / math.tanh(check_epsilon(epsilon) / 2)


def _sizes(queries: int, n: int, users: int, epsilon: float) -> tuple[int, int, int, float]:
    return (
        check_whole("number of queries", queries, 1),
        check_whole("number of types", n, 2),
        check_whole("number of users", users, 1),
        check_epsilon(epsilon),
    )


def _check_delta(delta: float) -> float:
    if not 0 < delta < 1:
        raise ValueError(f"Delta must lie between 0 and 1, as Gaussian noise is never pure; got {delta!r}.")
    return float(delta)
