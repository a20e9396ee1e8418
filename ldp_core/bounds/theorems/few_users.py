"""What Bassily 2019 proves of many queries and few users: errors that hardly grow with the number of queries.

Errors are **the expected length |.|_2 of the error of the vector of answers about the population that the users are drawn from,
in shares** (largest instead of length for `adaptive`). The error about the users themselves differs by at most r/sqrt(N).

Notation: d queries, n types (his J), N users (his n), r the largest length of a column of W, E = e^epsilon,
c = (E + 1)/(E - 1); logarithms are natural. ``form`` "paper" is the theorem as printed; "sharp" has the constants that the
corrected lemmas give (this project). ValueError for sizes out of range and outside a theorem's conditions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ldp_core.arguments import check_choice, check_positive, check_whole
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


def noise_of(algorithm: str, users: int, epsilon: float, delta: float = 1e-6) -> float:
    """The printed variance of a coordinate of a report, as a multiple of r^2: 2 ln(2/delta)/epsilon^2 of "gaussian", 4 ln N/epsilon^2 of
    "rejection" (to be compared with the vectors kept), and c^2 of "histogram"."""
    check_choice("algorithm", algorithm, ALGORITHMS[:3])
    users, epsilon = check_whole("number of users", users, 1), check_epsilon(epsilon)
    if algorithm == "histogram":
        return _sign_size(epsilon) ** 2
    if not 0 < delta < 1:
        raise ValueError(f"Delta must lie between 0 and 1, as Gaussian noise is never pure; got {delta!r}.")
    return (2 * math.log(2 / delta) if algorithm == "gaussian" else 4 * math.log(users)) / epsilon**2


def bound(
    algorithm: str,
    queries: int,
    n: int,
    users: int,
    epsilon: float,
    radius: float = 1.0,
    form: str = "paper",
    delta: float = 1e-6,
    noise: float | None = None,
) -> ErrorBound:
    """r min( (a s/N)^(1/4),  (b d s/N)^(1/2),  1 ) for noise of the variance s r^2, as printed (`noise_of`) where ``noise`` is None:

        gaussian   Algorithm 2, Gaussian noise and a projection (Theorem 3.2)           a = 16 ln n,   b = 1;   sharp a = 8 ln 2n
        rejection  Algorithm 4, pure privacy, N >= 120 and epsilon <= 1 (Theorem 3.4)   a = 70 ln n,   b = 5/2
        histogram  Algorithm 5, Hadamard response projected onto the simplex, d = n     a = 256 ln n,  b = 4;   sharp a = 8 ln 2n, b = 1
                   and r = 1 (Theorem 4.2)

    The printed proof of 3.2 bounds the largest of n Gaussians by sqrt(ln n) deviations, which is too little (at n = 10 their mean is 1.88, and that 1.52), but
    twice too much elsewhere; its noise does not deliver its ``delta`` where types lie more than r apart. Algorithm 4 is not private as
    printed: its bound holds for the corrected step. By Hoeffding a coordinate of Algorithm 5 is c^2-sub-Gaussian where the paper takes
    4 c^2, and the projection costs 2 where it takes 4.

    >>> bound = ldp.bounds.few_users.bound("gaussian", 64, n=32, users=1000, epsilon=1.0, radius=8.0, delta=1e-6)
    >>> round(bound.projected, 2), bound.value
    (9.01, 8.0)
    >>> round(ldp.bounds.few_users.bound("histogram", 1024, 1024, users=100_000, epsilon=1.0).value, 3)
    0.438
    """
    d, n, N, epsilon = _sizes(queries, n, users, epsilon)
    check_choice("form", form, FORMS)
    r = check_positive("radius", radius)
    if algorithm == "histogram":
        d, r = n, 1.0
    if algorithm == "rejection" and (N < LEAST_USERS or epsilon > LARGEST_EPSILON):
        raise ValueError(
            f"Theorem 3.4 is for at least {LEAST_USERS} users and epsilon up to {LARGEST_EPSILON:g}; got {N:,} users and "
            f"epsilon {epsilon:g}."
        )
    s = noise_of(algorithm, N, epsilon, delta) if noise is None else check_positive("noise", noise)
    a, b = {"gaussian": (16.0, 1.0), "rejection": (70.0, 2.5), "histogram": (256.0, 4.0)}[algorithm]
    types = a * math.log(n)
    if form == "sharp" and algorithm != "rejection":
        types, b = 8 * math.log(2 * n), 1.0
    return ErrorBound(r * (types * s / N) ** 0.25, r * math.sqrt(b * d * s / N), r)


def adaptive(queries: int, users: int, epsilon: float, radius: float = 1.0, form: str = "paper") -> float:
    """Algorithm 6, one query a user, each asked knowing the answers before: the expected **largest** error of the d answers.

        paper  4 r c (d ln d/N)^(1/2)                                  for d >= 2 and N >= 8 d ln N   (Theorem 5.2)
        sharp  2 r c (2 d ln(2 d)/N)^(1/2) + r d e^(-N/(8 d))          always                (equation (20) of its proof)

    or r, the error of answering 0, where that is less: r = ``radius`` is the largest entry of a query. At d = 1 the printed form would be 0.

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
