"""What the collector would have seen: simulated collections against the truth."""

import streamlit as st

from ldp_core import charts, estimators, mechanisms, wording
from pages.ui import frame, work
from pages.ui.controls import control, whole_number
from pages.ui.jobs import jobs
from pages.ui.text import people, plain, waiting

state = frame.open_page(
    "Simulate", "Run the chosen mechanisms on these people, as often as you like, and see what their answers are worth."
)
design = frame.need_design(state)
c = state.configuration
simulation = c.simulation


def update(**changes) -> None:
    state.change(simulation=simulation.model_copy(update=changes))


left, right = st.columns([1, 2], gap="large")
with left:
    control(
        st.multiselect,
        "Mechanisms",
        "simulated",
        [n for n in state.view.get("simulated", (c.mechanism.name,)) if n in mechanisms.names()],
        lambda chosen: state.view.update(simulated=tuple(chosen)),
        options=mechanisms.names(),
        format_func=lambda n: mechanisms.spec(n).title,
        wrap=True,
    )
    control(
        st.multiselect,
        "Estimates",
        "estimators",
        list(simulation.estimators),
        lambda chosen: update(estimators=tuple(chosen)),
        options=estimators.names(),
        format_func=lambda n: estimators.ESTIMATORS[n].title,
        wrap=True,
    )
    for name in simulation.estimators:
        st.caption(f"{estimators.ESTIMATORS[name].title}: {estimators.ESTIMATORS[name].meaning}.")
    control(
        st.number_input,
        "Trials",
        "trials",
        simulation.trials,
        lambda value: update(trials=int(value)),
        min_value=1,
        max_value=10_000,
        step=10,
        help="Each trial is one whole collection from all users.",
    )
    control(
        st.text_input,
        "Seed",
        "seed",
        str(simulation.seed),
        lambda text: update(seed=whole_number(text, "the seed", 0, 2**63 - 1)),
        help="The same seed gives the same trials. It is for simulation only: a client must never use it.",
    )

    names = tuple(state.view.get("simulated", (c.mechanism.name,)))
    usable, reasons = [], []
    for name in names:
        try:
            if state.mechanism(name) is not None:
                usable.append(name)
        except ValueError as error:
            reasons.append(f"{mechanisms.spec(name).title}: {error}")
    for reason in reasons:
        st.warning(reason)
    if waiting_for := state.unfitted(names):
        titles = " and ".join(mechanisms.spec(name).title for name in waiting_for)
        st.info(f"{titles}: not fitted to this design yet.")
        st.page_link("pages/compare.py", label="Fit it on the Compare page", icon=":material/bar_chart:")
    key = work.simulation_key(state, usable)
    job, done = jobs().find(state.id, key), state.results.get(key)
    cut_short = job is not None and job.state == "cancelled"
    if job is not None and job.active:
        st.button("Cancel and keep these trials", on_click=job.cancel, key="cancel", icon=":material/stop_circle:")
    else:
        st.button(
            "Run the simulation",
            type="primary",
            key="run",
            on_click=work.start_simulation,
            args=(state, usable),
            disabled=not usable or not simulation.estimators or (done is not None and not cut_short),
            icon=":material/play_arrow:",
        )


@st.fragment(run_every=0.5)
def live() -> None:
    if not job.active:
        st.rerun()
    if job.progress is None:
        st.info(waiting(job.state, jobs().waiting_before(job)))
        return
    name, trial, total, fraction = job.progress
    st.progress(
        fraction, text=f"{mechanisms.spec(name).title}: trial {trial:,} of {total:,}, {wording.duration(job.seconds)}"
    )


with right:
    if job is not None and job.active:
        live()
        st.stop()
    if job is not None and job.state == "failed":
        st.error(plain(job.error))
        st.stop()
    if done is None:
        whom = "these people" if design.on_data else "the expected population (no data is loaded)"
        st.info(
            f"Nothing has been simulated for this design yet. Press Run to draw {simulation.trials:,} collections from {whom}."
        )
        st.stop()
    answers, errors = done
    first = errors.iloc[0]
    trials, p = int(first["trials"]), design.workload.num_queries
    pair = f"{mechanisms.spec(first['mechanism']).title}, {estimators.ESTIMATORS[first['estimator']].short}"
    widest = answers.loc[answers["deviation"].idxmax()] if trials > 1 else None
    sentence = (
        f"Points are means over {trials:,} trials; bars show one standard deviation of a single trial, so about one collection in "
        "three lands outside them. "
        if trials > 1
        else "Points are the answers of a single trial; more trials show how far they spread. "
    )
    if widest is not None:
        among = f" of the {answers['query'].nunique():,} queries shown" if answers["query"].nunique() < p else ""
        sentence += f"The widest{among} is **{plain(widest['label'])}** with {wording.error(widest['deviation'])}."
    frame.chart(lambda look: charts.answers(answers, look), sentence, "simulated-answers", answers)
    words = f"{pair}: a typical query was off by {wording.error(first['observed'])} of all users"
    if first["predicted"] == first["predicted"]:
        words += f"; the exact prediction is {wording.error(first['predicted'])}"
    both = errors[errors["mechanism"] == first["mechanism"]].set_index("estimator")["observed"]
    if {"unbiased", "wnnls"} <= set(both.index) and both["unbiased"] > 0:
        words += f". Non-negative estimates cut the error by {wording.share(1 - both['wnnls'] / both['unbiased'])}, at the price of bias"
    frame.chart(lambda look: charts.errors(errors, look), words + ".", "simulated-errors", errors)
    st.caption(
        f"Seed {simulation.seed}, {trials:,} trial{'s' if trials > 1 else ''} of {people(design.users)}. Observed errors carry ± 2 standard errors "
        "of the simulation; predictions exist for unbiased estimates only."
    )
    frame.how_computed(
        "Each trial draws the tally of all reports exactly, type by type, never user by user: its distribution is the one real reports "
        "would have. **Unbiased**: x̂ = R y, with the optimal reconstruction R (McKenna et al. 2020, Theorem 3.10). **WNNLS**: the "
        "x ≥ 0 closest to x̂ in (x − x̂)' G (x − x̂) (same paper, Appendix A), solved exactly by active sets. **Observed error**: the root of the "
        "mean squared error over queries and trials; its standard error by the delta method."
    )
