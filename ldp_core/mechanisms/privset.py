"""PrivSet (Wang et al. 2018): lists of at most m of k items, made as long as m by dummies; a report is a set that meets one's own e^epsilon times as
often.

S. Wang, L. Huang, Y. Nie, P. Wang, H. Xu, W. Yang: PrivSet: Set-Valued Data Analyses with Locale Differential Privacy. INFOCOM 2018.

A list of j items takes the first m - j of m dummies, so that it meets a set of l items and dummies where it shares an item, or where it is short enough
for a dummy of the set. The published errors are the same whichever dummies it takes; reports whose first dummy is the same say the same.
"""

from __future__ import annotations

import math

import numpy as np

from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.workloads import Workload
from ldp_core.workloads.lists import Lists, lists_of

NO_LISTS = "It is for answers that are up to m of k items, and questions that treat the items alike."


def variances(lists: Lists, epsilon: float, size: int) -> np.ndarray:
    """(most + 1,) the variance a person of the counts of all items by the published estimator, for lists of each length and reports
    of ``size`` items and dummies."""
    E, m, universe = math.exp(epsilon), lists.most, lists.items + lists.most
    every, apart = math.comb(universe, size), math.comb(lists.items, size)
    mass = E * (every - apart) + apart
    held, meets = math.comb(universe - 1, size - 1), math.comb(universe - 1 - m, size - 1)
    p, q = E * held / mass, (E * (held - meets) + meets) / mass
    chosen = np.arange(m + 1)
    return (chosen * p * (1 - p) + (lists.items - chosen) * q * (1 - q)) / (p - q) ** 2


def best_size(lists: Lists, epsilon: float) -> int:
    """The size of least average variance over all lists."""
    return min(range(1, lists.items + 1), key=lambda size: float(lists.counts @ variances(lists, epsilon, size)))


def build(workload: Workload, epsilon: float, size: int | None = None) -> ExplicitMechanism:
    """Reports of ``size`` items and dummies, None for the best; ValueError for other types than lists of items, and past what is written out."""
    lists, reason = _lists(workload, check_epsilon(epsilon))
    if lists is None or reason:
        raise ValueError(reason)
    size = best_size(lists, epsilon) if size is None else size
    if not 1 <= size <= lists.items:
        raise ValueError(f"The size must be a whole number from 1 to {lists.items}; got {size}.")
    E, parts = exp_epsilon(epsilon), list[np.ndarray]()
    for dummies in range(min(size, lists.most) + 1):
        meets = lists.sets(size - dummies) @ lists.members.T >= 1
        # By the first dummy of a report, and how many choices there are of the others.
        firsts = range(1, lists.most - dummies + 2) if dummies else [lists.most + 1]
        for first in firsts:
            many = math.comb(lists.most - first, dummies - 1) if dummies else 1
            parts.append(many * np.where(meets | (lists.sizes <= lists.most - first), E, 1.0))
    strategy = np.vstack(parts)
    explanation = (
        f"Dummies make every list {lists.most} long. Each person sends {size} of the {lists.items} items and {lists.most} dummies: any such set "
        "that holds one of their own e^epsilon times as often as any that holds none."
    )
    return ExplicitMechanism("privset", strategy / strategy[:, 0].sum(), epsilon, {"size": size}, explanation)


def unsuitable(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why it cannot run."""
    return None if workload is None else _lists(workload, epsilon)[1]


def _lists(workload: Workload, epsilon: float) -> tuple[Lists | None, str | None]:
    """The lists that types are, and why reports about them cannot be written out."""
    lists = None if workload.symmetry == "exchangeable" else lists_of(workload)
    if lists is None:
        return None, NO_LISTS
    size = best_size(lists, epsilon)
    rows = sum(
        math.comb(lists.items, size - dummies) * (lists.most if dummies else 1)
        for dummies in range(min(size, lists.most) + 1)
    )
    if rows * workload.n > MOST_STRATEGY_ENTRIES:
        return (
            lists,
            f"It needs a table of about {rows:,} x {workload.n:,} entries, too large to write out: choose fewer items.",
        )
    return lists, None
