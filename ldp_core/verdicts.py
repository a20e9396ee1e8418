"""The verdict on an answer: usable, rough or noise. This is the one place that judges.

The *target* of an answer is a standard error in its unit, or a difference that is to be found. `RULE` says what follows from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    "find one of the size asked for; rough (≈) up to twice that; noise (✕) beyond. A question meets its target if its answers do on average: the root of "
    "the mean of their squared errors. In a group that is secret the number of people must also be known to a fifth."
)

_NAMED = re.compile("^(Share|Average|Total)(?= )")
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
    errors = errors.sort_index(key=lambda keys: keys.astype(str).str.startswith("difference of "), kind="stable")
    return wording.listed(
        [
            f"{'differences by ' if several and str(key).startswith('difference of ') else ''}±\N{NO-BREAK SPACE}{in_unit(error, str(key))}"
            for key, error in errors.items()
        ],
        6,
    )


def value_in_words(value: float, unit: str) -> str:
    """An answer in its unit: "61 %", "+7.4 points" of a difference of shares, "33.1" of an average."""
    shares, difference = unit_in_words(unit) == wording.POINTS.unit, unit.startswith("difference of ")
    number = f"{'+' if difference and value > 0 else ''}{wording.significant(value)}"
    points = f" point{'s' * (number.lstrip('+-') != '1')}"
    return number + ("" if not shares else points if difference else "\N{NO-BREAK SPACE}%")


def result_in_words(answers: pd.DataFrame) -> str:
    """The result of one question, from the rows of its ``answers`` and intervals: "+9.5 points (95 %: -5.8 to +24.8), found"."""
    unit, judged = str(answers["unit"].iloc[0]), answers.get("verdict", pd.Series("", answers.index))
    if len(answers) > 1:
        half = (answers["high"] - answers["low"]).max() / 2
        counted = tally(judged)
        off = f"answers within ±\N{NO-BREAK SPACE}{wording.significant(half)}{' points' if unit_in_words(unit) == wording.POINTS.unit else ''}"
        return (off if half == half else "no intervals") + (
            f", {counted.usable:,} of {counted.judged:,} usable" if counted.judged else ""
        )
    answer, low, high = (answers[column].iloc[0] for column in ("answer", "low", "high"))
    if answer != answer:
        return "no answer"
    first, last = (
        value_in_words(end, unit).removesuffix("s").removesuffix(" point").removesuffix("\N{NO-BREAK SPACE}%")
        for end in (low, high)
    )
    ends = f"95\N{NO-BREAK SPACE}%: {first} to {last}" if low == low else "no interval"
    found = answers["found"].iloc[0] if "found" in answers else ""
    return ", ".join(filter(None, [f"{value_in_words(answer, unit)} ({ends})", found or marked(judged.iloc[0])]))


def line_cells(line: Mapping[str, Any]) -> dict[str, str]:
    """A row of `ldp_core.analysis.question_lines` in a person's words, under the headings of a table: what the question is now, its error in its
    own unit, the verdict, and its error if it were asked alone. Empty where something is not known."""
    unit, many, error = str(line["unit"]), line["answers"] > 1, line["standard_error"]
    numbers = {name: wording.significant(line[name]) for name in ("standard_error", "bins", "finds", "alone")}
    shares = unit_in_words(unit) == wording.POINTS.unit
    off = f"{'up to ' if many else ''}±\N{NO-BREAK SPACE}{numbers['standard_error']}{' points' if shares else ''}"
    off += f" and up to {numbers['bins']} by bins" if line["bins"] else ""
    off += f", finds {numbers['finds']} and more" if line["finds"] == line["finds"] else ""
    usable = f"{line['usable']:,} of {line['judged']:,} usable" if line["judged"] else ""
    return {
        "Question": f"{line['question']} ({line['answers']:,} answers)" if many else str(line["question"]),
        "Now": value_in_words(line["value"], unit) if line["value"] == line["value"] else "",
        f"With {wording.plural(line['users'], 'person', 'people')}": off
        if error == error
        else "nobody in the planning data",
        "Verdict": usable if many else marked(line["verdict"]),
        "Asked alone": f"{'at best ' if line['at_best'] else ''}±\N{NO-BREAK SPACE}{numbers['alone']}"
        if line["alone"] == line["alone"]
        else "",
    }


def comes_to(line: Mapping[str, Any]) -> str:
    """The same as one sentence, without the question."""
    _, now, (people, off), verdict, alone = line_cells(line).items()
    said = [
        f"now {now[1]}" * bool(now[1]),
        f"{wording.uncapitalised(people)} {off}{f' ({verdict[1]})' * bool(verdict[1])}",
    ]
    return "; ".join(filter(None, [*said, f"asked alone {alone[1]}" * bool(alone[1])]))


def line_in_words(line: Mapping[str, Any]) -> str:
    """The same with the question: the line that pages, files and commands show.

    >>> line = {"question": "Share satisfied, new minus control", "answers": 1, "unit": "difference of points of the group", "users": 4000}
    >>> line |= {"value": 7.4, "standard_error": 7.8, "bins": 0.0, "finds": 22.0, "verdict": "rough", "alone": 3.0, "at_best": False, "usable": 0, "judged": 1}
    >>> ldp.verdicts.line_in_words(line).replace(chr(160), " ")
    'Share satisfied, new minus control: now +7.4 points; with 4,000 people ± 7.8 points, finds 22 and more (≈ rough); asked alone ± 3.'
    """
    return f"{line_cells(line)['Question']}: {comes_to(line)}."


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
    coarse : the questions whose bins alone are beyond the target (`Questionnaire.coarse`), which no number of people mends.
    """
    first = f"With {wording.plural(round(users), 'person', 'people')} at epsilon {epsilon},"
    takes = f"it takes {wording.needed(needed)} people until every question meets its target."
    if coarse:
        bins = f"bins alone may move {wording.listed(coarse, 3)} by more than the target, whatever the number of people: use finer bins."
        takes = bins if needed <= users else f"{takes.replace('every', 'every other')} {wording.capital(bins)}"
    enough = needed <= users and not coarse
    if lines is None or tally is None:
        return f"{first} {'every question meets its target.' if enough else takes}"
    if len(lines) > 1:
        met = int(lines["met"].sum())
        which = "all" if met == len(lines) else f"{met or 'none'} of {len(lines):,}"
        said = f"{first} {which} questions meet their targets. {tally.in_words()}"
        return said if enough else f"{said} {wording.capital(takes)}"
    known = lines[lines["standard_error"].notna()]
    inside = _NAMED.sub(lambda word: f"the {word[0].lower()}", str(known["question"].iloc[0])) if len(known) else ""
    who = f"{inside} is" if tally.queries == 1 and len(known) else "answers are"
    found = known["finds"].max()
    finds = f"; differences from {in_unit(found, known['unit'].iloc[0])} up are found" if found == found else ""
    off = f"{'' if tally.queries == 1 else 'up to '}{errors_in_words(known.set_index('unit')['standard_error'])}"
    # The people needed are for the mean of the squared errors: they may be enough where the largest is beyond the target.
    mean = known["target"].max() * math.sqrt(needed / users)
    if tally.queries > 1 and found != found and mean < known["standard_error"].max():
        off = f"±\N{NO-BREAK SPACE}{wording.significant(mean)} on average, {off}"
    said = f"{first} {who} off by {off}{finds}. {tally.in_words()}"
    return said if enough else f"{said} {wording.capital(takes)}"
