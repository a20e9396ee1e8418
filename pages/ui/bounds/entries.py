"""Each theorem as an entry of its own: in words and in mathematics, what it takes to be true, and what it says of this design."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ldp_core import wording
from ldp_core.studies.theorems import Entry
from pages.ui.session.state import Session
from pages.ui.words import people, plain

BINDING = 1.01
"""A bound that the mechanism comes so close to is called binding."""
ATTAINED = 1e-6


def of_kind(state: Session, words: str, entries_of_group: Sequence[Entry]) -> None:
    """The entries of a group that say something here, below ``words`` on what they are."""
    if said := [entry for entry in entries_of_group if not entry.reason]:
        st.markdown(words)
        for entry in said:
            _entry(state, entry)


def silent(entries_of_all: Sequence[Entry]) -> None:
    """Why the others do not apply here."""
    others = [entry for entry in entries_of_all if entry.reason]
    if others:
        with st.expander(f"Does not apply here ({len(others)})"):
            for entry in others:
                statement = entry.statement
                st.markdown(f"- **{statement.title}** ({statement.source}): {plain(entry.reason)}")


def _entry(state: Session, entry: Entry) -> None:
    statement = entry.statement
    with st.expander(f"**{statement.title}**: {_number(state, entry)}"):
        st.markdown(statement.words)
        st.latex(statement.latex)
        if entry.variance is not None:
            st.markdown(_here(state, entry))
        st.markdown("\n".join(f"- {words}" for words in statement.assumptions))
        st.caption(f"Source: {statement.source}.")


def _number(state: Session, entry: Entry) -> str:
    """The number of an entry, as on the axis."""
    if entry.variance is None or entry.standard_error is None or entry.users_needed is None:
        return "not worked out yet"
    if entry.variance == 0:
        return "says nothing here (0)"
    order = "of the order of " if entry.statement.order_only else ""
    large = ", once there are enough people" if entry.statement.kind == "large_sample" else ""
    return f"{order}{plain(state.setting.error_scale.in_words(state.setting.in_targets(entry.standard_error)))}{large}"


def _here(state: Session, entry: Entry) -> str:
    """The number of a theorem in this design, and the mechanism beside it."""
    if not entry.variance or entry.standard_error is None or entry.users_needed is None:
        return "At this epsilon it allows any error."
    target = plain(state.setting.error_in_words(1.0))
    users = state.setting.users
    error = plain(state.setting.error_scale.in_words(state.setting.in_targets(entry.standard_error)))
    return f"With your {people(users)}: {error} for a typical query. For {target}: {_users(entry)}. {_compared(state, entry)}"


def _users(entry: Entry) -> str:
    """People needed, rounded so that it stays true: a lower bound down, others up."""
    if entry.users_needed is None or entry.users_needed == float("inf"):
        return "never, whatever the number of people"
    if entry.statement.kind in ("impossible", "large_sample"):
        return wording.at_least(entry.users_needed)
    return wording.users(entry.users_needed)


def _compared(state: Session, entry: Entry) -> str:
    ratio, kind = entry.ratio, entry.statement.kind
    if entry.statement.order_only:
        return "As its constant is not known, nothing can be compared with it."
    if ratio is None:
        return "There is no exact error of a mechanism to compare it with."
    title = state.setting.titled(state.configuration.mechanism.name)
    times = f"{wording.significant(ratio)} times"
    if kind == "prediction":
        return f"**Exact over formula: {wording.significant(ratio)}** in squared errors, and so in people."
    if kind == "few_users":
        return f"The exact squared error of {title} is **{times}** this, the chance of who takes part included."
    if abs(ratio - 1) < ATTAINED:
        return f"**Binding**: {title} attains it."
    if ratio < BINDING:
        return f"**Binding**: {title} comes within {wording.share(abs(ratio - 1))} of it."
    return f"{title} needs **{times}** the people that this allows: it is at most {wording.share(ratio - 1)} from the best possible."
