"""Is it better than just asking? A fold of the Design page."""

from __future__ import annotations

import streamlit as st

from ldp_core import detection, wording
from pages.ui import say
from pages.ui.session.state import Session


def break_even(state: Session) -> None:
    """Two sliders and a sentence."""
    with st.expander("Is it better than just asking?"):
        share = st.slider("Yes concerns, in %", 1, 50, 10, key="direct-share", persist_state="session")
        silent = st.slider("Of these would not say so, in %", 5, 100, 50, key="direct-silent", persist_state="session")
        people = detection.break_even(share / 100, silent / 100, state.setting.epsilon)
        say.markdown(
            "For one yes or no, from **{people}** on, private answers beat open ones. Studies disagree on "
            "how many stay silent: Lensvelt-Mulders et al. 2005 found more openness in private, Höglinger "
            "and Jann 2018 also false answers.",
            people=wording.users(people),
        )
