"""Solving for the third of epsilon, users and error: exact inversions, and a search over epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from scipy.optimize import brentq

from ldp_core import analysis, bounds, library, wording
from ldp_core.mechanisms import Mechanism
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON, check_epsilon
from ldp_core.run import Budget, Callback, Cancel
from ldp_core.studies import sweep
from ldp_core.studies.sweep import Cache, MemoryCache, Outcome, SweepPoint
from ldp_core.workloads import Workload

COLUMNS = ["name", "solved", "epsilon", "users", "standard_error", "alpha", "case", "reason"]

EXACT, ROUGH = 1e-12, 0.004
"""How closely epsilon is solved for, as a share of it: closed forms, and figures that take a fit or a certificate each."""
FITS = 8
"""Tried at most for one epsilon."""
TIME_OVER = "The time was over before"


class _Stopped(Exception):
    """Somebody has cancelled, or the time of a row is over, before a figure was known."""


def plan(
    workload: Workload,
    names: Sequence[str],
    epsilon: float | None = None,
    users: float | None = None,
    alpha: float | None = None,
    standard_error: float | None = None,
    case: str = analysis.WORST_CASE.name,
    bound: str | None = None,
    floor: float | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    fitted: Mapping[str, Mechanism] | None = None,
    results: Cache | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    time_limit: float | None = None,
) -> pd.DataFrame:
    """From two of ``epsilon``, ``users`` and the error, the third: one row per mechanism, then one for the bound.

    The error is ``alpha``, a mean squared error of shares, or its root ``standard_error`` (0.01: one percentage point).
    Columns: name, solved (which of the three was asked for), epsilon, users (not rounded), standard_error, alpha, case,
    reason (why there is no answer, the column solved for being nan then, or why there may be a better one).

    * Users and error follow from one variance: exact for closed forms, otherwise from a fit as in a sweep
      (``fitted[name]`` is taken instead where it has this epsilon).
    * epsilon is the smallest found at which the mechanism meets the error, checked by evaluating it there: to 12 digits
      for closed forms, and to 0.4 % where every epsilon tried is a fit. Any larger epsilon does as well: what is
      private enough for the smaller one is private enough for the larger.
    * The bound's row (``bound``, one of `sweep.BOUNDS`, by default the certificate where it takes seconds) says how many
      users, what error or what epsilon no unbiased epsilon-LDP mechanism can go below. Mechanisms whose privacy is
      (epsilon, delta) may.

    ``floor`` is what ``bound`` comes to at the given ``epsilon`` where that is known already: a variance per user in this case
    that no unbiased epsilon-LDP mechanism goes below.

    ``results`` keeps every figure computed, as in a sweep; ``callback`` (after every row, closed forms first, with the
    rows so far as ``found``) and ``cancel`` (between and within fits) are as in `ldp_core.run`. ValueError unless exactly two
    are given, each in its range.

    ``time_limit`` seconds are shared by what takes fits or a search: each row has an equal part of what is left. A row whose time is over
    says so (`TIME_OVER`), with the best epsilon that was tried by then if one will do. Figures are kept whole or not at all, so
    another call with the same ``results`` goes on from there.

    The users needed for an error of one percentage point, and the number that no mechanism can go below:

    >>> workload, names = ldp.workloads.histogram(16), ["subset_selection", "oue"]
    >>> found = ldp.studies.planning.plan(workload, names, epsilon=1.0, standard_error=0.01)
    >>> found[["name", "users"]].round()
                   name    users
    0  subset_selection  31860.0
    1               oue  35111.0
    2       certificate  31860.0
    """
    question = _question(epsilon, users, alpha, standard_error, case)
    results = MemoryCache() if results is None else results
    parameters, fitted = parameters or {}, fitted or {}
    budget = Budget(time_limit, len(names) + 1, cancel, callback)
    curves = [
        _Curve(SweepPoint(name, workload, 1.0, parameters.get(name, {})), case, fitted.get(name), results, budget)
        for name in [*names, default_bound(workload) if bound is None else bound]
    ]
    if floor is not None and epsilon is not None:
        curves[-1].seen[question[1]] = floor
    order = sorted(range(len(curves)), key=lambda place: curves[place].point.effort)
    rows, found = dict[int, dict[str, Any]](), pd.DataFrame(columns=COLUMNS)
    for done, place in enumerate(order):
        left = budget.left()
        if left is not None and curves[place].point.effort:
            curves[place].until = budget.seconds + left / (len(order) - done)
        try:
            rows[place] = _solved(question, curves[place])
        except _Stopped:
            break
        found = pd.DataFrame([rows[one] for one in sorted(rows)], columns=COLUMNS)
        budget.tell(found=found)
    return found


def default_bound(workload: Workload) -> str:
    """The best bound of `sweep.BOUNDS` that takes seconds at most."""
    if not bounds.every_value_is_secret(workload):
        return "certificate"
    point = SweepPoint("certificate", workload, 1.0)
    return "certificate" if not point.effort or sweep.certified(workload) else "centred_svd"


def _question(
    epsilon: float | None, users: float | None, alpha: float | None, standard_error: float | None, case: str
) -> tuple[str, float, float, float]:
    """Which quantity is to be solved for, and epsilon, users and alpha, checked; nan marks that one."""
    if alpha is not None and standard_error is not None:
        raise ValueError("Give the error as alpha or as standard_error, its root, not both.")
    if standard_error is not None:
        if not 0 < standard_error <= 1:
            raise ValueError(f"The standard error must be a share above 0 and at most 1; got {standard_error}.")
        alpha = standard_error**2
    if alpha is not None and not 0 < alpha < math.inf:
        raise ValueError(f"The target error alpha must be a finite number above 0; got {alpha}.")
    if users is not None and not (math.isfinite(users) and users >= 1):
        raise ValueError(f"The number of users must be at least 1; got {users}.")
    if sum(value is None for value in (epsilon, users, alpha)) != 1:
        raise ValueError("Give two of epsilon, the number of users and the error: the third follows from them.")
    if case not in analysis.CASES:
        raise ValueError(f"Unknown case {case!r}; {wording.meant(case, analysis.CASES)}")
    solved = "epsilon" if epsilon is None else "users" if users is None else "standard_error"
    given = (None if epsilon is None else check_epsilon(epsilon), users, alpha)
    epsilon, users, alpha = (math.nan if value is None else float(value) for value in given)
    return solved, epsilon, users, alpha


@dataclass
class _Curve:
    """Variance per user of a mechanism or bound as a function of epsilon. ``seen`` holds all points
    evaluated so far."""

    point: SweepPoint
    case: str
    fitted: Mechanism | None
    results: Cache
    budget: Budget
    until: float = math.inf
    """When it may try nothing new any more, in seconds of the budget."""
    seen: dict[float, float] = field(default_factory=dict)

    def stopped(self) -> bool:
        return self.budget.cancelled() or self.budget.seconds >= self.until

    @property
    def bound(self) -> bool:
        return self.point.name in sweep.BOUNDS

    @property
    def limits(self) -> tuple[float, float]:
        return (MIN_EPSILON, MAX_EPSILON) if self.bound else library.spec(self.point.name).epsilon_range

    def __call__(self, epsilon: float) -> float:
        """ValueError, in words, where the mechanism has no figure."""
        if epsilon not in self.seen:
            point = replace(self.point, epsilon=epsilon)
            outcome = given(self.fitted, point) or sweep.computed(point, self.results, self.stopped)
            if outcome is None:
                raise _Stopped
            if outcome.reason:
                raise ValueError(outcome.reason)
            self.seen[epsilon] = getattr(outcome, self.case)
        return self.seen[epsilon]


def given(mechanism: Mechanism | None, point: SweepPoint) -> Outcome | None:
    """What ``mechanism`` comes to where it was built for as many types and the epsilon of ``point``, else None."""
    if mechanism is None or mechanism.n != point.workload.n or not math.isclose(mechanism.epsilon, point.epsilon):
        return None
    return sweep.outcome_of(mechanism, point.workload, "given")


def _solved(question: tuple[str, float, float, float], curve: _Curve) -> dict[str, Any]:
    p, reason = analysis.asked_of(curve.point.workload).told.squared_weights, ""
    solved, epsilon, users, alpha = question
    try:
        if solved == "epsilon":
            epsilon, reason = _epsilon_for(curve, p * users * alpha)
        elif solved == "users":
            users = curve(epsilon) / (p * alpha)
        else:
            alpha = curve(epsilon) / (p * users)
    except ValueError as problem:
        reason = str(problem)
    except _Stopped:
        if curve.budget.cancelled():
            raise
        reason = f"{TIME_OVER} its figures were known. Go on, or ask for fewer mechanisms."
    error = math.sqrt(max(alpha, 0.0))  # nan stays nan
    row = (curve.point.name, solved, epsilon, users, error, alpha, curve.case, reason)
    return dict(zip(COLUMNS, row, strict=True))


def _epsilon_for(curve: _Curve, goal: float) -> tuple[float, str]:
    """The smallest epsilon found with ``v <= goal``, and why there may be a smaller one if the time was over; for a bound the largest found
    with ``v > goal``, below which everything is excluded. ValueError where there is none."""
    reason, end = "", curve.limits[1]
    try:
        _search(curve, goal)
    except _Stopped:
        if curve.budget.cancelled():
            raise
        reason = f"{TIME_OVER} the search ended: a {'larger' if curve.bound else 'smaller'} epsilon may be found. Go on to look further."
    found = [epsilon for epsilon, variance in curve.seen.items() if (variance > goal) == curve.bound]
    if not found and reason:
        raise ValueError(f"{TIME_OVER} an epsilon was found. Go on, or ask for fewer mechanisms.")
    if curve.bound and not found:
        raise ValueError(f"No epsilon from {MIN_EPSILON:g} up is excluded.")
    if curve.bound and max(found) >= end:
        raise ValueError(f"No unbiased mechanism can, even at epsilon {end:g}. Take more users or allow more error.")
    if not found:
        raise ValueError(
            f"Even at epsilon {wording.significant(end)} it needs {wording.significant(curve(end) / goal)} times as many users. Take "
            "more users or allow more error."
        )
    return (max if curve.bound else min)(found), reason


def _search(curve: _Curve, goal: float) -> None:
    """Try epsilons from where the bound allows the goal until a step crosses it or an end of the range is reached, then between. Closed
    forms go in small steps: Hadamard response jumps upwards where its block size changes, and these find the lower of two crossings.
    Where each step is a fit, it goes a little beyond where 1/epsilon^2 would cross."""
    low, high = (math.log(limit) for limit in curve.limits)
    fits = bool(curve.point.effort)

    def excess(x: float) -> float:
        """log(v / goal) at log epsilon x, never infinite."""
        epsilon = min(
            max(math.exp(x), curve.limits[0]), curve.limits[1]
        )  # the logarithm of a limit may come back outside
        return math.log(max(curve(epsilon), 1e-300) / goal)

    x = before = min(max(math.log(_where_bound_allows(curve.point.workload, goal)), low), high)
    y = excess(x)
    upwards = y > 0
    end = high if upwards else low
    while (y > 0) == upwards:
        if x == end:
            return
        step = max(0.04, (0.55 if fits else 0.25) * abs(y))
        before, x = x, min(high, x + step) if upwards else max(low, x - step)
        x = end if fits and len(curve.seen) > FITS // 2 else x
        y = excess(x)
    width, left = (ROUGH, max(1, FITS - 1 - len(curve.seen))) if fits else (EXACT, 100)
    root = brentq(excess, min(before, x), max(before, x), xtol=width, rtol=EXACT, maxiter=left, disp=False)
    # A root is met to rounding only, and not at all at a jump: the answer must be an epsilon that was tried.
    excess(max(low, root - width) if curve.bound else min(high, root + width))


def _where_bound_allows(workload: Workload, goal: float) -> float:
    """The epsilon from which the centred SVD bound, a constant plus a multiple of 1/sinh(epsilon/2)^2, allows an
    average variance of ``goal`` per user: no pure mechanism meets it below. 1 where there are too many types for the
    bound."""
    workload = analysis.asked_of(workload).told
    constant = workload.n * workload.even_square
    try:
        multiple = (bounds.centred_svd(workload, 1.0) - constant) * math.sinh(0.5) ** 2
    except ValueError:
        return 1.0
    room = workload.n * goal - (constant - workload.trace)
    return max(MIN_EPSILON, 2 * math.asinh(math.sqrt(max(0.0, multiple / room))))
