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

from ldp_core import frames, wording
from ldp_core.analysis import DEFAULT_ALPHA
from ldp_core.limits import MOST_EXACT_TYPES, MOST_JUDGED_QUERIES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, users_of
from ldp_core.workloads import Unit, Workload
from ldp_core.workloads.shown import shown_queries, unweighted_answers

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


def limits(target: float, sizes: np.ndarray | pd.Series) -> np.ndarray:
    """(q,) the largest standard error of usable answers of these ``sizes`` (q,), as shares of all users.

    >>> ldp.verdicts.limits(0.01, np.array([0.5, 0.004])).tolist()
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


def error_in_words(workload: Workload, error: float, users: float) -> str:
    """A standard error as a share of all ``users``, in words: that of the only answer in its own unit, if it has one."""
    unit = only_unit(workload)
    return wording.error(error) if unit is None else unit.error_in_words(error, users)


def scale(workload: Workload, users: float) -> wording.Scale:
    """How errors of a typical answer are written: in the unit of the only answer, or in percentage points of all ``users``."""
    unit = only_unit(workload)
    return wording.POINTS if unit is None else unit.errors(users)


def only_unit(workload: Workload) -> Unit | None:
    """The unit of the only answer, or of all of them, where they do not count people."""
    p = workload.num_queries
    if p > MOST_JUDGED_QUERIES or workload.unit(0) is None:
        return None
    units = {workload.unit(query) for query in range(p)}
    return units.pop() if len(units) == 1 else None


def headline(
    users: float, epsilon: str, error: float, target: float, tally: Tally | None, unit: Unit | None = None
) -> str:
    """What a design comes to, the error first: ``error`` is the standard error of a typical answer with these ``users``. Without a
    ``tally`` it is that answer that is judged. ``unit`` is that of the only answer, where it does not count people.

    >>> ldp.verdicts.headline(3000, "4", 0.004, 0.01, ldp.verdicts.Tally(29, 4, 2, 35))
    'With 3,000 people at epsilon 4 a typical answer is off by ±\xa00.4\xa0percentage points (12 people). 29 of 35 answers are usable.'
    """
    people, off = (wording.plural(round(number), "person", "people") for number in (users, error * users))
    off = off if round(error * users) else "less than one person"
    words = f"a typical answer is off by {wording.error(error)} ({off})"
    if unit is not None:
        whose = "a typical" if tally is not None and tally.queries > 1 else "the"
        words = f"{whose} answer is off by {unit.error_in_words(error, users)}"
    first = f"With {people} at epsilon {epsilon} {words}"
    bins = "" if unit is None else unit.bins_in_words(users)
    if tally is None:
        return f"{first}, which is {judge(np.array([error]), target)[0]}.{bins}"
    return f"{first}.{bins} {tally.in_words()}"


def judged_queries(workload: Workload) -> np.ndarray:
    """The indices of the queries that are judged: all of them, or some, evenly spread."""
    p = workload.num_queries
    return np.arange(p) if p <= MOST_JUDGED_QUERIES else shown_queries(workload)


def too_large(workload: Workload) -> str:
    """Why the answers are not judged one by one; empty where they are."""
    if workload.working_types <= MOST_EXACT_TYPES:
        return ""
    return (
        f"Single answers are judged for at most {MOST_EXACT_TYPES:,} types; there are {workload.working_types:,} here. Simulate shows how accurate "
        "some are, or use coarser bins."
    )


def standard_errors(mechanism: Mechanism, workload: Workload, counts: Counts) -> np.ndarray:
    """(q,) exact standard errors, as shares of all users and without weights, of the unbiased answers to `judged_queries` for the
    users ``counts`` (n,). ValueError where these take too long (see `too_large`)."""
    if reason := too_large(workload):
        raise ValueError(reason)
    queries = judged_queries(workload)
    return np.sqrt(frames.variances_of(mechanism, workload, counts, queries)) / float(users_of(counts))


@dataclass(frozen=True)
class Suggestion:
    """Target errors taken from questions and data, shares of all users.

    Attributes:
        typical: the root mean square of the answers, each or what it lacks to everyone where that is less (None: all answers are
            no one or everyone). Errors are typical in the same sense, so that users needed compare the two sums of squares, and
            hundreds of answers of next to no one do not decide, as they would by a median.
        smallest: the least such answer but for `NEGLIGIBLE` (None: there is none): all that are smaller add up to at most that part of the sum of all. By their
            number, hundreds of answers of next to no one would decide here as well.
    """

    typical: float | None
    smallest: float | None

    @property
    def target(self) -> float:
        """A quarter of a typical answer; 10 percentage points, which the papers' alpha stands for, where there is none."""
        return math.sqrt(DEFAULT_ALPHA) if self.typical is None else _rounded(self.typical / 2)

    @property
    def smallest_target(self) -> float | None:
        """The target at which the smallest share that matters is just usable."""
        return None if self.smallest is None else _rounded(self.smallest)


def suggest(workload: Workload, counts: Counts) -> Suggestion:
    """The target errors that answers of the users ``counts`` (n,) suggest, from the queries shown.
    The distance of an answer from everyone counts if it is smaller than the answer: the last
    running totals are as informative as the first. Averages and totals have no size, and count as four times `OF_RANGE`.

    >>> ldp.verdicts.suggest(ldp.workloads.histogram(50), np.full(50, 20)).target
    0.005
    """
    sizes = sizes_of(workload, counts, shown_queries(workload))
    own, sizes = np.isinf(sizes).sum(), sizes[np.isfinite(sizes)]
    shares = np.sort(np.where(sizes <= 1, np.minimum(sizes, 1 - sizes), sizes))
    shares = shares[shares > _ROUNDING]
    typical = np.concatenate([shares, np.full(own, 4 * OF_RANGE)])
    if not len(shares):
        return Suggestion(4 * OF_RANGE if own else None, None)
    below = np.cumsum(shares) / np.sum(shares)
    smallest = shares[np.searchsorted(below, NEGLIGIBLE + _ROUNDING, side="right")]
    return Suggestion(float(np.sqrt(np.mean(typical**2))), float(smallest))


def sizes_of(workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) answers of the users ``counts`` (n,) without their sign and weights, as shares of all users; see `without_size`."""
    sizes = np.abs(unweighted_answers(workload, counts, queries)) / float(users_of(counts))
    return without_size(workload, queries, sizes)


def without_size(workload: Workload, queries: np.ndarray, sizes: np.ndarray | pd.Series) -> np.ndarray:
    """(q,) ``sizes``, infinite where an answer has a unit of its own: the target alone judges it, since where its zero lies says nothing."""
    own = np.array([workload.unit(int(query)) is not None for query in queries], dtype=bool)
    return np.where(own, np.inf, sizes)


def _rounded(difference: float) -> float:
    """Half of a ``difference`` with one significant digit, within what can be asked for."""
    return min(max(float(f"{difference:.0e}") / 2, LEAST_TARGET), LARGEST_TARGET)
