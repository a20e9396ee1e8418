"""What is known of the mechanisms in a design: users needed, bounds with their proofs, pictures. Kept with the results."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import analysis, bounds, charts, frames, library, mechanisms

DRAWN_BITS = 22
"""A strategy of more than 2^22 probabilities is drawn only where it is at hand anyway."""
PICTURE_BYTES = 2**21
WEIGHTED = (
    "Typical and total errors go by the weights of the questions, squared: a query of weight 2 counts like four of weight 1. "
    "Answers and errors of single queries are without weights."
)
PRICED_TYPES = 2048
"""Exact variances that are not in closed form take n^3 operations: seconds at 2,048 types, half a minute at 4,096."""


@dataclass(frozen=True)
class Proof:
    """A lower bound with its certificate; ``history`` holds (seconds, bound on the scale of L) of how it was found, and
    ``finished`` is whether the search for a better one came to its end."""

    certificate: bounds.Certificate | bounds.SymmetricCertificate
    history: tuple[tuple[float, float], ...]
    finished: bool


class Figures:
    """The part of a `pages.ui.session.state.Session` that derives figures from its design. Costs and bounds are only ever compared
    within one case: for the same people."""

    def summary(self, name: str) -> analysis.Summary | None:
        """Exact costs of the named mechanism in the current design; None while it is not available."""
        profile = self.profile(name)
        if profile is None:
            return None
        mechanism, design, alpha = self.mechanism(name), self.design(), self.configuration.target_alpha
        key = ("summary", mechanism.digest, design.workload.digest, alpha, hashlib.sha256(design.counts).hexdigest())
        return self.cached(key, lambda: analysis.summarise(mechanism, design.workload, design.counts, alpha, profile))

    def summary_or_none(self, name: str) -> analysis.Summary | None:
        """The summary of the named mechanism, None when it cannot be had for whatever reason."""
        try:
            return self.summary(name)
        except ValueError:
            return None

    @property
    def weighting(self) -> str:
        """A sentence on what weights do to errors, where the questions of the design have any."""
        return WEIGHTED if any(part.weight != 1 for part in self.configuration.workload.parts) else ""

    def cases(self) -> dict[str, analysis.Case]:
        """Whose error can count in the current design; costs and bounds are only ever compared within one case."""
        design = self.design()
        n, weights = design.domain.size, self.configuration.optimizer.histogram
        found = {
            "worst_case": analysis.WORST_CASE,
            "average": analysis.average_case(n),
            "people": analysis.Case("people", design.counts / design.users),
        }
        if weights is not None and len(weights) == n:
            found["histogram"] = analysis.Case("histogram", np.array(weights) / math.fsum(weights))
        return found

    def aim(self, name: str) -> str:
        """The case in which a mechanism is judged: the one it is fitted for, or else the worst case."""
        aims, aim = library.spec(name).aims, self.configuration.optimizer.aim
        return aim if aim in aims and aim in self.cases() else aims[0]

    def profile(self, name: str) -> np.ndarray | None:
        """(n,) variance per user of each type for the named mechanism; None while it is not available."""
        design, spec = self.design(), library.spec(name)
        unsuitable = spec.unsuitable(design.domain.size, design.epsilon, design.workload)
        if design.domain.size > PRICED_TYPES and not spec.closed_form and not unsuitable:
            raise ValueError(
                f"The exact errors of {spec.title} take too long past {PRICED_TYPES:,} types; there are {design.domain.size:,} here. "
                "Simulate shows them, or use coarser bins."
            )
        mechanism = self.mechanism(name)
        if mechanism is None:
            return None
        key = ("profile", mechanism.digest, design.workload.digest)
        return self.cached(key, lambda: mechanism.variance_profile(design.workload))

    def users_needed(self, name: str, case: str) -> float | None:
        """Users needed for the target error in a case; None while the mechanism is not available."""
        profile = self.profile(name)
        if profile is None:
            return None
        variance = self.cases()[case].variance(profile)
        return analysis.users_for(variance, self.design().workload.squared_weights, self.configuration.target_alpha)

    def certificate_key(self, case: str) -> str:
        """Identifies a certificate by what it is about."""
        design, prior = self.design(), self.cases()[case].prior
        digest = prior is not None and hashlib.sha256(prior.tobytes()).hexdigest()
        return "certificate:" + json.dumps([design.workload.digest, design.epsilon, digest])

    def certificate(self, case: str) -> Proof | None:
        """What has been proved for a case. For workloads that treat all types alike that takes no time and is done here."""
        key, design = self.certificate_key(case), self.design()
        found = self.results.get(key)
        if found is None and design.workload.symmetry == "exchangeable" and self.even(case):
            found = Proof(bounds.certificate(design.workload, design.epsilon), (), True)
            self.keep_proof(key, found)
        return found

    def even(self, case: str) -> bool:
        """Whether a case is about users spread evenly, as the worst case is where symmetry makes all types alike."""
        chosen = self.cases()[case]
        return chosen.prior is None or chosen.uniform

    def keep_proof(self, key: str, proof: Proof) -> None:
        """Remember a certificate, the better of two."""
        before = self.results.get(key)
        if before is None or proof.certificate.variance >= before.certificate.variance:
            arrays = [a for a in vars(proof.certificate).values() if isinstance(a, np.ndarray)]
            self.results.put(key, proof, sum(a.nbytes for a in arrays))

    def closed_bounds(self, case: str) -> dict[str, float]:
        """Lower bounds on users needed that are known at once, in closed form, by name."""
        design, alpha = self.design(), self.configuration.target_alpha
        key = ("bounds", self.certificate_key(case), alpha)
        return self.cached(key, lambda: frames.users_bounds(design.workload, design.epsilon, alpha, self.cases()[case]))

    def bounds(self, case: str = "worst_case") -> dict[str, float]:
        """Lower bounds on users needed in the current design and case, by name."""
        found, proof = self.closed_bounds(case), self.certificate(case)
        if proof is None:
            return found
        return {**found, "certificate": frames.users_certified(proof.certificate, self.configuration.target_alpha)}

    def gap(self, name: str, case: str | None = None) -> float | None:
        """How many more users (as a share) the mechanism needs than the best bound allows, in one case (its own)."""
        case = case or self.aim(name)
        needed = self.users_needed(name, case)
        if needed is None:
            return None
        if self.mechanism(name).delta > 0:
            return math.inf  # the bounds speak of pure epsilon-LDP
        return frames.gap(needed, max(self.bounds(case).values()))

    def costs(self, name: str) -> pd.DataFrame:
        """What a mechanism that is available costs in every case, each with its own bound: see `frames.costs`."""
        limits = {case: {} if self.mechanism(name).delta > 0 else self.bounds(case) for case in self.cases()}
        workload, alpha = self.design().workload, self.configuration.target_alpha
        return frames.costs(self.profile(name), self.cases(), limits, workload.squared_weights, alpha)

    def compared(self, case: str) -> pd.DataFrame:
        """Costs of the compared mechanisms that are available (columns of `frames.summaries`), with users needed and gap
        in one case, fewest users first."""
        found = [summary for n in self.configuration.compared if (summary := self.summary_or_none(n)) is not None]
        if not found:
            return pd.DataFrame()
        table = frames.summaries(found)
        table["users_needed"] = [self.users_needed(name, case) for name in table["name"]]
        table["gap"] = [self.gap(name, case) for name in table["name"]]
        return table.sort_values("users_needed", ignore_index=True)

    def drawable(self, mechanism: mechanisms.Mechanism) -> bool:
        """Whether a mechanism has a strategy that can be written out in no time. Subset selection on 25 types already has
        half a million reports: writing them out takes seconds and shows nothing."""
        small = mechanism.bits_per_report + math.log2(mechanism.n) <= DRAWN_BITS
        fitted = isinstance(mechanism, mechanisms.ExplicitMechanism)
        return (small or fitted) and mechanism.strategy is not None

    def patterns(self, name: str, look: charts.Theme, compact: bool = False) -> go.Figure:
        """The picture of a mechanism's strategy. Finding the order of its rows takes a tenth of a second."""
        mechanism, design = self.mechanism(name), self.design()
        prior = self.cases()[self.aim(name)].prior
        key = ("patterns", mechanism.digest, design.naming, None if prior is None else prior.tobytes(), look, compact)
        draw = lambda: charts.patterns(mechanism.strategy, design.labels, look, charts.colour(name), prior, compact)  # noqa: E731
        return self.cached(key, draw, lambda figure: PICTURE_BYTES)

    def reports(self, name: str) -> pd.DataFrame:
        """Who shares which report of a mechanism with a strategy: see `frames.reports`."""
        mechanism, design = self.mechanism(name), self.design()
        prior = self.cases()[self.aim(name)].prior
        key = ("reports", mechanism.digest, design.naming, None if prior is None else prior.tobytes())
        return self.cached(key, lambda: frames.reports(mechanism.strategy, design.labels, prior))
