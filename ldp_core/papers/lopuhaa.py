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

BOUND_SIZES = (2, 3, 5, 10, 32)
TWO_TYPE_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
TWO_TYPE_USERS = 1_000
TWO_TYPE_DRAWS = 4_000
TABLE_TYPES = 10
TABLE_EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
TABLE_MECHANISMS = ("rappor", "oue", "hadamard", "subset_selection")


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


def table_1() -> pd.DataFrame:
    """N x mean squared error of the frequencies by mechanisms of the table, for even people, over the bound for all protocols."""
    rows = []
    workload, n = workloads.histogram(TABLE_TYPES), TABLE_TYPES
    for name in TABLE_MECHANISMS:
        for epsilon in TABLE_EPSILONS:
            rows.append((name, epsilon, float(library.create(name, n, epsilon).variance_profile(workload).mean())))
    for error, label in (("distribution", "new bound (59), distribution"), ("frequency", "new bound (60), frequency")):
        rows += [(label, epsilon, bounds.large_sample(n, epsilon, error)) for epsilon in TABLE_EPSILONS]
    return frame_of(rows)


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


def theorem_4_5() -> pd.DataFrame:
    """N x mean squared error that no protocol stays below as N grows, for even people at epsilon 1, and the least that is known to
    be reached."""
    rows = []
    for n in BOUND_SIZES:
        for error in bounds.frequency.ERRORS:
            for form, title in (("paper", "Theorem 4.5"), ("sharp", "sharper form")):
                rows.append((f"{title}, {error}", n, bounds.large_sample(n, 1.0, error, form)))
        best = library.create("subset_selection", n, 1.0).variance_profile(workloads.histogram(n)).mean()
        rows.append(("subset_selection", n, float(best)))
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


TIMES_USERS = "users x mean squared error, sum over types (log scale)"

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
            key="lopuhaa-table-1",
            place="Table I",
            title="Bounds and what is reached",
            setting=f"{TABLE_TYPES} types: the new lower bounds for large N, and the exact frequency errors of protocols on people spread "
            "evenly over the types.",
            x="epsilon (← more private)",
            y=TIMES_USERS,
            compute=table_1,
            remark="The entries of the table are formulas, which our copy of the paper does not show. The bound on frequencies was derived again, without "
            "the number of reports that the printed bound depends on; the earlier bounds have unknown constants and are left out.",
            log_x=True,
            design=lambda: design(FAMILIES[0], TABLE_TYPES, 10_000, "subset_selection", compared=TABLE_MECHANISMS),
        ),
        Panel(
            key="lopuhaa-theorem-4.5",
            place="Theorem 4.5",
            title="Bounds for every protocol",
            setting="Epsilon 1, large N, people spread evenly: what no protocol and no estimator stays below, as printed and in a sharper "
            "form of this project, beside the frequency error of subset selection.",
            x="types (log scale)",
            y=TIMES_USERS,
            compute=theorem_4_5,
            remark="The theorem holds for every prior; the sharper form is for people spread evenly.",
            log_x=True,
            design=lambda: design(FAMILIES[0], TABLE_TYPES, 10_000, "subset_selection"),
        ),
        Panel(
            key="lopuhaa-corollary-4.3",
            place="Section 4",
            title="How large N must be",
            setting="Randomized response on two types at epsilon 1, people drawn from Jeffreys' prior: the exact error of the best estimator of the distribution, "
            "and two bounds on it.",
            x="users N (log scale)",
            y=TIMES_USERS,
            remark="The paper has no such picture. Corollary 4.3 is a statement about large N: with 10,000 users the best estimator is "
            "still below it, while Theorem 4.1 holds for every N.",
            log_x=True,
            design=lambda: design(FAMILIES[0], 2, 10_000, "randomized_response"),
        ),
        Panel(
            key="lopuhaa-proposition-4.6",
            place="Proposition 4.6",
            title="Two types",
            setting=f"The unbiased estimate from randomized response on two types, {TWO_TYPE_USERS:,} users drawn from each of {TWO_TYPE_DRAWS:,} populations of "
            "Jeffreys' prior, mean and standard error; printed is the proposition's formula, worked out.",
            x="epsilon (← more private)",
            y=TIMES_USERS,
            compute=proposition_4_6,
            log_x=True,
            design=lambda: design(FAMILIES[0], 2, TWO_TYPE_USERS, "randomized_response"),
        ),
    ),
    absent=(
        ("Figure 1", "It is a diagram of who sends what to whom."),
        ("Table II", "It lists notation and has no results."),
        (
            "Figures 4 and 5",
            "They use taxi trips in New York and UCI Adult, which are not shipped. Upload such a column on the Data page; Simulate then "
            "compares unbiased estimates, Norm-Sub and maximum likelihood on it.",
        ),
    ),
)
