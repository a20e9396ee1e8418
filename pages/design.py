"""How private each report is and how it is made: epsilon, the mechanism, its strategy and its guarantee."""

import math
from functools import partial

import pandas as pd
import streamlit as st

from ldp_core import charts, designs, frames, library, verdicts, wording
from ldp_core.designs.setting import Curve, Proof
from ldp_core.limits import MOST_SHOWN_REPORTS, UNASKED_TYPES
from pages.ui import layout, lazy, listing, patterns, privacy_accuracy
from pages.ui.controls import target_control
from pages.ui.design import choices
from pages.ui.formulas import DESIGN
from pages.ui.tasks import work
from pages.ui.tasks.jobs import Job
from pages.ui.tasks.later import Later
from pages.ui.verdict_panel import explain, in_words
from pages.ui.words import (
    OPTIMUM_MEANING,
    above_optimum,
    case_meaning,
    case_title,
    cells,
    gap_in_words,
    gap_to_optimum,
    plain,
    weighting,
)

state = layout.open_page(
    "Design", "Decide how private each report is and how it is made; see what is sent and what is guaranteed."
)
design = layout.need_design(state)
c = state.configuration
name = c.mechanism.name
spec = library.spec(name)
case = state.present.aim(name)
fit, proving = work.fit(state, name), work.certificate(state, case)
work.find_optima(state)


def stop() -> None:
    for job in (fit.running, proving.running):
        if job is not None:
            job.stop()


def optimizer_controls() -> None:
    if fit.running is not None:
        st.button("Cancel and keep the best so far", on_click=stop, key="cancel", icon=":material/stop_circle:")
    elif state.setting.from_file(name):
        st.warning(
            "This strategy was loaded from a file, not computed here. Its epsilon and its errors were worked out again from its "
            "probabilities; how it was made is not known here."
        )
        st.button(
            "Optimise here instead",
            on_click=work.start_fit,
            args=(state, name),
            key="optimise",
            icon=":material/replay:",
        )
    elif refusal is not None:  # the right side says why
        st.button("Optimise", disabled=True, key="optimise", icon=":material/play_arrow:")
    elif state.setting.fitted(name):
        st.caption("Fitted to this design. Another seed tries another start.")
    else:
        st.button(
            "Optimise",
            type="primary",
            on_click=work.start_fit,
            args=(state, name),
            key="optimise",
            icon=":material/play_arrow:",
            help="Fits the strategy to your workload, in the background; you can stop it at any moment and keep the best so far.",
        )
        if fit.error:
            st.error(plain(fit.error))


def curves(history: Curve) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The best mechanism so far and the bound proved so far, in users over seconds."""
    trace = design.workload.trace
    so_far = ((0.0, trace), *work.proved(proving, trace))
    found, bound = (frames.convergence(points, design.workload, state.setting.alpha) for points in (history, so_far))
    # The closed form holds from the first moment.
    bound["users_needed"] = bound["users_needed"].clip(lower=max(state.setting.closed_bounds(case).values())).cummax()
    return found, bound


def gap_sentence(needed: float, bound: float) -> str:
    if bound <= 0:
        return f"The best so far needs {wording.users(needed)}. At this epsilon the lower bound says nothing yet."
    return (
        f"The best so far needs {wording.users(needed)}; no unbiased mechanism with pure epsilon {c.epsilon} can need "
        f"fewer than {wording.at_least(bound)}.{to_the_optimum('the best so far', needed)}"
    )


def to_the_optimum(what: str, needed: float) -> str:
    """One more sentence: the exact optimum, and how far from it a mechanism is that needs so many users. Nothing where it is not
    known."""
    optimum = state.setting.optimum(case)
    if optimum is None:
        return ""
    return f" The exact optimum is {wording.users(optimum)}; {what} {above_optimum(needed / optimum - 1)}."


def optimising(progress: work.FitProgress, job: Job) -> None:
    """The optimiser at work: the best mechanism falls, the certified bound stands, and the gap between them closes."""
    if progress.ended:
        st.info("The search has ended. What its best strategy costs and guarantees is being worked out.")
    if not progress.history:
        st.markdown(f"Round {progress.round:,}, {wording.duration(progress.seconds)} so far.")
        return
    found, bound = curves(progress.history)
    needed, least = found["users_needed"].iloc[-1], bound["users_needed"].iloc[-1]
    gap = frames.gap(needed, least)
    st.metric("Gap to the best, at most", gap_in_words(gap))
    st.markdown(f"{gap_sentence(needed, least)} Round {progress.round:,}, {wording.duration(progress.seconds)} so far.")
    layout.picture(
        charts.closing_gap(found, bound, name, layout.look(), state.setting.optimum(case)),
        "live-curve",
        "Users needed by the best strategy so far, and the lower bound proved so far",
    )
    if progress.strategy is not None:
        layout.picture(
            charts.patterns(progress.strategy, design.labels, layout.look(), charts.colour(name)),
            "live-strategy",
            "The best strategy so far: which types share a report",
        )


def trade_off(costs: pd.DataFrame) -> str:
    """What aiming at one case costs in the others."""
    rows = costs.set_index("case")
    others = [
        f"{wording.more_users(gap)} necessary {case_meaning(other)}"
        for other, gap in rows["gap"].items()
        if other != case and math.isfinite(gap)
    ]
    whom = case_title(case) if case_title(case).startswith("your") else f"the {case_title(case)}"
    if not others:
        return f"Fitted for {whom}."
    return f"Fitted for {whom}. In other cases it needs at most {'; '.join(others)}."


def proof_controls(proof: Proof) -> None:
    """The certificate re-checks itself: without the optimiser, from the numbers it carries."""
    left, right = st.columns([2, 3])
    if left.button("Check the proof again", key="check-proof", icon=":material/verified:"):
        with st.spinner("Checking the proof"):
            holds = proof.certificate.verify()
        state.view["checked"] = (state.setting.certificate_key(case), holds)
    checked, holds = state.view.get("checked", ("", True))
    if checked != state.setting.certificate_key(case):
        limits = state.setting.bounds(case)
        strongest = frames.strongest(limits)
        which = (
            "The bound is a certificate: numbers that prove it"
            if strongest == "certificate"
            else f"The bound above is the {charts.title(strongest)}. A certificate says {wording.at_least(limits['certificate'])}: numbers "
            "that prove that"
        )
        right.caption(
            f"{which} by {proof.certificate.proves_by}, rounding included, whoever computed them and however."
        )
    elif holds:
        right.caption("Checked just now, from the numbers of the certificate alone: its bound holds.")
    else:
        right.error("The certificate does not prove this bound. Please optimise again, and report this.")


refusal = state.setting.unfit(name)
controls, results = layout.frame()
with controls:
    choices.privacy_controls(state)
    choices.mechanism_controls(state)
    target_control(state)
    if spec.fitted:
        with layout.actions():
            optimizer_controls()
            with layout.more("Search settings"):
                choices.search_controls(state)

with results:
    privacy_accuracy.show(state)
    try:
        if refusal is not None:
            raise ValueError(refusal)
        mechanism = state.mechanism(name)
    except ValueError as error:
        st.error(plain(str(error)))
        st.page_link("pages/compare.py", label="See what other mechanisms need", icon=":material/bar_chart:")
        layout.end()
    if mechanism is None:
        if (running := fit.running) is not None:
            layout.live(running, optimising)
        else:
            limits = state.setting.bounds(case)
            limit = max(limits.values())
            hope = (
                f" Whatever it finds, no unbiased mechanism with pure epsilon {c.epsilon} can need fewer than "
                f"{wording.at_least(limit)} for a standard error of {wording.error(state.setting.alpha**0.5)}, {case_meaning(case)}."
            )
            st.info(f"This mechanism is fitted to your workload: press Optimise.{hope if limit > 0 else ''}")
            if crowded := state.crowded([name]):
                st.caption(plain(crowded))
            if design.domain.size > UNASKED_TYPES:
                st.page_link("pages/compare.py", label="See what other mechanisms need", icon=":material/bar_chart:")
                layout.end()
            costed = {other: state.setting.costed(other) for other in state.setting.side_by_side}
            ready = {other: mechanism for other, mechanism in costed.items() if mechanism is not None}
            table = state.setting.compared(ready, case)
            if table.empty:
                layout.end()
            layout.chart(
                lambda look: charts.users_needed(
                    table, limits, design.users, look, case_title(case), state.setting.optimum(case)
                ),
                f"What the mechanisms that need no fitting ask for, {case_meaning(case)}"
                + (", and the region that is out of reach for any unbiased one." if limit > 0 else "."),
                "before-optimising",
                table,
            )
        layout.end()

    layout.need_costs(state, mechanism)
    audit = mechanism.audit()
    try:
        gap = state.setting.gap(mechanism)
    except ValueError as error:  # the mechanism can be used and simulated, but its costs would take matrices too large
        st.info(plain(str(error)))
        st.page_link("pages/simulate.py", label="Simulate it", icon=":material/casino:")
        st.markdown(plain(patterns.explained(state, mechanism)))
        st.caption("Guarantee, to paste into a privacy review")
        layout.guarantee(c, audit)
        layout.end()
    required, limits = state.setting.users_needed(mechanism, case), state.setting.bounds(case)
    bound = max(limits.values())
    target = wording.error(state.setting.alpha**0.5)
    row = layout.metrics("design")
    row.metric(
        "Users needed",
        wording.whole(required),
        help=f"So that a typical query has a standard error of {target} of all users, {case_meaning(case)}.",
    )
    row.metric(
        "Proved minimum",
        wording.whole(bound) if bound > 0 and not mechanism.delta else "unknown",
        help=f"Proved for every unbiased mechanism with pure epsilon {c.epsilon} by the "
        f"{charts.title(frames.strongest(limits))}, for the same error and the same people.",
    )
    row.metric(
        "Gap, at most",
        gap_in_words(gap),
        help="The lower bound says nothing at this epsilon."
        if math.isinf(gap)
        else f"How many more users this mechanism needs than the fewest the bound allows, {case_meaning(case)}.",
    )
    row.metric(
        "Audited epsilon",
        designs.audited_in_words(c.epsilon_value, audit),
        help=f"Rounded up. Computed from the {'noise' if spec.continuous else 'actual probabilities'} ({audit.method}); you asked "
        f"for {c.epsilon}. {spec.caveat}",
    )
    if math.isinf(gap):
        closeness = ""
    elif gap < 1:
        closeness = (
            f" No unbiased mechanism with pure epsilon {c.epsilon} can need fewer than {wording.at_least(bound)}: you are "
            f"within {gap_in_words(gap)} of the best possible."
        )
    else:
        closeness = f" The best bound says that {wording.at_least(bound)} cannot be enough for any unbiased mechanism."
    if not mechanism.delta:
        closeness += to_the_optimum("this mechanism", required)
    bits = wording.count(math.ceil(mechanism.bits_per_report))
    st.markdown(
        f"This mechanism needs **{wording.users(required)}** until a difference of {verdicts.in_words(state.setting.difference)} shows clearly in "
        f"a typical answer ({target} standard error), {case_meaning(case)}.{closeness}"
    )
    later = Later(state, "verdicts")
    st.markdown(in_words(state, mechanism, later))
    later.finish()
    explain(state)
    if weighting(state.configuration):
        st.caption(weighting(state.configuration))
    st.markdown(f"{plain(patterns.explained(state, mechanism))} A report is {bits} bit{'' if bits == '1' else 's'}.")
    costs = state.setting.costs(mechanism)
    by_case = {
        "Whose error counts": [case_title(k).capitalize() for k in costs["case"]],
        "Users needed": [wording.whole(value) for value in costs["users_needed"]],
        "Proved minimum": [wording.whole(value) if value > 0 else "unknown" for value in costs["users_bound"]],
        "Gap, at most": [gap_in_words(value) for value in costs["gap"]],
    }
    if "users_optimum" in costs:
        by_case["Exact optimum"] = [wording.whole(value) if value == value else "–" for value in costs["users_optimum"]]
        by_case["Gap to it"] = [gap_to_optimum(value) for value in costs["gap_to_optimum"]]
    if len(costs) > 1:
        listing.show_table(pd.DataFrame(by_case), "Users needed, depending on whose error counts.")
    elif not spec.aimed:  # else said beside the choices already
        st.caption(state.setting.only_case)
    layout.download_table(costs, "costs")
    if bound > 0:
        st.caption("Proved minimum: no unbiased mechanism with this epsilon can need fewer users.")
    if "users_optimum" in costs:
        unknown = costs["users_optimum"].isna() & (costs["case"] == "worst_case")
        st.caption(f"{OPTIMUM_MEANING}{' It is not known here for the worst case.' if unknown.any() else ''}")
    if spec.fitted and len(costs) > 1:
        st.caption(trade_off(costs))
    st.caption("Guarantee, to paste into a privacy review")
    layout.guarantee(c, audit)
    if (proof := state.setting.proof(case)) is not None:
        proof_controls(proof)
    if spec.fitted:
        work.prove_unasked(state)  # a design that was loaded comes without its proofs

    fitted = state.setting.fitted(name) if spec.fitted else None
    if fitted is not None and fitted.history:
        found, proved_so_far = curves(fitted.history)
        region = (
            "At this epsilon the lower bound says nothing."
            if bound <= 0
            else "The shaded region is proved impossible; the distance to it is the most that any other unbiased mechanism "
            "could still save."
        )
        layout.chart(
            lambda look: charts.closing_gap(found, proved_so_far, name, look, state.setting.optimum(case)),
            f"The optimiser improved its strategy for {wording.duration(found['seconds'].iloc[-1])}. {region}",
            "closing-gap",
            pd.concat({"mechanism": found, "bound": proved_so_far}, names=["curve"]).reset_index("curve"),
        )
    if mechanism.split or mechanism.scrambled or mechanism.component_information:
        patterns.of_survey(state, mechanism)
    elif not patterns.drawable(mechanism):
        st.info(
            "This mechanism has too many possible reports to draw its strategy, or sends numbers rather than one of a list of "
            f"reports. Its variances {'' if spec.continuous else 'and audit '}are exact all the same."
        )
    else:
        drawn, m = mechanism, len(mechanism.strategy)
        with st.spinner("Drawing the strategy"):
            patterns.picture(state.setting, mechanism, layout.look())
        layout.chart(
            partial(patterns.picture, state.setting, mechanism),
            f"Each of the {m:,} reports is a band, taller the more common it is; the types in colour send it up to "
            f"e^{wording.significant(audit.epsilon, 4)} = {designs.factor_in_words(audit.epsilon)} times as often as the "
            f"others. A report says little more than: probably one of these. The largest ratio lies between "
            f"{plain(design.labels[audit.worst_pair[0]])} and {plain(design.labels[audit.worst_pair[1]])}.",
            "patterns",
            lambda: pd.DataFrame(drawn.strategy, columns=list(design.labels)),
        )
        if (groups := lazy.fold(f"The groups that share a report ({m:,})", "groups")) is not None:
            with groups:
                with st.spinner("Looking through the reports"):
                    table = patterns.reports(state.setting, mechanism)
                listing.show_table(
                    cells(table.head(MOST_SHOWN_REPORTS), probability=wording.share),
                    "The reports, and the types that share each.",
                    column_order=["group", "types", "probability", "high", "low"],
                    column_config={
                        "probability": st.column_config.NumberColumn("Sent by, on average"),
                        "types": st.column_config.NumberColumn("Types in the group"),
                        "high": st.column_config.NumberColumn("Probability in the group", format="%.4g"),
                        "low": st.column_config.NumberColumn("Everyone else", format="%.4g"),
                        "group": st.column_config.TextColumn("Group", width="large"),
                    },
                )
                shown = (
                    f"The {MOST_SHOWN_REPORTS} commonest; the download has all."
                    if m > MOST_SHOWN_REPORTS
                    else "All reports."
                )
                st.caption(shown)
                layout.download_table(table, "reports")
    layout.how_computed(DESIGN)
