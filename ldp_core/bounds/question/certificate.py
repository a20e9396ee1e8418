"""A lower bound from one real-valued question, which is the optimum where nothing else is asked.

The derivation stands in `ldp_core.bounds.verify`, which also checks it: for any questions, whatever asks the most of them in one direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.proof import OTHER_QUESTIONS, Arrays, Document, TypesProof
from ldp_core.bounds.question.search import Exchange
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Interrupted
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload


@dataclass(frozen=True, repr=False)
class QuestionCertificate(TypesProof):
    """A proven lower bound ``value`` on ``tr(M_p^-1 G)`` of every epsilon-LDP strategy (on L for the uniform prior).

    The proof: ``direction`` z, ``alpha`` and ``beta`` (each (n,)). The questions asked along z are those with the answers G z.
    """

    workload: Workload
    epsilon: float
    prior: np.ndarray
    value: float
    direction: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray

    proves_by = "the least value of a function of one number"
    file_kinds = (("question", None),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        names = ("direction", "alpha", "beta")
        return self._by_types("question", epsilon, {name: getattr(self, name) for name in names})

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> QuestionCertificate:
        if workload.n > MOST_MATRIX_TYPES:
            raise ValueError(OTHER_QUESTIONS)
        prior = verify.people({**document, "types": workload.n}, data)
        return cls(workload, epsilon, prior, 0.0, *(data[name] for name in ("direction", "alpha", "beta")))


def question_certificate(
    workload: Workload, epsilon: float, prior: np.ndarray | None, direction: np.ndarray, budget: Budget
) -> QuestionCertificate:
    """The best certificate for questions along one ``direction`` within ``budget``: from the closed form on. Without a ``prior`` it is that for
    the hardest one, whose ``variance`` bounds the worst type's."""
    known = workload.trace if prior is None else workload.n * float(prior @ workload.gram_diag)
    search = Exchange(workload.apply_gram(direction), prior, check_epsilon(epsilon), budget.check)
    with blas_threads(workload.n), suppress(Interrupted):
        while not search.finished and budget.stopped() is None:
            search.round()
            budget.tell(bound=known + workload.n * search.on_scale(search.dual.value))
    of = search.dual.prior if prior is None else prior
    best = QuestionCertificate(workload, epsilon, of, 0.0, direction, *search.multipliers())
    return best.claiming(best.claim())
