"""The best lower bound proved for a survey within the time limit.

Bounds on Fourier weight from few bits to more, for columns of two values, were tried and removed
(660 lines, for surveys and for marginals and parities). Measured without and with them, gap to the
best design: pairs of six columns at epsilon 2 and 3, 0.54 and 0.15 % without, none with (their
exact numbers stood in tables); parities of at most two of six at epsilon 3, 0.75 % and none; of
five, seven, eight and nine columns, the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from ldp_core.bounds.proof import Proof
from ldp_core.bounds.surveys import singles
from ldp_core.bounds.surveys.blocks import BlocksCertificate, blocks_certificate
from ldp_core.bounds.surveys.certificate import SurveyCertificate, closed_form
from ldp_core.bounds.surveys.grouped import GroupedCertificate, grouped, split
from ldp_core.bounds.surveys.singles import SinglesCertificate
from ldp_core.bounds.symmetric.certificate import SymmetricCertificate, symmetric_certificate
from ldp_core.bounds.triples import surveys as triples
from ldp_core.bounds.triples.surveys import TripleSurveyCertificate
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.run import Budget, Interrupted
from ldp_core.workloads import Survey, Workload

Prove = Callable[[Workload, float, Budget], Proof]
"""How to bound the questions on one table, within a budget."""
OfSets = SurveyCertificate | TripleSurveyCertificate | SinglesCertificate
OfColumns = OfSets | SymmetricCertificate
# Most rounds of the bound by pairs of types: a fifth of a second each, and the first few gain nearly all.
PAIR_ROUNDS = 6


def survey_certificate(
    survey: Survey, epsilon: float, budget: Budget, prove: Prove
) -> OfColumns | GroupedCertificate | BlocksCertificate:
    """The bound for any `Survey`, the closed form at once; ``prove`` is for questions that follow an order or single out values."""
    epsilon = check_epsilon(epsilon)
    if survey.symmetric:
        return _alike(survey, epsilon, budget)
    same, others = split(survey)
    alike = None if same is None else closed_form(same, epsilon)
    known: dict[str, Proof | None] = {}
    best = grouped(survey, epsilon, alike, [None] * len(others))
    together: BlocksCertificate | None = None
    with suppress(ValueError):  # a table is too large
        together = blocks_certificate(survey, epsilon, best)
    budget.tell(bound=_better(together, best).value)
    for group in others:
        if group.base.digest in known:
            continue
        left = budget.left()  # where it is over, what is proved is the closed form
        share = None if left is None else left / (len({other.base.digest for other in others}) - len(known) + 1)
        with suppress(ValueError):  # the table is too large: nothing is proved about it
            known[group.base.digest] = prove(group.base, epsilon, Budget(share, None, budget.cancelled))
        best = grouped(survey, epsilon, alike, [known.get(other.base.digest) for other in others])
        budget.tell(bound=_better(together, best).value)
    if same is not None:
        of_columns = _alike(same, epsilon, Budget(budget.left(), None, budget.cancelled))
        best = grouped(survey, epsilon, of_columns, list(best.others))
        budget.tell(bound=_better(together, best).value)
    return _better(together, best)


def _better(together: BlocksCertificate | None, parts: GroupedCertificate) -> GroupedCertificate | BlocksCertificate:
    return parts if together is None or together.value <= parts.value else replace(together, plain=parts)


def _alike(survey: Survey, epsilon: float, budget: Budget) -> OfColumns:
    closed = closed_form(survey, epsilon)
    best: OfColumns = closed
    budget.tell(bound=closed.value)
    candidates = _candidates(survey, epsilon, closed, budget)
    with suppress(Interrupted):
        while budget.stopped() is None:
            candidate = next(candidates, None)
            if candidate is None:
                break
            if candidate.value > best.value:
                best = candidate
            budget.tell(bound=best.value)
    return best


def _candidates(survey: Survey, epsilon: float, closed: SurveyCertificate, budget: Budget) -> Iterator[OfColumns]:
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
    if triples.fits(survey):
        yield from triples.best(survey, epsilon, best, budget.check)
    if singles.fits(survey):
        search = singles.SinglesSearch(survey, epsilon, budget.check)
        for certificate in search.starts():
            best = max(best, certificate.value)
            yield certificate
        if best > closed.value:
            yield from search.rounds()
    yield from by_pairs


def _by_pairs(survey: Survey, epsilon: float, budget: Budget) -> Iterator[SymmetricCertificate]:
    certificate = symmetric_certificate(survey, epsilon, lambda: budget.stopped() is not None, PAIR_ROUNDS)
    if certificate is not None:
        yield certificate
