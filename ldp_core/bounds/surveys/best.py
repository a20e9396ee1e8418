"""The best lower bound proved for a survey within the time limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.surveys import singles
from ldp_core.bounds.surveys.certificate import closed_form
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.bounds.triples.certificate import improved
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.run import Budget, Interrupted
from ldp_core.workloads import Survey


def survey_certificate(survey: Survey, epsilon: float, budget: Budget) -> Certificate:
    """The bound for any `Survey`: the closed form at once, and what proves more while there is time where questions treat values alike."""
    best = closed_form(survey, check_epsilon(epsilon))
    budget.tell(bound=best.value)
    if not survey.symmetric:
        return best
    candidates = _candidates(survey, epsilon, best, budget)
    with suppress(Interrupted):
        while budget.stopped() is None:
            candidate = next(candidates, None)
            if candidate is None:
                break
            if candidate.value > best.value:
                best = candidate
            budget.tell(bound=best.value)
    return best


def _candidates(survey: Survey, epsilon: float, closed: Certificate, budget: Budget) -> Iterator[Certificate]:
    """Certificates of every kind, the most promising kind first. Certificates by pairs come first for attributes of
    two values if the best share of a set, 1/(E + 1), is a cell or more of the largest table in a
    question. The bound then depends mainly on the fact that this share is no whole number of cells."""
    if not survey.components.sets:
        return
    best, bits = closed.value, max(survey.shape) == 2
    coarse = bits and 2 ** max(map(len, survey.components.sets)) >= exp_epsilon(epsilon) + 1
    by_pairs = _by_pairs(survey, epsilon, budget)
    for pairs in by_pairs if coarse else ():
        best = max(best, pairs.value)
        yield pairs
    yield from improved(closed, check=budget.check, beyond=best)
    if singles.fits(survey):
        search = singles.SinglesSearch(survey, epsilon, budget.check)
        for certificate in search.starts():
            best = max(best, certificate.value)
            yield certificate
        if best > closed.value:
            yield from search.rounds()
    yield from by_pairs


def _by_pairs(survey: Survey, epsilon: float, budget: Budget) -> Iterator[Certificate]:
    # A fifth of a second a round, and the first few gain nearly all.
    certificate = symmetric_certificate(survey, epsilon, lambda: budget.stopped() is not None, 6)
    if certificate is not None:
        yield certificate
