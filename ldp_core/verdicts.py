"""The verdict on an answer: usable, rough or noise, judged against the difference that the analyst
must be able to see.

Let s be the standard error of an answer and d the difference to be seen, both as shares of all
users. An answer is *usable* if 2 s <= d, *rough* if s <= d, and *noise* beyond. The standard error
aimed at is therefore d / 2, and alpha its square: a typical answer is usable once there are as many
users as needed for alpha. That says nothing of the others, which are judged one by one: each group
of questions has a target of its own, and no answer is asked to show less than its own size
(`differences`). An answer smaller than its standard error is therefore never usable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import frames, wording
from ldp_core.analysis import DEFAULT_ALPHA
from ldp_core.limits import MOST_EXACT_TYPES, MOST_JUDGED_QUERIES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, users_of
from ldp_core.workloads import Workload
from ldp_core.workloads.shown import shown_queries, unweighted_answers

USABLE = "usable"
ROUGH = "rough"
NOISE = "noise"
MEANINGS = {
    USABLE: "the standard error is at most half of the target, and at most half of the answer itself",
    ROUGH: "the standard error is up to twice that: a hint, not proof",
    NOISE: "the standard error is larger still, so chance alone often moves the answer by more",
}
MARKS = {USABLE: "✓", ROUGH: "≈", NOISE: "✕"}
"""Signs that differ in shape, to stand before the words."""

MULTIPLE = 2.0
LEAST_DIFFERENCE = 2e-4
LARGEST_DIFFERENCE = 2.0
"""The differences that can be asked for, as shares of all users."""
NEGLIGIBLE = 0.05
"""The part of the sum of all answers that those too small to matter may have."""
_ROUNDING = 1e-9  # with exactly the users needed an answer must not turn rough by the last bit


def alpha_for(difference: float) -> float:
    """The mean squared error of a share at which ``difference`` shows clearly in a typical answer.

    >>> ldp.verdicts.alpha_for(0.2)
    0.01
    """
    # 20 percentage points must give 0.01 exactly, not 0.010000000000000002.
    return float(f"{(difference / MULTIPLE) ** 2:.14g}")


def difference_for(alpha: float) -> float:
    """The difference that a mean squared error of shares stands for: two of its roots."""
    return MULTIPLE * math.sqrt(alpha)


def judge(standard_errors: np.ndarray | pd.Series, difference: float | np.ndarray) -> np.ndarray:
    """(q,) `USABLE`, `ROUGH` or `NOISE` for answers with these standard errors, "" where they are nan. ``difference`` is one
    for all or (q,); both are shares of all users.

    >>> ldp.verdicts.judge(np.array([0.004, 0.006, 0.02]), difference=0.01).tolist()
    ['usable', 'rough', 'noise']
    """
    errors, most = np.asarray(standard_errors, dtype=float), np.asarray(difference) * (1 + _ROUNDING)
    verdicts = np.where(MULTIPLE * errors <= most, USABLE, np.where(errors <= most, ROUGH, NOISE))
    return np.where(np.isnan(errors), "", verdicts)


def verdict(standard_error: float, difference: float) -> str:
    """That of `judge` on one answer."""
    return str(judge(np.array([standard_error]), difference)[0])


def marked(verdict: str) -> str:
    """A verdict as it is shown everywhere: its sign and its word; nothing for none."""
    return f"{MARKS[verdict]} {verdict}" if verdict else ""


@dataclass(frozen=True)
class Tally:
    """How many answers are usable, rough and noise.

    Attributes:
        queries: the number of all queries, some or all of which were judged.
        users_for_all: the number of users with which all answers judged are usable, but for those that count no one; nan
            where the number of users was not given.
        nobody: the answers that are expected to count no one: no number of users makes them usable.
    """

    usable: int
    rough: int
    noise: int
    queries: int
    users_for_all: float = math.nan
    nobody: int = 0

    @property
    def judged(self) -> int:
        return self.usable + self.rough + self.noise

    def in_words(self) -> str:
        """The tally in words, such as "31 of 50 answers are usable, 12 rough and 7 noise"."""
        counts = {USABLE: self.usable, ROUGH: self.rough, NOISE: self.noise}
        words = [word for word, number in counts.items() if number]
        among = "answers" if self.judged == self.queries else f"answers looked at (there are {self.queries:,})"
        if len(words) == 1:
            return (
                f"the only answer is {words[0]}" if self.judged == 1 else f"all {self.judged:,} {among} are {words[0]}"
            )
        rest = " and ".join(f"{counts[word]:,} {word}" for word in words if word != USABLE)
        first = f"{self.usable or 'none'} of {self.judged:,} {among} {'are' if self.usable > 1 else 'is'} usable"
        return f"{first}, {rest}"


def tally(
    standard_errors: np.ndarray | pd.Series,
    difference: float | np.ndarray,
    queries: int | None = None,
    users: float = math.nan,
) -> Tally:
    """The verdicts on answers with these standard errors from ``users`` users, counted. ``queries`` is the number of all queries,
    where only some are judged.

    >>> ldp.verdicts.tally(np.array([0.004, 0.006, 0.02]), 0.01, users=1000).in_words()
    '1 of 3 answers is usable, 1 rough and 1 noise'
    """
    verdicts = judge(standard_errors, difference)
    number = {word: int((verdicts == word).sum()) for word in MEANINGS}
    errors, differences = np.broadcast_arrays(np.asarray(standard_errors, dtype=float), np.asarray(difference))
    possible = differences > 0
    worst = float(np.max(errors[possible] / differences[possible], initial=0.0))
    return Tally(
        **number,
        queries=len(verdicts) if queries is None else queries,
        users_for_all=users * (MULTIPLE * worst) ** 2,
        nobody=int((~possible & (errors > 0)).sum()),
    )


def for_all(tally: Tally) -> str:
    """The users that make all answers usable, in a sentence."""
    if tally.nobody == tally.judged:
        return "No number of users makes them usable: they are expected to count no one."
    those = f"All but the {tally.nobody:,} expected to count no one" if tally.nobody else "All"
    return f"{those} would be with {wording.users(tally.users_for_all)}."


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
    """Differences taken from questions and data, shares of all users.

    Attributes:
        typical: the root mean square of the answers, each or what it lacks to everyone where that is less (None: all answers are
            no one or everyone). Errors are typical in the same sense, so that users needed compare the two sums of squares, and
            hundreds of answers of next to no one do not decide, as they would by a median.
        smallest: the least such answer but for `NEGLIGIBLE`: all that are smaller add up to at most that part of the sum of all. By their
            number, hundreds of answers of next to no one would decide here as well.
    """

    typical: float | None
    smallest: float | None

    @property
    def difference(self) -> float:
        """Half of a typical answer; 20 percentage points, which the papers' alpha stands for, where there is none."""
        return difference_for(DEFAULT_ALPHA) if self.typical is None else _rounded(self.typical / 2)

    @property
    def smallest_difference(self) -> float | None:
        """The target at which the smallest share that matters can be distinguished from zero."""
        return None if self.smallest is None else _rounded(self.smallest)


def suggest(workload: Workload, counts: Counts) -> Suggestion:
    """The differences that answers of the users ``counts`` (n,) suggest, from the queries shown.
    The distance of an answer from everyone counts if it is smaller than the answer: the last
    running totals are as informative as the first.

    >>> ldp.verdicts.suggest(ldp.workloads.histogram(50), np.full(50, 20)).difference
    0.01
    """
    shares = np.sort(_distances(_sizes(workload, counts, shown_queries(workload))))
    shares = shares[shares > _ROUNDING]
    if not len(shares):
        return Suggestion(None, None)
    below = np.cumsum(shares) / np.sum(shares)
    smallest = shares[np.searchsorted(below, NEGLIGIBLE + _ROUNDING, side="right")]
    return Suggestion(float(np.sqrt(np.mean(shares**2))), float(smallest))


def group_targets(workload: Workload, counts: Counts) -> dict[int, float]:
    """The differences that the answers of each group of questions (`Workload.groups_of`) suggest:
    half of a typical answer.

    The answers of a union of running totals and a histogram differ by far. One target for both
    would call a cell of a histogram usable though its error is as large as the cell.
    """
    queries = judged_queries(workload)
    whole = suggest(workload, counts).difference
    groups, of = np.unique(workload.groups_of(queries), return_inverse=True)
    if len(groups) == 1:
        return {int(groups[0]): whole}
    shares = _distances(_sizes(workload, counts, queries))
    kept = shares > _ROUNDING
    number = np.bincount(of[kept], minlength=len(groups))
    squares = np.bincount(of[kept], shares[kept] ** 2, minlength=len(groups))
    return {
        int(group): _rounded(math.sqrt(square / many) / 2) if many else whole
        for group, square, many in zip(groups, squares, number, strict=True)
    }


def differences(
    workload: Workload, counts: Counts, queries: np.ndarray, target: float | Mapping[int, float]
) -> np.ndarray:
    """(q,) the difference that each answer must show, as a share of all users: ``target``, the same for all or by group of
    questions (those that are missing take the smallest), and never more than the answer that is expected of the users
    ``counts`` (n,).

    >>> w = ldp.workloads.union([ldp.workloads.prefix(4), ldp.workloads.histogram(4)])
    >>> counts = np.array([60, 30, 9, 1])
    >>> ldp.verdicts.differences(w, counts, np.arange(8), ldp.verdicts.group_targets(w, counts)).tolist()
    [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.09, 0.01]
    """
    sizes = _sizes(workload, counts, queries)
    if not isinstance(target, Mapping):
        return np.minimum(target, sizes)
    least = min(target.values())
    return np.minimum([target.get(int(group), least) for group in workload.groups_of(queries)], sizes)


def _sizes(workload: Workload, counts: Counts, queries: np.ndarray) -> np.ndarray:
    """(q,) answers without their sign, as shares of all users."""
    return np.abs(unweighted_answers(workload, counts, queries)) / float(users_of(counts))


def _distances(sizes: np.ndarray) -> np.ndarray:
    """(q,) the distance of answers from no one or from everyone, whichever is nearer."""
    return np.where(sizes <= 1, np.minimum(sizes, 1 - sizes), sizes)


def _rounded(difference: float) -> float:
    """One significant digit, within what can be asked for."""
    return min(max(float(f"{difference:.0e}"), LEAST_DIFFERENCE), LARGEST_DIFFERENCE)


def in_words(difference: float) -> str:
    """A difference of shares: "1 percentage point"."""
    text = wording.significant(100 * difference)
    return f"{text} percentage point{'' if text == '1' else 's'}"
