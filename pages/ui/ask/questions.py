"""The state and views of the questions asked one by one on Simulate: the session, the question in progress, and the answers so
far."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ldp_core import wording
from ldp_core.data.domain import Domain
from ldp_core.designs import Setting
from ldp_core.limits import MOST_DESIGNS, MOST_OFFERED_VALUES
from ldp_core.people import dense
from ldp_core.studies import asking
from ldp_core.studies.asking import Asking, Question
from ldp_core.workloads import averageable
from ldp_core.workloads.axes import axes_of
from pages.ui import say
from pages.ui.session.state import Session, counts_column

ROUNDS = 10
KINDS = {
    "condition": "A condition",
    "average": "An average",
    "weights": "Own weights",
}


def session_of(state: Session, design: Setting) -> tuple[Domain, Asking]:
    """The session with the people of this design, and the types that it is about. Once they have been asked it stays as it began,
    whatever else is changed or undone."""
    if (begun := _begun(state).get(_people(state, design))) is not None:
        return begun
    rounds = state.view.get("ask_rounds", ROUNDS)
    return design.domain, Asking(dense(design.counts), design.epsilon, rounds, state.view.get("ask_seed", 0))


def restart(state: Session, design: Setting) -> None:
    """Other people in place of those of this design."""
    state.view.update(ask_begun={key: kept for key, kept in _begun(state).items() if key != _people(state, design)})


def put(state: Session, design: Setting, question: Question) -> None:
    """Ask it. ValueError when no one is left to answer."""
    domain, session = session_of(state, design)
    if not session.answered and len(_begun(state)) >= MOST_DESIGNS:
        raise ValueError(f"At most {MOST_DESIGNS} groups of people are asked: begin a new session with one of those.")
    session.ask(question)
    if len(session.answered) == 1:  # no two sessions share a seed: the next people answer anew
        begun = {**_begun(state), _people(state, design): (domain, session)}
        state.view.update(ask_begun=begun, ask_seed=state.view.get("ask_seed", 0) + 1)


def has_begun(state: Session, design: Setting) -> bool:
    """True if the people of this design have been asked anything."""
    return _people(state, design) in _begun(state)


def _begun(state: Session) -> dict[object, tuple[Domain, Asking]]:
    """The sessions in which something has been asked, by their people."""
    return state.view.get("ask_begun", {})


def _people(state: Session, design: Setting) -> object:
    """Equal for the same people: those in a table, or else those expected of the types."""
    if design.on_data and state.source is not None:
        return state.source.whose, counts_column(state.choice)
    return design.configuration.digest(["domain", "population"])


def question(domain: Domain) -> Question | None:
    """The question that the widgets put together; None, with a sentence about what is wrong, while it is none."""
    averaged = {i: axis.name for i, axis in enumerate(axes_of(domain)) if averageable(axis) and axis.size > 1}
    impossible = {"average": not averaged, "weights": domain.size > MOST_OFFERED_VALUES}
    chosen = st.selectbox(
        "What do you want to know?",
        [kind for kind in KINDS if not impossible.get(kind)],
        format_func=KINDS.__getitem__,
        key="ask-kind",
        persist_state="session",
    )
    try:
        if chosen == "average":
            column = st.selectbox(
                "Attribute",
                list(averaged),
                format_func=averaged.__getitem__,
                key="ask-attribute",
                persist_state="session",
            )
            return asking.average(domain, column)
        if chosen == "weights":
            text = st.text_area(
                say.text("A number from 0 to 1 for each of the {size:,} types", size=domain.size),
                key="ask-weights",
                help="In the order of the types on the Data page. The answer is the mean over all people.",
                persist_state="session",
            )
            return asking.weighted(text, domain.size) if text.strip() else None
        text = st.text_input(
            "The share of people for whom this holds",
            key="ask-condition",
            help="Conditions as on the Workload page, such as age between 30 and 49 and not (sex = male).",
            persist_state="session",
        )
        return asking.condition(domain, text) if text.strip() else None
    except ValueError as error:
        st.error(say.plain(str(error)))
        return None


def _shown(question: Question, value: float) -> str:
    return wording.share(value) if question.is_share else wording.significant(value, 4)


def so_far(session: Asking) -> str:
    """The answers so far, and their errors."""
    last = session.answered[-1]
    low, high = last.interval
    return say.text(
        "**{question}**: {answer}, and between {low} and {high} with a confidence of 95 %, from "
        "{people:,} people. {held:,} of {number:,} intervals hold the truth so far; the largest error is "
        "{points}; at most {points_2} on average is promised.",
        question=last.question.text,
        answer=_shown(last.question, last.value),
        low=_shown(last.question, low),
        high=_shown(last.question, high),
        people=last.answer.users,
        held=session.held,
        number=len(session.answered),
        points=wording.points(session.largest_error),
        points_2=wording.points(session.error_bound),
    )


def table(session: Asking) -> pd.DataFrame:
    """The session for reading, the latest question first."""
    rows = [
        {
            "Round": k,
            "Question": answered.question.text,
            "Answer": _shown(answered.question, answered.value),
            "95 % interval": " to ".join(_shown(answered.question, end) for end in answered.interval),
            "Truth": _shown(answered.question, answered.truth),
            "People": answered.answer.users,
        }
        for k, answered in enumerate(session.answered, start=1)
    ]
    return pd.DataFrame(rows[::-1])
