"""A lower bound from one real-valued question, which is the optimum where nothing else is asked.

The derivation stands in `ldp_core.bounds.verify`, which also checks it: for any questions, whatever asks the most of them in one direction z, which
have the answers G z.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.question.search import Exchange
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Interrupted
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload


def question_certificate(
    workload: Workload, epsilon: float, prior: np.ndarray | None, direction: np.ndarray, budget: Budget
) -> Certificate:
    """The best certificate for questions along one ``direction`` within ``budget``: from the closed form on. Without a ``prior`` it is that for
    the hardest one, whose ``variance`` bounds the worst type's."""
    known = workload.trace if prior is None else workload.n * float(prior @ workload.gram_diag)
    search = Exchange(workload.apply_gram(direction), prior, check_epsilon(epsilon), budget.check)
    with blas_threads(workload.n), suppress(Interrupted):
        while not search.finished and budget.stopped() is None:
            search.round()
            budget.tell(bound=known + workload.n * search.on_scale(search.dual.value))
    alpha, beta = search.multipliers()
    numbers = {"direction": direction, "alpha": alpha, "beta": beta}
    best = Certificate(workload, epsilon, 0.0, "question", numbers, search.dual.prior if prior is None else prior)
    return replace(best, value=best.claim())
