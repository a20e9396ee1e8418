"""Answers that the reports contradict. Biased estimates take something for granted; where that fails they can be far from what the reports say.

Norm-Sub moves the counts of all types as if each were known about equally well. The best mechanism
for one condition answers it fifty times as accurately as the counts behind it, and the closest
possible counts then give quite another answer.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.estimators.registry import spec

FAR = 6.0
"""Standard errors between an answer and the unbiased one from the same reports, past which chance is no explanation."""
WORSE = 3.0
"""How many times the error of the unbiased answers that of others may have before it is said."""


def contradicted_in_words(answers: pd.DataFrame, name: str) -> str:
    """That some ``answers`` by the estimator ``name`` are contradicted by their reports, in sentences; empty where none is. They have columns
    answer, unbiased (from the same reports) and promised (its standard error)."""
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
