"""The proof of what no mechanism can beat: begun, tightened or stopped by a button, in the same words on every page."""

from __future__ import annotations

import streamlit as st

from ldp_core import wording
from pages.ui import say
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.tasks import work


def controls(state: Session, case: str) -> None:
    """The button that proves a bound in this case, or a tighter one, or ends the search and keeps what it has found. A search that takes
    seconds is begun here."""
    work.prove_unasked(state, [case])
    proof, proving = state.setting.proof(case), work.certificate(state, case)
    if (running := proving.running) is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="proving"):
            st.caption("A tighter bound is being proved.")
            button("Stop, and keep what is proved", "cancel-proof", "stop_circle", running.stop)
    elif proof is None or not proof.finished:
        seconds = wording.duration(state.setting.search_seconds)
        help = f"Searches in the background for a certificate of what no mechanism can beat, for up to {seconds}."
        button("Prove a tighter bound", "prove", "verified", work.start_certificate, state, case, help=help)
    say.error("{error}", error=proving.error)
