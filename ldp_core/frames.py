"""Tidy frames of results, the form that charts draw and downloads hold. Columns are documented on each function."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, library, workloads
from ldp_core.estimators import ESTIMATORS
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, people_of, users_of
from ldp_core.run import Cancel, asked
from ldp_core.studies.simulate import Trials, shown_queries, unweighted_answers
from ldp_core.wording import NUMBER
from ldp_core.workloads import Workload

ROUNDING = 1e-12
"""Errors up to this share of all users are rounding alone: the answer is known exactly."""
DENSE_QUERIES = 2**22
"""With more queries than these, variances are computed only for those asked for."""
_FORMULA = re.compile(r"(^(?=[\t\r\n])|(?:^|[;\t\r\n])\s*(?=[=+@＝＋－＠-]))")


def as_csv(frame: pd.DataFrame) -> str:
    """``frame`` as a CSV file, numbers in full precision, in which no text is a formula.

    Spreadsheets compute what begins with =, +, - or @, also after a tab, a line break or, where that separates cells, a
    semicolon: an apostrophe goes before it, in names of columns too. Texts that are numbers stay as they are.
    """
    safe = frame.set_axis([_no_formula(name) for name in frame.columns], axis=1)
    for place, kind in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            safe.isetitem(place, safe.iloc[:, place].astype(object).map(_no_formula))
    return safe.to_csv(index=False)


def _no_formula(cell: Any) -> Any:
    if not isinstance(cell, str) or NUMBER.fullmatch(cell):
        return cell
    return _FORMULA.sub(r"\1'", re.sub("\r\n?", "\n", cell))  # a bare \r would end the row


def per_attribute(domain: Any, counts: Counts) -> pd.DataFrame:
    """attribute, type, users, share: the marginal of each attribute of ``domain``, from counts (n,) of its types or people.

    ``type`` is the label. ValueError for counts of another shape.
    """
    axes = workloads.axes_of(domain)
    everybody = people_of(counts, [axis.size for axis in axes])
    users, parts = max(float(everybody.users), 1.0), []
    for i, axis in enumerate(axes):
        marginal = everybody.table([i])
        columns = {"attribute": axis.name, "type": axis.labels[:], "users": marginal, "share": marginal / users}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def query_shares(
    workload: Workload, variances: np.ndarray, labels: Sequence[str] | None = None, most: int = 12
) -> pd.DataFrame:
    """query, name, share, standard_error, group of the (at most ``most``) queries that err most, the worst first.

    ``variances`` (p,) of the weighted answers in squared users, as `Mechanism.query_variances` gives them; ``share`` of
    their sum; ``standard_error`` of the answer without its weight, in users; ``group`` the part of a union, from 0.
    """
    worst = workloads.dominating(workload, variances, most, labels)
    queries = np.array([one.query for one in worst], dtype=np.int64)
    deviations = np.sqrt([one.variance for one in worst])
    ends = workload.offsets[1:] if isinstance(workload, workloads.Union) else [workload.num_queries]
    return pd.DataFrame(
        {
            "query": queries,
            "name": [one.name for one in worst],
            "share": [one.share for one in worst],
            "standard_error": deviations / workload.query_weights(queries),
            "group": np.searchsorted(ends, queries, side="right"),
        }
    )


def group_shares(workload: Workload, variances: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    """group, queries, share: each part of a union by its name, with its share of the total squared error; one row for any
    other workload. ``variances`` (p,) as in `query_shares`. ValueError unless there is one name per part."""
    shares = workloads.group_shares(workload, variances)
    if len(names) != len(shares):
        raise ValueError(f"There are {len(shares):,} groups of queries and {len(names):,} names; give each one a name.")
    parts = workload.parts if isinstance(workload, workloads.Union) else [workload]
    return pd.DataFrame({"group": list(names), "queries": [part.num_queries for part in parts], "share": shares})


def summaries(rows: Sequence[analysis.Summary]) -> pd.DataFrame:
    """One row per mechanism with the fields of `analysis.Summary`, fewest users needed first."""
    return pd.DataFrame([asdict(row) for row in rows]).sort_values("users_needed", ignore_index=True)


def catalogue(n: int, epsilon: float, workload: Workload, own: Iterable[str] = ()) -> pd.DataFrame:
    """A row for every mechanism of the library, and for matrices brought along by the names of ``own``: what it was made for, its privacy
    and costs, and a note where it cannot run on ``n`` types with this workload and epsilon (empty where it can)."""
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
            for spec in (*library.REGISTRY.values(), *map(library.spec, own))
        ]
    )


def users_bounds(
    workload: Workload,
    epsilon: float,
    alpha: float,
    case: analysis.Case = analysis.WORST_CASE,
    cancel: Cancel | None = None,
) -> dict[str, float]:
    """The users that every unbiased epsilon-LDP mechanism needs in this case, by each bound in closed form. The worst case
    takes a search, which ``cancel`` (see `ldp_core.run`) ends early. Of a survey one number holds for
    the worst case and for even people."""
    if workload.survey is not None and (case.prior is None or case.uniform):
        return {"centred_svd": analysis.users_from_objective(bounds.centred_svd(workload, epsilon), workload, alpha)}
    if case.prior is None:  # a bound on the average bounds the worst type too, and so does one on any other average
        svd = _users_by_svd(workload, epsilon, alpha)
        variance = bounds.worst_case_variance(workload, epsilon, cancel=cancel)
    else:
        svd = _users_by_svd(workload, epsilon, alpha) if case.uniform else None
        prior = None if case.uniform else case.prior
        variance = bounds.average_variance(bounds.centred_svd(workload, epsilon, prior), workload, case.prior)
    centred = analysis.users_for(max(0.0, variance), workload.squared_weights, alpha)
    return {"centred_svd": centred} if svd is None else {"svd": svd, "centred_svd": centred}


def _users_by_svd(workload: Workload, epsilon: float, alpha: float) -> float | None:
    """None where the singular values would take matrices that are too large."""
    try:
        return analysis.users_from_objective(bounds.svd(workload, epsilon), workload, alpha)
    except ValueError:
        return None


def users_certified(certificate: bounds.AnyCertificate, alpha: float) -> float:
    """The users that every unbiased epsilon-LDP mechanism needs, by a certificate for the case in question."""
    return analysis.users_for(certificate.variance, certificate.workload.squared_weights, alpha)


BOUND_TITLES = {"svd": "SVD bound", "centred_svd": "centred SVD bound", "certificate": "certificate"}
"""What bounds on users are called in sentences."""


def strongest(limits: Mapping[str, float]) -> str:
    """Name of the bound to speak of: the largest, or the certificate where that is within 0.1 % of it."""
    best = max(limits, key=limits.__getitem__)
    return "certificate" if limits.get("certificate", -1.0) >= 0.999 * limits[best] else best


def gap(users_needed: float, users_bound: float) -> float:
    """How many more users a mechanism needs than the bound allows, as a share; inf where the bound says nothing."""
    return users_needed / users_bound - 1 if users_bound > 0 else float("inf")


def query_errors(
    compared: Sequence[Mechanism] | Mapping[str, Mechanism],
    workload: Workload,
    counts: Counts,
    labels: Sequence[str],
    queries: np.ndarray | None = None,
    cancel: Cancel | None = None,
) -> pd.DataFrame:
    """name, query, label, standard_error (share of all users) of the unbiased answers to ``queries`` (None: some, evenly
    spread), without their weights, on the data ``counts``. Once cancelled (see `ldp_core.run`) it returns the mechanisms it
    has, at least the first. Variants of one mechanism come with their names."""
    queries, cancelled = shown_queries(workload) if queries is None else queries, asked(cancel)
    names = [workload.query_name(int(query), labels) for query in queries]
    users, parts = float(users_of(counts)), list[pd.DataFrame]()
    named = compared.items() if isinstance(compared, Mapping) else [(one.name, one) for one in compared]
    for name, mechanism in named:
        if parts and cancelled():
            break
        errors = np.sqrt(variances_of(mechanism, workload, counts, queries)) / users
        parts.append(pd.DataFrame({"name": name, "query": queries, "label": names, "standard_error": errors}))
    return pd.concat(parts, ignore_index=True)


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


def variances_of(mechanism: Mechanism, workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) exact variances, in squared users, of the unbiased answers to ``queries`` without their weights."""
    if workload.n <= workloads.DENSE_TYPES and workload.num_queries <= min(DENSE_QUERIES, 50 * len(queries)):
        variances = mechanism.query_variances(workload, counts)[queries]
    else:
        variances = mechanism.query_variances(workload, counts, queries)
    variances = variances / workload.query_weights(queries) ** 2
    return np.where(variances > 1e-9, variances, 0.0)  # rounding can leave a little, of either sign, where it is 0


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


def simulated_errors(
    runs: Mapping[str, Trials], simulated: Mapping[str, Mechanism], workload: Workload
) -> pd.DataFrame:
    """mechanism, estimator, trials, observed, standard_error, predicted: error of a typical query as a share of all users;
    and total_observed, total_standard_error, total_predicted: squared errors summed over all queries, in squared users. Where
    queries have weights, the mean and the sum have them too; and estimated_users: the people that answers add up to, on average over
    trials.

    ``observed`` is the root of the mean squared error over queries and trials, each standard error the uncertainty left by
    the number of trials, ``predicted`` the exact expectation for unbiased estimates on this data, NaN for biased ones and where it
    would take matrices that are too large.
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


def convergence(history: Sequence[tuple[float, float]], workload: Workload, alpha: float) -> pd.DataFrame:
    """seconds, objective, users_needed of an optimiser's best strategy or of a bound, from (seconds, objective) pairs; the
    objective is on the scale of L, ``n variance + tr G``, of whatever case it was for."""
    frame = pd.DataFrame(history, columns=["seconds", "objective"], dtype=float)
    frame["users_needed"] = [analysis.users_from_objective(value, workload, alpha) for value in frame["objective"]]
    return frame


def costs(
    profile: np.ndarray,
    cases: Mapping[str, analysis.Case],
    limits: Mapping[str, Mapping[str, float]],
    num_queries: float,
    alpha: float,
    optima: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """case, users_needed, users_bound, gap of a mechanism with the variance profile ``profile`` (n,), one row per case,
    each against the best of its own bounds: ``limits[case]`` in users. With ``optima``, the users needed by the exact optimum of
    some cases, also users_optimum and gap_to_optimum (NaN in the others)."""
    rows = []
    for name, case in cases.items():
        needed = analysis.users_for(case.variance(profile), num_queries, alpha)
        bound = max(limits[name].values(), default=0.0)
        row = {"case": name, "users_needed": needed, "users_bound": bound, "gap": gap(needed, bound)}
        if optima:
            optimum = optima.get(name, math.nan)
            row |= {"users_optimum": optimum, "gap_to_optimum": needed / optimum - 1 if optimum else math.nan}
        rows.append(row)
    return pd.DataFrame(rows)


def reports(strategy: np.ndarray, labels: Sequence[str], prior: np.ndarray | None = None) -> pd.DataFrame:
    """probability, types, high, low, group of every report of ``strategy`` (m, n), the commonest first.

    ``probability`` that somebody sends it, types weighted by ``prior`` (evenly for None); ``group`` names the ``types`` that
    send it more often (nearer its highest probability ``high`` than its lowest ``low``, on the scale of the logarithm).
    """
    n = strategy.shape[1]
    shares = strategy @ (np.full(n, 1 / n) if prior is None else prior)
    high, low = strategy.max(axis=1), strategy.min(axis=1)
    inside = strategy > np.sqrt(high * low)[:, None]
    frame = pd.DataFrame(
        {
            "probability": shares,
            "types": inside.sum(axis=1),
            "high": high,
            "low": low,
            "group": [group_name(np.flatnonzero(row), labels) for row in inside],
        }
    )
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def group_name(types: np.ndarray, labels: Sequence[str]) -> str:
    """The names of types (indices, increasing), neighbours as "first to last": "[0, 5) to [20, 25); [40, 45)"."""
    if not len(types):
        return "nobody in particular"
    runs = np.split(types, np.flatnonzero(np.diff(types) > 1) + 1)
    names = [labels[run[0]] if len(run) == 1 else f"{labels[run[0]]} to {labels[run[-1]]}" for run in runs]
    return "; ".join(names)
