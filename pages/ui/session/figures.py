"""What the mechanisms of a design come to: users needed, bounds with their proofs, pictures. Kept with the results."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeGuard

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ldp_core import analysis, bounds, charts, frames, library, mechanisms, optimize, verdicts, workloads
from ldp_core.bounds.general.enumerated import MOST_TYPES as EXACT_TYPES
from ldp_core.bounds.triples.duals import Duals
from ldp_core.designs import certificate_file, choices, realised
from ldp_core.designs.certificate_file import Written
from ldp_core.designs.choices import PRICED_TYPES
from ldp_core.run import Check, unchecked
from pages.ui.session.built import Built, Curve
from pages.ui.session.derived import digest

DRAWN_BITS = 22
"""A strategy of more than 2^22 probabilities is drawn only where it is at hand anyway."""
PICTURE_BYTES = 2**21
WEIGHTED = (
    "In typical and total errors a query counts by the square of its weight: a query of weight 2 counts like four of weight 1. "
    "Answers and errors of single queries are shown without weights."
)
AT_ONCE_TYPES = 1024
"""Up to here pages do not leave exact variances to the background, though they take n^3 operations where they are not in closed form."""


class Drawable(mechanisms.Mechanism, Protocol):
    """A mechanism whose strategy (m, n) can be drawn."""

    @property
    def strategy(self) -> np.ndarray: ...


@dataclass(frozen=True)
class Proof:
    """A lower bound with its certificate, and how it was found; ``finished`` is whether the search for a better one came to
    its end."""

    certificate: bounds.AnyCertificate
    history: Curve
    finished: bool

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        return sum(part.nbytes for part in vars(self.certificate).values() if isinstance(part, np.ndarray | Duals))


@dataclass
class Figures(Built):
    """Costs and bounds are only ever compared within one case: for the same people."""

    unasked: set[str] = field(default_factory=set)
    """Keys of proofs that were begun without being asked for."""

    # --- what must be seen --------------------------------------------------------------------------------------

    @property
    def suggested(self) -> verdicts.Suggestion:
        """Differences taken from the questions and the people of the design."""
        design = self.complete
        key = ("suggested", design.workload.digest, design.people_digest)
        return self.cached(key, lambda: verdicts.suggest(design.workload, design.counts))

    @property
    def difference(self) -> float:
        """The difference between answers that must be seen, as a share of all users."""
        return choices.difference(self.configuration, lambda: self.suggested)

    @property
    def alpha(self) -> float:
        """The mean squared error of shares aimed at: as given, or that with which the difference shows clearly."""
        return choices.alpha(self.configuration, lambda: self.suggested)

    # --- what they cost -----------------------------------------------------------------------------------------

    def priced(self, name: str) -> mechanisms.Mechanism | None:
        """The named mechanism where its exact errors can be had; None while it is not fitted. ValueError where it cannot be built
        or its errors take too long."""
        self._check_price(name)
        return self.mechanism(name)

    def _check_price(self, name: str) -> None:
        if reason := choices.too_dear(name, self.complete.workload, self.complete.epsilon):
            raise ValueError(reason)

    def price_takes_seconds(self, mechanism: mechanisms.Mechanism) -> bool:
        """Whether the exact errors of a mechanism can be had, but are not known yet and take more than a second."""
        design = self.complete
        closed = library.spec(mechanism.name).closed_form and not isinstance(mechanism, mechanisms.ExplicitMechanism)
        if closed or not AT_ONCE_TYPES < mechanism.worked_over(design.workload) <= workloads.DENSE_TYPES:
            return False
        if choices.too_dear(mechanism.name, design.workload, design.epsilon):
            return False
        return self.results.get(digest(_profile_key(mechanism, design.workload))) is None

    def profile(self, mechanism: mechanisms.Mechanism) -> np.ndarray:
        """(n,) variance per user of each type. ValueError where it takes too long."""
        self._check_price(mechanism.name)
        return self.profiled(mechanism, self.complete.workload)

    def profiled(
        self, mechanism: mechanisms.Mechanism, workload: workloads.Workload, check: Check = unchecked
    ) -> np.ndarray:
        """The same for any workload, and however long it takes; ``check`` may stop it."""
        return self.cached(_profile_key(mechanism, workload), lambda: mechanism.variance_profile(workload, check))

    def summary(self, mechanism: mechanisms.Mechanism) -> analysis.Summary:
        """Exact costs of a mechanism in the current design. ValueError where they cannot be had."""
        profile, design, alpha = self.profile(mechanism), self.complete, self.alpha
        key = ("summary", mechanism.digest, design.workload.digest, alpha, design.people_digest)
        return self.cached(key, lambda: analysis.summarise(mechanism, design.workload, design.counts, alpha, profile))

    def costed(self, name: str) -> mechanisms.Mechanism | None:
        """The named mechanism where it has a summary, None when that cannot be had for whatever reason."""
        try:
            mechanism = self.priced(name)
            if mechanism is not None:
                self.summary(mechanism)
        except ValueError:
            return None
        return mechanism

    @property
    def weighting(self) -> str:
        """A sentence on what weights do to errors, where the questions of the design have any."""
        recipe = self.configuration.workload
        return WEIGHTED if recipe is not None and any(part.weight != 1 for part in recipe.parts) else ""

    @property
    def only_case(self) -> str:
        """Why there is no choice of whose error counts, in a sentence; empty where there is."""
        return analysis.only_case(self.complete.people, self.complete.workload)

    @property
    def even_case(self) -> str:
        """The case of people spread evenly; the only one there is where all types have the same error."""
        return "average" if "average" in self.cases() else analysis.WORST_CASE.name

    def users_needed(self, mechanism: mechanisms.Mechanism, case: str) -> float:
        """Users a mechanism needs for the target error in a case."""
        variance = self.cases()[case].variance(self.profile(mechanism))
        return analysis.users_for(variance, self.complete.workload.squared_weights, self.alpha)

    # --- what none can beat -------------------------------------------------------------------------------------

    def certificate_key(self, case: str) -> str:
        """Identifies a certificate by what it is about."""
        design, prior = self.complete, self.cases()[case].prior
        digest = prior is not None and hashlib.sha256(prior.tobytes()).hexdigest()
        return "certificate:" + json.dumps([design.workload.digest, design.epsilon, digest])

    def certificate(self, case: str) -> Proof | None:
        """What has been proved for a case. For workloads that treat all types alike that takes no time and is done here."""
        key, design = self.certificate_key(case), self.complete
        found: Proof | None = self.results.get(key)
        if found is None and design.workload.symmetry == "exchangeable" and self.even(case):
            found = Proof(bounds.certificate(design.workload, design.epsilon), (), True)
            self.results.put(key, found, found.size, dear=True)
        return found

    def written(self, case: str, before: bool = False) -> Written | None:
        """What has been proved for a case as files; None where nothing is, or nothing that is written. Takes as long as two checks of
        the proof, and no time where only files are asked for that were made ``before``."""
        proof, epsilon = self.certificate(case), self.configuration.epsilon
        if proof is None or certificate_file.too_large(proof.certificate) or not proof.certificate.value > 0:
            return None
        found = proof.certificate
        key = ("written", self.certificate_key(case), found.value, type(found).__name__, epsilon)
        if before:
            return self.results.get(digest(key))
        return self.cached(key, partial(certificate_file.write, found, epsilon), lambda files: len(files.arrays))

    def adopt(self, files: Written) -> str:
        """Take over what files prove, once that has been checked for the questions and epsilon of the design: in the cases that it is
        about. Returns what there is to say. ValueError, one sentence, where they prove nothing for them."""
        found = certificate_file.read(files, self.complete.workload, self.configuration.epsilon)
        cases = [name for name in self.cases() if self._about(found, name)]
        for name in cases or [name for name, case in self.cases().items() if case.prior is None]:
            key = self.certificate_key(name)
            before: Proof | None = self.results.get(key)
            if before is None or found.variance > before.certificate.variance:
                proof = Proof(found, (), False)
                self.results.put(key, proof, proof.size, dear=True)
        return "The file holds a proof of what no mechanism can beat. It was checked here, and it holds."

    def _about(self, found: bounds.AnyCertificate, case: str) -> bool:
        """Whether a certificate is about the people of a case, not about others who tell less of it."""
        chosen, prior = self.cases()[case], found.prior if isinstance(found, bounds.Certificate) else None
        even = prior is None or np.array_equal(prior, np.full(len(prior), 1 / len(prior)))
        if chosen.prior is None:
            return even and (prior is None or self.complete.workload.symmetry_group.all_alike)
        return chosen.uniform if even or prior is None else np.array_equal(chosen.prior, prior)

    def even(self, case: str) -> bool:
        """Whether a case is about users spread evenly. The worst case is, where symmetry makes all types alike."""
        chosen = self.cases()[case]
        return chosen.prior is None or chosen.uniform

    def closed_bounds(self, case: str) -> dict[str, float]:
        """Lower bounds on users needed that are known at once, in closed form, by name."""
        design, alpha = self.complete, self.alpha
        key = ("bounds", self.certificate_key(case), alpha)
        return self.cached(key, lambda: frames.users_bounds(design.workload, design.epsilon, alpha, self.cases()[case]))

    def bounds(self, case: str = "worst_case") -> dict[str, float]:
        """Lower bounds on users needed in the current design and case, by name."""
        found, proof = self.closed_bounds(case), self.certificate(case)
        if proof is None:
            return found
        return {**found, "certificate": frames.users_certified(proof.certificate, self.alpha)}

    def floor(self, case: str) -> tuple[str, float] | None:
        """The strongest of these bounds by name, and the variance per user that it says no unbiased mechanism goes below. None where
        bounds take too long to work out while a page is drawn."""
        if self.complete.working_types > PRICED_TYPES:
            return None
        limits, alpha = self.bounds(case), self.alpha
        return frames.strongest(limits), max(limits.values()) * alpha * self.complete.workload.squared_weights

    # --- the best there is --------------------------------------------------------------------------------------

    def optimum_prior(self, case: str) -> np.ndarray | None:
        """The spread of people whose exact optimum is that of a case: for the worst case only where symmetry makes all types
        alike, since then nobody fares worse than the average. None where there is none, or too many types."""
        design, prior = self.complete, self.cases()[case].prior
        n = design.domain.size
        if n > EXACT_TYPES:
            return None
        alike = prior is None and design.workload.symmetry_group.all_alike
        return np.full(n, 1 / n) if alike else prior

    def optimum_key(self, prior: np.ndarray) -> str:
        """Identifies the exact optimum for people spread like this."""
        design = self.complete
        return "optimum:" + json.dumps([design.workload.digest, design.epsilon, prior.tolist()])

    def optimum(self, case: str) -> float | None:
        """Users that the best of all pure mechanisms needs in a case; None where that is not known, or not yet."""
        prior = self.optimum_prior(case)
        found: optimize.ExactOptimum | None = None if prior is None else self.results.get(self.optimum_key(prior))
        if found is None:
            return None
        return analysis.users_for(found.variance, self.complete.workload.squared_weights, self.alpha)

    def gap(self, mechanism: mechanisms.Mechanism, case: str | None = None) -> float:
        """How many more users (as a share) a mechanism needs than the best bound allows, in one case (its own)."""
        case = case or self.aim(mechanism.name)
        needed = self.users_needed(mechanism, case)
        # The bounds speak of pure epsilon-LDP.
        return math.inf if mechanism.delta > 0 else frames.gap(needed, max(self.bounds(case).values()))

    def costs(self, mechanism: mechanisms.Mechanism) -> pd.DataFrame:
        """What a mechanism costs in every case, each with its own bound: see `frames.costs`."""
        limits = {case: {} if mechanism.delta > 0 else self.bounds(case) for case in self.cases()}
        known = {case: self.optimum(case) for case in self.cases() if mechanism.delta == 0}
        optima = {case: users for case, users in known.items() if users is not None}
        workload, alpha = self.complete.workload, self.alpha
        return frames.costs(self.profile(mechanism), self.cases(), limits, workload.squared_weights, alpha, optima)

    def compared(self, ready: Mapping[str, mechanisms.Mechanism], case: str) -> pd.DataFrame:
        """Costs of mechanisms by name (columns of `frames.summaries`), with users needed and gap in one case, fewest users first."""
        return realised.comparison(
            ready, self.summary, lambda one: self.users_needed(one, case), lambda one: self.gap(one, case)
        )

    # --- pictures -----------------------------------------------------------------------------------------------

    def drawable(self, mechanism: mechanisms.Mechanism) -> TypeGuard[Drawable]:
        """Whether a mechanism has a strategy that can be written out in no time. Subset selection on 25 types already has half a
        million reports: writing them out takes seconds and shows nothing."""
        small = mechanism.bits_per_report + math.log2(mechanism.n) <= DRAWN_BITS
        fitted = isinstance(mechanism, mechanisms.ExplicitMechanism)
        return (small or fitted) and mechanism.strategy is not None

    def patterns(self, mechanism: Drawable, look: charts.Theme, compact: bool = False) -> go.Figure:
        """The picture of a mechanism's strategy. Finding the order of its rows takes a tenth of a second."""
        design, prior = self.complete, self.cases()[self.aim(mechanism.name)].prior
        key = ("patterns", mechanism.digest, design.naming, None if prior is None else prior.tobytes(), look, compact)
        colour = charts.colour(mechanism.name)
        draw = lambda: charts.patterns(mechanism.strategy, design.labels, look, colour, prior, compact)  # noqa: E731
        return self.cached(key, draw, lambda figure: PICTURE_BYTES)

    def reports(self, mechanism: Drawable) -> pd.DataFrame:
        """Who shares which report of a mechanism's strategy: see `frames.reports`."""
        design, prior = self.complete, self.cases()[self.aim(mechanism.name)].prior
        key = ("reports", mechanism.digest, design.naming, None if prior is None else prior.tobytes())
        return self.cached(key, lambda: frames.reports(mechanism.strategy, design.labels, prior))


def _profile_key(mechanism: mechanisms.Mechanism, workload: workloads.Workload) -> tuple[str, str, str]:
    return "profile", mechanism.digest, workload.digest
