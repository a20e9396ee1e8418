"""The people and the questions that a configuration describes."""

from __future__ import annotations

import numpy as np

from ldp_core import workloads
from ldp_core.analysis import EXPECTED_USERS
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.designs.configuration import Configuration, DifferenceToDetect, PlanningRates
from ldp_core.people import Counted, Records
from ldp_core.workloads import Detect, Rates
from ldp_core.workloads.units import Target

QUICK_SECONDS = 1.5
"""Questions that take longer than this are computed in the background, on request."""
NO_PRICE = workloads.Price(0.0, 0)


def people_in(configuration: Configuration, domain: Domain, tally: tables.Tally | None) -> Counted | Records:
    """The people: those counted, or those expected; evenly spread if the data are not available."""
    if tally is not None:
        return Counted(tally.counts, domain.shape, tally.sums) if isinstance(tally.counts, np.ndarray) else tally.counts
    declared = configuration.population
    shape = "uniform" if declared.shape == "data" else declared.shape
    return tables.expected_people(shape, domain.shape, declared.users or EXPECTED_USERS, **declared.parameters)


def planned(
    configuration: Configuration, domain: Domain, people: Counted | Records, on_data: bool
) -> list[Rates | None] | None:
    """The rates that the questions take of planning data; None for people spread evenly. A file without its data holds them."""
    if configuration.planning == "even":
        return None
    held = configuration.rates
    if held is not None and not on_data and configuration.population.shape == "data":
        fits = len(held) == len(configuration.parts)
        return [None if part is None else part.rates for part in held] if fits else None
    return workloads.rates_of(configuration.parts, domain, people)


def chosen_targets(configuration: Configuration) -> dict[str, Target]:
    """The targets that were chosen or worked out, as questions take them."""
    chosen = configuration.targets or {}
    return {key: Detect(**dict(t)) if isinstance(t, DifferenceToDetect) else t for key, t in chosen.items()}


def settled(
    configuration: Configuration,
    answers: workloads.Questionnaire,
    domain: Domain,
    people: Counted | Records,
    on_data: bool,
) -> Configuration:
    """The configuration with its targets, and the rates of planning data, as numbers: files hold these. It is the same object where it
    holds them already."""
    targets: dict[str, float | DifferenceToDetect] = dict(configuration.targets or {})
    rates = None
    for line in answers.lines:
        target = line.target
        targets[line.key] = DifferenceToDetect(**vars(target)) if isinstance(target, Detect) else target
    if any(line.rates is not None for line in answers.lines):
        taken = planned(configuration, domain, people, on_data)
        rates = None if taken is None else tuple(None if part is None else PlanningRates.of(part) for part in taken)
    if targets == configuration.targets and rates == configuration.rates:
        return configuration
    return configuration.model_copy(update={"targets": targets, "rates": rates})
