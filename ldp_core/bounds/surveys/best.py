"""The best proven lower bound for a survey that is found in the time there is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ldp_core.bounds.proof import Proof
from ldp_core.bounds.surveys import binary
from ldp_core.bounds.surveys.binary import BinaryCertificate
from ldp_core.bounds.surveys.certificate import SurveyCertificate
from ldp_core.bounds.surveys.grouped import GroupedCertificate, grouped, split
from ldp_core.bounds.surveys.search import closed_form, improved
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Interrupted
from ldp_core.workloads import Survey, Workload

Prove = Callable[[Workload, float, Budget], Proof]
"""How to bound the questions on one table, within a budget."""


def survey_certificate(
    survey: Survey, epsilon: float, budget: Budget, prove: Prove
) -> SurveyCertificate | BinaryCertificate | GroupedCertificate:
    """The bound for any `Survey`, the closed form at once; ``prove`` is for questions that follow an order or single out values."""
    epsilon = check_epsilon(epsilon)
    if survey.symmetric:
        return _alike(survey, epsilon, budget)
    same, others = split(survey)
    alike = None if same is None else closed_form(same, epsilon)
    known: dict[str, Proof | None] = {}
    best = grouped(survey, epsilon, alike, [None] * len(others))
    for group in others:
        if group.base.digest in known:
            continue
        left = budget.left()
        share = None if left is None else left / (len({other.base.digest for other in others}) - len(known) + 1)
        with suppress(ValueError):  # the table is too large: nothing is proved about it
            known[group.base.digest] = prove(group.base, epsilon, Budget(share, None, budget.cancelled))
        best = grouped(survey, epsilon, alike, [known.get(other.base.digest) for other in others])
        budget.tell(bound=best.value)
        if budget.stopped() is not None:
            return best
    if same is not None:
        found = _alike(same, epsilon, Budget(budget.left(), None, budget.cancelled))
        best = grouped(survey, epsilon, found, list(best.others))
        budget.tell(bound=best.value)
    return best


def _alike(survey: Survey, epsilon: float, budget: Budget) -> SurveyCertificate | BinaryCertificate:
    closed = closed_form(survey, epsilon)
    found: SurveyCertificate | BinaryCertificate = closed
    budget.tell(bound=closed.value)
    if not survey.components.sets:
        return closed
    with suppress(Interrupted):
        if binary.fits(survey):
            for candidate in binary.best(survey, epsilon, budget.check):
                if candidate.value > found.value:
                    found = candidate
                    budget.tell(bound=found.value)
        for better, limit in improved(survey, epsilon, closed, budget):
            if better.value > found.value:
                found = better
            budget.tell(bound=found.value, relaxation=max(found.value, limit))
    return found
