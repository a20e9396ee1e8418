"""The verdict on a design's answers, in the same words on every page: usable, rough or noise."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import library, verdicts, wording
from ldp_core.designs.setting import Setting
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from ldp_core.privacy import MAX_EPSILON
from ldp_core.verdicts import MARKS
from pages.ui import layout, listing
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import plain

NAMED = 3
"""Answers that are not usable are named up to this number; the table has all."""


def judged(state: Session, mechanism: Mechanism) -> pd.DataFrame | None:
    """The answers of the design with their errors and verdicts; None while they are computed, take too long, or are not available,
    which is said."""
    design = state.setting
    if verdicts.too_large(design.workload):
        return None
    key = ("judged", mechanism.digest, design.naming, design.people_digest)
    quick = mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES
    errors = layout.once_known(state, key, "judging the answers", quick, lambda cancel: design.answer_errors(mechanism))
    return None if errors is None else design.judged(mechanism)


def headline(state: Session, mechanism: Mechanism) -> pd.DataFrame | None:
    """The verdict as the largest text of the page, and what is not usable. Returns the answers judged, once they are."""
    place = st.container(key="verdict")
    found = judged(state, mechanism)
    design = state.setting
    place.markdown(plain(design.verdict(mechanism, singly=found is not None)), help=explained(state))
    if found is not None and len(lacking := found[found["verdict"] != verdicts.USABLE]):
        names = wording.listed([wording.quoted(label) for label in lacking["label"].head(NAMED)], NAMED)
        more = f" and {len(lacking) - NAMED:,} more" if len(lacking) > NAMED else ""
        st.caption(plain(f"Not usable: {names}{more}."))
    return found


def show(state: Session, mechanism: Mechanism) -> None:
    """The verdict; where no answer is usable, what would help."""
    found = headline(state, mechanism)
    if found is not None and not (found["verdict"] == verdicts.USABLE).any():
        _what_helps(state, mechanism)


def explained(state: Session) -> str:
    """The rule, with the target of this design."""
    return f"Target error: {plain(state.setting.error_in_words(state.setting.target))}. {verdicts.RULE}"


def _what_helps(state: Session, mechanism: Mechanism) -> None:
    """Buttons and links, each with its number; none that cannot help."""
    design = state.setting
    needed = design.users_needed(mechanism, design.case)
    with st.container(horizontal=True, vertical_alignment="center", key="what-helps"):
        epsilon = _epsilon_needed(state) if needed > design.users else None
        if epsilon is not None:
            button(
                f"Epsilon {epsilon}",
                "try-epsilon",
                "lock_open",
                lambda: state.change(epsilon=epsilon),
                type="tertiary",
                help="The least that reaches the target error in a typical answer, as “Solve for” finds it.",
            )
        if not design.on_data and needed > design.users:
            enough = int(wording.needed(needed).replace(",", ""))
            planned = state.configuration.population.model_copy(update={"users": enough, "origin": "declared"})
            label, act = f"Plan with {wording.count(enough)} people", lambda: state.change(population=planned)
            button(label, "try-people", "group_add", act, type="tertiary")
        if (queries := design.workload.num_queries) > 1:
            label = f"Fewer questions (now {queries:,})"
            st.page_link("pages/workload.py", label=label, icon=":material/quiz:")
        if (types := design.domain.size) > 2:
            label = f"Fewer types (now {wording.magnitude(types)})"
            st.page_link("pages/data.py", label=label, icon=":material/table_rows:")


def _epsilon_needed(state: Session) -> str | None:
    """The epsilon that “Solve for” finds for the mechanism of the design; None while that is not known. What has to be fitted for it
    is left to “Solve for”."""
    design, name = state.setting, state.chosen
    task = work.plan(state, None, float(design.users), design.alpha, design.case, name)
    found = task.result
    if found is None and not library.spec(name).fitted:
        with suppress(ValueError):
            found = task.get()
    row = None if found is None else found[found["name"] == name]
    if row is None or row.empty or not row["epsilon"].iloc[0] <= MAX_EPSILON:
        return None
    return wording.rounded_up(float(row["epsilon"].iloc[0]), 3)


def explain(state: Session) -> None:
    """The meaning of the words, below their use."""
    st.caption(explained(state))


def answers(design: Setting, rows: pd.DataFrame) -> pd.DataFrame:
    """Each answer with its error in percentage points, or in a unit of its own, and its verdict, for people. ``rows`` has ``query``,
    ``label`` and ``standard_error``."""
    units = [design.workload.unit(int(query)) for query in rows["query"]]
    own = [
        "" if unit is None else unit.error_in_words(share, design.users)
        for share, unit in zip(rows["standard_error"], units, strict=True)
    ]
    counted = np.array([unit is None for unit in units], dtype=bool)
    found = {
        "Question": rows["label"].to_numpy(),
        "± percentage points": np.where(counted, 100 * rows["standard_error"], np.nan),
        "± in its unit": own,
        "Verdict": [
            verdicts.marked(word) for word in verdicts.judge(rows["standard_error"], design.limits(rows["query"]))
        ],
    }
    left_out = [
        name for name, there in (("± percentage points", counted.any()), ("± in its unit", any(own))) if not there
    ]
    return pd.DataFrame(found).drop(columns=left_out)


def show_answers(state: Session, rows: pd.DataFrame) -> None:
    """The table of `answers` on the page, with what its words mean."""
    listing.show_table(
        answers(state.setting, rows),
        "What each answer is worth.",
        column_config={
            "Question": st.column_config.TextColumn(width="large"),
            "± percentage points": st.column_config.NumberColumn(format="%.3g"),
        },
    )
    explain(state)


def side_by_side(design: Setting, rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each question, and the error in percentage points, or in a unit of its own, and the verdict of each mechanism; ``rows`` as of
    `frames.query_errors`."""
    words = verdicts.judge(rows["standard_error"], design.limits(rows["query"]))
    table = rows[["query"]].assign(
        mechanism=[library.spec(name).title for name in rows["name"]],
        shown=[
            f"{verdicts.marked(word)}, {text}" for word, text in zip(words, design.errors_in_units(rows), strict=True)
        ],
    )
    wide = table.pivot(index="query", columns="mechanism", values="shown")[list(dict.fromkeys(table["mechanism"]))]
    wide.insert(0, "Question", rows.drop_duplicates("query").set_index("query")["label"])
    return wide.reset_index(drop=True)


def counts_in_words(errors: pd.Series, limit: float | np.ndarray) -> str:
    """For a table: "✓ 31 usable, ≈ 12 rough, ✕ 7 noise"."""
    found = list(verdicts.judge(errors, limit))
    return ", ".join(f"{mark} {found.count(word):,} {word}" for word, mark in MARKS.items())
