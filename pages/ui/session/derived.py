"""What follows from the configuration and the data: the domain, who has which type, and the questions worked out.

Everything is kept under the digest of the inputs it used, so a result can never belong to other inputs than it says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ldp_core import workloads
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import Configuration, DataChoice, choices, realised
from ldp_core.designs.realised import counts_column
from ldp_core.people import Counted, Counts, Records
from pages.ui.session.results import Results
from pages.ui.session.shelf import Shelf
from pages.ui.sources import Source

UNASKED_SECONDS = 1.5
"""Questions whose structure takes longer than this are worked out in the background, once somebody asks for it."""

T = TypeVar("T")


@dataclass(frozen=True)
class Design:
    """What the configuration stands for once there is a domain.

    Attributes:
        people: who takes part, asked for counts by a few attributes. questions: the workload in a few words.
        naming: equal where the names of types and queries are equal.
        misfit: why the questions cannot be asked of this domain, where that is so. price: of working them out.
    """

    domain: Domain
    labels: Sequence[str]
    people: Counted | Records
    on_data: bool
    questions: str
    epsilon: float
    naming: str
    workload: workloads.Workload | None
    misfit: str
    price: workloads.Price

    @property
    def dear(self) -> bool:
        """Whether the questions take so long to work out that somebody has to ask for it."""
        return self.price.seconds > UNASKED_SECONDS

    @property
    def unasked(self) -> bool:
        """Whether the questions could be worked out, but are not yet."""
        return self.workload is None and not self.misfit and self.dear

    @property
    def counts(self) -> Counts:
        """Users of each type (n,), or the people themselves where there are too many types: what the core takes for them."""
        return realised.counts_of(self.people)

    @property
    def users(self) -> int:
        return self.people.users

    @property
    def working_types(self) -> int:
        """How many numbers figures go through: see `Workload.working_types`; all types while the questions are not known."""
        return self.domain.size if self.workload is None else self.workload.working_types

    @property
    def people_digest(self) -> str:
        """Equal where equally many people have each type."""
        return self.people.digest

    @property
    def population(self) -> str:
        """What errors "on this data" refer to, in words."""
        return "this data" if self.on_data else "the expected population"


@dataclass(frozen=True)
class Complete(Design):
    """A design whose questions have been worked out: what mechanisms are judged by."""

    workload: workloads.Workload


@dataclass
class Derived(Shelf):
    results: Results = field(default_factory=Results)
    _design: tuple[Configuration, Source | None, Design | None] | None = None
    """The design that follows from a configuration and a table, kept as long as these two stay."""

    def cached(self, key: object, compute: Callable[[], T], size: Callable[[T], int] = lambda value: 0) -> T:
        """``compute()`` once per ``key`` (anything with a stable repr)."""
        name = digest(key)
        value: T | None = self.results.get(name)
        if value is None:
            value = compute()
            self.results.put(name, value, size(value))
        return value

    def design(self) -> Design | None:
        """The current design, None while no domain is set."""
        if self._design is not None and self._design[0] is self.configuration and self._design[1] is self.source:
            design = self._design[2]
            if design is None or not design.unasked or self.results.get(self.questions_key()) is None:
                return design
        design = self._derived()
        self._design = (self.configuration, self.source, design)
        return design

    @property
    def present(self) -> Design:
        """The current design. ValueError while no domain is set."""
        design = self.design()
        if design is None:
            raise ValueError("There is no domain yet: choose or declare data on the Data page.")
        return design

    def facts(self) -> tuple[workloads.Fact, ...]:
        """The public facts stated, about the types of the current design. ValueError with a sentence where they cannot be read, or
        cannot be true of so many people together."""
        stated = [fact.text for fact in self.configuration.simulation.facts]
        if not stated:
            return ()
        design = self.complete

        def outcome() -> tuple[workloads.Fact, ...] | ValueError:
            try:
                return choices.facts(self.configuration, design.workload, design.users)
            except ValueError as error:
                return ValueError(str(error))

        size = 8 * design.domain.size * len(stated)
        found = self.cached(("facts", design.naming, design.users, stated), outcome, lambda _: size)
        if isinstance(found, ValueError):
            raise found
        return found

    @property
    def complete(self) -> Complete:
        """The current design with its questions. ValueError while they have not been chosen or worked out."""
        design = self.present
        if not isinstance(design, Complete):
            raise ValueError("The questions have not been worked out yet: see the Workload page.")
        return design

    def _derived(self) -> Design | None:
        c, tally = self.configuration, self.tally
        if (domain := c.domain) is None:
            return None
        people = realised.people_in(c, domain, tally)
        summary = c.workload.summary if c.workload is not None else ""
        facts = (domain, domain.type_labels, people, tally is not None, summary, c.epsilon_value, self._naming)
        design = Design(*facts, *self._questions(domain))
        return design if design.workload is None else Complete(**vars(design))

    @property
    def _naming(self) -> str:
        return self.configuration.digest(["domain", "workload"])

    def questions_key(self) -> str:
        """Identifies the structure of the questions."""
        return f"questions:{self._naming}"

    def _questions(self, domain: Domain) -> tuple[workloads.Workload | None, str, workloads.Price]:
        """The workload where it is known or worked out in no time, why it cannot be had, and what it takes."""
        recipe, key = self.configuration.workload, self.questions_key()
        if recipe is None:
            return None, "", workloads.Price(0.0, 0)
        price = self.cached(("price", self._naming), lambda: workloads.price(recipe.parts, domain))
        if reason := choices.questions_too_dear(price):
            return None, reason, price
        if price.seconds > UNASKED_SECONDS:
            return self.results.get(key), "", price
        try:
            return self.cached(key, lambda: recipe.build(domain), lambda _: price.bytes), "", price
        except ValueError as error:
            return None, str(error), price

    # --- data ---------------------------------------------------------------------------------------------------

    def count(self, domain: Domain, source: Source, counts: str | None = None) -> tables.Tally:
        """Users of each type; ``counts`` names the column with the people a row stands for."""
        key = ("tally", source.id, domain.model_dump_json(), counts)
        return self.cached(key, lambda: tables.tally(source.table, domain, counts), lambda tally: tally.nbytes)

    def fits(self, domain: Domain | None, source: Source, counts: str | None = None) -> bool:
        """Whether the rows of a table have types in this domain."""
        try:
            return domain is not None and self.count(domain, source, counts).users > 0
        except ValueError:
            return False

    @property
    def tally(self) -> tables.Tally | None:
        """Users per type in the data at hand; None for a declared population or while the data is missing."""
        c = self.configuration
        if c.domain is None or c.population.shape != "data" or self.source is None:
            return None
        return self.count(c.domain, self.source, counts_column(c.data))

    def _domain(self, choice: DataChoice, source: Source | None) -> Domain:
        """The domain that a choice describes; that of a large table, or why there is none, is worked out once."""
        recipes, counts = list(choice.recipes), counts_column(choice)
        table = None if source is None else source.table
        if source is None or not source.slow:
            return tables.build_domain(recipes, table, counts)

        def outcome() -> Domain | ValueError:
            try:
                return tables.build_domain(recipes, table, counts)
            except tables.UnreadableTable:
                raise
            except ValueError as error:
                return ValueError(str(error))

        found = self.cached(("domain", source.id, [r.model_dump_json() for r in recipes], counts), outcome)
        if isinstance(found, ValueError):
            raise found
        return found


def digest(key: object) -> str:
    """The name of a result: ``key`` itself where that is a text."""
    return key if isinstance(key, str) else hashlib.sha256(repr(key).encode()).hexdigest()
