"""Public facts on the Simulate page: typed like conditions, each with how many people fulfil it."""

from __future__ import annotations

import streamlit as st

from ldp_core import limits, wording
from ldp_core.designs import Setting
from ldp_core.estimators import ESTIMATORS
from ldp_core.limits import MOST_FACTS
from ldp_core.people import dense
from ldp_core.workloads import Fact, StatedFact, axes_of
from pages.ui.controls import control, guarded
from pages.ui.session.state import Session
from pages.ui.words import plain
from pages.ui.workload.kinds import fact_example, made


def stated(state: Session, design: Setting) -> tuple[Fact, ...]:
    """The box for facts, with what is to be said about those in it. Returns the facts that an estimate can agree with: none where
    anything is wrong."""
    now = state.configuration.simulation.facts
    control(
        st.text_area,
        "Public facts, one per line",
        "facts",
        "\n".join(fact.text for fact in now),
        lambda text: _state(state, _read(text, now)),
        placeholder=fact_example(axes_of(design.domain), design.users),
        help="Known facts about these people: a condition as on the Workload page, a colon, and how many people fulfil it, such "
        "as *480*, *at least 480*, *at most 480* or *between 450 and 500*. An estimate can then agree with all of it.",
    )
    facts_stated: tuple[Fact, ...] = ()
    try:
        facts_stated = state.setting.facts()
    except ValueError as error:
        st.error(plain(str(error)))
    if design.on_data and any(_counted(design, fact) for fact in now):
        st.button(
            "Take these totals from the data",
            key="facts-count",
            on_click=guarded,
            args=(state, _count, state, design),
            icon=":material/calculate:",
            help="Counts the people who fulfil each condition that has no total yet.",
        )
    _remarks(state, design, facts_stated)
    return facts_stated


def _state(state: Session, facts: tuple[StatedFact, ...]) -> None:
    state.change(simulation=state.configuration.simulation.model_copy(update={"facts": facts}))


def _read(text: str, before: tuple[StatedFact, ...]) -> tuple[StatedFact, ...]:
    """One fact a line, whether or not it can be understood. ValueError for too many."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) > MOST_FACTS:
        raise ValueError(f"There are {len(lines):,} facts, and at most {MOST_FACTS} are used; leave out the others.")
    return tuple(made(StatedFact, text=line).known_from(before) for line in lines)


def _counted(design: Setting, fact: StatedFact) -> StatedFact | None:
    few = design.domain.size <= limits.MOST_EXACT_TYPES
    return fact.counted(design.domain, dense(design.counts)) if few else None


def _count(state: Session, design: Setting) -> None:
    _state(state, tuple(_counted(design, fact) or fact for fact in state.configuration.simulation.facts))


def _remarks(state: Session, design: Setting, facts_given: tuple[Fact, ...]) -> None:
    simulation = state.configuration.simulation
    if read_off := sum(fact.origin == "data" for fact in simulation.facts):
        st.warning(
            f"{read_off:,} total{' was' if read_off == 1 else 's were'} taken from the data. Epsilon does not protect "
            f"{'it' if read_off == 1 else 'them'}: anyone who has this design learns {'it' if read_off == 1 else 'them'} exactly. Keep only "
            "what is public anyway."
        )
    if untrue := [fact.text for fact in facts_given if not fact.true_of(dense(design.counts))]:
        st.warning(
            plain(
                f"Not true of the people simulated here, {design.population}: {wording.shortened('; '.join(untrue))}. An estimate that agrees with this may be "
                "farther from the truth than one that does not."
            )
        )
    needy = [name for name, entry in ESTIMATORS.items() if entry.needs_facts]
    if facts_given and not set(needy) & set(simulation.estimators):
        st.caption(f"Choose “{ESTIMATORS[needy[0]].title}” among the estimates to use them.")
