"""People needed over epsilon and over the number of types: what is computed, how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ldp_core import charts, library, limits
from ldp_core.run import Progress
from ldp_core.studies import sweep
from pages.ui import later, layout, say
from pages.ui.controls import button, control
from pages.ui.design import trade_off
from pages.ui.later import Work
from pages.ui.session.state import Session
from pages.ui.tasks import work


def tab(state: Session, over: str, case: str) -> None:
    """People needed over epsilon or over the number of types, filling in live; cheap mechanisms come first. Points that are known are drawn at once."""
    task, column = work.sweep(state, over), "epsilon" if over == "epsilon" else "n"
    running, done = task.running, task.result
    if running is not None:
        button("Cancel and keep these points", f"cancel-{over}", "stop_circle", running.cancel)
        later.show(running, partial(_filling, state, over))
        return
    known = pd.DataFrame()
    if over == "size":
        try:
            known = work.left_out_of_sizes(state)
        except ValueError as error:
            st.info(say.plain(str(error)))
            return
    if done is not None and len(done.points):
        layout.chart(
            lambda look: _chart(state, done.points, over, look),
            _sentence(state, done.points, column),
            f"over-{over}",
            done.points,
        )
    elif over == "epsilon":
        trade_off.compared(state, case)
    over_time = done is not None and (done.left_out["reason"] == sweep.TIME_OVER).any()
    say.error("{error}", error=task.error)
    if task.cut_short:
        st.info("You stopped this sweep: the points that were computed are kept.")
    if done is None or task.cut_short or over_time:
        _start(state, over, _in_words(column, _grid(state, over, known)))
    if done is None:
        _say_without_points(known, column, "What will be left out")
    else:
        _say_without_points(done.left_out, column, "Left out")


def _start(state: Session, over: str, places: str) -> None:
    """The button that starts a sweep, and where it is computed."""
    button(
        "Fit every mechanism over epsilon" if over == "epsilon" else "Compute over the domain size",
        f"sweep-{over}",
        "play_arrow",
        lambda: work.sweep(state, over).start(),
        help=f"People needed in the worst case at {places}, for the compared mechanisms and all bounds; fitted ones are fitted at "
        f"each point. It takes {limits.MOST_SWEEP_SECONDS / 60:g} minutes at most; press again to go on.",
    )
    with st.expander("Where it is computed"):
        control(
            st.text_input,
            "Address of a Dask scheduler (optional)",
            f"scheduler-{over}",
            state.view.get("scheduler", ""),
            partial(_compute_at, state),
            placeholder="tcp://10.0.0.5:8786",
            help="Left empty, this machine computes. The numbers are the same.",
        )


def _sentence(state: Session, frame: pd.DataFrame, over: str) -> str:
    """The mechanism that needs the fewest people, and the range in which it does; where the design's own is missing, in bold."""
    rows = frame[~frame["name"].isin(sweep.BOUNDS)]
    rounded = rows["users_needed"].map(lambda users: float(f"{users:.6g}"))  # ties go to the first by name
    winners = rows.loc[rounded.groupby(rows[over]).idxmin()] if len(rows) else rows
    parts = [
        f"{library.spec(name).title} at {_in_words(over, group[over])}"
        for name, group in winners.groupby("name", sort=False)
    ]
    if not parts:
        return "Bounds come first, mechanisms follow."
    without = sorted(set(frame[over]) - set(frame.loc[frame["name"] == state.setting.chosen, over]))
    words = say.text("Fewest people: {parts}.", parts="; ".join(parts))
    if without:
        words += say.text(
            " **{title}, the mechanism of this design, is missing at {places}.**",
            title=library.spec(state.setting.chosen).title,
            places=_in_words(over, without),
        )
    return words + f" {trade_off.BROKEN}" if over == "epsilon" else words


def _chart(state: Session, frame: pd.DataFrame, over: str, look: charts.Theme) -> go.Figure:
    if over == "epsilon":
        named, theorems = frame["name"].unique(), _theorems(state, frame)
        return charts.users_over_epsilon(frame, state.setting.epsilon, None, named, look, theorems)
    return charts.users_over_size(frame, state.setting.domain.size, look)


def _theorems(state: Session, frame: pd.DataFrame) -> pd.DataFrame:
    """The papers' theorems over the same range of epsilon; Theorem 5.1 follows from the averages of the design's own mechanism."""
    rows = frame[frame["name"] == state.setting.named(state.setting.chosen)]
    averages = dict(zip(rows["epsilon"], rows["average_variance"], strict=True))
    at = frame["epsilon"].unique() if len(frame) else np.zeros(0)
    between = np.geomspace(at.min(), at.max(), trade_off.CURVE_POINTS) if len(at) > 1 else at
    return trade_off.theorem_lines(state, np.union1d(at, between).tolist(), averages)


def _filling(state: Session, over: str, progress: Progress, running: Work) -> None:
    """A sweep as its points come in."""
    later.bar(progress, running)
    if len(points := progress.found.points):
        say.markdown("**{title}**", title=layout.CHART_TITLES[f"over-{over}"])
        layout.picture(_chart(state, points, over, layout.look()), "", "People needed, filling in")


def _grid(state: Session, over: str, known: pd.DataFrame) -> Sequence[float]:
    """The epsilons, or those numbers of types at which something will be computed."""
    if over == "epsilon":
        return sweep.EPSILONS
    everything = len(sweep.BOUNDS) + len(state.setting.side_by_side)
    return [n for n in sweep.SIZES if not len(known) or (known["n"] == n).sum() < everything]


def _in_words(column: str, places: Iterable[float]) -> str:
    """Places of a sweep with their unit: "epsilon 0.5, 1" or "8, 16 types"."""
    listed = ", ".join(f"{place:,g}" for place in places)
    return f"epsilon {listed}" if column == "epsilon" else f"{listed} types"


def _say_without_points(frame: pd.DataFrame, column: str, label: str) -> None:
    """The missing figures of a sweep, and the reasons."""
    if not len(frame):
        return
    reasons = frame.groupby(["name", "reason"], sort=False)[column].apply(list)
    with st.expander(say.plain(label)):
        for (name, reason), places in reasons.items():
            title = charts.title(name) if name in sweep.BOUNDS else library.spec(name).title
            say.markdown(
                "- {title} at {places}: {reason}", title=title, places=_in_words(column, places), reason=reason
            )


def _compute_at(state: Session, address: str) -> None:
    """Another scheduler: what was said of the one before is not about it."""
    state.view.update(scheduler=address.strip())
    for over in ("epsilon", "size"):
        if (latest := work.sweep(state, over).latest) is not None:
            latest.error = ""
