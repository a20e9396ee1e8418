"""Shares and averages within groups (`ldp_core.workloads.answers`), with intervals.

Where the size of a group is known, an answer is linear, and its interval is that of the sum in the group, by the size. Where that is secret, both are
estimated, from the same reports, and the interval is Fieller's: the ratios rho at which a - rho b is not further from 0 than z standard errors, the
solutions of a quadratic inequality. These are no interval where the size itself may be 0. A difference of two ratios has the interval of
Zou: the distances to the ends of both, added up as standard errors are, with the correlation of the two.

Source: Fieller 1954 (Some problems in interval estimation, JRSS B 16); Zou 2007 (Psychological Methods 12), after Howe 1974.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ldp_core import wording
from ldp_core.estimators.confidence import Intervals, intervals
from ldp_core.estimators.posterior import check_level
from ldp_core.mechanisms.base import Estimate, Mechanism
from ldp_core.mechanisms.strata import InStrata
from ldp_core.workloads import Ratios
from ldp_core.workloads.answers import LARGEST_SIZE_ERROR

POINT = 1e-9
"""Errors below this part of a unit are rounding alone."""
STEPS = 2
"""Newton's, from the ends of Fieller's interval."""


def fieller(
    a: np.ndarray, b: np.ndarray, var_a: np.ndarray, var_b: np.ndarray, cov: np.ndarray, z: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the set of rho with ``(a - rho b)^2 <= z^2 Var(a - rho b)``, for sizes b; NaN where that has no ends, or b is not positive."""
    square, middle, rest = b**2 - z**2 * var_b, a * b - z**2 * cov, a**2 - z**2 * var_a
    bounded = (b > 0) & (square > 0)
    square = np.where(bounded, square, np.nan)
    half = np.sqrt(np.maximum(middle**2 - square * rest, 0.0)) / square
    return middle / square - half, middle / square + half


def zou(
    ratios: np.ndarray, low: np.ndarray, high: np.ndarray, correlation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the intervals of ``ratios[0] - ratios[1]`` (2, q), from those of both and the ``correlation`` (q,) of the two."""

    def reach(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0.0))

    down, up = ratios - low, high - ratios
    return ratios[0] - ratios[1] - reach(down[0], up[1]), ratios[0] - ratios[1] + reach(up[0], down[1])


def ratio_answers(
    ratios: Ratios,
    mechanism: Mechanism,
    estimate: Estimate,
    level: float = 0.95,
    find: Callable[..., Intervals] = intervals,
    users: int | None = None,
    shown: Estimate | None = None,
    drawn: bool = False,
    times: np.ndarray | None = None,
    weighted: Callable[..., np.ndarray] | None = None,
) -> pd.DataFrame:
    """One row per ratio: name, answer, low, high, method, standard_error (by the delta method), unbiased and identified (whether the sizes of its
    groups are known to `LARGEST_SIZE_ERROR`), in the unit; NaN for those of groups that are estimated at nobody.

    ``estimate`` must be unbiased. ``find``: what finds intervals of linear answers; ratios of secret groups have them by `intervals` alone.
    ``shown``: the estimate to answer by, from the same reports; the intervals are widened where its answers lie beyond. With ``drawn`` they are
    for the population that people were drawn from; the sizes of known groups are no chance. ``times`` (K,) are weights of the people in each group that
    the collector knows, and ``weighted`` answers with these.
    """

    def answered_by(estimate: Estimate) -> np.ndarray:
        if weighted is None:
            return estimate.answers(ratios.linear)
        return weighted(estimate, workload=ratios.linear, queries=None)

    if ratios.known and not estimate.adds_up:  # then groups are of as many as there are
        estimate = estimate.consistent(estimate.total if users is None else float(users))
    one_look, given = find is intervals, dict[str, Any](drawn=drawn)
    if drawn and ratios.known and one_look and isinstance(mechanism, InStrata):
        given["weights"] = np.ones(len(mechanism.strata))
    if times is not None:
        given["weights"] = times
    find = partial(find, **given)
    answers = answered_by(estimate)
    shown_values = unbiased = ratios.values(answers)
    error, there = np.full(len(shown_values), np.nan), np.isfinite(shown_values)
    if there.any():
        error[there] = find(mechanism, ratios.errors(answers), estimate, level, None, users).errors[there]
    low, high, errors, methods, identified = _each(ratios, mechanism, estimate, answers, level, find, users)
    if not one_look and (drawn or not ratios.known):
        low, high = np.full((2, *low.shape), np.nan)
    if len(errors) == 2:
        shared, most = (errors**2).sum(axis=0) - (error / ratios.unit.factor) ** 2, 2 * errors[0] * errors[1]
        correlation = np.clip(np.divide(shared, most, out=0 * most, where=most > 0), -1.0, 1.0)
        a, b = ratios.parts(answers)
        low, high = zou(a / np.where(b > 0, b, np.nan), low, high, correlation)
    else:
        low, high = low[0], high[0]
    least, most = ratios.possible(ratios.parts(answers)[1])
    low, high = np.clip(low, least, most), np.clip(high, least, most)
    impossible = (low >= high) & (error > POINT)  # cut to what is possible, nothing was left
    middle = 0.0 if len(errors) == 2 else ratios.unit.middle
    low, high = (middle + ratios.unit.factor * np.where(impossible, np.nan, ends) for ends in (low, high))
    if shown is not None:
        shown_values = ratios.values(answered_by(shown), ratios.parts(answers)[1] if ratios.known else None)
        low, high = np.where(shown_values < low, shown_values, low), np.where(shown_values > high, shown_values, high)
    columns = {
        "answer": shown_values,
        "low": low,
        "high": high,
        "method": methods,
        "standard_error": error,
        "unbiased": unbiased,
        "identified": identified,
    }
    return pd.DataFrame({"name": ratios.names, **columns})


def _each(
    ratios: Ratios,
    mechanism: Mechanism,
    estimate: Estimate,
    answers: np.ndarray,
    level: float,
    find: Callable[..., Intervals],
    users: int | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(s, q) low and high ends, not cut off, and standard errors, of the ratio of each side, as they are summed; and (q,) the methods, and whether the
    sizes are known well enough. The covariance of a and b follows from the variance of their sum."""
    a, b = ratios.parts(answers)
    if ratios.known:
        rows, there = ratios.by_size(b), ratios.there(b)
        found = find(mechanism, ratios.queries(rows), estimate, level, None, users)
        low, high = np.where(there, np.moveaxis(found.uncut.reshape(*rows.shape[:2], 2), -1, 0), np.nan)
        errors, methods = (numbers.reshape(rows.shape[:2]) for numbers in (found.errors, found.methods))
        return low, high, errors, methods[0], there
    rows = np.stack([ratios.sums, ratios.inside, ratios.sums + ratios.inside])
    found = find(mechanism, ratios.queries(rows), estimate, level, None, users)
    var_a, var_b, var_sum = found.errors.reshape(3, *a.shape) ** 2
    cov, size = (var_sum - var_a - var_b) / 2, np.where(b > 0, b, np.nan)
    ends = list(fieller(a, b, var_a, var_b, cov, float(ndtri((1 + check_level(level)) / 2))))
    for _, k in product(
        range(STEPS), (0, 1)
    ):  # to where an end of the interval of a - rho b, with the variance that goes with it, is 0
        sums = ratios.queries(ratios.sums - np.nan_to_num(ends[k])[..., None] * ratios.inside)
        ends[k] = ends[k] + find(mechanism, sums, estimate, level, None, users).uncut[:, k].reshape(a.shape) / size
    deviations = np.sqrt(np.maximum(var_a - 2 * (a / size) * cov + (a / size) ** 2 * var_b, 0.0)) / size
    identified = (b >= np.sqrt(var_b) / LARGEST_SIZE_ERROR) & (b > 0)
    return ends[0], ends[1], deviations, np.full(a.shape[1], "Fieller"), identified.all(axis=0)


def unbounded_in_words(answers: pd.DataFrame, kind: str = "fixed") -> str:
    """Which answers of `ratio_answers` have no interval, and why, in a sentence; empty where all have one."""
    if not (without := int(answers["low"].isna().sum())):
        return ""
    if kind != "fixed":
        return "Shares and averages in groups that are secret, or in those of a population, have no intervals that are valid whenever one looks."
    return (
        f"{wording.plural(without, 'answer')} {'has' if without == 1 else 'have'} no interval: by these reports the group may have nobody in it, so that any share or average is "
        "possible, or only impossible ones are left. It takes more people, larger groups, or groups that are known."
    )
