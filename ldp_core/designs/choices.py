"""The choices of a configuration resolved, mechanisms with their parameters among them, and limits of what is computed. The app, the
command line and kits all ask here, so that they mean the same by one configuration."""

from __future__ import annotations

import numpy as np

from ldp_core import analysis, library, wording, workloads
from ldp_core.bounds.general import dual
from ldp_core.designs.configuration import Configuration
from ldp_core.limits import (
    AT_ONCE_TYPES,
    MOST_QUESTION_BYTES,
    MOST_QUESTION_SECONDS,
)
from ldp_core.priors import dirichlet

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


def offered(configuration: Configuration) -> list[str]:
    """The mechanisms to compare with others: all that need no file, and the chosen one."""
    attributes = () if configuration.domain is None else configuration.domain.attributes
    some = [
        name
        for name, entry in library.REGISTRY.items()
        if entry.secret_only and any(a.secret_types for a in attributes)
    ]
    return list(dict.fromkeys([*library.names(), *some, configuration.mechanism.name]))


def first_seconds(types: int) -> float:
    """The seconds, about, that the first strategy takes, by the number of ``types`` of its reports. No time limit cuts it short:
    it takes n^3 operations, 7 s for 2,048 types."""
    return 7.0 * (types / 2048) ** 3


def questions_too_expensive(price: workloads.Price) -> str | None:
    """Why questions of this price are not computed, in a sentence; None where they are."""
    if price.seconds <= MOST_QUESTION_SECONDS and price.bytes <= MOST_QUESTION_BYTES:
        return None
    return (
        f"Working them out would take about {wording.duration(price.seconds)} and {price.bytes / 1e9:.1f} GB, and at most "
        f"{wording.duration(MOST_QUESTION_SECONDS)} and {MOST_QUESTION_BYTES / 1e9:.1f} GB are allowed. Ask fewer questions at once, "
        "or use coarser bins."
    )


def posterior_prior(configuration: Configuration, earlier: bool) -> float | np.ndarray:
    """The Dirichlet parameters that the posterior mean has, with the histogram of the design as ``earlier`` counts. ValueError where these
    are missing or do not fit the types."""
    n = configuration.domain.size if configuration.domain is not None else 0
    return dirichlet(n, np.asarray(configuration.optimizer.histogram or ()) if earlier else None)


# --- proofs -----------------------------------------------------------------------------------------------------


def proved_unasked(workload: workloads.Workload, case: analysis.Case) -> bool:
    """True if a certificate for this case is a matter of seconds."""
    even = case.prior is None or case.uniform
    if workload.strata is not None and workload.survey is not None:
        return all(proved_unasked(stratum, analysis.WORST_CASE) for stratum in workload.strata.designs)
    if workload.working_types <= PROVED_UNASKED or (workload.symmetry in ("hamming", "exchangeable") and even):
        return True
    if workload.survey is not None:
        return workload.survey.symmetric
    classes = workloads.classes_of(workload)
    merged = classes is not None and even and classes.workload.n <= PROVED_UNASKED
    return merged or (workload.n <= AT_ONCE_TYPES and dual.suffice(workload, case.prior))


def optimized_unasked(name: str, workload: workloads.Workload, fitted_types: int) -> bool:
    """True if a mechanism is fitted to the questions, which distinguish so many types, in a matter of seconds."""
    spec, survey = library.spec(name), workload.survey
    if survey is not None:
        each = (survey,) if survey.strata is None else survey.strata.designs
        quick = all(one.survey and one.survey.symmetric and len(one.survey.groups) <= SETS_UNASKED for one in each)
        return spec.fitted and spec.aimed and quick
    return spec.fitted and spec.aimed and fitted_types <= OPTIMIZED_UNASKED


def close(objective: float, bound: float, trace: float, enough: float = GOOD_ENOUGH) -> bool:
    """True if a mechanism with this objective is proved to be within a share of ``enough`` of the best possible; ``trace`` is that
    of G."""
    return objective - trace <= (1 + enough) * (bound - trace)
