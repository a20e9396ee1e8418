"""The state of one browser session: one typed design, its history, and the results computed for it.

The configuration is the only truth. Widgets show it and change it through `Session.change`; everything else is derived from
it and cached under the digest of the inputs it used, so a result can never belong to other inputs than it says.
"""

from __future__ import annotations

import hashlib
import json
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ldp_core import library, mechanisms, wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs import (
    Configuration,
    DataChoice,
    DeclaredData,
    MechanismRecipe,
    Population,
    WorkloadRecipe,
)
from ldp_core.mechanisms.noise.additive import VectorMechanism
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA
from pages.ui.session.figures import Figures
from pages.ui.session.results import Results
from pages.ui.sources import Source

KEPT_STEPS = 50
KEPT_BYTES = 2**29
"""Tables of earlier steps are kept, for undo, up to this size in all."""
SESSIONS: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
"""All sessions of the server by their id, for as long as something else holds them."""
MOST_TYPES = 2**20
"""Most types of a design in the app: up to here, what is drawn and counted type by type still answers at once."""
UNASKED_SECONDS = 1.5
"""Questions whose structure takes longer than this are worked out in the background, once somebody asks for it."""
MOST_QUESTION_SECONDS = 600
MOST_QUESTION_BYTES = 2**30
"""Questions that take more than these are refused."""


@dataclass(frozen=True)
class Design:
    """What the configuration stands for once data and workload are set. ``counts`` are users per type; ``misfit`` says why
    the questions asked cannot be asked of this domain, where that is so."""

    domain: Domain
    labels: Sequence[str]
    counts: np.ndarray
    on_data: bool
    workload: workloads.Workload | None
    misfit: str
    questions: str
    """The workload in a few words."""
    epsilon: float
    naming: str
    """Equal where the names of types and queries are equal."""
    price: workloads.Price
    """Of the structure of the questions."""

    @property
    def dear(self) -> bool:
        """Whether the questions take so long to work out that somebody has to ask for it."""
        return self.price.seconds > UNASKED_SECONDS

    @property
    def unasked(self) -> bool:
        """Whether the questions could be worked out, but are not yet."""
        return self.workload is None and not self.misfit and self.dear

    @property
    def users(self) -> int:
        return int(self.counts.sum())

    @property
    def population(self) -> str:
        """What errors "on this data" refer to, in words."""
        return "this data" if self.on_data else "the expected population"


@dataclass(frozen=True)
class Draft:
    """A data choice that cannot be used yet, with the table it refers to and the sentence that says why."""

    choice: DataChoice
    source: Source | None
    error: str
    begun: bool = False
    """Nothing is wrong: it just is not all there yet."""


@dataclass
class Session(Figures):
    id: str
    configuration: Configuration = field(default_factory=Configuration)
    source: Source | None = None
    """The table in use; None for a declared domain, and while data is missing."""
    draft: Draft | None = None
    view: dict[str, Any] = field(default_factory=dict)
    """What is unfolded or selected for looking at; no result depends on it."""
    invalid: dict[str, tuple[Any, str]] = field(default_factory=dict)
    """Entries that were refused: control -> what was typed and the sentence about it."""
    notices: list[tuple[str, str]] = field(default_factory=list)
    """What the last action has to say, on screen until the next one or another page."""
    loaded: set[str] = field(default_factory=set)
    """Digests of the fitted mechanisms that came from a file and were not computed here."""
    unasked: set[str] = field(default_factory=set)
    """Keys of proofs that were begun without being asked for."""
    page: str = ""
    """Title of the page on screen."""
    past: list[tuple[Configuration, Source | None]] = field(default_factory=list)
    future: list[tuple[Configuration, Source | None]] = field(default_factory=list)
    """What was undone, next step last."""
    results: Results = field(default_factory=Results)
    _design: tuple[Configuration, Source | None, Design | None] | None = None
    """The design that follows from a configuration and a table, kept as long as these two stay."""
    _tables: weakref.WeakSet[Source] = field(default_factory=weakref.WeakSet)
    """All tables this session has had, as long as anything holds them."""

    # --- changing the design ------------------------------------------------------------------------------------

    def change(self, **fields: Any) -> None:
        """Replace fields of the configuration (undoable). Raises ValueError with a sentence; then nothing has changed."""
        self.install(self.configuration.with_(**fields), self.source)

    def install(self, configuration: Configuration, source: Source | None) -> None:
        """Make this the design (undoable): every change ends here."""
        if configuration == self.configuration and source is self.source:
            return
        self._tables.update({source} - {None})
        self.notices = []
        self.past = _affordable([*self.past[-KEPT_STEPS:], (self.configuration, self.source)])
        self.future = []
        self.configuration, self.source = configuration, source
        self.invalid.clear()

    def undo(self) -> None:
        """Back to the design before the last change, with the data it had."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Forward again to the design that was undone last."""
        self._step(self.future, self.past)

    def _step(self, source: list, target: list) -> None:
        if source:
            target.append((self.configuration, self.source))
            self.configuration, self.source = source.pop()
            self.draft, self.notices = None, []
            self.invalid.clear()
            self.view.pop("source", None)

    def set_data(self, choice: DataChoice, source: Source | None) -> None:
        """Adopt a data choice: build its domain and count its users. If it does not work, it is kept as a draft with the
        reason, and the design stays as it was. UnreadableTable when a local file cannot be read; then nothing has changed."""
        self._tables.update({source} - {None})
        self.notices = []
        awaited = _not_described(choice)
        if awaited:
            self.draft = Draft(choice, source, awaited, begun=True)
            return
        counts = counts_column(choice)
        try:
            domain = self._domain(choice, source, counts)
            if domain.size > MOST_TYPES:
                raise ValueError(" ".join(tables.size_warnings(domain, limit=MOST_TYPES, what="this app")))
            if choice.source == "declared":
                population = self.expected()
            else:
                population = Population(users=self.count(domain, source, counts).users, origin="data", shape="data")
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
        self.configuration, self.source, self.draft, self._design = Configuration(), None, None, None
        for held in (self.past, self.future, self.view, self.invalid, self.notices, self.unasked):
            held.clear()

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
        population = Population(**{**dict(self.expected()), **fields})
        if isinstance(self.configuration.data, DeclaredData):
            self.change(population=population)
        else:
            self.view["expected"] = population

    @property
    def awaits_upload(self) -> bool:
        """Whether the design was loaded from a file and refers to data that is not at hand."""
        c = self.configuration
        return self.source is None and c.data is not None and c.data.source == "upload" and c.population.shape == "data"

    # --- what follows from the design ---------------------------------------------------------------------------

    def cached(self, key: Any, compute: Callable[[], Any], size: Callable[[Any], int] = lambda value: 0) -> Any:
        """``compute()`` once per ``key`` (anything with a stable repr)."""
        name = _name(key)
        value = self.results.get(name)
        if value is None:
            value = compute()
            self.results.put(name, value, size(value))
        return value

    def _domain(self, choice: DataChoice, source: Source | None, counts: str | None) -> Domain:
        """The domain that a choice describes; that of a local file, or why there is none, is worked out once."""
        if source is None or not isinstance(source.table, tables.LocalTable):
            return tables.build_domain(choice.recipes, source and source.table, counts)

        def outcome() -> Domain | ValueError:
            try:
                return tables.build_domain(choice.recipes, source.table, counts)
            except tables.UnreadableTable:
                raise
            except ValueError as error:
                return ValueError(str(error))

        found = self.cached(("domain", source.id, [r.model_dump_json() for r in choice.recipes], counts), outcome)
        if isinstance(found, ValueError):
            raise found
        return found

    def fits(self, domain: Domain | None, source: Source, counts: str | None = None) -> bool:
        """Whether the rows of a table have types in this domain."""
        try:
            return domain is not None and self.count(domain, source, counts).users > 0
        except ValueError:
            return False

    def count(self, domain: Domain, source: Source, counts: str | None = None) -> tables.Tally:
        """Users of each type; ``counts`` names the column with the people a row stands for."""
        key = ("tally", source.id, domain.model_dump_json(), counts)
        return self.cached(key, lambda: tables.tally(source.table, domain, counts), lambda tally: tally.counts.nbytes)

    @property
    def tally(self) -> tables.Tally | None:
        """Users per type in the data at hand; None for a declared population or while the data is missing."""
        c = self.configuration
        if c.domain is None or c.population.shape != "data" or self.source is None:
            return None
        return self.count(c.domain, self.source, counts_column(c.data))

    def design(self) -> Design | None:
        """The current design, None while no domain is set."""
        known = self._design
        stale = known is None or known[0] is not self.configuration or known[1] is not self.source
        if stale or (known[2] is not None and known[2].unasked and self.results.get(self.questions_key())):
            self._design = (self.configuration, self.source, self._derived())
        return self._design[2]

    def _derived(self) -> Design | None:
        c = self.configuration
        if c.domain is None:
            return None
        tally = self.tally
        if tally is not None:
            counts = tally.counts
        else:
            shape = "uniform" if c.population.shape == "data" else c.population.shape
            users = c.population.users or 10_000
            counts = tables.expected_counts(shape, c.domain.size, users)
        questions = c.workload.summary if c.workload is not None else ""
        naming = c.digest(["domain", "workload"])
        workload, misfit, price = self._questions(c, naming)
        return Design(
            c.domain,
            c.domain.type_labels,
            counts,
            tally is not None,
            workload,
            misfit,
            questions,
            c.epsilon_value,
            naming,
            price,
        )

    def _questions(self, c: Configuration, naming: str) -> tuple[workloads.Workload | None, str, workloads.Price]:
        """The workload where it is known or worked out in no time, why it cannot be had, and what it takes."""
        if c.workload is None:
            return None, "", workloads.Price(0.0, 0)
        price = self.cached(("price", naming), lambda: workloads.price(c.workload.parts, c.domain))
        if price.seconds > MOST_QUESTION_SECONDS or price.bytes > MOST_QUESTION_BYTES:
            return None, f"Working them out {_too_much(price)} Ask fewer questions at once, or use coarser bins.", price
        if price.seconds > UNASKED_SECONDS:
            return self.results.get(self.questions_key()), "", price
        try:
            return (
                self.cached(self.questions_key(), lambda: c.workload.build(c.domain), lambda _: price.bytes),
                "",
                price,
            )
        except ValueError as error:
            return None, str(error), price

    def questions_key(self) -> str:
        """Identifies the structure of the questions."""
        return "questions:" + self.configuration.digest(["domain", "workload"])

    def parameters_for(self, name: str) -> dict[str, Any]:
        """Parameters of a mechanism in this design: the chosen ones if it is the chosen one, else the defaults."""
        chosen = self.configuration.mechanism
        allowed = library.spec(name).choices
        return {k: v for k, v in chosen.parameters.items() if chosen.name == name and k in allowed}

    def fitted_key(self, name: str) -> str:
        """Digest of everything the fit of a mechanism depends on."""
        c = self.configuration
        design = self.design()
        inputs = [name, design and design.workload and design.workload.digest, c.epsilon_value]
        settings = c.optimizer.model_dump(include={"seed", "max_rounds", "rows", "time_limit"})
        if library.spec(name).aimed and design is not None and self.aim(name) != "worst_case":
            prior = self.cases()[self.aim(name)].prior
            settings["aim"] = [self.aim(name), hashlib.sha256(prior.tobytes()).hexdigest()]
        return "fitted:" + json.dumps([inputs, settings], default=str)

    def keep_fitted(self, key: str, mechanism: mechanisms.Mechanism, history: tuple[tuple[float, float], ...]) -> None:
        """Remember a finished fit; ``history`` holds (seconds, best objective), empty where it is not known."""
        self.loaded.discard(mechanism.digest)
        self.results.put(key, (mechanism, history), _weight(mechanism))

    def fitted(self, name: str) -> tuple[mechanisms.Mechanism, tuple[tuple[float, float], ...]] | None:
        """A fitted mechanism of the current design and its history, once it has been computed."""
        return self.results.get(self.fitted_key(name))

    def from_file(self, name: str) -> bool:
        """Whether the mechanism in use was loaded from a file, so that nobody here knows how it was made."""
        found = self.fitted(name) if library.spec(name).fitted else None
        return found is not None and found[0].digest in self.loaded

    @property
    def delta(self) -> float:
        """Delta of one report of the chosen mechanism, by its audit; until it is there, what it will be built for. 0 if pure."""
        name = self.configuration.mechanism.name
        if not library.spec(name).delta:
            return 0.0
        try:
            mechanism = self.mechanism(name)
        except ValueError:
            mechanism = None
        if mechanism is None:
            return DEFAULT_DELTA
        return self.cached(("delta", mechanism.digest), lambda: mechanism.audit().delta)

    def unfitted(self, names: Iterable[str]) -> list[str]:
        """Those of the named mechanisms that await their fit to the current design and can have one."""
        design = self.design()
        return [
            name
            for name in names
            if library.spec(name).fitted
            and self.fitted(name) is None
            and library.spec(name).unsuitable(design.domain.size, design.epsilon, design.workload) is None
        ]

    def mechanism(self, name: str) -> mechanisms.Mechanism | None:
        """The named mechanism for the current design; None for an optimised one that was not computed yet.
        ValueError when it cannot be built for this design."""
        design = self.design()
        if design is None or design.workload is None:
            return None
        spec, parameters = library.spec(name), self.parameters_for(name)
        if reason := spec.unsuitable(design.domain.size, design.epsilon, design.workload):
            raise ValueError(reason)
        if spec.fitted:
            found = self.fitted(name)
            return found[0] if found else None
        workload = design.workload if spec.uses_workload else None
        key = (
            "mechanism",
            name,
            design.domain.size,
            design.epsilon,
            workload and workload.digest,
            sorted(parameters.items()),
        )
        build = lambda: library.create(  # noqa: E731
            name, n=design.domain.size, epsilon=design.epsilon, workload=workload, **parameters
        )
        return self.cached(key, build, _weight)


def _name(key: Any) -> str:
    return key if isinstance(key, str) else hashlib.sha256(repr(key).encode()).hexdigest()


def _too_much(price: workloads.Price) -> str:
    return (
        f"would take about {wording.duration(price.seconds)} and {price.bytes / 1e9:.1f} GB, and at most "
        f"{wording.duration(MOST_QUESTION_SECONDS)} and {MOST_QUESTION_BYTES / 1e9:.1f} GB are allowed."
    )


def _weight(mechanism: mechanisms.Mechanism) -> int:
    if isinstance(mechanism, mechanisms.ExplicitMechanism):
        return 3 * mechanism.strategy.nbytes  # strategy, reconstruction, distribution functions
    if isinstance(mechanism, VectorMechanism):
        return 2 * mechanism.vectors.nbytes  # the vectors and their inverse
    return 0


def _affordable(steps: list[tuple[Configuration, Source | None]]) -> list[tuple[Configuration, Source | None]]:
    """The latest steps whose tables together stay within `KEPT_BYTES`; the last one always."""
    kept, sizes = [], {}
    for configuration, source in reversed(steps):
        if source is not None:
            sizes[source.id] = source.size
        if kept and sum(sizes.values()) > KEPT_BYTES:
            break
        kept.append((configuration, source))
    return kept[::-1]


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


def counts_column(choice: DataChoice) -> str | None:
    """The column that says how many people a row stands for, where a table has one."""
    return choice.counts if choice.source == "upload" else None


def session() -> Session:
    """The state of the browser session that runs this script."""
    if "session" not in st.session_state:
        context = get_script_run_ctx()
        st.session_state["session"] = made = Session(context.session_id if context else uuid.uuid4().hex)
        SESSIONS[made.id] = made
    return st.session_state["session"]


def choose_mechanism(name: str, **parameters: Any) -> MechanismRecipe:
    """A recipe with the parameters the mechanism knows."""
    allowed = library.spec(name).choices
    return MechanismRecipe(name=name, parameters={k: v for k, v in parameters.items() if k in allowed})
