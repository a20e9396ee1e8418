"""The subject of the Bounds page: the chosen mechanism in the current design, a prior, and how the
numbers are shown."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from ldp_core import analysis, wording
from ldp_core.bounds.theorems.scope import histogram_of
from ldp_core.bounds.theorems.statements import KINDS, Setting
from ldp_core.limits import MOST_CONCENTRATION, MOST_EXACT_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.studies import theorems
from ldp_core.studies.theorems import Entry
from pages.ui import layout
from pages.ui.controls import control, number, pick
from pages.ui.session.state import Session
from pages.ui.tasks import work

QUANTITIES = {"standard_error": "Standard error", "users_needed": "Users needed"}
GROUPS = {
    "impossible": "Impossible",
    "large_sample": "As users grow",
    "prediction": "Predictions",
    "few_users": "Few users",
}
PRIORS = {
    "even": "Even: every type equally common",
    "jeffreys": "Dirichlet 1/2 (Jeffreys)",
    "uniform": "Dirichlet 1 (all populations alike)",
    "own": "Dirichlet, your own",
}
CONCENTRATIONS = {"even": None, "jeffreys": 0.5, "uniform": 1.0}
BRANCHING = (2, 4, 8, 16)


def quantity(state: Session) -> str:
    """The quantity on the axis."""
    return str(state.view.get("bounds_quantity", "standard_error"))


def concentration(state: Session) -> float | None:
    """The concentration of the chosen Dirichlet prior; None for the even population."""
    prior = state.view.get("bounds_prior", "even")
    return state.view.get("bounds_own", 5.0) if prior == "own" else CONCENTRATIONS[prior]


def branching(state: Session) -> int:
    """The branching factor chosen for the prediction about trees."""
    return int(state.view.get("bounds_branching", 4))


def controls(state: Session, there: Collection[str]) -> None:
    """The axis, the prior, and which of the groups that are ``there`` are drawn; the target error and the prior where they tell."""
    with layout.controls("page"):
        control(
            st.segmented_control,
            "On the axis",
            "bounds-quantity",
            quantity(state),
            lambda chosen: state.view.update(bounds_quantity=chosen or quantity(state)),
            options=list(QUANTITIES),
            format_func=QUANTITIES.get,
            help="Of a typical query with the users you have, or the users that the target error takes.",
        )
        if histogram_of(state.setting.workload) is not None:
            _prior(state)
        if theorems.predicts_ranges(state.setting.workload, state.setting.epsilon):
            pick(
                "Branching factor B of Theorem 4.5",
                "bounds-tree",
                branching(state),
                lambda chosen: state.view.update(bounds_branching=chosen),
                {B: f"B = {B}" for B in BRANCHING},
                help="Of the tree whose average error Cormode et al. predict. A design with a tree keeps its own.",
            )
        offered, shown = [kind for kind in GROUPS if kind in there], groups_shown(state)
        absent = [kind for kind in GROUPS if kind in shown and kind not in there]
        control(
            st.pills,
            "Groups in the picture",
            "bounds-groups",
            [kind for kind in offered if kind in shown],
            lambda chosen: state.view.update(bounds_groups=(*chosen, *absent)),
            options=offered,
            format_func=GROUPS.get,
            selection_mode="multi",
        )


def _prior(state: Session) -> None:
    pick(
        "Prior of the large-N lines",
        "bounds-prior",
        state.view.get("bounds_prior", "even"),
        lambda chosen: state.view.update(bounds_prior=chosen),
        PRIORS,
        help="The theorems for many users average over populations. A small concentration makes uneven ones likely.",
    )
    if state.view.get("bounds_prior", "even") == "own":
        control(
            st.text_input,
            "Concentration",
            "bounds-concentration",
            f"{state.view.get('bounds_own', 5.0):g}",
            lambda text: state.view.update(bounds_own=_concentration(text)),
        )


def groups_shown(state: Session) -> tuple[str, ...]:
    """Kinds of statements that are drawn."""
    return tuple(state.view.get("bounds_groups", tuple(KINDS)))


def _concentration(text: str) -> float:
    value = number(text, "the concentration")
    if not 0.01 <= value <= MOST_CONCENTRATION:
        raise ValueError(
            f"The concentration must be from 0.01 to {wording.count(MOST_CONCENTRATION)}; 0.5 and 1 are common."
        )
    return value


def setting(state: Session, mechanism: Mechanism | None) -> Setting:
    """The current design with the chosen mechanism, as theorems see it."""
    design = state.setting
    return Setting(design.workload, design.epsilon, design.users, mechanism, concentration(state), branching(state))


def variances(state: Session, mechanism: Mechanism) -> tuple[float, float]:
    """Variances per user of a mechanism: averaged over the types, which predictions are about, and for the people that the design is for,
    as on all pages. ValueError where they take too long."""
    setting, profile = state.setting, state.setting.profile(mechanism)
    return setting.cases[setting.even_case].variance(profile), setting.cases[setting.case].variance(profile)


def on_axis(state: Session, variance: float) -> dict[str, float]:
    """A variance per user by quantity."""
    workload, alpha = state.setting.workload, state.setting.alpha
    return {
        "standard_error": theorems.share(variance, setting(state, None)),
        "users_needed": analysis.users_for(variance, workload.squared_weights, alpha),
    }


def entries(state: Session, about: Setting, mechanism: Mechanism | None, exact: float | None) -> list[Entry]:
    """All statements in this setting, with the costly numbers that are known by now."""
    known: dict[str, tuple[float, float]] = {}
    if mechanism is not None:
        figures = work.large_sample(state, mechanism, about.concentration).result or {}
        known.update(theorems.weighted(about.workload, figures))
    alpha, digest = state.setting.alpha, mechanism and mechanism.digest
    worst = own = None
    if mechanism is not None and exact is not None:
        worst, own = float(state.setting.profile(mechanism).max()), variances(state, mechanism)[1]
    below: dict[str, float] = {}
    if state.setting.working_types <= MOST_EXACT_TYPES:
        scale = alpha * about.workload.squared_weights
        below = {name: scale * users for name, users in state.setting.bounds(state.setting.case).items()}
    case = (own, below) if below else None
    inputs = (about.workload.digest, about.epsilon, about.users, digest, about.concentration, about.branching)
    key = ("theorems", inputs, alpha, exact, own, tuple(known.items()), tuple(below.items()))
    return state.results.cached(key, lambda: theorems.entries(about, alpha, exact, known, worst, case))
