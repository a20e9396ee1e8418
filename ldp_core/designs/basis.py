"""What a design is about: its people, its questions with their targets, and whose error counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from ldp_core import analysis, library, verdicts, wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import choices, inputs
from ldp_core.designs.configuration import Configuration
from ldp_core.designs.once import once
from ldp_core.designs.results import Results
from ldp_core.people import Counted, Counts, Records
from ldp_core.run import Cancel, Interrupted, cancellation
from ldp_core.workloads import Detect

NOBODY = Counted(np.zeros(0), (0,))
"""The people while there is no domain."""
NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, eq=False)
class Basis:
    """The people, the questions and the targets of a configuration. What needs a domain, or questions, refuses in a sentence while there is
    none, or they have not been computed.

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
    ) -> Self:
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
                workload = setting.work_out(cancellation(cancel))
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
    def answers(self) -> workloads.Questionnaire:
        """The questions, with the targets of their answers."""
        return analysis.questionnaire_of(self.workload)

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
        """Names of the attributes that no question names, where questions that do not fit could be asked without these. Questions that name none,
        such as every pair, are about all that are secret."""
        parts = self.configuration.workload.parts if self.misfit and self.configuration.workload else ()
        text = " ".join(part.model_dump_json() for part in parts)
        every = any(not part.mentions and part.kind != "predicates" for part in parts)
        kept = [one for one in self.domain.attributes if one.name in text or (every and not one.known)]
        try:
            if not kept or workloads.price(parts, kept).seconds > inputs.QUICK_SECONDS:
                return ()
            workloads.over_attributes(parts, kept)
        except ValueError:
            return ()
        return tuple(attribute.name for attribute in self.domain.attributes if attribute not in kept)

    # --- targets --------------------------------------------------------------------------------

    @cached_property
    def alpha(self) -> float:
        """The mean squared error of the questions' rows, as bounds and the papers have it, at which their mean is at its target."""
        return self.answers.norm / self.answers.workload.squared_weights

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
