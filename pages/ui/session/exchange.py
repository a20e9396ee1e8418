"""Designs in and out of a session: loading a file, and the zip that Export offers."""

from __future__ import annotations

from typing import Any

from ldp_core import designs, estimators, library, mechanisms, wording
from ldp_core.deploy.kit import package
from ldp_core.designs import Configuration, certificate_file, proof_files
from ldp_core.designs.bundle import LACKS_STRATEGY
from ldp_core.designs.certificate_file import Written
from ldp_core.designs.disclosure import PEOPLE
from ldp_core.designs.standalone import mechanism_of
from ldp_core.limits import MOST_EXACT_TYPES, UNASKED_TYPES
from pages.ui import sources
from pages.ui.session.history import History
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import File, Source

SAME_ERROR = 1e-6
"""Share by which the error of one strategy may differ between machines."""


def begin(state: Session, configuration: Configuration, source: Source | None = None) -> None:
    """Go on with a design that was made or read; one that has a name stays in the list as it is."""
    if configuration != state.configuration or source is not state.source:
        state.saved.begin()
    state.install(configuration, source)
    state.draft = None
    state.view.pop("source", None)


def load(state: Session, content: bytes) -> None:
    """Restore an exported design (zip or bare JSON); a design that has a name stays in the list as it is. ValueError with a
    sentence; then nothing has changed."""
    bundle = designs.load(content)
    configuration, warnings = bundle.configuration, list(bundle.warnings)
    source = _source(state, configuration)
    needs_rows = configuration.domain is not None and configuration.population.shape == "data"
    if source is None and needs_rows:
        warnings.append(
            "The data itself is not in the file. Errors are shown for people spread evenly over the types until you "
            "choose it again on the Data page."
        )
    if misfit := _check_usable(state, configuration, source):
        warnings.append(misfit)
    begin(state, configuration, source)
    design = state.setting
    if design.waiting:
        warnings.append(
            f"Its questions take about {wording.duration(design.price.seconds)} to work out. Ask for that on the Workload page."
        )
    name = configuration.mechanism.name
    if (mechanism := mechanism_of(bundle)) is not None:
        warnings += _adopt(state, mechanism, bundle.outcome or {})
    elif (
        design.has_questions
        and library.spec(name).strategy_fitted
        and not (design.unsearched(name, bundle.recorded_parameters) or design.fitted(name))
    ):
        warnings.append(LACKS_STRATEGY)
    state.notices = [("success", "The design was loaded.")]
    if bundle.certificate is not None and design.has_questions:
        state.notices.append(_proof(state, bundle.certificate))
    state.notices += [("warning", warning) for warning in warnings]
    state.page = ""  # what this has to say is for the page that shows the design, wherever that is opened


def _proof(state: Session, files: Written) -> tuple[str, str]:
    """Use a checked proof from a file. Returns what to say about it."""
    if state.setting.working_types > MOST_EXACT_TYPES:
        return (
            "info",
            "The proof in the file is too large to be checked while it is loaded: run the verify.py beside it, or prove it again.",
        )
    try:
        proof_files.adopt(state.setting, files)
        held = "The file holds a proof of what no mechanism can beat. It was checked here, and it holds."
        return "success", f"{held} {certificate_file.left_out(files)}".strip()
    except ValueError as error:
        return "warning", str(error)


def certificate(state: Session, at_once: bool = True) -> Written | None:
    """The proof that goes with the design: see `package.certificate_of`; ``at_once`` only where writing it is quick or has been done."""
    return package.certificate_of(state.setting, at_once and state.setting.working_types > UNASKED_TYPES // 2)


def _same(recorded: Any, needed: float) -> bool:
    return isinstance(recorded, float | int) and abs(recorded - needed) <= SAME_ERROR * needed


def _adopt(state: Session, mechanism: mechanisms.Mechanism, outcome: dict[str, Any]) -> list[str]:
    """Use a strategy from a file, and call it loaded: a digest in the same file does not prove who made it. A strategy that was
    computed in this very session stays the session's own. Returns the sentences to show."""
    fit = state.setting.fitted(mechanism.name)
    if fit is not None and fit.mechanism.digest == mechanism.digest and not state.setting.from_file(mechanism.name):
        return []
    state.setting.use(mechanism)
    said = [
        "The strategy was loaded from the file, not computed here: its epsilon was audited and its errors are computed anew, but "
        "it need not be what an optimiser found. Optimise again on the Design page to replace it by a result of your own."
    ]
    recorded = outcome.get("users_needed")
    stored = recorded if isinstance(recorded, dict) and state.setting.has_questions else {}
    try:
        adopted = state.setting.priced(mechanism.name) if stored else None
        cases = [] if adopted is None else [case for case in stored if case in state.setting.cases and case != PEOPLE]
        needed = {case: state.setting.users_needed(adopted, case) for case in cases if adopted is not None}
    except ValueError:  # cannot be computed here, so nothing computed is shown either
        return said
    if any(not _same(stored[case], users) for case, users in needed.items()):
        said.append(
            "The errors recorded in the file are not those of its strategy: one of the two was changed. What is shown here is "
            "computed from the strategy."
        )
    return said


def _source(state: Session, configuration: Configuration) -> Source | None:
    """The rows a loaded design refers to: its sample, or the table available where that fits. Files hold no rows."""
    choice, source = configuration.data, None
    if choice is None or choice.source == "declared":
        return None
    if choice.source == "upload" and state.source is not None and state.source.file.kind != "sample":
        source = state.source
    elif choice.source == "sample" and choice.file in {sample["file"] for sample in sources.catalogue()}:
        source = File("sample", choice.file).read()
    if source is None or not {recipe.column for recipe in choice.recipes} <= set(source.columns):
        return None
    return source if state.fits(configuration.domain, source, counts_column(choice)) else None


def _check_usable(state: Session, configuration: Configuration, source: Source | None) -> str:
    """A file edited by hand may parse and still describe nothing that can be built: refuse it before it is the design.
    Questions that do not fit the domain can be fixed on the Workload page; the sentence about them is returned."""
    for name in (configuration.mechanism.name, *configuration.compared):
        library.spec(name)
    if library.spec(configuration.mechanism.name).variant_of:
        raise ValueError(
            "The mechanism of a design goes by its name alone, with its parameters beside it: only those compared are written as "
            f"{wording.shortened(configuration.mechanism.name)!r} is."
        )
    for name in configuration.simulation.estimators:
        estimators.spec(name)
    try:
        design = state.standing_for(History(configuration, source)).setting
    except ValueError as error:
        raise ValueError(f"This design cannot be used. {error}") from None
    if not design.misfit:
        return ""
    return f"The questions {'are too many for this server' if design.expensive else 'do not fit the data'}. {design.misfit}"


def export(state: Session, figures: bool = False) -> bytes:
    """The current design as a zip, packed once as long as all that goes into it stays; ``figures`` as for `package.outcome_of`. ValueError with
    a sentence when something it needs is missing."""
    design = state.setting
    c = design.recorded if design.has_questions else state.configuration
    mechanism = design.mechanism(c.mechanism.name) if design.has_questions else None
    outcome = {} if mechanism is None else package.outcome_of(state.setting, figures)
    proof = None if mechanism is None else certificate(state)
    key = ("file", c.to_json(), mechanism and mechanism.digest, outcome, proof and proof.document)
    return state.results.cached(key, lambda: package.design(c, outcome, mechanism, certificate=proof), len)


def to_save(state: Session) -> bytes:
    """What Save writes: the zip of `export`, with the choices alone where no results can be had. ConfigurationError with a sentence
    where even these are too many."""
    try:
        return export(state)
    except ValueError as error:
        return designs.export(state.configuration, {"not_worked_out": str(error)})
