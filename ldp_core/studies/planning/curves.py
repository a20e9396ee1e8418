"""Trade-offs as tidy frames: what the error does as epsilon or the number of users changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldp_core import analysis
from ldp_core.workloads import Workload


def errors_over_epsilon(
    points: pd.DataFrame, workload: Workload, users: float, case: str = analysis.WORST_CASE.name
) -> pd.DataFrame:
    """name, epsilon, users, standard_error (a share, of a typical query) from ``points`` of a sweep."""
    variance = points[f"{case}_variance"].to_numpy(dtype=float)
    error = np.sqrt(variance / (workload.squared_weights * users))
    return points[["name", "epsilon"]].assign(users=float(users), standard_error=error)


def errors_over_users(plan: pd.DataFrame, users: Sequence[float]) -> pd.DataFrame:
    """name, epsilon, users, standard_error at each number of ``users``, from a plan at one epsilon: the error falls
    like one over the root of the number of users."""
    rows = plan[plan["users"] * plan["standard_error"] >= 0]  # answers only: nan where there is none
    grid = rows[["name", "epsilon"]].merge(pd.DataFrame({"users": np.asarray(users, dtype=float)}), how="cross")
    one_user = np.repeat((rows["standard_error"] * np.sqrt(rows["users"])).to_numpy(dtype=float), len(users))
    return grid.assign(standard_error=one_user / np.sqrt(grid["users"]))
