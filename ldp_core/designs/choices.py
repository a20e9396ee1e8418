"""The choices of a configuration resolved: mechanisms with their parameters, the case that is
optimised for, the target error, and the length of a search. The app, the command line and kits all
ask here, so that they mean the same by one configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ldp_core import analysis, bounds, library, verdicts, wording, workloads
from ldp_core.bounds.general import dual
from ldp_core.designs.configuration import Configuration
from ldp_core.limits import (
    AT_ONCE_TYPES,
    MOST_EXACT_TYPES,
    MOST_QUESTION_BYTES,
    MOST_QUESTION_SECONDS,
    MOST_SEARCH_SECONDS,
)
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA
from ldp_core.optimize import refusals
from ldp_core.people import People
from ldp_core.priors import Dirichlet, dirichlet
from ldp_core.run import Callback, Cancel, Progress

SEARCH_SECONDS = {64: 10.0, 128: 30.0, 256: 60.0, 512: 120.0}
"""How long to search for the best mechanism, and to prove a bound, for at most this many types."""
PROVED_UNASKED = 128
GOOD_ENOUGH = 1e-3
"""The search ends when it is proved to be this close to the best possible."""
SIMULATED_UNASKED = 64
"""Trials take about a second for at most this number of types, and are run without asking."""
OPTIMIZED_UNASKED = 128
"""Types up to which a fit that is proved to be `NEAR_ENOUGH` takes about three seconds at most, and is computed without asking."""
SETS_UNASKED = 450
"""The same for sets of columns whose values are treated alike: all pairs of 30 columns take three seconds."""
NEAR_ENOUGH = 5e-3
"""A fit that was not asked for ends when it is proved to be this close to the best possible."""

Cases = Mapping[str, analysis.Case]


def parameters_for(configuration: Configuration, name: str) -> dict[str, Any]:
    """Parameters of a mechanism in a design, as `library.create` takes them: the chosen ones if it is the chosen one, else the
    defaults. Those of a variant are in its name. ``types`` is among them where the design keeps all types."""
    chosen, allowed = configuration.mechanism, library.spec(name).settings
    kept = {"types": "all"} if configuration.types == "all" else {}
    return {k: v for k, v in chosen.parameters.items() if chosen.name == name and k in allowed} | kept


def named(configuration: Configuration, name: str) -> str:
    """The name of a mechanism or variant in a design: the name of a mechanism alone means the
    chosen one as it was chosen.
    Two that are the same have the same name."""
    spec, own = library.spec(name), ""
    if spec.mechanism == configuration.mechanism.name:
        try:
            plain = library.spec(spec.mechanism)
            if fixed := plain.told(parameters_for(configuration, plain.name)):
                own = library.variants.variant(plain, fixed).name
        except ValueError:  # a value from a file that it cannot have: building it says so
            own = ""
    if spec.fixed or (own and spec.variant_of):
        return spec.name
    return own or spec.mechanism


def offered(configuration: Configuration) -> list[str]:
    """All mechanisms there are to choose from: the library, and the strategy matrices supplied."""
    return [*library.names(), *(matrix.mechanism for matrix in configuration.own)]


def expected_delta(configuration: Configuration) -> float:
    """Delta that the chosen mechanism will be built for. 0 if pure."""
    spec = library.spec(named(configuration, configuration.mechanism.name))
    return spec.fixed.get("delta", DEFAULT_DELTA) if spec.delta else 0.0


def cases(
    configuration: Configuration, people: People, workload: workloads.Workload | None
) -> dict[str, analysis.Case]:
    """Whose error can count in a design; costs and bounds are only ever compared within one case."""
    weights, cases_of_people = configuration.optimizer.histogram, analysis.cases_of(people, workload)
    n = configuration.domain.size if configuration.domain is not None else 0
    if weights is not None and len(weights) == n and len(cases_of_people) > 1:
        cases_of_people["histogram"] = analysis.Case("histogram", np.array(weights) / math.fsum(weights))
    return cases_of_people


def aim(configuration: Configuration, among: Cases, name: str) -> str:
    """The case of a mechanism: the one it is fitted for, or else the worst case."""
    aims, chosen = library.spec(name).aims, configuration.optimizer.aim
    return chosen if chosen in aims and chosen in among else aims[0]


def settled(configuration: Configuration, suggested: Callable[[], verdicts.Suggestion]) -> Configuration:
    """The configuration with its target error as a number. One that is left to the questions and the people is worked out once:
    ``suggested`` is asked, and what it says is stored."""
    if configuration.difference is None:
        return configuration
    found = suggested()
    target = (configuration.difference == "smallest" and found.smallest_target) or found.target
    return configuration.model_copy(update={"difference": None, "target_alpha": verdicts.alpha_for(target)})


def search_seconds(configuration: Configuration, types: int) -> float:
    """The seconds that a fit may take in a design: as set, or by the number of ``types`` of its reports."""
    limits = (seconds for size, seconds in SEARCH_SECONDS.items() if types <= size)
    return configuration.optimizer.time_limit or next(limits, MOST_SEARCH_SECONDS)


def first_seconds(types: int) -> float:
    """The seconds, about, that the first strategy takes, by the number of ``types`` of its reports. No time limit cuts it short:
    it takes n^3 operations, 7 s for 2,048 types."""
    return 7.0 * (types / 2048) ** 3


def fit_options(configuration: Configuration, among: Cases, name: str, types: int) -> dict[str, Any]:
    """The optimiser settings of a design that this mechanism knows, and whose error it is to make small."""
    name = named(configuration, name)
    spec, chosen = library.spec(name), configuration.optimizer.model_dump()
    settings = {k: v for k, v in chosen.items() if k in spec.parameters and v is not None}
    if spec.aimed:
        case = among[aim(configuration, among, name)]
        settings["time_limit"] = search_seconds(configuration, types)
        if case.prior is None:
            settings["target"] = "worst_case"
        elif not case.uniform:
            settings["prior"] = case.prior
    return {**settings, **parameters_for(configuration, name)}


def unfit(configuration: Configuration, among: Cases, name: str, workload: workloads.Workload) -> str | None:
    """Why a mechanism cannot be fitted to a design, in a sentence; None where it can, or needs no fit."""
    name = named(configuration, name)
    spec, n = library.spec(name), workload.n
    if not spec.fitted:
        return None
    if reason := spec.unsuitable(n, configuration.epsilon_value, workload):
        return reason
    case = among[aim(configuration, among, name)]
    if spec.aimed and case.prior is not None and not case.uniform and (reason := refusals.too_large(n)):
        return f"{reason} More can be had where the worst case counts, or an even spread."
    return None


def too_expensive(name: str, workload: workloads.Workload, epsilon: float) -> str | None:
    """Why the exact errors of a mechanism are not computed, in a sentence; None where they are, or it cannot be built at all."""
    spec, n = library.spec(name), workload.n
    if workload.working_types <= MOST_EXACT_TYPES or spec.closed_form or spec.unsuitable(n, epsilon, workload):
        return None
    return (
        f"The exact errors of {spec.title} take too long past {MOST_EXACT_TYPES:,} types; there are {wording.magnitude(n)} here. "
        "Simulate shows them, or use coarser bins."
    )


def questions_too_expensive(price: workloads.Price) -> str | None:
    """Why questions of this price are not computed, in a sentence; None where they are."""
    if price.seconds <= MOST_QUESTION_SECONDS and price.bytes <= MOST_QUESTION_BYTES:
        return None
    return (
        f"Working them out would take about {wording.duration(price.seconds)} and {price.bytes / 1e9:.1f} GB, and at most "
        f"{wording.duration(MOST_QUESTION_SECONDS)} and {MOST_QUESTION_BYTES / 1e9:.1f} GB are allowed. Ask fewer questions at once, "
        "or use coarser bins."
    )


def posterior_prior(configuration: Configuration, kind: Dirichlet, counts: np.ndarray | None) -> float | np.ndarray:
    """The Dirichlet parameters that the posterior mean has by a choice of this ``kind``, with ``counts`` (n,) of the design's
    people where these are known. ValueError where earlier counts are missing or do not fit the types."""
    n = configuration.domain.size if configuration.domain is not None else 0
    earlier = counts if kind == "people" else configuration.optimizer.histogram
    histogram = None if earlier is None else np.asarray(earlier, dtype=float)
    return dirichlet(kind, n, histogram, configuration.simulation.prior_people)


# --- proofs -----------------------------------------------------------------------------------------------------


def proved_unasked(workload: workloads.Workload, case: analysis.Case) -> bool:
    """True if a certificate for this case is a matter of seconds."""
    even = case.prior is None or case.uniform
    if workload.working_types <= PROVED_UNASKED or (workload.symmetry in ("hamming", "exchangeable") and even):
        return True
    if workload.survey is not None:
        return workload.survey.symmetric
    classes = workloads.classes_of(workload)
    if classes is not None and even and classes.workload.n <= PROVED_UNASKED:
        return True
    return workload.n <= AT_ONCE_TYPES and dual.suffice(workload, case.prior)


def prove(
    workload: workloads.Workload,
    epsilon: float,
    case: analysis.Case,
    seconds: float,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> bounds.Proof:
    """A certificate for this case, found within about ``seconds``. ``callback`` sees bounds on the
    scale of L."""
    alike = case.prior is not None or workload.survey is not None  # a survey has one bound for all cases
    prior = case.prior

    def follow(progress: Progress) -> None:
        value = progress.bound or 0.0
        if prior is not None:  # the worst case is reported on the scale of L already
            value = bounds.equivalent_objective(bounds.average_variance(value, workload, prior), workload)
        if callback is not None:
            callback(replace(progress, bound=value))

    search = bounds.certificate if alike else bounds.worst_case
    return search(workload, epsilon, seconds, None if case.uniform else prior, callback=follow, cancel=cancel)


def optimized_unasked(name: str, workload: workloads.Workload, fitted_types: int) -> bool:
    """True if a mechanism is fitted to the questions, which distinguish so many types, in a matter of seconds."""
    spec, survey = library.spec(name), workload.survey
    if survey is not None:
        return spec.fitted and spec.aimed and survey.symmetric and len(survey.groups) <= SETS_UNASKED
    return spec.fitted and spec.aimed and fitted_types <= OPTIMIZED_UNASKED


def close(objective: float, bound: float, trace: float, enough: float = GOOD_ENOUGH) -> bool:
    """True if a mechanism with this objective is proved to be within a share of ``enough`` of the best possible; ``trace`` is that
    of G."""
    return objective - trace <= (1 + enough) * (bound - trace)
