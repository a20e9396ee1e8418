"""Each theorem as an entry of its own: in words and in mathematics, what it takes to be true, and what it says of this design."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ldp_core import wording
from ldp_core.studies.theorems import Entry
from pages.ui import say
from pages.ui.session.state import Session
from pages.ui.words import people

BINDING = 1.01
"""A bound that the mechanism comes so close to is called binding."""
ATTAINED = 1e-6


def of_kind(state: Session, words: str, entries_of_group: Sequence[Entry]) -> None:
    """The entries of a group that say something here, below ``words`` on what they are."""
    if said := [entry for entry in entries_of_group if not entry.reason]:
        st.markdown(say.plain(words))
        for entry in said:
            _entry(state, entry)


def silent(entries_of_all: Sequence[Entry]) -> None:
    """Why the others do not apply here."""
    others = [entry for entry in entries_of_all if entry.reason]
    if others:
        with st.expander(say.text("Does not apply here ({number})", number=len(others))):
            for entry in others:
                statement = entry.statement
                say.markdown(
                    "- **{title}** ({source}): {reason}",
                    title=statement.title,
                    source=statement.source,
                    reason=entry.reason,
                )


def _entry(state: Session, entry: Entry) -> None:
    statement = entry.statement
    with st.expander(say.text("**{title}**: {value}", title=statement.title, value=_value(state, entry))):
        st.markdown(say.Markdown(statement.words))
        st.latex(say.Markdown(statement.latex))
        if entry.variance is not None:
            st.markdown(say.plain(_here(state, entry)))
        for words in statement.assumptions:
            say.markdown("- {words}", words=say.Markdown(words))
        say.caption("Source: {source}.", source=statement.source)


def _value(state: Session, entry: Entry) -> str:
    """The number of an entry, as on the axis."""
    if entry.variance is None or entry.standard_error is None or entry.users_needed is None:
        return "not worked out yet"
    if entry.variance == 0:
        return "says nothing here (0)"
    order = "of the order of " if entry.statement.order_only else ""
    large = ", once there are enough people" if entry.statement.kind == "large_sample" else ""
    return f"{order}{state.setting.error_scale.in_words(state.setting.in_targets(entry.standard_error))}{large}"


def _here(state: Session, entry: Entry) -> str:
    """The number of a theorem in this design, and the mechanism beside it."""
    if not entry.variance or entry.standard_error is None or entry.users_needed is None:
        return "At this epsilon it allows any error."
    return say.text(
        "With your {people}: {error} for a typical query. For {target}: {needed}. {compared}",
        people=people(state.setting.users),
        error=state.setting.error_scale.in_words(state.setting.in_targets(entry.standard_error)),
        target=state.setting.error_in_words(1.0),
        needed=_users(entry),
        compared=_compared(state, entry),
    )


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
        return say.text(
            "**Exact over formula: {times}** in squared errors, and so in people.", times=wording.significant(ratio)
        )
    if kind == "few_users":
        return say.text(
            "The exact squared error of {title} is **{times}** this, the chance of who takes part included.",
            title=title,
            times=times,
        )
    if abs(ratio - 1) < ATTAINED:
        return say.text("**Binding**: {title} attains it.", title=title)
    if ratio < BINDING:
        return say.text(
            "**Binding**: {title} comes within {share} of it.", title=title, share=wording.share(abs(ratio - 1))
        )
    return say.text(
        "{title} needs **{times}** the people that this allows: it is at most {share} from the best possible.",
        title=title,
        times=times,
        share=wording.share(ratio - 1),
    )
