"""Mechanisms side by side: users needed, errors, and how far each is from what no mechanism can beat."""

import math
from functools import partial

import streamlit as st

from ldp_core import charts, frames, library, mechanisms, verdicts, wording
from ldp_core.limits import AT_ONCE_TYPES, MOST_ENUMERATED_TYPES, MOST_EXACT_TYPES
from pages.ui import compare_designs, layout, lazy, listing, patterns
from pages.ui.compared import compared_control, fit_button, use_control
from pages.ui.comparing import league, listed, sweeps
from pages.ui.comparing.own import own_controls
from pages.ui.controls import case_control, target_control
from pages.ui.formulas import COMPARE
from pages.ui.tasks import work
from pages.ui.tasks.later import Later
from pages.ui.tasks.task import Stopped
from pages.ui.verdict_panel import explain, in_words, side_by_side
from pages.ui.words import OPTIMUM_MEANING, above_optimum, case_meaning, case_title, gap_in_words, plain

TIE = 1e-9

state = layout.open_page(
    "Compare", "See which mechanism needs the fewest users for your questions, and what errors to expect."
)
compare_designs.choose(state)  # named designs side by side end the page here
design = layout.need_design(state)
c = state.configuration


controls, results = layout.frame()
with controls:
    compared_control(state)
    case = case_control(
        state,
        "case",
        state.view.get("case") or state.present.aim(state.chosen),
        lambda chosen: state.view.update(case=chosen),
        state.present.cases,
        help="Users needed, bounds and gaps are all for the same people: the worst type, an even spread, or yours.",
    )
    target_control(state)

    ready: dict[str, mechanisms.Mechanism] = {}
    failed: dict[str, ValueError] = {}
    awaited, later = [], Later(state)
    for name in state.setting.side_by_side:
        try:
            with st.spinner(f"Working out what {library.spec(name).title} costs"):
                mechanism = state.setting.priced(name)
                if mechanism is not None and not work.priced(state, mechanism, later):
                    awaited.append(library.spec(name).title)
                elif mechanism is not None:
                    state.setting.summary(mechanism)
                    ready[name] = mechanism
        except ValueError as error:
            failed[name] = error
    missing = state.setting.unfitted(state.setting.side_by_side)
    fits = [work.fit(state, name) for name in missing]
    running = any(fit.running is not None for fit in fits)
    if missing and (crowded := state.crowded(missing)):
        st.caption(plain(crowded))
    with layout.actions():
        if missing:
            fit_button(
                missing,
                running,
                lambda: work.start_fit(state, *missing),
                "optimise",
                "Fits each to your workload in the background; it joins the comparison when it is ready.",
                first=True,
            )
        use_control(state, ready)
    for fit in fits:
        if fit.error:
            st.error(plain(fit.error))
    others = "The other mechanisms are compared without it." if ready else ""
    for name, why in failed.items():
        layout.instead(why, f"{library.spec(name).title}:", others, mild=True)

with results:
    own_controls(state, ready, failed, case)
    if awaited:
        st.info(
            f"What these cost is being worked out, and they join the comparison when that is known: {', '.join(awaited)}."
        )
    if not ready:
        if any(isinstance(why, Stopped) for why in failed.values()):
            least = max(state.setting.bounds(case).values())
            known = f"No unbiased mechanism with pure epsilon {c.epsilon} can need fewer than {wording.at_least(least)}, {case_meaning(case)}."
            st.info(f"Nothing is left to compare so far.{f' {known}' if least > 0 else ''}")
        elif not awaited:
            st.info("Choose at least one mechanism above that can be compared here.")
        later.finish()
        layout.end()
    table = state.setting.compared(ready, case)
    limits = state.setting.bounds(case)
    bound = max(limits.values())
    work.prove_unasked(state)
    work.find_optima(state)
    optimum, finding = state.setting.optimum(case), work.optimum(state, case)
    proof, proving = state.setting.proof(case), work.certificate(state, case)
    best = table.iloc[0]
    # Equal up to rounding is equal: on two types several mechanisms are the same one.
    winners = table["name"][table["users_needed"] <= best["users_needed"] * (1 + TIE)]
    title = library.spec(best["name"]).title
    names = " and ".join(f"**{library.spec(name).title}**" for name in winners)
    st.markdown(
        f"{names} {'needs' if len(winners) == 1 else 'need'} the fewest users: {wording.users(best['users_needed'])} until a difference "
        f"of {verdicts.in_words(state.setting.difference)} shows clearly in a typical answer ({wording.error(state.setting.alpha**0.5)} standard error), "
        f"{case_meaning(case)}. {in_words(state, ready[best['name']], later)}"
    )


def users_needed() -> None:
    """How many users each mechanism needs, and what none can do with fewer."""
    if bound > 0:
        strongest = frames.strongest(limits)
        others = " and ".join(
            f"the {charts.title(name)} says {wording.at_least(value)}"
            for name, value in limits.items()
            if name != strongest
        )
        reach = (
            f"{title} is within {gap_in_words(best['gap'])} of that"
            if best["gap"] < 1
            else f"{title} needs {gap_in_words(best['gap'])} as many"
        )
        bound_sentence = (
            f"No unbiased mechanism with pure epsilon {c.epsilon} can need fewer than {wording.at_least(bound)}, "
            f"{case_meaning(case)} ({charts.title(strongest)}"
            + (", which re-checks itself" if strongest == "certificate" else "")
            + f"){f'; {others}' if others else ''}. {reach if not math.isinf(best['gap']) else title + ' has no pure epsilon, so the bound does not hold for it'}."
        )
    else:
        bound_sentence = f"At epsilon {c.epsilon} the lower bounds say nothing here: they allow any number of users."
    if optimum is not None:
        bound_sentence += f" The **exact optimum** is {wording.users(optimum)}"
        if (found := ready.get(best["name"])) is not None and found.delta == 0:
            bound_sentence += f"; {title} {above_optimum(best['users_needed'] / optimum - 1)}"
        bound_sentence += "."
    layout.chart(
        lambda look: charts.users_needed(table, limits, design.users, look, case_title(case), optimum),
        bound_sentence,
        "users-needed",
        table,
    )
    if optimum is not None:
        st.caption(OPTIMUM_MEANING)
    elif finding is None and design.domain.size <= MOST_ENUMERATED_TYPES:
        st.caption(
            "An exact optimum is known for a given spread of people, not for the worst case: choose another case to see it."
        )
    elif finding is not None and finding.error:
        st.caption(plain(f"The exact optimum is not known here. {finding.error}"))
    if (job := proving.running) is not None:
        st.caption("A tighter bound is being proved; the line moves up when it is ready.")
        st.button("Keep the bound as it is", on_click=job.stop, key="cancel-proof", type="tertiary")
    elif proof is None or not proof.finished:
        st.button(
            "Prove a tighter bound",
            on_click=work.start_certificate,
            args=(state, case),
            key="prove",
            icon=":material/verified:",
            help="Computes a certificate of what no mechanism can beat, in the background.",
        )
    if proving.error:
        st.error(plain(proving.error))


def draw_query_errors() -> None:
    """Exact errors of single queries, for the mechanisms that are ready."""
    n = design.working_types
    if n > MOST_EXACT_TYPES:
        st.info(
            f"Errors of single queries are computed for at most {MOST_EXACT_TYPES:,} types; there are {n:,} here. Simulate shows those of "
            "some queries."
        )
        return
    try:
        errors = later.value(
            ("query_errors", [(name, m.digest) for name, m in ready.items()], design.naming, design.people_digest),
            "errors of single queries",
            all(mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES for mechanism in ready.values()),
            lambda cancel: frames.query_errors(ready, design.workload, design.counts, design.labels, cancel=cancel),
        )
    except ValueError as error:
        layout.instead(error)
        return
    if errors is None:
        st.caption("The errors of single queries are being worked out.")
        return
    hardest = errors[errors["name"] == best["name"]].nlargest(1, "standard_error").iloc[0]
    shown, p = errors["query"].nunique(), design.workload.num_queries
    among = "query" if shown == p else f"of the {shown:,} queries shown (of {p:,})"
    layout.chart(
        lambda look: charts.query_errors(errors, look, in_order=design.workload.kind == "prefix"),
        f"Exact standard errors on {design.population}. For {title} the hardest {among} is **{plain(hardest['label'])}** with "
        f"{wording.error(hardest['standard_error'])}.",
        "query-errors",
        errors.assign(verdict=verdicts.judge(errors["standard_error"], state.setting.differences(errors["query"]))),
    )
    listing.show_table(
        side_by_side(errors, state.setting.differences(errors["query"])),
        "What the answers of each mechanism are worth; ± is the standard error in percentage points.",
    )
    explain(state)


with results:
    titles, views = ["Users needed", "Patterns", "Error of each query", "Over epsilon"], [users_needed]
    views += [partial(patterns.side_by_side, state, ready), draw_query_errors, partial(sweeps.tab, state, "epsilon")]
    if design.workload.survey is None:  # those are about columns of their own sizes only
        titles.append("Over domain size")
        views.append(partial(sweeps.tab, state, "size"))
    lazy.panes(state, "compare-tabs", titles, views)

layout.heading("All figures")
listed.figures(state, table, ready)
listed.catalogue(state)
ranking = lazy.fold("League: every mechanism against the proved minimum, on 64 types", "league-fold")
if ranking is not None:
    with ranking:
        league.show(state)
later.finish()
layout.how_computed(COMPARE)
