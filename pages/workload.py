"""The questions: the set of queries by which the mechanism is judged."""

import streamlit as st

from ldp_core.designs import WorkloadRecipe
from ldp_core.workloads import axes_of
from pages.ui import layout, say
from pages.ui.controls import button
from pages.ui.data import actions as data_actions
from pages.ui.formulas import WORKLOAD
from pages.ui.workload import groups, parts, results

state = layout.open_page("Workload", "Which questions do you want answered?")
design = layout.need_domain(state, "A workload is a set of questions about types of people, so it needs data first.")
recipe = state.configuration.workload
if recipe is None:
    state.change(workload=WorkloadRecipe.default(design.domain))
    st.rerun()

axes = state.results.cached(("axes", design.domain.model_dump_json()), lambda: axes_of(design.domain))
controls, place = layout.frame()
with controls:
    parts.control_of_tables(state, axes)
    groups.groups(state, design, axes)
with place:
    layout.need_questions(state, design)
    if design.misfit and not design.expensive and not any(groups.misfit_of(part, axes) for part in recipe.parts):
        st.error(say.plain(design.misfit))
    if not design.has_questions:
        st.warning(
            "The questions no longer fit the data. They are kept as they were: change what is marked above, undo the last change, or start "
            "again."
            if not design.expensive
            else say.plain(f"The questions are too many for this server. {design.misfit}")
        )
        ask_default = lambda: state.change(workload=WorkloadRecipe.default(design.domain))  # noqa: E731
        data_actions.unused_columns(state)
        button("Ask the default questions instead", "ask-default", "restart_alt", ask_default)
        layout.end()
    data_actions.unused_columns(state)
    data_actions.coarse_bins(state)
    results.show(state, design, recipe.parts)
    layout.how_computed(WORKLOAD)
