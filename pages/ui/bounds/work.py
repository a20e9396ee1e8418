"""The long work of the Bounds page, each kind as a `Task`, and how it is begun, followed and ended on the page."""

from __future__ import annotations

from typing import Any, TypeVar

import streamlit as st

from ldp_core import wording
from ldp_core.bounds.theorems import frequency
from ldp_core.mechanisms import Mechanism
from pages.ui import layout
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.task import Task
from pages.ui.words import plain

T = TypeVar("T")


def large_sample(
    state: Session, mechanism: Mechanism, concentration: float | None
) -> Task[dict[str, tuple[float, float]]]:
    """Corollary 4.3 and the efficient estimator for a mechanism: see `frequency.figures_of`."""

    def work(job: Job) -> dict[str, tuple[float, float]]:
        draws = 2 if concentration is None else frequency.affordable_draws(mechanism)
        return frequency.figures_of(mechanism, concentration, draws, **job.followed)

    key = f"large-sample:{mechanism.digest}:{concentration!r}"
    return Task(state, key, "averaging over populations", work, of=("epsilon", "data"), page="Bounds")


def worked_out(task: Task[T], key: str, label: str, unasked: bool) -> T | None:
    """The result of a task, begun ``unasked`` where that is quick, else with a button; while it
    runs, how far it is. A cancelled computation keeps its result so far."""
    if unasked and task.result is None and task.job is None:
        task.start()
    running = task.running
    if running is not None:
        with st.container(horizontal=True, vertical_alignment="center", key=f"running-{key}"):
            st.button("Cancel", on_click=running.cancel, key=f"cancel-{key}", icon=":material/stop_circle:")
            layout.live(running, _progress)
    elif task.result is None or task.cut_short:
        if task.error:
            st.error(plain(task.error))
        st.button(label, on_click=task.start, key=f"start-{key}", icon=":material/play_arrow:")
    return task.result


def _progress(progress: Any, job: Job) -> None:
    total = progress.max_rounds or 1
    st.progress(
        min(1.0, progress.round / total),
        text=f"{progress.round:,} of {total:,}, {wording.duration(job.seconds)}",
    )
