"""The recommended mechanism, with reasons, among all that need no fit or are fitted."""

from __future__ import annotations

import streamlit as st

from ldp_core import library, verdicts, wording
from ldp_core.limits import UNASKED_TYPES
from pages.ui import layout, listing
from pages.ui.compared import use
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import cells, gap_in_words, plain


def draw(state: Session) -> None:
    """The recommendation; it is computed at once if that takes a few seconds."""
    users = state.view.get("plan_users") or state.setting.users
    task = work.recommendation(state, users)
    about = (state.setting.workload.digest, state.setting.epsilon, users, state.setting.alpha)
    asked = state.setting.working_types <= UNASKED_TYPES or state.view.get("recommended") == about
    if task.result is None and task.job is None and asked:
        task.start()

    def start() -> None:
        state.view["recommended"] = about
        task.start()

    recommended = task.result
    if recommended is None:
        if task.error:
            st.error(plain(task.error))
        elif task.running is not None:
            st.caption("All mechanisms that need no fit, and those already fitted, are being compared.")
        else:
            button(
                "Recommend a mechanism (about 30 s)",
                "recommend",
                "recommend",
                start,
                help="Compares all mechanisms that need no fit, and those already fitted, by their exact errors.",
            )
        return
    if state.setting.unfitted([state.chosen]):
        st.markdown(
            f"**{plain(library.spec(state.chosen).title)}, the mechanism of this design, is not included yet**: it has to be "
            "fitted first."
        )
    first, *rest = recommended.sentences
    st.markdown(f"**{plain(first)}**")
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in rest))
    if recommended.name is not None and recommended.name != state.chosen:
        label = f"Use {library.spec(recommended.name).title} in this design"
        button(label, "use-recommended", "check", use, state, recommended.name)
    ranking = recommended.ranking.copy()
    ranking["name"] = [state.setting.titled(name) for name in ranking["name"]]
    ranking["standard_error"] *= state.setting.scale.times
    ranking["typical"] = ranking["typical"].map(verdicts.marked)
    listing.show_table(
        cells(ranking, gap=gap_in_words, users_needed=wording.needed),
        "The simplest of all mechanisms within 5 % of the fewest users: closed forms first, then short reports.",
        column_config={
            "name": "Mechanism",
            "users_needed": st.column_config.NumberColumn("Users needed", help="Worst case."),
            "bits": st.column_config.NumberColumn("Bits a report", format="%,.0f"),
            "gap": st.column_config.NumberColumn("Gap, at most", help="More users than the bound allows."),
            "fitted": "Fitted",
            "pure": "Pure epsilon",
            "user_cost": "A user computes",
            "collector_cost": "The collector computes",
            "standard_error": st.column_config.NumberColumn(
                f"± with your users ({plain(state.setting.scale.short)})",
                format="%.3g",
                help=f"With {wording.plural(users, 'user')}, worst case.",
            ),
            "typical": "A typical answer is",
            "note": "Note",
        },
    )
    layout.download_table(recommended.ranking, "recommendation")
