"""Simulate mechanisms x estimators and keep what the views need, in tidy frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, frames
from ldp_core import estimators as estimation
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.people import Counts, users_of
from ldp_core.run import Budget, Callback, Cancel, Progress
from ldp_core.studies import sampling, simulate
from ldp_core.studies.outcomes.quantiles import QUANTILES, Scale, rank_errors
from ldp_core.workloads import Custom, OnAttributes, Parity, Product, Ratios, Union, Workload
from ldp_core.workloads.shown import scaled_names, spread, unweighted_answers

LEVEL = 0.95
ROUNDING = 1e-12
"""Errors up to this share of all users are rounding alone: the answer is known exactly."""
_MIDDLE = (0.05, 0.95)  # where nine collections in ten lie
# of all curves together, where that leaves each enough
_CURVE_POINTS = 200
_LEAST_POINTS = 32

Columns = Mapping[str, np.ndarray | Sequence[str | float]]


@dataclass(frozen=True)
class Outcomes:
    """Views of simulated collections: tidy frames, all with the columns mechanism and estimator. Answers and errors are shares of
    all users, without the weights of the queries except in ``errors``.

    Attributes:
        errors: trials, observed, standard_error, predicted: of a typical query, the root of the mean over queries and trials, weighted as
            mechanisms are judged; total_observed, total_standard_error, total_predicted: squared errors summed over all queries, in
            squared users; and estimated_users, the people that answers add up to. Standard errors are what the number of trials
            leaves open. Predictions are exact expectations on this data, or of the distribution where every trial had new people: NaN for
            biased estimates, and where they would take matrices that are too large.
        queries: query, label, true, mean, deviation (of single trials), observed, standard_error, predicted of the queries shown.
        intervals: query, label, true, answer, low, high, holds (the truth), method of the first collection, at `LEVEL`; empty
            where no estimator has any. Methods are those of `estimators.METHODS`, or "credible".
        curves: attribute, type, label, true, first, low, high: along each scale the true cumulative shares, those of the first collection, and the
            bounds between which nine of ten collections lie; empty where types have no order.
        quantiles: attribute, quantile, true_label, first_label, value_error, value_error_se, quantile_error, quantile_error_se: mean
            distances to the true quantile, in the unit of the scale and as shares; empty where ``curves`` is.
        ratios: name, unit, true, answer, low, high, holds (those of the first collection, as of `estimators.ratio_answers`), observed, standard_error,
            predicted (by the delta method): of the shares and averages within groups, in their units; empty where none is asked for.
        trials: how many were run of each pair.
        people: whether all answers count people; otherwise some may be below 0 or above the number of users.
        skipped: (mechanism, estimator, why) of the pairs that do not go together.
    """

    errors: pd.DataFrame
    queries: pd.DataFrame
    intervals: pd.DataFrame
    curves: pd.DataFrame
    quantiles: pd.DataFrame
    ratios: pd.DataFrame
    trials: int
    people: bool = True
    skipped: tuple[tuple[str, str, str], ...] = ()

    @property
    def nbytes(self) -> int:
        """Memory the frames take."""
        views = (value for value in vars(self).values() if isinstance(value, pd.DataFrame))
        return int(sum(view.memory_usage().sum() for view in views))

    def __repr__(self) -> str:
        mechanisms, estimators = (self.errors[column].nunique() for column in ("mechanism", "estimator"))
        return f"<Outcomes: {self.trials:,} trials, {mechanisms} mechanisms, {estimators} estimators>"


def left_out(
    chosen: Mapping[str, Mechanism], workload: Workload, estimators: Sequence[str]
) -> tuple[tuple[str, str, str], ...]:
    """(mechanism, estimator, why) of the pairs that cannot be simulated."""
    return tuple(
        (name, estimator, reason)
        for name, mechanism in chosen.items()
        for estimator in estimators
        if (reason := estimation.spec(estimator).unsuitable(mechanism, workload))
    )


def seconds_a_trial(
    chosen: Mapping[str, Mechanism],
    workload: Workload,
    counts: Counts,
    estimators: Sequence[str],
) -> float:
    """Seconds that one trial of every pair that goes together takes here, found by running it once."""
    skipped = {pair[:2] for pair in left_out(chosen, workload, estimators)}
    started = time.perf_counter()
    for name, mechanism in chosen.items():
        if suitable := [estimator for estimator in estimators if (name, estimator) not in skipped]:
            simulate.collect(mechanism, workload, counts, 1, 0, suitable)
    return time.perf_counter() - started


def compare(
    chosen: Mapping[str, Mechanism],
    workload: Workload,
    counts: Counts,
    labels: Sequence[str],
    trials: int = 20,
    seed: int = 0,
    estimators: Sequence[str] = ("unbiased",),
    scales: Sequence[Scale] = (),
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    new_people: bool = False,
    prior: float | np.ndarray | None = None,
    ratios: Sequence[Ratios] = (),
) -> Outcomes:
    """Simulate every mechanism with every estimator that suits it, on the same users ``counts`` (n,).

    ``labels`` name the types; ``scales`` are the orders along which they have quantiles
    (see `scales_of`); ``ratios`` are the answers within groups (see `ldp_core.workloads.ratios_of`); ``prior`` is for the posterior mean.
    With ``new_people``, every trial has people of its own (see `simulate.collect`). ``callback`` (after each trial, with the mechanism's name as ``found``) and ``cancel`` as in `ldp_core.run`.
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
    runs = list[_Run]()
    budget = Budget(None, trials * len(pairs), cancel, callback)
    for name, suitable in pairs.items():
        if runs and budget.cancelled():
            break

        def follow(progress: Progress, name: str = name) -> None:
            budget.tell(found=name)

        views = _views(chosen[name], counts, scales)
        views |= {f"ratios {k}": _within_groups(own, counts, new_people) for k, own in enumerate(ratios)}
        collected = simulate.collect(
            chosen[name], workload, counts, trials, seed, suitable, follow, cancel, views, new_people, prior
        )
        runs.append(_Run(name, chosen[name], collected, workload, labels, tuple(scales), prior, seed))

    frame = partial(_frame, runs)
    return Outcomes(
        errors=frame(_Run.errors),
        queries=frame(_Run.of_queries),
        intervals=frame(lambda run, estimator: run.intervals(estimator, budget.cancelled)),
        curves=frame(*(partial(_Run.curves, k=k) for k in range(len(scales)))),
        quantiles=frame(*(partial(_Run.quantiles, k=k) for k in range(len(scales)))),
        ratios=frame(*(partial(_Run.ratios, k=k, asked=own) for k, own in enumerate(ratios))),
        trials=min(len(answers) for run in runs for answers in run.trials.answers.values()),
        people=counts_people(workload),
        skipped=skipped,
    )


def releases(
    mechanism: Mechanism, workload: Workload, counts: Counts, labels: Sequence[str], collections: int = 3
) -> pd.DataFrame:
    """mechanism, release (from 1), query, label, true, released: the unbiased answers of a few simulated ``collections``, as shares.
    ValueError where they cannot be simulated."""
    collected = simulate.collect(mechanism, workload, counts, collections)
    run = _Run(mechanism.name, mechanism, collected, workload, labels, ())
    return pd.DataFrame(
        {
            "mechanism": mechanism.name,
            "release": np.repeat(np.arange(1, collections + 1), len(run.truth)),
            "query": np.tile(collected.queries, collections),
            "label": run.names * collections,
            "true": np.tile(run.truth / run.users, collections),
            "released": collected.answers["unbiased"].ravel() / run.users,
        }
    )


def counts_people(workload: Workload) -> bool:
    """True if every query, without its weight, counts people: some of the types once, the others not at all."""
    if isinstance(workload, Union):
        return all(map(counts_people, workload.parts))
    if isinstance(workload, Product):
        return all(map(counts_people, workload.factors))
    if isinstance(workload, OnAttributes):
        return counts_people(workload.base)
    if workload.survey is not None:
        return all(map(counts_people, {group.base.digest: group.base for group in workload.survey.groups}.values()))
    if isinstance(workload, Custom):
        W = workload.matrix
        return bool(((W == 0) | (W == 1)).all())
    return not isinstance(workload, Parity)


def _frame(runs: Sequence[_Run], *views: Callable[[_Run, str], Columns | None]) -> pd.DataFrame:
    """The columns of ``views`` of every mechanism and estimator; empty where there are none."""
    frames = [
        pd.DataFrame({"mechanism": run.name, "estimator": estimator, **columns})
        for view in views
        for run in runs
        for estimator in run.trials.answers
        if (columns := view(run, estimator)) is not None
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _views(mechanism: Mechanism, counts: Counts, scales: Sequence[Scale]) -> dict[str, simulate.View]:
    users, views = float(users_of(counts)), dict[str, simulate.View]()
    for k, scale in enumerate(scales):
        if mechanism.supports(scale.totals) is None:
            views[f"quantiles {k}"] = simulate.View(scale.totals, None, partial(scale.positions, users=users))
            views[f"curve {k}"] = simulate.View(scale.totals, _points(scales, k), lambda answers: answers / users)
    return views


def _within_groups(asked: Ratios, counts: Counts, new_people: bool) -> simulate.View:
    """Of known sizes, where all trials have the same."""
    sizes = asked.parts(asked.linear.answers(counts))[1] if asked.known and not new_people else None
    return simulate.View(asked.linear, None, partial(asked.values, sizes=sizes))


def _points(scales: Sequence[Scale], k: int) -> np.ndarray:
    """The values at which the curve along one of the ``scales`` is kept."""
    return spread([len(scales[k].values)], max(_LEAST_POINTS, _CURVE_POINTS // len(scales)))[0]


@dataclass(frozen=True, eq=False)
class _Run:
    """The trials of one mechanism. Its methods make the columns of each view for one estimator (None: it has none)."""

    name: str
    mechanism: Mechanism
    trials: simulate.Trials
    workload: Workload
    labels: Sequence[str]
    scales: tuple[Scale, ...]
    prior: float | np.ndarray | None = None
    seed: int = 0

    @cached_property
    def users(self) -> float:
        return float(users_of(self.trials.counts))

    @cached_property
    def truth(self) -> np.ndarray:
        """(q,) true answers to the queries shown, in users."""
        return unweighted_answers(self.workload, self.trials.counts, self.trials.queries)

    @cached_property
    def names(self) -> list[str]:
        """They are of the queries shown."""
        return scaled_names(self.workload, self.trials.queries, self.labels)

    def exact(self, estimator: str) -> Mechanism | None:
        """The mechanism whose exact variances are those of the answers by ``estimator``; None where these are biased."""
        if estimator == "consistency":
            return self.mechanism.consistent
        return self.mechanism if estimation.spec(estimator).unbiased else None

    @cached_property
    def predicted(self) -> dict[str, np.ndarray]:
        """By estimator: exact variances, in squared shares, of the answers to the queries shown; NaN for biased estimates."""
        predicted, queries = {}, self.trials.queries
        for estimator in self.trials.answers:
            variances, source = np.full(len(queries), np.nan), self.exact(estimator)
            if source is not None:
                variances = frames.variances_of(source, self.workload, self.trials.counts, queries)
                if self.trials.new_people:
                    variances = variances + sampling.of_queries(self.workload, self.trials.counts, queries)
                variances = variances / self.users**2
            predicted[estimator] = variances
        return predicted

    @cached_property
    def first(self) -> tuple[Counts, Reports]:
        """The people and the reports of the first collection, which is collected once more from its own random stream."""
        stream = np.random.SeedSequence(self.seed).spawn(1)[0]
        return simulate.one_collection(self.mechanism, self.trials.counts, stream, self.trials.new_people)

    def estimated(self, estimator: str) -> Estimate:
        """The estimate of the first collection."""
        options: dict[str, Any] = {}
        if self.prior is not None and estimation.spec(estimator).credible:
            options["prior"] = self.prior
        return estimation.apply(estimator, self.first[1], self.mechanism, self.workload, **options)

    def errors(self, estimator: str) -> Columns:
        trials = self.trials.frame[self.trials.frame["estimator"] == estimator]
        total, p = trials["total_squared_error"].to_numpy(), self.workload.squared_weights
        (observed, uncertain), source, exact = root_mean(total / p / self.users**2), self.exact(estimator), np.nan
        if source is not None:
            with suppress(ValueError):  # matrices that are too large
                exact = max(0.0, analysis.variance_on_data(source, self.workload, self.trials.counts))
                exact += sampling.total(self.workload, self.trials.counts) if self.trials.new_people else 0.0
        return {
            "trials": [len(total)],
            "observed": [float(observed)],
            "standard_error": [float(uncertain)],
            "predicted": [np.sqrt(exact / p) / self.users],
            "total_observed": [total.mean()],
            "total_standard_error": [float(mean_error(total))],
            "total_predicted": [exact],
            "estimated_users": [trials["estimated_users"].mean()],
        }

    def of_queries(self, estimator: str) -> Columns:
        answers = self.trials.answers[estimator] / self.users
        true = self.truth / self.users
        observed, uncertain = root_mean((answers - true) ** 2)
        return {
            "query": self.trials.queries,
            "label": self.names,
            "true": true,
            "mean": answers.mean(axis=0),
            "deviation": mean_error(answers) * np.sqrt(len(answers)),
            "observed": observed,
            "standard_error": uncertain,
            "predicted": np.sqrt(self.predicted[estimator]),
        }

    def intervals(self, estimator: str, cancelled: Callable[[], bool]) -> Columns | None:
        """Intervals of the first collection: for the true answers of these people, or of the population that new people are drawn from;
        the posterior's are for those who took part."""
        spec = estimation.spec(estimator)
        if not spec.unbiased and (not spec.credible or cancelled()):  # sampling takes its time
            return None
        queries, users, estimate = self.trials.queries, self.users, self.estimated(estimator)
        new_people, truth = self.trials.new_people, self.truth
        if new_people and spec.credible and estimator != "posterior_distribution":
            truth = unweighted_answers(self.workload, self.first[0], queries)
        if isinstance(estimate, estimation.PosteriorEstimate):
            ends, none = estimate.intervals(self.workload, LEVEL, queries), np.full(len(queries), np.nan)
            intervals = estimation.Intervals(ends, np.full(len(queries), "credible"), none, none, ends)
        else:
            given = (self.mechanism, self.workload, estimate, LEVEL, queries, round(users))
            intervals = estimation.intervals(*given, drawn=new_people)
        low, high = intervals.ends.T / self.workload.query_weights(queries)
        rounding = 1e-9 * users  # an answer known exactly has an interval without width
        return {
            "query": queries,
            "label": self.names,
            "true": truth / users,
            "answer": self.trials.answers[estimator][0] / users,
            "low": low / users,
            "high": high / users,
            "holds": (low - rounding <= truth) & (truth <= high + rounding),
            "method": intervals.methods,
        }

    def ratios(self, estimator: str, k: int, asked: Ratios) -> Columns:
        """Intervals are those of unbiased estimates; no error is told where a collection estimates that a group has nobody."""
        found, counts = self.trials.views[f"ratios {k}"][estimator], self.trials.counts
        linear = asked.linear.answers(counts)
        true, source = asked.values(linear), self.exact(estimator)
        if asked.known and self.trials.new_people and not estimation.spec(estimator).unbiased:
            found = np.full_like(found, np.nan)  # sizes are not those of an estimate that keeps to what is asked alone
        squares, predicted = (found - true) ** 2, np.full(len(true), np.nan)
        if source is not None:
            errors, queries = asked.errors(linear), np.arange(len(true))
            predicted = source.query_variances(errors, counts, queries)
            if self.trials.new_people:
                predicted = predicted + sampling.of_queries(errors, counts, queries)
            predicted = np.sqrt(np.maximum(predicted, 0.0))
        observed, uncertain = (np.where(np.isnan(found).any(axis=0), np.nan, e) for e in root_mean(squares))
        low = high = np.full(len(true), np.nan)
        if estimation.spec(estimator).unbiased:
            given = (asked, self.mechanism, self.estimated(estimator), LEVEL)
            own = estimation.ratio_answers(*given, users=round(self.users), drawn=self.trials.new_people)
            low, high = own["low"].to_numpy(), own["high"].to_numpy()
        return {
            "name": asked.names,
            "unit": [asked.told.unit] * len(true),
            "true": true,
            "answer": found[0],
            "low": low,
            "high": high,
            "holds": (low - 1e-9 <= true) & (true <= high + 1e-9),
            "observed": observed,
            "standard_error": uncertain,
            "predicted": predicted,
        }

    def curves(self, estimator: str, k: int) -> Columns | None:
        if f"curve {k}" not in self.trials.views:
            return None
        scale, shares, points = self.scales[k], self.trials.views[f"curve {k}"][estimator], _points(self.scales, k)
        low, high = np.quantile(shares, _MIDDLE, axis=0)
        named = scale.labels or self.labels
        return {
            "attribute": [scale.of] * len(points),
            "type": points,
            "label": [named[point] for point in points.tolist()],
            "true": scale.totals.answers(self.trials.counts, points) / self.users,
            "first": shares[0],
            "low": low,
            "high": high,
        }

    def quantiles(self, estimator: str, k: int) -> Columns | None:
        if f"quantiles {k}" not in self.trials.views:
            return None
        scale, places = self.scales[k], self.trials.views[f"quantiles {k}"][estimator]
        named, totals = scale.labels or self.labels, scale.totals.answers(self.trials.counts)
        true = scale.positions(totals, self.users)
        distances = np.abs(scale.values[places] - scale.values[true])
        shares = np.abs(rank_errors(places, np.diff(totals, prepend=0.0)))
        return {
            "attribute": [scale.of] * len(QUANTILES),
            "quantile": QUANTILES,
            "true_label": [named[place] for place in true.tolist()],
            "first_label": [named[place] for place in places[0].tolist()],
            "value_error": distances.mean(axis=0),
            "value_error_se": mean_error(distances),
            "quantile_error": shares.mean(axis=0),
            "quantile_error_se": mean_error(shares),
        }


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
