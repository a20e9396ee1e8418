"""The first part of a `Setting`: the domain, people and questions of a configuration, whether or not its questions have been
computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core import analysis, library, workloads
from ldp_core.analysis import EXPECTED_USERS
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import choices
from ldp_core.designs.configuration import Configuration, DifferenceToDetect, PlanningRates
from ldp_core.designs.results import Results
from ldp_core.limits import MOST_SEARCH_SECONDS
from ldp_core.people import Counted, Counts, Records
from ldp_core.run import Cancel, Interrupted, asked
from ldp_core.workloads import Detect, Rates
from ldp_core.workloads.answers import Target

QUICK_SECONDS = 1.5
"""Questions that take longer than this are computed in the background, once somebody asks for it."""
NO_PRICE = workloads.Price(0.0, 0)
SEARCH_SECONDS = {64: 10.0, 128: 30.0, 256: 60.0, 512: 120.0}
"""How long to search for the best mechanism, and to prove a bound, for at most this many types."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Domain, people and questions of a configuration.

    Attributes:
        on_data: whether the people were counted in a table.
        asked: the questions; None while there are none, or they have not been computed.
        misfit: why the questions cannot be asked of this domain, in a sentence; empty where they can.
        price: seconds and bytes that computing the questions takes.
        results: everything computed for this design and others, by the digest of its inputs.
        notes: sentences about what was assumed.
    """

    configuration: Configuration
    domain: Domain
    people: Counted | Records
    on_data: bool
    asked: workloads.Workload | None = None
    misfit: str = ""
    price: workloads.Price = NO_PRICE
    results: Results = field(default_factory=Results, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def workload(self) -> workloads.Workload:
        """The questions. ValueError while they have not been chosen or computed."""
        if self.asked is None:
            raise ValueError("The questions have not been worked out yet: see the Workload page.")
        return self.asked

    @property
    def answers(self) -> workloads.Answers:
        """What was asked, question by question."""
        return analysis.asked_of(self.workload)

    @property
    def epsilon(self) -> float:
        return self.configuration.epsilon_value

    @property
    def labels(self) -> Sequence[str]:
        """Names of the types."""
        return self.domain.type_labels

    @property
    def questions(self) -> str:
        """The workload in a few words."""
        recipe = self.configuration.workload
        return "" if recipe is None else recipe.summary

    @cached_property
    def naming(self) -> str:
        """Equal where the names of types and queries are equal."""
        return naming(self.configuration)

    @property
    def expensive(self) -> bool:
        """True if the questions take so long to compute that somebody has to ask for it."""
        return self.price.seconds > QUICK_SECONDS

    @property
    def waiting(self) -> bool:
        """True if the questions could be computed, but have not been yet."""
        return self.asked is None and not self.misfit and self.expensive

    @property
    def counts(self) -> Counts:
        """Users of each type (n,), or the people themselves where there are too many types."""
        return self.people if self.people.by_type is None else self.people.by_type

    @property
    def users(self) -> int:
        return self.people.users

    @property
    def people_digest(self) -> str:
        """Equal where equally many people have each type."""
        return self.people.digest

    @property
    def population(self) -> str:
        """The people that errors "on this data" refer to, in words."""
        if self.on_data:
            return "this data"
        return (
            "an even spread of people" if self.configuration.population.shape == "data" else "the expected population"
        )

    @property
    def working_types(self) -> int:
        """How many numbers figures go through: see `Workload.working_types`; all types while the questions are not known."""
        return self.domain.size if self.asked is None else self.asked.working_types

    @cached_property
    def unused_columns(self) -> tuple[str, ...]:
        """Names of the attributes that no question is about: they multiply the types and serve no answer."""
        if self.asked is None:
            return ()
        unused = workloads.unused_attributes(self.workload, self.domain.shape)
        return tuple(self.domain.attributes[i].name for i in unused)

    # --- cases ----------------------------------------------------------------------------------

    @cached_property
    def cases(self) -> dict[str, analysis.Case]:
        """Whose error can count. Costs and bounds are only ever compared within one case."""
        weights, found = self.configuration.optimizer.histogram, analysis.cases_of(self.people, self.asked)
        if weights is not None and len(weights) == self.domain.size and len(found) > 1:
            found["histogram"] = analysis.Case("histogram", np.array(weights) / math.fsum(weights))
        return found

    def aim(self, name: str) -> str:
        """The case of a mechanism: the one it is fitted for; of one that is not fitted, the usual one for these questions."""
        spec = library.spec(name)
        chosen = self.configuration.aim if spec.aimed else self.configuration.usual_aim
        can = chosen in self.cases and (chosen in spec.aims or not spec.fitted)
        return chosen if can else spec.aims[0]

    @property
    def case(self) -> str:
        """The case that the design is for, that of its mechanism: the one that pages, files and commands speak of."""
        return self.aim(self.configuration.mechanism.name)

    @property
    def even_case(self) -> str:
        """The case of people spread evenly; the only one there is where all types have the same error."""
        return "average" if "average" in self.cases else analysis.WORST_CASE.name

    # --- mechanisms by name ---------------------------------------------------------------------

    def named(self, name: str) -> str:
        """The name of a mechanism or variant in this design: see `choices.named`."""
        return choices.named(self.configuration, name)

    @property
    def chosen(self) -> str:
        """The name of the chosen mechanism with its parameters."""
        return self.named(self.configuration.mechanism.name)

    @property
    def in_comparison(self) -> tuple[str, ...]:
        """The mechanisms compared as they are written: those chosen, or the usual ones for these questions."""
        chosen = self.configuration.compared
        return chosen if self.asked is None else library.compared(chosen, self.epsilon, self.asked)

    @property
    def side_by_side(self) -> tuple[str, ...]:
        """The mechanisms compared, each with its parameters and once; the chosen one is always among them."""
        return tuple(dict.fromkeys((*map(self.named, self.in_comparison), self.chosen)))

    def parameters_for(self, name: str) -> dict[str, Any]:
        """Parameters of a mechanism in this design: see `choices.parameters_for`."""
        return choices.parameters_for(self.configuration, name)

    @property
    def search_seconds(self) -> float:
        """How long a fit or a proof may take: as set, or by its size."""
        by_size = (seconds for size, seconds in SEARCH_SECONDS.items() if self.fitted_types <= size)
        return self.configuration.optimizer.time_limit or next(by_size, MOST_SEARCH_SECONDS)

    @property
    def fitted_types(self) -> int:
        """How many numbers a fit or a proof goes through: the types that reports are about."""
        w = self.asked
        if w is None or w.survey is not None or self.configuration.types == "all":
            return self.working_types
        classes = workloads.classes_of(w)
        return self.working_types if classes is None else classes.workload.n


def naming(configuration: Configuration) -> str:
    """Equal where the names of types and queries are equal."""
    return configuration.digest(["domain", "workload"])


def planned(
    configuration: Configuration, domain: Domain, people: Counted | Records, on_data: bool
) -> list[Rates | None] | None:
    """What the questions take of planning data; None for people spread evenly. A file without its data holds what was taken."""
    if configuration.planning == "even":
        return None
    held = configuration.rates
    if held is not None and not on_data and configuration.population.shape == "data":
        return [None if own is None else own.rates for own in held] if len(held) == len(configuration.parts) else None
    return workloads.rates_of(configuration.parts, domain, people)


def chosen_targets(configuration: Configuration) -> dict[str, Target]:
    """The targets that were chosen or worked out, as questions take them."""
    chosen = configuration.targets or {}
    return {key: Detect(**dict(t)) if isinstance(t, DifferenceToDetect) else t for key, t in chosen.items()}


def questions_key(configuration: Configuration, people: Counted | Records) -> str:
    """Identifies the questions as they are computed, with what they take of the people."""
    return f"questions:{configuration.digest(['domain', 'workload', 'targets', 'planning', 'rates'])}:{people.digest}"


def questions(
    configuration: Configuration,
    domain: Domain,
    people: Counted | Records,
    on_data: bool,
    results: Results,
    quick: float = math.inf,
    cancel: Cancel | None = None,
) -> tuple[workloads.Workload | None, str, workloads.Price]:
    """The workload, why it is not available, and what it takes.

    Questions that take more than ``quick`` seconds are taken from ``results`` where they are there, and are else None.
    `Interrupted` once cancelled.
    """
    recipe, key = configuration.workload, questions_key(configuration, people)
    if recipe is None:
        return None, "", NO_PRICE
    price = results.cached(("price", naming(configuration)), lambda: workloads.price(recipe.parts, domain))
    if reason := choices.questions_too_expensive(price):
        return None, reason, price
    workload: workloads.Workload | None = results.get(key)
    if workload is None and price.seconds <= quick:
        try:
            workload = worked_out(configuration, domain, people, on_data, asked(cancel))
        except ValueError as error:
            return None, str(error), price
        if workload is None:
            raise Interrupted
        results.put(key, workload, price.bytes)
    if workload is not None:  # they stay what they are once their targets are written down
        same = questions_key(settled(configuration, workload, domain, people, on_data), people)
        if same != key and results.get(same) is None:
            results.put(same, workload, 0)
    return workload, "", price


def settled(
    configuration: Configuration,
    workload: workloads.Workload,
    domain: Domain,
    people: Counted | Records,
    on_data: bool,
) -> Configuration:
    """The configuration with its targets, and what it takes of planning data, as numbers: what files hold."""
    lines, rates = analysis.asked_of(workload).lines, None
    targets = {
        line.key: DifferenceToDetect(**vars(line.target)) if isinstance(line.target, Detect) else line.target
        for line in lines
    }
    if any(line.rates is not None for line in lines):
        taken = planned(configuration, domain, people, on_data)
        rates = None if taken is None else tuple(None if own is None else PlanningRates.of(own) for own in taken)
    return configuration.model_copy(update={"targets": (configuration.targets or {}) | targets, "rates": rates})


def worked_out(
    configuration: Configuration, domain: Domain, people: Counted | Records, on_data: bool, cancel: Cancel
) -> workloads.Workload | None:
    """The questions with all that figures start from; None once cancelled. ValueError where they do not fit."""
    rates, counts = (
        planned(configuration, domain, people, on_data),
        None if configuration.planning == "even" else people,
    )
    return workloads.work_out(configuration.parts, domain, cancel, chosen_targets(configuration), rates, counts)


def people_in(configuration: Configuration, domain: Domain, tally: tables.Tally | None) -> Counted | Records:
    """The people: those counted, or those expected; evenly spread if the data are not available."""
    if tally is not None:
        return Counted(tally.counts, domain.shape, tally.sums) if isinstance(tally.counts, np.ndarray) else tally.counts
    declared = configuration.population
    shape = "uniform" if declared.shape == "data" else declared.shape
    return tables.expected_people(shape, domain.shape, declared.users or EXPECTED_USERS, **declared.parameters)
