"""Mechanisms side by side: users needed, errors, and how far each is from what no mechanism can beat."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import charts, frames, mechanisms, wording
from pages.ui import frame, work
from pages.ui.controls import control
from pages.ui.jobs import jobs
from pages.ui.text import gap_in_words, people, plain, waiting

TIE = 1e-9

state = frame.open_page(
    "Compare", "See which mechanism needs the fewest users for your questions, and what errors to expect."
)
design = frame.need_design(state)
c = state.configuration


def set_error(text: str) -> None:
    cleaned = text.strip().removesuffix("%").strip()
    try:
        points = float(cleaned)
    except ValueError:
        raise ValueError(
            f"Please give the target error in percentage points, such as 10 or 2.5; {text.strip()[:30]!r} is not a number."
        ) from None
    if not 0.01 <= points <= 100:
        raise ValueError("The target error must be from 0.01 to 100 percentage points; 1 to 10 is common.")
    # Ten percentage points must give alpha = 0.01 exactly, not 0.010000000000000002.
    state.change(target_alpha=round((points / 100) ** 2, 15))


left, right = st.columns([1, 2], gap="large")
with left:
    control(
        st.multiselect,
        "Mechanisms",
        "compared",
        [n for n in c.compared if n in mechanisms.names()],
        lambda chosen: state.change(compared=tuple(chosen)),
        options=mechanisms.names(),
        format_func=lambda n: mechanisms.spec(n).title,
        wrap=True,
    )
    control(
        st.text_input,
        "Target error (± percentage points of all users)",
        "target-error",
        wording.significant(100 * c.target_alpha**0.5, 6),
        set_error,
        help="The standard error of a typical query you can live with. Users needed are for this error.",
    )
    st.caption(
        f"Mean squared error of a share alpha = {wording.significant(c.target_alpha, 4)} (the papers' default is 0.01)."
    )

    ready, failed = [], []
    for name in c.compared:
        try:
            mechanism = state.mechanism(name)
        except ValueError as error:
            failed.append((name, str(error)))
            continue
        if mechanism is not None:
            ready.append(mechanism)
    if missing := state.unfitted(c.compared):
        fits = [job for name in missing if (job := jobs().find(state.id, state.fitted_key(name))) is not None]
        running = any(job.active for job in fits)
        st.button(
            "Fitting" if running else f"Add {len(missing)} fitted mechanism{'' if len(missing) == 1 else 's'}",
            key="optimise",
            type="primary",
            disabled=running,
            on_click=work.start_fits,
            args=(state, missing),
            icon=":material/play_arrow:",
            help="Fits each to your workload in the background; it joins the comparison when it is ready.",
        )
        for job in fits:
            if job.state == "failed":
                st.error(plain(job.error))
    for name, reason in failed:
        st.warning(f"{mechanisms.spec(name).title}: {reason}")

with right:
    if not ready:
        st.info("Choose at least one mechanism on the left.")
        st.stop()
    table = frames.summaries([state.summary(mechanism.name) for mechanism in ready])
    table["gap"] = [state.gap(name) for name in table["name"]]
    limits = state.bounds()
    best = table.iloc[0]
    # Equal up to rounding is equal: on two types several mechanisms are the same one.
    winners = table["name"][table["users_needed"] <= best["users_needed"] * (1 + TIE)]
    error = wording.error(c.target_alpha**0.5)
    title = mechanisms.spec(best["name"]).title
    names = " and ".join(f"**{mechanisms.spec(name).title}**" for name in winners)
    floor = best["noise_floor"]
    if floor < 1:
        feasible = f"With your {people(design.users)}, shares below **{wording.share(floor)}** drown in noise."
    else:
        feasible = f"With your {people(design.users)} **nothing can be told from noise**, whatever the share."
    st.markdown(
        f"{names} {'needs' if len(winners) == 1 else 'need'} the fewest users: {wording.users(best['users_needed'])} for a standard error of {error} in the worst "
        f"case. {feasible}"
    )
    overview, per_query, range_tab = st.tabs(["Users needed", "Error of each query", "Over epsilon"])

with overview:
    if limits["centred_svd"] > 0:
        bound_sentence = (
            f"No unbiased mechanism with pure epsilon {c.epsilon} can need fewer than {wording.at_least(limits['centred_svd'])} (centred SVD "
            f"bound, proved for the average over types and so for the worst case too); McKenna et al.'s SVD bound says "
            f"{wording.at_least(limits['svd'])}. On average over the types {title} needs at most {gap_in_words(best['gap'])} "
            f"{'more users than the bound' if best['gap'] < 10 else 'as many'}."
        )
    else:
        bound_sentence = f"At epsilon {c.epsilon} the lower bounds say nothing here: they allow any number of users."
    frame.chart(
        lambda look: charts.users_needed(table, limits, design.users, look),
        bound_sentence,
        "users-needed",
        table,
    )
with per_query:
    errors = state.cached(
        ("query_errors", [m.digest for m in ready], design.workload.spec, design.counts.tobytes(), design.labels),
        lambda: frames.query_errors(ready, design.workload, design.counts, design.labels),
    )
    hardest = errors[errors["name"] == best["name"]].nlargest(1, "standard_error").iloc[0]
    shown, p = errors["query"].nunique(), design.workload.num_queries
    among = "query" if shown == p else f"of the {shown:,} queries shown (of {p:,})"
    frame.chart(
        lambda look: charts.query_errors(errors, look),
        f"Exact standard errors on {design.population}. For {title} the hardest {among} is **{plain(hardest['label'])}** with "
        f"{wording.error(hardest['standard_error'])}.",
        "query-errors",
        errors,
    )

with range_tab:
    key = work.sweep_key(state)
    job, done = jobs().find(state.id, key), state.results.get(key)

    def sweep_sentence(found: pd.DataFrame) -> str:
        own = found[~found["name"].isin(["svd", "centred_svd"])]
        rounded = own["users_needed"].map(lambda users: float(f"{users:.6g}"))  # ties go to the first by name
        winners = own.loc[rounded.groupby(own["epsilon"]).idxmin()] if len(own) else own
        parts = [
            f"{mechanisms.spec(name).title} at epsilon {', '.join(f'{e:g}' for e in group['epsilon'])}"
            for name, group in winners.groupby("name", sort=False)
        ]
        return "Fewest users: " + "; ".join(parts) + "." if parts else "Bounds come first, mechanisms follow."

    @st.fragment(run_every=0.5)
    def live_sweep() -> None:
        if not job.active:
            st.rerun()
        if job.progress is None:
            st.info(waiting(job.state, jobs().waiting_before(job)))
            return
        found, finished, total = job.progress
        st.progress(finished / total, text=f"{finished} of {total} points, {wording.duration(job.seconds)}")
        st.plotly_chart(
            charts.over_epsilon(found, design.epsilon, frame.look()),
            theme=None,
            key="live-sweep",
            alt="Users needed over epsilon, filling in",
        )

    if job is not None and job.active:
        st.button(
            "Cancel and keep these points", on_click=job.cancel, key="cancel-sweep", icon=":material/stop_circle:"
        )
        live_sweep()
    else:
        if done is None or (job is not None and job.state == "cancelled"):
            st.button(
                "Compute over epsilon",
                on_click=work.start_sweep,
                args=(state,),
                key="sweep",
                icon=":material/play_arrow:",
                help="Users needed from epsilon 0.25 to 5 for every chosen mechanism; the optimised one is fitted anew at "
                "each point.",
            )
        if job is not None and job.state == "failed":
            st.error(plain(job.error))
        if done is not None and len(done):
            frame.chart(
                lambda look: charts.over_epsilon(done, design.epsilon, look), sweep_sentence(done), "over-epsilon", done
            )
        elif done is None:
            st.caption("Users needed at ten values of epsilon for the chosen mechanisms and both bounds.")

st.subheader("All figures")
columns = {
    "name": st.column_config.TextColumn("Mechanism", width="medium"),
    "users_needed": st.column_config.NumberColumn(
        "Users needed", format="%,.0f", help="Worst case, for your target error."
    ),
    "gap": st.column_config.NumberColumn(
        "Gap, at most", format="%,.1f %%", help="More users than the bound allows, average case."
    ),
    "standard_error_worst": st.column_config.NumberColumn("± worst case", format="%.2f pp"),
    "standard_error_average": st.column_config.NumberColumn("± average case", format="%.2f pp"),
    "standard_error_on_data": st.column_config.NumberColumn(
        "± this data" if design.on_data else "± expected", format="%.2f pp", help=f"On {design.population}."
    ),
    "worst_case_variance": st.column_config.NumberColumn("Variance, worst", format="%,.1f"),
    "average_variance": st.column_config.NumberColumn("Variance, average", format="%,.1f"),
}
shown = table[list(columns)].copy()
shown["name"] = [mechanisms.spec(n).title for n in shown["name"]]
shown["users_needed"] = np.ceil(shown["users_needed"] - 1e-9)  # as everywhere: whole people
shown["gap"] = shown["gap"].replace(math.inf, math.nan)  # where the bound says nothing, there is no gap
for share in ("gap", "standard_error_worst", "standard_error_average", "standard_error_on_data"):
    shown[share] *= 100
st.dataframe(shown, hide_index=True, column_config=columns)
st.caption(
    f"± is the standard error of a typical query (root mean square over the {design.workload.num_queries:,} queries) in percentage "
    f"points (pp) of your {people(design.users)}. Worst case: everybody has the value that is hardest to count. Average "
    "case: all types equally common. Variances are in squared users, summed over the queries, for one user."
)
if any(state.mechanism(name).delta > 0 for name in table["name"]):
    st.caption(
        "Mechanisms with an (epsilon, delta) guarantee promise less than pure epsilon, so they may need fewer users than the "
        "bounds allow others; they have no gap here."
    )
with st.expander("Every mechanism: what it was made for, what it costs, and where it cannot run"):
    st.dataframe(
        frames.catalogue(design.domain.size, design.epsilon, design.workload),
        hide_index=True,
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
    st.caption("n is the number of types, p the number of queries. An empty note means that it can run on this design.")
frame.how_computed(
    "**Users needed** is the sample complexity *max t / (p α)* (McKenna et al. 2020, Corollary 5.4), *t* the variance one user "
    "of each type adds over all queries. **SVD bound**: L ≥ (Σσ)²/e^ε (same paper, Theorem 5.6). **Centred SVD bound**: "
    "L ≥ |W1|²/n + |W(I − 11'/n)|²∗ / sinh²(ε/2), derived in this project: scaled to mean one, a report's probabilities have "
    "variance at most sinh²(ε/2) over the types. A bound on L gives users (L − tr G)/(n p α); since the worst case is never "
    "below the average it limits both. **Noise floor**: 1.96 worst-case standard errors of a typical query. Variances refer "
    "to unbiased estimates; non-negative ones are compared by simulation."
)
