"""Two of epsilon, the number of users and the error fix the third, for the mechanism of the design."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import analysis, charts, library, wording
from ldp_core.limits import MOST_PLAN_SECONDS, MOST_USERS
from ldp_core.studies import curves, planning
from pages.ui import later, layout
from pages.ui.controls import button, control, view_switch, whole_number
from pages.ui.formulas import PLAN
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import case_title, plain

SOLVED = {"users": "Users", "standard_error": "Error", "epsilon": "Epsilon"}
LIMIT = (
    f"The fits share {MOST_PLAN_SECONDS / 60:g} minutes. What is not known then is said, and you can go on from there."
)


def draw(state: Session, case: str) -> None:
    """The controls, and below them what this mechanism comes to, and what none can beat."""
    solved, users = _controls(state)
    if case not in analysis.CASES:
        case = state.setting.even_case
        st.caption(f"Solved for another case than the design's: {case_title(case)}.")
    # Only epsilon takes fits of its own; otherwise that of the design is used, as on every page.
    if solved == "epsilon":
        waits = library.spec(state.setting.chosen).fitted and not state.view.get("plan_fits", False)
    else:
        waits = bool(state.setting.unfitted([state.setting.chosen]))
    if waits:
        when = "at several epsilons" if solved == "epsilon" else "first"
        st.markdown(f"**{plain(library.spec(state.setting.chosen).title)} has to be fitted {when}.**")
    if waits and solved == "epsilon":
        button("Fit and solve", "plan-fits", "play_arrow", lambda: state.view.update(plan_fits=True), help=LIMIT)
    work.prove_unasked(state, [case])
    task = work.plan(
        state,
        epsilon=None if solved == "epsilon" else state.setting.epsilon,
        users=None if solved == "users" else float(users),
        alpha=None if solved == "standard_error" else state.setting.alpha,
        case=case,
        name=None if waits else state.setting.chosen,
    )
    if task.result is None and task.latest is None:
        task.start()
    if (running := task.running) is not None:
        button("Cancel and keep these answers", "cancel-plan", "stop_circle", running.cancel)
        later.show(running, later.counted)
    elif task.error:
        st.error(plain(task.error))
    elif (found := task.result) is not None and len(found):
        found = found.assign(standard_error=found["standard_error"].map(state.setting.in_targets))
        for row in found.to_dict("records"):
            said = plain(wording.capital(planning.in_words(row, state.setting.error_in_words)))
            st.markdown(f"**{said}**" if row["name"] == state.setting.chosen else said)
        if found["reason"].str.startswith(planning.TIME_OVER).any():
            button("Go on", "go-on", "play_arrow", task.start, help=LIMIT)
        if solved != "epsilon":
            _over_users(state, solved, users, found)
    layout.how_computed(PLAN)


def _controls(state: Session) -> tuple[str, float]:
    """The quantity to solve for, and the number of users."""
    users = state.view.get("plan_users") or state.setting.users
    with layout.controls("plan"):
        solved = view_switch("solved", SOLVED, "Solve for", "epsilon")
        if solved != "users":
            control(
                st.text_input,
                "Number of users",
                "plan-users",
                f"{users:,}",
                lambda text: state.view.update(plan_users=whole_number(text, "the number of users", 1, MOST_USERS)),
                help=f"How many people you expect to report; {state.setting.users:,} in this design.",
            )
    return solved, users


def _over_users(state: Session, solved: str, users: float, found: pd.DataFrame) -> None:
    """The error over the number of users at this epsilon: straight lines on log axes."""
    centre = users if solved == "standard_error" else max(found["users"].min(), 1.0)
    points = curves.errors_over_users(found, np.geomspace(max(centre / 8, 1), centre * 100, 9).tolist())
    layout.chart(
        lambda look: charts.error_over_users(points, 1.0 if solved == "users" else None, look, state.setting.scale),
        f"At epsilon {state.configuration.epsilon} half the error takes four times the users. No unbiased mechanism reaches the "
        "shaded region.",
        "error-over-users",
        points,
    )
