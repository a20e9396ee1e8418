"""Logistic regression from a collection: of a secret yes or no, on columns that the collector knows."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.deploy.collector.collection import Collection
from ldp_core.estimators.logistic import Logistic, logistic
from ldp_core.estimators.mle import written_out
from ldp_core.mechanisms.base import Mechanism, Reports
from ldp_core.mechanisms.strata import StratifiedMechanism
from ldp_core.workloads import HistogramPart
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.grouped import places_of
from ldp_core.workloads.regression import model

SAME, LARGE = 1e-12, 1e4
"""Chances that rounding alone keeps apart, and log odds and factors of odds that are none any more."""
COLUMNS = {"Coefficient": "answer", "Low": "low", "High": "high", "±": "standard_error", "Odds times": "odds"}


def formula(text: str) -> tuple[str, list[str]]:
    """The yes or no, and the columns, of "satisfied ~ age, arm"; names with commas stand in double quotes. ValueError for other text."""
    left, tilde, right = text.partition("~")
    of, on = (next(csv.reader([side], skipinitialspace=True), []) for side in (left, right))
    if not tilde or len(of) != 1 or not on:
        raise ValueError(f"A regression is written as 'satisfied ~ age, arm'; got {text!r:.80}.")
    return of[0].strip(), [name.strip() for name in on]


def regression(
    collection: Collection, mechanism: Mechanism, attributes: Any, of: str, on: Sequence[str], level: float = 0.95
) -> pd.DataFrame:
    """How the odds of a secret yes change with known columns.

    Parameters
    ----------
    collection, mechanism, attributes
        As of `associating.associations`.
    of, on : str, sequence of str
        A secret column of two values, of which the reports tell and of no other, and columns that the collector knows.
    level : float
        Of the intervals.

    Returns
    -------
    DataFrame
        The intercept and the coefficients in log odds: see `estimators.logistic.logistic`. Numbers count from the centre of
        their range.

    Raises
    ------
    ValueError
        One sentence, where the columns are other ones, reports tell of more than the yes or no, or there are none.
    """
    axes = axes_of(attributes)
    place, *places = places_of(axes, [of, *on])
    chosen, known = [axes[i] for i in places], [i for i, axis in enumerate(axes) if axis.known]
    if axes[place].size != 2 or place in known or not places or not set(places) <= set(known):
        raise ValueError("It is of a secret column of two values, on columns that the collector knows.")
    if not isinstance(mechanism, StratifiedMechanism) or not collection.users:
        raise ValueError("It takes reports of people in groups that the collector knows; there are none.")
    X, names = model(chosen)
    values = np.indices([axes[i].size for i in known]).reshape(len(known), -1)
    cells = np.ravel_multi_index([values[known.index(i)] for i in places], [axis.size for axis in chosen])
    counted = HistogramPart(attribute=of).numbers([axes[place]])
    yes = counted.rows(np.zeros(1, dtype=int))[0][np.indices([axis.size for axis in axes])[place].ravel()] > 0
    parts = [
        _reports(*of_group)
        for of_group in zip(
            mechanism.strata, mechanism.reports_of(collection.reports), yes[mechanism.types], strict=True
        )
    ]
    group = np.repeat(cells, [len(part) for part in parts])
    found = logistic(Logistic(X, group, *np.concatenate(parts).T), ["intercept", *names], level)
    return found.assign(of=counted.query_name(0))


def _reports(made: Mechanism, reports: Reports, yes: np.ndarray) -> np.ndarray:
    """(r, 3) how often each kind of report came from one group, and its chance for either answer."""
    if made.channel is None:
        raise ValueError(
            "The reports of this mechanism are kept as sums, which have no likelihood; use one with a table, such as optimized."
        )
    Q, tally = written_out(made.channel), made.tally(reports)
    if max(np.ptp(Q[:, answer], axis=1).max() for answer in (yes, ~yes)) > SAME:
        raise ValueError("Reports tell of other secret columns besides; ask for a slope, or for the yes or no alone.")
    return np.stack([tally, Q[:, ~yes][:, 0], Q[:, yes][:, 0]], axis=1)[tally > 0]


def in_words(found: pd.DataFrame) -> str:
    """How the coefficients are to be read, in sentences."""
    said = f"Log odds of {found['of'].iloc[0]}, by maximum likelihood, with profile-likelihood intervals."
    if np.isinf(found[["low", "high"]].to_numpy()).any():
        said += " Where there is no end, the reports fit a coefficient however far it goes."
    if found["boundary"].any():
        said += " The reports are likeliest where a group has nobody, or only people, who say yes: the answers are on that boundary, and only their intervals mean something."
    return said


def table(found: pd.DataFrame) -> pd.DataFrame:
    """The coefficients as they are shown."""
    written = {heading: [_written(x) for x in found[column]] for heading, column in COLUMNS.items()}
    return pd.DataFrame({"Log odds": found["name"], **written})


def _written(number: float) -> str:
    return wording.significant(number, 4) if abs(number) < LARGE else "no end"
