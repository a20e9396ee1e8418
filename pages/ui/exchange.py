"""Designs in and out of a session: loading a file, and the zip that Export offers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pandas as pd

from ldp_core import deploy, estimators, mechanisms
from ldp_core.deploy import Configuration
from ldp_core.domain import check_size
from pages.ui.state import Session, catalogue, sample_table

LINK = "design"
"""The query parameter that carries a design."""


def revealing(configuration: Configuration) -> list[str]:
    """What a link to this design would tell that was read off somebody's data or given as a histogram, in sentences.
    Samples are made up, so they tell nothing of anybody."""
    sample = configuration.data is not None and configuration.data.source == "sample"
    told = [] if sample else deploy.observed_parts(configuration)
    if configuration.optimizer.histogram is not None:
        told.append("The histogram to optimise for was given by hand.")
    return told


def address(state: Session, here: str, everything: bool = False) -> str:
    """The address that opens the current design, on the server that shows the page at ``here``. ValueError if too long.

    What reveals something of data (see `revealing`) is left out unless ``everything`` is asked for.
    """
    configuration = state.configuration
    if not everything and revealing(configuration):
        optimizer = configuration.optimizer.model_copy(update={"histogram": None})
        configuration = configuration.with_(optimizer=optimizer)
        if revealing(configuration):
            configuration = configuration.with_(data=None, domain=None, population=Configuration().population)
    parts = urlsplit(here)
    root = parts.path.rsplit("/", 1)[0] + "/"
    return urlunsplit((parts.scheme, parts.netloc, root, f"{LINK}={deploy.to_link(configuration)}", ""))


def open_link(state: Session, text: str) -> None:
    """The design of a link becomes that of the session; a link that cannot be used leaves a sentence."""
    try:
        load(state, deploy.from_link(text).to_json())
    except ValueError as error:
        state.notices = [("error", f"The link could not be opened. {error}")]


def load(state: Session, content: bytes) -> None:
    """Restore an exported design (zip or bare JSON). ValueError with a sentence; then nothing has changed."""
    bundle = deploy.load(content)
    configuration, warnings = bundle.configuration, list(bundle.warnings)
    table, table_id = _table(state, configuration)
    needs_rows = configuration.domain is not None and configuration.population.shape == "data"
    if table is None and needs_rows:
        warnings.append(
            "The data itself is not in the file. Errors are shown for people spread evenly over the types until you "
            "choose it again on the Data page."
        )
    _check_usable(state, configuration, table, table_id)
    state.install(configuration, table, table_id)
    state.draft = None
    state.view.pop("source", None)
    name = configuration.mechanism.name
    if bundle.strategy is not None and mechanisms.spec(name).fitted:
        parameters = _recorded_parameters(bundle.outcome)
        mechanism = mechanisms.optimized.from_strategy(
            name, bundle.strategy, configuration.epsilon_value, parameters, bundle.prior
        )
        state.keep_fitted(state.fitted_key(name), mechanism, ())
    elif mechanisms.spec(name).fitted and state.design() is not None:
        state.view["offer_optimise"] = state.fitted_key(name)
    state.notices = [("success", "The design was loaded."), *(("warning", warning) for warning in warnings)]


def _table(state: Session, configuration: Configuration) -> tuple[pd.DataFrame | None, str]:
    """The rows a loaded design refers to: its sample, or the upload at hand where that fits. Files hold no rows."""
    choice, table, table_id = configuration.data, None, ""
    if choice is None or choice.source == "declared":
        return None, ""
    if choice.source == "upload" and state.table_id.startswith("upload:"):
        table, table_id = state.table, state.table_id
    elif choice.source == "sample" and choice.file in {sample["file"] for sample in catalogue()}:
        table, table_id = sample_table(choice.file), f"sample:{choice.file}"
    if table is None or choice.column not in table.columns:
        return None, ""
    return (table, table_id) if state.fits(configuration.domain, table, table_id) else (None, "")


def _recorded_parameters(outcome: dict[str, Any] | None) -> dict[str, Any]:
    """What the file says of how its strategy was fitted, for the record only; the strategy itself has been verified."""
    mechanism = (outcome or {}).get("mechanism")
    parameters = mechanism.get("parameters") if isinstance(mechanism, dict) else None
    return parameters if isinstance(parameters, dict) else {}


def _check_usable(state: Session, configuration: Configuration, table: pd.DataFrame | None, table_id: str) -> None:
    """A file edited by hand may parse and still describe nothing that can be built: refuse it before it is the design."""
    for name in (configuration.mechanism.name, *configuration.compared):
        mechanisms.spec(name)
    for name in configuration.simulation.estimators:
        estimators.spec(name)
    if configuration.domain is not None:
        check_size(configuration.domain.size, "this app")
    trial = Session(state.id, configuration, table, table_id, results=state.results)
    try:
        trial.design()
    except ValueError as error:
        raise ValueError(f"This design cannot be used. {error}") from None


def export(state: Session) -> bytes:
    """The current design as a zip; ValueError with a sentence when something it needs is missing."""
    c, design = state.configuration, state.design()
    name = c.mechanism.name
    mechanism = state.mechanism(name)
    outcome: dict[str, Any] = {}
    if mechanism is not None:
        outcome = {
            "mechanism": {"name": name, "parameters": mechanism.parameters, "explanation": mechanism.explain()},
            "expected_errors": asdict(state.summary(name)),
            "expected_errors_refer_to": design.population,
            "users_no_mechanism_can_do_without": {case: state.bounds(case) for case in state.cases()},
            "users_needed": {case: state.users_needed(name, case) for case in state.cases()},
            "audit": asdict(mechanism.audit()),
            "guarantee": deploy.guarantee(c, mechanism.audit()),
        }
    # Fitted probabilities cannot be rebuilt from parameters alone; other mechanisms can.
    explicit = isinstance(mechanism, mechanisms.ExplicitMechanism) and mechanisms.spec(name).fitted
    if not explicit:
        return deploy.export(c, outcome)
    return deploy.export(c, outcome, mechanism.strategy, mechanism.prior)
