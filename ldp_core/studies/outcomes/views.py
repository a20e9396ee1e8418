"""Simulate mechanisms x estimators and keep what the views need, in tidy tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import estimators as estimation
from ldp_core import frames
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Budget, Callback, Cancel, Progress
from ldp_core.studies import simulate
from ldp_core.studies.outcomes.groups import Groups, counts_people, query_groups
from ldp_core.studies.outcomes.quantiles import QUANTILES, Scale, positions, rank_errors
from ldp_core.studies.simulate import unweighted_answers
from ldp_core.workloads import Workload

RELEASES = 9
"""Collections whose published answers are kept, the first ones."""
LEVEL = 0.95
_MIDDLE = (0.05, 0.95)  # where nine collections in ten lie
_CURVE_POINTS = 200


@dataclass(frozen=True)
class Outcomes:
    """Tidy tables, all with the columns mechanism and estimator; answers and errors are shares of all users, without the weights
    of the queries except in ``errors``.

    Attributes:
        errors: see `frames.simulated_errors`; weighted as the mechanisms are judged.
        queries: query, label, observed, standard_error, predicted (NaN for biased estimates) of the queries shown.
        groups: group, label, queries, observed, standard_error, predicted of `query_groups`; ``by`` says what groups are.
        releases: release (from 1), query, label, true, released: what the first `RELEASES` collections would publish.
        intervals: query, label, true, answer, low, high, holds (the truth), method of the first collection, at `LEVEL`; empty
            where no estimator has any. Methods are those of `estimators.METHODS`, or "credible".
        curves: type, label, true, first, low, high: cumulative shares: the true ones, those of the first collection,
            and the bounds between which nine of ten collections lie; empty where types have no order.
        quantiles: quantile, true_label, first_label, value_error, value_error_se, quantile_error, quantile_error_se: mean
            distances to the true quantile, in the unit of the scale, and of shares; empty as ``curves``.
        trials: how many of each were run.
        people: whether all answers count people; otherwise some may be below 0 or above the number of users.
        skipped: (mechanism, estimator, why) of the pairs that do not go together.
    """

    by: str
    errors: pd.DataFrame
    queries: pd.DataFrame
    groups: pd.DataFrame
    releases: pd.DataFrame
    intervals: pd.DataFrame
    curves: pd.DataFrame
    quantiles: pd.DataFrame
    trials: int
    people: bool = True
    skipped: tuple[tuple[str, str, str], ...] = ()

    @property
    def nbytes(self) -> int:
        """Memory the tables take."""
        tables = (value for value in vars(self).values() if isinstance(value, pd.DataFrame))
        return int(sum(table.memory_usage().sum() for table in tables))


def left_out(
    chosen: Mapping[str, Mechanism], workload: Workload, estimators: Sequence[str]
) -> tuple[tuple[str, str, str], ...]:
    """(mechanism, estimator, why) of the pairs that cannot be simulated."""
    pairs = ((name, estimator) for name in chosen for estimator in estimators)
    reasons = ((*pair, estimation.spec(pair[1]).unsuitable(chosen[pair[0]], workload)) for pair in pairs)
    return tuple(found for found in reasons if found[2])


def seconds_a_trial(
    chosen: Mapping[str, Mechanism], workload: Workload, counts: np.ndarray, estimators: Sequence[str]
) -> float:
    """How long one trial of every pair that goes together takes here, measured on one."""
    skipped = {pair[:2] for pair in left_out(chosen, workload, estimators)}
    started = time.perf_counter()
    for name, mechanism in chosen.items():
        if suitable := [estimator for estimator in estimators if (name, estimator) not in skipped]:
            simulate.collect(mechanism, workload, counts, 1, 0, suitable)
    return time.perf_counter() - started


def compare(
    chosen: Mapping[str, Mechanism],
    workload: Workload,
    counts: np.ndarray,
    labels: Sequence[str],
    trials: int = 20,
    seed: int = 0,
    estimators: Sequence[str] = ("unbiased",),
    scale: Scale | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    parts: Sequence[str] | None = None,
) -> Outcomes:
    """Simulate every mechanism with every estimator that suits it, on the same users ``counts`` (n,).

    ``labels`` name the types and ``parts`` the parts of a union; ``scale`` is the order along which they have quantiles, if any
    (see `scale_of`). ``callback`` (after each trial, with the mechanism's name as ``found``) and ``cancel`` as in `ldp_core.run`.
    A cancelled run keeps what it has: at least one trial of the first mechanism.
    ValueError when no pair goes together, with the reasons, or for what `simulate.collect` refuses.
    """
    estimators = tuple(dict.fromkeys(estimators))
    skipped = left_out(chosen, workload, estimators)
    without = {pair[:2] for pair in skipped}
    pairs = {name: [e for e in estimators if (name, e) not in without] for name in chosen}
    pairs = {name: suitable for name, suitable in pairs.items() if suitable}
    if not pairs:
        raise ValueError(" ".join(dict.fromkeys(reason for _, _, reason in skipped)) or "There is nothing to simulate.")
    groups, runs = query_groups(workload, labels, parts), {}
    budget = Budget(None, trials * len(pairs), cancel, callback)
    for name, suitable in pairs.items():
        if runs and budget.cancelled():
            break

        def follow(progress: Progress, name: str = name) -> None:
            budget.tell(found=name)

        views = _views(chosen[name], workload, counts, groups, scale)
        runs[name] = simulate.collect(chosen[name], workload, counts, trials, seed, suitable, follow, cancel, views)
    run = {name: chosen[name] for name in runs}
    exact = {name: _exact(mechanism, workload, counts, runs[name], groups) for name, mechanism in run.items()}
    return Outcomes(
        by=groups.by,
        errors=frames.simulated_errors(runs, run, workload),
        queries=_queries(runs, exact, workload, labels),
        groups=_groups(runs, exact, groups),
        releases=_releases(runs, workload, labels),
        intervals=_intervals(runs, run, workload, labels, seed, budget.cancelled),
        curves=_curves(runs, labels, scale),
        quantiles=_quantiles(runs, labels, scale),
        trials=min(len(table) for found in runs.values() for table in found.answers.values()),
        people=counts_people(workload),
        skipped=skipped,
    )


def _views(
    mechanism: Mechanism, workload: Workload, counts: np.ndarray, groups: Groups, scale: Scale | None
) -> dict[str, simulate.View]:
    truth, users = unweighted_answers(workload, counts, groups.queries), float(np.sum(counts))
    views = {
        "groups": simulate.View(
            workload, groups.queries, lambda answers: groups.means(((answers - truth) / users) ** 2)
        )
    }
    if scale is not None and mechanism.supports(scale.totals) is None:
        views["quantiles"] = simulate.View(scale.totals, None, lambda answers: positions(answers, users))
        views["curve"] = simulate.View(scale.totals, _curve_points(scale), lambda answers: answers / users)
    return views


def _curve_points(scale: Scale) -> np.ndarray:
    n = len(scale.values)
    return np.unique(np.linspace(0, n - 1, min(n, _CURVE_POINTS)).astype(np.int64))


def _exact(
    mechanism: Mechanism, workload: Workload, counts: np.ndarray, run: simulate.Trials, groups: Groups
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By unbiased estimator: exact standard errors, as shares, of the queries shown and of a typical one of each group."""
    found, users = {}, float(np.sum(counts))
    for estimator in run.answers:
        source = frames.predictable(mechanism, estimator)
        if source is None:
            continue
        wanted = np.concatenate([run.queries, groups.queries])
        variances = frames.variances_of(source, workload, counts, wanted) / users**2
        shown, of_groups = np.split(variances, [len(run.queries)])
        found[estimator] = np.sqrt(shown), np.sqrt(groups.means(of_groups))
    return found


def _each(runs: Mapping[str, simulate.Trials], make: Callable[..., dict | None]) -> pd.DataFrame:
    """One table from ``make(run, mechanism, estimator)``: columns, or None for nothing."""
    parts = []
    for name, run in runs.items():
        for estimator in run.answers:
            columns = make(run, name, estimator)
            if columns is not None:
                parts.append(pd.DataFrame({"mechanism": name, "estimator": estimator, **columns}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _names(run: simulate.Trials, workload: Workload, labels: Sequence[str]) -> list[str]:
    return [workload.query_name(int(query), labels) for query in run.queries]


def _queries(runs, exact, workload: Workload, labels: Sequence[str]) -> pd.DataFrame:
    def columns(run: simulate.Trials, name: str, estimator: str) -> dict:
        truth = unweighted_answers(workload, run.counts, run.queries)
        observed, uncertain = frames.root_mean(((run.answers[estimator] - truth) / run.counts.sum()) ** 2)
        return {
            "query": run.queries,
            "label": _names(run, workload, labels),
            "observed": observed,
            "standard_error": uncertain,
            "predicted": exact[name].get(estimator, (np.nan, np.nan))[0],
        }

    return _each(runs, columns)


def _groups(runs, exact, groups: Groups) -> pd.DataFrame:
    def columns(run: simulate.Trials, name: str, estimator: str) -> dict:
        observed, uncertain = frames.root_mean(run.views["groups"][estimator])
        return {
            "group": np.arange(len(groups.names)),
            "label": groups.names,
            "queries": groups.sizes,
            "observed": observed,
            "standard_error": uncertain,
            "predicted": exact[name].get(estimator, (np.nan, np.nan))[1],
        }

    return _each(runs, columns)


def _releases(runs, workload: Workload, labels: Sequence[str]) -> pd.DataFrame:
    def columns(run: simulate.Trials, name: str, estimator: str) -> dict:
        users = float(run.counts.sum())
        kept = run.answers[estimator][:RELEASES] / users
        return {
            "release": np.repeat(np.arange(1, len(kept) + 1), len(run.queries)),
            "query": np.tile(run.queries, len(kept)),
            "label": _names(run, workload, labels) * len(kept),
            "true": np.tile(unweighted_answers(workload, run.counts, run.queries) / users, len(kept)),
            "released": kept.ravel(),
        }

    return _each(runs, columns)


def _intervals(
    runs, chosen, workload: Workload, labels: Sequence[str], seed: int, cancelled: Callable[[], bool]
) -> pd.DataFrame:
    """Intervals of the first collection, which is collected once more from its own random stream."""

    def columns(run: simulate.Trials, name: str, estimator: str) -> dict | None:
        biased = not estimation.spec(estimator).unbiased
        if biased and (estimator != "posterior" or cancelled()):  # sampling takes its time
            return None
        mechanism, users = chosen[name], int(run.counts.sum())
        stream = np.random.SeedSequence(seed).spawn(1)[0]
        reports = mechanism.simulate(run.counts, np.random.default_rng(stream))
        estimate = estimation.apply(estimator, reports, mechanism, workload)
        if isinstance(estimate, estimation.PosteriorEstimate):
            ends, methods = estimate.intervals(workload, LEVEL, run.queries), "credible"
        else:
            found = estimation.intervals(mechanism, workload, estimate, LEVEL, run.queries, users)
            ends, methods = found.ends, found.methods
        ends = ends / workload.query_weights(run.queries)[:, None]
        truth = unweighted_answers(workload, run.counts, run.queries)
        rounding = 1e-9 * users  # an answer known exactly has an interval without width
        return {
            "query": run.queries,
            "label": _names(run, workload, labels),
            "true": truth / users,
            "answer": run.answers[estimator][0] / users,
            "low": ends[:, 0] / users,
            "high": ends[:, 1] / users,
            "holds": (ends[:, 0] - rounding <= truth) & (truth <= ends[:, 1] + rounding),
            "method": methods,
        }

    return _each(runs, columns)


def _curves(runs, labels: Sequence[str], scale: Scale | None) -> pd.DataFrame:
    def columns(run: simulate.Trials, name: str, estimator: str) -> dict | None:
        if "curve" not in run.views:
            return None
        shares, points, named = run.views["curve"][estimator], _curve_points(scale), scale.labels or labels
        low, high = np.quantile(shares, _MIDDLE, axis=0)
        return {
            "type": points,
            "label": [named[point] for point in points],
            "true": scale.totals.answers(run.counts, points) / run.counts.sum(),
            "first": shares[0],
            "low": low,
            "high": high,
        }

    return _each(runs, columns)


def _quantiles(runs, labels: Sequence[str], scale: Scale | None) -> pd.DataFrame:
    def columns(run: simulate.Trials, name: str, estimator: str) -> dict | None:
        if "quantiles" not in run.views:
            return None
        places, named = run.views["quantiles"][estimator], scale.labels or labels
        totals = scale.totals.answers(run.counts)
        true = positions(totals, float(run.counts.sum()))
        distances = np.abs(scale.values[places] - scale.values[true])
        shares = np.abs(rank_errors(places, np.diff(totals, prepend=0.0)))
        return {
            "quantile": QUANTILES,
            "true_label": [named[place] for place in true],
            "first_label": [named[place] for place in places[0]],
            "value_error": distances.mean(axis=0),
            "value_error_se": _mean_error(distances),
            "quantile_error": shares.mean(axis=0),
            "quantile_error_se": _mean_error(shares),
        }

    return _each(runs, columns)


def _mean_error(values: np.ndarray) -> np.ndarray:
    """(k,) standard error of the mean of ``values`` (trials, k), NaN for one trial."""
    trials = len(values)
    return values.std(axis=0, ddof=1) / np.sqrt(trials) if trials > 1 else np.full(values.shape[1], np.nan)
