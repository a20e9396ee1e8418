"""Users needed over a grid of epsilon: the paper's Figure 1 for any workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from ldp_core import analysis, bounds, mechanisms
from ldp_core.workloads import Workload

EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
BOUNDS = {"svd": bounds.svd, "centred_svd": bounds.centred_svd}
COLUMNS = ["name", "epsilon", "users_needed"]


def over_epsilon(
    names: Sequence[str],
    workload: Workload,
    epsilons: Sequence[float] = EPSILONS,
    alpha: float = analysis.DEFAULT_ALPHA,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    callback: Callable[[pd.DataFrame, int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Tidy rows (name, epsilon, users_needed) in the worst case, for mechanisms and lower bounds ("svd", "centred_svd").

    Bounds and cheap mechanisms come first, fitted ones last; ``callback(rows so far, done, total)`` follows every point and
    a cancelled sweep returns what it has. ``parameters[name]`` are passed on to `mechanisms.create`. ``cancelled`` also
    reaches into a fit that is under way; its point is then left out.
    """
    order = sorted(names, key=lambda name: mechanisms.spec(name).needs_workload)
    points = [(name, epsilon) for name in [*BOUNDS, *order] for epsilon in epsilons]
    rows: list[tuple[str, float, float]] = []
    for done, (name, epsilon) in enumerate(points, start=1):
        if name in BOUNDS:
            users = analysis.users_from_objective(BOUNDS[name](workload, epsilon), workload, alpha)
        else:
            options = dict((parameters or {}).get(name, {}))
            if mechanisms.spec(name).needs_workload:
                options["cancel"] = cancelled
            mechanism = mechanisms.create(name, n=workload.n, epsilon=epsilon, workload=workload, **options)
            users = analysis.sample_complexity(mechanism, workload, alpha)
        if cancelled and cancelled():
            break
        rows.append((name, float(epsilon), users))
        if callback:
            callback(pd.DataFrame(rows, columns=COLUMNS), done, len(points))
    return pd.DataFrame(rows, columns=COLUMNS)
