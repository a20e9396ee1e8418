"""Questions one by one, each asked knowing the answers to those before: Bassily's adaptive session on simulated people."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import charts, limits, wording
from pages.ui import layout, listing, say
from pages.ui.ask import questions
from pages.ui.controls import button, control, whole_number
from pages.ui.session.state import Session
from pages.ui.words import people

NO_UNDO = (
    "Each person belongs to one round and answers once, with all of their epsilon. Taking a question back would not take back what "
    "they reported, and asking again would spend epsilon twice. A question that is refused costs nothing."
)


def draw(state: Session, controls: DeltaGenerator) -> None:
    """The next question among the ``controls`` of the page, and the answers so far."""
    design = layout.need_domain(state, "Choose data first: this needs people to ask.")
    layout.need(
        design if questions.has_begun(state, design) or design.domain.size <= limits.MOST_TRANSFORMED_TYPES else None,
        f"Questions one by one are for at most {limits.MOST_TRANSFORMED_TYPES:,} types here; there are {wording.magnitude(design.domain.size)}. "
        "Use fewer attributes, or coarser bins.",
        "pages/data.py",
        "Change the data",
    )
    domain, session = questions.session_of(state, design)
    with controls:
        control(
            st.text_input,
            "Rounds",
            "ask-rounds",
            str(session.rounds),
            lambda text: state.view.update(
                ask_rounds=whole_number(text, "the number of rounds", 1, limits.MOST_SESSION_ROUNDS)
            ),
            help="How many questions the people are split over. More rounds leave fewer people to answer each.",
            disabled=bool(session.answered),
        )
        question = questions.question(domain)
        with layout.actions():
            first = {"type": "primary", "disabled": question is None or not session.remaining, "help": NO_UNDO}
            button("Ask", "ask-put", "send", questions.put, state, design, question, **first)
            if session.answered:
                help = "Others are simulated. The answers of these people go."
                button(
                    "New session, new people", "ask-restart", "restart_alt", questions.restart, state, design, help=help
                )
    row = layout.metrics("ask")
    say.metric(row, "Rounds left", f"{session.remaining:,} of {session.rounds:,}")
    say.metric(row, "People per round, about", wording.count(session.users / session.rounds))
    say.metric(
        row,
        "Error of one share, about",
        f"± {wording.significant(100 * session.expected_error)} pp",
        "In percentage points: one standard error of a share of all people, from the people of one round.",
    )
    if session.epsilon != design.epsilon or domain != design.domain:
        say.info(
            "These people are being asked about {columns} at epsilon {epsilon:g}, as when they were first "
            "asked; the design as it is now needs new people.",
            columns=wording.listed([axis.name for axis in domain.attributes]),
            epsilon=session.epsilon,
        )
    if not session.remaining:
        st.info("Everybody has answered. A new session needs new people.")
    if session.answered:
        layout.chart(
            lambda look: charts.session_answers(session.answered, look),
            questions.so_far(session),
            "asked",
            session.transcript,
        )
        listing.show_table(
            questions.table(session), "Questions and answers. A collector never sees the truth.", key="ask-table"
        )
    else:
        say.info(
            "Nothing has been asked yet. About {people} of {population}, drawn at random, answer each round.",
            people=people(round(session.users / session.rounds)),
            population=design.population,
        )
    layout.how_computed(
        say.text(
            "With {people:,} people in {rounds:,} rounds the largest error of all answers stays below "
            "{points} on average over sessions (Bassily 2019, bound (20) in the proof of Theorem 5.2, for "
            "queries between 0 and 1). Each person is in one round. Asked about a query $q$ with values from "
            "0 to 1, a person of type $v$ sends a plus with probability $\\frac{{1}}{{E+1}} + "
            "q_v\\,\\frac{{E-1}}{{E+1}}$, with $E = e^\\varepsilon$, else a minus (Bassily 2019, Algorithm 6, "
            "with queries centred at one half: a quarter of the variance). The share of pluses gives the "
            "answer, without bias. Intervals are those of Clopper and Pearson for that share, and hold the "
            "truth in at least 19 of 20 sessions.",
            people=session.users,
            rounds=session.rounds,
            points=wording.points(session.error_bound),
        )
    )
