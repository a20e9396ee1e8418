"""Several days asked in one report of their course, against what is usually done."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ldp_core.data.domain import CourseAttribute
from ldp_core.designs.setting import Setting
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.workloads import custom
from ldp_core.workloads.days_part import DaysPart


def usual(values: int, days: int, epsilon: float) -> tuple[float, float]:
    """The noise a day and person, with subset selection: of one random day each, and of a new report every day at epsilon / days.

    Parameters
    ----------
    values : how many there are on a day; of two, the second one is counted.
    days, epsilon : in nats, of all days together.

    Returns
    -------
    The variances that one person adds to the counts of a day, in squared people. The people who answer for a day are drawn by chance:
    estimates begin from even shares, and only differences from these are counted up.
    """
    counted = custom(np.eye(values)[-1:] if values == 2 else np.eye(values))
    spread = counted.trace / values - counted.even_square
    whole, part = (SubsetSelection(values, one).variance_profile(counted).mean() for one in (epsilon, epsilon / days))
    return days * (whole + spread) - spread, part


def compared(setting: Setting, mechanism: Mechanism) -> pd.DataFrame | None:
    """One report of a course beside one random day each, and beside a new report every day. Columns are the noise a day and person, and the people it
    takes for the same errors, as multiples of the first. None for other questions than the days of a course."""
    recipe, attributes = setting.configuration.workload, setting.domain.attributes
    if len(attributes) != 1 or not isinstance(course := attributes[0], CourseAttribute) or recipe is None:
        return None
    if len(recipe.parts) > 1 or not isinstance(recipe.parts[0], DaysPart):
        return None
    one = setting.variance(mechanism, setting.case) / course.days
    noise = np.array([one, *usual(len(course.parts), course.days, setting.epsilon)])
    ways = (
        "One report of all days",
        "One random day each",
        f"Every day anew, at epsilon {setting.epsilon / course.days:.3g}",
    )
    return pd.DataFrame({"way": ways, "noise": noise, "people": noise / one})
