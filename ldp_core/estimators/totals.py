"""How many people answers add up to. Estimators that fit no total may make of some people more of them, or fewer."""

from __future__ import annotations

import math

from ldp_core import wording
from ldp_core.estimators.registry import spec
from ldp_core.mechanisms.base import Estimate
from ldp_core.workloads import Workload, tells_everybody

NOTICED = 0.005
"""The share of people by which answers must miss their number before it is said."""


def people_told(estimate: Estimate, workload: Workload) -> float:
    """How many people the answers to ``workload`` add up to; nan where parts do not add up to a whole, or no answers tell."""
    return estimate.total if estimate.adds_up and tells_everybody(workload) else math.nan


def misses(total: float, users: float) -> bool:
    """True if answers that add up to ``told`` people miss the number of ``users`` by enough to say so; not where that is nan."""
    return abs(total - users) > max(NOTICED * users, 0.5)


def remedy(*names: str) -> str:
    """An alternative to the estimators ``names`` where answers must add up, in a sentence; empty if
    there is none."""
    return f"{spec('wnnls_total').title} keeps to that number." if "wnnls" in names else ""


def missed_in_words(total: float, users: float, name: str) -> str:
    """That answers by the estimator ``name`` add up to ``told`` people where there are ``users``; empty where they do, or no one knows."""
    if not misses(total, users):
        return ""
    sentence = f"These answers add up to {wording.count(total)} people, and {wording.count(users)} took part: this estimate fits no total."
    return " ".join(filter(None, [sentence, remedy(name)]))
