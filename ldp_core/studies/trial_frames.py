"""The results of simulated collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ldp_core import analysis
from ldp_core.estimators import ESTIMATORS
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, users_of
from ldp_core.studies import sampling, simulate
from ldp_core.studies.simulate import Trials
from ldp_core.workloads import Workload
from ldp_core.workloads.shown import unweighted_answers

RELEASES = 3
ROUNDING = 1e-12
"""Errors up to this share of all users are rounding alone: the answer is known exactly."""


def simulated_answers(runs: Mapping[str, Trials], workload: Workload, labels: Sequence[str]) -> pd.DataFrame:
    """mechanism, estimator, query, label, true, mean, deviation, standard_error: answers, without their weights, as shares of
    all users over the trials of each mechanism; ``deviation`` is the spread of single trials, ``standard_error`` that of their mean."""
    parts = []
    for mechanism, run in runs.items():
        queries, users = run.queries, users_of(run.counts)
        names = [workload.query_name(int(query), labels) for query in queries]
        truth = unweighted_answers(workload, run.counts, queries) / users
        for estimator, answers in run.answers.items():
            uncertain = mean_error(answers / users)
            columns = {
                "mechanism": mechanism,
                "estimator": estimator,
                "query": queries,
                "label": names,
                "true": truth,
                "mean": (answers / users).mean(axis=0),
                "deviation": uncertain * np.sqrt(len(answers)),
                "standard_error": uncertain,
            }
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def releases(mechanism: Mechanism, workload: Workload, counts: Counts, labels: Sequence[str]) -> pd.DataFrame:
    """mechanism, estimator, release (from 1), query, label, true, released: the unbiased answers of `RELEASES` simulated
    collections as shares of all users, in the form of `Outcomes.releases`. ValueError where they cannot be simulated."""
    run = simulate.collect(mechanism, workload, counts, RELEASES, 0)
    one = simulated_answers({mechanism.name: run}, workload, labels).query("estimator == 'unbiased'")
    shares = run.answers["unbiased"] / users_of(run.counts)
    every = [one.assign(release=place, released=shares[place - 1]) for place in range(1, len(shares) + 1)]
    return pd.concat(every, ignore_index=True)


def simulated_errors(
    runs: Mapping[str, Trials], simulated: Mapping[str, Mechanism], workload: Workload
) -> pd.DataFrame:
    """mechanism, estimator, trials, observed, standard_error, predicted: error of a typical query as a share of all users;
    and total_observed, total_standard_error, total_predicted: squared errors summed over all
    queries, in squared users. If queries have weights, the mean and the sum have them too; and
    estimated_users: the people that answers add up to, on average over trials.

    ``observed`` is the root of the mean squared error over queries and trials, each standard error the uncertainty left by
    the number of trials, ``predicted`` the exact expectation for unbiased estimates on this data, NaN for biased ones and where it
    would take matrices that are too large. Where every trial had new people, errors are those of the distribution.
    """
    rows = []
    for name, run in runs.items():
        users, p = float(users_of(run.counts)), workload.squared_weights
        for estimator, trials in run.frame.groupby("estimator", sort=False):
            total = trials["total_squared_error"].to_numpy()
            observed, uncertain = root_mean(total / p / users**2)
            source, exact = predictable(simulated[name], estimator), np.nan
            if source is not None:
                exact = _exact_total(source, workload, run.counts)
                exact += sampling.total(workload, run.counts) if run.new_people else 0.0
            rows.append(
                {
                    "mechanism": name,
                    "estimator": estimator,
                    "trials": len(total),
                    "observed": float(observed),
                    "standard_error": float(uncertain),
                    "predicted": np.sqrt(exact / p) / users,
                    "total_observed": total.mean(),
                    "total_standard_error": float(mean_error(total)),
                    "total_predicted": exact,
                    "estimated_users": trials["estimated_users"].mean(),
                }
            )
    return pd.DataFrame(rows)


def _exact_total(mechanism: Mechanism, workload: Workload, counts: Counts) -> float:
    """NaN where it would take matrices that are too large."""
    try:
        return max(0.0, analysis.variance_on_data(mechanism, workload, counts))
    except ValueError:
        return np.nan


def predictable(mechanism: Mechanism, estimator: str) -> Mechanism | None:
    """The mechanism whose exact variances are those of the answers by ``estimator``; None where these are biased."""
    if estimator == "consistency":
        return mechanism.consistent
    return mechanism if ESTIMATORS[estimator].unbiased else None


def mean_error(values: np.ndarray) -> np.ndarray:
    """(...) standard error of the mean over the trials of ``values`` (trials, ...), NaN for one trial."""
    trials = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(trials) if trials > 1 else np.full(values.shape[1:], np.nan)


def root_mean(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Root of the mean over the trials of ``squares`` (trials, ...), and its standard error (delta method; NaN for one
    trial, 0 where nothing was ever wrong)."""
    root = np.sqrt(squares.mean(axis=0))
    root = np.where(root > ROUNDING, root, 0.0)
    return root, np.where(root > 0, mean_error(squares) / (2 * np.where(root > 0, root, 1.0)), 0.0)
