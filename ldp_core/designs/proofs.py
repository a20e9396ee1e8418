"""Searches for bounds that no mechanism can beat."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ldp_core import bounds, workloads
from ldp_core.analysis import Case
from ldp_core.run import Callback, Cancel, Progress, cancellation

Curve = tuple[tuple[float, float], ...]
"""How a search went: (seconds, objective or bound on the scale of L)."""


@dataclass(frozen=True)
class Proof:
    """A lower bound with its certificate, how it was found, and whether the search for a better one has ``finished``."""

    certificate: bounds.Proof
    history: Curve
    finished: bool

    @property
    def size(self) -> int:
        """Bytes of its arrays, and of those of the proofs that it is made of."""
        return _bytes(self.certificate)


def _bytes(certificate: object) -> int:
    held = vars(certificate)
    numbers = sum(array.nbytes for array in held.get("numbers", {}).values())
    return numbers + sum(_bytes(part) for part in (held.get("types"), *held.get("parts", ())) if part is not None)


def search(
    workload: workloads.Workload,
    epsilon: float,
    case: Case,
    seconds: float,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> Proof:
    """A certificate of what no mechanism can beat in a case, the best that is found in ``seconds``.

    ``workload`` has the rows that errors are summed over: that of a `workloads.Questionnaire`.
    """
    history, cancelled, began = list[tuple[float, float]](), cancellation(cancel), time.perf_counter()

    def follow(progress: Progress) -> None:
        value = progress.bound or 0.0
        if case.prior is not None:  # the worst case is reported on the scale of L already
            value = bounds.equivalent_objective(bounds.average_variance(value, workload, case.prior), workload)
        history.append((progress.seconds, value))
        if callback is not None:
            callback(replace(progress, bound=value, history=history))

    # A survey has one bound for all cases, but for those of known groups.
    alike = case.prior is not None or (workload.survey is not None and workload.strata is None)
    find = bounds.certificate if alike else bounds.worst_case
    people = None if case.uniform else case.prior
    certificate = find(workload, epsilon, seconds, people, callback=follow, cancel=cancelled)
    return Proof(certificate, tuple(history), time.perf_counter() - began < seconds and not cancelled())
