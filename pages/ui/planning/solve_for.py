"""Two of epsilon, the number of users and the error fix the third, mechanism by mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from ldp_core import analysis, charts, library, verdicts, wording
from ldp_core.limits import MOST_PLAN_SECONDS, MOST_USERS
from ldp_core.run import Progress
from ldp_core.studies import curves, planning
from ldp_core.studies.sweep import BOUNDS
from pages.ui import layout, listing
from pages.ui.compared import offer_fits
from pages.ui.controls import button, control, view_switch, whole_number
from pages.ui.formulas import PLAN
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Job
from pages.ui.words import case_title, cells, plain

SOLVED = {"users": "Users", "standard_error": "Error", "epsilon": "Epsilon"}
ANSWERS = {"users": "Users needed", "standard_error": "Error to expect", "epsilon": "Epsilon needed"}
PROVED = "Proved minimum"
FORMATS = {"users": None, "standard_error": "± %.3g", "epsilon": "%.4g"}
LIMIT = (
    f"The fits share {MOST_PLAN_SECONDS / 60:g} minutes. What is not known then is said, and you can go on from there."
)


def draw(state: Session, case: str, names: Sequence[str]) -> None:
    """The controls, and the answer for these mechanisms in this case. The design's own mechanism is among them, or the answer says
    in bold that it is missing."""
    solved, users = _controls(state)
    if case not in analysis.CASES:
        case = state.setting.even_case
        st.caption(f"Solved for another case than the design's: {case_title(case)}.")
    waiting = state.setting.unfitted(names)
    ready = tuple(name for name in names if name not in waiting)
    # Only epsilon takes fits of its own; otherwise those of the design are used, as on every page.
    with_fits = solved == "epsilon" and state.view.get("plan_fits", False)
    question = work.Question(
        epsilon=None if solved == "epsilon" else state.setting.epsilon,
        users=None if solved == "users" else float(users),
        alpha=None if solved == "standard_error" else state.setting.alpha,
        case=case,
        names=tuple(names) if with_fits else ready,
    )
    work.prove_unasked(state, [case])
    task = work.plan(state, question)
    if task.result is None and task.job is None:  # closed forms take a second at most, and fits were asked for
        task.start()
    running, done = task.running, task.result
    if running is not None:
        button("Cancel and keep these answers", "cancel-plan", "stop_circle", running.cancel)
        layout.live(running, lambda progress, job: _rows(state, solved, progress, job))
    elif task.error:
        st.error(plain(task.error))
    elif done is not None and len(done):
        _answer(state, solved, done)
        if done["reason"].str.startswith(planning.TIME_OVER).any():
            button("Go on", "go-on", "play_arrow", task.start, help=LIMIT)
        if solved != "epsilon":
            _trade_off(state, solved, users, done)
    else:
        st.info("Choose at least one mechanism above.")
    if waiting and not with_fits:
        _missing(state, solved, waiting)
    layout.how_computed(PLAN)


def _controls(state: Session) -> tuple[str, float]:
    """The quantity to solve for, and the number of users."""
    users = state.view.get("plan_users") or state.setting.users
    with layout.controls("plan"):
        solved = view_switch(state, "solved", SOLVED, "Solve for", "epsilon")
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


def _missing(state: Session, solved: str, waiting: Sequence[str]) -> None:
    """The mechanisms that have yet to be fitted, the design's own in bold, and the button that fits
    them."""
    if state.chosen in waiting:
        st.markdown(
            f"**{plain(library.spec(state.chosen).title)}, the mechanism of this design, is not included yet**: it has to be fitted"
            f"{' at several epsilons' if solved == 'epsilon' else ' first'}."
        )

    if solved == "epsilon":
        offer_fits(state, waiting, "include-fits", lambda: state.view.update(plan_fits=True), LIMIT)
    else:
        offer_fits(state, waiting, "include-fits")


def _shown(state: Session, solved: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The plan as a table for people, best first: fewest users, smallest error or smallest epsilon."""
    answers = frame.sort_values(solved, na_position="last", kind="stable")
    table = answers[["name", solved, "reason"]].copy()
    proved = {name: f"{PROVED} ({charts.title(name)})" for name in BOUNDS}
    table["name"] = [proved.get(name) or state.setting.titled(name) for name in table["name"]]
    if solved == "standard_error":
        judged = verdicts.judge(table["standard_error"], state.setting.target)
        table.insert(2, "typical", [verdicts.marked(word) for word in judged])
        table["standard_error"] *= state.setting.scale.times
    if not table["reason"].any():
        table = table.drop(columns="reason")
    return table


def _written(table: pd.DataFrame) -> pd.DataFrame | Styler:
    """Users as in sentences: mechanisms rounded up, bounds down."""
    if "users" not in table:
        return table
    proved = table.index[table["name"].str.startswith(PROVED)]
    return cells(table, users=wording.needed).format(wording.minimum, subset=pd.IndexSlice[proved, ["users"]])


def _table(state: Session, solved: str, frame: pd.DataFrame, name: str) -> None:
    title = ANSWERS[solved]
    if solved == "standard_error":
        title += f" ({plain(state.setting.scale.short)})"
    listing.show_table(
        _written(_shown(state, solved, frame)),
        f"{ANSWERS[solved]}, for each mechanism.",
        key=name,
        column_config={
            "name": "Mechanism",
            solved: st.column_config.NumberColumn(title, format=FORMATS[solved]),
            "typical": "A typical answer is",
            "reason": st.column_config.TextColumn("Note", width="large"),
        },
    )


def _rows(state: Session, solved: str, progress: Progress, job: Job) -> None:
    """Rows as they are computed."""
    layout.counted(progress, job)
    _table(state, solved, progress.found, "live-plan")


def _answer(state: Session, solved: str, frame: pd.DataFrame) -> None:
    """The best mechanism in words, after the design's own where that is another; what is proved; and all of them as a table."""
    known = frame[~frame["name"].isin(BOUNDS)].dropna(subset=[solved]).sort_values(solved, kind="stable")
    best, own = known.head(1), known[known["name"] == state.chosen]
    for row in pd.concat([own, best]).drop_duplicates("name").to_dict("records"):
        st.markdown(f"**{plain(planning.in_words(row, state.setting.error_in_words))}**")
    for row in frame[frame["name"].isin(BOUNDS)].to_dict("records"):
        st.markdown(plain(wording.capital(planning.in_words(row, state.setting.error_in_words))))
    if own.empty and (reason := "".join(frame.loc[frame["name"] == state.chosen, "reason"])):
        st.markdown(
            f"**{plain(library.spec(state.chosen).title)}, the mechanism of this design, has no answer:** {plain(reason)}"
        )
    if best.empty:
        st.info("None of the chosen mechanisms has an answer; the table says why.")
    _table(state, solved, frame, "plan")
    layout.download_table(frame, "plan")


def _trade_off(state: Session, solved: str, users: float, frame: pd.DataFrame) -> None:
    """The error over the number of users at this epsilon: straight lines on log axes."""
    centre = users if solved == "standard_error" else max(frame["users"].min(), 1.0)
    points = curves.errors_over_users(frame, np.geomspace(max(centre / 8, 1), centre * 100, 9).tolist())
    layout.chart(
        lambda look: charts.error_over_users(
            points, state.setting.target if solved == "users" else None, look, state.setting.scale
        ),
        f"At epsilon {state.configuration.epsilon} half the error takes four times the users. No unbiased mechanism reaches the "
        "shaded region.",
        "trade-off",
        points,
    )
