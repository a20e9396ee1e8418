"""Simulate mechanisms x estimators and keep what the views need, in tidy frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, errors
from ldp_core import estimators as estimation
from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.people import Counts, users_of
from ldp_core.run import Budget, Callback, Cancel, Progress
from ldp_core.studies import simulate
from ldp_core.studies.outcomes.quantiles import QUANTILES, Scale, rank_errors
from ldp_core.workloads import Line, Questionnaire, Ratios, Workload
from ldp_core.workloads.answers import ratios_of
from ldp_core.workloads.shown import spread

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
    """Views of simulated collections: tidy frames, all with the columns mechanism and estimator. Answers and errors are in the units that were
    asked for.

    Attributes:
        answers: line, question, query, name, unit, target (a standard error), true, mean, deviation (of single trials), observed, standard_error,
            predicted of the answers shown; answer, low, high, holds (the truth) and method of the first collection, at `LEVEL`, NaN and "" where the
            estimator has no intervals. Standard errors are what the number of trials leaves open. Predictions are exact expectations on this
            data, or of the distribution where every trial had new people, to first order for ratios: NaN for biased estimates, and where
            they would take matrices that are too large.
        lines: line, question, unit, answers, observed, standard_error, predicted of each question: the root of the mean over its answers shown.
        errors: trials, observed, standard_error, predicted: the largest of `lines` in targets; and estimated_users, the people that answers add up to.
        curves: attribute, type, label, true, first, low, high: along each scale the true cumulative shares, those of the first collection, and the
            bounds between which nine of ten collections lie; empty where types have no order.
        quantiles: attribute, quantile, true_label, first_label, value_error, value_error_se, quantile_error, quantile_error_se: mean
            distances to the true quantile, in the unit of the scale and as shares; empty where ``curves`` is.
        trials: how many were run of each pair.
    """

    answers: pd.DataFrame
    lines: pd.DataFrame
    errors: pd.DataFrame
    curves: pd.DataFrame
    quantiles: pd.DataFrame
    trials: int

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
) -> Outcomes:
    """Simulate every mechanism with every estimator that suits it, on the same users ``counts`` (n,).

    ``labels`` name the types; ``scales`` are the orders along which they have quantiles (see `scales_of`); ``prior`` is for the posterior mean.
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

        views = _views(chosen[name], workload, counts, scales, new_people)
        collected = simulate.collect(
            chosen[name], workload, counts, trials, seed, suitable, follow, cancel, views, new_people, prior
        )
        runs.append(_Run(name, chosen[name], collected, workload, labels, tuple(scales), prior, seed, budget.cancelled))

    frame = partial(_frame, runs)
    lines = range(len(analysis.questionnaire_of(workload).lines))
    answers = frame(*(partial(_Run.of_line, k=k) for k in lines))
    by_line = frame(*(partial(_Run.whole_line, k=k, answers=answers) for k in lines))
    return Outcomes(
        answers=answers,
        lines=by_line,
        errors=frame(partial(_Run.errors, lines=by_line)),
        curves=frame(*(partial(_Run.curves, k=k) for k in range(len(scales)))),
        quantiles=frame(*(partial(_Run.quantiles, k=k) for k in range(len(scales)))),
        trials=min(len(found) for run in runs for found in run.trials.answers.values()),
    )


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


def _views(
    mechanism: Mechanism, workload: Workload, counts: Counts, scales: Sequence[Scale], new_people: bool
) -> dict[str, simulate.View]:
    """The answers to each question, and places along the scales."""
    users, views = float(users_of(counts)), dict[str, simulate.View]()
    for k, line in enumerate(analysis.questionnaire_of(workload).lines):
        if line.group_question is None:
            many = users if line.unit.total else 1.0
            in_unit = lambda answers, unit=line.unit, many=many: many * (unit.middle + unit.factor * answers / users)  # noqa: E731
            views[f"line {k} 0"] = simulate.View(line.workload, _evenly(line), in_unit)
            continue
        for j, ratios in enumerate(_ratios(line, workload)):
            sizes = ratios.parts(ratios.linear.answers(counts))[1] if ratios.known and not new_people else None
            views[f"line {k} {j}"] = simulate.View(ratios.linear, None, partial(ratios.values, sizes=sizes))
    for k, scale in enumerate(scales):
        if mechanism.supports(scale.totals) is None:
            views[f"quantiles {k}"] = simulate.View(scale.totals, None, partial(scale.positions, users=users))
            views[f"curve {k}"] = simulate.View(scale.totals, _points(scales, k), lambda answers: answers / users)
    return views


def _evenly(line: Line) -> np.ndarray:
    """The queries shown of a question about everybody."""
    return spread([line.workload.num_queries], MOST_SHOWN_QUERIES)[0]


def _ratios(line: Line, workload: Workload) -> list[Ratios]:
    """The answers within groups that are shown."""
    assert line.group_question is not None
    return ratios_of(line.group_question, workload.survey is not None, MOST_SHOWN_QUERIES)


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
    cancelled: Callable[[], bool] = lambda: False

    @cached_property
    def users(self) -> float:
        return float(users_of(self.trials.counts))

    @cached_property
    def questionnaire(self) -> Questionnaire:
        return analysis.questionnaire_of(self.workload)

    @cached_property
    def ratios(self) -> dict[int, list[Ratios]]:
        """By line, the answers within groups that are shown."""
        lines = enumerate(self.questionnaire.lines)
        return {k: _ratios(line, self.workload) for k, line in lines if line.group_question is not None}

    def exact(self, estimator: str) -> Mechanism | None:
        """The mechanism whose exact variances are those of the answers by ``estimator``; None where these are biased."""
        if estimator == "consistency":
            return self.mechanism.consistent
        return self.mechanism if estimation.spec(estimator).unbiased else None

    def found(self, estimator: str, k: int) -> np.ndarray:
        """(trials, q) the answers shown to a question."""
        views = [name for name in self.trials.views if name.startswith(f"line {k} ")]
        return np.concatenate([self.trials.views[name][estimator] for name in views], axis=1)

    @cached_property
    def _shown(self) -> list[tuple[np.ndarray, list[str], np.ndarray]]:
        """The queries shown of each question, their names, and the true answers."""
        shown, counts = [], self.trials.counts
        for k, line in enumerate(self.questionnaire.lines):
            if line.group_question is None:
                queries, many = _evenly(line), self.users if line.unit.total else 1.0
                names, true = (
                    [line.workload.query_name(int(q), self.labels or None) for q in queries],
                    many * line.values(counts, queries),
                )
            else:
                queries = np.concatenate([ratios.queries_of for ratios in self.ratios[k]])
                names = [name for ratios in self.ratios[k] for name in ratios.names]
                true = np.concatenate([ratios.values(ratios.linear.answers(counts)) for ratios in self.ratios[k]])
            shown.append((queries, names, true))
        return shown

    def predicted(self, estimator: str, k: int) -> np.ndarray:
        """(q,) exact errors of the answers shown to a question; NaN for biased estimates, and where they take too long."""
        queries, _, true = self._shown[k]
        source, line, counts = self.exact(estimator), self.questionnaire.lines[k], self.trials.counts
        if source is None:
            return np.full(len(true), np.nan)
        if line.group_question is None:
            many = line.unit.factor / self.users * (self.users if line.unit.total else 1.0)
            queried = [(line.workload, queries, many / line.workload.query_weights(queries))]
        else:
            of_ratios = [ratios.errors(ratios.linear.answers(counts)) for ratios in self.ratios[k]]
            queried = [(workload, np.arange(workload.num_queries), np.ones(1)) for workload in of_ratios]
        found = []
        for workload, indices, scale in queried:
            weights = workload.query_weights(indices)
            variances = errors.variances_of(source, workload, counts, indices) * weights**2
            if self.trials.new_people:
                variances = variances + errors.of_queries(workload, counts, indices) * weights**2
            found.append(scale * np.sqrt(np.maximum(variances, 0.0)))
        if line.group_sizes is None:
            return np.concatenate(found)
        relative = analysis.size_variances(source, line, counts, None, queries) / self.users
        return np.concatenate(found) * np.sqrt(1 + 3 * relative)  # the second order, as in `analysis.answers`

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

    def of_line(self, estimator: str, k: int) -> Columns:
        """The answers shown to a question; errors are NaN where a collection estimates that a group is empty."""
        line, found, (queries, names, true) = self.questionnaire.lines[k], self.found(estimator, k), self._shown[k]
        known = line.group_question is not None and line.group_question.known
        if known and self.trials.new_people and not estimation.spec(estimator).unbiased:
            found = np.full_like(found, np.nan)  # sizes are not those of an estimate that keeps to what is asked alone
        observed, uncertain = (np.where(np.isnan(found).any(axis=0), np.nan, e) for e in root_mean((found - true) ** 2))
        many = self.users if line.unit.total else 1.0
        return {
            "line": [k] * len(true),
            "question": [line.title] * len(true),
            "query": queries,
            "name": names,
            "group": line.groups_of(queries),
            "unit": [line.key] * len(true),
            "target": [line.standard_error * many] * len(true),
            "true": true,
            "mean": found.mean(axis=0),
            "deviation": mean_error(found) * np.sqrt(len(found)),
            "observed": observed,
            "standard_error": uncertain,
            "predicted": self.predicted(estimator, k),
            "answer": found[0],
            **self.intervals(estimator, k),
        }

    def whole_line(self, estimator: str, k: int, answers: pd.DataFrame) -> Columns:
        """The root of the mean square of the errors of a question. Answers of one trial go together: only trials show how uncertain it is."""
        line, squares = self.questionnaire.lines[k], (self.found(estimator, k) - self._shown[k][2]) ** 2
        shown = answers[answers[["mechanism", "estimator", "line"]].eq([self.name, estimator, k]).all(axis=1)]
        known = shown["observed"].notna().to_numpy()
        observed, uncertain = root_mean(squares[:, known].mean(axis=1)) if known.any() else (math.nan, math.nan)
        return {
            "line": [k],
            "question": [line.title],
            "unit": [line.key],
            "scale": [line.standard_error * (self.users if line.unit.total else 1.0)],
            "answers": [len(known)],
            "observed": [float(observed)],
            "standard_error": [float(uncertain)],
            "predicted": [math.sqrt((shown["predicted"] ** 2).mean(skipna=False))],
        }

    def intervals(self, estimator: str, k: int) -> Columns:
        """Intervals of the first collection: for the true answers of these people, or of the population that new people are drawn from;
        the posterior's are for those who took part."""
        line, spec, (queries, _, true) = self.questionnaire.lines[k], estimation.spec(estimator), self._shown[k]
        low = high = np.full(len(true), np.nan)
        method = np.full(len(true), "", dtype=object)
        credible = spec.credible and line.group_question is None and not self.cancelled()  # sampling takes its time
        if credible:
            estimate, unit = self.estimated(estimator), line.unit
            assert isinstance(estimate, estimation.PosteriorEstimate)
            many = self.users if unit.total else 1.0
            ends = (
                estimate.intervals(line.workload, LEVEL, queries).T / line.workload.query_weights(queries) / self.users
            )
            low, high = many * (unit.middle + unit.factor * ends)
            method[:] = "credible"
            if self.trials.new_people and estimator != "posterior_distribution":
                true = many * line.values(self.first[0], queries)
        elif spec.unbiased:
            estimate = self.estimated(estimator)
            given = estimation.Estimated(
                self.mechanism, estimate, estimate, round(self.users), LEVEL, drawn=self.trials.new_people
            )
            survey = self.workload.survey is not None
            answers = estimation.line_answers(line, survey, given, MOST_SHOWN_QUERIES)
            low, high, method = (answers[column].to_numpy() for column in ("low", "high", "method"))
        # An answer known exactly has an interval without width.
        rounding = 1e-9 * max(1.0, float(np.nanmax(np.abs(true), initial=0.0)))
        holds = (low - rounding <= true) & (true <= high + rounding)
        return {"low": low, "high": high, "holds": holds, "method": method}

    def errors(self, estimator: str, lines: pd.DataFrame) -> Columns:
        of_pair = lines[(lines["mechanism"] == self.name) & (lines["estimator"] == estimator)]
        in_targets = of_pair[["observed", "standard_error", "predicted"]].div(of_pair["scale"], axis=0)
        trials = self.trials.frame[self.trials.frame["estimator"] == estimator]
        worst = in_targets["observed"].idxmax() if in_targets["observed"].notna().any() else of_pair.index[0]
        return {
            "trials": [len(trials)],
            "observed": [in_targets.loc[worst, "observed"]],
            "standard_error": [in_targets.loc[worst, "standard_error"]],
            "predicted": [in_targets.loc[worst, "predicted"]],
            "estimated_users": [trials["estimated_users"].mean()],
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
