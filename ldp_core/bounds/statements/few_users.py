"""What Bassily 2019 proves for few users, on the scale of a total squared error per user: N times the square of its errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ldp_core.bounds import few_users
from ldp_core.bounds.statements.large_sample import histogram_of
from ldp_core.bounds.statements.statement import Assumption, Setting, Statement

PAPER = "Bassily 2019"
DELTA = 1e-6
"""The delta of Gaussian noise where the design has none."""
POPULATION = Assumption("The error is that of the answers about the population people are drawn from.")


def _squared(error: float, setting: Setting) -> float:
    return setting.users * error**2


def _gaussian(setting: Setting, form: str) -> float:
    workload, mechanism = setting.workload, setting.mechanism
    delta = mechanism.delta if mechanism is not None and mechanism.delta > 0 else DELTA
    noise = getattr(mechanism, "noise", None) if mechanism is not None and mechanism.name == "gaussian" else None
    scale = noise.scale if form == "sharp" and noise is not None else None
    sizes = workload.num_queries, workload.n, setting.users, setting.epsilon
    return _squared(few_users.gaussian(*sizes, delta, workload.radius, form, scale).value, setting)


def _rejection(setting: Setting) -> float:
    workload = setting.workload
    sizes = workload.num_queries, workload.n, setting.users, setting.epsilon
    return _squared(few_users.rejection(*sizes, workload.radius).value, setting)


def _histogram(setting: Setting, form: str) -> float:
    _check_histogram(setting)
    return _squared(few_users.histogram(setting.workload.n, setting.users, setting.epsilon, form).value, setting)


def _adaptive(setting: Setting, form: str) -> float:
    d = setting.workload.num_queries
    return d * _squared(
        few_users.adaptive(d, setting.users, setting.epsilon, setting.workload.largest_entry, form), setting
    )


def _lower_order(setting: Setting, algorithm: str) -> float:
    workload = setting.workload
    answers, radius = 1, workload.radius
    if algorithm == "histogram":
        _check_histogram(setting)
    elif algorithm == "adaptive":
        answers, radius = workload.num_queries, workload.largest_entry
    sizes = workload.num_queries, workload.n, setting.users, setting.epsilon
    return answers * _squared(few_users.lower_order(algorithm, *sizes, radius), setting)


def _check_histogram(setting: Setting) -> None:
    if histogram_of(setting.workload) != (setting.workload.n, 1.0):
        raise ValueError("It is about the histogram, one query for each type; this workload asks something else.")


def _few_users(
    name: str,
    title: str,
    words: str,
    latex: str,
    source: str,
    compute: Callable[[Setting], float],
    *more: Assumption,
    order_only: bool = False,
) -> Statement:
    return Statement(
        name=name,
        title=title,
        kind="few_users",
        words=words,
        latex=latex,
        assumptions=(POPULATION, *more),
        source=source,
        compute=compute,
        of_population=True,
        order_only=order_only,
    )


def _is(setting: Setting, *names: str) -> bool | None:
    return None if setting.mechanism is None else setting.mechanism.name in names


def _enough(setting: Setting) -> bool:
    d, N = setting.workload.num_queries, setting.users
    return d >= 2 and 8 * d * math.log(N) <= N


WITH_DELTA = Assumption("Privacy is (epsilon, delta), with delta 1e-6 where the design has none.")
GAUSSIAN = Assumption("The mechanism is Gaussian noise.", lambda setting: _is(setting, "gaussian"))
HADAMARD = Assumption(
    "The mechanism is the projected Hadamard response.", lambda setting: _is(setting, "projected_hadamard")
)
PRINTED = Assumption(
    r"The noise has the printed scale, $s^2 = 2 r^2 \ln(2/\delta)/\varepsilon^2$, which does not deliver its delta where types lie more than "
    "r apart."
)
OWN_SCALE = Assumption("The noise is the design's own where it is the Gaussian mechanism, else of the printed scale.")
GROUPS = (
    Assumption("Every query is asked of a group of its own.", lambda setting: _is(setting, "adaptive")),
    Assumption(
        "The number shown is d times the square of the largest error; the entries of the queries are at most r."
    ),
)
ORDER = Assumption("Only the order is known: the number is without its constant.")
MINIMAX = Assumption("It is about the population that is hardest.")

STATEMENTS = (
    _few_users(
        "gaussian_projected",
        "Gaussian noise with projection",
        "If there are few users, the error of the projected answers grows with the number of queries only through their length.",
        r"\mathbb E\lVert\mathrm{error}\rVert \le r \min\Bigl(\Bigl(\frac{32 \ln n \ln(2/\delta)}{N \varepsilon^2}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{2 d \ln(2/\delta)}{N \varepsilon^2}\Bigr)^{1/2},\ 1\Bigr)",
        f"{PAPER}, Theorem 3.2 (Algorithm 2)",
        partial(_gaussian, form="paper"),
        GAUSSIAN,
        WITH_DELTA,
        PRINTED,
    ),
    _few_users(
        "gaussian_projected_sharp",
        "Gaussian noise with projection, corrected",
        "The printed proof underestimates the largest of n Gaussians, and loses a factor of two elsewhere. The "
        "corrected bound is a little smaller for the same noise.",
        r"\mathbb E\lVert\mathrm{error}\rVert \le r \min\Bigl(\Bigl(\frac{8 s^2 \ln(2n)}{N r^2}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{d s^2}{N r^2}\Bigr)^{1/2},\ 1\Bigr)",
        f"this project, after {PAPER}, Theorem 3.2",
        partial(_gaussian, form="sharp"),
        GAUSSIAN,
        WITH_DELTA,
        OWN_SCALE,
    ),
    _few_users(
        "rejection_projected",
        "Rejection sampling with projection",
        "The same with pure privacy, at the price of a larger constant and a logarithm of the users.",
        r"\mathbb E\lVert\mathrm{error}\rVert \le r \min\Bigl(\Bigl(\frac{280 \ln n \ln N}{N \varepsilon^2}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{10 d \ln N}{N \varepsilon^2}\Bigr)^{1/2},\ 1\Bigr)",
        f"{PAPER}, Theorem 3.4 (Algorithm 4, corrected)",
        _rejection,
        Assumption(
            "There are at least 120 users, and epsilon is at most 1.",
            lambda setting: setting.users >= few_users.LEAST_USERS and setting.epsilon <= few_users.LARGEST_EPSILON,
        ),
        Assumption("The mechanism is rejection sampling.", lambda setting: _is(setting, "rejection_gaussian")),
    ),
    _few_users(
        "projected_hadamard",
        "Projected Hadamard response",
        "A histogram projected onto the populations that are possible has an error that hardly grows with the number of types.",
        r"\mathbb E\lVert\mathrm{error}\rVert \le \min\Bigl(\Bigl(\frac{256 c^2 \ln n}{N}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{4 c^2 n}{N}\Bigr)^{1/2},\ 1\Bigr),\quad c = \frac{e^{\varepsilon} + 1}{e^{\varepsilon} - 1}",
        f"{PAPER}, Theorem 4.2 (Algorithm 5)",
        partial(_histogram, form="paper"),
        HADAMARD,
    ),
    _few_users(
        "projected_hadamard_sharp",
        "Projected Hadamard response, sharper",
        "The same with Hoeffding's constant for the noise and half of what the projection is said to cost.",
        r"\mathbb E\lVert\mathrm{error}\rVert \le \min\Bigl(\Bigl(\frac{8 c^2 \ln(2n)}{N}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{c^2 n}{N}\Bigr)^{1/2},\ 1\Bigr)",
        f"this project, after {PAPER}, Theorem 4.2",
        partial(_histogram, form="sharp"),
        HADAMARD,
    ),
    _few_users(
        "adaptive",
        "One query each",
        "Queries may be chosen after seeing the answers to earlier ones, and even the worst answer is this good.",
        r"\mathbb E\max_k \lvert\mathrm{error}_k\rvert \le r \min\Bigl(4 c \sqrt{\frac{d \ln d}{N}},\ 1\Bigr)",
        f"{PAPER}, Theorem 5.2 (Algorithm 6)",
        partial(_adaptive, form="paper"),
        Assumption(r"There are at least 2 queries and $8 d \ln N$ users.", _enough),
        *GROUPS,
    ),
    _few_users(
        "adaptive_sharp",
        "One query each, from its proof",
        "The line of the proof that leads to the theorem holds for every number of queries and of users.",
        r"\mathbb E\max_k \lvert\mathrm{error}_k\rvert \le r \min\Bigl(2 c \sqrt{\frac{2 d \ln(2 d)}{N}} + d\, e^{-N/(8 d)},\ 1\Bigr)",
        f"{PAPER}, equation (20)",
        partial(_adaptive, form="sharp"),
        *GROUPS,
    ),
    _few_users(
        "lower_order_answers",
        "Order that no mechanism beats",
        "Whatever is sent, for some queries and populations the error is of this order.",
        r"\mathbb E\lVert\mathrm{error}\rVert \gtrsim r \min\Bigl(\Bigl(\frac{1}{N \varepsilon^2}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{d}{N \varepsilon^2}\Bigr)^{1/2}\Bigr)",
        f"{PAPER}, Table 1, after Duchi, Jordan and Wainwright 2013, Proposition 3",
        partial(_lower_order, algorithm="gaussian"),
        ORDER,
        MINIMAX,
        order_only=True,
    ),
    _few_users(
        "lower_order_histogram",
        "Order that no histogram beats",
        "Whatever is sent, for some population the error of a histogram is of this order.",
        r"\mathbb E\lVert\mathrm{error}\rVert \gtrsim \min\Bigl(\Bigl(\frac{1}{N \varepsilon^2}\Bigr)^{1/4},"
        r"\ \Bigl(\frac{n}{N \varepsilon^2}\Bigr)^{1/2}\Bigr)",
        f"{PAPER}, Table 1, after Duchi, Jordan and Wainwright 2013, Proposition 3",
        partial(_lower_order, algorithm="histogram"),
        ORDER,
        MINIMAX,
        order_only=True,
    ),
    _few_users(
        "lower_order_adaptive",
        "Order that no adaptive answers beat",
        "Whatever is sent, for some queries the largest error is of this order.",
        r"\mathbb E\max_k \lvert\mathrm{error}_k\rvert \gtrsim r c \sqrt{\frac{d \ln d}{N}}",
        f"{PAPER}, Table 1, after Duchi, Jordan and Wainwright 2013, Proposition 4",
        partial(_lower_order, algorithm="adaptive"),
        ORDER,
        MINIMAX,
        order_only=True,
    ),
)
