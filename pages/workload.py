"""Which questions matter: the set of queries the mechanism is judged by."""

import streamlit as st

from ldp_core.designs import WorkloadRecipe
from ldp_core.workloads import axes_of
from pages.ui import layout
from pages.ui.formulas import WORKLOAD
from pages.ui.session.state import Complete
from pages.ui.tasks.later import Later
from pages.ui.words import plain
from pages.ui.workload import figures, groups

state = layout.open_page(
    "Workload", "Choose the questions you want answered about everybody; the mechanism is judged by them."
)
design = layout.need_domain(state, "A workload is a set of questions about types of people, so it needs data first.")
recipe = state.configuration.workload
if recipe is None:
    state.change(workload=WorkloadRecipe.default(design.domain))
    st.rerun()

axes = state.cached(("axes", design.domain.model_dump_json()), lambda: axes_of(design.domain))
controls, results = layout.frame()
with controls:
    groups.groups(state, design, axes)
with results:
    layout.need_questions(state, design)
    if not isinstance(design, Complete):
        st.warning(
            "The questions no longer fit the data. They are kept as they were: mend or remove the groups marked above, "
            "undo the last change, or start again."
            if not design.dear
            else plain(f"The questions are too many for this server. {design.misfit}")
        )
        st.button(
            "Ask the default questions instead",
            key="ask-default",
            on_click=lambda: state.change(workload=WorkloadRecipe.default(design.domain)),
            icon=":material/restart_alt:",
        )
        st.stop()
    later, parts = Later(state), recipe.parts
    figures.metrics(later, state, design)
    figures.hardness(later, state, design)
    figures.matrix(later, state, design, parts)
    figures.dominating(later, state, design, parts)
    figures.singular_values(later, state, design)
    later.finish()
    layout.how_computed(WORKLOAD)
