"""A difference to detect: how many people find one of a size, and which one the people of the design find."""

from __future__ import annotations

import streamlit as st

from ldp_core import charts, verdicts, wording
from ldp_core.designs import detecting
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.mechanisms import Mechanism
from pages.ui import later, layout, listing, say
from pages.ui.formulas import DETECTION
from pages.ui.session.state import Session


def draw(state: Session, mechanism: Mechanism) -> None:
    """The controls, the answer in words, and that of every question as a table."""
    setting = state.setting
    key = (
        "detection",
        mechanism.digest,
        setting.workload.digest,
        setting.answers.norm,
        setting.people.digest,
        setting.naming,
    )
    quick = setting.workload.working_types <= AT_ONCE_TYPES
    found = later.value(
        state,
        key,
        "working out what can be detected",
        lambda cancel: detecting.of_design(setting, mechanism),
        "What can be detected is being worked out.",
        quick=quick,
    )
    if found is None:
        return
    table = found.table
    say.markdown("**{sentence}** {meaning}", sentence=found.in_words(), meaning=detecting.MEANING)
    in_units = {
        name: [verdicts.in_unit(x, unit) for x, unit in zip(table[name], table["unit"], strict=True)]
        for name in ("target", "difference")
    }
    shown = table.assign(**in_units).drop(columns="unit")
    layout.chart(
        lambda look: charts.difference_over_users(found.curve, found.expected, look),
        f"The marks are what {wording.plural(found.expected, 'person', 'people')} find, and four times as many: about half the difference.",
        "difference-over-users",
        found.curve,
    )
    listing.show_table(
        shown.style.format({"users_needed": wording.needed, "relative": wording.share}, na_rep="–"),
        f"People needed to find the difference, and the least that {wording.plural(found.expected, 'person', 'people')} of the design find, for each answer.",
        key="detection",
        column_config={
            "name": st.column_config.TextColumn("Answer compared", width=300),
            "target": "To detect",
            "users_needed": "People needed",
            "difference": "Least found",
            "relative": st.column_config.NumberColumn(
                "Of what it is now", help="The least difference found as a share of the answer compared with."
            ),
        },
    )
    layout.download_table(table, "detection")
    layout.how_computed(DETECTION)
