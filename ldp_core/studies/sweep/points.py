"""One point of a sweep: the variances per user of a mechanism or a bound, for one workload and epsilon."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ldp_core import analysis, bounds, library, wording
from ldp_core.bounds.general import dual
from ldp_core.mechanisms import Mechanism
from ldp_core.run import Cancel, cancellation
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

BOUNDS = ("svd", "centred_svd", "certificate")
"""Lower bounds that can stand in place of a mechanism's name."""

CERTIFIED_TYPES = 256
CERTIFIED_BY_BLOCKS = 1024
"""Certificates of workloads without symmetry take half a minute past this many types. They take
half a second up to this many if types are much alike."""
LIGHT_TYPES = 256
"""Closed forms on more types than this go to another process."""


@dataclass(frozen=True)
class Outcome:
    """The result at one point. Variances are per user, in squared users and summed over the queries; of several questions, that at which each
    meets its target (see `analysis.needed_variance`). For a bound they are what no unbiased epsilon-LDP mechanism can go below. nan
    where ``reason`` says why there are none."""

    worst_case: float = math.nan
    average: float = math.nan
    stopped: str = ""
    """How the number was found: "closed form", or by a fit that "converged" or was cut off after its "rounds"."""
    rounds: int = 0
    reason: str = ""

    def __repr__(self) -> str:
        figures = f"variance {self.worst_case:.6g} in the worst case, {self.average:.6g} on average, {self.stopped}"
        return f"<Outcome: {wording.shortened(self.reason, 80) if self.reason else figures}>"


class Cache(Protocol):
    """Outcomes by the key of their point. Must be safe to use from several threads."""

    def get(self, key: str, /) -> Outcome | None: ...
    def put(self, key: str, value: Outcome, /) -> None: ...


@dataclass(frozen=True)
class SweepPoint:
    """The mechanism or bound ``name`` for ``workload`` at ``epsilon``, ``parameters`` as for `library.create`.

    A ``time_limit`` is left out: results must not depend on a machine's speed.
    """

    name: str
    workload: Workload
    epsilon: float
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<SweepPoint: {self.name}, epsilon {self.epsilon:g}, {self.workload!r}>"

    @property
    def fitted(self) -> bool:
        return self.name not in BOUNDS and library.spec(self.name).fitted

    @property
    def effort(self) -> int:
        """Rough rank of the cost: 0 a closed form, 1 a certificate, 2 a fit."""
        by_search = self.name == "certificate" and self.workload.symmetry != "exchangeable"
        return 2 if self.fitted else int(by_search)

    @property
    def heavy(self) -> bool:
        """True if it deserves a process of its own."""
        return self.effort > 0 or self.workload.working_types > LIGHT_TYPES

    @property
    def options(self) -> dict[str, Any]:
        """The parameters with a definite number of rounds of a fit (None if a sweep does not fit
        this many types)."""
        options = {key: value for key, value in self.parameters.items() if key != "time_limit"}
        if self.fitted and options.get("max_rounds") is None:
            spec = library.spec(self.name)
            survey = self.workload.survey is not None  # at any size more would gain less than a per cent
            options["max_rounds"] = (
                min(spec.sweep_rounds.values()) if survey else spec.rounds_in_sweeps(self.workload.n)
            )
        return options

    @property
    def key(self) -> str:
        """SHA-256 of everything the outcome depends on."""
        about = [self.name, repr(float(self.epsilon)), self.options, self.workload.digest]
        listed = lambda value: value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)  # noqa: E731
        return "point:" + hashlib.sha256(json.dumps(about, sort_keys=True, default=listed).encode()).hexdigest()


def evaluate(point: SweepPoint, cancel: Cancel | None = None) -> Outcome | None:
    """The outcome of ``point``, None when cancelled by its end. ``cancel`` also reaches into a fit in progress."""
    if reason := refusal(point):
        return Outcome(reason=reason)
    cancelled = cancellation(cancel)
    with blas_threads(1):
        try:
            outcome = _bound(point, cancelled) if point.name in BOUNDS else _mechanism(point, cancelled)
        except ValueError as error:  # the core's sentence for people
            outcome = Outcome(reason=str(error))
    return None if cancelled() else outcome


def refusal(point: SweepPoint) -> str:
    """Why ``point`` has no figures, where that is known without computing anything; else empty."""
    workload, n = point.workload, wording.magnitude(point.workload.n)
    if point.name in BOUNDS:
        if point.name == "certificate" and point.effort and not certified(workload):
            return f"A certificate for {n} types takes too long for a sweep; the centred SVD bound holds."
        return ""
    if reason := library.spec(point.name).unsuitable(workload.n, point.epsilon, workload):
        return reason
    if point.fitted and point.options["max_rounds"] is None:
        return f"Fitting it to {n} types takes too long for a sweep. Give a number of rounds, or fit it on its own."
    return ""


def certified(workload: Workload) -> bool:
    """True if a certificate for a workload without symmetry takes seconds at most."""
    if workload.n <= CERTIFIED_TYPES:
        return True
    if workload.survey is not None:
        return workload.survey.symmetric
    return workload.n <= CERTIFIED_BY_BLOCKS and dual.suffice(workload)


def _mechanism(point: SweepPoint, cancelled: Callable[[], bool]) -> Outcome:
    workload, options = point.workload, point.options
    if not point.fitted:
        mechanism = library.create(point.name, workload.n, point.epsilon, workload, **options)
        return outcome_of(mechanism, workload, "closed form")
    mechanism = library.create(
        point.name, workload.n, point.epsilon, workload, **options, time_limit=None, cancel=cancelled
    )
    rounds = mechanism.parameters.get("rounds", 0)  # none where the optimum is known in closed form
    return outcome_of(mechanism, workload, "rounds" if rounds >= options["max_rounds"] else "converged", rounds)


def outcome_of(mechanism: Mechanism, workload: Workload, stopped: str, rounds: int = 0) -> Outcome:
    """The result of a built mechanism on ``workload``."""
    worst = analysis.needed_variance(mechanism, workload, case=analysis.WORST_CASE)
    if workload.survey is None:
        average = analysis.needed_variance(mechanism, workload, case=analysis.average_case(workload.n))
    elif workload.questionnaire is None:
        average = analysis.average_variance(mechanism, workload)
    else:
        average = analysis.needed_variance(mechanism, workload)
    return Outcome(worst, average, stopped, rounds)


def _bound(point: SweepPoint, cancelled: Callable[[], bool]) -> Outcome:
    """A bound on L bounds the average over types, and with it the worst type. The centred SVD bound
    for the worst type uses the least favourable population if the search takes seconds."""
    workload, epsilon, stopped = analysis.questionnaire_of(point.workload).workload, point.epsilon, "closed form"
    if point.name == "svd":
        value = bounds.svd(workload, epsilon)
    elif point.name == "centred_svd":
        value = bounds.centred_svd(workload, epsilon)
    else:
        value = bounds.certificate(workload, epsilon, time_limit=None, cancel=cancelled).value
        stopped = "converged" if point.effort else stopped
    average = worst_case = max(0.0, (value - workload.trace) / workload.n)
    if point.name != "svd" and bounds.every_value_is_secret(workload):
        worst_case = max(average, bounds.worst_case_variance(workload, epsilon, cancel=cancelled))
    return Outcome(worst_case, average, stopped)
