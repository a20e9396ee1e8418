"""Mechanisms side by side: users needed, errors, and how far each is from what no mechanism can beat."""

import math
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ldp_core import charts, frames, library, mechanisms, verdicts, wording
from ldp_core.bounds.general.enumerated import MOST_TYPES as EXACT_TYPES
from ldp_core.designs.choices import PRICED_TYPES
from ldp_core.run import Progress
from ldp_core.studies import sweep
from pages.ui import beside, layout, lazy, league, listing, patterns
from pages.ui.compared import compared_control, use_control
from pages.ui.controls import case_control, control, target_control
from pages.ui.formulas import COMPARE
from pages.ui.judging import AT_ONCE_TYPES, explain, in_words, side_by_side
from pages.ui.own import own_controls
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.later import Later
from pages.ui.words import OPTIMUM_MEANING, above_optimum, case_meaning, case_title, cells, gap_in_words, people, plain

TIE = 1e-9

state = layout.open_page(
    "Compare", "See which mechanism needs the fewest users for your questions, and what errors to expect."
)
beside.choose(state)  # named designs side by side end the page here
design = layout.need_design(state)
c = state.configuration


def sweep_sentence(found: pd.DataFrame, over: str) -> str:
    """Which mechanism needs the fewest users, and where."""
    own = found[~found["name"].isin(sweep.BOUNDS)]
    rounded = own["users_needed"].map(lambda users: float(f"{users:.6g}"))  # ties go to the first by name
    winners = own.loc[rounded.groupby(own[over]).idxmin()] if len(own) else own
    word = "epsilon" if over == "epsilon" else "n ="
    parts = [
        f"{library.spec(name).title} at {word} {', '.join(f'{e:g}' for e in group[over])}"
        for name, group in winners.groupby("name", sort=False)
    ]
    return "Fewest users: " + "; ".join(parts) + "." if parts else "Bounds come first, mechanisms follow."


def sweep_chart(found: pd.DataFrame, over: str, look: charts.Theme) -> go.Figure:
    if over == "epsilon":
        return charts.over_epsilon(found, design.epsilon, look)
    return charts.over_size(found, design.domain.size, look)


def filling(over: str, progress: Progress, job: Job) -> None:
    """A sweep as its points come in."""
    done, total, points = progress.round, progress.max_rounds or 1, progress.found.points
    st.progress(done / total, text=f"{done:,} of {total:,} points, {wording.duration(job.seconds)}")
    if len(points):
        layout.picture(sweep_chart(points, over, layout.look()), f"live-sweep-{over}", "Users needed, filling in")


def grid_in_words(over: str, known: pd.DataFrame) -> str:
    """The epsilons, or those numbers of types at which something will be computed."""
    if over == "epsilon":
        return ", ".join(f"{epsilon:g}" for epsilon in sweep.EPSILONS)
    everything = len(sweep.BOUNDS) + len(state.side_by_side)
    sizes = [n for n in sweep.SIZES if not len(known) or (known["n"] == n).sum() < everything]
    return f"{', '.join(f'{n:,}' for n in sizes)} types"


def say_without_points(found: pd.DataFrame, column: str, label: str) -> None:
    """What a sweep has no figures for, and why."""
    if not len(found):
        return
    reasons = found.groupby(["name", "reason"], sort=False)[column].apply(list)
    with st.expander(label):
        for (name, reason), places in reasons.items():
            title = charts.title(name) if name in sweep.BOUNDS else library.spec(name).title
            where = ", ".join(f"{place:,g}" for place in places)
            st.markdown(f"- {plain(f'{title} at {where}: {reason}')}")


def compute_at(address: str) -> None:
    """Another scheduler: what was said of the one before is not about it."""
    state.view.update(scheduler=address.strip())
    for over in ("epsilon", "size"):
        if (job := work.sweep(state, over).job) is not None:
            job.error = ""


def sweep_tab(over: str) -> None:
    """Users needed over epsilon or over the number of types, filling in live; cheap mechanisms come first."""
    task, column = work.sweep(state, over), "epsilon" if over == "epsilon" else "n"
    running, done = task.running, task.result
    if running is not None:
        st.button(
            "Cancel and keep these points", on_click=running.cancel, key=f"cancel-{over}", icon=":material/stop_circle:"
        )
        layout.live(running, partial(filling, over))
        return
    what = "epsilon" if over == "epsilon" else "the domain size"
    known = pd.DataFrame()
    if over == "size":
        try:
            known = work.left_out_of_sizes(state)
        except ValueError as error:
            st.info(plain(str(error)))
            return
    over_time = done is not None and (done.left_out["reason"] == sweep.TIME_OVER).any()
    if done is None or task.cut_short or over_time:
        st.button(
            f"Compute over {what}",
            on_click=lambda: work.sweep(state, over).start(),
            key=f"sweep-{over}",
            icon=":material/play_arrow:",
            help="Users needed in the worst case for every chosen mechanism and all bounds; fitted ones are fitted anew at each "
            "point. What has been computed is not computed again.",
        )
        st.caption(
            f"It takes {work.SWEEP_SECONDS / 60:g} minutes at most; what is left then can be computed by pressing again."
        )
        with st.expander("Where it is computed"):
            control(
                st.text_input,
                "Address of a Dask scheduler (optional)",
                f"scheduler-{over}",
                state.view.get("scheduler", ""),
                compute_at,
                placeholder="tcp://10.0.0.5:8786",
                help="Left empty, this machine computes, in as many processes as it has cores. The numbers are the same.",
            )
    if task.error:
        st.error(plain(task.error))
    if done is None:
        st.caption(f"Users needed at {grid_in_words(over, known)} for the chosen mechanisms and all bounds.")
        say_without_points(known, column, "What will be left out")
        return
    if len(done.points):
        layout.chart(
            lambda look: sweep_chart(done.points, over, look),
            sweep_sentence(done.points, column),
            f"over-{over}",
            done.points,
        )
    say_without_points(done.left_out, column, "Left out")


controls, results = layout.frame()
with controls:
    compared_control(state)
    case = case_control(
        state,
        "case",
        state.view.get("case") or state.aim(state.chosen),
        lambda chosen: state.view.update(case=chosen),
        state.cases(),
        help="Users needed, bounds and gaps are all for the same people: the worst type, an even spread, or yours.",
    )
    target_control(state)

    ready: dict[str, mechanisms.Mechanism] = {}
    failed, awaited, later = [], [], Later(state)
    for name in state.side_by_side:
        try:
            with st.spinner(f"Working out what {library.spec(name).title} costs"):
                mechanism = state.priced(name)
                if mechanism is not None and not work.priced(state, mechanism, later):
                    awaited.append(library.spec(name).title)
                elif mechanism is not None:
                    state.summary(mechanism)
                    ready[name] = mechanism
        except ValueError as error:
            failed.append((name, str(error)))
    missing = state.unfitted(state.side_by_side)
    fits = [work.fit(state, name) for name in missing]
    running = any(fit.running is not None for fit in fits)
    if missing and (crowded := state.crowded(missing)):
        st.caption(plain(crowded))
    with layout.actions():
        if missing:
            st.button(
                "Fitting" if running else f"Add {len(missing)} fitted mechanism{'' if len(missing) == 1 else 's'}",
                key="optimise",
                type="primary",
                disabled=running,
                on_click=work.start_fit,
                args=(state, *missing),
                icon=":material/play_arrow:",
                help="Fits each to your workload in the background; it joins the comparison when it is ready.",
            )
        use_control(state, ready)
    for fit in fits:
        if fit.error:
            st.error(plain(fit.error))
    for name, reason in failed:
        st.warning(plain(f"{library.spec(name).title}: {reason}"))

with results:
    own_controls(state, ready, dict(failed), case)
    if awaited:
        st.info(
            f"What these cost is being worked out, and they join the comparison when that is known: {', '.join(awaited)}."
        )
    if not ready:
        if not awaited:
            st.info("Choose at least one mechanism above that can be compared here.")
        later.finish()
        layout.end()
    table = state.compared(ready, case)
    limits = state.bounds(case)
    bound = max(limits.values())
    work.prove_unasked(state)
    work.find_optima(state)
    optimum, finding = state.optimum(case), work.optimum(state, case)
    proof, proving = state.certificate(case), work.certificate(state, case)
    best = table.iloc[0]
    # Equal up to rounding is equal: on two types several mechanisms are the same one.
    winners = table["name"][table["users_needed"] <= best["users_needed"] * (1 + TIE)]
    title = library.spec(best["name"]).title
    names = " and ".join(f"**{library.spec(name).title}**" for name in winners)
    st.markdown(
        f"{names} {'needs' if len(winners) == 1 else 'need'} the fewest users: {wording.users(best['users_needed'])} until a difference "
        f"of {verdicts.in_words(state.difference)} shows clearly in a typical answer ({wording.error(state.alpha**0.5)} standard error), "
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
    elif finding is None and design.domain.size <= EXACT_TYPES:
        st.caption(
            "An exact optimum is known for a given spread of people, not for the worst case: choose another case to see it."
        )
    elif finding is not None and finding.error:
        st.caption(plain(f"The exact optimum is not known here. {finding.error}"))
    if (job := proving.running) is not None:
        st.caption("A tighter bound is being proved; the line moves up when it is ready.")
        st.button("Keep the bound as it is", on_click=job.cancel, key="cancel-proof", type="tertiary")
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
    if n > PRICED_TYPES:
        st.info(
            f"Errors of single queries are computed for at most {PRICED_TYPES:,} types; there are {n:,} here. Simulate shows those of "
            "some queries."
        )
        return
    try:
        errors = later.value(
            ("query_errors", [(name, m.digest) for name, m in ready.items()], design.naming, design.people_digest),
            "errors of single queries",
            n <= AT_ONCE_TYPES,
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
        errors.assign(verdict=verdicts.judge(errors["standard_error"], state.difference)),
    )
    listing.show_table(side_by_side(errors, state.difference), "What the answers of each mechanism are worth.")
    explain(state)


with results:
    lazy.panes(
        state,
        "compare-tabs",
        ["Users needed", "Patterns", "Error of each query", "Over epsilon", "Over domain size"],
        [
            users_needed,
            partial(patterns.side_by_side, state, ready),
            draw_query_errors,
            partial(sweep_tab, "epsilon"),
            partial(sweep_tab, "size"),
        ],
    )

layout.heading("All figures")
columns = {
    "name": st.column_config.TextColumn("Mechanism", width="medium"),
    "users_needed": st.column_config.NumberColumn(
        "Users needed", format="%,.0f", help="For your target error, in the case chosen above."
    ),
    "gap": st.column_config.NumberColumn(
        "Gap, at most", help="More users than the best bound allows, in the same case."
    ),
    "standard_error_worst_case": st.column_config.NumberColumn("± worst case", format="%.2f pp"),
    "standard_error_average": st.column_config.NumberColumn("± average case", format="%.2f pp"),
    "standard_error_on_data": st.column_config.NumberColumn(
        "± this data" if design.on_data else "± expected", format="%.2f pp", help=f"On {design.population}."
    ),
    "worst_case_variance": st.column_config.NumberColumn("Variance, worst", format="%,.1f"),
    "average_variance": st.column_config.NumberColumn("Variance, average", format="%,.1f"),
}
if state.only_case:  # the other cases are no others
    columns = {
        key: column
        for key, column in columns.items()
        if not key.endswith(("_average", "_on_data")) and key != "average_variance"
    }
listed = table[list(columns)].copy()
listed["name"] = [library.spec(n).title for n in listed["name"]]
listed["users_needed"] = np.ceil(listed["users_needed"] - 1e-9)  # as everywhere: whole people
listed["gap"] = listed["gap"].replace(math.inf, math.nan)  # where the bound says nothing, there is no gap
for share in (name for name in columns if name.startswith("standard_error")):
    listed[share] *= 100
height = listing.height_for(listed["name"])
listing.show_table(
    cells(listed, gap=gap_in_words), "The mechanisms side by side.", column_config=columns, row_height=height
)
layout.download_table(table, "comparison")
whose = "Worst case: everybody has the value that is hardest to count. Average case: all types equally common."
st.caption(
    f"± is the standard error of a typical query (root mean square over the {design.workload.num_queries:,} queries) in percentage "
    f"points (pp) of your {people(design.users)}. {'' if state.only_case else whose} Variances are in squared users, summed over the queries, "
    f"for one user. {state.weighting}"
)
if any(mechanism.delta > 0 for mechanism in ready.values()):
    st.caption(
        "Mechanisms with an (epsilon, delta) guarantee promise less than pure epsilon, so they may need fewer users than the "
        "bounds allow others; they have no gap here."
    )
if any(library.spec(name).continuous for name in table["name"]):
    titles = [library.spec(name).title for name in table["name"] if library.spec(name).continuous]
    st.caption(f"{', '.join(titles)}: {mechanisms.FLOATING_POINT}")
every = lazy.fold("Every mechanism: what it was made for, what it costs, and where it cannot run", "every-mechanism")
if every is not None:
    with every:
        own = [one.mechanism for one in c.own]
        catalogue = frames.catalogue(design.domain.size, design.epsilon, design.workload, own)
        listing.show_table(
            catalogue,
            "What every mechanism was made for, and what it costs.",
            column_config={
                "mechanism": "Mechanism",
                "made_for": "Made for",
                "note": "Note for this design",
                "privacy": "Privacy",
                "bits_a_report": "Bits a report",
                "user_computes": "A user computes",
                "collector_computes": "The collector computes",
                "source": "Source",
            },
        )
        layout.download_table(catalogue, "mechanisms")
        st.caption(
            "n is the number of types, p the number of queries. An empty note means that it can run on this design. In real numbers "
            f"only: {mechanisms.FLOATING_POINT}"
        )
ranking = lazy.fold("League: every mechanism against the proved minimum, on 64 types", "league-fold")
if ranking is not None:
    with ranking:
        league.show(state)
later.finish()
layout.how_computed(COMPARE)
