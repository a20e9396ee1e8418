"""McKenna, Maity, Mazumdar and Miklau 2020: the workload factorization mechanism.

The text available names the axes of its figures but prints none of their points, so that lines
stand alone there. Its formulas (Examples 3.7, 5.5 and 5.8) and the numbers in the README of the
authors' program can be compared.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, library, workloads
from ldp_core.data.population import expected_counts
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import SearchLimits, projected_gradient
from ldp_core.papers.panel import Panel, Paper, Row, frame_of
from ldp_core.papers.settings import FAMILIES, Family, design

TYPES = 512
SMALL = 64  # types on which fits take a second
FIT_ROUNDS = 100
ROUND_SIZES = (16, 32, 64, 128, 256)
TIMED_ROUNDS = 10
SHAPES: dict[str, Literal["uniform", "zipf", "bell"]] = {"even": "uniform", "Zipf": "zipf", "bell": "bell"}
TREE = "hierarchical(oracle=hadamard, reconstruction=optimal)"
"""The tree as the paper's program has it."""
SPREAD_MECHANISMS = (
    "optimized_gradient",
    "randomized_response",
    "subset_selection",
    "hadamard",
    TREE,
    "fourier",
)

USERS_NEEDED = "users needed, worst case (log scale)"
ALPHA_TEXT = "Users needed are for a mean squared error of a share of 0.01, whatever values people have."
HISTOGRAM = FAMILIES[0]
PREFIX = FAMILIES[1]
COMPARED = ("randomized_response", "subset_selection", "hadamard", TREE, "fourier", "optimized")

BEST = (
    "As the text says, the optimised strategy needs the fewest users of the mechanisms that the paper compares (projected gradient is "
    "its own; column generation and subset selection are not in it). Fits end after a set number of rounds. The "
    "Gaussian matrix mechanism has a delta of one in a million."
)

TABLE_TYPES = 64
TABLE_MECHANISMS = (
    "randomized_response",
    "rappor",
    "hadamard",
    "subset_selection",
    TREE,
    "fourier",
    "gaussian",
    "matrix_l2",
)
"""Those of Table 1 in its order; the last is Edmonds et al.'s Gaussian factorization mechanism."""
TABLE_FAMILIES = (FAMILIES[0], FAMILIES[2], FAMILIES[4])

EXAMPLE_EPSILONS = (0.5, 1.0, 4.0)
EXAMPLE_SIZES = (8, 16, 32, 64, 128, 256, 512)
STRATEGY_SIZES = EXAMPLE_SIZES[:-1]  # a strategy of 512 types takes a second to compute


def table_1() -> pd.DataFrame:
    """Users needed of each mechanism on the workloads that others of the table are made for."""
    rows: list[Row] = []
    for family in TABLE_FAMILIES:
        workload = family.on(TABLE_TYPES)
        for name in TABLE_MECHANISMS:
            mechanism = library.create(name, TABLE_TYPES, 1.0, workload)
            users = analysis.sample_complexity(mechanism, workload)
            rows.append((family.title, library.spec(name).title, users))
    return frame_of(rows)


def response_formula(n: int, epsilon: float, alpha: float = analysis.DEFAULT_ALPHA) -> float:
    """Users needed by randomized response on Histogram, Examples 3.7 and 5.5: (n - 1)(n/(E - 1)^2 + 2/(E - 1))/(n alpha)."""
    gain = math.expm1(epsilon)
    return (n - 1) * (n / gain**2 + 2 / gain) / (n * alpha)


def example_response() -> pd.DataFrame:
    """Users needed by randomized response, from the probabilities of its strategy and their best reconstruction."""
    rows = []
    for epsilon in EXAMPLE_EPSILONS:
        for n in STRATEGY_SIZES:
            high = math.expm1(epsilon) * np.eye(n) + 1  # e^epsilon where the report is the type
            mechanism = ExplicitMechanism("strategy", high / high[0].sum(), epsilon)
            users = analysis.sample_complexity(mechanism, workloads.histogram(n))
            rows.append((f"epsilon {epsilon:g}", n, users, math.nan, response_formula(n, epsilon)))
    return frame_of(rows)


def bound_formula(n: int, epsilon: float, alpha: float = analysis.DEFAULT_ALPHA) -> float:
    """Users that no mechanism can do without on Histogram, Example 5.8: (1/E - 1/n)/alpha, or 0 where that is negative."""
    return max(0.0, (math.exp(-epsilon) - 1 / n) / alpha)


def example_bound() -> pd.DataFrame:
    """The same from the singular values of the workload (Corollary 5.7)."""
    rows = []
    for epsilon in EXAMPLE_EPSILONS:
        for n in EXAMPLE_SIZES:
            workload = workloads.custom(np.eye(n))
            users = analysis.users_from_objective(bounds.svd(workload, epsilon), workload)
            if users > 0:
                rows.append((f"epsilon {epsilon:g}", n, users, math.nan, bound_formula(n, epsilon)))
    return frame_of(rows)


def time_of_rounds() -> pd.DataFrame:
    """Seconds that a round takes on this machine, its mean over `TIMED_ROUNDS` from a random start on Histogram."""
    rows: list[Row] = []
    for n in ROUND_SIZES:
        fit = projected_gradient(HISTOGRAM.on(n), 1.0, limits=SearchLimits(None, TIMED_ROUNDS))
        took = np.diff([0.0, *(seconds for _, seconds, _ in fit.history)])
        error = float(took.std(ddof=1) / math.sqrt(took.size))
        rows.append(("projected gradient", float(n), float(took.mean()), error))
    return frame_of(rows)


def spread_of_people() -> pd.DataFrame:
    """Variance on people of several shapes over that of the worst type, on Prefix."""
    workload, rows = PREFIX.on(SMALL), list[Row]()
    people = {title: expected_counts(shape, SMALL, 10**6, spread=False) for title, shape in SHAPES.items()}
    for name in SPREAD_MECHANISMS:
        fit: dict[str, Any] = {"max_rounds": FIT_ROUNDS} if library.spec(name).fitted else {}
        profile = library.create(name, SMALL, 1.0, workload, **fit).variance_profile(workload)
        for title, counts in people.items():
            rows.append((name, title, float(counts @ profile / counts.sum() / profile.max())))
    return frame_of(rows)


def _figure_1(family: Family) -> Panel:
    return Panel(
        key=f"mckenna-figure-1-{family.key}",
        place="Figure 1",
        title=family.title,
        setting=f"{family.title} on {TYPES} types, epsilon from 0.5 to 4. {ALPHA_TEXT}",
        x="epsilon (← more private)",
        y=USERS_NEEDED,
        remark=BEST,
        design=lambda: design(family, TYPES, 100_000, "optimized", compared=COMPARED),
    )


def _figure_2(family: Family) -> Panel:
    return Panel(
        key=f"mckenna-figure-2-{family.key}",
        place="Figure 2",
        title=family.title,
        setting=f"{family.title} at epsilon 1, on 8 to {TYPES} types. {ALPHA_TEXT}",
        x="types (log scale)",
        y=USERS_NEEDED,
        remark=BEST,
        log_x=True,
        design=lambda: design(family, 64, 10_000, "optimized", compared=COMPARED),
    )


SETTING_SMALL = f"{SMALL} types at epsilon 1"

FITS = (
    Panel(
        key="mckenna-figure-3a-rows",
        place="Section 4 and Figure 3a",
        title="Number of rows",
        setting=f"Projected gradient on {SETTING_SMALL}, 300 rounds, mean and standard error over 3 random starts.",
        x="rows of the strategy, per type (log scale)",
        y="users needed / with 4 rows a type (log scale)",
        remark="Four rows a type, the paper's choice, serve well here too: twice or four times as many gain at most 2 %, and with one row a "
        "type some starts end far from the best.",
        log_x=True,
    ),
    Panel(
        key="mckenna-figure-3a-start",
        place="Section 4 and Figure 3a",
        title="Where the fit starts",
        setting=f"Projected gradient on {SETTING_SMALL}, 300 rounds: from random matrices, mean and standard error over "
        "3 of them, and from mechanisms that exist.",
        x="start",
        y="users needed / by column generation (log scale)",
        remark="As the text says, random starts do better than existing mechanisms; here that is so for all six workloads.",
    ),
    Panel(
        key="mckenna-figure-3a-time",
        place="Section 4 and Figure 3a",
        title="Time of a round",
        setting=f"Mean over {TIMED_ROUNDS} rounds of projected gradient on Histogram from a random start, on this machine.",
        x="types (log scale)",
        y="seconds a round (log scale)",
        compute=time_of_rounds,
        log_x=True,
    ),
    Panel(
        key="mckenna-figure-3b-ratio",
        place="Figure 3b",
        title="Worst case over average",
        setting=f"Strategies fitted to the average by projected gradient, 300 rounds, on {SMALL} types.",
        x="epsilon (← more private)",
        y="variance of the worst type, over the average",
        remark="The text says that about nine in ten of its strategies stay below a ratio; our copy of the paper does not show the number. Here nine in ten "
        "stay below 1.2, and all below 1.5.",
        log_y=False,
    ),
    Panel(
        key="mckenna-figure-3b-people",
        place="Figure 3b",
        title="Dependence on the people",
        setting=f"Prefix on {SETTING_SMALL}: people spread evenly, by Zipf's law, and like a bell.",
        x="how people are spread",
        y="variance, over that of the worst type",
        compute=spread_of_people,
        remark="The text says that the variance on real people is close to the worst case; for the optimised strategy it is within 2 % of "
        "it here.",
        log_y=False,
        design=lambda: design(PREFIX, SMALL, 10_000, "optimized_gradient", compared=SPREAD_MECHANISMS),
    ),
    Panel(
        key="mckenna-figure-3c",
        place="Figure 3c",
        title="Gains by WNNLS",
        setting=f"{TYPES} types, epsilon 1 and 1,000 people, the strategy of projected gradient after "
        f"{FIT_ROUNDS} rounds; mean and standard error over 20 simulated collections.",
        x="workload",
        y="mean squared error of a share (log scale)",
        remark="As the text says, WNNLS lowers the error on every workload, here to between a half and a fifth. The people of the paper are a "
        "sample of HEPTH, which is not shipped here: these are spread by Zipf's law.",
        design=lambda: design(PREFIX, TYPES, 1_000, "optimized_gradient", "zipf"),
    ),
    Panel(
        key="mckenna-program",
        place="README of their program",
        title="Prefix on 128 types",
        setting="Prefix on 128 types at epsilon 1; projected gradient in at most 1,000 rounds.",
        x="strategy",
        y="variance per user, worst type (log scale)",
        remark="Hierarchical agrees to all its digits, once counts are estimated by the pseudo-inverse as that program does; the best "
        "estimate is 4 % better. Optimised strategies are better here than printed, and no strategy gets below the proved minimum.",
        design=lambda: design(PREFIX, 128, 10_000, "optimized_gradient"),
    ),
)

PAPER = Paper(
    key="mckenna",
    authors="McKenna et al.",
    title="A workload-adaptive mechanism for linear queries under local differential privacy",
    year=2020,
    panels=(
        *map(_figure_1, FAMILIES),
        *map(_figure_2, FAMILIES),
        *FITS,
        Panel(
            key="mckenna-table-1",
            place="Table 1",
            title="Mechanisms",
            setting=f"The mechanisms of the table on {TABLE_TYPES} types at epsilon 1, each on three workloads. {ALPHA_TEXT}",
            x="mechanism",
            y=USERS_NEEDED,
            compute=table_1,
            remark="The table names the workload that each mechanism is made for; the users needed are worked out here.",
            design=lambda: design(HISTOGRAM, TABLE_TYPES, 10_000, "subset_selection", compared=TABLE_MECHANISMS),
        ),
        Panel(
            key="mckenna-example-5.5",
            place="Examples 3.7 and 5.5",
            title="Randomized response",
            setting="Randomized response on Histogram, from its strategy and the best reconstruction; printed is the paper's formula, "
            f"worked out. {ALPHA_TEXT}",
            x="types (log scale)",
            y=USERS_NEEDED,
            compute=example_response,
            log_x=True,
            design=lambda: design(HISTOGRAM, 32, 10_000, "randomized_response"),
        ),
        Panel(
            key="mckenna-example-5.8",
            place="Example 5.8",
            title="Lower bound",
            setting="Users that no mechanism can do without on Histogram, by the singular values of the workload (Corollary 5.7); "
            f"printed is the paper's formula, worked out. {ALPHA_TEXT}",
            x="types (log scale)",
            y=USERS_NEEDED,
            compute=example_bound,
            log_x=True,
            design=lambda: design(HISTOGRAM, 32, 10_000, "subset_selection"),
        ),
    ),
    absent=(
        ("Table 2", "It lists notation and has no results."),
        ("Algorithms 1 and 2", "They are what the mechanism Optimised (gradient) runs, on the Design page."),
        (
            "Figure 3c on HEPTH",
            "The data set is not shipped. The Simulate page shows the same for people in your own file.",
        ),
    ),
)
