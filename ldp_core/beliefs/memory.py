"""A yes or no that is reported several times by a device with a memory: one kept answer for each value, and fresh noise on it in every report.

Memory helps people whose value never changes, and much less those who change: each kept answer tells of the days that it stands for (Erlingsson,
Pihur and Korolova 2014 keep answers like this; Ding, Kulkarni and Yekhanin 2017 show why a change is seen).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldp_core.limits import MOST_REMEMBERED_REPORTS


class Losses(NamedTuple):
    """The epsilon of all reports of a person together, in nats: of ``one`` report, where the value ``never`` changes, and where it changes
    ``once`` at most."""

    one: float
    never: float
    once: float


def losses(kept: float, fresh: float, reports: int) -> Losses:
    """The losses of a memory, by enumeration.

    Parameters
    ----------
    kept : the epsilon of the answer that is kept for each of the two values.
    fresh : that of the noise on it in each report.
    reports : 1 to `MOST_REMEMBERED_REPORTS` of them.

    Returns
    -------
    The largest logarithm of the ratio of probabilities of the same reports, over all reports and all pairs of courses with at most so many
    changes. A stretch of days counts by how many of its reports are yes.
    """
    days = np.arange(reports + 1)
    yes, no = days[:, None], days - days[:, None]  # by how many of so many reports are yes
    like = np.logaddexp(kept + fresh * yes, fresh * no) - np.logaddexp(0, kept) - days * np.logaddexp(0, fresh)
    once = never = 0.0
    for first in range(reports + 1):
        for second in range(reports + 1 - first):
            third = reports - first - second
            a, b, c = np.ogrid[: first + 1, : second + 1, : third + 1]

            def of(value: int, yeses: np.ndarray, many: int) -> np.ndarray:
                return like[yeses if value else many - yeses, many]

            one = [of(value, a, first) + of(1 - value, b + c, second + third) for value in (0, 1)]
            other = [of(value, a + b, first + second) + of(1 - value, c, third) for value in (0, 1)]
            largest = max(float(np.abs(x - y).max()) for x in one for y in other)
            once = max(once, largest)
            if first + second == 0:
                never = largest
    return Losses(float(like[1, 1] - like[0, 1]), never, once)


def memory_in_words(epsilon: float, reports: int) -> str:
    """The losses of a memory with ``epsilon`` for kept answers and for the noise on them."""
    many = min(reports, MOST_REMEMBERED_REPORTS)
    revealed = losses(epsilon, epsilon, many)
    return (
        f"If devices kept one answer for each of the two values, at epsilon {epsilon:g}, and added fresh noise of the same epsilon to it, one report would "
        f"tell epsilon {revealed.one:.2f}. {many} reports would tell {revealed.never:.2f} of a value that never changes, and {revealed.once:.2f} of one that changes at "
        "most once. No device here keeps answers."
    )
