"""Tidy tables of results, the form that charts draw and downloads hold. Columns are documented on each function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, mechanisms
from ldp_core.mechanisms.base import Mechanism
from ldp_core.simulate import Trials, shown_queries
from ldp_core.workloads import Workload


def summaries(rows: Sequence[analysis.Summary]) -> pd.DataFrame:
    """A row a mechanism with the fields of `analysis.Summary`, fewest users needed first."""
    return pd.DataFrame([asdict(row) for row in rows]).sort_values("users_needed", ignore_index=True)


def catalogue(n: int, epsilon: float, workload: Workload) -> pd.DataFrame:
    """A row for every mechanism of the library: what it was made for, its privacy and costs, and a note where it cannot run
    on ``n`` types with this workload and epsilon (empty where it can)."""
    return pd.DataFrame(
        [
            {
                "mechanism": spec.title,
                "made_for": spec.made_for,
                "note": spec.unsuitable(n, epsilon, workload) or "",
                "privacy": spec.privacy,
                "bits_a_report": spec.bits,
                "user_computes": spec.user_cost,
                "collector_computes": spec.collector_cost,
                "source": spec.paper,
            }
            for spec in mechanisms.REGISTRY.values()
        ]
    )


def users_bounds(workload: Workload, epsilon: float, alpha: float) -> dict[str, float]:
    """Users that no unbiased epsilon-LDP factorization mechanism can do without, by each bound."""
    return {
        name: analysis.users_from_objective(bound(workload, epsilon), workload, alpha)
        for name, bound in (("svd", bounds.svd), ("centred_svd", bounds.centred_svd))
    }


def gap(summary_objective: float, bound: float, workload: Workload) -> float:
    """How many more users a mechanism needs than the bound allows, average case against average case, as a share."""
    floor = bound - workload.trace
    return (summary_objective - workload.trace) / floor - 1 if floor > 0 else float("inf")


def query_errors(
    compared: Sequence[Mechanism], workload: Workload, counts: np.ndarray, labels: Sequence[str]
) -> pd.DataFrame:
    """name, query, label, standard_error (share of all users) of the unbiased answers on the data ``counts``."""
    queries = shown_queries(workload)
    names = [workload.query_name(int(query), labels) for query in queries]
    users = float(np.sum(counts))
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "name": mechanism.name,
                    "query": queries,
                    "label": names,
                    "standard_error": analysis.standard_errors(mechanism, workload, counts)[queries] / users,
                }
            )
            for mechanism in compared
        ],
        ignore_index=True,
    )


def simulated_answers(runs: Mapping[str, Trials], workload: Workload, labels: Sequence[str]) -> pd.DataFrame:
    """mechanism, estimator, query, label, true, mean, deviation, standard_error: answers as shares of all users over the
    trials of each mechanism; ``deviation`` is the spread of single trials, ``standard_error`` that of their mean."""
    parts = []
    for mechanism, run in runs.items():
        users = run.counts.sum()
        queries = run.queries
        names = [workload.query_name(int(query), labels) for query in queries]
        truth = workload.answers(run.counts, queries) / users
        for estimator, answers in run.answers.items():
            shares = answers / users
            trials = len(shares)
            deviation = shares.std(axis=0, ddof=1) if trials > 1 else np.full(len(queries), np.nan)
            parts.append(
                pd.DataFrame(
                    {
                        "mechanism": mechanism,
                        "estimator": estimator,
                        "query": queries,
                        "label": names,
                        "true": truth,
                        "mean": shares.mean(axis=0),
                        "deviation": deviation,
                        "standard_error": deviation / np.sqrt(trials),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def simulated_errors(
    runs: Mapping[str, Trials], simulated: Mapping[str, Mechanism], workload: Workload
) -> pd.DataFrame:
    """mechanism, estimator, trials, observed, standard_error, predicted: error of a typical query as a share of all users.

    ``observed`` is the root of the mean squared error over queries and trials, ``standard_error`` its uncertainty (delta
    method), ``predicted`` the exact expectation for unbiased estimates on this data, NaN for biased ones.
    """
    rows = []
    for name, run in runs.items():
        users, p = float(run.counts.sum()), workload.num_queries
        exact = np.sqrt(max(0.0, analysis.variance_on_data(simulated[name], workload, run.counts)) / p) / users
        for estimator, trials in run.frame.groupby("estimator", sort=False):
            squared = trials["total_squared_error"] / p / users**2
            observed = float(np.sqrt(squared.mean()))
            spread = squared.std(ddof=1) / np.sqrt(len(squared)) if len(squared) > 1 else np.nan
            rows.append(
                {
                    "mechanism": name,
                    "estimator": estimator,
                    "trials": len(squared),
                    "observed": observed,
                    "standard_error": spread / (2 * observed) if observed > 0 else 0.0,
                    "predicted": exact if estimator == "unbiased" else np.nan,
                }
            )
    return pd.DataFrame(rows)


def convergence(history: Sequence[tuple[float, float]], workload: Workload, alpha: float) -> pd.DataFrame:
    """seconds, objective, users_needed (average case) of an optimiser's best strategy, from (seconds, objective) pairs."""
    frame = pd.DataFrame(history, columns=["seconds", "objective"], dtype=float)
    frame["users_needed"] = [analysis.users_from_objective(value, workload, alpha) for value in frame["objective"]]
    return frame
