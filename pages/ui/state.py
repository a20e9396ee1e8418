"""The state of one browser session: one typed design, its history, and the results computed for it.

The configuration is the only truth. Widgets show it and change it through `Session.change`; everything else is derived from
it and cached under the digest of the inputs it used, so a result can never belong to other inputs than it says.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ldp_core import deploy, mechanisms, tables, workloads
from ldp_core.deploy import (
    Configuration,
    DeclaredData,
    MechanismRecipe,
    Population,
    SampleData,
    Treatment,
    UploadedData,
    WorkloadRecipe,
)
from ldp_core.deploy.resolve import resolve_domain
from ldp_core.domain import Domain
from ldp_core.mechanisms.additive import VectorMechanism
from pages.ui.figures import AIMED, Figures
from pages.ui.results import Results

SAMPLES = Path(__file__).parents[2] / "sample_data"
KEPT_STEPS = 50


@dataclass(frozen=True)
class Design:
    """What the configuration stands for once data and workload are set. ``counts`` are users per type."""

    domain: Domain
    labels: tuple[str, ...]
    counts: np.ndarray
    on_data: bool
    workload: workloads.Workload | None
    epsilon: float

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

    choice: Any
    table: pd.DataFrame | None
    table_id: str
    error: str


@dataclass(frozen=True)
class Upload:
    """The uploaded file as it came, so that its header row can be reinterpreted without another upload."""

    content: bytes
    name: str


@dataclass
class Session(Figures):
    id: str
    configuration: Configuration = field(default_factory=Configuration)
    table: pd.DataFrame | None = None
    """The rows of the uploaded file or sample in use. Never leaves the process."""
    table_id: str = ""
    draft: Draft | None = None
    view: dict[str, Any] = field(default_factory=dict)
    """What is unfolded or selected for looking at; no result depends on it."""
    invalid: dict[str, tuple[Any, str]] = field(default_factory=dict)
    """Entries that were refused: control -> what was typed and the sentence about it."""
    notices: list[tuple[str, str]] = field(default_factory=list)
    """What the last action has to say, on screen until the next one or another page."""
    page: str = ""
    """Title of the page on screen."""
    past: list[tuple[Configuration, pd.DataFrame | None, str]] = field(default_factory=list)
    future: list[tuple[Configuration, pd.DataFrame | None, str]] = field(default_factory=list)
    """What was undone, next step last."""
    results: Results = field(default_factory=Results)
    upload: Upload | None = None

    # --- changing the design ------------------------------------------------------------------------------------

    def change(self, **fields: Any) -> None:
        """Replace fields of the configuration (undoable). Raises ValueError with a sentence; then nothing has changed."""
        self.install(self.configuration.with_(**fields), self.table, self.table_id)

    def install(self, configuration: Configuration, table: pd.DataFrame | None, table_id: str) -> None:
        """Make this the design (undoable): every change ends here."""
        if configuration == self.configuration and table_id == self.table_id:
            return
        self.notices = []
        self.past = [*self.past[-KEPT_STEPS:], (self.configuration, self.table, self.table_id)]
        self.future = []
        self.configuration, self.table, self.table_id = configuration, table, table_id
        self.invalid.clear()

    def undo(self) -> None:
        """Back to the design before the last change, with the data it had."""
        self._step(self.past, self.future)

    def redo(self) -> None:
        """Forward again to the design that was undone last."""
        self._step(self.future, self.past)

    def _step(self, source: list, target: list) -> None:
        if source:
            target.append((self.configuration, self.table, self.table_id))
            self.configuration, self.table, self.table_id = source.pop()
            self.draft, self.notices = None, []
            self.invalid.clear()
            self.view.pop("source", None)

    def set_data(self, choice: deploy.configuration.DataChoice, table: pd.DataFrame | None, table_id: str) -> None:
        """Adopt a data choice: resolve its domain and count its users. If it does not work, it is kept as a draft with the
        reason, and the design stays as it was."""
        self.notices = []
        try:
            domain = resolve_domain(choice, table)
            if choice.source == "declared":
                population = self.expected()
            else:
                tally = self._tally(domain, table, table_id)
                population = Population(users=tally.users, origin="data", shape="data")
        except ValueError as error:
            self.draft = Draft(choice, table, table_id, str(error))
            return
        changes = {"data": choice, "domain": domain, "population": population}
        recipe, notices = self.configuration.workload, []
        try:
            self._workload(recipe, domain.size)
        except ValueError as error:  # marginals of yes-or-no answers need a power of two types, for example
            recipe, notices = None, [("warning", f"The questions were set back to Histogram. {error}")]
        changes["workload"] = recipe or WorkloadRecipe(kind="histogram")
        self.install(self.configuration.with_(**changes), table, table_id)
        self.draft, self.notices = None, notices

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

    def adopt_upload(self, content: bytes, name: str, header: bool | None = None) -> None:
        """Read an uploaded file and offer its first column in the treatment that suits it; whether its first row names the
        columns is guessed for None. ValueError with a sentence when it is no table; then nothing has changed."""
        loaded = tables.load(content, name, tables.ReadOptions(header=header))
        table, header = loaded.table, loaded.options.header is not False
        self.upload = Upload(content, name)
        table_id = f"upload:{header}:{hashlib.sha256(content).hexdigest()}"
        if self.awaits_upload and self.fits(self.configuration.domain, table, table_id):
            population = Population(
                users=self._tally(self.configuration.domain, table, table_id).users, origin="data", shape="data"
            )
            self.install(self.configuration.with_(population=population), table, table_id)
        else:
            self.choose_column(str(table.columns[0]), table, table_id, header)
        self.notices = [*self.notices, *(("info", note) for note in loaded.notes)]

    @property
    def awaits_upload(self) -> bool:
        """Whether the design was loaded from a file and refers to data that is not at hand."""
        c = self.configuration
        return self.table is None and c.data is not None and c.data.source == "upload" and c.population.shape == "data"

    def summary_of(self, column: str, table: pd.DataFrame, table_id: str) -> tables.ColumnSummary:
        """Facts about a column; a million different texts take a second to read, so they are read once."""
        return self.cached(("column", table_id, column), lambda: tables.summarise(table[column]))

    def choose_column(self, column: str, table: pd.DataFrame, table_id: str, header: bool = True) -> None:
        """Another column of the table, in the treatment that suits it."""
        treatment = Treatment(kind=self.summary_of(column, table, table_id).suggested, header=header)
        if table_id.startswith("sample:"):
            choice = SampleData(file=table_id.removeprefix("sample:"), column=column, treatment=treatment)
        else:
            choice = UploadedData(column=column, treatment=treatment)
        self.set_data(choice, table, table_id)

    def load_sample(self, file: str) -> None:
        """One click: a sample with its default column, and a workload that suits it."""
        entry = next(sample for sample in catalogue() if sample["file"] == file)
        table = sample_table(file)
        numeric = entry["treatment"] == "numeric"
        treatment = Treatment(
            kind=entry["treatment"],
            bins=entry.get("bins") or 32,
            missing=entry.get("missing", "drop"),
            rare_below=entry.get("rare_below", 0),
        )
        recipe = WorkloadRecipe(kind="prefix" if numeric else "histogram")
        before = self.configuration
        self.view.pop("source", None)
        self.set_data(SampleData(file=file, column=entry["column"], treatment=treatment), table, f"sample:{file}")
        if before.workload is None:
            self.configuration = self.configuration.with_(workload=recipe)

    # --- what follows from the design ---------------------------------------------------------------------------

    def cached(self, key: Any, compute: Callable[[], Any], size: Callable[[Any], int] = lambda value: 0) -> Any:
        """``compute()`` once per ``key`` (anything with a stable repr)."""
        name = hashlib.sha256(repr(key).encode()).hexdigest()
        value = self.results.get(name)
        if value is None:
            value = compute()
            self.results.put(name, value, size(value))
        return value

    def fits(self, domain: Domain | None, table: pd.DataFrame, table_id: str) -> bool:
        """Whether the rows of the table have types in this domain."""
        try:
            return domain is not None and self._tally(domain, table, table_id).users > 0
        except ValueError:
            return False

    def _tally(self, domain: Domain, table: pd.DataFrame, table_id: str) -> tables.Tally:
        key = ("tally", table_id, domain.model_dump_json())
        return self.cached(key, lambda: tables.tally(table, domain), lambda tally: tally.counts.nbytes)

    @property
    def tally(self) -> tables.Tally | None:
        """Users per type in the data at hand; None for a declared population or while the data is missing."""
        c = self.configuration
        if c.domain is None or c.population.shape != "data" or self.table is None:
            return None
        return self._tally(c.domain, self.table, self.table_id)

    def design(self) -> Design | None:
        """The current design, None while no domain is set."""
        c = self.configuration
        if c.domain is None:
            return None
        tally = self.tally
        if tally is not None:
            counts = tally.counts
        else:
            shape = "uniform" if c.population.shape == "data" else c.population.shape
            counts = tables.expected_counts(shape, c.domain.size, c.population.users or 10_000)
        workload = self._workload(c.workload, c.domain.size)
        labels = self.cached(("labels", c.domain.model_dump_json()), lambda: tuple(c.domain.labels()))
        return Design(c.domain, labels, counts, tally is not None, workload, c.epsilon_value)

    def _workload(self, recipe: WorkloadRecipe | None, n: int) -> workloads.Workload | None:
        if recipe is None:
            return None
        build = lambda: workloads.on_types(recipe.kind, n, **recipe.parameters)  # noqa: E731
        return self.cached(("workload", recipe.model_dump_json(), n), build)

    def parameters_for(self, name: str) -> dict[str, Any]:
        """Parameters of a mechanism in this design: the chosen ones if it is the chosen one, else the defaults."""
        chosen = self.configuration.mechanism
        allowed = mechanisms.spec(name).choices
        return {k: v for k, v in chosen.parameters.items() if chosen.name == name and k in allowed}

    def fitted_key(self, name: str) -> str:
        """Digest of everything the fit of a mechanism depends on."""
        c = self.configuration
        inputs = [name, c.workload and c.workload.model_dump(), c.domain and c.domain.size, c.epsilon_value]
        settings = c.optimizer.model_dump(include={"seed", "max_rounds", "rows", "time_limit"})
        if name == AIMED and self.design() is not None and self.aim(name) != "worst_case":
            prior = self.cases()[self.aim(name)].prior
            settings["aim"] = [self.aim(name), hashlib.sha256(prior.tobytes()).hexdigest()]
        return "fitted:" + json.dumps([inputs, settings], default=str)

    def keep_fitted(self, key: str, mechanism: mechanisms.Mechanism, history: tuple[tuple[float, float], ...]) -> None:
        """Remember a finished fit; ``history`` holds (seconds, best objective), empty where it is not known."""
        self.results.put(key, (mechanism, history), _weight(mechanism))

    def fitted(self, name: str) -> tuple[mechanisms.Mechanism, tuple[tuple[float, float], ...]] | None:
        """A fitted mechanism of the current design and its history, once it has been computed."""
        return self.results.get(self.fitted_key(name))

    def unfitted(self, names: Iterable[str]) -> list[str]:
        """Those of the named mechanisms that await their fit to the current design and can have one."""
        design = self.design()
        return [
            name
            for name in names
            if mechanisms.spec(name).fitted
            and self.fitted(name) is None
            and mechanisms.spec(name).unsuitable(design.domain.size, design.epsilon, design.workload) is None
        ]

    def mechanism(self, name: str) -> mechanisms.Mechanism | None:
        """The named mechanism for the current design; None for an optimised one that was not computed yet.
        ValueError when it cannot be built for this design."""
        design = self.design()
        if design is None or design.workload is None:
            return None
        spec, parameters = mechanisms.spec(name), self.parameters_for(name)
        if reason := spec.unsuitable(design.domain.size, design.epsilon, design.workload):
            raise ValueError(reason)
        if spec.fitted:
            found = self.fitted(name)
            return found[0] if found else None
        workload = design.workload if spec.needs_workload else None
        key = (
            "mechanism",
            name,
            design.domain.size,
            design.epsilon,
            workload and workload.spec,
            sorted(parameters.items()),
        )
        build = lambda: mechanisms.create(  # noqa: E731
            name, n=design.domain.size, epsilon=design.epsilon, workload=workload, **parameters
        )
        return self.cached(key, build, _weight)


def _weight(mechanism: mechanisms.Mechanism) -> int:
    if isinstance(mechanism, mechanisms.ExplicitMechanism):
        return 3 * mechanism.strategy.nbytes  # strategy, reconstruction, distribution functions
    if isinstance(mechanism, VectorMechanism):
        return 2 * mechanism.vectors.nbytes  # the vectors and their inverse
    return 0


def session() -> Session:
    """The state of the browser session that runs this script."""
    if "session" not in st.session_state:
        context = get_script_run_ctx()
        st.session_state["session"] = Session(context.session_id if context else uuid.uuid4().hex)
    return st.session_state["session"]


def catalogue() -> list[dict[str, Any]]:
    """The sample data sets on offer."""
    return _catalogue()


@st.cache_data
def _catalogue() -> list[dict[str, Any]]:
    return json.loads((SAMPLES / "catalogue.json").read_text())


@st.cache_data
def sample_table(file: str) -> pd.DataFrame:
    """Rows of a sample data set (synthetic, so it may be shared between sessions)."""
    return tables.read((SAMPLES / file).read_bytes(), file)


def choose_mechanism(name: str, **parameters: Any) -> MechanismRecipe:
    """A recipe with the parameters the mechanism knows."""
    allowed = mechanisms.spec(name).choices
    return MechanismRecipe(name=name, parameters={k: v for k, v in parameters.items() if k in allowed})
