"""The verdict on an answer: usable, rough or noise. This is the one place that judges.

The *target* t of a design is a standard error, as a share of all users, stored in its configuration. `RULE` says what follows from it.
A typical answer reaches t with the people needed for alpha, its square; the others are judged one by one, and an answer smaller than
its standard error is never usable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd


USABLE = "usable"
ROUGH = "rough"
NOISE = "noise"
MARKS = {USABLE: "✓", ROUGH: "≈", NOISE: "✕"}
"""Signs that differ in shape, to stand before the words."""
RULE = (
    "An answer is usable (✓) if its standard error is at most the target error, and at most half of the answer where its size is known; "
    "rough (≈) up to twice that; noise (✕) beyond."
)

LEAST_TARGET = 1e-4
LARGEST_TARGET = 1.0
"""The target errors that can be asked for, as shares of all users."""
OF_RANGE = 0.02
"""The target error of averages and totals by themselves, as a part of the range of the values."""
NEGLIGIBLE = 0.05
"""The part of the sum of all answers that those too small to matter may have."""
_ROUNDING = 1e-9  # with exactly the users needed an answer must not turn rough by the last bit


def alpha_for(target: float) -> float:
    """The mean squared error of a share that a target error stands for.

    >>> ldp.verdicts.alpha_for(0.1)
    0.01
    """
    # 10 percentage points must give 0.01 exactly, not 0.010000000000000002.
    return float(f"{target**2:.14g}")


def judge(standard_errors: np.ndarray | pd.Series, limit: float | np.ndarray) -> np.ndarray:
    """(q,) `USABLE`, `ROUGH` or `NOISE` for answers with these standard errors, "" where they are nan. ``limit`` is the largest standard
    error of a usable answer, one for all or (q,): see `limits`. All are shares of all users.

    >>> ldp.verdicts.judge(np.array([0.004, 0.006, 0.02]), limit=0.005).tolist()
    ['usable', 'rough', 'noise']
    """
    errors, most = np.asarray(standard_errors, dtype=float), np.asarray(limit) * (1 + _ROUNDING)
    verdicts = np.where(errors <= most, USABLE, np.where(errors <= 2 * most, ROUGH, NOISE))
    return np.where(np.isnan(errors), "", verdicts)


def largest_error(target: float, sizes: np.ndarray | pd.Series) -> np.ndarray:
    """(q,) the largest standard error of usable answers of these ``sizes`` (q,), as shares of all users.

    >>> ldp.verdicts.largest_error(0.01, np.array([0.5, 0.004])).tolist()
    [0.01, 0.002]
    """
    return np.minimum(target, np.abs(np.asarray(sizes, dtype=float)) / 2)


def marked(verdict: str) -> str:
    """A verdict as it is shown everywhere: its sign and its word; nothing for none."""
    return f"{MARKS[verdict]} {verdict}" if verdict else ""


@dataclass(frozen=True)
class Tally:
    """How many answers are usable, rough and noise, of those judged. ``queries`` is the number of all."""

    usable: int
    rough: int
    noise: int
    queries: int

    @property
    def judged(self) -> int:
        return self.usable + self.rough + self.noise

    def in_words(self) -> str:
        """The tally as a sentence, such as "31 of 50 answers are usable." """
        among = "answers" if self.judged == self.queries else f"answers looked at (there are {self.queries:,})"
        if self.judged == 1:
            return f"The only answer is {USABLE if self.usable else ROUGH if self.rough else NOISE}."
        if self.usable == self.judged:
            return f"All {self.judged:,} {among} are usable."
        return f"{self.usable:,} of {self.judged:,} {among} {'is' if self.usable == 1 else 'are'} usable."


def tally(standard_errors: np.ndarray | pd.Series, limit: float | np.ndarray, queries: int | None = None) -> Tally:
    """The verdicts of `judge`, counted. ``queries`` is the number of all queries, where only some are judged.

    >>> ldp.verdicts.tally(np.array([0.004, 0.006, 0.02]), 0.005).in_words()
    '1 of 3 answers is usable.'
    """
    verdicts = judge(standard_errors, limit)
    usable, rough, noise = (int((verdicts == word).sum()) for word in MARKS)
    return Tally(usable, rough, noise, len(verdicts) if queries is None else queries)
