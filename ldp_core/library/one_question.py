"""Mechanisms that answer one real-valued question, whatever the values are that it gives the types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldp_core.library.specification import needs_entries
from ldp_core.mechanisms.base import Mechanism
from ldp_core.workloads import Workload
from ldp_core.workloads.problem import direction

_ONE_QUESTION = "It answers one real-valued question, such as the average of a number column."


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why they are not offered for ``n`` types and ``workload``, in a sentence; None where they are."""
    reason = needs_entries(lambda n, epsilon: 2 * n + 3)(n, epsilon, workload)
    if reason is None and workload is not None and direction(workload) is None:
        return _ONE_QUESTION
    return reason


def on_values(build: Callable[[np.ndarray, float], Mechanism], workload: Workload, epsilon: float) -> Mechanism:
    """The mechanism for the values that the one question of ``workload`` gives the types. ValueError for other questions."""
    z = direction(workload)
    if z is None:
        raise ValueError(_ONE_QUESTION)
    return build(workload.apply_gram(z), epsilon)
