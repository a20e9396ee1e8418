"""How private each report is and how it is made: the controls, the verdict, the trade-off, and what stands behind them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from ldp_core import library, wording
from pages.ui import later, layout, privacy_accuracy, say, verdict_panel
from pages.ui.controls import button, target_control
from pages.ui.data import actions as data_actions
from pages.ui.design import details, detect, direct, settings, solve_for, trade_off
from pages.ui.tasks import work

state = layout.open_page("Design", "How private is a report, and what do you get for it?")
design = layout.need_design(state)
c = state.configuration
name = c.mechanism.name
spec = library.spec(name)
case = design.case
fit = work.fit(state, name)
refusal = state.setting.unfit(name)


def optimise_button() -> None:
    """Optimise, cancel, or go on from a fit that can still be better."""
    if fit.running is not None:
        button(
            "Cancel and keep the best so far",
            "cancel",
            "stop_circle",
            later.stop,
            fit.running,
            work.certificate(state, case).running,
        )
        return
    loaded, known = state.setting.from_file(name), state.setting.fitted(name)
    about = wording.duration(state.setting.search_seconds)
    label = "Optimise here instead" if loaded else "Refine" if known else f"Optimise (up to {about})"
    if known is not None and not loaded and details.finished(state, known.mechanism, case):
        return
    button(
        label,
        "optimise",
        "replay" if loaded else "play_arrow",
        work.start_fit,
        state,
        name,
        type="secondary" if known else "primary",
        disabled=refusal is not None,
        help="Fits the mechanism to your questions in the background. You can stop at any moment and keep the best so far.",
    )


with layout.controls("page"):
    settings.epsilon_control(state)
    settings.mechanism_control(state)
    settings.file_control(state)
    target_control(state)
    solve_for.draw(state)
    settings.more_options(state)
    if state.setting.from_file(name):
        st.caption("This strategy was loaded from a file, not computed here. Its epsilon and errors were recomputed.")
    say.caption("{about}", about=state.setting.about_types)
    say.caption("{total}", total=settings.total_epsilon(state))
    say.caption("{caveat}", caveat=spec.caveat)
data_actions.unused_columns(state)

with st.container(key="results"):
    try:
        if refusal is not None:
            raise ValueError(refusal)
        mechanism = state.setting.mechanism(name)
    except ValueError as error:
        if refusal is not None:
            optimise_button()
        st.error(say.plain(str(error)))
        st.page_link("pages/compare.py", label="See what other mechanisms need", icon=":material/bar_chart:")
        layout.end()
    work.fit_unasked(state, name)
    if mechanism is None:
        details.unfitted(state, case)
    else:
        layout.need_costs(state, mechanism)
        details.simulated_only(state, mechanism)  # ends the page where costs would take matrices too large
        verdict_panel.show(state, mechanism)
        if fit.running is None:  # else they would compete with it for the processor
            work.prove_unasked(state)  # a design that was loaded comes without its proofs
    if mechanism is None or fit.running is not None:
        optimise_button()
    if (running := fit.running) is not None:
        later.show(running, partial(details.optimising, state, case))
    tabs: dict[str, Callable[[], None]] = {"Trade-off": partial(trade_off.draw, state, mechanism)}
    if mechanism is not None:
        details.needed(state, mechanism, case)
        tabs["Questions"] = partial(details.questions, state, mechanism)
        tabs["Difference to detect"] = partial(detect.draw, state, mechanism)
        tabs["Patterns and proof"] = partial(details.patterns_and_proof, state, mechanism, case, optimise_button)
    tabs["What a report tells"] = partial(privacy_accuracy.show, state, mechanism)
    layout.panes(state, "design-tabs", list(tabs), list(tabs.values()))
    direct.break_even(state)
