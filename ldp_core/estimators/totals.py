"""What is wrong with answers, in words: how many people they add up to, and whether the reports contradict them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.estimators.registry import spec
from ldp_core.mechanisms.base import Estimate
from ldp_core.workloads import Workload, tells_everybody

NOTICED = 0.005
"""The share of people by which answers must miss their number before it is said."""


def estimated_total(estimate: Estimate, workload: Workload) -> float:
    """How many people the answers to ``workload`` add up to; nan where parts do not add up to a whole, or no answers tell."""
    return estimate.total if estimate.adds_up and tells_everybody(workload) else math.nan


def misses(total: float, users: float) -> bool:
    """True if answers that add up to ``total`` people miss the number of ``users`` by enough to say so; not where that is nan."""
    return abs(total - users) > max(NOTICED * users, 0.5)


def remedy(*names: str) -> str:
    """An alternative to the estimators ``names`` where answers must add up, in a sentence; empty if
    there is none."""
    return f"{spec('wnnls_total').title} keeps to that number." if "wnnls" in names else ""


def missed_in_words(total: float, users: float, name: str) -> str:
    """That answers by the estimator ``name`` add up to ``total`` people where there are ``users``; empty where they do, or no one knows."""
    if not misses(total, users):
        return ""
    sentence = f"These answers add up to {wording.count(total)} people, and {wording.count(users)} took part: this estimate fits no total."
    return " ".join(filter(None, [sentence, remedy(name)]))


FAR = 6.0
"""Standard errors between an answer and the unbiased one from the same reports, past which chance is no explanation."""
WORSE = 3.0
"""How many times the error of the unbiased answers that of others may have before it is said."""


def contradicted_in_words(answers: pd.DataFrame, name: str) -> str:
    """That some ``answers`` by the estimator ``name`` are contradicted by their reports, in sentences; empty where none is. They have columns
    answer, unbiased (from the same reports) and promised (its standard error). Norm-Sub moves the counts of all types as if each were known about
    equally well; the best mechanism for one condition answers it fifty times as accurately as the counts behind it."""
    unbiased, queries = answers["unbiased"], len(answers)
    rounding = 1e-9 * unbiased.abs().max()
    number = int((np.abs(answers["answer"] - unbiased) > FAR * answers["promised"] + rounding).sum())
    if not number:
        return ""
    which = (
        f"{wording.count(number)} of these {queries:,} answers lie"
        if number > 1
        else f"One of these {queries:,} answers lies"
    )
    which = "The answer lies" if queries == 1 else which
    return f"{which} more than {FAR:.0f} standard errors from the unbiased one, which is not chance. {why(name)}"


def why(name: str) -> str:
    """The assumption of the estimator ``name``, and the alternative where it fails, in
    sentences."""
    if name == "norm_sub":
        return (
            f"{spec(name).short} takes the counts of all types for about equally well known, and these reports tell the questions far better "
            "than the counts behind them. Choose unbiased."
        )
    return "An assumption of this estimate does not hold here. Choose unbiased."
