"""The best proven lower bound for any workload: the one way to a certificate.

By sets of attributes, by classes of pairs of types, or by types, merged where questions tell few apart.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from ldp_core.bounds.general.certificate import general_certificate
from ldp_core.bounds.general.merged import MERGED_TYPES as MOST_MERGED
from ldp_core.bounds.general.merged import MergedCertificate, scaled
from ldp_core.bounds.proof import Certificate, Proof
from ldp_core.bounds.question.certificate import question_certificate
from ldp_core.bounds.question.search import direction
from ldp_core.bounds.strata import stratified_certificate
from ldp_core.bounds.surveys.best import survey_certificate
from ldp_core.bounds.symmetric.certificate import symmetric_certificate
from ldp_core.bounds.triples import certificate as triples
from ldp_core.limits import AT_ONCE_TYPES, MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.run import Budget, Callback, Cancel, Interrupted, Progress
from ldp_core.workloads import Survey, Workload, check_weights
from ldp_core.workloads.merging import Merged, merged
from ldp_core.workloads.surveyed import as_tables


def certificate(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 30.0,
    prior: np.ndarray | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> Proof:
    """The best lower bound on L(Q) proved within ``time_limit`` seconds, true for every epsilon-LDP
    strategy Q.

    Starts from the centred SVD bound, which has a certificate in closed form, and looks for better
    multipliers (`ldp_core.bounds.general.dual`): milliseconds for 32 types, under a second for 128.
    Past 128 types, blocks of types that are alike come first: a second for 512 types, half a minute
    for 4,096. Past 256 the search stops there if blocks tell most of the workload, as with totals
    and ranges, and past 1,024 in any case. ``prior``
    (n,) bounds ``tr(M_p^-1 G)`` instead, as in `ldp_core.optimize.design`. Symmetric workloads
    (exchangeable, hamming; uniform prior) take milliseconds at any size, seconds where cuts are
    found for low degrees. Surveys of any size are bounded by sets of
    attributes, see `ldp_core.bounds.surveys`: the closed form takes no time, the full bound
    seconds. One real-valued question (a mean, a contrast) has its optimum proved.
    Questions about few of twelve or more bits at a time are bounded as the equivalent `Survey`. Questions that distinguish few of many types (a dozen conditions, say) are bounded
    over the merged types: a `MergedCertificate`. Questions without structure are where relaxations
    lose most: the gap is about 15 % for 20 random conditions on 256 types at epsilon 1, where
    minutes of search improve the strategy by less than 0.1 %. Proving more means bounding a random
    quadratic form over all sets of types. No fast method is expected for that (Bandeira, Kunisky
    and Wein, ITCS 2020). ``callback`` (after each stage, with ``bound``) and ``cancel`` as in `ldp_core.run`: cancelled early, more
    than 1,024 types may have a bound of 0. Raises ValueError past
    `ldp_core.limits.MOST_MATRIX_TYPES` types: use `centred_svd`.

    >>> proof = ldp.bounds.certificate(ldp.workloads.histogram(64), epsilon=1.0, time_limit=None)
    >>> proof
    <Certificate: lower bound 14618.7, epsilon 1, <histogram workload: 64 queries on 64 types>>
    >>> proof.verify()
    True
    """
    check_weights(workload)
    budget = Budget(time_limit, None, cancel, callback)
    if workload.strata is not None:
        shares = None if prior is None else check_prior(prior, workload.n)
        return stratified_certificate(workload, epsilon, budget, shares, partial(_by_kind, epsilon=epsilon))
    return _by_kind(workload, prior, budget, epsilon)


def _by_kind(workload: Workload, prior: np.ndarray | None, budget: Budget, epsilon: float) -> Proof:
    """By the proof that suits the questions."""
    workload = as_tables(workload) or workload
    if prior is None and workload.symmetry == "exchangeable" and (found := _of_classes(workload, epsilon, budget)):
        return found
    if workload.n <= MOST_MATRIX_TYPES and (along := direction(workload)) is not None:
        return question_certificate(workload, epsilon, check_prior(prior, workload.n), along, budget)
    if prior is not None:
        return general_certificate(workload, epsilon, check_prior(prior, workload.n), budget)
    return _of_merged(workload, epsilon, budget) or _of_all_types(workload, epsilon, budget)


def _of_all_types(workload: Workload, epsilon: float, budget: Budget) -> Proof:
    """By sets of attributes, by classes of pairs of types, or by types, none merged."""
    if (survey := as_tables(workload)) is not None:
        return _of_survey(survey, epsilon, budget)
    certificate = _of_classes(workload, epsilon, budget)
    return certificate or general_certificate(workload, epsilon, check_prior(None, workload.n), budget)


def merged_questions(workload: Workload, budget: Budget) -> Merged | None:
    """The questions about merged types, where they distinguish only few of many types, and proofs by types come first."""
    if workload.survey is not None and (workload.survey.symmetric or workload.n <= AT_ONCE_TYPES):
        return None
    if workload.n <= AT_ONCE_TYPES and (workload.symmetry_group.scheme is not None or not workload.distinguished):
        return None
    with suppress(Interrupted):
        return merged(workload, MOST_MERGED, budget.check)
    return None


def _of_merged(workload: Workload, epsilon: float, budget: Budget) -> MergedCertificate | None:
    """The certificate over merged types, where the questions distinguish only few of many types."""
    merging = merged_questions(workload, budget)
    if merging is None:
        return None
    unit = float(workload.n) / merging.queries.n

    def tell(progress: Progress) -> None:
        budget.tell(bound=unit * (progress.bound or 0.0))

    types = general_certificate(
        merging.queries, epsilon, merging.prior, Budget(budget.left(), None, budget.cancelled, tell)
    )
    return MergedCertificate(workload, epsilon, scaled(workload, types), types)


def _of_classes(workload: Workload, epsilon: float, budget: Budget) -> Certificate | None:
    """By classes of pairs of types, and where only low degrees are asked about by triples."""

    def stop() -> bool:
        return budget.stopped() is not None

    total = budget.left()

    def half() -> bool:  # triples prove more in a second than classes do in several
        return stop() or (
            total is not None and triples.components(workload) is not None and (budget.left() or 0.0) < total / 2
        )

    plain = symmetric_certificate(workload, epsilon, half)
    if plain is None:
        return None
    best = plain
    with suppress(Interrupted):
        for improved in triples.improved(plain, stop, budget.check):
            best = improved if improved.value > best.value else best
            budget.tell(bound=best.value)
    return best


def _of_survey(survey: Survey, epsilon: float, budget: Budget) -> Proof:
    """By sets of attributes, and by types as well where these are few."""

    by_survey = survey_certificate(survey, epsilon, budget)
    few = survey.n <= (AT_ONCE_TYPES if survey.symmetric else MOST_MATRIX_TYPES)
    if not few or budget.stopped() is not None:
        return by_survey
    by_types = general_certificate(survey, epsilon, check_prior(None, survey.n), budget)
    return by_types if by_types.value > by_survey.value else by_survey
