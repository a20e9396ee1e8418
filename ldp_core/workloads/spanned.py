"""The consequences of the answers to a workload: the queries in its row space."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Product, Union
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.ordered import AllRange, Histogram, Prefix, WidthRange
from ldp_core.workloads.subsets import AllMarginals, KWayMarginals


def spans(workload: Workload, rows: np.ndarray | Callable[[], np.ndarray]) -> bool:
    """True if ``rows`` (k, n) lie in the row space of a workload; taken not to where that takes long to find out."""
    if isinstance(workload, Histogram | Prefix | AllRange | WidthRange):
        return True  # of full rank
    if workload.n > AT_ONCE_TYPES:
        return False
    wanted = (rows() if callable(rows) else rows).T
    gram = workload.gram_dense()
    solution = np.linalg.lstsq(gram, wanted, rcond=1e-10)[0]
    return bool(np.abs(gram @ solution - wanted).max() <= 1e-6)


@lru_cache(maxsize=64)
def tells_everybody(workload: Workload) -> bool:
    """True if the number of all people follows from the answers; taken not to where that takes long to find out."""
    if workload.survey is not None:
        return any(tells_everybody(group.base) for group in workload.survey.groups)
    if isinstance(workload, AllMarginals | KWayMarginals):
        return True  # every table holds everyone
    if isinstance(workload, Product) and all(map(tells_everybody, workload.factors)):
        return True
    if isinstance(workload, Union) and any(map(tells_everybody, workload.parts)):
        return True
    if isinstance(workload, OnAttributes) and workload.used == tuple(workload.shape[i] for i in workload.kept):
        return tells_everybody(workload.base)
    return spans(workload, lambda: np.ones((1, workload.n)))
