"""The common parts of a group of theorems: the proof in progress, and the pictures and tables that test them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ldp_core import bounds, charts, wording
from ldp_core.bounds.theorems import few_users
from ldp_core.bounds.theorems.statements import Setting
from ldp_core.designs.certificate_file import Written
from ldp_core.limits import AT_ONCE_TYPES, MOST_DRAWN_VALUES, UNASKED_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.studies import theorems
from pages.ui import layout, listing, proving
from pages.ui.bounds import subject as page
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Task
from pages.ui.words import people, plain

ALGORITHMS = {
    "gaussian": "Gaussian noise (2)",
    "rejection": "Rejection sampling (4)",
    "histogram": "Projected Hadamard response (5)",
}


def elsewhere(state: Session, exact: float | None) -> str:
    """The people that predictions are about, where the design is for others; with the ``exact`` variance of its mechanism there."""
    if state.setting.only_case or state.setting.case == state.setting.even_case:
        return ""
    title, known = state.setting.titled(state.chosen), ""
    if exact is not None:
        known = f", for whom {title} has {state.setting.error_in_words(page.on_axis(state, exact)['standard_error'])}"
    return f"Predictions are averages over people spread evenly over the types{known}."


def certificate(state: Session) -> None:
    """The proof of what no mechanism can beat, begun where it is quick."""
    case = state.setting.case
    work.prove_unasked(state, [case])
    proving.controls(state, case)
    proof = state.setting.proof(case)
    if proof is not None and (files := _quickly_written(state, case)) is not None:
        layout.download(
            "Download the proof (zip)",
            files.zipped,
            "ldp-proof.zip",
            "application/zip",
            "download-proof",
            help="The numbers that prove the certificate, and a script that checks them with NumPy alone, without this program.",
        )


def _quickly_written(state: Session, case: str) -> Written | None:
    """The proof of a case as files, where writing them does not keep the page waiting."""
    return state.setting.written(case) if state.setting.working_types <= UNASKED_TYPES // 2 else None


def singular_values(state: Session) -> None:
    """The singular values in the SVD bound, if they can be drawn."""
    workload = state.setting.workload
    if min(workload.n, workload.num_queries) > MOST_DRAWN_VALUES:
        return
    try:
        values = workload.singular_values()
    except ValueError:
        return
    with st.expander("The singular values that the SVD bounds add up"):
        layout.chart(
            lambda look: charts.singular_values(workload, look),
            f"The {len(values):,} singular values add up to {wording.significant(values.sum(), 4)}. The SVD bound is about the "
            "square of that sum.",
            "bounds-singular-values",
            lambda: pd.DataFrame({"rank": range(1, len(values) + 1), "singular_value": values}),
        )


def switches(about: Setting, scale: wording.Scale) -> None:
    """Where projecting starts to pay, and on which side the users are."""
    layout.heading("Where projecting starts to pay")
    p, rows = about.workload.squared_weights, []
    rows_of_switches = theorems.switches(about)
    for row in rows_of_switches:
        size = row.bound
        kept = row.algorithm == "rejection" and not row.own
        reports = f"about {wording.count(row.reports)} kept" if kept else people(row.reports)
        rows.append(
            {
                "Algorithm": ALGORITHMS[row.algorithm] + (", your noise" if row.own else ""),
                "Projected": _error(size.projected, p, scale),
                "Not projected": _error(size.unprojected, p, scale),
                "Answering 0": _error(size.trivial, p, scale),
                "Switch at": wording.users(row.below),
                "Here": f"{reports}: {'project' if row.projects else 'do not'}",
            }
        )
    listing.show_table(
        pd.DataFrame(rows), "Errors with and without projecting, and where to switch.", key="bounds-switches"
    )
    sides = {row.projects for row in rows_of_switches}
    side = (
        "below all of these numbers: projecting is better"
        if sides == {True}
        else "above all of these numbers: the plain answers are better"
        if sides == {False}
        else "on different sides of them"
    )
    st.caption(
        f"Your {people(about.users)} are {side}, by the bounds on the error of a typical query that Bassily 2019 "
        "proves for Algorithms 2, 4 and 5. Algorithm 5 projects always; its number is from the "
        "proof. Rejection sampling counts the vectors that are kept. On the Simulate page projections can be chosen among the estimates."
    )


def _error(length: float, queries: float, scale: wording.Scale) -> str:
    """The error of a typical query, from the length of the vector of all errors."""
    return f"± {wording.significant(scale.times * length / queries**0.5)} {scale.short}"


def corrected_lemma(about: Setting) -> None:
    """The step of the proof of Theorem 3.2 that does not hold, and what takes its place."""
    n = about.workload.n
    with st.expander("The lemma of the proof of Theorem 3.2, corrected"):
        st.markdown(
            "How large is the largest of $n$ standard normal numbers, apart from its sign? The printed proof takes"
        )
        st.latex(r"\mathbb E \max_j \lvert g_j \rvert \le \sqrt{\ln n}, \quad\text{which is false; true is}\quad"
                 r" \mathbb E \max_j \lvert g_j \rvert \le \sqrt{2 \ln (2 n)}")  # fmt: skip
        st.markdown(
            f"With your {wording.magnitude(n)} types: printed {wording.significant(few_users.largest_normal(n, 'paper'))}, true mean "
            f"**{wording.significant(few_users.mean_largest_normal(n))}**, corrected bound "
            f"{wording.significant(few_users.largest_normal(n))}. Lemma 2.2 in turn is generous: its factor 4 can be 2. Together "
            "the corrected bound is never above the printed one, so the theorem stands."
        )


def begin_averages(
    state: Session, mechanism: Mechanism | None, about: Setting
) -> Task[dict[str, tuple[float, float]]] | None:
    """The averages over populations of a mechanism, begun where they are quick, whichever tab is open: the picture shows what comes
    of them. None where there are none."""
    if mechanism is None or bounds.STATEMENTS["corollary_frequency"].reason(about):
        return None
    task = work.large_sample(state, mechanism, about.concentration)
    if about.workload.n <= AT_ONCE_TYPES and task.result is None and task.job is None:
        task.start()
    return task


def populations(state: Session, mechanism: Mechanism | None, about: Setting) -> None:
    """How far they are, with a button that begins or ends them. What was cancelled keeps its result so far."""
    if (task := begin_averages(state, mechanism, about)) is None:
        return
    running = task.running
    if running is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="running-populations"):
            button("Cancel", "cancel-populations", "stop_circle", running.cancel)
            layout.live(running, layout.counted)
    elif task.result is None or task.cut_short:
        if task.error:
            st.error(plain(task.error))
        button("Average over populations", "start-populations", "play_arrow", task.start)
