"""The state model: one object answers everything that follows from a configuration.

The app, the command line and kits ask here, so that they show the same numbers. What a `Setting` works out it works out once.
Whatever takes time is kept in `Results` under the digest of the inputs it used, so that a result can never belong to other inputs than
it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, estimators, frames, library, mechanisms, verdicts, wording
from ldp_core.designs import choices
from ldp_core.designs.once import once
from ldp_core.designs.rivals import Rivals, profile_key
from ldp_core.limits import (
    AT_ONCE_TYPES,
    MOST_EXACT_TYPES,
    MOST_MATRIX_TYPES,
    UNASKED_TYPES,
)
from ldp_core.mechanisms.base import Mechanism
from ldp_core.run import Cancel
from ldp_core.studies import outcomes
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.units import OF_GROUP, POINTS


@dataclass(frozen=True, eq=False)
class Setting(Rivals):
    """All that follows from a configuration: its `Basis`, its `Rivals`, and here what these cost and what is told of them."""

    # --- trials ---------------------------------------------------------------------------------

    def posterior_prior(self) -> float | np.ndarray | None:
        """The prior of the posterior mean; None where it is not asked for. ValueError where earlier counts are missing or do not fit the types."""
        simulation = self.configuration.simulation
        if not any(estimators.spec(name).credible for name in simulation.estimators):
            return None
        return choices.posterior_prior(self.configuration, simulation.prior == "histogram")

    def simulated(self, ready: Mapping[str, Mechanism], **followed: Any) -> outcomes.Outcomes:
        """Trials of mechanisms by name on the people of the design, as the configuration says: see `studies.outcomes.compare`, which
        takes what is ``followed``, too."""
        return outcomes.compare(
            ready,
            self.workload,
            self.counts,
            self.labels,
            **self.configuration.simulation.model_dump(include={"seed", "trials", "estimators", "new_people"}),
            prior=self.posterior_prior(),
            scales=outcomes.scales_of(self.workload, axes_of(self.domain)),
            **followed,
        )

    # --- what mechanisms cost -------------------------------------------------------------------

    def priced(self, name: str) -> Mechanism | None:
        """The named mechanism where its exact errors can be had; None while it is not fitted, else ValueError."""
        self._refuse_expensive(name)
        return self.mechanism(name)

    def _refuse_expensive(self, name: str) -> None:
        if reason := self.too_expensive(name):
            raise ValueError(reason)

    @once
    def too_expensive(self, name: str) -> str | None:
        """Why the exact errors of a mechanism are not computed, in a sentence; None where they are, or it cannot be built at all."""
        spec, n = library.spec(name), self.workload.n
        if self.working_types <= MOST_EXACT_TYPES or spec.closed_form or self._unsuitable(name):
            return None
        return (
            f"The exact errors of {spec.title} take too long past {MOST_EXACT_TYPES:,} types; there are {wording.magnitude(n)} here. "
            "Simulate shows them, or use coarser bins."
        )

    def profile_takes_seconds(self, mechanism: Mechanism) -> bool:
        """True if the exact errors of a mechanism can be had, but are not known yet and take more than a second."""
        closed = library.spec(mechanism.name).closed_form and not isinstance(
            mechanism.drawn, mechanisms.ExplicitMechanism
        )
        if closed or not UNASKED_TYPES < mechanism.cost_dimension(self.workload) <= MOST_MATRIX_TYPES:
            return False
        known = self.results.get(profile_key(mechanism, self.workload)) is not None
        return not known and not self.too_expensive(mechanism.name)

    def costed(self, name: str) -> Mechanism | None:
        """The named mechanism where its errors can be had, None when that is not so for whatever reason."""
        with suppress(ValueError):
            if (mechanism := self.priced(name)) is not None:
                self.users_needed(mechanism, self.case)
            return mechanism
        return None

    def _worked_out(self, what: str, find: Callable[..., Any], mechanism: Mechanism, case: str) -> Any:
        """What ``find`` makes of a mechanism and the people of the design in a case, kept."""
        about = (self.workload.digest, self.answers.norm, self.certificate_key(case), self.people.digest)
        found = partial(find, mechanism, self.workload, self.counts, self.cases[case])
        return self.results.cached((what, mechanism.digest, *about), found)

    @once
    def users_needed(self, mechanism: Mechanism, case: str) -> float:
        """How many people a mechanism needs in a case until every question meets its target: see `analysis.people_needed`."""
        self._refuse_expensive(mechanism.name)
        return self._worked_out("needed", analysis.people_needed, mechanism, case)

    @once
    def each_needs(self, mechanism: Mechanism) -> list[float]:
        """How many people each question needs on its own: see `analysis.needed_by`."""
        about = (self.counts, self.cases[self.case])
        return [analysis.needed_by(mechanism, line, *about) for line in self.answers.lines]

    @once
    def mean_needed(self, mechanism: Mechanism, case: str) -> float:
        """The same for the mean over the questions, by their weights: what the bounds speak of."""
        return self.variance(mechanism, case) / self.answers.norm

    def variance(self, mechanism: Mechanism, case: str) -> float:
        """The total variance a person for the mean over the questions, in a case. ValueError where exact errors take too long."""
        self._refuse_expensive(mechanism.name)
        questions = self.answers.workload
        if questions.survey is not None and self.cases[case].prior is not None:  # how many people groups have
            return mechanism.variance_on(questions, self.counts) / self.users
        return self.cases[case].variance(self.profiled(mechanism, questions))

    def answered(self, mechanism: Mechanism) -> pd.DataFrame:
        """Each answer with its error in the case of the design: see `analysis.answers`. ValueError where single answers take too long."""
        if reason := analysis.too_many_types(self.workload):
            raise ValueError(reason)
        return self._worked_out("answers", analysis.answers, mechanism, self.case)

    def lines(self, mechanism: Mechanism, alone: Sequence[tuple[float, bool]] | None = None) -> pd.DataFrame:
        """Each question with what it comes to: see `analysis.question_lines`; ``alone`` as of `alone`, which it is by default. What a value is, and the
        verdict on it, is not known where people were counted who are left out. ValueError as `answered`."""
        answered = self.answered(mechanism)
        if self.configuration.population.shape == "data" and not self.on_data:
            judged = ~answered["unit"].isin([POINTS, OF_GROUP]) | answered["finds"].notna()
            answered = answered.assign(verdict=answered["verdict"].where(judged, ""))
        return analysis.lines_of(
            self.answers,
            answered,
            self.each_needs(mechanism),
            self.users,
            self.alone() if alone is None else alone,
            self.known_values,
        )

    @property
    def known_values(self) -> list[bool]:
        """One a question: True if its answers in the planning data are known."""
        c = self.configuration
        declared = c.population.shape not in ("data", "uniform")
        taken = c.planning == "people" and (declared or (c.rates is not None and c.population.shape == "data"))
        return [self.on_data or (taken and line.rates is not None) for line in self.answers.lines]

    def alone(self, search: bool = True, cancel: Cancel | None = None) -> list[tuple[float, bool]]:
        """What each question would be if nothing else were asked: see `analysis.alone`. Empty for a single one."""
        lines = self.answers.lines if len(self.answers.lines) > 1 else ()
        about = (self.epsilon, self.counts, self.cases[self.case], search, cancel)
        key = ("alone", search, self.certificate_key(self.case), self.answers.norm, self.people.digest)
        return self.results.cached(key, lambda: [analysis.alone(self.answers, line, *about) for line in lines])

    @once
    def tally(self, mechanism: Mechanism) -> verdicts.Tally | None:
        """The verdicts on the answers, counted; None where single answers take too long."""
        too_many, every = (
            analysis.too_many_types(self.workload),
            sum(line.workload.num_queries for line in self.answers.lines),
        )
        return None if too_many else verdicts.tally(self.answered(mechanism)["verdict"], every)

    @once
    def verdict(self, mechanism: Mechanism, singly: bool = True) -> str:
        """What the design comes to, in words: see `verdicts.headline`; without single answers unless ``singly``."""
        about = (self.users, self.configuration.epsilon, self.users_needed(mechanism, self.case))
        if not singly or analysis.too_many_types(self.workload):
            return verdicts.headline(*about, coarse=self.answers.coarse)
        lines = analysis.lines_of(self.answers, self.answered(mechanism), self.each_needs(mechanism), self.users)
        return verdicts.headline(*about, lines, self.tally(mechanism), self.answers.coarse)

    def error(self, mechanism: Mechanism, case: str | None = None) -> float:
        """The error with the people of the design, in targets, of the question that needs the most people, in a case (that of the design)."""
        return math.sqrt(self.users_needed(mechanism, case or self.case) / self.users)

    def gap(self, mechanism: Mechanism, case: str | None = None) -> float:
        """How many more people (as a share) a mechanism needs for the mean of the questions than the best bound allows, in a case (that of the
        design).

        Infinite without pure epsilon, which the bounds speak of.
        """
        case = case or self.case
        needed = self.mean_needed(mechanism, case)
        return math.inf if mechanism.delta > 0 else frames.gap(needed, max(self.bounds(case).values()))

    @property
    def kept(self) -> str:
        """The promise of the mechanisms that bounds speak of, to follow "no mechanism"."""
        some = not bounds.every_value_is_secret(self.workload)
        return f"{'that protects the secret values with' if some else 'with pure'} epsilon {self.configuration.epsilon}"

    def spared(self, mechanism: Mechanism) -> str:
        """How many people are spared as some values are no secret, or the collector knows columns, in a sentence: the need of this design against
        the least that is proved of mechanisms that keep everything secret. Empty where everything is, or no bound is known at once."""
        whole, case = self.answers.workload.without_strata.all_secret, self.cases[self.case]
        some = not mechanism.protects_all
        if whole.survey is not None and whole.survey.symmetric:
            case = analysis.WORST_CASE  # all people have the same error
        elif whole.n > AT_ONCE_TYPES:
            return ""
        if (self.workload.strata is None and not some) or mechanism.delta > 0:
            return ""
        key = ("secret", self.certificate_key(self.case), self.answers.norm)
        limits = self.results.cached(key, partial(frames.users_bounds, whole, self.epsilon, self.answers.norm, case))
        fewest = max(limits.values())
        if whole.symmetry == "exchangeable":  # the optimum is proved in no time
            proof = bounds.certificate(whole, self.epsilon, None)
            fewest = max(fewest, frames.users_certified(proof, self.answers.norm) if case.prior is None else 0.0)
        share = math.floor(100 * (1 - self.mean_needed(mechanism, self.case) / fewest)) if fewest > 0 else 0
        names = wording.listed([wording.shortened(axis.name, 30) for axis in self.domain.attributes if axis.known])
        if share <= 0:
            return ""
        if some:
            also = f", and the collector knows {names} already" if names else ""
            return f"Some values are not secret{also}: at least {share} % fewer people are needed than if every value were."
        return (
            f"The collector knows {names} already: at least {share} % fewer people are needed than if that were secret."
        )

    def costs(self, mechanism: Mechanism) -> pd.DataFrame:
        """case, users_needed, users_bound, gap of a mechanism, one row per case, each against the best of its own bounds; the gap is that for the mean
        of the questions."""
        return pd.DataFrame(
            {
                "case": case,
                "users_needed": self.users_needed(mechanism, case),
                "users_bound": max(self.bounds(case).values()) if mechanism.delta == 0 else 0.0,
                "gap": self.gap(mechanism, case),
            }
            for case in self.cases
        )

    def compared(self, ready: Mapping[str, Mechanism], case: str) -> pd.DataFrame:
        """name, epsilon, users_needed and gap of mechanisms by name, fewest people in the case first."""
        rows = [
            {
                "name": name,
                "epsilon": made.epsilon,
                "users_needed": self.users_needed(made, case),
                "gap": self.gap(made, case),
            }
            for name, made in ready.items()
        ]
        return pd.DataFrame(rows).sort_values("users_needed", ignore_index=True) if rows else pd.DataFrame()
