"""How private and how: epsilon, the mechanism, its strategy and its guarantee."""

import math

import pandas as pd
import streamlit as st

from ldp_core import charts, deploy, frames, mechanisms, wording
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from pages.ui import frame, work
from pages.ui.controls import change, control
from pages.ui.jobs import jobs
from pages.ui.state import choose_mechanism
from pages.ui.text import gap_in_words, plain, waiting

SLIDER_LOW, SLIDER_HIGH = 0.1, 5.0
DRAWN_BITS = 22  # a strategy of more than 2^22 probabilities is drawn only where it is at hand anyway
PARAMETERS = {"branching": "Branching factor"}

state = frame.open_page(
    "Design", "Decide how private each report is and how it is made; see what is sent and what is guaranteed."
)
design = frame.need_design(state)
c = state.configuration
name = c.mechanism.name
spec = mechanisms.spec(name)


def privacy_controls() -> None:
    control(
        st.slider,
        "Epsilon (more private on the left)",
        "epsilon-slider",
        min(max(design.epsilon, SLIDER_LOW), SLIDER_HIGH),
        lambda value: state.change(epsilon=f"{value:g}"),
        min_value=SLIDER_LOW,
        max_value=SLIDER_HIGH,
        step=0.05,
        help="The privacy parameter of one report. Small: reports say little about their sender, and you need more users.",
    )
    control(
        st.text_input,
        "Exact epsilon",
        "epsilon-text",
        c.epsilon,
        change(state, "epsilon"),
        help=f"Any number from {MIN_EPSILON:g} to {MAX_EPSILON:g}.",
    )
    risk = deploy.risk_in_words(design.epsilon)
    st.caption(f"{risk[0].upper()}{risk[1:]}.")
    control(
        st.number_input,
        "Reports per user",
        "reports",
        c.reports_per_user,
        change(state, "reports_per_user"),
        min_value=1,
        max_value=1000,
        step=1,
        help="How often one person will send a report over the whole collection.",
    )
    total = wording.significant(c.total_epsilon, 4)
    st.caption(
        f"In total epsilon {total} per person"
        + (
            "."
            if c.reports_per_user == 1
            else f": {c.reports_per_user:,} reports of {c.epsilon} each. {deploy.risk_in_words(min(c.total_epsilon, 700)).capitalize()} in all."
        )
    )


def mechanism_controls() -> None:
    control(
        st.selectbox,
        "Mechanism",
        "mechanism",
        name,
        lambda chosen: state.change(mechanism=choose_mechanism(chosen)),
        options=mechanisms.names(),
        format_func=lambda n: mechanisms.spec(n).title,
    )
    st.caption(
        f"Made for {spec.made_for}. {spec.privacy[0].upper()}{spec.privacy[1:]}-LDP. Bits a report: {spec.bits}. "
        f"Source: {spec.paper}."
    )
    for parameter, values in spec.choices.items():
        control(
            st.selectbox,
            PARAMETERS.get(parameter, parameter.capitalize()),
            f"choice-{parameter}",
            c.mechanism.parameters.get(parameter, values[0]),
            lambda value, parameter=parameter: state.change(
                mechanism=choose_mechanism(name, **{**c.mechanism.parameters, parameter: value})
            ),
            options=values if isinstance(values[0], str) else sorted(values),
            format_func=lambda value: str(value).replace("_", " "),
        )
    if spec.fitted:
        control(
            st.number_input,
            "Optimiser seed",
            "optimizer-seed",
            c.optimizer.seed,
            lambda seed: state.change(optimizer=c.optimizer.model_copy(update={"seed": int(seed)})),
            min_value=0,
            step=1,
            help="The optimiser starts from a random strategy; the same seed gives the same result. It is no secret and "
            "plays no part when reports are sent.",
        )


def job_of_design():
    return jobs().find(state.id, state.fitted_key(name))


def optimizer_controls() -> None:
    job = job_of_design()
    if job is not None and job.active:
        st.button("Cancel and keep the best so far", on_click=job.cancel, key="cancel", icon=":material/stop_circle:")
    elif state.fitted(name):
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
        if job is not None and job.state == "failed":
            st.error(plain(job.error))


def curve(history, look: charts.Theme):
    data = frames.convergence(history, design.workload, c.target_alpha)
    return charts.convergence(data, state.bounds()["centred_svd"], name, look)


@st.fragment(run_every=0.5)
def live() -> None:
    """The optimiser at work: its best so far against the bound, and the strategy as it stands."""
    job = job_of_design()
    if job is None or not job.active:
        st.rerun()
    if job.progress is None:
        st.info(waiting(job.state, jobs().waiting_before(job)))
        return
    progress, history = job.progress, job.progress.history
    limit = f" of at most {progress.max_rounds:,}" if progress.max_rounds else ""
    st.markdown(f"Round {progress.round:,}{limit}, {wording.duration(progress.seconds)} so far.")
    if not history:
        return
    best = frames.convergence(history[-1:], design.workload, c.target_alpha)["users_needed"].iloc[-1]
    st.markdown(f"Best so far: **{wording.users(best)}** needed on average.")
    st.plotly_chart(
        curve(history, frame.look()), theme=None, key="live-curve", alt="Users needed by the best strategy so far"
    )
    picture = charts.strategy(progress.strategy, design.labels, frame.look())
    st.plotly_chart(picture, theme=None, key="live-strategy", alt="The best strategy so far as a heat map")


left, right = st.columns([1, 2], gap="large")
with left:
    privacy_controls()
    mechanism_controls()
    if spec.fitted:
        optimizer_controls()

with right:
    try:
        mechanism = state.mechanism(name)
    except ValueError as error:
        st.error(plain(str(error)))
        st.stop()
    if mechanism is None:
        job = job_of_design()
        if job is not None and job.active:
            live()
        else:
            limit = state.bounds()["centred_svd"]
            others = [summary for n in c.compared if (summary := state.summary_or_none(n)) is not None]
            least = (
                f" Whatever it finds, no unbiased mechanism with pure epsilon {c.epsilon} can need fewer than {wording.at_least(limit)} "
                f"here for an average error of {wording.error(c.target_alpha**0.5)}."
            )
            st.info(f"This mechanism is fitted to your workload: press Optimise.{least if limit > 0 else ''}")
            if not others:
                st.stop()
            table = frames.summaries(others)
            frame.chart(
                lambda look: charts.users_needed(table, state.bounds(), design.users, look),
                "What the mechanisms that need no fitting ask for"
                + (", and the region that is out of reach for any unbiased one." if limit > 0 else "."),
                "before-optimising",
                table,
            )
        st.stop()

    summary, audit, gap = state.summary(name), mechanism.audit(), state.gap(name)
    needed, audited, distance = st.columns(3)
    error = wording.error(c.target_alpha**0.5)
    needed.metric(
        "Users needed, worst case",
        wording.whole(summary.users_needed),
        help=f"So that a typical query has a standard error of {error} of all users, whatever values people have.",
    )
    audited.metric(
        "Audited epsilon",
        wording.significant(audit.epsilon, 6),
        help=f"Computed from the actual probabilities ({audit.method}); you asked for {c.epsilon}.",
    )
    distance.metric(
        "Gap to the best, at most",
        gap_in_words(gap),
        help="The lower bound says nothing at this epsilon."
        if math.isinf(gap)
        else "How many more users this mechanism needs, averaged evenly over the types, than the centred SVD bound allows any.",
    )
    enough = "enough" if design.users >= summary.users_needed else "not enough"
    st.markdown(
        f"{spec.title} needs **{wording.users(summary.users_needed)}** for a standard error of {error} on a typical query in "
        f"the worst case; your {wording.count(design.users)} are {enough}. With them, expect "
        f"{wording.error(summary.standard_error_on_data)} on {design.population}. {mechanism.explain()} "
        f"A report is {wording.count(math.ceil(mechanism.bits_per_report))} bit{'' if mechanism.bits_per_report == 1 else 's'}."
    )
    st.caption("Guarantee, to paste into a privacy review")
    frame.guarantee(c, audit)

    if spec.fitted and state.fitted(name)[1]:
        history = state.fitted(name)[1]
        data = frames.convergence(history, design.workload, c.target_alpha)
        region = (
            "At this epsilon the lower bound says nothing."
            if math.isinf(gap)
            else "The shaded region is proved impossible by the centred SVD bound; the distance to it is the most that any other "
            "unbiased mechanism could still save."
        )
        frame.chart(
            lambda look: curve(history, look),
            f"The optimiser improved its strategy for {wording.duration(data['seconds'].iloc[-1])}. {region}",
            "convergence",
            data,
        )
    # Subset selection on 25 types already has half a million reports: writing them out takes seconds and shows nothing.
    small = mechanism.bits_per_report + math.log2(design.domain.size) <= DRAWN_BITS
    fitted = isinstance(mechanism, mechanisms.ExplicitMechanism)
    finite = isinstance(mechanism, mechanisms.FiniteOutput)
    strategy = getattr(mechanism, "strategy", None) if finite and (small or fitted) else None
    if strategy is None:
        st.info(
            "This mechanism has too many possible reports to draw its strategy, or sends numbers rather than one of a list of "
            "reports. Its variances and audit are exact all the same."
        )
    else:
        relative = st.toggle("Show odds instead of probabilities", value=True, key="relative")
        m, n = strategy.shape
        unit = (
            "how many times likelier a report is for a type than for the type least likely to send it"
            if relative
            else ("the probability that a person of that type sends the report")
        )
        frame.chart(
            lambda look: charts.strategy(strategy, design.labels, look, relative),
            f"Each of the {m:,} rows is a report, each of the {n:,} columns a type of person; colour is {unit}. "
            f"The largest ratio in any row is e^{wording.significant(audit.epsilon, 6)}, found between "
            f"{plain(design.labels[audit.worst_pair[0]])} and {plain(design.labels[audit.worst_pair[1]])}.",
            "strategy",
            pd.DataFrame(strategy, columns=list(design.labels)),
        )
    frame.how_computed(
        "**Privacy.** Epsilon-LDP: for every report *y* and any two types *u, v*, P(*y* | *u*) ≤ e^ε P(*y* | *v*) (McKenna et al. 2020, "
        "Definition 2.4). The audit takes the largest such ratio over the numbers as stored. "
        "**Variance.** With *d* the row sums of the strategy *Q*, *M = Q' D⁻¹ Q* and *R = M⁻¹ Q' D⁻¹*, one user of type *u* adds "
        "Σᵧ Qᵧᵤ |W Rᵧ|² − Gᵤᵤ (same paper, Theorems 3.4 and 3.10). **Users needed** (sample complexity): the largest of these over "
        "*u*, divided by *p* α (Corollary 5.4); α is the mean squared error aimed at, set on the Compare page. "
        "**Gap.** (L − tr G)/(bound − tr G) − 1, average against average, with the centred SVD bound |W1|²/n + |W(I − 11'/n)|²∗ / sinh²(ε/2)."
    )
