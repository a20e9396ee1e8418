"""The state of one browser session: one typed design, its history, and the results computed for it.

The configuration is the only truth. Widgets show it and change it through `Session.change`; everything else follows from it:
see `pages.ui.session.derived` for data and questions, `pages.ui.session.figures` for mechanisms.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ldp_core import library
from ldp_core.data import tables
from ldp_core.designs import (
    DataChoice,
    DeclaredData,
    MechanismRecipe,
    Population,
    UploadedData,
    WorkloadRecipe,
)
from ldp_core.designs.realised import counts_column as counts_column
from pages.ui.session import browser
from pages.ui.session.derived import Complete as Complete
from pages.ui.session.derived import Design as Design
from pages.ui.session.figures import Figures
from pages.ui.session.held import holder, tab_lives
from pages.ui.session.history import Draft, beginning
from pages.ui.session.shelf import Kept
from pages.ui.sources import Source

ELSEWHERE = "Your design went on in another tab of this browser while this one was disconnected."
FORGOTTEN = "What this tab showed before has been forgotten."


@dataclass
class Session(Figures):
    page: str = ""
    """Title of the page on screen."""

    def set_data(self, choice: DataChoice, source: Source | None) -> None:
        """Adopt a data choice: build its domain and count its users. If it does not work, it is kept as a draft with the
        reason, and the design stays as it was. UnreadableTable when a local file cannot be read; then nothing has changed."""
        self._remember(source)
        self.notices = []
        awaited = _not_described(choice)
        if awaited:
            self.draft = Draft(choice, source, awaited, begun=True)
            return
        try:
            domain = self._domain(choice, source)
            if source is None:
                population = self.expected()
            else:
                users = self.count(domain, source, counts_column(choice)).users
                population = Population(users=users, origin="data", shape="data")
        except tables.UnreadableTable:  # no other choice would mend the file
            raise
        except ValueError as error:
            self.draft = Draft(choice, source, str(error))
            return
        now = self.configuration
        recipe = now.workload.following(now.domain, domain) if now.workload else WorkloadRecipe.default(domain)
        self.install(now.with_(data=choice, domain=domain, population=population, workload=recipe), source)
        self.draft = None

    def leave(self) -> None:
        """Let go of everything, for good: the browser has left, whoever else still holds this session."""
        for source in list(self._tables):
            source.forget()
        self.results.close()
        self.configuration, self.source, self.draft, self._design = beginning(), None, None, None
        self.name, self.deleted = "", None
        for held in (self.kept, self.past, self.future, self.view, self.invalid, self.notices, self.unasked):
            held.clear()

    @property
    def touched(self) -> bool:
        """Whether anything was done here that somebody would miss."""
        changed = self.configuration != beginning() or self.draft is not None
        return changed or bool(self.past or self.future or self.kept or self.deleted or self.view.get("collected"))

    @property
    def weight(self) -> int:
        """Bytes of its tables and results, roughly."""
        return sum(source.size for source in list(self._tables)) + self.results.bytes

    @property
    def choice(self) -> DataChoice | None:
        """The data choice on screen: the draft while it does not work yet, else the design's own."""
        return self.draft.choice if self.draft is not None else self.configuration.data

    @property
    def source_shown(self) -> Source | None:
        """The table that `choice` is about."""
        return self.draft.source if self.draft is not None else self.source

    def expected(self) -> Population:
        """The declared population, or the one to start declaring with. A count of users read off the data is no
        expectation: an export would call it declared."""
        now = self.configuration.population
        if now.origin == "declared" and now.users:
            return now
        return self.view.get("expected", Population(users=10_000, origin="declared", shape="uniform"))

    def expect(self, **fields: Any) -> None:
        """Change the declared population. Until a domain is declared it waits: the design at hand has its own people."""
        now = self.expected()
        if "shape" in fields:
            now = now.shaped(fields.pop("shape"))
        population = self.configuration.with_(population={**dict(now), **fields}).population
        if isinstance(self.configuration.data, DeclaredData):
            self.change(population=population)
        else:
            self.view["expected"] = population

    @property
    def awaits_upload(self) -> bool:
        """Whether the design was loaded from a file and refers to data that is not at hand."""
        c = self.configuration
        return self.source is None and c.data is not None and c.data.source == "upload" and c.population.shape == "data"

    @property
    def lacking(self) -> str:
        """What a design that was loaded does not hold, with the way to add it, in a sentence; empty where nothing is missing."""
        c, where = self.configuration, "Choose the table again on the Data page"
        if self.awaits_upload:
            return f"The rows are not in what was loaded, so people are taken to be spread evenly. {where}."
        if c.domain is not None:
            counted = isinstance(c.data, UploadedData) and self.source is None and c.population.users is None
            taken = "The number of people is not in what was loaded, so 10,000 spread evenly are assumed."
            return f"{taken} {where}." if counted else ""
        if c.workload is None or self.draft is not None:
            return ""
        *names, last = c.workload.mentions or ("",)
        of = f" of {', '.join(names)}{' and ' if names else ''}{last}" if last else ""
        return (
            f"This design was loaded without the values{of} that people can have, as those are left out of links where they were read "
            "off a table. Choose that table, or declare the values, on the Data page; what was loaded is kept."
        )

    def standing_for(self, kept: Kept) -> Session:
        """A named design with the results of this session, to look at or to work on; this session itself for the one on screen."""
        if kept.name == self.name:
            return self
        other = Session(self.id, kept.configuration, kept.source, name=kept.name)
        other.results, other.loaded, other.unasked = self.results, self.loaded, self.unasked
        return other


def _not_described(choice: DataChoice) -> str:
    """What a declaration still lacks, in a sentence."""
    if choice.source == "declared":
        for recipe in choice.recipes:
            if not recipe.declared:
                lacks = {"categorical": "list its categories", "numeric": "give its lowest and highest value"}
                return (
                    f"{recipe.column} is not described yet: {lacks.get(recipe.kind, 'give its first and last date')}."
                )
    return ""


def session() -> Session:
    """What the tab that runs this script shows: the session it has, else the one its browser has left last, else a new one."""
    shown: Session | None = st.session_state.get("session")
    visitor = browser.visitor()
    if shown is not None and (visitor is None or holder().shows(shown, visitor)):
        return shown
    found = None if visitor is None else holder().take(visitor, tab_lives)
    if found is None:
        found = Session(uuid.uuid4().hex)
        if visitor is not None:
            holder().add(found, visitor)
    if shown is not None:
        found.notices = [("info", ELSEWHERE if holder().holds(shown) else FORGOTTEN)]
    st.session_state["session"] = found
    return found


def choose_mechanism(name: str, **parameters: Any) -> MechanismRecipe:
    """A recipe of a mechanism or variant, with those of the parameters that can still be set."""
    spec = library.spec(name)
    more = {k: v for k, v in parameters.items() if k in spec.settings}
    return MechanismRecipe(name=spec.mechanism, parameters={**spec.fixed, **more})
