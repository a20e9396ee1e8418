"""McKenna, Maity, Mazumdar and Miklau 2020: the workload factorization mechanism.

The text available names the axes of its figures but prints none of their points, so that lines
stand alone there. The numbers in the README of the authors' program can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from ldp_core import bounds, estimators, library, optimize
from ldp_core.data.population import expected_counts
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import SearchLimits, projected_gradient
from ldp_core.papers.panel import Panel, Paper, Row, frame_of
from ldp_core.papers.settings import FAMILIES, Family, design
from ldp_core.studies import simulate, sweep
from ldp_core.workloads import Workload

TYPES = 512
SMALL = 64  # types on which fits take a second
FIT_ROUNDS = 100
EPSILONS = tuple(0.5 * k for k in range(1, 9))
SIZES = (8, 16, 32, 64, 128, 256, 512)
NAMES = (
    "optimized",
    "optimized_gradient",
    "randomized_response",
    "subset_selection",
    "hadamard",
    "hierarchical",
    "fourier",
    "matrix_l1",
    "matrix_l2",
)
"""The mechanisms of Figures 1 and 2, with two that the paper does not have: column generation and subset selection."""
BOUNDS = ("svd", "centred_svd")
TREE = "hierarchical(oracle=hadamard, reconstruction=optimal)"
"""The hierarchical mechanism of the paper."""
PARAMETERS: dict[str, Any] = {
    "matrix_l1": {"max_rounds": 50},
    "hierarchical": {"oracle": "hadamard", "reconstruction": "optimal"},
}
SHAPES: dict[str, Literal["uniform", "zipf", "bell"]] = {"even": "uniform", "Zipf": "zipf", "bell": "bell"}
SPREAD_MECHANISMS = (
    "optimized_gradient",
    "randomized_response",
    "subset_selection",
    "hadamard",
    TREE,
    "fourier",
)

USERS_NEEDED = "people needed, worst case (log scale)"
ALPHA_TEXT = "People needed are for a mean squared error of a share of 0.01, whatever people answer."
PREFIX = FAMILIES[1]
COMPARED = ("randomized_response", "subset_selection", "hadamard", TREE, "fourier", "optimized")

BEST = (
    "As the text says, the optimised strategy needs the fewest users of the mechanisms that the paper compares (projected gradient is "
    "its own; column generation and subset selection are not in it). Fits end after a set number of rounds. The "
    "Gaussian matrix mechanism has a delta of one in a million."
)

PRINTED = {
    "Hierarchical": 5665.561344360352,
    "optimised, from Hierarchical": 3895.08,
    "optimised, random start": 1910.87,
}
"""Variance per user of the worst type on Prefix of 128 types at epsilon 1, in the README of the authors' program."""


def over_epsilon(family: Family) -> pd.DataFrame:
    """Figure 1: users needed on `TYPES` types."""
    found = sweep.epsilons(NAMES, family.on(TYPES), EPSILONS, bounds=BOUNDS, parameters=PARAMETERS)
    return _users(found.points, "epsilon")


def over_sizes(family: Family, sizes: Sequence[int] = SIZES) -> pd.DataFrame:
    """Figure 2: users needed at epsilon 1."""
    found = sweep.sizes(NAMES, family.on(TYPES), 1.0, sizes, bounds=BOUNDS, parameters=PARAMETERS)
    return _users(found.points, "n")


def _users(points: pd.DataFrame, over: str) -> pd.DataFrame:
    """A panel's frame of the points of a sweep, without bounds that say nothing."""
    said = points[points["users_needed"] > 0]
    order = said["name"].map([*NAMES, *BOUNDS].index)
    said = said.assign(order=order).sort_values(["order", over])
    return frame_of(list(zip(said["name"], said[over].astype(float), said["users_needed"], strict=True)))


def fitted(workload: Workload, epsilon: float, rounds: int, initial: np.ndarray | None = None) -> np.ndarray:
    """(n,) the variance that a user of each type adds to the answers by the strategy of projected gradient."""
    found = projected_gradient(workload, epsilon, initial=initial, limits=SearchLimits(None, rounds))
    return ExplicitMechanism("fitted", found.strategy, epsilon).variance_profile(workload)


def worst_over_average() -> pd.DataFrame:
    """Figure 3b: variance of the worst type over the average, of strategies fitted to the average."""
    profiles = ((family.title, E, fitted(family.on(SMALL), E, 300)) for family in FAMILIES for E in EPSILONS)
    return frame_of([(title, epsilon, float(profile.max() / profile.mean())) for title, epsilon, profile in profiles])


def gains_of_wnnls() -> pd.DataFrame:
    """Figure 3c: mean squared error of a share with and without WNNLS, simulated on 1,000 people of a Zipf population."""
    counts, rows = expected_counts("zipf", TYPES, 1_000, spread=False), list[Row]()
    for family in FAMILIES:
        workload = family.on(TYPES)
        mechanism = library.create("optimized_gradient", TYPES, 1.0, workload, max_rounds=FIT_ROUNDS)
        run = simulate.collect(mechanism, workload, counts, 20, estimators=["unbiased", "wnnls"]).frame
        for name, errors in (run.set_index("estimator")["root_mean_squared_error"] ** 2).groupby(level=0):
            title = estimators.spec(str(name)).title
            rows.append((title, family.title, float(errors.mean()), float(errors.sem())))
    return frame_of(rows)


def program() -> pd.DataFrame:
    """What the README of the authors' program prints, by this project's mechanisms, and the least that is possible."""
    workload = PREFIX.on(128)
    tree: Any = library.create(TREE, 128, 1.0)
    # That program's way for what it does not optimise (Theorem 3.4): the pseudo-inverse of the strategy times the tally.
    answers = workload.matrix @ np.linalg.pinv(tree.strategy)
    variances = {
        "Hierarchical": (answers**2).sum(axis=0) @ tree.strategy - workload.gram_diag,
        "Hierarchical, best estimate": tree.variance_profile(workload),
        "optimised, from Hierarchical": fitted(workload, 1.0, 1_000, tree.strategy),
        "optimised, random start": fitted(workload, 1.0, 1_000),
        "column generation": optimize.design(workload, 1.0, None, max_rounds=60).mechanism().variance_profile(workload),
        "proved minimum": bounds.worst_case(workload, 1.0, time_limit=None).variance,
    }
    return frame_of(
        [
            ("variance per user", x, float(np.max(value)), math.nan, PRINTED.get(x, math.nan))
            for x, value in variances.items()
        ]
    )


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
        compute=partial(over_epsilon, family),
        seconds=150,
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
        compute=partial(over_sizes, family),
        seconds=20,
        remark=BEST,
        log_x=True,
        design=lambda: design(family, 64, 10_000, "optimized", compared=COMPARED),
    )


SETTING_SMALL = f"{SMALL} types at epsilon 1"

FITS = (
    Panel(
        key="mckenna-figure-3b-ratio",
        place="Figure 3b",
        title="Worst case over average",
        setting=f"Strategies fitted to the average by projected gradient, 300 rounds, on {SMALL} types.",
        x="epsilon (← more private)",
        y="variance of the worst type, over the average",
        compute=worst_over_average,
        seconds=20,
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
        compute=gains_of_wnnls,
        seconds=75,
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
        compute=program,
        seconds=10,
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
    panels=(*map(_figure_1, FAMILIES), *map(_figure_2, FAMILIES), *FITS),
    absent=(
        (
            "Table 1",
            "It names mechanisms and what each is made for. The league on Compare has the users that each needs.",
        ),
        ("Table 2", "It lists notation and has no results."),
        (
            "Figure 3a",
            "It is about the rows, the start and the time of a search: `ldp_core.optimize.projected_gradient` takes the first two, and "
            "Design shows the search as it goes on.",
        ),
        (
            "Examples 3.7, 5.5 and 5.8",
            "They work out Histogram by hand: randomized response, and the SVD bound, which Bounds draws for your design.",
        ),
        ("Algorithms 1 and 2", "They are what the mechanism Optimised (gradient) runs, on the Design page."),
        (
            "Figure 3c on HEPTH",
            "The data set is not shipped. The Simulate page shows the same for people in your own file.",
        ),
    ),
)
