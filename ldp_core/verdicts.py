"""The verdict on an answer: usable, rough or noise. This is the one place that judges.

The *target* of an answer is a standard error in its unit, or a difference that is to be found. `RULE` says what follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import wording

USABLE = "usable"
ROUGH = "rough"
NOISE = "noise"
MARKS = {USABLE: "✓", ROUGH: "≈", NOISE: "✕"}
"""Signs that differ in shape, to stand before the words."""
RULE = (
    "An answer is usable (✓) if its standard error is at most the target error and, for shares, at most half of the answer; a difference, if its people "
    "find one of the size asked for; rough (≈) up to twice that; noise (✕) beyond. In a group that is secret the number of people must also be known to "
    "a fifth."
)

_ROUNDING = 1e-9  # with exactly the users needed an answer must not turn rough by the last bit


def judge(standard_errors: np.ndarray | pd.Series, limit: float | np.ndarray) -> np.ndarray:
    """(q,) `USABLE`, `ROUGH` or `NOISE` for answers with these standard errors, "" where they are nan. ``limit`` is the largest standard
    error of a usable answer, one for all or (q,): see `largest_error`. All have the unit of the answers.

    >>> ldp.verdicts.judge(np.array([0.004, 0.006, 0.02]), limit=0.005).tolist()
    ['usable', 'rough', 'noise']
    """
    errors, most = np.asarray(standard_errors, dtype=float), np.asarray(limit) * (1 + _ROUNDING)
    verdicts = np.where(errors <= most, USABLE, np.where(errors <= 2 * most, ROUGH, NOISE))
    return np.where(np.isnan(errors), "", verdicts)


def largest_error(target: float, sizes: np.ndarray | pd.Series) -> np.ndarray:
    """(q,) the largest standard error of usable answers of these ``sizes`` (q,), in their unit.

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


def tally(verdicts: np.ndarray | pd.Series, queries: int | None = None) -> Tally:
    """The verdicts of `judge`, counted. ``queries`` is the number of all answers, where only some are judged.

    >>> ldp.verdicts.tally(np.array(["usable", "rough", "noise"])).in_words()
    '1 of 3 answers is usable.'
    """
    usable, rough, noise = (int((np.asarray(verdicts) == word).sum()) for word in MARKS)
    return Tally(usable, rough, noise, len(verdicts) if queries is None else queries)


def unit_in_words(key: str) -> str:
    """The unit of answers with the same target: "percentage points", "in spend"."""
    what = key.removeprefix("difference of ")
    return "percentage points" if what in ("points", "points of the group") else f"in {wording.shortened(what, 30)}"


def in_unit(number: float, key: str) -> str:
    """An error or a difference with the unit of its answers: "7.84 percentage points", "9 in spend".

    >>> ldp.verdicts.in_unit(9.0, "difference of spend")
    '9\\xa0in spend'
    """
    return f"{wording.significant(number)}\N{NO-BREAK SPACE}{unit_in_words(key)}"


def errors_in_words(errors: pd.Series) -> str:
    """The errors of answers by their unit: "± 4.28 percentage points, differences by ± 8.55 percentage points"."""
    several = len(errors) > 1
    return wording.listed(
        [
            f"{'differences by ' if several and str(key).startswith('difference of ') else ''}±\N{NO-BREAK SPACE}{in_unit(error, str(key))}"
            for key, error in errors.items()
        ],
        6,
    )


def headline(
    users: float,
    epsilon: str,
    needed: float,
    lines: pd.DataFrame | None = None,
    tally: Tally | None = None,
    coarse: Sequence[str] = (),
) -> str:
    """What a design comes to, in words.

    Parameters
    ----------
    users, epsilon : people of the design, and what it was given as.
    needed : the people it takes until every question meets its target.
    lines : of `ldp_core.analysis.question_lines`, and the ``tally`` of their answers; without them it is the people needed that are told.
    coarse : the questions whose bins alone are beyond the target (`Answers.coarse`), which no number of people mends.
    """
    first = f"With {wording.plural(round(users), 'person', 'people')} at epsilon {epsilon}"
    takes = f"it takes {wording.needed(needed)} people until every question meets its target."
    if coarse:
        bins = f"bins alone may move {wording.listed(coarse, 3)} by more than the target, whatever the number of people: use finer bins."
        takes = bins if needed <= users else f"{takes.replace('every', 'every other')} {wording.capital(bins)}"
    enough = needed <= users and not coarse
    if lines is None or tally is None:
        return f"{first} {'every question meets its target.' if enough else takes}"
    told = lines[lines["standard_error"].notna()]
    off = errors_in_words(told.groupby("unit", sort=False)["standard_error"].max())
    one = len(told) == 1 and tally.queries == 1
    who = f"{told['question'].iloc[0]} is" if one else "answers are"
    found = told.groupby("unit", sort=False)["finds"].max().dropna()
    finds = wording.listed([f"{in_unit(least, unit)} up" for unit, least in found.items()])
    said = f"{first} {who} off by {'' if one else 'up to '}{off}{f'; differences from {finds} are found' if finds else ''}. {tally.in_words()}"
    return said if enough else f"{said} {wording.capital(takes)}"
