"""The error that a design aims at, and what is proved about it: bounds that no mechanism can beat, with their certificates."""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ldp_core import analysis, bounds, frames
from ldp_core.designs import certificate_file, proof_check
from ldp_core.designs.certificate_file import Written
from ldp_core.designs.configuration import Configuration
from ldp_core.designs.design import Asked, settled
from ldp_core.limits import MOST_EXACT_TYPES
from ldp_core.run import Callback, Cancel, Progress, asked

Curve = tuple[tuple[float, float], ...]
"""How a search went: (seconds, objective or bound on the scale of L)."""


@dataclass(frozen=True)
class Proof:
    """A lower bound with its certificate, how it was found, and whether the search for a better one has ``finished``."""

    certificate: bounds.Proof
    history: Curve
    finished: bool

    @property
    def size(self) -> int:
        """Bytes of its arrays, and of those of the proofs that it is made of."""
        return _bytes(self.certificate)


def _bytes(certificate: object) -> int:
    held = vars(certificate)
    own = sum(array.nbytes for array in held.get("numbers", {}).values())
    return own + sum(_bytes(part) for part in (held.get("types"), *held.get("parts", ())) if part is not None)


@dataclass(frozen=True, eq=False)
class Proved(Asked):
    """The second part of a `Setting`: the targets it aims at, and the bounds that are proved for it."""

    # --- the targets -------------------------------------------------------------------------

    @cached_property
    def settled(self) -> Configuration:
        """The configuration with its targets, and what it takes of planning data, as numbers: what files hold."""
        return settled(self.configuration, self.workload, self.domain, self.people, self.on_data)

    @property
    def alpha(self) -> float:
        """The mean squared error of the questions' rows, as bounds and the papers have it, at which their mean is at its target."""
        return self.answers.norm / self.answers.told.squared_weights

    def in_targets(self, error: float) -> float:
        """A standard error of the questions' rows, a share of all users as bounds and the papers have it, in targets."""
        return error / math.sqrt(self.alpha)

    @property
    def only_case(self) -> str:
        """The reason why there is only one case to optimise for, in a sentence; empty if there are
        several."""
        return analysis.only_case(self.people, self.workload)

    # --- what no mechanism can beat -------------------------------------------------------------

    def certificate_key(self, case: str) -> str:
        """Identifies a certificate by what it is about."""
        prior = self.cases[case].prior
        digest = prior is not None and hashlib.sha256(prior.tobytes()).hexdigest()
        return "certificate:" + json.dumps([self.answers.told.digest, self.epsilon, digest])

    def proof(self, case: str) -> Proof | None:
        """The best proof of a case so far. It takes no time where the workload treats all types
        alike."""
        key = self.certificate_key(case)
        known_proof: Proof | None = self.results.get(key)
        if known_proof is None and self.answers.told.symmetry == "exchangeable" and self._even(case):
            known_proof = Proof(bounds.certificate(self.answers.told, self.epsilon, None), (), True)
            self.results.put(key, known_proof, known_proof.size, expensive=True)
        return known_proof

    def proved_objective(self, case: str) -> float | None:
        """The best proved bound of a case, on the scale of L; None if there is none."""
        objective = self.results.get(self.certificate_key(case))
        return (
            None
            if objective is None
            else bounds.equivalent_objective(objective.certificate.variance, self.answers.told)
        )

    def prove(self, case: str, callback: Callback | None = None, cancel: Cancel | None = None) -> Proof:
        """Search for a certificate of what no mechanism can beat in a case, and keep the better of this and the last."""
        history, cancelled = list[tuple[float, float]](), asked(cancel)
        seconds, began, prior = self.search_seconds, time.perf_counter(), self.cases[case].prior

        def follow(progress: Progress) -> None:
            value = progress.bound or 0.0
            if prior is not None:  # the worst case is reported on the scale of L already
                value = bounds.equivalent_objective(
                    bounds.average_variance(value, self.answers.told, prior), self.answers.told
                )
            history.append((progress.seconds, value))
            if callback is not None:
                callback(replace(progress, bound=value, history=history))

        alike = prior is not None or self.answers.told.survey is not None  # a survey has one bound for all cases
        search = bounds.certificate if alike else bounds.worst_case
        people = None if self.cases[case].uniform else prior
        certificate = search(self.answers.told, self.epsilon, seconds, people, callback=follow, cancel=cancelled)
        finished = time.perf_counter() - began < seconds and not cancelled()
        return self._better(self.certificate_key(case), Proof(certificate, tuple(history), finished))

    def _better(self, key: str, proof: Proof) -> Proof:
        before: Proof | None = self.results.get(key)
        if before is not None and before.certificate.variance > proof.certificate.variance:
            proof = before
        if proof.finished or proof.certificate.value > proof.certificate.trivial:  # else it was cancelled early
            self.results.put(key, proof, proof.size, expensive=True)
        return proof

    def written(self, case: str, before: bool = False) -> Written | None:
        """The best proof of a case as files; None if there is nothing to write.

        It takes as long as two checks of the proof, and no time where only files written ``before`` are asked for.
        """
        proof, epsilon = self.proof(case), self.configuration.epsilon
        if proof is None or proof.certificate.too_large_for_file():
            return None
        certificate = proof.certificate
        key = ("written", self.certificate_key(case), certificate.value, type(certificate).__name__, epsilon)
        if before:
            return self.results.get(key)
        return self.results.cached(
            key, lambda: certificate_file.write(certificate, epsilon), lambda files: len(files.arrays)
        )

    def adopt(self, files: Written) -> None:
        """Take over what files prove, once that has been checked for the questions and epsilon of the design.

        ValueError, one sentence, where they prove nothing for any of its cases.
        """
        proof = proof_check.read(files, self.answers.told, self.configuration.epsilon)
        cases = [name for name in self.cases if self._about(proof, name)]
        for name in cases or [name for name, case in self.cases.items() if case.prior is None]:
            self._better(self.certificate_key(name), Proof(proof, (), False))

    def _about(self, certificate: bounds.Proof, case: str) -> bool:
        """True if a certificate is about the people of a case, rather than about others."""
        if isinstance(certificate, bounds.MergedCertificate) and not certificate.even:
            return self.cases[case].prior is None
        chosen, prior = self.cases[case], getattr(certificate, "prior", None)
        even = prior is None or np.array_equal(prior, np.full(len(prior), 1 / len(prior)))
        if chosen.prior is None:
            return even and (prior is None or self.answers.told.symmetry_group.all_alike)
        if even or prior is None:
            return chosen.uniform
        near = 0.0 if certificate.workload.strata is None else 1e-11  # the shares of groups are rounded in files
        return bool(np.allclose(np.asarray(chosen.prior), prior, near, 0.0))

    def _even(self, case: str) -> bool:
        """True if a case is about users spread evenly. The worst case is, where symmetry makes all types alike."""
        chosen = self.cases[case]
        return chosen.prior is None or chosen.uniform

    def closed_bounds(self, case: str) -> dict[str, float]:
        """Lower bounds on users needed that are known at once, in closed form, by name."""
        key = ("bounds", self.certificate_key(case), self.answers.norm)
        given = (self.answers.told, self.epsilon, self.answers.norm, self.cases[case])
        return self.results.cached(key, lambda: frames.users_bounds(*given))

    def bounds(self, case: str = "worst_case") -> dict[str, float]:
        """Lower bounds on users needed in a case, by name."""
        bounds_known, proof = self.closed_bounds(case), self.proof(case)
        if proof is None:
            return bounds_known
        return {**bounds_known, "certificate": frames.users_certified(proof.certificate, self.answers.norm)}

    def floor(self, case: str) -> tuple[str, float] | None:
        """The strongest of these bounds by name, and the variance per user that no unbiased mechanism goes below.

        None where bounds take too long to compute while a page is drawn.
        """
        if self.working_types > MOST_EXACT_TYPES:
            return None
        limits = self.bounds(case)
        return frames.strongest(limits), max(limits.values()) * self.answers.norm
