"""Questions one by one, each asked knowing the answers to those before: Bassily's adaptive session on simulated people."""

import streamlit as st

from ldp_core import charts, limits, wording
from pages.ui import ask, layout, listing
from pages.ui.ask import so_far
from pages.ui.controls import control, guarded, whole_number
from pages.ui.words import people

state = layout.open_page(
    "Ask",
    "Ask the people of your design one thing after the other, and decide what to ask next once you know the answers.",
)
design = layout.need_domain(state, "This page needs people to ask: a domain with the values they can have.")
layout.need(
    design if design.domain.size <= limits.MOST_TRANSFORMED_TYPES else None,
    f"Questions one by one are for at most {limits.MOST_TRANSFORMED_TYPES:,} types here; there are {wording.magnitude(design.domain.size)}. Use fewer "
    "attributes, or coarser bins.",
    "pages/data.py",
    "Change the data",
)

session = ask.session_of(state, design)
controls, results = layout.frame()
with controls:
    control(
        st.text_input,
        "Rounds",
        "ask-rounds",
        str(ask.rounds(state)),
        lambda text: ask.restart(
            state, rounds=whole_number(text, "the number of rounds", 1, limits.MOST_SESSION_ROUNDS)
        ),
        help="How many questions the people are split over. More rounds leave fewer people to answer each.",
        disabled=bool(session.asked),
    )
    question = ask.question(state, design)
    with layout.actions():
        st.button(
            "Ask",
            on_click=guarded,
            args=(state, ask.put, state, design, question),
            key="ask-put",
            type="primary",
            icon=":material/send:",
            disabled=question is None or not session.remaining,
        )
        if session.asked:
            st.button(
                "New session, new people",
                on_click=ask.restart,
                args=(state,),
                key="ask-restart",
                icon=":material/restart_alt:",
                help="These people have answered what they can. A new session simulates others.",
            )
        with st.popover("Why there is no undo"):
            st.markdown(
                "Every person belongs to one round and answers once, with all of their epsilon. Taking a question back would not take "
                "back what its people have told, and asking them again would spend epsilon twice. A question that is refused costs nothing."
            )
    if not session.remaining:
        st.info("Everybody has answered. A new session needs new people.")

with results:
    per_round = session.users / session.rounds
    row = layout.metrics("ask")
    row.metric("Rounds left", f"{session.remaining:,} of {session.rounds:,}")
    row.metric("People per round, about", wording.count(per_round))
    row.metric(
        "Error of one share, about",
        f"± {wording.significant(100 * session.expected_error)} pp",
        help="In percentage points: one standard error of an answer that is a share of all people, from the people of one round.",
    )
    if session.asked:
        layout.chart(
            lambda look: charts.asked(session.asked, look),
            so_far(session),
            "asked",
            session.transcript,
        )
        listing.show_table(ask.table(session), "What was asked, and what was answered.", key="ask-table")
        st.caption(
            "A collector may tell what the download holds: questions, answers and intervals. The truth on screen comes from the people "
            "simulated here; no collector sees it."
        )
    else:
        st.info(
            f"Nothing has been asked yet. Each of the {session.rounds:,} rounds is answered by about {people(round(per_round))} of "
            f"{design.population}, drawn at random."
        )
    layout.how_computed(
        f"With {session.users:,} people in {session.rounds:,} rounds the largest error of all answers stays below "
        f"{wording.points(session.error_bound)} on average over sessions (Bassily 2019, bound (20) in the proof of Theorem 5.2, for "
        "queries between 0 and 1). "
        "Every person is in one round. Asked about a query $q$ with values from 0 to 1, a person of type $v$ sends a plus with "
        r"probability $\frac{1}{E+1} + q_v\,\frac{E-1}{E+1}$, with $E = e^\varepsilon$, else a minus (Bassily 2019, Algorithm 6, with "
        "queries centred at one half: a quarter of the variance). The share of pluses gives the answer, without bias; intervals are "
        "those of Clopper and Pearson for that share, and hold the truth in at least 19 of 20 sessions."
    )
