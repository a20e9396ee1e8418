"""Tables of every attribute, of every two and of every three: one press each."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ldp_core.workloads import Axis, KWayMarginalsPart, tables_limit
from pages.ui.controls import control
from pages.ui.session.state import Session
from pages.ui.words import plain
from pages.ui.workload.choice import checked, parts_of, put
from pages.ui.workload.kinds import usable

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
        [part.k for part in parts_of(state) if isinstance(part, KWayMarginalsPart) and part.k in TITLES],
        lambda chosen: _ask(state, chosen, axes),
        options=[k for k in TITLES if k <= most],
        format_func=TITLES.get,
        selection_mode="multi",
        help="How many people have each value, each pair and each triple of values. Press again to remove it.",
    )
    if limit := tables_limit(axes):
        st.caption(plain(limit))


def _ask(state: Session, chosen: Sequence[int], axes: Sequence[Axis]) -> None:
    """Make these the tables of every k attributes, and leave all other questions as they are."""
    before = parts_of(state)
    kept = [p for p in before if not (isinstance(p, KWayMarginalsPart) and p.k in TITLES and p.k not in chosen)]
    there = {part.k for part in kept if isinstance(part, KWayMarginalsPart)}
    new = [checked(KWayMarginalsPart(k=k), axes) for k in sorted(chosen) if k not in there]
    if not kept and not new:
        raise ValueError("Please keep at least one kind of questions: choose others first.")
    put(state, [*kept, *new], next((i for i, part in enumerate(before) if part not in kept), None))
