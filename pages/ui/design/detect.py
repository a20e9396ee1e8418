"""A difference to detect: how many people find one of a size, and which one the people of the design find."""

from __future__ import annotations

import streamlit as st
from pydantic import ValidationError

from ldp_core import wording
from ldp_core.designs import detecting
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from pages.ui import layout, listing
from pages.ui.controls import control, number
from pages.ui.formulas import DETECTION
from pages.ui.session.state import Session
from pages.ui.words import cells, plain

ASKED = {
    "difference": ("Difference (percentage points)", "the difference", "0.01 to 100; 5 is common"),
    "power": ("Power (%)", "the power", "50 to 99.99; 80 is common"),
    "level": ("Level (%)", "the level", "0.01 to 50; 5 is common"),
}
"""What can be asked for: how it is called on screen and in sentences, and which numbers are taken."""


def draw(state: Session, mechanism: Mechanism) -> None:
    """The controls, the answer in words, and that of every question as a table."""
    with layout.controls("detect"):
        difference, power, level = (_asked(state, name) for name in ASKED)
    setting = state.setting
    key = ("detection", mechanism.digest, setting.workload.digest, setting.people_digest, setting.naming)
    quick = setting.workload.working_types <= AT_ONCE_TYPES
    found = layout.once_known(
        state,
        key,
        "working out what can be detected",
        quick,
        lambda cancel: detecting.of_design(setting, mechanism),
        "What can be detected is being worked out.",
    )
    if found is None:
        return
    table = found.table(difference, power, level)
    st.markdown(f"**{plain(found.in_words(table, difference, power, level))}** {plain(detecting.MEANING)}")
    shown = table.assign(difference=100 * table["difference"])
    listing.show_table(
        cells(shown, users_needed=wording.needed, difference=wording.significant),
        f"People needed for {wording.points(difference)}, and the least difference that {wording.plural(found.expected, 'person', 'people')} "
        "of the design find, for each answer.",
        key="detection",
        column_config={
            "name": st.column_config.TextColumn("Answer compared", width="large"),
            "users_needed": "People needed",
            "difference": "Least difference (pp)",
        },
    )
    layout.download_table(table, "detection")
    layout.how_computed(DETECTION)


def _asked(state: Session, name: str) -> float:
    """One of `ASKED`, typed in per cent, as a share."""
    label, what, taken = ASKED[name]
    asked = state.configuration.detection
    now: float = getattr(asked, name)

    def commit(text: str) -> None:
        share = number(text.strip().removesuffix("%"), what) / 100
        try:
            changed = type(asked)(**{**asked.model_dump(), name: share})
        except ValidationError:
            raise ValueError(f"Please give {what} from {taken}.") from None
        state.change(detection=changed)

    control(st.text_input, plain(label), f"detect-{name}", f"{100 * now:.6g}", commit)
    return now
