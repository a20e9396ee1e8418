"""The league: users needed by every mechanism of the field, as multiples of the proved minimum.

All for the worst case on `TYPES` types: a mechanism's exact variance for the type it serves worst, over the variance below which a
certificate proves that no unbiased epsilon-LDP mechanism's worst type can be (`ldp_core.bounds.worst_case`). Users needed for any target
error are in the same proportion. Fits end after as many rounds as in sweeps, so that the numbers do not depend on a machine's speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldp_core import bounds, library
from ldp_core.papers import stored
from ldp_core.papers.settings import FAMILIES, Family
from ldp_core.run import Budget, Callback, Cancel
from ldp_core.studies import sweep

KEY = "league"
TYPES = 64
EPSILONS = (0.5, 1.0, 3.0)
WORKLOADS = FAMILIES[:3]
VARIANTS = (
    "hierarchical(oracle=oue)",
    "hierarchical(oracle=subset_selection)",
    "hierarchical(oracle=hadamard, reconstruction=optimal)",
)
"""Trees with even levels, by what reports their nodes: papers have the first and the last. The tree without parameters fits its levels to
the questions."""
PARAMETERS = {"optimized": {"target": "worst_case"}}

MEANING = (
    "The worst case counts: whatever people answer. The minimum is one that a certificate proves no unbiased mechanism with pure "
    "epsilon to go below; multiples are rounded up. * promises only (epsilon, delta), with a delta of one in a million."
)
"""The table in sentences."""

COLUMNS = ("workload", "epsilon", "name", "variance", "least", "multiple")
"""The columns of the league's frame, a row per figure: variance per user in the worst case, its
lower bound, and their ratio."""

Row = tuple[str, float, str, float, float, float]
"""One of them, in the order of `COLUMNS`."""


def names() -> list[str]:
    """The mechanisms of the league: all that answer more than surveys, and some variants."""
    return [*(name for name in library.names() if not library.spec(name).surveys_only), *VARIANTS]


def compute(
    callback: Callback | None = None, cancel: Cancel | None = None, mechanisms: Sequence[str] | None = None
) -> pd.DataFrame:
    """The frame with `COLUMNS`, of ``mechanisms`` or all `names`, without places where a mechanism cannot run; what is finished when
    somebody cancels."""
    mechanisms, rows = names() if mechanisms is None else mechanisms, list[Row]()
    places = [(family, epsilon) for family in WORKLOADS for epsilon in EPSILONS]
    budget = Budget(None, len(places) * (1 + len(mechanisms)), cancel, callback)
    for family, epsilon in places:
        if budget.stopped():
            break
        least = minimum(family, epsilon, cancel)
        budget.tell()
        for name in mechanisms:
            point = sweep.SweepPoint(name, family.on(TYPES), epsilon, PARAMETERS.get(name, {}))
            evaluated = None if budget.stopped() else sweep.evaluate(point, cancel)
            if evaluated is None:
                return _frame(rows)
            if not evaluated.reason:
                rows.append((family.title, epsilon, name, evaluated.worst_case, least, evaluated.worst_case / least))
            budget.tell()
    return _frame(rows)


def minimum(family: Family, epsilon: float, cancel: Cancel | None = None) -> float:
    """The proved minimum of the variance per user in the worst case."""
    return bounds.worst_case(family.on(TYPES), epsilon, time_limit=None, cancel=cancel).variance


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read() -> pd.DataFrame:
    """The frame as it is stored; ``python -m ldp_core.papers make league`` makes it again."""
    return stored.read(KEY)


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """The league in words: a row per mechanism, the best first (by the geometric mean of its multiples; those with gaps come last), and a
    column per workload and epsilon. Multiples are rounded up; "" where a mechanism cannot run."""
    wide = frame.pivot(index="name", columns=["workload", "epsilon"], values="multiple")
    wide = wide.reindex(columns=[(family.title, epsilon) for family in WORKLOADS for epsilon in EPSILONS])
    order = pd.DataFrame({"gaps": wide.isna().sum(axis=1), "mean": np.log(wide).mean(axis=1)})
    wide = wide.loc[order.sort_values(["gaps", "mean"]).index]
    texts = wide.map(lambda multiple: "" if math.isnan(multiple) else in_words(multiple))
    texts.columns = [f"{workload}, {epsilon:g}" for workload, epsilon in wide.columns]
    texts.insert(0, "Mechanism", [_title(name) for name in wide.index])
    return texts.reset_index(drop=True)


def in_words(multiple: float) -> str:
    """A multiple, rounded up to two places or three digits; what is within 1e-5 of the minimum reads 1.00, as proofs leave that much.

    >>> from ldp_core.papers import league
    >>> [league.in_words(multiple) for multiple in (1 + 1e-7, 1.0003, 23.41, 104.2)]
    ['1.00', '1.01', '23.5', '105']
    """
    places = 2 if multiple < 10 else 1 if multiple < 100 else 0
    return f"{math.ceil(multiple * 10**places - 1e-3) / 10**places:,.{places}f}"


def _title(name: str) -> str:
    """A title, with a mark where what is promised is less than that of the others."""
    entry = library.spec(name)
    return f"{entry.title} *" if entry.delta else entry.title
