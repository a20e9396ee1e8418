"""Which questions matter: the set of queries the mechanism is judged by."""

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import charts, wording, workloads
from ldp_core.deploy import WorkloadRecipe
from pages.ui import frame
from pages.ui.controls import control
from pages.ui.text import plain

state = frame.open_page(
    "Workload", "Choose the questions you want answered about everybody; the mechanism is judged by them."
)
frame.need(
    state.design(),
    "A workload is a set of questions about types of people, so it needs data first.",
    "pages/data.py",
    "Choose or declare data",
)

recipe = state.configuration.workload or WorkloadRecipe(kind="histogram")
size = state.design().domain.size
kinds = workloads.kinds_for(size)


def choose(kind: str, **parameters: int) -> None:
    needed = workloads.parameter(kind, size)
    if needed is not None:
        parameters = {needed.name: needed.default, **parameters}
    state.change(workload=WorkloadRecipe(kind=kind, parameters=parameters))


left, right = st.columns([1, 2], gap="large")
with left:
    control(
        st.radio,
        "Questions",
        "workload-kind",
        recipe.kind,
        choose,
        options=kinds,
        format_func=lambda kind: workloads.ON_TYPES[kind].title,
        captions=[workloads.ON_TYPES[kind].meaning for kind in kinds],
    )
    if needed := workloads.parameter(recipe.kind, size):
        control(
            st.number_input,
            needed.label,
            f"workload-{needed.name}",
            recipe.parameters.get(needed.name, needed.default),
            lambda value: choose(recipe.kind, **{needed.name: int(value)}),
            min_value=needed.low,
            max_value=needed.high,
            step=1,
        )
    if recipe.kind in ("all_marginals", "k_way_marginals", "parity"):
        st.caption(
            f"The {size:,} types are read as {size.bit_length() - 1} yes-or-no attributes x1, x2, ..., the first type being all no."
        )
    if state.configuration.workload is None:
        state.change(workload=recipe)
        st.rerun()

design = state.design()
workload = design.workload
attribute = design.domain.attributes[0]
with left:
    st.metric(
        "Queries (p)", f"{workload.num_queries:,}", help="Numbers that will be estimated, each a count of people."
    )
    if recipe.kind in ("prefix", "all_range", "width_range"):
        if attribute.kind == "categorical" and not attribute.ordered:
            st.warning(
                "These categories have no natural order, so sums along them depend on the alphabet. Histogram asks about "
                "each category on its own."
            )
        elif attribute.size > len(attribute.labels) - ("other" in attribute.outside) - (
            attribute.missing == "category"
        ):
            st.caption("The types (other) and (missing) stand at the end of the order.")

with right:
    examples = [workload.query_name(int(q), design.labels) for q in np.linspace(0, workload.num_queries - 1, 3)]
    named = ", ".join(f"**{plain(name)}**" for name in dict.fromkeys(examples))
    rows = f"Each row is one of {workload.num_queries:,} queries, filled where it counts a type"
    thinned = " (evenly thinned for the picture)" if workload.num_queries > 512 else ""
    frame.chart(
        lambda look: charts.workload_matrix(workload, design.labels, look),
        f"{rows}{thinned}. Examples: {named}.",
        "workload",
        lambda: pd.DataFrame({"query": [workload.query_name(i, design.labels) for i in range(workload.num_queries)]}),
    )
    values = workload.singular_values()
    first = max(1, len(values) // 10)
    share = float(values[:first].sum() / values.sum())
    largest = f"The {first} largest hold" if first > 1 else "The largest holds"
    frame.chart(
        lambda look: charts.singular_values(workload, look),
        f"The singular values add up to {wording.significant(values.sum())}. {largest} "
        f"{wording.share(share)}: the more evenly they spread, the more independent questions there are, and the more users "
        "any mechanism needs.",
        "singular-values",
        pd.DataFrame({"rank": np.arange(1, len(values) + 1), "singular_value": values}),
    )
    frame.how_computed(
        "A workload is a matrix *W* with a row a query and a column a type; the answers are *W x*. Everything here depends on it "
        "only through the Gram matrix *G = W'W* (McKenna et al. 2020, Section 2.1). The singular values of these workloads are "
        "known in closed form; their sum squared, divided by e^ε, bounds the error of every mechanism (same paper, Theorem 5.6)."
    )
