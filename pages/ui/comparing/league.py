"""The league of mechanisms: a table that is stored, and computed again on request."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ldp_core import wording
from ldp_core.papers import league
from ldp_core.run import Progress
from pages.ui import layout, listing
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job, Task
from pages.ui.words import plain


def task(state: Session) -> Task[pd.DataFrame]:
    """The league computed in the background; a part of it is not kept."""

    def work(job: Job) -> pd.DataFrame | None:
        frame = league.compute(job.followed["callback"], job.cancelled)
        return None if job.cancelled() else frame

    return Task(state, league.KEY, "working out the league", work, page="Compare", expected=league.SECONDS)


def show(state: Session) -> None:
    """The table, where its numbers come from, and the button that works them out again."""
    long = task(state)
    running, table = long.running, long.result
    with layout.actions("league"):
        if running is not None:
            st.button("Cancel", on_click=running.cancel, key="league-cancel", icon=":material/stop_circle:")
        else:
            st.button(
                "Work it out again",
                on_click=long.start,
                key="league-compute",
                icon=":material/play_arrow:",
                help=f"About {wording.duration(league.SECONDS)}, in the background. The page goes on meanwhile.",
            )
    if long.error:
        st.error(plain(long.error))
    if running is not None:
        layout.live(running, _progress)
    frame = league.read() if table is None else table
    with st.container(key="league-table"):
        listing.show_words(
            league.table(frame),
            f"Users needed on {league.TYPES:d} types, as multiples of the proved minimum; the number after each workload is epsilon.",
        )
    layout.download_table(frame, "league", of_design=False)
    origin = "These are stored results of the same calculation." if table is None else "Worked out just now."
    st.caption(
        f"{league.MEANING} Every mechanism has its usual parameters; of the trees, two more oracles are shown. Empty where a mechanism cannot "
        f"run. {origin}"
    )


def _progress(progress: Progress, job: Job) -> None:
    done, of = progress.round, progress.max_rounds or 1
    st.progress(min(1.0, done / of), text=f"{done:,} of {of:,} figures, {wording.duration(job.seconds)} so far")
