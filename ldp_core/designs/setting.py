"""The state model: one object answers everything that follows from a configuration.

The app, the command line and kits ask here, so that they show the same numbers. Whatever takes time is kept in `Results`
under the digest of the inputs it used, so that a result can never belong to other inputs than it says.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, estimators, frames, library, mechanisms, verdicts, wording, workloads
from ldp_core.designs import choices
from ldp_core.designs.configuration import Configuration
from ldp_core.designs.proofs import Curve as Curve
from ldp_core.designs.proofs import Proof as Proof
from ldp_core.designs.proofs import Proved
from ldp_core.limits import AT_ONCE_TYPES, MOST_DEVICE_ENTRIES, MOST_FITTED_TYPES, MOST_MATRIX_TYPES, UNASKED_TYPES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.optimize.base import too_large
from ldp_core.optimize.columns.generation import rows_held
from ldp_core.run import Budget, Callback, Cancel, Check, Interrupted, Progress, asked, unchecked
from ldp_core.studies import outcomes
from ldp_core.workloads import Detect
from ldp_core.workloads.axes import axes_of

TRADE_OFF = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The epsilons at which a design is fitted and proved for its main picture, besides its own."""


NO_BREAK = "\N{NO-BREAK SPACE}"


class NotFitted(ValueError):
    """A fitted mechanism has not been fitted yet, or its fit is not in the file."""


class Fit(NamedTuple):
    """A fitted mechanism, how its search went (empty where that is not known), and whether it came from a file."""

    mechanism: Mechanism
    history: Curve
    loaded: bool = False


@dataclass(frozen=True, eq=False)
class Setting(Proved):
    """All that follows from a configuration, its people and its questions; what needs the questions refuses in a sentence while they
    have not been computed. Mechanisms go by their name in the design, each with its parameters."""

    @cached_property
    def at_other_epsilons(self) -> tuple[Setting, ...]:
        """The same design at the epsilons of `TRADE_OFF` but for its own, with results in the same place."""
        others = [f"{epsilon:g}" for epsilon in TRADE_OFF if not math.isclose(epsilon, self.epsilon)]
        return tuple(replace(self, configuration=self.configuration.with_(epsilon=epsilon)) for epsilon in others)

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

    # --- mechanisms -----------------------------------------------------------------------------

    @property
    def unsuitable(self) -> dict[str, str]:
        """Why mechanisms cannot run on the design, by name, for those that cannot."""
        n, epsilon, workload = self.domain.size, self.epsilon, self.workload

        def reasons() -> dict[str, str]:
            reasons = {name: entry.unsuitable(n, epsilon, workload) for name, entry in library.REGISTRY.items()}
            return {name: reason for name, reason in reasons.items() if reason}

        return self.results.cached(("unsuitable", n, epsilon, workload.digest), reasons)

    def mechanism(self, name: str) -> Mechanism | None:
        """The named mechanism; None for one that has yet to be fitted. ValueError when it cannot be built."""
        name = self.named(name)
        spec, n, epsilon, parameters = library.spec(name), self.domain.size, self.epsilon, self.parameters_for(name)
        if reason := spec.unsuitable(n, epsilon, self.workload):
            raise ValueError(reason)
        if spec.fitted:
            fit = self.fitted(name)
            return fit.mechanism if fit else None
        merged = self.configuration.types != "all" and library.classes_for(spec, self.workload, epsilon) is not None
        merged |= self.workload.strata is not None
        workload = self.workload if spec.uses_workload or merged else None
        # The text of a file is long.
        told = sorted((key, hash(value) if isinstance(value, str) else value) for key, value in parameters.items())
        key = ("mechanism", name, n, epsilon, workload and workload.digest, told)
        create = partial(library.create, name, n=n, epsilon=epsilon, workload=workload, **parameters)
        return self.results.cached(key, create, lambda made: made.bytes_held)

    @property
    def about_types(self) -> str:
        """A sentence on the types that reports of the chosen mechanism are about. It is empty if the questions distinguish all
        types, or if the mechanism goes by attributes."""
        classes = library.classes_for(library.spec(self.chosen), self.workload, self.epsilon)
        if classes is None:
            return ""
        sentence = (
            f"Your questions distinguish {classes.workload.n:,} of {self.domain.size:,} types; reports are about "
        )
        return sentence + ("all types." if self.configuration.types == "all" else "these.")

    @property
    def chosen_mechanism(self) -> Mechanism:
        """The mechanism of the design. `NotFitted` while it has not been fitted."""
        mechanism = self.mechanism(self.chosen)
        if mechanism is None:
            raise NotFitted(f"{library.spec(self.chosen).title} has not been optimised for this design yet.")
        return mechanism

    def titled(self, name: str) -> str:
        """The title of a mechanism, with the closed form that it is in this design: see `library.titled`."""
        fit = self.fitted(name) if library.spec(name).strategy_fitted else None
        return library.titled(name, fit and fit.mechanism)

    def build(self, name: str, callback: Callback | None = None, cancel: Cancel | None = None) -> Mechanism:
        """The named mechanism, fitted now where it has yet to be. ValueError, one sentence, where it is not available."""
        if reason := self._unsuited(name):
            raise ValueError(reason)
        mechanism = self.mechanism(name)
        return self.fit(name, callback, cancel).mechanism if mechanism is None else mechanism

    @property
    def delta(self) -> float:
        """Delta of one report of the chosen mechanism, by its audit; until it is fitted, what it will have. 0 if pure."""
        expected, mechanism = choices.expected_delta(self.configuration), None
        if expected:
            with suppress(ValueError):
                mechanism = self.mechanism(self.chosen)
        if mechanism is None:
            return expected
        return self.results.cached(("delta", mechanism.digest), mechanism.audit).delta

    @property
    def recorded(self) -> Configuration:
        """The configuration as files hold it: `settled`, with what its mechanism chose itself, where that is the same in all groups."""
        settled, recipe = self.settled, self.configuration.mechanism
        with suppress(ValueError):
            made = None if (spec := library.spec(recipe.name)).fitted else self.mechanism(recipe.name)
            each = [spec.own_choices(one.parameters) for one in getattr(made, "strata", [made]) if one is not None]
            if each and all(choices_made == each[0] for choices_made in each):
                stated = {**each[0], **recipe.parameters}
                return settled.model_copy(update={"mechanism": recipe.model_copy(update={"parameters": stated})})
        return settled

    # --- fits -----------------------------------------------------------------------------------

    def fitted_key(self, name: str) -> str:
        """Identifies the fit of a mechanism by everything it depends on."""
        name = self.named(name)
        settings = self.configuration.optimizer.model_dump(include={"seed", "max_rounds", "rows", "time_limit"})
        if self.configuration.types == "all":
            settings["types"] = "all"
        if library.spec(name).aimed:
            prior = self.cases[self.aim(name)].prior
            if prior is not None:
                settings["aim"] = [self.aim(name), hashlib.sha256(prior.tobytes()).hexdigest()]
        return "fitted:" + json.dumps([[name, self.workload.digest, self.epsilon], settings], default=str)

    def fitted(self, name: str) -> Fit | None:
        """A fitted mechanism and its history, once it has been computed or loaded, or at once where that takes no search."""
        return self.results.get(self.fitted_key(name)) or self.unsearched(name)

    def unsearched(self, name: str, recorded: object = None) -> Fit | None:
        """The fit of a mechanism that takes no search, kept: see `library.unsearched`, also for what a file has ``recorded``."""
        options = self.fit_options(name)
        made = library.unsearched(self.named(name), self.epsilon, self.workload, recorded=recorded, **options)
        if made is None:
            return None
        self._keep(name, fit := Fit(made, ()))
        return fit

    def from_file(self, name: str) -> bool:
        """True if the mechanism in use was loaded from a file, so that no one here knows how it was made."""
        fit = self.fitted(name) if library.spec(name).fitted else None
        return "matrix" in self.parameters_for(name) or (fit is not None and fit.loaded)

    def use(self, mechanism: Mechanism) -> None:
        """Use a fitted mechanism from a file. One that was computed here stays known as such."""
        before = self.fitted(mechanism.name)
        if before is None or before.mechanism.digest != mechanism.digest:
            self._keep(mechanism.name, Fit(mechanism, (), loaded=True))

    def _keep(self, name: str, fit: Fit) -> None:
        self.results.put(self.fitted_key(name), fit, fit.mechanism.bytes_held, expensive=True)

    def unfit(self, name: str) -> str | None:
        """Why a mechanism cannot be fitted to the design, in a sentence; None where it can, or needs no fit."""
        if reason := self._unsuited(name):
            return reason
        if not library.spec(name).fitted or self.fitted(name) is not None:
            return None
        return self.results.refused(self.fit_bytes(name)) or None

    def _unsuited(self, name: str) -> str | None:
        spec = library.spec(self.named(name))
        if not spec.fitted:
            return None
        if reason := spec.unsuitable(self.workload.n, self.epsilon, self.workload):
            return reason
        case = self.cases[self.aim(spec.name)]
        if spec.aimed and case.prior is not None and not case.uniform:
            reason = too_large(self.workload.n)
            return reason and f"{reason} More can be had where the worst case counts, or an even spread."
        return None

    def unfitted(self, names: Iterable[str]) -> list[str]:
        """Those of the named mechanisms that have yet to be fitted, and can be."""
        waiting = (name for name in names if library.spec(name).fitted and self.fitted(name) is None)
        return [name for name in waiting if self.unfit(name) is None]

    def fit_bytes(self, name: str) -> int:
        """About how many bytes the fit of a mechanism will hold."""
        n, name = self.domain.size if self.workload.survey is not None else self.fitted_types, self.named(name)
        spec = library.spec(name)
        if spec.continuous:
            return 16 * n * (n + n // 16)
        rows = {**self.parameters_for(name), **spec.fixed}.get("rows")
        return 24 * n * (rows or rows_held(n)) if rows or n <= MOST_FITTED_TYPES else 0

    def outgrows_a_kit(self, name: str) -> str | None:
        """Why a fit will have too large a table for the devices of a kit, in a sentence said before the search; None where it has not."""
        n, spec = self.fitted_types, library.spec(name)
        if self.fitted(name) is not None or not spec.strategy_fitted or spec.aimed or self.workload.survey is not None:
            return None
        rows = {**self.parameters_for(name), **spec.fixed}.get("rows") or 4 * n
        if n > MOST_FITTED_TYPES or rows * n <= MOST_DEVICE_ENTRIES:
            return None
        return (
            f"The table will have {rows:,} x {n:,} chances, more than the {MOST_DEVICE_ENTRIES:,} that fit into the devices of a kit: to "
            f"collect, use coarser bins or another mechanism, such as {library.spec('optimized').title}."
        )

    def fit_options(self, name: str) -> dict[str, Any]:
        """The optimiser settings of the design that a mechanism knows, and whose error it is to make small."""
        spec, chosen = library.spec(self.named(name)), self.configuration.optimizer.model_dump()
        settings = {k: v for k, v in chosen.items() if k in spec.parameters and v is not None}
        if spec.aimed:
            case = self.cases[self.aim(spec.name)]
            settings["time_limit"] = None if "max_rounds" in settings else self.search_seconds
            if case.prior is None:
                settings["target"] = "worst_case"
            elif not case.uniform:
                settings["prior"] = case.prior
        return settings | self.parameters_for(spec.name)

    def fit(
        self,
        name: str,
        callback: Callback | None = None,
        cancel: Cancel | None = None,
        bound: Callable[[], float | None] | None = None,
        ended: Callable[[], None] = lambda: None,
        enough: float = choices.GOOD_ENOUGH,
    ) -> Fit:
        """Fit a mechanism and keep the fit, or an earlier one that was computed here and is better. The search ends once the
        mechanism is proved to be within a share of ``enough`` of the best possible, or, where a number of rounds is set, after these.

        ``bound`` says what has been proved by now, on the scale of L; by default that is the proof kept for the case.
        ``ended`` is called when the search is over, before the costs of its result are computed.
        """
        name = self.named(name)
        spec, chosen, cancelled = library.spec(name), self.cases[self.aim(name)], asked(cancel)
        about_answers = self.answers.told == self.workload  # else the bound is on other rows than those fitted to
        known = bound or (partial(self.proved_objective, chosen.name) if about_answers else lambda: None)
        history, near = list[tuple[float, float]](), False
        by_rounds = self.configuration.optimizer.max_rounds is not None  # the same on every machine

        def follow(progress: Progress) -> None:
            nonlocal near
            # Some mechanisms report an error of another kind, which no bound speaks of.
            least = known() if spec.aimed and progress.objective is not None else None
            if progress.objective is not None:
                history.append((progress.seconds, progress.objective))
                proved = least is not None and choices.close(progress.objective, least, self.workload.trace, enough)
                near = proved and not by_rounds
            if callback is not None:
                callback(replace(progress, bound=progress.bound if least is None else least, history=history))

        began = time.perf_counter()
        options = self.fit_options(name)
        mechanism = library.create(
            name,
            epsilon=self.epsilon,
            workload=self.workload,
            **options,
            callback=follow,
            cancel=lambda: near or cancelled(),
        )
        searched = time.perf_counter() - began
        ended()
        mechanism.audit()
        if history:  # the last updates come after the last round: the curve ends where the result stands
            with suppress(ValueError, Interrupted):
                profile = self.profiled(mechanism, self.workload, Budget(cancel=cancelled).check)
                ends = bounds.equivalent_objective(chosen.variance(profile), self.workload)
                history.append((max(searched, history[-1][0]), ends))
        fit, before = Fit(mechanism, tuple(history)), self.fitted(name)
        if before is not None and before.history and history and before.history[-1][1] < history[-1][1]:
            fit = before
        self._keep(name, fit)
        return fit

    # --- what mechanisms cost -------------------------------------------------------------------

    def priced(self, name: str) -> Mechanism | None:
        """The named mechanism where its exact errors can be had; None while it is not fitted, else ValueError."""
        self._check_price(name)
        return self.mechanism(name)

    def _check_price(self, name: str) -> None:
        if reason := choices.too_expensive(name, self.workload, self.epsilon):
            raise ValueError(reason)

    def profile_takes_seconds(self, mechanism: Mechanism) -> bool:
        """True if the exact errors of a mechanism can be had, but are not known yet and take more than a second."""
        closed = library.spec(mechanism.name).closed_form and not isinstance(
            mechanism.drawn, mechanisms.ExplicitMechanism
        )
        if closed or not UNASKED_TYPES < mechanism.cost_dimension(self.workload) <= MOST_MATRIX_TYPES:
            return False
        if choices.too_expensive(mechanism.name, self.workload, self.epsilon):
            return False
        return self.results.get(_profile_key(mechanism, self.workload)) is None

    def profile(self, mechanism: Mechanism) -> np.ndarray:
        """(n,) variance per user of each type. ValueError where it takes too long."""
        self._check_price(mechanism.name)
        return self.profiled(mechanism, self.workload)

    def profiled(self, mechanism: Mechanism, workload: workloads.Workload, check: Check = unchecked) -> np.ndarray:
        """The same for any workload, however long it takes; ``check`` may stop it."""
        return self.results.cached(
            _profile_key(mechanism, workload), lambda: mechanism.variance_profile(workload, check)
        )

    def costed(self, name: str) -> Mechanism | None:
        """The named mechanism where its errors can be had, None when that is not so for whatever reason."""
        with suppress(ValueError):
            mechanism = self.priced(name)
            if mechanism is not None:
                self.users_needed(mechanism, self.case)
            return mechanism
        return None

    def _known(self, what: str, mechanism: Mechanism, case: str, compute: Callable[[], Any]) -> Any:
        key = (
            what,
            mechanism.digest,
            self.workload.digest,
            self.answers.norm,
            self.certificate_key(case),
            self.people_digest,
        )
        return self.results.cached(key, compute)

    def users_needed(self, mechanism: Mechanism, case: str) -> float:
        """How many people a mechanism needs in a case until every question meets its target: see `analysis.people_needed`."""
        self._check_price(mechanism.name)
        needed = partial(analysis.people_needed, mechanism, self.workload, self.counts, self.cases[case])
        return self._known("needed", mechanism, case, needed)

    def mean_needed(self, mechanism: Mechanism, case: str) -> float:
        """The same for the mean over the questions, by their weights: what the bounds speak of."""
        variance = self.cases[case].variance(self.profiled(mechanism, self.answers.told))
        return variance / self.answers.norm

    def answered(self, mechanism: Mechanism) -> pd.DataFrame:
        """Each answer with its error in the case of the design: see `analysis.answers`. ValueError where single answers take too long."""
        if reason := analysis.too_many_types(self.workload):
            raise ValueError(reason)
        found = partial(analysis.answers, mechanism, self.workload, self.counts, self.cases[self.case])
        return self._known("answers", mechanism, self.case, found)

    def lines(self, mechanism: Mechanism) -> pd.DataFrame:
        """Each question with its error: see `analysis.question_lines`. ValueError as `answered`."""
        return analysis.lines_of(self.answers, self.answered(mechanism))

    def tally(self, mechanism: Mechanism) -> verdicts.Tally | None:
        """The verdicts on the answers, counted; None where single answers take too long."""
        if analysis.too_many_types(self.workload):
            return None
        return verdicts.tally(
            self.answered(mechanism)["verdict"], sum(line.told.num_queries for line in self.answers.lines)
        )

    def verdict(self, mechanism: Mechanism, singly: bool = True) -> str:
        """What the design comes to, in words: see `verdicts.headline`; without single answers unless ``singly``."""
        needed = self.users_needed(mechanism, self.case)
        if not singly or analysis.too_many_types(self.workload):
            return verdicts.headline(self.users, self.configuration.epsilon, needed, coarse=self.answers.coarse)
        judged = self.lines(mechanism), self.tally(mechanism)
        return verdicts.headline(self.users, self.configuration.epsilon, needed, *judged, self.answers.coarse)

    def error(self, mechanism: Mechanism, case: str | None = None) -> float:
        """The error with the people of the design, in targets, of the question that needs the most people, in a case (that of the design)."""
        return math.sqrt(self.users_needed(mechanism, case or self.case) / self.users)

    @property
    def scale(self) -> wording.Scale:
        """How errors in targets are written: in the unit of the answers where all have the same, else as multiples of their targets."""
        line, *others = self.answers.lines
        if any(other.key != line.key for other in others):
            return wording.Scale(1.0, "targets", "times the targets")
        times, unit = line.goal * (self.users if line.unit.total else 1.0), verdicts.unit_in_words(line.key)
        return wording.Scale(times, "pp" if unit == wording.POINTS.unit else unit, unit)

    def error_in_words(self, error: float) -> str:
        """An error in targets: "± 4.5 percentage points", "a difference of 5 percentage points", "1.3 times the targets"."""
        scale, detect = self.scale, any(isinstance(line.target, Detect) for line in self.answers.lines)
        if len({line.key for line in self.answers.lines}) > 1:
            return "the targets" if math.isclose(error, 1) else f"{scale.text(error)} times the targets"
        return f"{'a difference of ' if detect else '±' + NO_BREAK}{scale.text(error)}{NO_BREAK}{scale.unit}"

    @property
    def mean_of(self) -> str:
        """What proved minima and gaps are for, where there are several questions."""
        return ", for the mean of the questions" if len(self.answers.lines) > 1 else ""

    def gap(self, mechanism: Mechanism, case: str | None = None) -> float:
        """How many more people (as a share) a mechanism needs for the mean of the questions than the best bound allows, in a case (that of the
        design).

        Infinite without pure epsilon, which the bounds speak of.
        """
        case = case or self.case
        needed = self.mean_needed(mechanism, case)
        return math.inf if mechanism.delta > 0 else frames.gap(needed, max(self.bounds(case).values()))

    def spared(self, mechanism: Mechanism) -> str:
        """How many people are spared as the collector knows columns, in a sentence: the need of this design against the least that is proved
        of mechanisms that keep these columns secret. Empty where no column is known, or no bound is known at once."""
        whole, case = self.answers.told.without_strata, self.cases[self.case]
        if self.workload.strata is None or whole.n > AT_ONCE_TYPES or mechanism.delta > 0:
            return ""
        key = ("secret", self.certificate_key(self.case), self.answers.norm)
        limits = self.results.cached(key, partial(frames.users_bounds, whole, self.epsilon, self.answers.norm, case))
        if (fewest := max(limits.values())) <= 0:
            return ""
        share = math.floor(100 * (1 - self.mean_needed(mechanism, self.case) / fewest))
        names = wording.listed([wording.shortened(axis.name, 30) for axis in self.domain.attributes if axis.known])
        said = (
            f"The collector knows {names} already: at least {share} % fewer people are needed than if that were secret."
        )
        return said if share > 0 else ""

    def costs(self, mechanism: Mechanism) -> pd.DataFrame:
        """case, users_needed, users_bound, gap of a mechanism, one row per case, each against the best of its own bounds; the gap is that for the mean
        of the questions."""
        rows = []
        for case in self.cases:
            bound = max(self.bounds(case).values()) if mechanism.delta == 0 else 0.0
            needed = self.users_needed(mechanism, case)
            rows.append({"case": case, "users_needed": needed, "users_bound": bound, "gap": self.gap(mechanism, case)})
        return pd.DataFrame(rows)

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


def _profile_key(mechanism: Mechanism, workload: workloads.Workload) -> tuple[str, str, str]:
    return "profile", mechanism.digest, workload.digest
