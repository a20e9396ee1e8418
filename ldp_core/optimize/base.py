"""The limits that every search for a design accepts, and the record that every design keeps of its
search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ldp_core.limits import MOST_FITTED_TYPES, MOST_VECTOR_TYPES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Budget, Callback, Cancel, Run, Stopped


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search: ``time_limit`` in seconds and ``max_rounds`` (None: no limit), the
    ``seed`` of its random choices, and ``callback`` and ``cancel`` as in `ldp_core.run`. Time and
    cancelling only stop a search, which is deterministic in (seed, max_rounds). The first strategy is
    not cut short: it takes n^3 operations, about 7 seconds for 2,048 types that the questions
    distinguish."""

    time_limit: float | None = 10.0
    max_rounds: int | None = None
    seed: int = 0
    callback: Callback | None = None
    cancel: Cancel | None = None

    def budget(self) -> Budget:
        """The same with a clock, which starts here. ValueError for numbers out of range."""
        return Budget(self.time_limit, self.max_rounds, self.cancel, self.callback)

    def within(self, seconds: float | None) -> SearchLimits:
        """The same with other ``seconds``, for a part of a search."""
        return replace(self, time_limit=seconds)

    def telling(self, callback: Callback | None) -> SearchLimits:
        """The same with another ``callback``."""
        return replace(self, callback=callback)

    def never_above(self, objective: float) -> SearchLimits:
        """The same, telling of an ``objective`` that is there already where the search has none as small."""
        least = changed(self.callback, lambda value: objective if value is None else min(value, objective))
        return replace(self, callback=least)


DEFAULT = SearchLimits()


def changed(
    callback: Callback | None,
    change: Callable[[float | None], float | None],
    best: Callable[[Any], Any] = lambda best: best,
) -> Callback | None:
    """``callback``, which is told objectives and the best so far as ``change`` and ``best`` make them."""
    if callback is None:
        return None
    return lambda progress: callback(replace(progress, objective=change(progress.objective), best=best(progress.best)))


@dataclass(frozen=True, kw_only=True, repr=False)
class Design(ABC):
    """The result of a search. ``objective`` is ``L = tr(M^-1 G)`` in squared users; ``history``
    holds (round, seconds, best objective) for every round, and ``stopped`` says why the search
    ended."""

    objective: float
    history: tuple[tuple[int, float, float], ...]
    rounds: int
    seconds: float
    epsilon: float
    seed: int
    stopped: Stopped

    @property
    @abstractmethod
    def contents(self) -> str:
        """The contents of the design, in a few words."""

    @abstractmethod
    def mechanism(self) -> Mechanism:
        """The mechanism that sends so."""

    def __repr__(self) -> str:
        figures = f"epsilon {self.epsilon:g}, objective {self.objective:.6g}, {self.rounds:,} rounds"
        return f"<{type(self).__name__}: {self.contents}, {figures}, stopped: {self.stopped}>"


def fields_of(run: Run, epsilon: float, limits: SearchLimits) -> dict[str, Any]:
    """The fields of `Design` for a ``run`` within ``limits``."""
    return {
        "objective": run.found[1],
        "history": run.history,
        "rounds": len(run.history),
        "seconds": run.seconds,
        "epsilon": epsilon,
        "seed": limits.seed,
        "stopped": run.stopped,
    }


def too_large(n: int) -> str | None:
    """Why no strategy is fitted to ``n`` types, None where one is."""
    if n <= MOST_FITTED_TYPES:
        return None
    return (
        f"A strategy matrix for {n:,} types would be too large to design; at most {MOST_FITTED_TYPES:,} are. Use coarser bins, or a "
        "mechanism in closed form: a tree or Haar for running totals and ranges, subset selection for counts of each type."
    )


def most_types(continuous: bool) -> int:
    """Most types that ``continuous`` vectors or strategies are fitted to."""
    return MOST_VECTOR_TYPES if continuous else MOST_FITTED_TYPES


def vectors_too_large(n: int) -> str | None:
    """Why no vectors are fitted to ``n`` types, None where they are."""
    if n <= MOST_VECTOR_TYPES:
        return None
    return (
        f"Strategies of the matrix mechanism are optimised for at most {MOST_VECTOR_TYPES:,} types; there are {n:,}. Use coarser "
        "bins, or the Gaussian mechanism, which needs no optimisation."
    )
