"""The long work of the Bounds page: averages over populations, begun where that is quick, followed and ended on the page."""

from __future__ import annotations

import streamlit as st

from ldp_core import bounds, wording
from ldp_core.bounds.theorems import frequency
from ldp_core.bounds.theorems.statements import Setting
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.run import Progress
from pages.ui import layout
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, Task
from pages.ui.words import plain


def large_sample(
    state: Session, mechanism: Mechanism, concentration: float | None
) -> Task[dict[str, tuple[float, float]]]:
    """Corollary 4.3 and the efficient estimator for a mechanism: see `frequency.figures_of`."""

    def work(job: Job) -> dict[str, tuple[float, float]]:
        draws = 2 if concentration is None else frequency.affordable_draws(mechanism)
        return frequency.figures_of(mechanism, concentration, draws, **job.followed)

    key = f"large-sample:{mechanism.digest}:{concentration!r}"
    return Task(state, key, "averaging over populations", work, of=("epsilon", "data"), page="Bounds")


def begin(state: Session, mechanism: Mechanism | None, about: Setting) -> Task[dict[str, tuple[float, float]]] | None:
    """The averages over populations of a mechanism, begun where they are quick, whichever tab is open: the picture shows what comes
    of them. None where there are none."""
    if mechanism is None or bounds.STATEMENTS["corollary_frequency"].why_not(about):
        return None
    task = large_sample(state, mechanism, about.concentration)
    if about.workload.n <= AT_ONCE_TYPES and task.result is None and task.job is None:
        task.start()
    return task


def populations(state: Session, mechanism: Mechanism | None, about: Setting) -> None:
    """How far they are, with a button that begins or ends them. What was cancelled keeps its result so far."""
    if (task := begin(state, mechanism, about)) is None:
        return
    running = task.running
    if running is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="running-populations"):
            st.button("Cancel", on_click=running.cancel, key="cancel-populations", icon=":material/stop_circle:")
            layout.live(running, _progress)
    elif task.result is None or task.cut_short:
        if task.error:
            st.error(plain(task.error))
        st.button(
            "Average over populations", on_click=task.start, key="start-populations", icon=":material/play_arrow:"
        )


def _progress(progress: Progress, job: Job) -> None:
    total = progress.max_rounds or 1
    text = f"{progress.round:,} of {total:,}, {wording.duration(job.seconds)}"
    st.progress(min(1.0, progress.round / total), text=text)
