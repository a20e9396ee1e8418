"""The best proven lower bound for any workload: the one way to a certificate.

By sets of attributes, by classes of pairs of types, or by types, merged where questions tell few apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from ldp_core.bounds.general.certificate import general_certificate
from ldp_core.bounds.general.merged import MERGED_TYPES as MOST_MERGED
from ldp_core.bounds.general.merged import MergedCertificate, scaled
from ldp_core.bounds.proof import Certificate, Proof
from ldp_core.bounds.question.search import question_certificate
from ldp_core.bounds.secret import secret_certificate
from ldp_core.bounds.strata import stratified_certificate
from ldp_core.bounds.surveys import singles
from ldp_core.bounds.surveys.certificate import closed_form
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.limits import AT_ONCE_TYPES, MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.run import Budget, Callback, Cancel, Interrupted, Progress
from ldp_core.workloads import Workload
from ldp_core.workloads.problem import Kind, Problem
from ldp_core.workloads.quotient import Quotient, distinguished, quotient


def certificate(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 30.0,
    prior: np.ndarray | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> Proof:
    """The best lower bound on L(Q) proved within ``time_limit`` seconds, true for every epsilon-LDP strategy Q: from the centred SVD bound on, a
    second for 512 types, half a minute for 4,096.

    ``prior`` (n,) bounds ``tr(M_p^-1 G)`` instead, as in `ldp_core.optimize.design`. Symmetric workloads (uniform prior) and surveys take no time at
    any size for a first bound, and seconds for more; one real-valued question has its optimum proved; questions that distinguish few of many types
    are bounded over these: a `MergedCertificate`. Questions without structure are where relaxations lose most: about 15 % for 20 random conditions on
    256 types at epsilon 1 (a random quadratic form over all sets of types: Bandeira, Kunisky and Wein, ITCS 2020). ``callback`` (after each stage,
    with ``bound``) and ``cancel`` as in `ldp_core.run`: cancelled early, more than 1,024 types may have a bound of 0. Raises ValueError past
    `ldp_core.limits.MOST_MATRIX_TYPES` types: use `centred_svd`.

    >>> proof = ldp.bounds.certificate(ldp.workloads.histogram(64), epsilon=1.0, time_limit=None)
    >>> proof
    <Certificate: lower bound 14618.7, epsilon 1, <histogram workload: 64 queries on 64 types>>
    >>> proof.verify()
    True
    """
    return _proved(Problem.of(workload, prior), epsilon, Budget(time_limit, None, cancel, callback))


def _proved(problem: Problem, epsilon: float, budget: Budget, near: Proof | None = None) -> Proof:
    """By the proof that suits the kind of questions; from `_of_types` for a prior, begun from a proof ``near`` it, and for merged types where these
    are few."""
    if problem.prior is not None and problem.kind not in ("strata", "secret", "question"):
        return _of_types(problem, epsilon, budget, near)
    if problem.kind in ("survey", "hamming", "types") and (merging := merged_questions(problem.questions, budget)):
        return _of_merged(problem.questions, merging, epsilon, budget)
    return PROOFS[problem.kind](problem, epsilon, budget)


def _of_strata(problem: Problem, epsilon: float, budget: Budget) -> Proof:
    def prove(local: Workload, prior: np.ndarray | None, turn: Budget, near: Proof | None) -> Proof:
        return _proved(Problem(local, prior), epsilon, turn, near)

    return stratified_certificate(problem.workload, epsilon, budget, problem.prior, prove)


def _of_question(problem: Problem, epsilon: float, budget: Budget) -> Certificate:
    assert problem.along is not None
    return question_certificate(problem.questions, epsilon, problem.shares, problem.along, budget)


def _of_types(problem: Problem, epsilon: float, budget: Budget, near: Proof | None = None) -> Certificate:
    begun = near if isinstance(near, Certificate) and near.kind == "general" else None
    return general_certificate(problem.questions, epsilon, problem.shares, budget, begun)


def merged_questions(workload: Workload, budget: Budget) -> Quotient | None:
    """The questions about merged types, where they distinguish only few of many types, and proofs by types come first."""
    if workload.survey is not None and (workload.survey.symmetric or workload.n <= AT_ONCE_TYPES):
        return None
    if workload.n <= AT_ONCE_TYPES and (workload.symmetry_group.scheme is not None or not distinguished(workload)):
        return None
    with suppress(Interrupted):
        return quotient(workload, MOST_MERGED, budget.check)
    return None


def _of_merged(workload: Workload, merging: Quotient, epsilon: float, budget: Budget) -> MergedCertificate:
    """The certificate over merged types."""

    def tell(progress: Progress) -> None:
        budget.tell(bound=float(workload.n) / merging.workload.n * (progress.bound or 0.0))

    remaining = Budget(budget.left(), None, budget.cancelled, tell)
    types = general_certificate(merging.workload, epsilon, merging.even, remaining)
    return MergedCertificate(workload, epsilon, scaled(workload, types), types)


def _of_columns(problem: Problem, epsilon: float, budget: Budget) -> Certificate:
    """By sets of columns, by classes of pairs of types where columns or types are alike, and by single columns where these prove more."""
    workload, best = problem.questions, None
    with suppress(Interrupted):
        for found in _by_columns(workload, epsilon, budget):
            best = found if best is None or found.value > best.value else best
            budget.tell(bound=best.value)
            if budget.stopped() is not None:
                break
    assert best is not None  # of a kind that has a first one
    return best


def _by_columns(workload: Workload, epsilon: float, budget: Budget) -> Iterator[Certificate]:
    """Certificates of every kind, from what takes no time on."""
    survey, proved = workload.survey, list[Certificate]()
    if survey is not None:
        proved.append(closed_form(survey, epsilon))
        yield proved[0]
        if not survey.symmetric:
            return
    by_classes = symmetric_certificate(workload, epsilon, lambda: budget.stopped() is not None)
    if by_classes is not None:
        proved.append(by_classes)
        yield by_classes
    if survey is not None and singles.fits(survey):
        most = max(found.value for found in proved)
        yield from singles.SinglesSearch(survey, epsilon, budget.check).certificates(most)


def _of_survey(problem: Problem, epsilon: float, budget: Budget) -> Proof:
    """By sets of columns, and by types as well where these are few."""
    survey = problem.survey
    assert survey is not None
    by_columns = _of_columns(problem, epsilon, budget)
    small = survey.n <= (AT_ONCE_TYPES if survey.symmetric else MOST_MATRIX_TYPES)
    if not small or budget.stopped() is not None:
        return by_columns
    by_types = general_certificate(survey, epsilon, check_prior(None, survey.n), budget)
    return by_types if by_types.value > by_columns.value else by_columns


PROOFS: dict[Kind, Callable[[Problem, float, Budget], Proof]] = {
    "strata": _of_strata,
    "secret": lambda problem, epsilon, budget: secret_certificate(problem.workload, epsilon, problem.shares, budget)[0],
    "alike": _of_columns,
    "question": _of_question,
    "survey": _of_survey,
    "hamming": _of_columns,
    "types": _of_types,
}
"""The proof for each kind of problem."""
