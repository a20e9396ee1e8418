"""Sentences about the effect of forged reports on the answers of a design: on Export before the
collection, on Collect after it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from ldp_core import analysis, verdicts, wording
from ldp_core.deploy.collector import Manipulation
from ldp_core.mechanisms import Mechanism
from ldp_core.workloads import Line, Workload
from pages.ui import later, say
from pages.ui.session.state import Session
from pages.ui.tasks import collecting
from pages.ui.words import people

QUICK_ENTRIES = 2**20
"""Queries times types that are gone through while a page is drawn."""


def show(state: Session, mechanism: Mechanism, workload: Workload, users: int) -> None:
    """The sentences, once they are known."""
    lines = analysis.questionnaire_of(workload).lines
    answers = sum(len(analysis.judged_queries(line.workload)) for line in lines)
    found = later.value(
        state,
        ("manipulation", mechanism.digest, [line.workload.digest for line in lines]),
        "finding what forged reports can do",
        lambda cancel: collecting.forged(mechanism, lines, cancel),
        "How far a forged report moves answers is being worked out.",
        "How far a forged report moves answers cannot be told.",
        quick=answers * mechanism.cost_dimension(workload) <= QUICK_ENTRIES,
        small=True,
    )
    if found is not None:
        _describe(lines, found, users)
    st.caption(
        "Nobody can be kept from sending a report of their choice: let each person send one, with an id that counts once."
    )


def _describe(lines: Sequence[Line], found: Sequence[Manipulation], users: int) -> None:
    each = [(line, effect, *_moved(line, effect, users)) for line, effect in zip(lines, found, strict=True)]
    farthest = {one[0].key: one for one in sorted(each, key=lambda one: one[2])}.values()  # of each unit
    if not all(math.isfinite(reach) for *_, reach, _ in farthest):
        st.markdown(
            "A report of this mechanism has no limits: one that is forged can move every answer as far as its sender likes."
        )
        return
    if not any(reach for *_, reach, _ in farthest):
        st.markdown("No report moves any of the answers: they are the same whoever reports what.")
        return
    moves = [
        say.text(
            "the answer to **{query}** by at most **{error}** (an honest report by at most {size} on average)",
            query=line.workload.query_name(effect.farthest),
            error=verdicts.in_unit(reach, line.key),
            size=wording.significant(honest),
        )
        for line, effect, reach, honest in farthest
    ]
    looked_at = sum(len(effect.queries) for effect in found)
    several = looked_at > len(moves)
    say.markdown(
        "One forged report can move {moves}{others}.",
        moves=say.listed(moves),
        others=", and the other answers no farther" if several else "",
    )
    line, worst, *_ = min(each, key=lambda one: one[1].share(users))
    number, share = worst.reports(users), worst.share(users)
    enough = (
        say.text(
            "Forged reports of **{share}** of people, {number} of {people}, move",
            share=wording.share(share),
            number=wording.count(number),
            people=people(users),
        )
        if number <= users
        else f"More forged reports than there are people, {wording.count(number)} against {people(users)}, would move"
    )
    every = sum(one.workload.num_queries for one in lines) == looked_at
    say.markdown(
        "{enough} the worst answer, **{query}**, by one standard error{others}. {among}",
        enough=enough,
        query=line.workload.query_name(worst.worst),
        others="; the others take as many or more" if several else "",
        among="" if every else f"Of the answers, {looked_at:,} were looked at.",
    )


def _moved(line: Line, effect: Manipulation, users: int) -> tuple[float, float]:
    """How far a forged report moves the answer that it moves most, and an honest one on average, in the unit of the question."""
    each, k = line.unit.factor / (1 if line.unit.total else users), effect.reach.argmax()
    return each * float(effect.reach[k]), each * float(effect.honest[k])
