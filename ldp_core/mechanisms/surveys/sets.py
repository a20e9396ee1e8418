"""Sets of attributes: which of them others hold, and how often each is drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ldp_core import anova
from ldp_core.anova import Set
from ldp_core.privacy import in_steps
from ldp_core.workloads import Survey, Workload

NO_SURVEY = "It is for surveys, where questions are about a few of several columns at a time."
"""Why mechanisms that are for surveys only do not answer other workloads."""


def maximal_sets(survey: Survey) -> tuple[Set, ...]:
    """The sets of attributes that a survey asks about, without those that another one holds and without attributes of one value.
    ValueError where none is left."""
    sets = {tuple(i for i in group.attributes if survey.shape[i] > 1) for group in survey.groups} - {()}
    if not sets:
        raise ValueError("All attributes asked about have only one value: there is nothing to find out.")
    return tuple(sorted(anova.maximal(sets)))


def only_survey(workload: Workload) -> Survey:
    """``workload``, a survey, or a ValueError."""
    if workload.survey is None:
        raise ValueError(f"{NO_SURVEY} Make one with workloads.survey.")
    return workload.survey


def given_shares(shares: Sequence[float], sets: int) -> np.ndarray:
    """(K,) ``shares`` that sum to 1, in steps. ValueError for others than one positive number for each set."""
    shares_given = np.asarray(shares, dtype=float)
    if shares_given.shape != (sets,) or not np.all(np.isfinite(shares_given)) or not np.all(shares_given > 0):
        raise ValueError(f"Give a positive share for each of the {sets:,} sets of attributes that are drawn.")
    return in_steps(shares_given)


def shares_of_all(survey: Survey, sets: Sequence[anova.Set], information: np.ndarray) -> np.ndarray:
    """(K,) those that make ``sum_A dim_A g_A / m_A`` least, m_A being the sum of shares times ``information`` (K,) over the sets that
    hold A: a convex problem, solved by multiplying each share with the square root of its derivative (Torsney 1983)."""
    known = survey.components
    places = {members: k for k, members in enumerate(known.sets)}
    inside = [
        (places[within], k) for k, members in enumerate(sets) for within in anova.subsets(members) if within in places
    ]
    rows, columns = np.array(inside).T
    holds = sparse.csr_array((information[columns], (rows, columns)), shape=(len(places), len(sets)))
    costs, shares = known.dims * known.gram, np.full(len(sets), 1 / len(sets))
    for _ in range(1_000):
        sums = holds @ shares
        gains = holds.T @ (costs / sums**2)
        value = float(costs @ (1 / sums))
        if (
            gains.max() <= (1 + 1e-9) * value
        ):  # the derivative in the direction of the best set: how much there is to gain
            break
        shares = shares * np.sqrt(gains)
        shares /= shares.sum()
    return in_steps(np.maximum(shares, 1e-6 / len(shares)))  # with less, reports would be given enormous weights
