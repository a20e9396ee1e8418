"""The promise in one sentence, and a live demonstration."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import analysis, beliefs, charts, library, wording, workloads
from ldp_core.data.tables import NumericRecipe, build_domain, tally
from ldp_core.designs import UploadedData
from ldp_core.people import dense, users_of
from ldp_core.studies import outcomes
from pages.ui import doors, file_menu, layout, privacy_accuracy, say
from pages.ui.data.actions import load_sample
from pages.ui.sources import catalogue, sample_table

DEMO_SEED = 7
TRIALS = 100
ROUNDS = 50  # of the optimiser: half a second, and within 0.1 % of what Design comes to, so that two digits of an error are told here

state = layout.open_page(
    "Start",
    "Learn about everybody without learning about anybody: people answer honestly, and their device changes the answer at random before it leaves.",
)
sample = catalogue()[0]


def begin() -> None:
    """Take the sample and the epsilon on screen into the design."""
    state.saved.begin()
    with state.history.one_step():
        load_sample(state, sample["file"])
        state.change(epsilon=f"{st.session_state.get('demo-epsilon', 1.0):g}")


def bring() -> None:
    """Data opens where a file is given, or at the visitor's own."""
    state.view["source"] = None if isinstance(state.choice, UploadedData) else "upload"


there = not state.saved.empty
kept = "Your design stays in the list of saved designs." if state.saved.name else "Undo brings your design back."
with layout.controls("page"):
    if there and st.button(
        "Continue with your design",
        type="secondary" if state.view.get("door") in doors.DOORS else "primary",
        icon=":material/arrow_forward:",
        key="continue",
    ):
        st.switch_page("pages/design.py")
    doors.buttons(state)
    begun = st.button(
        "Explore with sample data",
        type="secondary" if there else "primary",
        icon=":material/explore:",
        key="begin",
        on_click=begin,  # before the page is drawn again: it is done even if another page is turned to meanwhile
        help=say.plain(kept if there else sample["sentence"]),
    )
    if begun:
        st.switch_page("pages/design.py")
    if st.button("Use my data", icon=":material/table_rows:", key="own-data", on_click=bring):
        st.switch_page("pages/data.py")
    with st.popover("Open a design", icon=":material/folder_open:", key="open-design"):
        file_menu.opening(state, "start")
doors.draw(state, st.session_state.get("demo-epsilon", 1.0))
with layout.controls("demonstration"):
    epsilon = st.slider("Epsilon (← more private)", 0.1, 5.0, 1.0, 0.1, key="demo-epsilon", persist_state="session")
    privacy_accuracy.suspicion_control()


@st.cache_data(max_entries=64, show_spinner=False)  # synthetic people, so every visitor may share them
def demonstration(
    file: str, recipe: dict[str, Any], epsilon: float
) -> tuple[pd.DataFrame, float, np.ndarray, beliefs.Exposure]:
    """True and private cumulative shares on the sample, the largest standard error of an answer in percentage points, the shares of people, and
    the exposure by a report: of the design that Explore opens, fitted less long."""
    table = sample_table(file)
    domain = build_domain(NumericRecipe(**recipe), table)
    workload, people = workloads.prefix(domain.size), tally(table, domain).counts
    fitted: dict[str, Any] = {"target": "worst_case", "max_rounds": ROUNDS}
    mechanism = library.create("optimized", n=domain.size, epsilon=epsilon, workload=workload, **fitted)
    found = outcomes.compare({mechanism.name: mechanism}, workload, people, domain.labels(), TRIALS, DEMO_SEED)
    error = float(analysis.question_lines(mechanism, workload, people)["standard_error"].max())
    shares = dense(people) / users_of(people)
    return found.answers, error, shares, beliefs.exposure(mechanism, shares)


answers, error, shares, exposure = demonstration(sample["file"], sample["recipes"][0], epsilon)
accuracy, risk = st.columns([3, 2])
with accuracy:
    layout.chart(
        lambda look: charts.answers(answers, look),
        f"{sample['sentence']} At epsilon {epsilon:g} answers are off by up to about ± {wording.significant(error, 2)} percentage points "
        f"(with the mechanism made for these questions; bars are one standard deviation of {TRIALS} collections).",
        "demonstration",
        answers,
        of_design=False,
    )
with risk:
    privacy_accuracy.draw_beliefs(privacy_accuracy.suspicion(), shares, exposure, "optimized", epsilon)
