"""A lower bound on L for people of whom the collector knows some attributes: the sum of those of the strata.

A mechanism for such people is one for the secret types in each stratum (`ldp_core.workloads.strata`). Their objectives add, so bounds
on each add up to one on L. A bound on the average over a prior is that of each stratum, weighted by its share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.closed_form import average_variance
from ldp_core.bounds.proof import OTHER_QUESTIONS, Arrays, Document, Proof, from_file
from ldp_core.bounds.verify import U
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.run import Budget, Callback, Progress
from ldp_core.workloads import Workload
from ldp_core.workloads.strata import ALIKE, Case, Strata

Prove = Callable[[Workload, np.ndarray | None, Budget, Proof | None], Proof]
"""A proof for questions and shares, in a time, begun from the numbers of another where there is one."""


@dataclass(frozen=True, repr=False)
class StratifiedCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for ``workload``, or on n tr(M_p^-1 G) for the ``prior`` p (n,),
    from ``parts``, of which stratum z has number ``which[z]``: any where it has no people."""

    workload: Workload
    epsilon: float
    value: float
    parts: tuple[Proof, ...]
    which: np.ndarray
    prior: np.ndarray | None = None

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over ``prior``, nor for its worst type."""
        return max(0.0, average_variance(self.value, self.workload, self._people))

    @property
    def trivial(self) -> float:
        return -self.workload.n * average_variance(0.0, self.workload, self._people) * (1 - 1e-12)

    @property
    def _people(self) -> np.ndarray:
        return check_prior(self.prior, self.workload.spread_over)

    besides = "strata"

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        strata, written = _strata(self.workload), [proof.to_file(epsilon) for proof in self.parts]
        parts = [{**document, "arrays": place} for place, (document, _) in enumerate(written)]
        arrays = {
            f"{place}.{name}": array for place, (_, numbers) in enumerate(written) for name, array in numbers.items()
        }
        arrays |= {"which": self.which.astype(float), "scales": strata.scale, "constants": strata.constant}
        even = _even(self.prior) and all(p.get("prior", "even") == "even" and "merged" not in p for p in parts)
        if not even:  # to as many digits as come back
            arrays["shares"] = np.array([float(f"{share:.12g}") for share in strata.shares(self.prior)])
        about = {"kind": "strata", "epsilon": epsilon, "types": int(self.workload.n), "workload": {"gram": "strata"}}
        return {**about, "prior": "even" if even else "array", "parts": parts}, arrays

    @classmethod
    def from_file(
        cls, document: Document, data: Mapping[str, np.ndarray], workload: Workload, epsilon: float, value: float
    ) -> StratifiedCertificate:
        strata, which = _strata(workload), data["which"]
        count = len(strata.which)
        shares = np.full(count, 1 / count) if document["prior"] == "even" else data["shares"]
        if not (which.shape == shares.shape == (count,) and np.isin(which, range(len(document["parts"]))).all()):
            raise ValueError(OTHER_QUESTIONS)
        proofs = list[Proof]()
        for place, (part, numbers) in enumerate(verify.parts_of(document, data)):
            designs = set(strata.which[(which == place) & (shares > 0)].tolist())
            if len(designs) != 1:
                raise ValueError(OTHER_QUESTIONS)
            local = strata.designs[designs.pop()]
            proofs.append(from_file(dict(part), numbers, local, epsilon, 0.0))  # what a part claims bears on nothing
        prior = shares
        if workload.survey is None:
            prior = np.zeros(workload.n)
            for types, share, k in zip(strata.types, shares, which, strict=True):
                prior[types] = share * check_prior(getattr(proofs[int(k)], "prior", None), strata.size)
        about = None if _even(prior) else prior
        made = cls(workload, epsilon, 0.0, tuple(proofs), which.astype(int), about)
        return replace(made, value=max(value, made.trivial))

    def too_large_for_file(self) -> str | None:
        types = [proof.workload.n for proof in self.parts if vars(proof).get("kind") in verify.BY_TYPES]
        if math.hypot(*types) > MOST_MATRIX_TYPES:
            return f"The proofs of {len(types):,} different designs of groups are too large to be written together."
        return next((reason for proof in self.parts if (reason := proof.too_large_for_file())), None)

    def proven(self) -> float:
        """The sum that the proofs of the strata come to, rounded down; -inf if one is none, or about other questions or people."""
        prior = None if self.prior is None else self._people
        cases, index, peopled = _cases(self.workload, prior)
        pairs = set(zip(index[peopled].tolist(), self.which[peopled].tolist(), strict=True))
        if {k for _, k in pairs} != set(range(len(self.parts))):
            return -math.inf
        for case, k in pairs:
            (local, shares), part = cases[case], self.parts[k]
            about, same = getattr(part, "prior", None), True
            if shares is not None or about is not None:
                same = np.allclose(check_prior(about, local.n), check_prior(shares, local.n), rtol=ALIKE, atol=0)
            if not getattr(part, "even", True) or part.workload != local or not same or part.epsilon < self.epsilon:
                return -math.inf
        values = [part.proven() for part in self.parts]
        return summed(self.workload, values, prior, self.which) if min(values) > -math.inf else -math.inf


def _strata(workload: Workload) -> Strata:
    if workload.strata is None:
        raise ValueError(OTHER_QUESTIONS)
    return workload.strata


def _even(prior: np.ndarray | None) -> bool:
    return prior is None or bool(np.ptp(prior) <= ALIKE * prior.max())


def _cases(workload: Workload, prior: np.ndarray | None) -> tuple[list[Case], np.ndarray, np.ndarray]:
    """The cases of the strata, which of them is for each stratum (K,), and which strata have people (K,)."""
    strata = _strata(workload)
    return *strata.cases(prior), strata.shares(prior) > 0


def summed(workload: Workload, values: list[float], prior: np.ndarray | None, which: np.ndarray) -> float:
    """The sum over the strata, of which z has the proof ``which[z]``, of what their proofs say, less what its rounding may be."""
    whole = _strata(workload).objective(values, prior, which)
    return whole * (1 - 8 * ALIKE - 64 * workload.spread_over * U)


def _in_turn(budget: Budget, many: int, tell: Callback | None = None) -> Iterator[Budget]:
    """The budgets of ``many`` proofs, one after the other: an equal part of the time that is left then."""
    for left in range(many, 0, -1):
        seconds = budget.left()
        yield Budget(None if seconds is None else seconds / left, None, budget.cancelled, tell)


def stratified_certificate(
    workload: Workload, epsilon: float, budget: Budget, prior: np.ndarray | None, prove: Prove
) -> StratifiedCertificate:
    """The certificate of ``workload``, by ``prove`` for each case of its strata in an equal part of the time. Where people of one design are spread
    differently from stratum to stratum, the proofs for it are begun from that for all of them together."""
    strata, pooled, proofs = _strata(workload), dict[Workload, Proof](), list[Proof]()
    cases, index, peopled = _cases(workload, prior)
    needed = sorted(set(index[peopled].tolist()))
    several = [case for case in strata.pooled(prior) if sum(cases[i][0] == case[0] for i in needed) > 1]

    def tell(progress: Progress) -> None:
        if len(cases) == 1 and progress.bound is not None:
            budget.tell(bound=strata.objective([progress.bound], prior))

    turns = _in_turn(budget, len(several) + len(needed), tell)
    for local, shares in several:
        pooled[local] = prove(local, shares, next(turns), None)
    for i, turn in zip(needed, turns, strict=True):
        local, shares = cases[i]
        proofs.append(prove(local, shares, turn, pooled.get(local)))
    which = np.array([needed.index(i) if i in needed else 0 for i in index])
    made = StratifiedCertificate(workload, epsilon, 0.0, tuple(proofs), which, prior)
    values = [part.value for part in made.parts]
    return replace(made, value=made.claim(summed(workload, values, prior, which)))


def stratified_worst_case(workload: Workload, epsilon: float, budget: Budget, prove: Prove) -> StratifiedCertificate:
    """The certificate for the worst type of the stratum that has the largest bound, by ``prove`` for the worst type of each design."""
    strata = _strata(workload)
    turns = _in_turn(budget, len(strata.designs))
    parts = [prove(local, None, turn, None) for local, turn in zip(strata.designs, turns, strict=True)]
    largest = strata.scale**2 * np.array([part.variance for part in parts])[strata.which]
    z = int(largest.argmax())
    part, prior = parts[strata.which[z]], np.zeros(workload.spread_over)
    if workload.survey is not None:
        prior[z] = 1.0
    else:
        prior[strata.types[z]] = check_prior(getattr(part, "prior", None), strata.size)
        prior /= prior.sum()
    certificate = stratified_certificate(workload, epsilon, budget, prior, lambda *_: part)
    budget.tell(bound=certificate.value)
    return certificate
