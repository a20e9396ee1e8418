"""Simulated collections: mechanisms and estimates side by side."""

from typing import Any

import streamlit as st

from ldp_core import estimators, library, mechanisms, wording
from ldp_core.designs import choices
from ldp_core.studies import outcomes
from pages.ui import later, layout, say
from pages.ui.ask import panel as ask
from pages.ui.compared import mechanisms_control, offer_fits, to_include
from pages.ui.controls import button, control, several, view_switch, whole_number
from pages.ui.formulas import SIMULATE
from pages.ui.outcomes import tabs
from pages.ui.priors import in_words, prior_control
from pages.ui.tasks import work

# Up to these sizes trials are run without asking: about a second for one mechanism and two estimates.
QUICK_QUERIES = 2_500
QUICK_DRAWS = 5_000_000

state = layout.open_page("Simulate", "Try it on these people: what their answers are worth.")
VIEWS = {"collections": "Collections", "ask": "Ask"}
controls, results = layout.frame()
with controls:
    view = view_switch("simulate", VIEWS)
if view == "ask":
    ask.draw(state, controls)
    layout.end()
design = layout.need_design(state)
c = state.configuration
simulation = c.simulation


def update(**changes: Any) -> None:
    state.change(simulation=simulation.model_copy(update=changes))


def quick_to_simulate() -> bool:
    """True if the trials take about a second, so that they run when the page opens."""
    return (
        design.fitted_types <= choices.SIMULATED_UNASKED
        and design.workload.num_queries <= QUICK_QUERIES
        and design.users * simulation.trials <= QUICK_DRAWS
        and not any(estimators.spec(name).from_reports for name in simulation.estimators)
    )


def say_left_out() -> int:
    """Say which mechanisms and estimates do not go together, and why. Returns how many pairs do."""
    left_out_names = outcomes.left_out(usable, design.workload, methods)
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, estimator, reason in left_out_names:
        reasons.setdefault((estimator, reason), []).append(library.spec(name).title)
    for (estimator, reason), titles in reasons.items():
        say.caption(
            "{estimator} is left out for {titles}. {reason}",
            estimator=estimators.spec(estimator).title,
            titles=" and ".join(titles),
            reason=reason,
        )
    return len(usable) * len(methods) - len(left_out_names)


with controls:
    simulated = tuple(state.view.get("simulated", (c.mechanism.name,)))
    with st.popover(say.text("Mechanisms ({number})", number=len(simulated)), icon=":material/checklist:"):
        mechanisms_control(state, "simulated", simulated, lambda chosen: state.view.update(simulated=chosen))
    names = tuple(dict.fromkeys(map(state.setting.named, simulated)))
    offered = {name: estimators.spec(name).title for name in estimators.names()}
    with st.popover(say.text("Estimates ({number})", number=len(simulation.estimators)), icon=":material/functions:"):
        several("Estimates", "estimators", simulation.estimators, lambda chosen: update(estimators=chosen), offered)
        for name in simulation.estimators:
            say.markdown(
                "**{title}**: {meaning}.", title=estimators.spec(name).title, meaning=estimators.spec(name).meaning
            )
    with layout.more("More options"):
        control(
            st.number_input,
            "Trials",
            "trials",
            simulation.trials,
            lambda value: update(trials=int(value)),
            min_value=1,
            max_value=10_000,
            step=10,
            help="Each trial is one whole collection from all people.",
        )
        control(
            st.text_input,
            "Seed",
            "seed",
            str(simulation.seed),
            lambda text: update(seed=whole_number(text, "the seed", 0, 2**63 - 1)),
            help="The same seed gives the same trials. It is for simulation only: a client must never use it.",
        )
        control(
            st.toggle,
            "New people each trial",
            "new-people",
            simulation.new_people,
            lambda new: update(new_people=bool(new)),
            help="Each trial draws as many new people from the same distribution. Errors and intervals are then for the distribution: "
            "the chance of who takes part is in them, as in the errors of Lopuhaä-Zwakenberg et al. and of Bassily.",
        )
        if any(estimators.spec(name).credible for name in simulation.estimators):
            known = {True: "histogram", False: "jeffreys"}
            prior_control(state, "prior", simulation.prior == "histogram", lambda on: update(prior=known[bool(on)]))
    methods = simulation.estimators
    if credible := any(estimators.spec(name).credible for name in methods):
        try:
            state.setting.posterior_prior()
        except ValueError as error:
            st.info(say.plain(str(error)))
            layout.end()

    usable: dict[str, mechanisms.Mechanism] = {}
    for name in names:
        try:
            mechanism = state.setting.mechanism(name)
        except ValueError as error:
            say.warning("{title}: {error}", title=library.spec(name).title, error=error)
        else:
            if mechanism is not None:
                usable[name] = mechanism
    if waiting_for := state.setting.unfitted(names):
        titles = " and ".join(library.spec(name).title for name in waiting_for)
        say.info("{titles}: not fitted to this design yet.", titles=titles)
        offer_fits([(state, name) for name in waiting_for], "fit-simulated", to_include(waiting_for))
    pairs = say_left_out()
    task = work.simulation(state, list(usable))
    if pairs and task.latest is None and task.result is None and quick_to_simulate():
        task.start()
    running, done = task.running, task.result
    if running is not None:
        button("Stop and keep these trials", "cancel", "stop_circle", running.cancel)
    else:
        run = {"type": "primary", "disabled": not pairs or (done is not None and not task.cut_short)}
        button("Run", "run", "play_arrow", task.start, **run)

with results:
    if running is not None:
        later.show(running)
    elif task.error:
        st.error(say.plain(task.error))
    elif done is None:
        whom = "these people" if design.on_data else "the expected population (no data is loaded)"
        collections = wording.plural(simulation.trials, "collection")
        say.info("Nothing is simulated yet. {run}", run=f"Run draws {collections} from {whom}." if pairs else "")
    else:
        tabs.show(state, done)
        if simulation.new_people:
            st.caption(
                "Every trial has new people: errors and intervals are for the population that they were drawn from."
            )
        if credible:
            st.caption(say.plain(in_words(simulation.prior == "histogram")))
    if done is not None and running is None:
        layout.how_computed(SIMULATE)
