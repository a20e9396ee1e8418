"""The subject of the Bounds page: the chosen mechanism in the current design, and what every statement says of it."""

from __future__ import annotations

from ldp_core.bounds import STATEMENTS
from ldp_core.bounds.theorems import frequency
from ldp_core.bounds.theorems.statements import Setting
from ldp_core.limits import AT_ONCE_TYPES, MOST_EXACT_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.studies import theorems
from ldp_core.studies.theorems import Entry
from pages.ui import later
from pages.ui.session.state import Session


def variances(state: Session, mechanism: Mechanism) -> tuple[float, float, float]:
    """Variances per user of a mechanism: averaged over the types, which predictions are about, for the people that the design is for,
    as on all pages, and of the worst type. ValueError where they take too long."""
    setting = state.setting
    even, chosen = (setting.variance(mechanism, case) for case in (setting.even_case, setting.case))
    return even, chosen, float(setting.profiled(mechanism, setting.answers.workload).max())


def entries(state: Session, about: Setting, mechanism: Mechanism | None, exact: float | None) -> list[Entry]:
    """All statements in this setting, with the costly numbers that are known by now."""
    known: dict[str, float] = {}
    if mechanism is not None and not STATEMENTS["corollary_frequency"].reason(about):
        figures = later.value(
            state,
            ("large sample", mechanism.digest),
            "working out what many people allow",
            lambda cancel: frequency.figures_of(mechanism, cancel=cancel),
            quick=about.workload.n <= AT_ONCE_TYPES,
            small=True,
        )
        known.update(theorems.weighted(about.workload, figures or {}))
    alpha, digest = state.setting.alpha, mechanism and mechanism.digest
    worst = chosen = None
    if mechanism is not None and exact is not None:
        _, chosen, worst = variances(state, mechanism)
    below: dict[str, float] = {}
    if state.setting.working_types <= MOST_EXACT_TYPES:
        scale = alpha * about.workload.squared_weights
        below = {name: scale * users for name, users in state.setting.bounds(state.setting.case).items()}
    case = (chosen, below) if below else None
    inputs = (about.workload.digest, about.epsilon, about.users, digest)
    key = ("theorems", inputs, alpha, exact, chosen, tuple(known.items()), tuple(below.items()))
    return state.results.cached(key, lambda: theorems.entries(about, alpha, exact, known, worst, case))
