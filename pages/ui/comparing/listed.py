"""The mechanisms of a comparison as tables: all their figures, and what every mechanism was made for."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from ldp_core import frames, library, mechanisms, wording
from ldp_core.papers import league
from pages.ui import layout, listing, say
from pages.ui.session.state import Session
from pages.ui.words import weighting


def figures(state: Session, table: pd.DataFrame, ready: Mapping[str, mechanisms.Mechanism]) -> None:
    """People needed and errors of each mechanism that is ``ready``, from the ``table`` of the
    comparison."""
    columns = {
        "name": st.column_config.TextColumn("Mechanism", width="medium"),
        "paper_name": st.column_config.TextColumn("In the papers", width="medium"),
        "users_needed": st.column_config.NumberColumn(
            "People needed", help="Until every question meets its target, in the case chosen above."
        ),
        "gap": st.column_config.NumberColumn(
            "Of the minimum, at most",
            help="People needed as a multiple of what the best bound allows, in the same case.",
        ),
    }
    listed = table[[name for name in columns if name != "paper_name"]].copy()
    listed["paper_name"] = [library.spec(n).paper_name for n in listed["name"]]
    listed["name"] = [
        f"{state.setting.titled(n)} {about}".strip() for n, about in zip(table["name"], table["about"], strict=True)
    ]
    listed["gap"] = listed["gap"].replace(math.inf, math.nan)  # where the bound says nothing, there is no gap
    height = listing.height_for([*listed["name"], *listed["paper_name"]])
    listing.show_table(
        listed.style.format({"gap": wording.gap, "users_needed": wording.needed}, na_rep="–"),
        "The mechanisms side by side.",
        column_config=columns,
        row_height=height,
    )
    layout.download_table(table, "comparison")
    say.caption("{weights}", weights=weighting(state.configuration))
    if any(mechanism.delta > 0 for mechanism in ready.values()):
        st.caption(
            "Mechanisms with an (epsilon, delta) guarantee promise less than pure epsilon, so they may need fewer people than the "
            "bounds allow others; they have no gap here."
        )
    if any(library.spec(name).continuous for name in table["name"]):
        titles = [library.spec(name).title for name in table["name"] if library.spec(name).continuous]
        say.caption("{titles}: {caveat}", titles=", ".join(titles), caveat=mechanisms.FLOATING_POINT)


def catalogue(state: Session) -> None:
    """Every mechanism, folded away."""
    design = state.setting
    fold = layout.fold(
        "Every mechanism: what it was made for, what it costs, and where it cannot run", "every-mechanism"
    )
    if fold is None:
        return
    with fold:
        every = frames.catalogue(design.domain.size, design.epsilon, design.workload)
        listing.show_table(
            every,
            "What every mechanism was made for, and what it costs.",
            column_config={
                "mechanism": "Mechanism",
                "in_the_papers": "In the papers",
                "made_for": "Made for",
                "note": "Note for this design",
                "privacy": "Privacy",
                "bits_a_report": "Bits a report",
                "user_computes": "A person's device computes",
                "collector_computes": "The collector computes",
                "source": "Source",
            },
        )
        layout.download_table(every, "mechanisms")
        say.caption(
            "n is the number of types, p the number of queries. An empty note means that it can run on this "
            "design. In real numbers only: {caveat}",
            caveat=mechanisms.FLOATING_POINT,
        )


def show_league() -> None:
    """The table, and where its numbers come from."""
    frame = league.read()
    with st.container(key="league-table"):
        listing.show_words(
            league.table(frame),
            f"People needed on {league.TYPES:d} types, as multiples of the proved minimum; the number after each workload is epsilon.",
        )
    layout.download_table(frame, "league", of_design=False)
    say.caption(
        "{meaning} Every mechanism has its usual parameters; of the trees, two more oracles are shown. "
        "Empty where a mechanism cannot run. These results are stored: they were worked out with this project's mechanisms.",
        meaning=league.MEANING,
    )
