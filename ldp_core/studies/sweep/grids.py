"""Grids of points over epsilon and over the number of types, and the tidy frames they fill."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from ldp_core import analysis, library, workloads
from ldp_core.arguments import check_choice
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Callback, Cancel
from ldp_core.studies.sweep.points import BOUNDS, Cache, Outcome, SweepPoint, refusal
from ldp_core.studies.sweep.pools import SCHEDULER_VARIABLE, compute
from ldp_core.workloads import Workload

EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)

TIME_OVER = "The time was over before it was worked out."

COLUMNS = [
    "name",
    "n",
    "epsilon",
    "users_needed",
    "users_average",
    "worst_case_variance",
    "average_variance",
    "stopped",
    "rounds",
]


class LeftOut(NamedTuple):
    """A place of a grid that has no figures, and why."""

    name: str
    n: int
    epsilon: float
    reason: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results so far, in the same order whatever order they came in.

    ``points``: one row per mechanism or bound, n and epsilon, with the users needed in the worst case and on average
    over types, the variances per user they come from, and how a fit ended (see `Outcome`). ``left_out``: the points
    that cannot be computed, each with its reason in words. Points that were cancelled are in neither.
    """

    points: pd.DataFrame
    left_out: pd.DataFrame

    def __repr__(self) -> str:
        return f"<Sweep: {len(self.points):,} points, {len(self.left_out):,} left out>"


def epsilons(
    names: Sequence[str],
    workload: Workload,
    epsilons: Sequence[float] = EPSILONS,
    alpha: float = analysis.DEFAULT_ALPHA,
    bounds: Sequence[str] = BOUNDS,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    **how: Any,
) -> Sweep:
    """The paper's Figure 1: the mechanisms ``names`` and the ``bounds`` at every epsilon; ``how`` as in `run`."""
    return run(_points(names, bounds, [workload], epsilons, parameters), alpha, **how)


def sizes(
    names: Sequence[str],
    workload: Workload,
    epsilon: float,
    sizes: Sequence[int] = SIZES,
    alpha: float = analysis.DEFAULT_ALPHA,
    bounds: Sequence[str] = BOUNDS,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    **how: Any,
) -> Sweep:
    """The paper's Figure 2: the family of ``workload`` on every number of types of ``sizes``; ``how`` as in `run`.

    ValueError for workloads that belong to no family (see `resized`); sizes that the family does not have are left out.
    """
    points, missing = _sized(names, workload, epsilon, sizes, bounds, parameters)
    found = run(points, alpha, **how)
    left_out = [*missing, *found.left_out.itertuples(index=False)]
    return Sweep(found.points, pd.DataFrame(left_out, columns=LeftOut._fields))


def without_figures(
    names: Sequence[str],
    workload: Workload,
    epsilon: float,
    sizes: Sequence[int] = SIZES,
    bounds: Sequence[str] = BOUNDS,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """What `sizes` would leave out (name, n, epsilon, reason), as far as that is known before anything is computed. ValueError as
    there."""
    points, missing = _sized(names, workload, epsilon, sizes, bounds, parameters)
    refused = [(point, Outcome(reason=reason)) for point in points if (reason := refusal(point))]
    known = _frames(refused, analysis.DEFAULT_ALPHA).left_out.itertuples(index=False)
    return pd.DataFrame([*missing, *known], columns=LeftOut._fields)


def _sized(
    names: Sequence[str],
    workload: Workload,
    epsilon: float,
    sizes: Sequence[int],
    bounds: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None,
) -> tuple[list[SweepPoint], list[LeftOut]]:
    """The points of the family of ``workload``, and those of sizes that it does not have. ValueError where it is no family."""
    family, missing = list[Workload](), list[LeftOut]()
    for n in sizes:
        try:
            family.append(resized(workload, n))
        except ValueError as error:
            missing += [LeftOut(name, n, check_epsilon(epsilon), str(error)) for name in [*bounds, *names]]
    if missing and not family:
        raise ValueError(missing[0].reason)
    return _points(names, bounds, family, [epsilon], parameters), missing


def run(
    points: Sequence[SweepPoint],
    alpha: float = analysis.DEFAULT_ALPHA,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    results: Cache | None = None,
    scheduler: str | None = None,
    time_limit: float | None = None,
) -> Sweep:
    """Computes ``points``: what ``results`` knows at once, then closed forms, certificates and fits, small n first.

    ``callback`` (after every point, in the calling thread, with the sweep so far as ``found``) and ``cancel`` as in
    `ldp_core.run`: a cancelled sweep stops, also within a fit, and returns what it has. ``results`` is asked before every
    point and told after it, by `SweepPoint.key`: another ``alpha`` costs nothing. With the address of a Dask ``scheduler``, or with
    one in the environment variable LDP_DASK_SCHEDULER, its workers compute. ValueError when they cannot. The numbers are the same
    (on processors of one kind). After ``time_limit`` seconds nothing more is begun and what is in progress is given up: these
    points are left out, for `TIME_OVER`, and another call with the same ``results`` computes them.
    """
    ordered = dict(enumerate(sorted(points, key=lambda point: (point.effort, point.workload.n))))
    outcomes = dict[int, Outcome]()
    budget = Budget(time_limit, len(points), cancel, callback)

    def so_far() -> Sweep:
        return _frames([(ordered[index], outcomes[index]) for index in sorted(outcomes)], alpha)

    def record(index: int, outcome: Outcome) -> None:
        outcomes[index] = outcome
        if results is not None:
            results.put(ordered[index].key, outcome)
        if callback:
            budget.tell(len(outcomes), found=so_far())

    if results is not None:
        known = {index: results.get(point.key) for index, point in ordered.items()}
        outcomes |= {index: outcome for index, outcome in known.items() if outcome is not None}
    if callback and outcomes:
        budget.tell(len(outcomes), found=so_far())
    if todo := {index: point for index, point in ordered.items() if index not in outcomes}:
        where = scheduler or os.environ.get(SCHEDULER_VARIABLE)
        compute(todo, record, where, lambda: budget.cancelled() or budget.left() == 0)
    if not budget.cancelled():
        outcomes = {index: outcomes.get(index, Outcome(reason=TIME_OVER)) for index in ordered}
    return so_far()


def _points(
    names: Sequence[str],
    bounds: Sequence[str],
    grid: Sequence[Workload],
    epsilons: Sequence[float],
    parameters: Mapping[str, Mapping[str, Any]] | None,
) -> list[SweepPoint]:
    """Points name by name. ValueError for unknown names and epsilons out of range."""
    for name in names:
        library.spec(name)
    for name in bounds:
        check_choice("bound", name, BOUNDS)
    epsilons = [check_epsilon(epsilon) for epsilon in epsilons]
    return [
        SweepPoint(name, workload, epsilon, (parameters or {}).get(name, {}))
        for name in [*bounds, *names]
        for workload in grid
        for epsilon in epsilons
    ]


def _frames(found: Sequence[tuple[SweepPoint, Outcome]], alpha: float) -> Sweep:
    rows, left_out = list[tuple[str | float, ...]](), list[LeftOut]()
    for point, outcome in found:
        place = (point.name, point.workload.n, point.epsilon)
        if outcome.reason:
            left_out.append(LeftOut(*place, outcome.reason))
            continue
        variances, p = (
            (outcome.worst_case, outcome.average),
            analysis.questionnaire_of(point.workload).workload.squared_weights,
        )
        users = [analysis.users_for(variance, p, alpha) for variance in variances]
        rows.append((*place, *users, *variances, outcome.stopped, outcome.rounds))
    return Sweep(pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(left_out, columns=LeftOut._fields))


def resized(workload: Workload, n: int) -> Workload:
    """The workload of the same family on ``n`` types: of the same kind, width and number of attributes in a group.

    Parities of all weights go on asking for all weights. Unions are resized part by part. ValueError for custom
    matrices and products, and for attributes with more than two values, which a number of types does not describe.
    """
    if isinstance(workload, workloads.Union):
        return workloads.union([resized(part, n) for part in workload.parts], workload.spec["weights"])
    kind, spec = workload.kind, workload.spec
    if kind not in workloads.ON_TYPES or any(size != 2 for size in spec.get("shape", ())):
        raise ValueError(
            "Questions about attributes, conditions and uploaded queries exist for their own types only and cannot be compared "
            "over the number of types. Choose a workload of the papers, on the list of types: "
            + ", ".join(family.title for family in workloads.ON_TYPES.values())
            + "."
        )
    if isinstance(workload, workloads.Parity) and workload.max_weight == workload.d:
        return workloads.on_types(kind, n)
    return workloads.on_types(kind, n, **{key: spec[key] for key in ("width", "k", "max_weight") if key in spec})
