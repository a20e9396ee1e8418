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
from ldp_core.bounds.asked import OTHER_QUESTIONS, Arrays, Document
from ldp_core.bounds.closed_form import average_variance
from ldp_core.bounds.proof import Proof, from_file
from ldp_core.bounds.verify import U
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.run import Budget, Callback, Progress
from ldp_core.workloads import Workload
from ldp_core.workloads.strata import ALIKE, Strata

Prove = Callable[[Workload, np.ndarray | None, Budget, Proof | None], Proof]
"""A proof for questions and shares, in a time, begun from the numbers of another where there is one."""


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
        return max(0.0, average_variance(self.value, self.workload, self._people))

    @property
    def trivial(self) -> float:
        return -self.workload.n * average_variance(0.0, self.workload, self._people) * (1 - 1e-12)

    @property
    def _people(self) -> np.ndarray:
        return check_prior(self.prior, self.workload.spread_over)

    besides = "strata"

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        strata, (proofs, which) = _strata(self.workload), self._proofs
        written = [proof.to_file(epsilon) for proof in proofs]
        parts = [{**document, "arrays": place} for place, (document, _) in enumerate(written)]
        arrays = {f"{place}.{name}": array for place, (_, own) in enumerate(written) for name, array in own.items()}
        arrays |= {"which": which.astype(float), "scales": strata.scale, "constants": strata.constant}
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
        if not which.shape == shares.shape == (count,):
            raise ValueError(OTHER_QUESTIONS)
        proofs = list[Proof]()
        for place, (part, own) in enumerate(verify.own_parts(document, data)):
            few = strata.designs[strata.which[np.flatnonzero((which == place) & (shares > 0))[0]]]
            proofs.append(from_file(dict(part), own, few, epsilon, 0.0))  # what a part claims bears on nothing
        prior = shares
        if workload.survey is None:
            prior = np.zeros(workload.n)
            for types, share, k in zip(strata.types, shares, which, strict=True):
                prior[types] = share * check_prior(getattr(proofs[int(k)], "prior", None), strata.size)
        about = None if _even(prior) else prior
        index, parts = strata.cases(about)[1], list[Proof | None]()
        for case, needed in enumerate(_needed(workload, about)):
            parts.append(needed and proofs[int(which[np.flatnonzero((index == case) & (shares > 0))[0]])])
        made = cls(workload, epsilon, 0.0, tuple(parts), about)
        return replace(made, value=max(value, made.trivial))

    @property
    def _proofs(self) -> tuple[list[Proof], np.ndarray]:
        """The proofs, each once, and (K,) which of them is for each stratum: the first for those without people."""
        proofs = {id(part): part for part in self.parts if part is not None}
        places = {key: place for place, key in enumerate(proofs)}
        index = _strata(self.workload).cases(self.prior)[1]
        return [*proofs.values()], np.array([places.get(id(self.parts[i]), 0) for i in index])

    def too_large_for_file(self) -> str | None:
        proofs = self._proofs[0]
        types = [proof.workload.n for proof in proofs if vars(proof).get("kind") in verify.BY_TYPES]
        if math.hypot(*types) > MOST_MATRIX_TYPES:
            return f"The proofs of {len(types):,} different designs of groups are too large to be written together."
        return next((reason for proof in proofs if (reason := proof.too_large_for_file())), None)

    def proven(self) -> float:
        """The sum that the proofs of the strata come to, rounded down; -inf if one is none, or about other questions or people."""
        cases, known = _needed(self.workload, self.prior), dict[int, float]()
        if len(self.parts) != len(cases):
            return -math.inf
        for case, part in zip(cases, self.parts, strict=True):
            if case is None or part is None:
                if case is not None:
                    return -math.inf
                continue
            few, shares = case
            about, same = getattr(part, "prior", None), True
            if shares is not None or about is not None:
                same = np.allclose(check_prior(about, few.n), check_prior(shares, few.n), rtol=ALIKE, atol=0)
            if not getattr(part, "even", True) or part.workload != few or not same or part.epsilon < self.epsilon:
                return -math.inf
            if id(part) not in known:
                known[id(part)] = part.proven()
        if not all(proven > -math.inf for proven in known.values()):
            return -math.inf
        return summed(self.workload, [known.get(id(part), 0.0) for part in self.parts], self.prior)


def _strata(workload: Workload) -> Strata:
    if workload.strata is None:
        raise ValueError(OTHER_QUESTIONS)
    return workload.strata


def _even(prior: np.ndarray | None) -> bool:
    return prior is None or bool(np.ptp(prior) <= ALIKE * prior.max())


def _needed(workload: Workload, prior: np.ndarray | None) -> list[tuple[Workload, np.ndarray | None] | None]:
    """The cases of the strata, None for those of strata without people."""
    strata = _strata(workload)
    cases, index = strata.cases(prior)
    used = set(index[strata.shares(prior) > 0].tolist())
    return [case if i in used else None for i, case in enumerate(cases)]


def summed(workload: Workload, values: list[float], prior: np.ndarray | None) -> float:
    """The sum over the strata of what their parts say, less what its rounding may be."""
    strata = _strata(workload)
    whole = strata.objective(values, prior, strata.cases(prior)[1])
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
    strata, parts = _strata(workload), list[Proof | None]()
    cases, pooled = _needed(workload, prior), dict[Workload, Proof]()
    several = [case for case in strata.pooled(prior) if sum(one is not None and one[0] == case[0] for one in cases) > 1]

    def tell(progress: Progress) -> None:
        if len(cases) == 1 and progress.bound is not None:
            budget.tell(bound=strata.objective([progress.bound], prior))

    turns = _in_turn(budget, len(several) + len(cases), tell)
    for few, shares in several:
        pooled[few] = prove(few, shares, next(turns), None)
    for case, own in zip(cases, turns, strict=True):
        parts.append(None if case is None else prove(*case, own, pooled.get(case[0])))
    made = StratifiedCertificate(workload, epsilon, 0.0, tuple(parts), prior)
    values = [0.0 if part is None else part.value for part in parts]
    return replace(made, value=made.claimable(summed(workload, values, prior)))


def stratified_worst_case(workload: Workload, epsilon: float, budget: Budget, prove: Prove) -> StratifiedCertificate:
    """The certificate for the worst type of the stratum that has the largest bound, by ``prove`` for the worst type of each design."""
    strata = _strata(workload)
    turns = _in_turn(budget, len(strata.designs))
    parts = [prove(few, None, own, None) for few, own in zip(strata.designs, turns, strict=True)]
    largest = strata.scale**2 * np.array([part.variance for part in parts])[strata.which]
    z = int(largest.argmax())
    part, prior = parts[strata.which[z]], np.zeros(workload.spread_over)
    if workload.survey is not None:
        prior[z] = 1.0
    else:
        prior[strata.types[z]] = check_prior(getattr(part, "prior", None), strata.size)
        prior /= prior.sum()
    found = stratified_certificate(workload, epsilon, budget, prior, lambda *_: part)
    budget.tell(bound=found.value)
    return found
