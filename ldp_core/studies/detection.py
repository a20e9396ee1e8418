"""Differences between two groups of people, or two collections: how many people find one, and which one so many people find.

Per report, the answer of a group has the variance ``V = sum_x p_x E[(answer of the report)^2 | x] - (w'p)^2``: that of the mechanism
and the chance of who was drawn, p the shares of the group. Two groups of N_1 and N_2 people differ by d, found at a two-sided
level a with a chance of b, where ``d = (z_(1-a/2) + z_b) sqrt(V_1/N_1 + V_2/N_2)``: the test takes its standard error from the same
people. Source: the usual size of samples (Cohen 1988), with V of this project.
"""

from __future__ import annotations

from ldp_core.workloads import Detect, answers
from ldp_core.workloads.answers import LEVEL as LEVEL
from ldp_core.workloads.answers import POWER as POWER


def reach(power: float, level: float) -> float:
    """``z_(1-level/2) + z_power``: how many standard errors a difference must have. ValueError for chances out of range.

    >>> round(ldp.studies.detection.reach(0.8, 0.05), 4)
    2.8016
    """
    if not (0.5 <= power < 1 and 0 < level <= 0.5):
        raise ValueError(
            f"The power is a chance from 50 % to less than 100 %, the level one above 0 and up to 50 %; got {100 * power:.6g} % and "
            f"{100 * level:.6g} %."
        )
    return answers.reach(Detect(1.0, power, level))
