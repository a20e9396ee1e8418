"""A lower bound on L for people of whom the collector knows some attributes: the sum of those of the strata.

A mechanism for such people is one for the secret types in each stratum (`ldp_core.workloads.strata`). Their objectives add, so bounds
on each add up to one on L. A bound on the average over a prior is that of each stratum, weighted by its share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ldp_core.bounds.proof import Proof, U
from ldp_core.bounds.scales import average_variance
from ldp_core.priors import check_prior
from ldp_core.run import Budget, Callback, Progress
from ldp_core.workloads import Workload
from ldp_core.workloads.strata import ALIKE

Prove = Callable[[Workload, np.ndarray | None, Budget], Proof]


@dataclass(frozen=True, repr=False)
class StratifiedCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for ``workload``, or on n tr(M_p^-1 G) for the ``prior`` p (n,),
    from ``parts``, a proof for each case of its strata, None where these have no people."""

    workload: Workload
    epsilon: float
    value: float
    parts: tuple[Proof | None, ...]
    prior: np.ndarray | None = None

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over ``prior``, nor for its worst type."""
        n = self.workload.n
        return max(0.0, average_variance(self.value, self.workload, check_prior(self.prior, n)))

    @property
    def trivial(self) -> float:
        return self.workload.n * float(check_prior(self.prior, self.workload.n) @ self.workload.gram_diag) * (1 - 1e-12)

    def too_large_for_file(self) -> str | None:
        """Proofs of several groups are not written to files."""
        return "Proofs for groups that the collector knows are not written to files yet."

    def proven(self) -> float:
        """The sum that the proofs of the strata come to, rounded down; -inf if one is none, or about other questions or people."""
        cases = _needed(self.workload, self.prior)
        if len(self.parts) != len(cases):
            return -math.inf
        for case, part in zip(cases, self.parts, strict=True):
            if case is None or part is None:
                if case is not None:
                    return -math.inf
                continue
            few, shares = case
            about = check_prior(getattr(part, "prior", None), few.n)
            same = np.allclose(about, check_prior(shares, few.n), rtol=ALIKE, atol=0)
            if (
                not getattr(part, "even", True)
                or part.workload != few
                or not same
                or part.epsilon < self.epsilon
                or not part.verify()
            ):
                return -math.inf
        return summed(self.workload, self.parts, self.prior)


def _needed(workload: Workload, prior: np.ndarray | None) -> list[tuple[Workload, np.ndarray | None] | None]:
    """The cases of the strata, None for those of strata without people."""
    strata = workload.strata
    assert strata is not None
    cases, index = strata.cases(prior)
    used = set(index[strata.shares(prior) > 0].tolist())
    return [case if i in used else None for i, case in enumerate(cases)]


def summed(workload: Workload, parts: tuple[Proof | None, ...], prior: np.ndarray | None) -> float:
    """The sum over the strata, less what its rounding may be."""
    assert workload.strata is not None
    whole = workload.strata.objective([0.0 if part is None else part.value for part in parts], prior)
    return whole * (1 - 8 * ALIKE - 64 * workload.n * U)


def _in_turn(budget: Budget, many: int, tell: Callback | None = None) -> Iterator[Budget]:
    """The budgets of ``many`` proofs, one after the other: an equal part of the time that is left then."""
    for left in range(many, 0, -1):
        seconds = budget.left()
        yield Budget(None if seconds is None else seconds / left, None, budget.cancelled, tell)


def stratified_certificate(
    workload: Workload, epsilon: float, budget: Budget, prior: np.ndarray | None, prove: Prove
) -> StratifiedCertificate:
    """The certificate of ``workload``, by ``prove`` for each case of its strata in an equal part of the time."""
    strata, parts = workload.strata, list[Proof | None]()
    assert strata is not None
    cases = _needed(workload, prior)

    def tell(progress: Progress) -> None:
        if len(cases) == 1 and progress.bound is not None:
            budget.tell(bound=strata.objective([progress.bound], prior))

    for case, own in zip(cases, _in_turn(budget, len(cases), tell), strict=True):
        parts.append(None if case is None else prove(*case, own))
    made = StratifiedCertificate(workload, epsilon, 0.0, tuple(parts), prior)
    return StratifiedCertificate(
        workload, epsilon, max(made.trivial, summed(workload, made.parts, prior)), made.parts, prior
    )


def stratified_worst_case(workload: Workload, epsilon: float, budget: Budget, prove: Prove) -> StratifiedCertificate:
    """The certificate for the worst type of the stratum that has the largest bound, by ``prove`` for the worst type of each design."""
    strata = workload.strata
    assert strata is not None
    turns = _in_turn(budget, len(strata.designs))
    parts = [prove(few, None, own) for few, own in zip(strata.designs, turns, strict=True)]
    largest = strata.scale**2 * np.array([part.variance for part in parts])[strata.which]
    z = int(largest.argmax())
    part, prior = parts[strata.which[z]], np.zeros(workload.n)
    prior[strata.types[z]] = check_prior(getattr(part, "prior", None), strata.types.shape[1])
    prior /= prior.sum()
    found = stratified_certificate(workload, epsilon, budget, prior, lambda *_: part)
    budget.tell(bound=found.value)
    return found
