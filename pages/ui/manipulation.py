"""Sentences about the effect of forged reports on the answers of a design: on Export before the
collection, on Collect after it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from ldp_core import analysis, wording
from ldp_core.deploy.collector import Manipulation
from ldp_core.mechanisms import Mechanism
from ldp_core.workloads import Workload
from pages.ui import layout
from pages.ui.session.state import Session
from pages.ui.tasks import collecting
from pages.ui.words import people, plain

QUICK_ENTRIES = 2**20
"""Queries times types that are gone through while a page is drawn."""


def show(state: Session, mechanism: Mechanism, workload: Workload, labels: Sequence[str], users: int) -> None:
    """The sentences, once they are known."""
    chosen = analysis.judged_queries(workload)
    manipulation = layout.once_known(
        state,
        ("manipulation", mechanism.digest, workload.digest),
        "finding what forged reports can do",
        len(chosen) * mechanism.cost_dimension(workload) <= QUICK_ENTRIES,
        lambda cancel: collecting.forged(mechanism, workload, cancel),
        "How far a forged report moves answers is being worked out.",
        "How far a forged report moves answers cannot be told.",
        small=True,
    )
    if manipulation is not None:
        _told(manipulation, workload, labels, users)
    st.caption(
        "Nobody can be kept from sending a report of their choice: let each person send one, with an id that counts once."
    )


def _told(manipulation: Manipulation, workload: Workload, labels: Sequence[str], users: int) -> None:
    moved, worst = manipulation.farthest, manipulation.worst
    reach = float(manipulation.reach.max(initial=0.0))
    if not math.isfinite(reach):
        st.markdown(
            "A report of this mechanism has no limits: one that is forged can move every answer as far as its sender likes."
        )
        return
    if reach == 0:
        st.markdown("No report moves any of the answers: they are the same whoever reports what.")
        return
    own = float(manipulation.honest[manipulation.reach.argmax()])
    among = (
        ""
        if len(manipulation.queries) == workload.num_queries
        else f" Of the answers, {len(manipulation.queries):,} were looked at."
    )
    st.markdown(
        f"One forged report can move the answer to **{plain(workload.query_name(moved, labels))}** by at most "
        f"**{_persons(reach)}** (an honest report adds at most {_persons(own)} on average), and the other answers no farther."
    )
    number, share = manipulation.reports(users), manipulation.share(users)
    enough = (
        f"Forged reports of **{wording.share(share)}** of people, {wording.count(number)} of {people(users)}, move"
        if number <= users
        else f"More forged reports than there are people, {wording.count(number)} against {people(users)}, would move"
    )
    st.markdown(
        f"{enough} the worst answer, **{plain(workload.query_name(worst, labels))}**, by one standard error; the others take as many or "
        f"more.{among}"
    )


def _persons(number: float) -> str:
    shown = wording.significant(number)
    return f"{shown} {'person' if shown == '1' else 'people'}"
