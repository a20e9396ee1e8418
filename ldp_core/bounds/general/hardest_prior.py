"""A proven lower bound on the worst type's variance: the certificate at a prior that makes it as large as it gets.

The variance of the worst type is at least the average over any prior p, so a `Certificate` for p bounds it, whatever p is.
The best bound belongs to the p at which no type is better off: with F(p) the moment relaxation's value (per user), concave in
p, its gradient is the vector of the types' own variances there, and F <= max_p F <= their largest.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy import linalg

from ldp_core.bounds import verify
from ldp_core.bounds.best import certificate, merged_questions
from ldp_core.bounds.closed_form import (
    LEAST_SHARE,
    average_variance,
    centred_svd,
    decompositions,
    equivalent_objective,
    least_favourable_prior,
)
from ldp_core.bounds.general.certificate import closed_form, general_certificate, given_up
from ldp_core.bounds.general.merged import MergedCertificate, scaled
from ldp_core.bounds.proof import Certificate, Proof
from ldp_core.bounds.question.search import question_certificate
from ldp_core.bounds.secret import secret_certificate
from ldp_core.bounds.strata import stratified_worst_case
from ldp_core.limits import AT_ONCE_TYPES, MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.run import Budget, Callback, Cancel, Interrupted, Progress, unchecked
from ldp_core.workloads import Workload
from ldp_core.workloads.problem import Problem


def worst_case(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 30.0,
    prior: np.ndarray | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> Proof:
    """A certificate whose `variance` is a lower bound on the worst-case variance per user of every epsilon-LDP mechanism.

    The search starts from ``prior`` (n,), or from the best one for the closed form, and goes along the gradient of the relaxation while there is
    time; the certificate returned carries its prior, and is never below the closed form (`ldp_core.bounds.worst_case_variance`) unless cancelled.
    Where symmetry makes all types alike, the uniform prior is the best. Questions that distinguish few of many types are bounded over these, whose
    worst is no worse than that of all, unless a ``prior`` is given. ``callback(progress)`` gets the best `bound` so far on the scale of L, as n
    variance + tr G; ``time_limit`` in seconds, ``cancel`` and errors as in `ldp_core.bounds.certificate`.
    """
    problem, budget, proved = Problem.of(workload), Budget(time_limit, None, cancel, callback), -np.inf
    if workload.strata is not None:

        def prove(local: Workload, _: np.ndarray | None, turn: Budget, near: Proof | None) -> Proof:
            if local.survey is not None:
                return certificate(local, epsilon, turn.left(), None, None, cancel)
            even = np.full(local.n, 1 / local.n)  # a bound on the worst type alone would not add up
            return worst_case(local, epsilon, turn.left(), even, None, cancel)

        return stratified_worst_case(workload, epsilon, budget, prove)

    if problem.kind == "secret":
        return _of_secret(workload, epsilon, prior, budget)

    if workload.symmetry_group.all_alike or (workload.survey is not None and workload.n > MOST_MATRIX_TYPES):
        return certificate(workload, epsilon, time_limit, None, callback, cancel)

    if problem.along is not None:
        return question_certificate(workload, epsilon, None, problem.along, budget)
    merging = None if prior is not None else merged_questions(workload, budget)
    if merging is not None:
        return _over_merged(workload, merging.workload, epsilon, budget)

    def at(p: np.ndarray, near: Certificate | None = None) -> Certificate:
        def comparable(objective: float) -> float:
            return equivalent_objective(average_variance(objective, workload, p), workload)

        def pass_on(progress: Progress) -> None:
            nonlocal proved
            if progress.bound is not None:
                proved = max(proved, comparable(progress.bound))
                budget.tell(bound=proved)

        return general_certificate(workload, epsilon, p, Budget(budget.left(), None, cancel, pass_on), near)

    closed = np.full(workload.n, 1 / workload.n)
    with suppress(Interrupted):  # `at` finds that out again
        check = unchecked if workload.n <= AT_ONCE_TYPES else budget.check
        rounds, left = decompositions(workload.n), budget.left()

        def half_over() -> bool:  # the other half is for the proof, without which no prior says anything
            return workload.n > AT_ONCE_TYPES and left is not None and budget.seconds > left / 2

        closed, _ = least_favourable_prior(workload, epsilon, rounds, half_over, check)
    best = at(closed if prior is None else check_prior(prior, workload.n))
    if prior is not None and not given_up(workload, budget):
        known = average_variance(centred_svd(workload, epsilon, closed), workload, closed)
        if best.variance < known:
            best = max(best, closed_form(workload, epsilon, closed), key=lambda candidate: candidate.variance)
    return _climbed(best, at, workload, budget)


def _of_secret(workload: Workload, epsilon: float, prior: np.ndarray | None, budget: Budget) -> Certificate:
    """The same where only some types are secret."""
    begun: np.ndarray | None = None

    def at(p: np.ndarray, near: Certificate | None = None) -> Certificate:
        nonlocal begun
        found, begun = secret_certificate(workload, epsilon, p, Budget(budget.left(), None, budget.cancelled), begun)
        budget.tell(bound=equivalent_objective(found.variance, workload))
        return found

    return _climbed(at(check_prior(prior, workload.n)), at, workload, budget)


def _climbed(
    best: Certificate,
    at: Callable[[np.ndarray, Certificate], Certificate],
    workload: Workload,
    budget: Budget,
) -> Certificate:
    """A better certificate than ``best``, those for other priors being ``at`` these, from one that is near."""
    step = 5.0  # how much the weight of a type changes, as a multiple of how far its variance is off the average
    while step >= 0.02 and budget.stopped() is None:
        variances = type_variances(best)
        at_prior = check_prior(best.prior, workload.n)
        average = at_prior @ variances
        if average <= 1e-9 * workload.trace / workload.n or variances.max() <= (1 + 1e-3) * average:
            break  # nothing but rounding, or no prior gives more
        candidate = at(moved(at_prior, variances, step), best)
        # Steps that help grow, others shrink, down to the least one; a gain of less than 3e-5 is no help.
        step *= 1.5 if candidate.variance > (1 + 3e-5) * best.variance else 0.25
        best = max(best, candidate, key=lambda one: one.variance)
    return best


def _over_merged(workload: Workload, reduced: Workload, epsilon: float, budget: Budget) -> MergedCertificate:
    """The certificate for the worst of the merged types, which bounds the worst of all types."""

    def scale(value: float) -> float:
        return equivalent_objective((value - reduced.trace) / reduced.n, workload)

    def tell(progress: Progress) -> None:
        budget.tell(bound=scale(progress.bound or 0.0))

    types = worst_case(reduced, epsilon, budget.left(), callback=tell, cancel=budget.cancelled)
    if not isinstance(types, Certificate) or types.kind not in verify.BY_TYPES:  # they are all alike
        types = general_certificate(
            reduced, epsilon, check_prior(None, reduced.n), Budget(budget.left(), None, budget.cancelled)
        )
    return MergedCertificate(workload, epsilon, scaled(workload, types, even=False), types, even=False)


def type_variances(found: Certificate) -> np.ndarray:
    """(n,) variance per user of each type at the optimum of the relaxation: ``M mu - diag G``, the multipliers of M r = 1
    being mu, and ``M = C^-1``. Exact where the certificate is."""
    held = found.numbers
    C, mu, solved = verify.square(held["inverse"], found.workload.n), held["multipliers"], None
    if len(mu) > AT_ONCE_TYPES:  # where singular values would take long
        with suppress(linalg.LinAlgError):
            solved = linalg.solve(C, mu, assume_a="pos")
    if solved is None:
        solved = linalg.lstsq(C, mu)[0]
    return solved - found.workload.gram_diag


def moved(prior: np.ndarray, variances: np.ndarray, step: float) -> np.ndarray:
    """The prior (n,) with more weight on types whose variance (n,) is above the average, and less on the others."""
    p = prior * np.exp(np.clip(step * (variances / (prior @ variances) - 1), -1.0, 1.0))
    p = np.maximum(p, LEAST_SHARE / len(p) * p.sum())
    return p / p.sum()
