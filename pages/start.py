"""The promise in one sentence, and a live demonstration."""

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import beliefs, charts, library, wording, workloads
from ldp_core.data.tables import NumericRecipe, build_domain, tally
from ldp_core.people import dense, users_of
from ldp_core.studies import simulate, trial_frames
from pages.ui import layout, privacy_accuracy, sidebar
from pages.ui.controls import control
from pages.ui.data.choice import load_sample
from pages.ui.sources import catalogue, sample_table

DEMO_SEED = 7
TRIALS = 100
ROUNDS = 20
"""Of the optimiser: a fifth of a second, within a few per mille of the best."""

state = layout.open_page("Start", "Design a survey that learns about everybody without learning about anybody.")
sample = catalogue()[0]


def begin() -> None:
    """Take the sample and the epsilon on screen into the design."""
    state.saved.begin()
    with state.one_step():
        load_sample(state, sample["file"])
        state.change(epsilon=f"{state.view.get('demo', 1.0):g}")


there = not state.saved.empty
kept = "Your design stays in the list of saved designs." if state.saved.name else "Undo brings your design back."
with layout.controls("page"):
    if there and st.button(
        "Continue with your design", type="primary", icon=":material/arrow_forward:", key="continue"
    ):
        st.switch_page("pages/design.py")
    begun = st.button(
        "Explore with sample data",
        type="secondary" if there else "primary",
        icon=":material/explore:",
        key="begin",
        on_click=begin,  # before the page is drawn again: it is done even if another page is turned to meanwhile
        help=kept if there else sample["sentence"],
    )
    if begun:
        st.switch_page("pages/design.py")
    if st.button("Use my data", icon=":material/table_rows:", key="own-data"):
        st.switch_page("pages/data.py")
    with st.popover("Open a design", icon=":material/folder_open:", key="open-design"):
        sidebar.opening(state, "start")
with layout.controls("demonstration"):
    epsilon = control(
        st.slider,
        "Epsilon (← more private)",
        "demo-epsilon",
        state.view.get("demo", 1.0),
        lambda value: state.view.update(demo=value),
        min_value=0.1,
        max_value=5.0,
        step=0.1,
    )
    privacy_accuracy.suspicion_control(state)


@st.cache_data(max_entries=64, show_spinner=False)  # synthetic people, so every visitor may share them
def demonstration(
    file: str, column: str, epsilon: float
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray, beliefs.Exposure]:
    """True and private cumulative shares on the sample, their error, the shares of people, and the
    exposure by a report."""
    table = sample_table(file)
    domain = build_domain(NumericRecipe(column=column, bins=24), table)
    workload = workloads.prefix(domain.size)
    mechanism = library.create("optimized", n=domain.size, epsilon=epsilon, workload=workload, max_rounds=ROUNDS)
    run = simulate.collect(mechanism, workload, tally(table, domain).counts, trials=TRIALS, seed=DEMO_SEED)
    answers = trial_frames.simulated_answers({mechanism.name: run}, workload, domain.labels())
    errors = trial_frames.simulated_errors({mechanism.name: run}, {mechanism.name: mechanism}, workload)
    shares = dense(run.counts) / users_of(run.counts)
    return answers, errors, shares, beliefs.exposure(mechanism, shares)


answers, errors, shares, told = demonstration(sample["file"], sample["recipes"][0]["column"], epsilon)
typical = wording.error(errors["observed"].iloc[0])
accuracy, risk = st.columns([3, 2])
with accuracy:
    layout.chart(
        lambda look: charts.answers(answers, look, in_order=True),
        f"{sample['sentence']} At epsilon {epsilon:g} a typical answer is off by {typical} (optimised, {TRIALS} collections; bars "
        "are one standard deviation).",
        "demonstration",
        answers,
        of_design=False,
    )
with risk:
    privacy_accuracy.draw_beliefs(privacy_accuracy.suspicion(state), shares, told, "optimized", epsilon)
