"""What a configuration stands for: its domain, the people, the questions worked out, and mechanisms built or fitted to them, with the
numbers that the app shows for the same configuration.

setting = ready(load_configuration(content))    # domain, workload, people
setting.users_needed(setting.build("haar"), "worst_case")
realise(bundle.configuration, bundle)           # and the mechanism of the design, from its file
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

import ldp_core
from ldp_core import analysis, bounds, frames, library, verdicts, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import choices
from ldp_core.designs.bundle import Bundle
from ldp_core.designs.configuration import Configuration, DataChoice, Population, UploadedData
from ldp_core.mechanisms.base import Mechanism
from ldp_core.people import Counted, Counts, Records, people_of
from ldp_core.run import Callback, Cancel, Interrupted, Progress, asked

SAMPLES = Path(ldp_core.__file__).parents[1] / "sample_data"
USERS = 10_000
"""Expected where nobody said how many."""
NO_ROWS = (
    "The data itself is not in the file. Errors are for people spread evenly over the types until the table is given."
)
Table: TypeAlias = pd.DataFrame | tables.LocalTable


class NotFitted(ValueError):
    """The mechanism of a design is fitted, and its fit is not in the file."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Domain, questions and people of a configuration.

    Attributes:
        on_data: whether the people were counted in a table. notes: sentences about what was taken for granted.
    """

    configuration: Configuration
    domain: Domain
    workload: workloads.Workload
    people: Counted | Records
    on_data: bool
    notes: tuple[str, ...] = ()
    _known: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @property
    def epsilon(self) -> float:
        return self.configuration.epsilon_value

    @property
    def counts(self) -> Counts:
        """Users of each type (n,), or the people themselves where there are too many types: what the core takes for them."""
        return counts_of(self.people)

    @property
    def users(self) -> int:
        return self.people.users

    @property
    def labels(self) -> Sequence[str]:
        return self.domain.type_labels

    # --- what is aimed at ---------------------------------------------------------------------------------------

    @cached_property
    def cases(self) -> dict[str, analysis.Case]:
        """Whose error can count."""
        return choices.cases(self.configuration, self.people, self.workload)

    def aim(self, name: str) -> str:
        """The case in which a mechanism is judged."""
        return choices.aim(self.configuration, self.cases, name)

    @cached_property
    def _suggested(self) -> verdicts.Suggestion:
        return verdicts.suggest(self.workload, self.counts)

    @cached_property
    def difference(self) -> float:
        """The difference between answers that must be seen, as a share of all users."""
        return choices.difference(self.configuration, lambda: self._suggested)

    @cached_property
    def alpha(self) -> float:
        """The mean squared error of shares aimed at."""
        return choices.alpha(self.configuration, lambda: self._suggested)

    @property
    def seconds(self) -> float:
        """How long a fit or a proof may take."""
        return choices.search_seconds(self.configuration, self.workload.working_types)

    # --- mechanisms ---------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> str:
        """The name of the chosen mechanism with its parameters."""
        return choices.named(self.configuration, self.configuration.mechanism.name)

    @property
    def side_by_side(self) -> tuple[str, ...]:
        """The mechanisms compared, each with its parameters and once."""
        among = library.compared(self.configuration.compared, self.epsilon, self.workload)
        return tuple(dict.fromkeys(choices.named(self.configuration, name) for name in among))

    def build(self, name: str, callback: Callback | None = None, cancel: Cancel | None = None) -> Mechanism:
        """The named mechanism, fitted where it is one that is; a fit ends early once it is proved to be good enough, see `proved`.
        ValueError, one sentence, where it cannot be had in this design."""
        c, workload, name = self.configuration, self.workload, choices.named(self.configuration, name)
        spec = library.spec(name)
        if reason := spec.unsuitable(workload.n, self.epsilon, workload) or choices.unfit(
            c, self.cases, name, workload
        ):
            raise ValueError(reason)
        if not spec.fitted:
            asked_for, options = workload if spec.uses_workload else None, choices.parameters_for(c, name)
            return library.create(name, n=workload.n, epsilon=self.epsilon, workload=asked_for, **options)
        options = choices.fit_options(c, self.cases, name, workload.working_types)
        follow, enough = self._followed(name, callback, cancel)
        return library.create(name, epsilon=self.epsilon, workload=workload, **options, callback=follow, cancel=enough)

    def _followed(
        self, name: str, callback: Callback | None, cancel: Cancel | None
    ) -> tuple[Callback, Callable[[], bool]]:
        """What a fit is told, and asks: it is over once cancelled, or close to what has been proved."""
        proof = self.proved(self.aim(name)) if library.spec(name).aimed else None
        bound = None if proof is None else bounds.equivalent_objective(proof.variance, self.workload)
        cancelled, near = asked(cancel), False

        def follow(progress: Progress) -> None:
            nonlocal near
            if bound is not None and progress.objective is not None:
                near = choices.close(progress.objective, bound, self.workload.trace)
            if callback is not None:
                callback(replace(progress, bound=progress.bound if bound is None else bound))

        return follow, lambda: near or cancelled()

    # --- what they cost, in the app's words ------------------------------------------------------------------------

    def profile(self, mechanism: Mechanism) -> np.ndarray:
        """(n,) variance per user of each type. ValueError where it takes too long."""
        if reason := choices.too_dear(mechanism.name, self.workload, self.epsilon):
            raise ValueError(reason)
        key = ("profile", mechanism.digest)
        if key not in self._known:
            self._known[key] = mechanism.variance_profile(self.workload)
        return self._known[key]

    def summary(self, mechanism: Mechanism) -> analysis.Summary:
        """Exact costs of a mechanism. ValueError where they cannot be had."""
        return analysis.summarise(mechanism, self.workload, self.counts, self.alpha, self.profile(mechanism))

    def users_needed(self, mechanism: Mechanism, case: str) -> float:
        """Users a mechanism needs for the target error in a case."""
        variance = self.cases[case].variance(self.profile(mechanism))
        return analysis.users_for(variance, self.workload.squared_weights, self.alpha)

    def proved(self, case: str) -> bounds.AnyCertificate | None:
        """What `prove` found for a case, if it was asked."""
        return self._known.get(("proof", case))

    def prove(self, case: str, callback: Callback | None = None, cancel: Cancel | None = None) -> bounds.AnyCertificate:
        """A certificate of what no mechanism can beat in a case; it is kept, and `bounds` has it from then on."""
        found = choices.prove(self.workload, self.epsilon, self.cases[case], self.seconds, callback, cancel)
        self._known["proof", case] = found
        return found

    def bounds(self, case: str) -> dict[str, float]:
        """Lower bounds on users needed in a case, by name."""
        key, proof = ("bounds", case), self.proved(case)
        if key not in self._known:
            self._known[key] = frames.users_bounds(self.workload, self.epsilon, self.alpha, self.cases[case])
        certified = {} if proof is None else {"certificate": frames.users_certified(proof, self.alpha)}
        return {**self._known[key], **certified}

    def gap(self, mechanism: Mechanism, case: str) -> float:
        """How many more users (as a share) a mechanism needs than the best bound allows; inf without pure epsilon, which the bounds
        speak of."""
        needed = self.users_needed(mechanism, case)
        return math.inf if mechanism.delta > 0 else frames.gap(needed, max(self.bounds(case).values()))

    def compared(self, ready: Mapping[str, Mechanism], case: str) -> pd.DataFrame:
        """Costs of mechanisms by name (columns of `frames.summaries`), with users needed and gap in one case, fewest users first."""
        return comparison(
            ready, self.summary, lambda one: self.users_needed(one, case), lambda one: self.gap(one, case)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Realised(Setting):
    """A setting with the mechanism of the design; ``loaded`` where that came from a file."""

    mechanism: Mechanism
    loaded: bool = False


def realise(
    configuration: Configuration,
    bundle: Bundle | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
    table: Table | None = None,
    fit: bool = True,
) -> Realised:
    """What the app builds from a configuration: everything that `ready` finds, and the mechanism, from the ``bundle`` where that
    holds its fit. ValueError, one sentence, where something cannot be had; `NotFitted` where a fit is missing and not to be made
    (``fit`` is False)."""
    setting = ready(configuration, table, cancel)
    found = None if bundle is None else mechanism_of(bundle)
    name = configuration.mechanism.name
    if found is None and not fit and library.spec(name).fitted:
        raise NotFitted(
            f"The file lacks the strategy of its mechanism ({library.spec(name).title}): optimise it, and export it again."
        )
    mechanism = setting.build(name, callback, cancel) if found is None else found
    return realised(setting, mechanism, loaded=found is not None)


def realised(setting: Setting, mechanism: Mechanism, loaded: bool = False) -> Realised:
    """A setting with the mechanism that was built in it."""
    own = {one.name: getattr(setting, one.name) for one in fields(Setting)}
    return Realised(**own, mechanism=mechanism, loaded=loaded)


def ready(configuration: Configuration, table: Table | None = None, cancel: Cancel | None = None) -> Setting:
    """The setting of a configuration. ``table`` holds the rows, one person each (or the people that its column of counts says);
    without it people are those declared, those of the sample that was chosen, or spread evenly as in the app.

    ValueError, one sentence, where there is no domain or there are no questions, or these do not fit or are too many.
    """
    choice = configuration.data
    counts, unknown = counts_column(choice), False
    if table is None and configuration.population.shape == "data":
        table = sample(choice, configuration.domain)
        unknown = table is None
    configuration = with_domain(configuration, table)
    domain = configuration.domain
    if domain is None:
        raise ValueError(
            "The configuration has no domain: give the table that it is to be read off, or declare the values in the app."
        )
    tally = None if table is None else tables.tally(table, domain, counts)
    if tally is not None and configuration.population.shape != "data":
        configuration = configuration.with_(population=Population(users=tally.users, origin="data", shape="data"))
    workload, people = questions(configuration, domain, cancel), people_in(configuration, domain, tally)
    return Setting(configuration, domain, workload, people, tally is not None, (NO_ROWS,) if unknown else ())


def with_domain(configuration: Configuration, table: Table | None) -> Configuration:
    """The configuration with the domain that its recipes describe, where it has none of its own."""
    choice = configuration.data
    if configuration.domain is not None or choice is None or (table is None and choice.source != "declared"):
        return configuration
    return configuration.with_(domain=tables.build_domain(list(choice.recipes), table, counts_column(choice)))


def people_in(configuration: Configuration, domain: Domain, tally: tables.Tally | None) -> Counted | Records:
    """Who takes part: those counted, or those expected; evenly spread where the data are not at hand."""
    if tally is not None:
        return people_of(tally.counts, domain.shape)
    told = configuration.population
    shape = "uniform" if told.shape == "data" else told.shape
    return tables.expected_people(shape, domain.shape, told.users or USERS, **told.parameters)


def counts_of(people: Counted | Records) -> Counts:
    """Users of each type (n,), or the people themselves where there are too many types."""
    return people.counts if isinstance(people, Counted) else people


def questions(configuration: Configuration, domain: Domain, cancel: Cancel | None = None) -> workloads.Workload:
    """The workload of a configuration. ValueError, one sentence, where it has none, or one that does not fit or is too dear;
    `Interrupted` once cancelled."""
    recipe = configuration.workload
    if recipe is None:
        raise ValueError(
            "The configuration asks no questions: choose them on the Workload page of the app, and save it again."
        )
    if reason := choices.questions_too_dear(workloads.price(recipe.parts, domain)):
        raise ValueError(reason)
    found = workloads.work_out(recipe.parts, domain, asked(cancel))
    if found is None:
        raise Interrupted
    return found


def mechanism_of(bundle: Bundle) -> Mechanism | None:
    """The fitted mechanism that a file holds, audited when it was read; None where it holds none."""
    c = bundle.configuration
    name = c.mechanism.name
    if not library.spec(name).fitted:
        return None
    if bundle.strategy is None:
        return bundle.patterns
    parameters = _recorded_parameters(bundle.outcome)
    return library.optimized.from_strategy(
        name, bundle.strategy, c.epsilon_value, parameters, bundle.prior, loaded=True
    )


def _recorded_parameters(outcome: dict[str, Any] | None) -> dict[str, Any]:
    """What the file says of how its strategy was fitted, for the record only; the strategy itself has been verified."""
    mechanism = (outcome or {}).get("mechanism")
    parameters = mechanism.get("parameters") if isinstance(mechanism, dict) else None
    return parameters if isinstance(parameters, dict) else {}


def comparison(
    ready: Mapping[str, Mechanism],
    summary: Callable[[Mechanism], analysis.Summary],
    users_needed: Callable[[Mechanism], float],
    gap: Callable[[Mechanism], float],
) -> pd.DataFrame:
    """Costs of mechanisms by name (columns of `frames.summaries`), with users needed and gap in one case, fewest users first."""
    if not ready:
        return pd.DataFrame()
    table = frames.summaries([replace(summary(mechanism), name=name) for name, mechanism in ready.items()])
    table["users_needed"] = [users_needed(ready[name]) for name in table["name"]]
    table["gap"] = [gap(ready[name]) for name in table["name"]]
    return table.sort_values("users_needed", ignore_index=True)


def counts_column(choice: DataChoice | None) -> str | None:
    """The column that says how many people a row stands for, where a table has one."""
    return choice.counts if isinstance(choice, UploadedData) else None


def sample(choice: DataChoice | None, domain: Domain | None) -> pd.DataFrame | None:
    """The rows of the sample data that a design refers to; None where it refers to none, or these are not at hand or do not fit."""
    if choice is None or choice.source != "sample":
        return None
    try:
        known = {entry["file"] for entry in json.loads((SAMPLES / "catalogue.json").read_text(encoding="utf-8"))}
        if choice.file not in known:
            return None
        table = tables.read((SAMPLES / choice.file).read_bytes(), choice.file)
        if domain is not None:
            tables.tally(table, domain)
    except (OSError, ValueError):
        return None
    return table
