"""Fits of mechanisms to questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from ldp_core import library, workloads
from ldp_core.designs import choices
from ldp_core.designs.proofs import Curve
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Budget, Callback, Cancel, Check, Interrupted, Progress, cancellation


class NotFitted(ValueError):
    """A fitted mechanism has not been fitted yet, or its fit is not in the file."""


class Fit(NamedTuple):
    """A fitted mechanism, how its search went (empty where that is not known), and whether it came from a file."""

    mechanism: Mechanism
    history: Curve
    loaded: bool = False


def search(
    name: str,
    epsilon: float,
    workload: workloads.Workload,
    options: Mapping[str, Any],
    bound: Callable[[], float | None],
    objective: Callable[[Mechanism, Check], float],
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    enough: float = choices.GOOD_ENOUGH,
) -> Fit:
    """A mechanism fitted with these ``options`` of `library.create`. The search ends once the mechanism is proved to be within a share of
    ``enough`` of the best possible, or, where a number of rounds is set, after these.

    ``bound`` says what has been proved by now, and ``objective`` what a mechanism comes to, both on the scale of L.
    """
    aimed, cancelled = library.spec(name).aimed, cancellation(cancel)
    history, near = list[tuple[float, float]](), False
    by_rounds = options.get("max_rounds") is not None  # the same on every machine

    def follow(progress: Progress) -> None:
        nonlocal near
        # Some mechanisms report an error of another kind, which no bound speaks of.
        least = bound() if aimed and progress.objective is not None else None
        if progress.objective is not None:
            history.append((progress.seconds, progress.objective))
            proved = least is not None and choices.close(progress.objective, least, workload.trace, enough)
            near = proved and not by_rounds
        if callback is not None:
            callback(replace(progress, bound=progress.bound if least is None else least, history=history))

    began, stop = time.perf_counter(), lambda: near or cancelled()
    mechanism = library.create(name, epsilon=epsilon, workload=workload, **options, callback=follow, cancel=stop)
    searched = time.perf_counter() - began
    mechanism.audit()
    if history:  # the last updates come after the last round: the curve ends where the result stands
        with suppress(ValueError, Interrupted):
            ends = objective(mechanism, Budget(cancel=cancelled).check)
            history.append((max(searched, history[-1][0]), ends))
    return Fit(mechanism, tuple(history))
