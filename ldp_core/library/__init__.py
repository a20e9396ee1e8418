"""The registry of mechanisms: what each one is, and how to build it.

It stands above `ldp_core.mechanisms` and `ldp_core.optimize`, because some mechanisms are fitted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ldp_core.library.entries import REGISTRY
from ldp_core.library.spec import Spec
from ldp_core.mechanisms.base import Mechanism
from ldp_core.privacy import check_epsilon
from ldp_core.wording import check_parameters, meant
from ldp_core.workloads import Workload

__all__ = ["REGISTRY", "Spec", "create", "names", "spec"]


def names() -> list[str]:
    """Names `create` accepts."""
    return list(REGISTRY)


def spec(name: str) -> Spec:
    """The registry entry of ``name``. ValueError when there is none."""
    if name not in REGISTRY:
        raise ValueError(f"Unknown mechanism {name!r}; {meant(name, REGISTRY)}")
    return REGISTRY[name]


def create(
    name: str, n: int | None = None, epsilon: float | None = None, workload: Workload | None = None, **parameters: Any
) -> Mechanism:
    """Build the mechanism ``name`` on ``n`` types (taken from ``workload`` when left out), with the ``epsilon`` of one report.

    Raises ValueError for an unknown name or parameter, a bad value, no epsilon, or a size the mechanism cannot handle.
    """
    entry = spec(name)
    epsilon = check_epsilon(epsilon)
    if workload is not None and n is not None and workload.n != n:
        raise ValueError(f"The workload has {workload.n} types but n = {n} was asked for.")
    if workload is None and entry.needs_workload:
        raise ValueError(f"{entry.title} is fitted to a workload; pass workload=...")
    if n is None:
        if workload is None:
            raise ValueError("Pass the number of types n, or a workload.")
        n = workload.n
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
        raise ValueError(f"A mechanism needs a whole number of at least 2 types; got n = {n!r}.")
    check_parameters(entry.title, parameters, entry.parameters)
    for parameter, value in parameters.items():
        entry.parameters[parameter].check(parameter, value)
    if entry.may_use_workload:
        parameters["workload"] = workload
    return entry.build(workload if entry.needs_workload else int(n), epsilon, **parameters)
