"""Bounds for surveys some of whose questions follow an order or single out values: part by part.

A mechanism Q for all types, and people whose other attributes are drawn evenly, make a mechanism for the table X_B of some attributes
that answers a group of questions there; its objective is ``tr(M^-1 G_B) n_B / n`` where G_B is what the group adds to G. So
``L(Q) >= sum over parts of weight^2 n / n_B`` times the bound for the part on its own table. Groups that treat values alike are one
part, a survey of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.proof import NOTHING_TO_HOLD, OTHER_QUESTIONS, SMALLEST, Arrays, Document, Proof, U, from_file
from ldp_core.bounds.surveys.certificate import survey_of
from ldp_core.workloads import Survey, Workload
from ldp_core.workloads.surveys import Group, eigenvalues


@dataclass(frozen=True, repr=False)
class GroupedCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey`, from proofs of its parts.

    ``alike`` bounds the groups that treat values alike (None where there are none), ``others`` the remaining groups, each on the types of its own
    table, in their order. A part without a proof counts with the trace of its Gram matrix: no variance is negative.
    """

    proves_by: ClassVar[str] = "inequalities for each set of columns"

    workload: Survey
    epsilon: float
    value: float
    alike: Proof | None
    others: tuple[Proof | None, ...]

    file_kinds = (("parts", None),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        same, others = split(self.workload)
        every = list(range(len(self.workload.shape)))
        proofs = [] if same is None else [(every, 1.0, _there(self.alike))]
        for group, proof in zip(others, self.others, strict=True):
            proofs.append((list(group.attributes), float(group.weight), _there(proof)))
        numbers, arrays, parts = dict[int, tuple[int, Document]](), Arrays(), []
        for columns, weight, proof in proofs:
            if id(proof) not in numbers:
                number = len(numbers)
                document, own = proof.to_file(epsilon)
                numbers[id(proof)] = number, document
                arrays.update({f"{number}.{name}": array for name, array in own.items()})
            number, document = numbers[id(proof)]
            parts.append({**document, "columns": columns, "weight": weight, "arrays": number})
        workload = {"gram": "parts", "sizes": list(self.workload.shape)}
        return {"kind": "parts", **self._about(epsilon), "workload": workload, "parts": parts}, arrays

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> GroupedCertificate:
        survey = survey_of(workload)
        same, others = split(survey)
        bases = [*([] if same is None else [same]), *(group.base for group in others)]
        known, proofs = dict[int, Proof](), list[Proof]()
        for base, (part, own) in zip(bases, verify.own_parts(document, data), strict=True):
            number = part["arrays"]
            if number not in known:
                proof = from_file(dict(part), own, base, epsilon)
                known[number] = proof.claiming(proof.claim() if checked is None else checked[len(known)])
            if known[number].workload.digest != base.digest:
                raise ValueError(OTHER_QUESTIONS)
            proofs.append(known[number])
        alike, rest = (None, proofs) if same is None else (proofs[0], proofs[1:])
        return cls(survey, epsilon, 0.0, alike, tuple(rest))

    def too_large_for_file(self) -> str | None:
        if any(part is None for part in self.others):
            return NOTHING_TO_HOLD
        return next((reason for part in self.others if (reason := _there(part).too_large_for_file())), None)

    def mended(self, epsilon: str) -> GroupedCertificate:
        known = {id(part): _there(part).mended(epsilon) for part in self.others}
        return replace(self, others=tuple(known[id(part)] for part in self.others))

    @property
    def parts_claimed(self) -> list[float]:
        every = (self.alike, *self.others)
        return list({id(part): part.value for part in every if part is not None}.values())

    def proven(self) -> float:
        """The bound that the parts prove, rounded down; -inf if none."""
        same, others = split(self.workload)
        if len(others) != len(self.others) or (same is None) != (self.alike is None):
            return -math.inf
        total = 0.0
        if same is not None and self.alike is not None:
            if not self._proves(self.alike, same.digest):
                return -math.inf
            total += self.alike.value
        for group, proof in zip(others, self.others, strict=True):
            if proof is not None and not (self._proves(proof, group.base.digest) and _even(proof)):
                return -math.inf
            alone = group.base.trace * (1 - 1e-9) if proof is None else proof.value
            share = group.weight**2 * (self.workload.n / group.base.n)
            total += alone * share if share > SMALLEST else 0.0
        return total * (1 - (len(others) + 16) * U)

    def _proves(self, proof: Proof, digest: str) -> bool:
        return proof.workload.digest == digest and proof.epsilon >= self.epsilon and proof.verify()


def _there(proof: Proof | None) -> Proof:
    if proof is None:
        raise ValueError(NOTHING_TO_HOLD)
    return proof


def _even(proof: Proof) -> bool:
    """True if a proof is about L; others are about another population."""
    prior = getattr(proof, "prior", None)
    return prior is None or bool(np.all(np.asarray(prior) == 1 / proof.workload.n))


def grouped(survey: Survey, epsilon: float, alike: Proof | None, others: Sequence[Proof | None]) -> GroupedCertificate:
    """The certificate from proofs of the parts of `split`."""
    certificate = GroupedCertificate(survey, epsilon, 0.0, alike, tuple(others))
    return replace(certificate, value=certificate.claim())


def split(survey: Survey) -> tuple[Survey | None, list[Group]]:
    """The groups that treat the values of each attribute alike, as a survey, and the others."""
    known: dict[tuple[str, tuple[int, ...]], bool] = {}
    same: list[Group] = []
    others: list[Group] = []
    for group in survey.groups:
        sizes = tuple(survey.shape[i] for i in group.attributes)
        key = (group.base.digest, sizes)
        if key not in known:
            known[key] = eigenvalues(group.base, sizes) is not None
        (same if known[key] else others).append(group)
    return Survey(survey.shape, same, survey.axes) if same else None, others
