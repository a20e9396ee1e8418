"""The state model: one object answers everything that follows from a configuration.

The app, the command line and kits ask here, so that they show the same numbers. What a `Setting` works out it works out once.
Whatever takes time is kept in `Results` under the digest of the inputs it used, so that a result can never belong to other inputs than
it says.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import analysis, bounds, estimators, frames, library, mechanisms, verdicts, wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import choices, fits, inputs, proofs
from ldp_core.designs.configuration import Configuration
from ldp_core.designs.fits import Fit as Fit
from ldp_core.designs.fits import NotFitted as NotFitted
from ldp_core.designs.once import once
from ldp_core.designs.proofs import Curve as Curve
from ldp_core.designs.proofs import Proof as Proof
from ldp_core.designs.results import Results, digest
from ldp_core.limits import (
    AT_ONCE_TYPES,
    MOST_DEVICE_ENTRIES,
    MOST_EXACT_TYPES,
    MOST_FITTED_TYPES,
    MOST_MATRIX_TYPES,
    MOST_SEARCH_SECONDS,
    UNASKED_TYPES,
)
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA
from ldp_core.optimize.base import too_large
from ldp_core.optimize.columns.generation import rows_held
from ldp_core.people import Counted, Counts, Records
from ldp_core.run import Callback, Cancel, Check, Interrupted, asked, unchecked
from ldp_core.studies import outcomes
from ldp_core.workloads import Detect
from ldp_core.workloads.axes import axes_of
from ldp_core.workloads.units import OF_GROUP, POINTS

SEARCH_SECONDS = {64: 10.0, 128: 30.0, 256: 60.0, 512: 120.0}
"""How long to search for the best mechanism, and to prove a bound, for at most this many types."""
TRADE_OFF = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
"""The epsilons at which a design is fitted and proved for its main picture, besides its own."""
NOBODY = Counted(np.zeros(0), (0,))
"""The people while there is no domain."""
NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, eq=False)
class Setting:
    """All that follows from a configuration, its people and its questions. What needs a domain, or questions, refuses in a sentence while
    there is none, or they have not been computed. Mechanisms go by their name in the design, each with its parameters.

    Attributes:
        people: those counted, or those expected.
        on_data: whether they were counted in a table.
        misfit: why the questions cannot be asked of this domain, in a sentence; empty where they can.
        price: seconds and bytes that computing the questions takes.
        results: everything computed for this design and others, by the digest of its inputs.
        notes: sentences about what was assumed.
    """

    configuration: Configuration
    people: Counted | Records = NOBODY
    on_data: bool = False
    _workload: workloads.Workload | None = None
    misfit: str = ""
    price: workloads.Price = inputs.NO_PRICE
    results: Results = field(default_factory=Results, repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        configuration: Configuration,
        tally: tables.Tally | None,
        results: Results,
        quick: float = math.inf,
        cancel: Cancel | None = None,
        notes: tuple[str, ...] = (),
    ) -> Setting:
        """The setting of a configuration, with the people of a ``tally`` where there is one. Questions that take more than ``quick``
        seconds are taken from ``results``, and are not there where they are not. `Interrupted` once cancelled."""
        domain, recipe = configuration.domain, configuration.workload
        if domain is None:
            return cls(configuration, results=results, notes=notes)
        people = inputs.people_in(configuration, domain, tally)
        setting = cls(configuration, people, tally is not None, results=results, notes=notes)
        if recipe is None:
            return setting
        price = results.cached(("price", setting.naming), lambda: workloads.price(recipe.parts, domain))
        if reason := choices.questions_too_expensive(price):
            return replace(setting, misfit=reason, price=price)
        workload: workloads.Workload | None = results.get(setting.questions_key)
        if workload is None and price.seconds <= quick:
            try:
                workload = setting.work_out(asked(cancel))
            except ValueError as error:
                return replace(setting, misfit=str(error), price=price)
            if workload is None:
                raise Interrupted
            results.put(setting.questions_key, workload, price.bytes)
        setting = replace(setting, _workload=workload, price=price)
        if workload is not None:  # they stay what they are once their targets are written down
            results.cached(replace(setting, configuration=setting.settled).questions_key, lambda: workload)
        return setting

    # --- domain, people and questions -----------------------------------------------------------

    @cached_property
    def domain(self) -> Domain:
        if self.configuration.domain is None:
            raise ValueError("There is no domain yet: choose or declare data on the Data page.")
        return self.configuration.domain

    @cached_property
    def has_domain(self) -> bool:
        return self.configuration.domain is not None

    @cached_property
    def labels(self) -> Sequence[str]:
        """Names of the types."""
        return self.domain.type_labels

    @cached_property
    def epsilon(self) -> float:
        return self.configuration.epsilon_value

    @cached_property
    def has_questions(self) -> bool:
        """True if the questions are chosen, fit, and have been computed."""
        return self._workload is not None

    @cached_property
    def workload(self) -> workloads.Workload:
        """The questions. ValueError while they have not been chosen or computed."""
        if self._workload is None:
            raise ValueError("The questions have not been worked out yet: see the Workload page.")
        return self._workload

    @cached_property
    def answers(self) -> workloads.Answers:
        """What was asked, question by question."""
        return analysis.asked_of(self.workload)

    @property
    def questions(self) -> str:
        """The workload in a few words."""
        return "" if self.configuration.workload is None else self.configuration.workload.summary

    @cached_property
    def questions_key(self) -> str:
        """Identifies the questions as they are computed, with what they take of the people."""
        digest = self.configuration.digest(["domain", "workload", "targets", "planning", "rates"])
        return f"questions:{digest}:{self.people.digest}"

    def work_out(self, cancel: Cancel) -> workloads.Workload | None:
        """The questions with all that figures start from; None once cancelled. ValueError where they do not fit."""
        c, people = self.configuration, self.people
        rates, counts = inputs.planned(c, self.domain, people, self.on_data), None if c.planning == "even" else people
        return workloads.work_out(c.parts, self.domain, cancel, inputs.chosen_targets(c), rates, counts)

    @cached_property
    def naming(self) -> str:
        """Equal where the names of types and queries are equal."""
        return self.configuration.digest(["domain", "workload"])

    @cached_property
    def expensive(self) -> bool:
        """True if the questions take so long to compute that somebody has to ask for it."""
        return self.price.seconds > inputs.QUICK_SECONDS

    @cached_property
    def waiting(self) -> bool:
        """True if the questions could be computed, but have not been yet."""
        return not self.has_questions and not self.misfit and self.expensive

    @cached_property
    def settled(self) -> Configuration:
        """The configuration with its targets, and what it takes of planning data, as numbers: what files hold. While there are no questions it
        is the configuration itself."""
        if not self.has_questions:
            return self.configuration
        return inputs.settled(self.configuration, self.answers, self.domain, self.people, self.on_data)

    @property
    def counts(self) -> Counts:
        """Users of each type (n,), or the people themselves where there are too many types."""
        return self.people if self.people.by_type is None else self.people.by_type

    @cached_property
    def users(self) -> int:
        return self.people.users

    @property
    def population(self) -> str:
        """The people that errors "on this data" refer to, in words."""
        missing = "an even spread of people" if self.configuration.population.shape == "data" else ""
        return "this data" if self.on_data else missing or "the expected population"

    @cached_property
    def working_types(self) -> int:
        """How many numbers figures go through: see `Workload.working_types`; all types while the questions are not known."""
        return self.domain.size if self._workload is None else self._workload.working_types

    @cached_property
    def fitted_types(self) -> int:
        """How many numbers a fit or a proof goes through: the types that reports are about."""
        w = self._workload
        if w is None or w.survey is not None or self.configuration.types == "all":
            return self.working_types
        classes = workloads.classes_of(w)
        return self.working_types if classes is None else classes.workload.n

    @cached_property
    def unused_columns(self) -> tuple[str, ...]:
        """Names of the attributes that no question is about: they multiply the types and serve no answer."""
        if self._workload is None:
            return self._in_the_way()
        unused = workloads.unused_attributes(self._workload, self.domain.shape)
        return tuple(self.domain.attributes[i].name for i in unused)

    def _in_the_way(self) -> tuple[str, ...]:
        """Names of the attributes that no question names, where questions that do not fit could be asked without these."""
        parts = self.configuration.workload.parts if self.misfit and self.configuration.workload else ()
        text = " ".join(part.model_dump_json() for part in parts)
        kept = [attribute for attribute in self.domain.attributes if attribute.name in text]
        if not kept or not all(part.mentions or part.kind == "predicates" for part in parts):
            return ()
        try:
            if workloads.price(parts, kept).seconds > inputs.QUICK_SECONDS:
                return ()
            workloads.over_attributes(parts, kept)
        except ValueError:
            return ()
        return tuple(attribute.name for attribute in self.domain.attributes if attribute not in kept)

    # --- targets --------------------------------------------------------------------------------

    @cached_property
    def alpha(self) -> float:
        """The mean squared error of the questions' rows, as bounds and the papers have it, at which their mean is at its target."""
        return self.answers.norm / self.answers.told.squared_weights

    def in_targets(self, error: float) -> float:
        """A standard error of the questions' rows, a share of all users as bounds and the papers have it, in targets."""
        return error / math.sqrt(self.alpha)

    @cached_property
    def scale(self) -> wording.Scale:
        """How errors in targets are written: in the unit of the answers where all have the same, else as multiples of their targets."""
        line, *others = self.answers.lines
        if any(other.key != line.key for other in others):
            return wording.Scale(1.0, "targets", "times the targets")
        times, unit = line.goal * (self.users if line.unit.total else 1.0), verdicts.unit_in_words(line.key)
        return wording.Scale(times, "pp" if unit == wording.POINTS.unit else unit, unit)

    @cached_property
    def error_scale(self) -> wording.Scale:
        """How standard errors in targets are written, also where a target is a difference to detect."""
        line, several = self.answers.lines[0], self.scale.short == "targets"
        return self.scale if several else replace(self.scale, times=self.scale.times * line.standard_error / line.goal)

    @once
    def error_in_words(self, error: float) -> str:
        """An error in targets: "± 4.5 percentage points", "a difference of 5 percentage points", "1.3 times the targets"."""
        several, detect = self.scale.short == "targets", isinstance(self.answers.lines[0].target, Detect)
        said = "the targets" if several and math.isclose(error, 1) else self.scale.in_words(error)
        return said.replace(f"±{NO_BREAK}", "a difference of ") if detect else said

    @property
    def targets_in_words(self) -> str:
        """What the answers of each unit are for: "± 4.5 percentage points and a difference of 5 in spend"."""
        lines = {line.key: line for line in self.answers.lines}
        return wording.listed(
            [
                f"{'a difference of ' if isinstance(line.target, Detect) else '±' + NO_BREAK}{verdicts.in_unit(line.goal, key)}"
                f"{' a person' if line.unit.total else ''}"
                for key, line in lines.items()
            ],
            6,
        )

    @property
    def mean_of(self) -> str:
        """What proved minima and gaps are for, where there are several questions."""
        return ", for the mean of the questions" if len(self.answers.lines) > 1 else ""

    # --- cases ----------------------------------------------------------------------------------

    @cached_property
    def cases(self) -> dict[str, analysis.Case]:
        """Whose error can count. Costs and bounds are only ever compared within one case."""
        weights, found = self.configuration.optimizer.histogram, analysis.cases_of(self.people, self._workload)
        if weights is not None and len(weights) == self.domain.size and len(found) > 1:
            found["histogram"] = analysis.Case("histogram", np.array(weights) / math.fsum(weights))
        return found

    @cached_property
    def only_case(self) -> str:
        """The reason why there is only one case to optimise for, in a sentence; empty if there are several."""
        return analysis.only_case(self.people, self.workload)

    @once
    def aim(self, name: str) -> str:
        """The case of a mechanism: the one it is fitted for; of one that is not fitted, the usual one for these questions."""
        spec = library.spec(name)
        chosen = self.configuration.aim if spec.aimed else self.configuration.usual_aim
        can = chosen in self.cases and (chosen in spec.aims or not spec.fitted)
        return chosen if can else spec.aims[0]

    @cached_property
    def case(self) -> str:
        """The case that the design is for, that of its mechanism: the one that pages, files and commands speak of."""
        return self.aim(self.configuration.mechanism.name)

    @cached_property
    def even_case(self) -> str:
        """The case of people spread evenly; the only one there is where all types have the same error."""
        return "average" if "average" in self.cases else analysis.WORST_CASE.name

    # --- mechanisms by name ---------------------------------------------------------------------

    @once
    def named(self, name: str) -> str:
        """The name of a mechanism or variant in this design: the name of a mechanism alone means the chosen one as it was chosen. Two that
        are the same have the same name."""
        spec, chosen = library.spec(name), ""
        if spec.mechanism == self.configuration.mechanism.name:
            with suppress(ValueError):  # a value from a file that it cannot have: building it says so
                plain = library.spec(spec.mechanism)
                if fixed := plain.told(self.parameters_for(plain.name)):
                    chosen = library.variants.variant(plain, fixed).name
        if spec.fixed or (chosen and spec.variant_of):
            return spec.name
        return chosen or spec.mechanism

    @cached_property
    def chosen(self) -> str:
        """The name of the chosen mechanism with its parameters."""
        return self.named(self.configuration.mechanism.name)

    @cached_property
    def in_comparison(self) -> tuple[str, ...]:
        """The mechanisms compared as they are written: those chosen, or the usual ones for these questions."""
        chosen = self.configuration.compared
        return chosen if self._workload is None else library.compared(chosen, self.epsilon, self._workload)

    @cached_property
    def side_by_side(self) -> tuple[str, ...]:
        """The mechanisms compared, each with its parameters and once; the chosen one is always among them."""
        return tuple(dict.fromkeys((*map(self.named, self.in_comparison), self.chosen)))

    def parameters_for(self, name: str) -> dict[str, Any]:
        """Parameters of a mechanism in this design, as `library.create` takes them: the chosen ones if it is the chosen one, else the
        defaults. Those of a variant are in its name. ``types`` is among them where the design keeps all types."""
        kept, chosen = {"types": "all"} if self.configuration.types == "all" else {}, self.configuration.mechanism
        return kept | (chosen.parameters if chosen.name == name else {})

    @cached_property
    def search_seconds(self) -> float:
        """How long a fit or a proof may take: as set, or by its size."""
        by_size = (seconds for size, seconds in SEARCH_SECONDS.items() if self.fitted_types <= size)
        return self.configuration.optimizer.time_limit or next(by_size, MOST_SEARCH_SECONDS)

    @cached_property
    def at_other_epsilons(self) -> tuple[Setting, ...]:
        """The same design at the epsilons of `TRADE_OFF` but for its own, with results in the same place."""
        others = [f"{epsilon:g}" for epsilon in TRADE_OFF if not math.isclose(epsilon, self.epsilon)]
        return tuple(replace(self, configuration=self.configuration.with_(epsilon=epsilon)) for epsilon in others)

    @cached_property
    def unsuitable(self) -> dict[str, str]:
        """Why mechanisms cannot run on the design, by name, for those that cannot."""
        return {name: reason for name in library.REGISTRY if (reason := self._unsuitable(name))}

    @once
    def _unsuitable(self, name: str) -> str | None:
        return library.spec(name).unsuitable(self.domain.size, self.epsilon, self.workload)

    # --- mechanisms -----------------------------------------------------------------------------

    def mechanism(self, name: str) -> Mechanism | None:
        """The named mechanism; None for one that has yet to be fitted. ValueError when it cannot be built."""
        name = self.named(name)
        if reason := self._unsuitable(name):
            raise ValueError(reason)
        if library.spec(name).fitted:
            fit = self.fitted(name)
            return fit.mechanism if fit else None
        key, workload = self._built_for(name)
        about = {"n": self.domain.size, "epsilon": self.epsilon, "workload": workload, **self.parameters_for(name)}
        return self.results.cached(key, partial(library.create, name, **about), lambda made: made.bytes_held)

    @once
    def _built_for(self, name: str) -> tuple[str, workloads.Workload | None]:
        """The key of a mechanism that is not fitted, and the questions where it is another one for other questions."""
        spec, parameters = library.spec(name), self.parameters_for(name)
        merged = self.configuration.types != "all" and self._classes(name) is not None
        merged |= self.workload.strata is not None
        workload = self.workload if spec.uses_workload or merged else None
        # The text of a file is long.
        told = sorted((key, hash(value) if isinstance(value, str) else value) for key, value in parameters.items())
        about = (name, self.domain.size, self.epsilon, workload and workload.digest, told)
        return digest(("mechanism", *about)), workload

    def _classes(self, name: str) -> workloads.Quotient | None:
        return library.classes_for(library.spec(name), self.workload, self.epsilon)

    @cached_property
    def about_types(self) -> str:
        """A sentence on the types that reports of the chosen mechanism are about. It is empty if the questions distinguish all
        types, or if the mechanism goes by attributes."""
        if (classes := self._classes(self.chosen)) is None:
            return ""
        these = "all types" if self.configuration.types == "all" else "these"
        return f"Your questions distinguish {classes.workload.n:,} of {self.domain.size:,} types; reports are about {these}."

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
        if reason := self._unsuited(self.named(name)):
            raise ValueError(reason)
        mechanism = self.mechanism(name)
        return self.fit(name, callback, cancel).mechanism if mechanism is None else mechanism

    @property
    def delta(self) -> float:
        """Delta of one report of the chosen mechanism, by its audit; until it is fitted, what it will have. 0 if pure."""
        spec, mechanism = library.spec(self.chosen), None
        expected = spec.fixed.get("delta", DEFAULT_DELTA) if spec.delta else 0.0
        if expected and self.has_questions:
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

    @once
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
        about = (self.named(name), self.epsilon, self.workload)
        made = library.unsearched(*about, recorded=recorded, **self.fit_options(name))
        return None if made is None else self._keep(name, Fit(made, ()))

    def from_file(self, name: str) -> bool:
        """True if the mechanism in use was loaded from a file, so that no one here knows how it was made."""
        fit = self.fitted(name) if library.spec(name).fitted else None
        return "matrix" in self.parameters_for(name) or (fit is not None and fit.loaded)

    def use(self, mechanism: Mechanism) -> None:
        """Use a fitted mechanism from a file. One that was computed here stays known as such."""
        before = self.fitted(mechanism.name)
        if before is None or before.mechanism.digest != mechanism.digest:
            self._keep(mechanism.name, Fit(mechanism, (), loaded=True))

    def _keep(self, name: str, fit: Fit) -> Fit:
        self.results.put(self.fitted_key(name), fit, fit.mechanism.bytes_held, expensive=True)
        return fit

    def unfit(self, name: str) -> str | None:
        """Why a mechanism cannot be fitted to the design, in a sentence; None where it can, or needs no fit."""
        if reason := self._unsuited(self.named(name)):
            return reason
        if not library.spec(name).fitted or self.fitted(name) is not None:
            return None
        return self.results.refused(self.fit_bytes(name)) or None

    @once
    def _unsuited(self, name: str) -> str | None:
        spec = library.spec(name)
        if not spec.fitted or (reason := self._unsuitable(name)):
            return reason if spec.fitted else None
        case = self.cases[self.aim(name)]
        if spec.aimed and case.prior is not None and not case.uniform and self.workload.survey is None:
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
        if library.spec(name).continuous:
            return 16 * n * (n + n // 16)
        rows = self._rows(name)
        return 24 * n * (rows or rows_held(n)) if rows or n <= MOST_FITTED_TYPES else 0

    def _rows(self, name: str) -> int | None:
        return {**self.parameters_for(name), **library.spec(name).fixed}.get("rows")

    def outgrows_a_kit(self, name: str) -> str:
        """Why a fit will have too large a table for the devices of a kit, in a sentence said before the search; empty where it has not."""
        n, spec, rows = self.fitted_types, library.spec(name), self._rows(name) or 4 * self.fitted_types
        searched = spec.strategy_fitted and not spec.aimed and self.workload.survey is None
        if self.fitted(name) is not None or not searched or n > MOST_FITTED_TYPES or rows * n <= MOST_DEVICE_ENTRIES:
            return ""
        return (
            f"The table will have {rows:,} x {n:,} chances, more than the {MOST_DEVICE_ENTRIES:,} that fit into the devices of a kit: to "
            f"collect, use coarser bins or another mechanism, such as {library.spec('optimized').title}."
        )

    @once
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
        **search: Any,
    ) -> Fit:
        """Fit a mechanism and keep the fit, or an earlier one that was computed here and is better: see `fits.search`. By default the
        ``bound`` is the proof kept for the case."""
        name, told = self.named(name), self.answers.told
        case = self.aim(name)

        def proved() -> float | None:
            proof: Proof | None = self.results.get(self.certificate_key(case))
            if proof is None or told != self.workload:  # then it is on other rows than those fitted to
                return None
            return bounds.equivalent_objective(proof.certificate.variance, told)

        def objective(mechanism: Mechanism, check: Check) -> float:
            variance = self.cases[case].variance(self.profiled(mechanism, self.workload, check))
            return bounds.equivalent_objective(variance, self.workload)

        about = (name, self.epsilon, self.workload, self.fit_options(name), bound or proved, objective)
        fit, before = fits.search(*about, callback, cancel, **search), self.fitted(name)
        better = before is not None and before.history and fit.history and before.history[-1][1] < fit.history[-1][1]
        return self._keep(name, before if before is not None and better else fit)

    # --- what no mechanism can beat -------------------------------------------------------------

    @once
    def certificate_key(self, case: str) -> str:
        """Identifies a certificate by what it is about."""
        prior = self.cases[case].prior
        shares = prior is not None and hashlib.sha256(prior.tobytes()).hexdigest()
        return "certificate:" + json.dumps([self.answers.told.digest, self.epsilon, shares])

    def proof(self, case: str) -> Proof | None:
        """The best proof of a case so far. It takes no time where the workload treats all types alike."""
        kept: Proof | None = self.results.get(self.certificate_key(case))
        told, chosen = self.answers.told, self.cases[case]
        if kept is not None or told.symmetry != "exchangeable" or not (chosen.prior is None or chosen.uniform):
            return kept
        return self.keep_proof(case, Proof(bounds.certificate(told, self.epsilon, None), (), True))

    def keep_proof(self, case: str, proof: Proof) -> Proof:
        """Keep the better of a proof and the last one of this case, and return it."""
        key = self.certificate_key(case)
        before: Proof | None = self.results.get(key)
        if before is not None and before.certificate.variance > proof.certificate.variance:
            proof = before
        if proof.finished or proof.certificate.value > proof.certificate.trivial:  # else it was cancelled early
            self.results.put(key, proof, proof.size, expensive=True)
        return proof

    def prove(self, case: str, callback: Callback | None = None, cancel: Cancel | None = None) -> Proof:
        """Search for a certificate of what no mechanism can beat in a case, and keep the better of this and the last."""
        about = (self.answers.told, self.epsilon, self.cases[case], self.search_seconds)
        return self.keep_proof(case, proofs.search(*about, callback, cancel))

    @once
    def closed_bounds(self, case: str) -> dict[str, float]:
        """Lower bounds on users needed that are known at once, in closed form, by name."""
        key = ("bounds", self.certificate_key(case), self.answers.norm)
        about = (self.answers.told, self.epsilon, self.answers.norm, self.cases[case])
        return self.results.cached(key, partial(frames.users_bounds, *about))

    def bounds(self, case: str = "worst_case") -> dict[str, float]:
        """Lower bounds on users needed in a case, by name."""
        closed, proof = self.closed_bounds(case), self.proof(case)
        if proof is None:
            return closed
        return {**closed, "certificate": frames.users_certified(proof.certificate, self.answers.norm)}

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
        known = self.results.get(_profile_key(mechanism, self.workload)) is not None
        return not known and not self.too_expensive(mechanism.name)

    def profiled(self, mechanism: Mechanism, workload: workloads.Workload, check: Check = unchecked) -> np.ndarray:
        """(n,) variance per user of each type for a workload, however long it takes; ``check`` may stop it."""
        return self.results.cached(
            _profile_key(mechanism, workload), lambda: mechanism.variance_profile(workload, check)
        )

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
        """How many people each question needs by itself: see `analysis.needed_by`."""
        about = (self.counts, self.cases[self.case])
        return [analysis.needed_by(mechanism, line, *about) for line in self.answers.lines]

    @once
    def mean_needed(self, mechanism: Mechanism, case: str) -> float:
        """The same for the mean over the questions, by their weights: what the bounds speak of."""
        return self.variance(mechanism, case) / self.answers.norm

    def variance(self, mechanism: Mechanism, case: str) -> float:
        """The total variance a person for the mean over the questions, in a case. ValueError where exact errors take too long."""
        self._refuse_expensive(mechanism.name)
        told = self.answers.told
        if told.survey is not None and self.cases[case].prior is not None:  # how many people groups have
            return mechanism.variance_on(told, self.counts) / self.users
        return self.cases[case].variance(self.profiled(mechanism, told))

    def answered(self, mechanism: Mechanism) -> pd.DataFrame:
        """Each answer with its error in the case of the design: see `analysis.answers`. ValueError where single answers take too long."""
        if reason := analysis.too_many_types(self.workload):
            raise ValueError(reason)
        return self._worked_out("answers", analysis.answers, mechanism, self.case)

    def lines(self, mechanism: Mechanism, alone: Sequence[tuple[float, bool]] | None = None) -> pd.DataFrame:
        """Each question with what it comes to: see `analysis.question_lines`; ``alone`` as of `alone`, which it is by default. What a value is, and the
        verdict on it, is not known where people were counted who are left out. ValueError as `answered`."""
        told, c = self.answered(mechanism), self.configuration
        if c.population.shape == "data" and not self.on_data:
            judged = ~told["unit"].isin([POINTS, OF_GROUP]) | told["finds"].notna()
            told = told.assign(verdict=told["verdict"].where(judged, ""))
        singly = self.alone() if alone is None else alone
        return analysis.lines_of(self.answers, told, self.each_needs(mechanism), self.users, singly, self.known_values)

    @property
    def known_values(self) -> list[bool]:
        """Of each question, whether its answers in the planning data are known."""
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
        if analysis.too_many_types(self.workload):
            return None
        return verdicts.tally(
            self.answered(mechanism)["verdict"], sum(line.told.num_queries for line in self.answers.lines)
        )

    @once
    def verdict(self, mechanism: Mechanism, singly: bool = True) -> str:
        """What the design comes to, in words: see `verdicts.headline`; without single answers unless ``singly``."""
        about = (self.users, self.configuration.epsilon, self.users_needed(mechanism, self.case))
        if not singly or analysis.too_many_types(self.workload):
            return verdicts.headline(*about, coarse=self.answers.coarse)
        told = analysis.lines_of(self.answers, self.answered(mechanism), self.each_needs(mechanism), self.users)
        return verdicts.headline(*about, told, self.tally(mechanism), self.answers.coarse)

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
        whole, case = self.answers.told.without_strata.all_secret, self.cases[self.case]
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


def _profile_key(mechanism: Mechanism, workload: workloads.Workload) -> tuple[str, str, str]:
    return "profile", mechanism.digest, workload.digest
