"""Long work: what it may take (`Budget`), what those who follow it see (`Progress`), and the loop of the optimisers (`drive`).

Everything that takes long has two parameters: ``callback``, a function of a `Progress`, and ``cancel``, an event or a function
without arguments that says whether to stop. Only rounds bear on a result: time and cancelling end the work with the best so far,
also inside a round: what takes long there calls `Budget.check` every fraction of a second.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, Protocol

import numpy as np

# A search has converged when a window of rounds together gains less than this share of the objective.
SETTLED = 1e-6
# Work in progress when the time is over may take this share of the limit more, or at least this
# many seconds.
GRACE = 0.05
LEAST_GRACE = 1.0

Stopped = Literal["converged", "rounds", "time", "cancelled"]


class Event(Protocol):
    """An event, such as `threading.Event`."""

    def is_set(self) -> bool: ...


Cancel = Event | Callable[[], bool]
Check = Callable[[], None]
"""A function to call between steps that take a fraction of a second: it raises `Interrupted` if the
work should stop."""


class Interrupted(Exception):
    """The time is over or somebody cancelled, inside a round: what it was to bring is given up."""


def unchecked() -> None:
    """The `Check` of work that no one limits."""


def cancellation(cancel: Cancel | None) -> Callable[[], bool]:
    """True if somebody has cancelled, as a function."""
    if cancel is None:
        return lambda: False
    return cancel if callable(cancel) else cancel.is_set


@dataclass(frozen=True, eq=False)
class Progress:
    """The argument of a callback: rounds done and allowed (None: no limit), ``seconds`` since the
    start, and the results so far.

    A round is one of an optimiser, a stage of a certificate, a point of a sweep, a row of a plan or a trial of a simulation.
    """

    round: int
    seconds: float
    max_rounds: int | None = None
    objective: float | None = None
    """The least objective L so far."""
    error: float | None = None
    """The least error so far of a matrix mechanism's strategy, for one unit of noise variance."""
    bound: float | None = None
    """The best proven lower bound so far, on the scale of what is made small (0: none)."""
    found: Any = field(default=None, repr=False)
    """Results so far: the `Sweep`, the rows of a plan, the name of the mechanism that is simulated."""
    best: Any = field(default=None, repr=False)
    history: Sequence[tuple[float, float]] = field(default=(), repr=False)
    """(seconds, objective or bound) of a fit or a proof so far, where `ldp_core.designs` runs it. Copy it inside the callback."""

    @property
    def strategy(self) -> np.ndarray | None:
        """A copy of the best strategy (m, n) so far, None where it is not written out. Read it
        inside the callback."""
        transposed = getattr(self.best, "transposed", None)
        return None if transposed is None else transposed.T.copy()


Callback = Callable[[Progress], None]


def generator(seed: int) -> np.random.Generator:
    """What ``seed`` makes repeatable. ValueError for anything but a whole number that is not negative."""
    return np.random.default_rng(check_seed(seed))


def check_seed(seed: int) -> int:
    """``seed`` where it is a whole number and not negative, else a ValueError."""
    if not (_is_number(seed) and isinstance(seed, Integral) and seed >= 0):
        raise ValueError(f"seed must be a non-negative whole number, but is {seed!r}.")
    return int(seed)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


class Budget:
    """The limits of a piece of work; its clock starts here. ``rounds`` have been done and told to
    ``callback``.

    ``time_limit`` in seconds, None for no limit, as ``max_rounds``; the first ``least_rounds`` are done in any case. ValueError for
    numbers out of range.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        max_rounds: int | None = None,
        cancel: Cancel | None = None,
        callback: Callback | None = None,
        least_rounds: int = 0,
    ):
        if time_limit is not None and not (isinstance(time_limit, Real) and time_limit >= 0):
            raise ValueError(
                f"time_limit must be a number of seconds from 0 up, but is {time_limit!r}: None means no limit."
            )
        if max_rounds is not None:
            whole = _is_number(max_rounds) and float(max_rounds).is_integer()
            if not whole or max_rounds < least_rounds:
                raise ValueError(
                    f"max_rounds must be a whole number of at least {least_rounds}, but is {max_rounds!r}: leave it out for "
                    "the default."
                )
        self.rounds, self.max_rounds = 0, None if max_rounds is None else int(max_rounds)
        self.cancelled = cancellation(cancel)
        self._time_limit, self._callback, self._least = time_limit, callback, least_rounds
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._started

    def left(self) -> float | None:
        """Seconds left, None where there is no limit."""
        return None if self._time_limit is None else max(0.0, self._time_limit - self.seconds)

    def stopped(self) -> Stopped | None:
        """Why there should be no further round, None where there should."""
        if self.rounds < self._least:
            return None
        if self.cancelled():
            return "cancelled"
        if self.left() == 0:
            return "time"
        return "rounds" if self.max_rounds is not None and self.rounds >= self.max_rounds else None

    def check(self) -> None:
        """Raise `Interrupted` where somebody has cancelled, or what is in progress has taken too much time on top of the limit."""
        if self.cancelled():
            raise Interrupted
        limit = self._time_limit
        if limit is not None and self.seconds > limit + max(LEAST_GRACE, GRACE * limit):
            raise Interrupted

    @property
    def interrupted(self) -> Stopped:
        """Why `check` raised."""
        return "cancelled" if self.cancelled() else "time"

    def tell(self, done: int | None = None, **known: Any) -> Progress:
        """Counts a finished round, or ``done`` in all, and reports what is ``known`` (see
        `Progress`)."""
        self.rounds = self.rounds + 1 if done is None else done
        progress = Progress(self.rounds, self.seconds, self.max_rounds, **known)
        if self._callback is not None:
            self._callback(progress)
        return progress


class Best(Protocol):
    """The best mechanism so far: its objective, and where it has one its strategy, written out on demand as ``transposed`` (n, m)."""

    @property
    def objective(self) -> float: ...


class Search(Protocol):
    """What `drive` drives: rounds that improve ``best``, until ``finished`` or told to stop.

    ``best`` is there from the start where something is known in a moment (else None); ``prepare`` is what takes long before the
    first round. It and ``round`` may raise `Interrupted`, and leave ``best`` as it is then; ``finish`` may not, and takes a moment where nothing is left.
    """

    @property
    def finished(self) -> bool: ...
    @property
    def best(self) -> Best | None: ...
    def prepare(self) -> None: ...
    def round(self) -> None: ...
    def finish(self, at_once: bool) -> tuple[Any, float]: ...


@dataclass(frozen=True)
class Run:
    """The result of a search: what it ``found`` (a strategy, say) with its objective, (round,
    seconds, best objective) of every round, and why it ``stopped``."""

    found: tuple[Any, float]
    history: tuple[tuple[int, float, float], ...]
    seconds: float
    stopped: Stopped


def drive(search: Search, budget: Budget, window: int | None = None) -> Run:
    """Rounds of ``search`` until it is finished, ``window`` of them gain next to nothing, or ``budget`` says to stop.

    Results before the first round count as round 0, reported at once and again when the search is
    prepared.
    """
    history: list[tuple[int, float, float]] = []
    stopped: Stopped | None = None
    try:
        _tell(search, budget, 0)
        budget.check()
        search.prepare()
        recent = [_tell(search, budget, 0)[2]]
        while not search.finished and (stopped := budget.stopped()) is None:
            if window is not None and len(recent) > window and recent[-1] > recent[-1 - window] * (1 - SETTLED):
                break
            search.round()
            history.append(_tell(search, budget))
            recent.append(history[-1][2])
    except Interrupted:
        stopped = budget.interrupted
    design_made = search.finish(stopped == "cancelled")
    return Run(design_made, tuple(history), budget.seconds, stopped or "converged")


def _tell(search: Search, budget: Budget, done: int | None = None) -> tuple[int, float, float]:
    """Tell the best so far: rounds, seconds and its objective, infinite while nothing is known."""
    best = search.best
    objective = None if best is None else best.objective
    progress = budget.tell(done, objective=objective, best=best)
    return progress.round, progress.seconds, math.inf if objective is None else objective
