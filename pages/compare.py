"""Mechanisms side by side: users needed, errors, and how far each is from what no mechanism can beat."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from ldp_core import charts, library, mechanisms, verdicts, wording
from ldp_core.bounds import every_value_is_secret
from ldp_core.limits import AT_ONCE_TYPES, MOST_EXACT_TYPES
from pages.ui import compare_designs, later, layout, listing, proving, say
from pages.ui.compared import case_control, compared_control, offer_fits, to_include, use_control
from pages.ui.comparing import guesses, listed, sweeps
from pages.ui.formulas import COMPARE
from pages.ui.tasks import work
from pages.ui.verdict_panel import answers, detects, explained, proved, side_by_side
from pages.ui.words import case_meaning, case_title

state = layout.open_page("Compare", "Which mechanism needs the fewest people for your questions?")
controls = layout.controls("page")
compare_designs.choose(state, controls)  # saved designs side by side end the page here
design = layout.need_design(state)
c = state.configuration
names = state.setting.side_by_side
work.fit_unasked(state, *names)

with controls:
    with st.popover(say.text("Mechanisms ({number})", number=len(names)), icon=":material/checklist:"):
        compared_control(state)
    case = case_control(state, "case", design.case, design.cases)
    ready: dict[str, mechanisms.Mechanism] = {}
    failed: dict[str, ValueError] = {}
    awaited = []
    for name in names:
        try:
            with st.spinner(say.text("Computing the costs of {title}", title=library.spec(name).title)):
                mechanism = state.setting.priced(name)
                if mechanism is not None and not work.priced(state, mechanism):
                    awaited.append(library.spec(name).title)
                elif mechanism is not None:
                    state.setting.users_needed(mechanism, case)
                    ready[name] = mechanism
                    if name == state.setting.chosen:
                        state.costs_known(mechanism)
        except ValueError as error:
            failed[name] = error
    missing = state.setting.unfitted(names)
    say.caption("{crowded}", crowded=state.crowded(missing))
    use_control(state, ready)
    if missing:
        with layout.actions():
            offer_fits([(state, name) for name in missing], "optimise", to_include(missing), type="primary")
    others = "The other mechanisms are compared without it." if ready else ""
    for name, why in failed.items():
        later.instead(why, f"{library.spec(name).title}:", others, mild=True)


def verdict(table: pd.DataFrame) -> None:
    """What the design's own mechanism needs against the best classical one; where that is not known, this comes first."""
    needed, chosen = table.set_index("name")["users_needed"], state.setting.chosen
    title = state.setting.titled(chosen)
    if chosen in needed:
        classical = [n for n in needed.index if n != chosen and not library.spec(n).fitted and not ready[n].delta]
        said = (
            _against(chosen, classical[0], "the best classical one")
            if classical
            else f"{title} needs {wording.users(needed[chosen])}."
        )
    else:
        waits = "is still being computed" if title in awaited else "is not fitted yet"
        why = "cannot run here" if chosen in failed else waits
        first = state.setting.titled(needed.index[0])
        said = f"{title} {why}. Of the others, {first} needs the fewest people: {wording.needed(needed.iloc[0])}."
    with st.container(key="verdict"):
        st.markdown(
            say.plain(said),
            help=say.text(
                "Until every question meets its target ({error}), {case}. Targets are set on the Design page. "
                "What is proved is about unbiased mechanisms, those that are right on average, {kept}.",
                error=state.setting.error_in_words(1.0),
                case=case_meaning(case),
                kept=state.setting.kept,
            ),
        )


def _against(chosen: str, other: str, called: str) -> str:
    """How many times as many people one of two mechanisms needs."""
    cheaper, dearer = sorted((chosen, other), key=lambda name: state.setting.users_needed(ready[name], case))
    less, more = (state.setting.users_needed(ready[name], case) for name in (cheaper, dearer))
    first, second = (
        f"{state.setting.titled(name)}{f', {called},' if name == other else ''}" for name in (cheaper, dearer)
    )
    if wording.needed(less) == wording.needed(more):
        return f"{state.setting.titled(chosen)} needs as many people as {state.setting.titled(other)}, {called}: {wording.needed(less)}."
    times = f"{wording.significant(more / less, 2)} times" if more >= 1.1 * less else wording.share(1 - less / more)
    return f"{first} needs {times} fewer people than {second.rstrip(',')}: {wording.needed(less)} against {wording.needed(more)}."


def about_the_bound(table: pd.DataFrame) -> str:
    """The limit of all mechanisms, and the distance of the best to it."""
    bound, best = max(state.setting.bounds(case).values()), table.iloc[0]
    title = state.setting.titled(best["name"])
    if bound <= 0:
        return f"At epsilon {c.epsilon} nothing is proved of the least number of people."
    reach = (
        f" {title} has a delta, so this does not hold for it."
        if math.isinf(best["gap"])
        else ""
        if detects(state.setting)
        else f" {title} needs at most {wording.gap(best['gap'])} that{state.setting.mean_of}."
        if best["gap"]
        else f" {title} needs no more."
    )
    least = proved(state.setting, ready[best["name"]], case, wording.at_least(bound))
    return say.plain(f"Proved: at this epsilon, {case_meaning(case)}, {least}.{reach}")


def users_needed(table: pd.DataFrame) -> None:
    """How many people each mechanism needs, and what none can do with fewer; those that protect more than is asked are marked."""
    some = not every_value_is_secret(design.workload)
    marked = table.assign(about=["(hides all values)" * (some and ready[n].protects_all) for n in table["name"]])
    layout.chart(
        lambda look: charts.users_needed(marked, max(state.setting.bounds(case).values()), design.users, look),
        about_the_bound(table),
        "users-needed",
        table,
        title=f"People needed by mechanism, {case_title(case)}",
    )
    proving.controls(state, case)
    listed.figures(state, marked, ready)


def draw_query_errors(best: str) -> None:
    """Exact errors of single queries, for the mechanisms that are ready."""
    n = design.working_types
    if n > MOST_EXACT_TYPES:
        say.info(
            "Errors of single answers are computed for at most {most:,} types; there are {n:,} here. "
            "Simulate shows those of some of them.",
            most=MOST_EXACT_TYPES,
            n=n,
        )
        return
    tables = later.value(
        state,
        (
            "answers of",
            [(name, m.digest) for name, m in ready.items()],
            design.certificate_key(design.case),
            design.people.digest,
        ),
        "errors of single answers",
        lambda cancel: {name: design.answered(mechanism) for name, mechanism in ready.items()},
        "The errors of single answers are being computed.",
        quick=all(mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES for mechanism in ready.values()),
    )
    if tables is None:
        return
    rows = pd.concat([table.assign(mechanism=name) for name, table in tables.items()], ignore_index=True)
    reached = rows.assign(error=rows["finds"].fillna(rows["standard_error"]) / rows["target"])
    hardest = reached[reached["mechanism"] == best].nlargest(1, "error").iloc[0]
    titled = {library.spec(name).title: table for name, table in tables.items()}
    if len(tables[best]) > 1:
        layout.chart(
            lambda look: charts.query_errors(reached, look),
            say.text(
                "Exact errors, {case}, as multiples of the targets. For {title} the hardest answer is **{name}** "
                "with ± {error}.",
                case=case_meaning(design.case),
                title=library.spec(best).title,
                name=hardest["name"],
                error=verdicts.in_unit(hardest["standard_error"], hardest["unit"]),
            ),
            "query-errors",
            rows,
        )
    listing.show_table(
        side_by_side(titled)
        if len(tables[best]) > 1
        else pd.concat(answers(table).assign(Mechanism=title) for title, table in titled.items()).iloc[:, ::-1],
        "The answers of each mechanism, with their standard errors.",
    )
    st.caption(say.plain(explained(state)))


with st.container(key="results"):
    if awaited:
        say.info("The costs of these are being computed: {awaited}.", awaited=", ".join(awaited))
    if not ready:
        if not awaited:
            st.info("Choose at least one mechanism above that can be compared here.")
        layout.end()
    table = state.setting.compared(ready, case)
    work.prove_unasked(state)
    verdict(table)
    views: dict[str, Callable[[], None]] = {
        "People needed": partial(users_needed, table),
        "Error of each answer": partial(draw_query_errors, table["name"].iloc[0]),
        "Over epsilon": partial(sweeps.tab, state, "epsilon", case),
    }
    if design.workload.survey is None and every_value_is_secret(design.workload):
        if design.people.by_type is not None:
            views["What reports tell"] = partial(guesses.tab, state, case)
        # surveys are about columns of their own sizes only
        views["Over domain size"] = partial(sweeps.tab, state, "size", case)
    layout.panes(state, "compare-tabs", list(views), list(views.values()))

listed.catalogue(state)
if (
    ranking := layout.fold("League: every mechanism against the proved minimum, on 64 types", "league-fold")
) is not None:
    with ranking:
        listed.show_league()
layout.how_computed(COMPARE)
