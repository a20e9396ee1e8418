"""The state of one browser session: one typed design, its history, and the results computed for it.

The configuration is the only truth. Widgets show it and change it through `Session.change`; everything else follows from it:
see `ldp_core.designs.setting`.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from ldp_core import library
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import (
    Configuration,
    DataChoice,
    DeclaredData,
    MechanismRecipe,
    Population,
    Results,
    Setting,
    WorkloadRecipe,
    inputs,
)
from ldp_core.designs.standalone import counts_column as counts_column
from ldp_core.mechanisms import Mechanism
from pages.ui.later import Work
from pages.ui.session import browser
from pages.ui.session.browser import session_store
from pages.ui.session.history import Draft, History, SavedDesigns
from pages.ui.sources import Source
from pages.ui.streamlit_fixes import tab_storage

ELSEWHERE = "Your design went on in another tab of this browser while this one was disconnected."
FORGOTTEN = "What this tab showed before has been forgotten."
WENT = (ELSEWHERE, FORGOTTEN)
"""Notices of what went without being asked: whoever turns a page has not read them yet."""
NO_ROOM = (
    "Results of this size do not all fit beside each other. When the new result is there, what was fitted or proved on this server and "
    "used longest ago is dropped."
)

SETTING_BYTES = 2**16
"""About what a setting holds of its own."""


@dataclass
class Session:
    """The state of one visitor.

    Attributes:
        saved: the named designs, one of which is on screen.
        view: which parts are unfolded or selected; no result depends on it.
        invalid: refused entries: control -> the text typed and the sentence about it.
        notices: messages of the last action, on screen until the next action or another page.
        page: title of the page on screen.
        costed: the setting of which a page has worked out what the chosen mechanism costs.
        lines: what the sidebar says of a setting.
        works: the latest attempt at everything that takes long, by its key, and ``ended``, set when one ends: see `pages.ui.later`.
        worked_for: what distinguishes the design that was on screen when the page was drawn last.
    """

    id: str
    saved: SavedDesigns = field(default_factory=SavedDesigns)
    results: Results = field(default_factory=Results)
    view: dict[str, Any] = field(default_factory=dict)
    invalid: dict[str, tuple[Any, str]] = field(default_factory=dict)
    notices: list[tuple[str, str]] = field(default_factory=list)
    page: str = ""
    left: bool = False
    """True once everything has been dropped, as somebody asked in another tab."""
    costed: Setting | None = None
    lines: tuple[Setting, list[tuple[str, str, str, str]]] | None = None
    works: dict[str, Work] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)
    worked_for: dict[str, str] = field(default_factory=dict)
    _tables: weakref.WeakSet[Source] = field(default_factory=weakref.WeakSet)
    """All tables this session has had, as long as anything holds them."""
    _shown: tuple[Configuration, Source | None, Setting] | None = None
    """The configuration and the table on screen, and their setting."""

    # --- the design on screen -------------------------------------------------------------------

    @property
    def history(self) -> History:
        return self.saved.shown

    @property
    def configuration(self) -> Configuration:
        return self.history.configuration

    @property
    def source(self) -> Source | None:
        return self.history.source

    @property
    def draft(self) -> Draft | None:
        return self.history.draft

    @draft.setter
    def draft(self, draft: Draft | None) -> None:
        self.history.draft = draft

    def change(self, **fields: Any) -> None:
        """Replace fields of the configuration (undoable). Raises ValueError with a sentence; then nothing has changed."""
        self.install(self.configuration.with_(**fields), self.source)

    def install(self, configuration: Configuration, source: Source | None) -> None:
        """Make this the design (undoable): every change ends here."""
        self._remember(source)
        if self.history.install(configuration, source):
            self._changed()

    def undo(self) -> None:
        """Back to the design before the last change."""
        if self.history.undo():
            self._changed()
            self.view.pop("source", None)

    def redo(self) -> None:
        """Forward again to the design that was undone last."""
        if self.history.redo():
            self._changed()
            self.view.pop("source", None)

    def copy(self) -> Session:
        """This session with a design of its own, to be changed in the background: see `take`."""
        return replace(self._beside(self.history.copy()), view=self.view, _tables=self._tables)

    def take(self, done: Session) -> None:
        """What was done to a copy is done here."""
        changed = done.history.now != self.history.now
        vars(self.history).update(vars(done.history) | {"name": self.history.name})
        if changed:
            self._changed()
        self.notices = done.notices

    def _changed(self) -> None:
        self.notices = []
        self.invalid.clear()

    def show_another(self, turn: Callable[..., None], *about: str) -> None:
        """Another design comes on screen by this ``turn`` of the saved ones: `switch`, `delete` or `bring_back`. ValueError where that
        refuses; then nothing has changed."""
        turn(*about)
        self.notices = []
        self.invalid.clear()
        for looked_at in ("source", "attribute"):  # on the Data page of the other design
            self.view.pop(looked_at, None)

    # --- what follows from it -------------------------------------------------------------------

    @property
    def setting(self) -> Setting:
        """All that follows from the design on screen, the same object as long as that stays. What needs a domain or questions refuses in
        a sentence while there are none."""
        design = self.saved.shown
        if self._shown is None or self._shown[0] is not design.configuration or self._shown[1] is not design.source:
            self._shown = design.configuration, design.source, self._derived()
        elif self._shown[2].waiting and self.results.get(self._shown[2].questions_key) is not None:
            self._shown = *design.now, self._derived()  # the questions have been worked out
        return self._shown[2]

    def _derived(self) -> Setting:
        """The setting of an equal design that was shown before, with all that it knows, or a new one."""
        c, source = self.history.now
        key = ("setting", c.digest(), source and source.id)
        kept: Setting | None = self.results.get(key)
        if kept is not None and kept.configuration == c and not kept.waiting:
            return kept
        setting = Setting.of(c, self.tally, self.results, inputs.QUICK_SECONDS)
        self.results.put(key, setting, setting.price.bytes + SETTING_BYTES)
        return setting

    def costs_known(self, mechanism: Mechanism) -> None:
        """A page shows what the chosen mechanism costs: the sidebar then shows it, too. ValueError where that cannot be had."""
        self.setting.gap(mechanism)
        self.setting.users_needed(mechanism, self.setting.case)
        self.costed, self.lines = self.setting, None

    def settle(self) -> None:
        """Targets stay what they are once they have been shown: they are written down as numbers, which is no step to undo."""
        self.history.configuration = self.setting.settled

    def crowded(self, names: list[str]) -> str:
        """A warning if the fits of these mechanisms cannot all be kept; else nothing."""
        return "" if not names or self.results.room(sum(map(self.setting.fit_bytes, names))) else NO_ROOM

    # --- data -----------------------------------------------------------------------------------

    def count(self, domain: Domain, source: Source, counts: str | None = None) -> tables.Tally:
        """Users of each type; ``counts`` names the column with the people a row stands for."""
        key = ("tally", source.id, domain.model_dump_json(), counts)
        return self.results.cached(key, lambda: tables.tally(source.table, domain, counts), lambda tally: tally.nbytes)

    def fits(self, domain: Domain | None, source: Source, counts: str | None = None) -> bool:
        """True if the rows of a table have types in this domain."""
        try:
            return domain is not None and self.count(domain, source, counts).users > 0
        except ValueError:
            return False

    @property
    def tally(self) -> tables.Tally | None:
        """Users per type in the data available; None for a declared population or while the data is missing."""
        c = self.configuration
        if c.domain is None or c.population.shape != "data" or self.source is None:
            return None
        return self.count(c.domain, self.source, counts_column(c.data))

    def set_data(self, choice: DataChoice, source: Source | None) -> None:
        """Adopt a data choice: build its domain and count its users.

        If it does not work, it is kept as a draft with the reason, and the design stays as it was.
        """
        self._remember(source)
        self.notices = []
        awaited = _not_described(choice)
        if awaited:
            self.draft = Draft(choice, source, awaited, begun=True)
            return
        try:
            table = None if source is None else source.table
            domain = tables.build_domain(list(choice.recipes), table, counts_column(choice))
            if source is None:
                population = self.expected()
            else:
                users = self.count(domain, source, counts_column(choice)).users
                population = Population(users=users, origin="data", shape="data")
        except ValueError as error:
            self.draft = Draft(choice, source, str(error))
            return
        now = self.configuration
        recipe = now.workload.following(now.domain, domain) if now.workload else WorkloadRecipe.default(domain)
        names = [{attribute.name for attribute in old.attributes} for old in (now.domain, domain) if old is not None]
        if len(names) > 1 and not names[0] & names[1]:  # other data: targets of its own
            now = now.with_(targets=None)
        self.install(now.with_(data=choice, domain=domain, population=population, workload=recipe), source)
        self.draft = None

    def expected(self) -> Population:
        """The declared population, or the one to start declaring with. A count of users taken from the data is no
        expectation: an export would call it declared."""
        now = self.configuration.population
        if now.origin == "declared" and now.users:
            return now
        return self.view.get("expected", Population(users=10_000, origin="declared", shape="uniform"))

    def expect(self, **fields: Any) -> None:
        """Change the declared population. Until a domain is declared it waits: the design available has its own people."""
        now = self.expected()
        if "shape" in fields:
            now = now.shaped(fields.pop("shape"))
        population = self.configuration.with_(population={**dict(now), **fields}).population
        if isinstance(self.configuration.data, DeclaredData):
            self.change(population=population)
        else:
            self.view["expected"] = population

    @property
    def choice(self) -> DataChoice | None:
        """The data choice on screen: the draft while it does not work yet, else the design's own."""
        return self.draft.choice if self.draft is not None else self.configuration.data

    @property
    def source_shown(self) -> Source | None:
        """The table that `choice` is about."""
        return self.draft.source if self.draft is not None else self.source

    @property
    def awaits_upload(self) -> bool:
        """True if the design was loaded from a file and refers to data that is not available."""
        c = self.configuration
        return self.source is None and c.data is not None and c.data.source == "upload" and c.population.shape == "data"

    @property
    def lacking(self) -> str:
        """The rows of a loaded design, missing, with the way to add them, in a sentence; empty if they are there."""
        if not self.awaits_upload:
            return ""
        return "The rows are not in what was loaded, so people are taken to be spread evenly. Choose the table again on the Data page."

    # --- the session itself ---------------------------------------------------------------------

    def leave(self) -> None:
        """Drop everything for good. The browser has left, even if other objects still hold this
        session."""
        for work in list(self.works.values()):
            work.cancel()
        self.works.clear()
        for source in list(self._tables):
            source.forget()
        self.results.close()
        self.saved = SavedDesigns()
        self._shown = self.costed = self.lines = None
        self.left = True
        for held in (self.view, self.invalid, self.notices):
            held.clear()

    @property
    def touched(self) -> bool:
        """True if anything was done here that somebody would miss."""
        history, saved = self.history, self.saved
        changed = history.configuration != Configuration() or history.draft is not None
        steps = bool(history.past or history.future or saved.designs or saved.deleted)
        return changed or steps or bool(self.works)

    def weight(self, shown: bool) -> int:
        """Bytes of its tables, roughly, but for the one on screen where it is ``shown``."""
        return sum(source.size for source in list(self._tables) if not (shown and source is self.source))

    def forget_steps(self) -> None:
        """Drop all steps to undo, because others need the memory, and say so."""
        for design in (self.history, *self.saved.designs):
            design.past, design.future = [], []
        self.notices.append(("info", "The memory of the server is full: earlier steps can no longer be undone."))

    def standing_for(self, history: History) -> Session:
        """A saved design with the results of this session, to look at; this session itself for the one on screen."""
        if history is self.history:
            return self
        return self._beside(history)

    def _beside(self, history: History) -> Session:
        return Session(self.id, SavedDesigns(history), self.results, works=self.works, ended=self.ended)

    def _remember(self, source: Source | None) -> None:
        if source is not None:
            self._tables.add(source)


def _not_described(choice: DataChoice) -> str:
    """The missing part of a declaration, in a sentence."""
    undescribed = [recipe for recipe in choice.recipes if not recipe.declared]
    if choice.source != "declared" or not undescribed:
        return ""
    lacks = {
        "categorical": "list its categories",
        "numeric": "give its lowest and highest value, such as 18 to 90 in 8",
        "date": "give its first and last, such as month, 2026-01 to 2026-12",
    }
    first = undescribed[0]
    return f"{first.column} is not described yet: {lacks.get(first.kind, 'list its items')}."


def session() -> Session:
    """The session of the tab that runs this script: its own, else the one its browser left last,
    else a new one."""
    shown: Session | None = st.session_state.get("session")
    visitor = browser.visitor()
    if shown is not None and (visitor is None or session_store().shows(shown, visitor)):
        return shown
    restored = None if visitor is None else session_store().take(visitor, tab_storage.is_open)
    if restored is None:
        restored = Session(uuid.uuid4().hex)
        if visitor is not None:
            session_store().add(restored, visitor)
    if shown is not None:
        restored.notices = [("info", ELSEWHERE if session_store().holds(shown) else FORGOTTEN)]
    st.session_state["session"] = restored
    return restored


def choose_mechanism(name: str, **parameters: Any) -> MechanismRecipe:
    """A recipe of a mechanism or variant, with those of the parameters that can still be set."""
    spec = library.spec(name)
    more = {k: v for k, v in parameters.items() if k in spec.recorded}
    return MechanismRecipe(name=spec.mechanism, parameters={**spec.fixed, **more})
