"""Synthetic people: a joint model of all columns of a survey, and rows to download."""

from __future__ import annotations

import streamlit as st

from ldp_core import wording
from ldp_core.limits import MOST_DRAWN_PEOPLE
from ldp_core.run import Progress
from ldp_core.studies import synthetic
from ldp_core.workloads import Survey, axes_of
from pages.ui import layout
from pages.ui.session.state import Session
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.synthetic import joint_model
from pages.ui.words import people, plain


def show(state: Session) -> None:
    """The section, where the chosen mechanism collects tables of a survey."""
    try:
        made = state.mechanism(state.chosen)
    except ValueError:
        return
    design = state.setting
    if (
        made is None
        or (mechanism := made.split or made.scrambled) is None
        or (survey := design.workload.survey) is None
    ):
        return
    layout.heading("A joint model, and synthetic people")
    st.markdown(
        "The estimated tables can be put together to a model of all columns at once. Its answers are never negative and agree with each "
        "other, and people can be drawn from it. It is made from reports alone: where people sent them, the same epsilon covers it."
        + (
            " Where strategies of their own make the errors of a table differ from one direction to another, it goes by their mean."
            if mechanism.split is not None
            else ""
        )
    )
    if reason := synthetic.unsuitable(mechanism, survey):
        st.info(plain(reason))
        return
    task = joint_model(state, mechanism, survey)
    if (running := task.running) is not None:
        layout.live(running, _fitting)
        st.button(
            "Stop, and keep the model so far",
            on_click=running.cancel,
            key="cancel-joint",
            icon=":material/stop_circle:",
        )
        return
    if task.error:
        st.error(plain(task.error))
    synthetic_people = task.result
    if synthetic_people is None:
        st.button("Fit a joint model", on_click=task.start, key="fit-joint", icon=":material/hub:")
        st.caption("It takes the reports of one simulated collection, and about half a minute the first time.")
        return
    _errors(survey, synthetic_people)
    number = min(design.users, MOST_DRAWN_PEOPLE)
    layout.download_table(
        lambda: synthetic.rows(
            synthetic_people.model, axes_of(design.domain), number, state.configuration.simulation.seed
        ),
        "synthetic_people",
        label=f"{people(number)}, synthetic (CSV)",
        key="synthetic",
        type="secondary",
    )
    st.caption(
        "Nobody has these values: every row is drawn from the model, and marked as synthetic. What the tables do not tell, the model makes "
        "up as evenly as it can; do not look for people, rare combinations or causes in it."
    )


def _fitting(progress: Progress, job: Job) -> None:
    st.markdown(f"Round {progress.round:,}, {wording.duration(progress.seconds)} so far.")


def _errors(survey: Survey, synthetic_people: synthetic.Synthetic) -> None:
    model, row = synthetic_people.model, layout.metrics("joint")
    row.metric(
        "Unbiased answers",
        wording.error(synthetic_people.unbiased),
        help="Typical error of the estimates as they come.",
    )
    row.metric(
        "Joint model",
        wording.error(synthetic_people.modelled),
        help="Typical error of the model's answers to the same questions.",
    )
    if synthetic_people.beyond is not None:
        row.metric(
            "One column more",
            wording.error(synthetic_people.beyond),
            help="Typical error of the model's tables over one column more than was asked about: nothing was measured there.",
        )
    sets = sum(len(members) > 1 for members in model.followed)
    st.markdown(
        f"In one simulated collection (root mean square over all queries, as shares of all users). The model follows the tables of "
        f"{len(model.sizes)} columns and of {sets:,} of {len(model.measured):,} sets of several, which say more than their noise and form a "
        "tree. Its answers are biased towards evenness; about sets that were not asked for, it says what follows from that alone."
        + (
            " Here the unbiased answers are closer to the truth."
            if synthetic_people.modelled > synthetic_people.unbiased
            else ""
        )
        + (
            ""
            if model.stopped == "converged"
            else " The fit was stopped early: it follows its tables less closely than it could."
        )
    )
