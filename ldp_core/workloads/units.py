"""The units of answers, and what answers are for: a standard error, or a difference to detect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

POINTS = "points"
OF_GROUP = "points of the group"
"""Units of shares: percentage points of everybody, and of the people in a group."""
DEFAULT_ALPHA = 0.01
"""The mean squared error of a share that is asked for where no one says."""
LEAST_TARGET = 1e-50
"""Rows are divided by targets and then squared."""
POWER, LEVEL = 0.8, 0.05
"""The chance to find a difference that is there, and to find one that is not, where no one says."""


@dataclass(frozen=True)
class Unit:
    """The unit of answers: one is ``middle + factor * a / b``, a the sum over the people of a group
    and b their number.

    Attributes
    ----------
    name : str
        `POINTS`, `OF_GROUP`, or the numeric attribute that is averaged or added up.
    factor, middle : float
        See above.
    span : float
        The length of the interval that the numbers added up for one person lie in.
    least : float
        The least answer.
    total : bool
        Whether the answer is a sum over everybody, not divided by their number.
    off : float
        The most that bins add to the error of an average: numbers count as the middles of these.
    """

    name: str = POINTS
    factor: float = 100.0
    middle: float = 0.0
    span: float = 1.0
    least: float = 0.0
    total: bool = False
    off: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most that a/b can be."""
        least = (self.least - self.middle) / self.factor
        return least, least + self.span

    def answers(self, sides: np.ndarray) -> np.ndarray:
        """(...) answers in the unit, from the ratios a/b ``sides`` (1, ...), or (2, ...) of the two
        whose difference they are."""
        if len(sides) == 2:
            return np.asarray(self.factor * (sides[0] - sides[1]))
        return np.asarray(self.middle + self.factor * sides[0])


@dataclass(frozen=True)
class Detect:
    """A difference, in the unit of an answer, that is to be found with this power by a two-sided
    test at this level."""

    difference: float
    power: float = POWER
    level: float = LEVEL


Target = float | Detect
"""A standard error in the unit of an answer, or a difference to detect."""


def reach(target: Detect) -> float:
    """``z_(1-level/2) + z_power``: how many standard errors a difference must have."""
    return float(ndtri(1 - target.level / 2) + ndtri(target.power))
