"""The named designs side by side: what each chooses and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import charts, library, mechanisms, wording
from pages.ui import layout, listing, say
from pages.ui.compared import case_control, offer_fits
from pages.ui.controls import button, view_switch
from pages.ui.file_menu import continue_with_copy
from pages.ui.session.history import History
from pages.ui.session.state import Session
from pages.ui.words import case_meaning, case_title

VIEWS = {"mechanisms": "Mechanisms", "designs": "Saved designs"}
TIE = 1e-9
CASES = ("worst_case", "average", "people")
"""Whose error can count in every design."""


@dataclass(frozen=True)
class Cost:
    """A design and its mechanism, or why there is none to speak of; ``about`` is equal for designs that can be compared."""

    name: str
    state: Session
    mechanism: mechanisms.Mechanism | None
    why: str
    about: tuple[object, ...]
    unfitted: bool = False


def choose(state: Session, place: DeltaGenerator) -> None:
    """The choice at this ``place`` between mechanisms and saved designs; designs are drawn here and
    end the page."""
    with place:
        chosen = view_switch("beside", VIEWS)
    if chosen == "designs":
        _designs(state)
        layout.end()


def _designs(state: Session) -> None:
    kept = state.saved.designs
    if len(kept) < 2:
        st.info(
            "Two or more designs stand side by side once they have names. Keep the one on screen and go on with a copy: change its "
            "epsilon, its questions or its mechanism, and come back."
        )
        label, nothing = "Keep this design and continue with a copy", state.saved.empty
        button(label, "design-copy", "content_copy", continue_with_copy, state, type="primary", disabled=nothing)
        return
    settings = [standing.setting for standing in map(state.standing_for, kept) if standing.setting.has_domain]
    known = [name for name in CASES if all(name in setting.cases for setting in settings)]
    with layout.controls("designs"):
        case = case_control(state, "designs-case", known[0], known)
    with st.spinner("Working out what the designs cost"):
        costs = [_cost(state.standing_for(design), design, case) for design in kept]
        table = pd.DataFrame([_row(cost, case) for cost in costs])
    if unfitted := [cost for cost in costs if cost.unfitted]:
        say.info("Not fitted yet: {names}.", names=", ".join(cost.name for cost in unfitted))
        label = f"Optimise {wording.plural(len(unfitted), 'design')}"
        offer_fits(
            [(cost.state, cost.state.setting.chosen) for cost in unfitted], "optimise-designs", label, type="primary"
        )
    worked_out = [cost for cost in costs if cost.mechanism is not None]
    if worked_out:
        first = worked_out[0].about
        drawn = table[[cost.mechanism is not None for cost in costs]]
        drawn = drawn.assign(alike=[cost.about == first for cost in worked_out])
        layout.chart(
            lambda look: charts.side_by_side(drawn, look),
            _sentence(worked_out, drawn, case),
            "designs",
            table,
            title=f"People needed by saved design, {case_title(case)}",
        )
    for cost in costs:
        if cost.why and not cost.unfitted:
            say.warning("{name}: {why}", name=cost.name, why=cost.why)
    _listed(table, costs)
    st.caption(
        "The error is that of the question that needs the most people, with each design's people. Compare people needed only between designs with "
        "the same questions and targets."
    )


def _cost(standing: Session, kept: History, case: str) -> Cost:
    """The sentences about one design."""
    c = kept.configuration
    mechanism, why, unfitted = None, "", False
    try:
        if not standing.setting.has_questions:
            why = "it has no data and questions yet that its costs could be worked out for."
        else:
            mechanism = standing.setting.priced(standing.setting.chosen)
            unfitted = mechanism is None
            why = "no mechanism is fitted to it yet." if unfitted else ""
            if mechanism is not None:
                standing.setting.users_needed(mechanism, standing.setting.case)
    except ValueError as error:
        mechanism, why = None, str(error)
    people = standing.setting.people.digest if case == "people" else ""
    about = (c.digest(["domain", "workload"]), str(standing.setting.settled.targets), people)
    return Cost(kept.name, standing, mechanism, why, about, unfitted)


def _row(cost: Cost, case: str) -> dict[str, object]:
    """A row of the table: choices first, then costs, NaN while there are none."""
    standing, c, design, nothing = cost.state, cost.state.configuration, cost.state.setting, math.nan
    row: dict[str, object] = {
        "design": cost.name,
        "questions": c.workload.summary if c.workload is not None else "none yet",
        "queries": design.answers.workload.num_queries if design.has_questions else nothing,
        "types": design.domain.size if design.has_domain else nothing,
        "people": design.users if design.has_domain else nothing,
        "epsilon": c.epsilon,
        "reports_per_user": c.reports_per_user,
        "mechanism": design.chosen,
        "target": design.error_in_words(1.0) if design.has_questions else "",
    }
    costs = ("users_needed", "users_bound", "gap")
    if cost.mechanism is None:
        return {**row, **dict.fromkeys(costs, nothing), "error": ""}
    gap = standing.setting.gap(cost.mechanism, case)
    bound = nothing if cost.mechanism.delta > 0 else max(standing.setting.bounds(case).values())
    needed = standing.setting.users_needed(cost.mechanism, case)
    said = standing.setting.error_in_words(standing.setting.error(cost.mechanism, case))
    return {**row, **dict(zip(costs, (needed, bound, gap), strict=True)), "error": said}


def _sentence(costs: list[Cost], table: pd.DataFrame, case: str) -> str:
    """The comparable design that needs the fewest people, and the designs that cannot be
    compared."""
    alike = table[table["alike"]].sort_values("users_needed")
    other = [cost for cost in costs if cost.about != costs[0].about]
    if len(alike) > 1:
        best, last = alike.iloc[0], alike.iloc[-1]
        more = last["users_needed"] / best["users_needed"] - 1
        said = say.text(
            "For the same questions and targets, **{best}** needs {people}, {case}; **{last}** needs {times}as many.",
            best=best["design"],
            people=wording.users(best["users_needed"]),
            case=case_meaning(case),
            last=last["design"],
            times=say.text("{gap} ", gap=wording.gap(more)) if more > TIE else "",
        )
    else:
        said = say.text(
            "**{name}** needs {people}, {case}.",
            name=costs[0].name,
            people=wording.users(alike["users_needed"].iloc[0]),
            case=case_meaning(case),
        )
    for cost in other:
        said += say.text(
            " The cost of **{name}** cannot be compared with that: it {differs}.",
            name=cost.name,
            differs=_differs(cost.about, costs[0].about),
        )
    return said


def _differs(about: tuple[object, ...], first: tuple[object, ...]) -> str:
    different = ("has other questions or types", "has other targets", "has other people")
    return " and ".join(word for word, a, b in zip(different, about, first, strict=True) if a != b)


def _listed(table: pd.DataFrame, costs: list[Cost]) -> None:
    shown = table.assign(
        types=[wording.magnitude(value) if value == value else "–" for value in table["types"]],
        mechanism=[library.spec(name).title for name in table["mechanism"]],
        users_needed=[wording.needed(value) if value == value else "–" for value in table["users_needed"]],
        users_bound=[wording.minimum(value) if value > 0 else "–" for value in table["users_bound"]],
        gap=[wording.gap(value) if math.isfinite(value) else "–" for value in table["gap"]],
    )
    columns = {
        "design": st.column_config.TextColumn("Design", pinned=True),
        "users_needed": "People needed",
        "users_bound": "Proved minimum",
        "gap": "Of the minimum, at most",
        "error": "Error",
        "epsilon": "Epsilon",
        "mechanism": "Mechanism",
        "questions": "Questions",
        "queries": st.column_config.NumberColumn("Answers", format="localized"),
        "types": "Types",
        "people": st.column_config.NumberColumn("People", format="localized"),
        "target": "Target",
        "reports_per_user": "Reports per person",
    }
    listing.show_table(shown, "The designs side by side.", column_config=columns, column_order=list(columns))
