"""The effects of the Workload page on the design: groups of questions are added, changed and
removed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from ldp_core.designs import WorkloadRecipe
from ldp_core.limits import MOST_JSON_BYTES
from ldp_core.workloads import Axis, HistogramPart, KWayMarginalsPart, WorkloadPart, over_attributes, tables_limit
from pages.ui import say
from pages.ui.controls import control
from pages.ui.session.state import Session
from pages.ui.workload.kinds import made, usable


def put(state: Session, parts: Sequence[WorkloadPart], gone: int | None = None) -> None:
    """Make these the groups (undoable); ``gone`` is the place of the one that is removed or becomes another kind. Entries
    refused in other groups stay on screen. ValueError with a sentence; then nothing has changed."""
    recipe = made(WorkloadRecipe, parts=tuple(parts))
    size = len(state.configuration.with_(workload=recipe).to_json())
    if size > MOST_JSON_BYTES and size > len(state.configuration.to_json()):
        raise ValueError(
            f"With these questions the design would take {size / 1e6:.1f} MB as a file, and files of at most "
            f"{MOST_JSON_BYTES // 1_000_000} MB can be saved and loaded; ask fewer of them."
        )
    refused, shorter = dict(state.invalid), len(parts) < len(parts_of(state))
    state.change(workload=recipe)
    for key, entry in refused.items():
        match = re.fullmatch(r"group-(\d+)-(.+)", key)
        if match and int(match[1]) != gone:
            place = int(match[1]) - (shorter and gone is not None and int(match[1]) > gone)
            state.invalid[f"group-{place}-{match[2]}"] = entry


def parts_of(state: Session) -> tuple[WorkloadPart, ...]:
    return state.configuration.parts


def replace(state: Session, i: int, part: WorkloadPart) -> None:
    """Group i becomes ``part``, unless it has been removed since it was drawn."""
    parts = parts_of(state)
    if i < len(parts):
        put(state, [*parts[:i], part, *parts[i + 1 :]], i if part.kind != parts[i].kind else None)


def remove(state: Session, i: int) -> None:
    parts = parts_of(state)
    put(state, [*parts[:i], *parts[i + 1 :]], i)


def checked(part: WorkloadPart, axes: Sequence[Axis]) -> WorkloadPart:
    """``part`` itself. ValueError with a sentence where it does not fit the attributes, or asks for too many or too large tables."""
    over_attributes([part], axes)
    return part


def add(state: Session, part: WorkloadPart, axes: Sequence[Axis]) -> None:
    """One group more, which must fit the attributes. It is open where the others are a list."""
    put(state, [*parts_of(state), checked(part, axes)])
    state.view["added"] = len(parts_of(state)) - 1


TITLES = {1: "Every column", 2: "Every pair", 3: "Every triple"}


def control_of_tables(state: Session, axes: Sequence[Axis]) -> None:
    """Buttons for the attributes in the questions; nothing for a single attribute."""
    most = len(usable("marginals", axes))
    if most < 2:
        return
    control(
        st.pills,
        "Tables of counts",
        "every-tables",
        _tables_in(parts_of(state), axes),
        lambda chosen: _ask_tables(state, chosen, axes),
        options=[k for k in TITLES if k <= most],
        format_func=TITLES.get,
        selection_mode="multi",
        help="How many people have each value, each pair and each triple of values. Press again to remove it.",
    )
    say.caption("{limit}", limit=tables_limit(axes))


def _tables_in(parts: Sequence[WorkloadPart], axes: Sequence[Axis]) -> list[int]:
    """The k of which every table is asked: in one question, or every column in one of its own."""
    found = {part.k for part in parts if isinstance(part, KWayMarginalsPart)} & set(TITLES)
    single = {part.attribute for part in parts if isinstance(part, HistogramPart)}
    return sorted(found | {1} if single.issuperset(usable("marginals", axes)) else found)


def _ask_tables(state: Session, chosen: Sequence[int], axes: Sequence[Axis]) -> None:
    """Make these the tables of every k attributes, and leave all other questions as they are."""
    before = parts_of(state)
    gone = set(_tables_in(before, axes)) - set(chosen)
    kept = [
        part
        for part in before
        if not (isinstance(part, KWayMarginalsPart) and part.k in gone)
        and not (isinstance(part, HistogramPart) and 1 in gone)
    ]
    new = [checked(KWayMarginalsPart(k=k), axes) for k in sorted(set(chosen).difference(_tables_in(kept, axes)))]
    if not kept and not new:
        raise ValueError("Please keep at least one kind of questions: choose others first.")
    put(state, [*kept, *new], next((i for i, part in enumerate(before) if part not in kept), None))
