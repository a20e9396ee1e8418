"""Strategy matrices that an analyst brings along: uploaded, audited, and one of the mechanisms from then on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from ldp_core import designs, library, wording
from ldp_core.designs import SuppliedTable
from ldp_core.designs.supplied_tables import SUPPLIED_TABLES, name_for
from ldp_core.library.table_strategies import find
from ldp_core.limits import MOST_FITTED_TYPES, MOST_MATRIX_BYTES, MOST_SUPPLIED_CHARACTERS, MOST_SUPPLIED_ENTRIES
from ldp_core.mechanisms import Mechanism
from pages.ui import layout, listing
from pages.ui.controls import UNCHANGED, button, control, take_file
from pages.ui.session.state import Session
from pages.ui.words import gap_in_words, plain


def supplied_tables(
    state: Session, ready: Mapping[str, Mechanism], failed: Mapping[str, ValueError], case: str
) -> None:
    """A fold with the supplied matrices: their figures beside the mechanisms that are ``ready``, or
    why there are none, and an uploader for another."""
    fold = layout.fold("Bring your own mechanism: a strategy matrix from a file", "own-matrices")
    if fold is None:
        return
    with fold:
        if state.setting.domain.size > MOST_FITTED_TYPES:
            st.caption(
                f"Strategy matrices are taken for at most {MOST_FITTED_TYPES:,} types: use coarser bins to compare one."
            )
        else:
            _upload(state)
        held = state.configuration.own
        if not held:
            return
        rows = [_row(state, supplied, ready, failed, case) for supplied in held]
        listing.show_words(pd.DataFrame(rows), "Your own mechanisms, audited in exact arithmetic.")
        with layout.actions("own"):
            for supplied in held:
                label, key = f"Remove {plain(supplied.name)}", f"remove-own-{supplied.look}"
                button(label, key, "delete", _remove, state, supplied, type="tertiary")


def _row(
    state: Session, supplied: SuppliedTable, ready: Mapping[str, Mechanism], failed: Mapping[str, ValueError], case: str
) -> dict[str, str]:
    mechanism = ready.get(supplied.mechanism)
    return {
        "Mechanism": supplied.name,
        "Reports": f"{supplied.reports:,}",
        "Epsilon": wording.rounded_up(supplied.epsilon, 6),
        "Users needed": "–" if mechanism is None else wording.needed(state.setting.users_needed(mechanism, case)),
        "Gap, at most": "–" if mechanism is None else gap_in_words(state.setting.gap(mechanism, case)),
        "Your questions": _answers(state, supplied),
        "In this design": _standing(state, supplied, mechanism is not None, failed.get(supplied.mechanism)),
    }


def _answers(state: Session, supplied: SuppliedTable) -> str:
    """True if it can answer the questions of the design, and why not."""
    workload, matrix = state.setting.workload, find(supplied.mechanism)
    if matrix is None or supplied.types != workload.n:
        return "No: it is for other types."
    key = ("own supports", supplied.mechanism, workload.digest)
    reason = state.results.cached(key, lambda: matrix.at_its_own_epsilon().supports(workload) or "")
    return f"No. {reason}" if reason else "It can answer them."


def _standing(state: Session, supplied: SuppliedTable, ready: bool, failed: ValueError | None) -> str:
    epsilon = state.setting.epsilon
    if reason := library.spec(supplied.mechanism).unsuitable(
        state.setting.domain.size, epsilon, state.setting.workload
    ):
        return f"Left out. {reason}"
    if failed:
        return f"Left out. {failed}"
    if supplied.mechanism not in state.setting.side_by_side:
        return "It is not among the mechanisms compared."
    if not ready:
        return "Its cost is being computed."
    least = wording.rounded_up(supplied.epsilon, 6)
    if float(least) < epsilon:
        return f"It takes part with epsilon {least}, less than the {state.configuration.epsilon} you allow."
    return "It takes part."


def _upload(state: Session) -> None:
    """A file is read at once: the uploader forgets it when the page changes."""
    types, held = state.setting.domain.size, state.configuration.own
    control(
        st.text_input,
        "Name (optional)",
        "own-name",
        state.view.get("own_name", ""),
        lambda text: state.view.update(own_name=text),
        help="Its name in every picture and table. Left empty, the name of the file.",
    )

    def take(file: Any) -> None:
        name = state.view.get("own_name", "").strip() or name_for(file.name, held)
        _add(state, SuppliedTable.from_file(file.getvalue(), name, held, types, state.setting.labels))

    take_file(
        state,
        "own",
        f"One row per report, one column for each of the {types:,} types",
        take,
        UNCHANGED,
        type=["csv", "txt", "tsv", "npy", "npz"],
        max_upload_size=MOST_MATRIX_BYTES // 1_000_000,
        help="Each number is how likely people of that type send that report, so every column sums to 1. A file with a row for each "
        "type, where rows sum to 1, is turned round.",
    )
    st.caption(
        f"It is kept in this design and its file. A design holds at most {SUPPLIED_TABLES}, each of at most "
        f"{MOST_SUPPLIED_ENTRIES:,} numbers, and {MOST_SUPPLIED_CHARACTERS / 1e6:g} MB of them all together, packed."
    )


def _add(state: Session, supplied: SuppliedTable) -> None:
    compared = tuple(dict.fromkeys((*state.setting.in_comparison, supplied.mechanism)))
    state.change(own=(*state.configuration.own, supplied), compared=compared)
    state.view.pop("own_name", None)


def _remove(state: Session, supplied: SuppliedTable) -> None:
    state.change(**designs.without_own(state.configuration, supplied.mechanism))
