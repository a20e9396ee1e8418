"""Lopuhaä-Zwakenberg, Škorić and Li 2020: frequency estimation, optimal estimators and lower bounds.

The text available names what its figures show but prints none of their points, and its formulas are lost; `ldp_core.bounds.frequency`
states them as derived again. Errors here are the papers': mean squared errors of shares, summed over the types.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import bounds, estimators, library, workloads
from ldp_core.designs import Simulation
from ldp_core.mechanisms import ExplicitMechanism, Reports
from ldp_core.mechanisms.unary import UnaryMechanism, all_bits
from ldp_core.papers.panel import Panel, Paper, Row, frame_of
from ldp_core.papers.settings import FAMILIES, design

JEFFREYS = 0.5
DRAWS = 100
"""Populations drawn, as in the paper."""
EPSILONS = tuple(0.5 * k for k in range(1, 9))
ESTIMATORS = ("unbiased", "norm_sub", "mle")

TWO_TYPE_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
TWO_TYPE_USERS = 1_000
TWO_TYPE_DRAWS = 4_000


FOUND = {
    ("randomized_response", 10**6): "maximum likelihood and Norm-Sub differ little with a million users",
    ("randomized_response", 10**4): "maximum likelihood is better than Norm-Sub at 10,000 users",
    ("oue", 10**6): "maximum likelihood on whole reports is better than Norm-Sub with a million users",
    ("oue", 100): "maximum likelihood and Norm-Sub are similar at 100 users",
}
"""What Section 5 says of its figures, by mechanism and users, and is so here."""


def errors_of(name: str, n: int, users: int, error: str) -> pd.DataFrame:
    """A panel of Figures 2 and 3: mean squared distances of estimates from the distribution that people come from, or from their
    frequencies, when ``users`` people report one of n types; means over populations drawn from Jeffreys' prior."""
    workload, rows = workloads.histogram(n), list[Row]()
    usual: dict[str, Any] = {"reconstruction": "standard"} if name == "oue" else {}  # the paper's frequency oracle
    for epsilon in EPSILONS:
        mechanism = whole = library.create(name, n, epsilon, **usual)
        if isinstance(mechanism, UnaryMechanism):  # the likelihood is that of all bits of a report
            whole = ExplicitMechanism(name, mechanism.written_out(), epsilon)
        rng = np.random.default_rng(0)
        squares: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
        for _ in range(DRAWS):
            population = rng.dirichlet(np.full(n, JEFFREYS))
            counts = rng.multinomial(users, population)
            truth = population if error == "distribution" else counts / users
            sent = reports = whole.simulate(counts, rng)
            if whole is not mechanism:
                reports = Reports(mechanism.digest, users, sent.arrays[0] @ all_bits(n))
            unbiased = mechanism.estimate(reports)
            for estimator, values in squares.items():
                given = (sent, whole) if estimator == "mle" else (reports, mechanism)
                estimate = estimators.apply(estimator, *given, workload, unbiased)
                values.append(float(((estimate.estimated_counts / users - truth) ** 2).sum()))
        for estimator, values in squares.items():
            spread = float(np.std(values, ddof=1)) / math.sqrt(DRAWS)
            rows.append((estimators.spec(estimator).title, epsilon, float(np.mean(values)), spread))
    order = [estimators.spec(name).title for name in ESTIMATORS]
    return frame_of(sorted(rows, key=lambda row: (order.index(row[0]), row[1])))


def proposition_4_6() -> pd.DataFrame:
    """N x mean squared error of the unbiased estimate on two types, simulated, beside the formulas of the proposition."""
    N, rows = TWO_TYPE_USERS, []
    for epsilon in TWO_TYPE_EPSILONS:
        mechanism, rng = library.create("randomized_response", 2, epsilon), np.random.default_rng(0)
        populations = rng.dirichlet(np.full(2, JEFFREYS), size=TWO_TYPE_DRAWS)
        counts = rng.multinomial(N, populations)
        estimates = np.array([mechanism.estimate(mechanism.simulate(some, rng)).estimated_counts for some in counts])
        for error, truth in (("distribution", populations), ("frequency", counts / N)):
            squares = N * ((estimates / N - truth) ** 2).sum(axis=1)
            printed = 2 * math.exp(epsilon) / math.expm1(epsilon) ** 2
            if error == "distribution":
                printed += 1 - bounds.frequency.mean_squared_shares(2, JEFFREYS)
            spread = float(squares.std(ddof=1)) / math.sqrt(TWO_TYPE_DRAWS)
            rows.append((error, epsilon, float(squares.mean()), spread, printed))
    return frame_of(sorted(rows, key=lambda row: (row[0], row[1])))


def _collected(place: str, mechanism: str, n: int, users: int, error: str) -> Panel:
    about = "distribution they are drawn from" if error == "distribution" else "frequencies among them"
    return Panel(
        f"lopuhaa-{mechanism.replace('_', '-')}-{users}-{error}",
        place,
        f"{users:,} users, {error}",
        f"{library.spec(mechanism).title} on {n:,} types, {users:,} users drawn from each of {DRAWS} populations of Jeffreys' prior; "
        f"error of the {about}, mean and standard error.",
        "epsilon (← more private)",
        "mean squared error, sum over types (log scale)",
        partial(errors_of, mechanism, n, users, error),
        f"As the text says, {FOUND[mechanism, users]}.",
        design=partial(
            design, FAMILIES[0], n, users, mechanism, simulation=Simulation(trials=DRAWS, estimators=ESTIMATORS)
        ),
    )


PAPER = Paper(
    key="lopuhaa",
    authors="Lopuhaä-Zwakenberg et al.",
    title="Improving frequency estimation under local differential privacy",
    year=2020,
    panels=(
        *(
            _collected(place, mechanism, n, users, error)
            for place, mechanism, n, many in (
                ("Figure 2", "randomized_response", 1024, (10**6, 10**4)),
                ("Figure 3", "oue", 10, (10**6, 100)),
            )
            for users in many
            for error in bounds.frequency.ERRORS
        ),
        Panel(
            key="lopuhaa-proposition-4.6",
            place="Proposition 4.6",
            title="Two types",
            setting=f"The unbiased estimate from randomized response on two types, {TWO_TYPE_USERS:,} users drawn from each of {TWO_TYPE_DRAWS:,} populations of "
            "Jeffreys' prior, mean and standard error; printed is the proposition's formula, worked out.",
            x="epsilon (← more private)",
            y="users x mean squared error, sum over types (log scale)",
            compute=proposition_4_6,
            log_x=True,
            design=lambda: design(FAMILIES[0], 2, TWO_TYPE_USERS, "randomized_response"),
        ),
    ),
    absent=(
        ("Figure 1", "It is a diagram of who sends what to whom."),
        ("Table I, Theorems 4.1 and 4.5 and Corollary 4.3", "They are bounds: Bounds works them out for your design."),
        ("Table II", "It lists notation and has no results."),
        (
            "Figures 4 and 5",
            "They use taxi trips in New York and UCI Adult, which are not shipped. Upload such a column on the Data page; Simulate then "
            "compares unbiased estimates, Norm-Sub and maximum likelihood on it.",
        ),
    ),
)
