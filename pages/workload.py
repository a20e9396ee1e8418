"""Which questions matter: the set of queries the mechanism is judged by."""

import streamlit as st

from ldp_core.designs import WorkloadRecipe
from ldp_core.workloads import axes_of
from pages.ui import layout
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
    layout.how_computed(
        "A workload is a matrix *W* with one row per query and one column per type; the answers are *W x*. A group with weight *w* has "
        "its rows multiplied by *w*, so its squared errors count *w*² times. Variances and bounds depend on *W* only through "
        "the Gram matrix *G = W'W* (McKenna et al. 2020, Section 2.1), which is known in closed form or as a product over the "
        "attributes for everything but conditions and uploaded matrices. **Rank and singular values** are those of *W*. "
        "**Users any mechanism needs.** The sum of the singular values squared, divided by e^ε, bounds the error of every "
        "mechanism (same paper, Theorem 5.6); sharper are |W1|²/n + |W(I − 11'/n)|²∗ / sinh²(ε/2), and the certificate, which "
        "proves L ≥ tr(CG)² / 1'μ whenever v'CGCv ≤ (1'v)(μ'v) for every two-valued row v (both derived in this project). "
        "**Which queries dominate.** The exact variance of each unbiased answer, with the people of this design; the squares of "
        "the weights are counted in the shares."
    )
