"""The details behind the verdict of a design: its figures, the search, the patterns and the
proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from ldp_core import analysis, charts, designs, frames, library, verdicts, wording
from ldp_core.designs import days
from ldp_core.designs.choices import GOOD_ENOUGH
from ldp_core.designs.proofs import Proof
from ldp_core.mechanisms import Mechanism
from pages.ui import answer_tables, layout, listing, patterns, say, verdict_panel
from pages.ui.formulas import DESIGN
from pages.ui.later import Work
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import case_meaning, case_title, weighting


def finished(state: Session, mechanism: Mechanism, case: str) -> bool:
    """True if a fit is proved to be as good as any search here is for."""
    try:
        needed = state.setting.mean_needed(mechanism, case)
    except ValueError:
        return False
    return needed <= (1 + GOOD_ENOUGH) * max(state.setting.bounds(case).values())


def unfitted(state: Session, case: str) -> None:
    """The verdict while the mechanism has yet to be fitted: what is known already."""
    name = state.configuration.mechanism.name
    fit, limit = work.fit(state, name), max(state.setting.bounds(case).values())
    with st.container(key="verdict"):
        st.markdown("A mechanism is being fitted." if fit.running is not None else "No mechanism fitted yet.")
    if limit > 0 and fit.running is None:
        say.markdown(
            "Proved: nobody can do with fewer than {people} people for {error}, {case}.",
            people=wording.minimum(limit),
            error=state.setting.error_in_words(1.0),
            case=case_meaning(case),
        )
    say.error("{error}", error=fit.error)
    say.caption("{outgrown}", outgrown=state.setting.outgrows_a_kit(name))
    say.caption("{crowded}", crowded="" if fit.running is not None else state.crowded([name]))


def simulated_only(state: Session, mechanism: Mechanism) -> None:
    """End the page where a mechanism can be used and simulated, but its costs would take matrices too large."""
    try:
        state.costs_known(mechanism)
    except ValueError as error:
        st.info(say.plain(str(error)))
        st.page_link("pages/simulate.py", label="Simulate it", icon=":material/casino:")
        st.markdown(say.plain(patterns.explained(state, mechanism)))
        st.caption("Guarantee, to paste into a privacy review")
        layout.guarantee(state.configuration, mechanism.audit())
        layout.end()


def needed(state: Session, mechanism: Mechanism, case: str) -> None:
    """People needed, and in grey what is proved: the least that anybody needs, and the epsilon."""
    c, audit, setting = state.configuration, mechanism.audit(), state.setting
    spec, limits, gap = library.spec(c.mechanism.name), setting.bounds(case), setting.gap(mechanism)
    required, bound = setting.users_needed(mechanism, case), max(limits.values())
    say.metric(
        layout.metrics("design"),
        "People needed",
        wording.needed(required),
        f"Until every question meets its target on average over its answers ({setting.error_in_words(1.0)}), {case_meaning(case)}.",
    )
    known = bound > 0 and not mechanism.delta
    least = (
        f"Proved: {verdict_panel.proved(setting, mechanism, case, wording.minimum(bound))}"
        if known
        else "Nothing is proved here of the least number of people"
    )
    proof = (
        f"This holds for every unbiased mechanism {setting.kept}, by the {frames.BOUND_TITLES[frames.strongest(limits)]}: unbiased means right on "
        f"average. For its noise alone this one needs at most {wording.gap(gap)} as many people{setting.mean_of}. "
    )
    st.caption(
        say.plain(f"{least}. Audited epsilon: {designs.audited_in_words(c.epsilon_value, audit)}."),
        help=say.text(
            "{proof} The audited epsilon is computed from the {source} ({method}) and rounded up; you asked "
            "for {epsilon}. {caveat}",
            proof=proof if known else "",
            source="noise" if spec.continuous else "actual probabilities",
            method=audit.method,
            epsilon=c.epsilon,
            caveat=spec.caveat,
        ),
    )
    say.caption("{spared}", spared=setting.spared(mechanism))
    say.caption("{values}", values=designs.open_values(c, audit))
    if (ways := days.compared(setting, mechanism)) is not None:
        shown = ways.assign(noise=ways["noise"].map("{:.1f}".format), people=ways["people"].map("{:.1f} times".format))
        named = shown.set_axis(["Way to ask", "Noise a day and person", "People for the same errors"], axis=1)
        listing.show_words(named, f"The same days asked otherwise, {case_meaning(case)}.")


def questions(state: Session, mechanism: Mechanism) -> None:
    """How wide the intervals of the answers will be, and each answer with its error and verdict, what is not usable first."""
    found = verdict_panel.judged(state, mechanism)
    if found is not None:
        whose = "in the planning data" if state.setting.on_data else f"for {state.setting.population}"
        words = f"Each answer as it is {whose}: how wide the intervals of Collect will be."
        promise = charts.promised(found, state.setting.lines(mechanism, verdict_panel.alone(state, state.setting)))
        answer_tables.result_and_tables(state, state.setting.answers, promise, words, "promised")
        usable = found["verdict"] == verdicts.USABLE
        verdict_panel.show_answers(state, pd.concat([found[~usable], found[usable]]))
    elif reason := analysis.too_many_types(state.setting.workload):
        st.info(say.plain(reason))


# --- the search -------------------------------------------------------------------------------------------------


def optimising(state: Session, case: str, progress: work.FitProgress, running: Work) -> None:
    """The optimiser at work: the best mechanism falls, the certified bound rises, and the gap between them closes."""
    name = state.configuration.mechanism.name
    so_far = f"Round {progress.round:,}, {wording.duration(progress.seconds)} so far."
    if not progress.history:
        st.markdown(say.plain(so_far))
        return
    setting, trace = state.setting, state.setting.workload.trace
    proved_so_far = ((0.0, trace), *work.proved(work.certificate(state, case), trace))
    best, bound = (
        frames.convergence(points, setting.answers.workload, setting.answers.norm)
        for points in (progress.history, proved_so_far)
    )
    # The closed form holds from the first moment.
    bound["users_needed"] = bound["users_needed"].clip(lower=max(setting.closed_bounds(case).values())).cummax()
    needed, least = best["users_needed"].iloc[-1], bound["users_needed"].iloc[-1]
    proved = f"the proved minimum is {wording.at_least(least)}" if least > 0 else "nothing is proved yet"
    gap = f" (at most {wording.gap(frames.gap(needed, least))} the minimum)" if least > 0 else ""
    st.markdown(say.plain(f"The best so far needs {wording.users(needed)}; {proved}{gap}. {so_far}"))
    say.markdown("**{title}**", title=layout.CHART_TITLES["closing-gap"])
    layout.picture(
        charts.closing_gap(best, bound, name, layout.look()),
        "",
        "People needed by the best strategy so far, and the lower bound proved so far",
    )
    if progress.strategy is not None:
        say.markdown("**{title}**", title=layout.CHART_TITLES["patterns"])
        layout.picture(
            charts.patterns(progress.strategy, state.setting.labels, layout.look(), name),
            "",
            "The best strategy so far: which types share a report",
        )


# --- the patterns and the proof ---------------------------------------------------------------------------------


def patterns_and_proof(state: Session, mechanism: Mechanism, case: str, go_on: Callable[[], None]) -> None:
    """Who shares which report, what proves that hardly anything is better, and the button to ``go_on`` with the search."""
    layout.heading("Patterns")
    _patterns(state, mechanism)
    layout.heading("Proof")
    _proof(state, mechanism, case)
    name = state.configuration.mechanism.name
    if library.spec(name).fitted and work.fit(state, name).running is None:
        go_on()
    layout.how_computed(DESIGN)


def _patterns(state: Session, mechanism: Mechanism) -> None:
    """The strategy as a picture, and who shares which report."""
    setting, audit = state.setting, mechanism.audit()
    say.markdown(
        "{explained} A report is {bits}.",
        explained=patterns.explained(state, mechanism),
        bits=wording.plural(math.ceil(mechanism.bits_per_report), "bit"),
    )
    if mechanism.survey is not None and setting.workload.survey is not None:
        patterns.of_survey(state, mechanism)
        return
    try:
        table = patterns.table_of(setting, mechanism)
    except ValueError as error:
        st.info(say.plain(str(error)))
        return
    with st.spinner("Drawing the reports"):
        patterns.picture(setting, mechanism, layout.look())
    words = say.plain(patterns.meaning(table, mechanism))
    if table.kind == "reports":
        words += say.text(
            " The types in colour send it up to e^{epsilon} = {factor} times as often as the others. The "
            "largest ratio lies between {first} and {second}.",
            epsilon=wording.significant(audit.epsilon, 4),
            factor=designs.factor_in_words(audit.epsilon),
            first=setting.labels[audit.worst_pair[0]],
            second=setting.labels[audit.worst_pair[1]],
        )
    layout.chart(
        partial(patterns.picture, setting, mechanism),
        words,
        "patterns",
        lambda: pd.DataFrame(table.entries, columns=list(setting.labels)),
        title=patterns.TITLES.get(table.kind, ""),
    )


def _proof(state: Session, mechanism: Mechanism, case: str) -> None:
    """How close to the best, in every case, with what proves it; and the guarantee."""
    c = state.configuration
    limits, gap = state.setting.bounds(case), state.setting.gap(mechanism)
    bound = max(limits.values())
    if not math.isinf(gap):
        say.markdown(
            "No unbiased mechanism {kept} can need fewer than {people}{mean_of}: this one needs at most {times} that.",
            help="Unbiased: right on average. Pure: the chance of no report changes by more than a factor of e^epsilon with the value, without exception.",
            kept=state.setting.kept,
            people=f"{wording.at_least(bound)}{' against its noise alone' if verdict_panel.detects(state.setting) else ''}",
            mean_of=state.setting.mean_of,
            times=wording.gap(gap),
        )
    _costs(state, mechanism, case)
    if (proof_known := state.setting.proof(case)) is not None:
        _check(state, proof_known, case)
    st.caption("Guarantee, to paste into a privacy review")
    layout.guarantee(c, mechanism.audit())
    say.caption("{weights}", weights=weighting(c))


def _costs(state: Session, mechanism: Mechanism, case: str) -> None:
    costs = state.setting.costs(mechanism)
    by_case = {
        "Optimise for": [case_title(k).capitalize() for k in costs["case"]],
        "People needed": [wording.needed(value) for value in costs["users_needed"]],
        "Proved minimum": [wording.minimum(value) if value > 0 else "unknown" for value in costs["users_bound"]],
        "Of the minimum, at most": [wording.gap(value) for value in costs["gap"]],
    }
    if len(costs) > 1:
        listing.show_table(pd.DataFrame(by_case), "People needed, depending on whose error counts.")
    elif not library.spec(state.configuration.mechanism.name).aimed:  # otherwise said beside the choices already
        st.caption(say.plain(state.setting.only_case))
    layout.download_table(costs, "costs")


def _check(state: Session, proof_given: Proof, case: str) -> None:
    """The certificate re-checks itself: without the optimiser, from the numbers it carries."""
    left, right = st.columns([2, 3])
    if left.button("Check the proof again", key="check-proof", icon=":material/verified:"):
        with st.spinner("Checking the proof"):
            holds = proof_given.certificate.verify()
        state.view["checked"] = (state.setting.certificate_key(case), holds)
    checked, holds = state.view.get("checked", ("", True))
    if checked != state.setting.certificate_key(case):
        limits = state.setting.bounds(case)
        strongest = frames.strongest(limits)
        words = "The minimum is a certificate: an independently checkable proof."
        if strongest != "certificate":
            words = (
                f"The minimum is the {frames.BOUND_TITLES[strongest]}. An independently checkable certificate shows "
                f"{wording.at_least(limits['certificate'])}."
            )
        right.caption(
            say.plain(words),
            help=say.text(
                "Numbers that prove it by {proves_by}, rounding included.", proves_by=proof_given.certificate.proves_by
            ),
        )
    elif holds:
        right.caption("Checked just now, from the numbers of the certificate alone: its bound holds.")
    else:
        right.error("The certificate does not prove this bound. Please optimise again, and report this.")
