"""The errors of single queries and of groups of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ldp_core.errors import variances_of
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counts, users_of
from ldp_core.run import Cancel, asked
from ldp_core.workloads import Workload
from ldp_core.workloads.shown import shown_queries


def query_errors(
    compared: Sequence[Mechanism] | Mapping[str, Mechanism],
    workload: Workload,
    counts: Counts,
    labels: Sequence[str],
    queries: np.ndarray | None = None,
    cancel: Cancel | None = None,
) -> pd.DataFrame:
    """name, query, label, standard_error (share of all users) of the unbiased answers to ``queries`` (None: some, evenly
    spread), without their weights, on the data ``counts``. Once cancelled (see `ldp_core.run`) it returns the mechanisms it
    has, at least the first. Variants of one mechanism come with their names."""
    queries, cancelled = shown_queries(workload) if queries is None else queries, asked(cancel)
    names = [workload.query_name(int(query), labels) for query in queries]
    users, parts = float(users_of(counts)), list[pd.DataFrame]()
    named = (
        compared.items()
        if isinstance(compared, Mapping)
        else [(compared_mechanism.name, compared_mechanism) for compared_mechanism in compared]
    )
    for name, mechanism in named:
        if parts and cancelled():
            break
        errors = np.sqrt(variances_of(mechanism, workload, counts, queries)) / users
        parts.append(pd.DataFrame({"name": name, "query": queries, "label": names, "standard_error": errors}))
    return pd.concat(parts, ignore_index=True)
