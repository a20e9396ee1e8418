"""The verdict on a design's answers, in the same words on every page: usable, rough or noise."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import frames, library, verdicts, wording
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.privacy import MAX_EPSILON
from ldp_core.verdicts import MARKS, MEANINGS, Tally
from pages.ui import layout, listing
from pages.ui.controls import guarded
from pages.ui.session.state import Session
from pages.ui.tasks.later import Later
from pages.ui.tasks.task import Stopped
from pages.ui.words import plain

VOCABULARY = "; ".join(f"{MARKS[word]} **{word}**: {meaning}" for word, meaning in MEANINGS.items()) + "."


def counted(state: Session, mechanism: Mechanism, later: Later) -> Tally | None:
    """How many answers of a mechanism are usable on the people of this design; None while that is computed. ValueError with a
    sentence where it takes too long."""
    design = state.setting
    if reason := verdicts.too_large(design.workload):
        raise ValueError(reason)
    errors = later.value(
        ("answer_errors", mechanism.digest, design.workload.digest, design.people_digest),
        "judging the answers",
        mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES,
        lambda cancel: verdicts.standard_errors(mechanism, design.workload, design.counts),
    )
    if errors is None:
        return None
    return verdicts.tally(
        errors,
        design.differences(verdicts.judged_queries(design.workload)),
        design.workload.num_queries,
        design.users,
    )


def headline(state: Session, mechanism: Mechanism, later: Later) -> Tally | None:
    """The verdict as the largest text of the page; says so if judging was stopped. Returns the tally
    if it is known."""
    tally, refused = None, None
    try:
        tally = counted(state, mechanism, later)
    except ValueError as error:
        refused = error
    words = _in_words(state, tally) if refused is None else _of_typical_answer(state, mechanism)
    with st.container(key="verdict"):
        st.markdown(plain(words), help=_meaning(state))
    if isinstance(refused, Stopped):
        layout.instead(refused)
    return tally


def _who(state: Session) -> str:
    return f"with {wording.count(state.setting.users)} people at epsilon {state.configuration.epsilon}"


def _of_typical_answer(state: Session, mechanism: Mechanism) -> str:
    """The verdict on a typical answer, where the answers are not judged one by one."""
    typical = state.setting.summary(mechanism).standard_error_on_data
    verdict = verdicts.verdict(typical, state.setting.difference)
    return f"{wording.capital(_who(state))}, a typical answer is {verdict}: {wording.error(typical)}."


def _in_words(state: Session, tally: Tally | None) -> str:
    """How many answers are usable with the people of this design, and what all would take; None while they are being judged."""
    who = _who(state)
    if tally is None:
        return f"{wording.capital(who)}: the answers are being judged."
    among = "answers" if tally.judged == tally.queries else "answers looked at"
    if tally.usable == tally.judged:
        every = "the only answer is" if tally.judged == 1 else f"all {tally.judged:,} {among} are"
        return f"{wording.capital(who)}, {every} usable."
    needed = verdicts.for_all(tally).removesuffix(" users.").removesuffix(".") + "."
    if not tally.usable:
        return f"No answer is usable {who}. {needed}"
    return f"{wording.capital(who)}, {tally.usable:,} of {tally.judged:,} {among} are usable. {needed}"


def show(state: Session, mechanism: Mechanism) -> None:
    """The verdict; where no answer is usable, what would help."""
    later = Later(state, "verdicts")
    tally = headline(state, mechanism, later)
    later.finish()
    if tally is not None and not tally.usable:
        _what_helps(state, tally)


def _meaning(state: Session) -> str:
    return f"For a target error of {wording.error(state.setting.alpha**0.5)}. {VOCABULARY}"


def _what_helps(state: Session, tally: Tally) -> None:
    """Buttons and links, each with its number."""
    c, design = state.configuration, state.setting
    with st.container(horizontal=True, vertical_alignment="center", key="what-helps"):
        double = f"{2 * c.epsilon_value:g}"
        if 2 * c.epsilon_value <= MAX_EPSILON:
            st.button(
                f"Epsilon {double}",
                key="try-epsilon",
                type="tertiary",
                icon=":material/lock_open:",
                on_click=state.change,
                kwargs={"epsilon": double},
            )
        if not design.on_data and math.isfinite(tally.users_for_all):
            enough = int(wording.needed(tally.users_for_all).replace(",", ""))
            st.button(
                f"Plan with {wording.count(enough)} people", key="try-people", type="tertiary", icon=":material/group_add:", on_click=guarded,
                args=(state, lambda: state.change(
                        population=state.configuration.population.model_copy(update={"users": enough, "origin": "declared"})
                    )),
            )  # fmt: skip
        st.page_link(
            "pages/workload.py",
            label=f"Fewer than {design.workload.num_queries:,} questions",
            icon=":material/quiz:",
        )
        st.page_link(
            "pages/data.py",
            label=f"Fewer than {wording.magnitude(design.domain.size)} types",
            icon=":material/table_rows:",
        )


def judged(state: Session, mechanism: Mechanism, later: Later) -> pd.DataFrame | None:
    """The queries shown with their standard errors, as of `frames.query_errors`; None while they are computed, take too
    long, or is not available, which is said."""
    design = state.setting
    if verdicts.too_large(design.workload):
        return None
    try:
        return later.value(
            ("judged", mechanism.digest, design.naming, design.people_digest),
            "errors of single queries",
            mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES,
            lambda cancel: frames.query_errors(
                [mechanism], design.workload, design.counts, design.labels, cancel=cancel
            ),
        )
    except ValueError as error:
        layout.instead(error)
        return None


def explain(state: Session) -> None:
    """The meaning of the words, below their use."""
    targets = state.setting.targets
    many = isinstance(targets, dict) and len(set(targets.values())) > 1
    target = (
        "Each group of questions has its own target"
        if many
        else f"Target: {verdicts.in_words(state.setting.difference)}"
    )
    st.caption(f"{target}. {VOCABULARY}")


def answers(rows: pd.DataFrame, difference: float | np.ndarray, error: str = "standard_error") -> pd.DataFrame:
    """Each answer with its error in percentage points and its verdict, for people. ``rows`` has ``label`` and the column ``error``."""
    return pd.DataFrame(
        {
            "Question": rows["label"].to_numpy(),
            "± percentage points": (100 * rows[error]).to_numpy(),
            "Verdict": [verdicts.marked(word) for word in verdicts.judge(rows[error], difference)],
        }
    )


def show_answers(rows: pd.DataFrame, difference: float | np.ndarray, error: str = "standard_error") -> None:
    """The table of `answers` on the page."""
    listing.show_table(
        answers(rows, difference, error),
        "What each answer is worth.",
        column_config={
            "Question": st.column_config.TextColumn(width="large"),
            "± percentage points": st.column_config.NumberColumn(format="%.3g"),
        },
    )


def side_by_side(rows: pd.DataFrame, difference: float | np.ndarray) -> pd.DataFrame:
    """A row for each question, and the error in percentage points and the verdict of each mechanism; ``rows`` as of `frames.query_errors`."""
    table = rows[["query"]].assign(
        mechanism=[library.spec(name).title for name in rows["name"]],
        shown=[
            f"{verdicts.marked(word)}, ± {wording.significant(100 * error)}"
            for word, error in zip(
                verdicts.judge(rows["standard_error"], difference), rows["standard_error"], strict=True
            )
        ],
    )
    wide = table.pivot(index="query", columns="mechanism", values="shown")[list(dict.fromkeys(table["mechanism"]))]
    wide.insert(0, "Question", rows.drop_duplicates("query").set_index("query")["label"])
    return wide.reset_index(drop=True)


def counts_in_words(errors: pd.Series, difference: float | np.ndarray) -> str:
    """For a table: "✓ 31 usable, ≈ 12 rough, ✕ 7 noise"."""
    tally = verdicts.tally(errors, difference)
    numbers: Mapping[str, int] = {"usable": tally.usable, "rough": tally.rough, "noise": tally.noise}
    return ", ".join(f"{MARKS[word]} {number:,} {word}" for word, number in numbers.items())
