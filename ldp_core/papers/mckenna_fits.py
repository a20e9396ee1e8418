"""The figures of McKenna et al. 2020 that need fits: users needed over epsilon and domain size, and
the progress of fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, library
from ldp_core import estimators as estimation
from ldp_core.data.population import expected_counts
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.optimize import SearchLimits, projected_gradient
from ldp_core.optimize.certified import design_strategy
from ldp_core.papers import stored
from ldp_core.papers.panel import Row, frame_of
from ldp_core.papers.settings import FAMILIES, Family
from ldp_core.run import Budget, Callback, Cancel, asked
from ldp_core.studies import simulate, sweep
from ldp_core.workloads import Workload

TYPES = 512
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
CLOSED = ("randomized_response", "subset_selection")
CLOSED_BOUNDS = ("svd",)
"""The part of Figures 1 and 2 that takes no time at any size."""
BOUNDS = ("svd", "centred_svd")
PARAMETERS = {"matrix_l1": {"max_rounds": 50}}

SMALL = 64  # types on which fits take a second
ROUNDS = 300
SEEDS = (0, 1, 2)
ROWS = (1, 2, 4, 8, 16)
"""Rows of a strategy, as multiples of the number of types."""
STARTS = ("randomized_response", "hadamard", "hierarchical", "fourier")
PEOPLE = 1_000
TRIALS = 20
FIT_ROUNDS = 100
ROUND_SIZES = (16, 32, 64, 128, 256, 512)
TIMED_ROUNDS = 15
SHAPES: dict[str, Literal["uniform", "zipf", "bell"]] = {"even": "uniform", "Zipf": "zipf", "bell": "bell"}
SPREAD_MECHANISMS = ("optimized_gradient", *CLOSED, "hadamard", "hierarchical", "fourier")


# --- Figures 1 and 2 ---------------------------------------------------------------------------------------------------


def over_epsilon(family: Family, callback: Callback | None, cancel: Cancel | None) -> pd.DataFrame:
    """Users needed of every mechanism of `NAMES` on `TYPES` types, with the bounds."""
    return _over_epsilon(family, NAMES, BOUNDS, callback, cancel)


def stored_over_epsilon(family: Family, key: str) -> pd.DataFrame:
    """The same from what is stored under ``key``, with closed forms computed now."""
    return _with_closed_forms(key, _over_epsilon(family, CLOSED, CLOSED_BOUNDS))


def over_size(family: Family, callback: Callback | None, cancel: Cancel | None) -> pd.DataFrame:
    """Users needed at epsilon 1 over the number of types."""
    return _over_size(family, NAMES, BOUNDS, callback, cancel)


def stored_over_size(family: Family, key: str) -> pd.DataFrame:
    """The same from what is stored under ``key``, with closed forms computed now."""
    return _with_closed_forms(key, _over_size(family, CLOSED, CLOSED_BOUNDS))


def _over_epsilon(
    family: Family,
    names: Sequence[str],
    limits: Sequence[str],
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> pd.DataFrame:
    frame = sweep.epsilons(
        names, family.on(TYPES), EPSILONS, bounds=limits, parameters=PARAMETERS, callback=callback, cancel=cancel
    )
    return _users(frame.points, "epsilon")


def _over_size(
    family: Family,
    names: Sequence[str],
    limits: Sequence[str],
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    sizes: Sequence[int] = SIZES,
) -> pd.DataFrame:
    frame = sweep.sizes(
        names, family.on(TYPES), 1.0, sizes, bounds=limits, parameters=PARAMETERS, callback=callback, cancel=cancel
    )
    return _users(frame.points, "n")


def _users(points: pd.DataFrame, over: str) -> pd.DataFrame:
    """A panel's frame of the points of a sweep, in the order of `NAMES` and `BOUNDS`; without bounds that say nothing."""
    points = points[points["users_needed"] > 0]
    rows = zip(points["name"], points[over].astype(float), points["users_needed"], strict=True)
    return _in_order(frame_of([(name, x, users, math.nan, math.nan) for name, x, users in rows]))


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    order = {name: place for place, name in enumerate((*NAMES, *BOUNDS))}
    places = frame["series"].map(order)
    return frame.assign(place=places).sort_values(["place", "x"], ignore_index=True).drop(columns="place")


def _with_closed_forms(key: str, live: pd.DataFrame) -> pd.DataFrame:
    kept = stored.read(key)
    return _in_order(pd.concat([kept[~kept["series"].isin({*CLOSED, *CLOSED_BOUNDS})], live]))


# --- Section 4 and Figure 3a: rows, start, time ------------------------------------------------------------------------


def rows_of_strategies(
    callback: Callback | None, cancel: Cancel | None, families: Sequence[Family] = FAMILIES
) -> pd.DataFrame:
    """Users needed by fits with this number of rows, relative to those with four rows a type: mean
    and standard error over `SEEDS`."""
    rows: list[Row] = []
    budget = Budget(None, len(families) * len(ROWS), cancel, callback)
    for family in families:
        workload, users = family.on(SMALL), {}
        for multiple in ROWS:
            if budget.stopped():
                return frame_of(rows)
            fits = [_fitted(workload, 1.0, cancel, rows=multiple * SMALL, seed=seed) for seed in SEEDS]
            users[multiple] = np.array([_worst_users(fit, workload, 1.0) for fit in fits])
            budget.tell()
        usual = users[4].mean()
        for multiple, values in users.items():
            mean, error = _mean_and_error(values / usual)
            rows.append((family.title, float(multiple), mean, error, math.nan))
    return frame_of(rows)


def starts_of_fits(
    callback: Callback | None, cancel: Cancel | None, families: Sequence[Family] = FAMILIES
) -> pd.DataFrame:
    """Users needed by fits from random starts and from existing mechanisms, over those of column generation."""
    rows: list[Row] = []
    budget = Budget(None, len(families) * (len(STARTS) + 1), cancel, callback)
    for family in families:
        workload = family.on(SMALL)
        best = design_strategy(workload, 1.0, SearchLimits(None, FIT_ROUNDS, cancel=cancel))
        least = _worst_users(best.strategy, workload, 1.0)
        for name in ("random", *STARTS):
            if budget.stopped():
                return frame_of(rows)
            if name == "random":
                fits = [_fitted(workload, 1.0, cancel, seed=seed) for seed in SEEDS]
            else:
                fits = [_fitted(workload, 1.0, cancel, initial=strategy_of(name, SMALL, 1.0))]
            mean, error = _mean_and_error(np.array([_worst_users(fit, workload, 1.0) for fit in fits]) / least)
            rows.append(
                (family.title, "random" if name == "random" else library.spec(name).title, mean, error, math.nan)
            )
            budget.tell()
    return frame_of(rows)


def time_of_rounds(
    callback: Callback | None, cancel: Cancel | None, sizes: Sequence[int] = ROUND_SIZES
) -> pd.DataFrame:
    """Seconds that a round takes on this machine, its mean over `TIMED_ROUNDS` from a random start on Histogram."""
    rows: list[Row] = []
    budget = Budget(None, len(sizes), cancel, callback)
    for n in sizes:
        if budget.stopped():
            break
        fit = projected_gradient(FAMILIES[0].on(n), 1.0, limits=SearchLimits(None, TIMED_ROUNDS, cancel=cancel))
        ends = np.diff([0.0, *(seconds for _, seconds, _ in fit.history)])
        rows.append(("projected gradient", float(n), *_mean_and_error(ends), math.nan))
        budget.tell()
    return frame_of(rows)


def _fitted(workload: Workload, epsilon: float, cancel: Cancel | None, seed: int = 0, **start: Any) -> np.ndarray:
    return projected_gradient(
        workload, epsilon, limits=SearchLimits(None, ROUNDS, seed, cancel=cancel), **start
    ).strategy


def strategy_of(name: str, n: int, epsilon: float) -> np.ndarray:
    """(m, n) the probabilities of a mechanism that writes them out, such as randomized response."""
    strategy: np.ndarray | None = getattr(library.create(name, n, epsilon), "strategy", None)
    if strategy is None:
        raise ValueError(
            f"{library.spec(name).title} writes out no strategy for {n:,} types; choose another mechanism."
        )
    return strategy


def _worst_users(strategy: np.ndarray, workload: Workload, epsilon: float) -> float:
    return analysis.sample_complexity(ExplicitMechanism("fitted", strategy, epsilon), workload)


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean and its standard error; NaN for that of a single value."""
    if values.size < 2:
        return float(values.mean()), math.nan
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(values.size))


# --- Figures 3b and 3c: worst case, average, and people -----------------------------------------------------------------


def worst_over_average(
    callback: Callback | None, cancel: Cancel | None, families: Sequence[Family] = FAMILIES
) -> pd.DataFrame:
    """Variance of the worst type over the average, of strategies fitted to the average."""
    rows: list[Row] = []
    budget = Budget(None, len(families) * len(EPSILONS), cancel, callback)
    for family in families:
        workload = family.on(SMALL)
        for epsilon in EPSILONS:
            if budget.stopped():
                return frame_of(rows)
            strategy = _fitted(workload, epsilon, cancel)
            profile = ExplicitMechanism("fitted", strategy, epsilon).variance_profile(workload)
            rows.append((family.title, epsilon, float(profile.max() / profile.mean()), math.nan, math.nan))
            budget.tell()
    return frame_of(rows)


def spread_of_people(callback: Callback | None, cancel: Cancel | None) -> pd.DataFrame:
    """Variance on people of several shapes over that of the worst type, on Prefix."""
    workload = FAMILIES[1].on(SMALL)
    rows: list[Row] = []
    people = {title: expected_counts(shape, SMALL, 10**6, spread=False) for title, shape in SHAPES.items()}
    for name in SPREAD_MECHANISMS:
        fit: dict[str, Any] = {"max_rounds": FIT_ROUNDS} if library.spec(name).fitted else {}
        profile = library.create(name, SMALL, 1.0, workload, **fit).variance_profile(workload)
        for title, counts in people.items():
            rows.append((name, title, float(counts @ profile / counts.sum() / profile.max()), math.nan, math.nan))
    return frame_of(rows)


def gains_of_wnnls(
    callback: Callback | None, cancel: Cancel | None, families: Sequence[Family] = FAMILIES
) -> pd.DataFrame:
    """Mean squared error of a share with and without WNNLS, simulated on `PEOPLE` people of a Zipf population."""
    rows: list[Row] = []
    budget = Budget(None, len(families), cancel, callback)
    counts = expected_counts("zipf", TYPES, PEOPLE, spread=False)
    for family in families:
        if budget.stopped():
            break
        workload = family.on(TYPES)
        fit: dict[str, Any] = {"max_rounds": FIT_ROUNDS, "cancel": cancel}
        mechanism = library.create("optimized_gradient", TYPES, 1.0, workload, **fit)
        estimators = ["unbiased", "wnnls"]
        run = simulate.collect(mechanism, workload, counts, TRIALS, estimators=estimators, cancel=cancel).frame
        for name in estimators:
            errors = run.loc[run["estimator"] == name, "root_mean_squared_error"].to_numpy() ** 2
            rows.append((estimation.spec(name).title, family.title, *_mean_and_error(errors), math.nan))
        budget.tell()
    return frame_of(rows)


# --- the README of their program ----------------------------------------------------------------------------------------

PROGRAM_TYPES = 128
PROGRAM_ROUNDS = 1_000
PROGRAM_PRINTED = {
    "Hierarchical": 5665.561344360352,
    "optimised, random start": 1910.87,
    "optimised, from Hierarchical": 3895.08,
}
"""Variance per user of the worst type on Prefix of 128 types at epsilon 1."""


def program(callback: Callback | None, cancel: Cancel | None) -> pd.DataFrame:
    """The same with this project's mechanisms, and the least that is possible."""
    workload, n = FAMILIES[1].on(PROGRAM_TYPES), PROGRAM_TYPES
    tree, start = library.create("hierarchical", n, 1.0), strategy_of("hierarchical", n, 1.0)
    gradient = partial(projected_gradient, workload, 1.0, limits=SearchLimits(None, PROGRAM_ROUNDS, cancel=cancel))
    steps = {
        "Hierarchical": lambda: _by_pseudo_inverse(start, workload).max(),
        "Hierarchical, best estimate": lambda: tree.variance_profile(workload).max(),
        "optimised, from Hierarchical": lambda: _worst(gradient(initial=start).strategy, workload),
        "optimised, random start": lambda: _worst(gradient().strategy, workload),
        "column generation": lambda: _worst(
            design_strategy(workload, 1.0, SearchLimits(None, 60, cancel=cancel)).strategy, workload
        ),
        "proved minimum": lambda: bounds.worst_case(workload, 1.0, time_limit=None, cancel=cancel).variance,
    }
    rows: list[Row] = []
    budget, cancelled = Budget(None, len(steps), cancel, callback), asked(cancel)
    for title, work in steps.items():
        value = float(work())
        if cancelled():
            break
        rows.append(("variance per user", title, value, math.nan, PROGRAM_PRINTED.get(title, math.nan)))
        budget.tell()
    return frame_of(rows)


def _worst(strategy: np.ndarray, workload: Workload) -> float:
    return float(ExplicitMechanism("fitted", strategy, 1.0).variance_profile(workload).max())


def _by_pseudo_inverse(strategy: np.ndarray, workload: Workload) -> np.ndarray:
    """(n,) variance per user where counts are the pseudo-inverse of the strategy times the tally, as that program has it for
    mechanisms it does not optimise (Theorem 3.4)."""
    answers = workload.matrix @ np.linalg.pinv(strategy)
    return (answers**2).sum(axis=0) @ strategy - workload.gram_diag
