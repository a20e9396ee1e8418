"""The views of simulated collections: what one might give, the errors of all, distributions, and intervals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import charts, estimators, verdicts, wording
from ldp_core.deploy import collector
from ldp_core.designs import Setting
from ldp_core.estimators import ESTIMATORS, METHODS
from ldp_core.limits import AT_ONCE_TYPES, MOST_DOWNLOADED_ANSWERS
from ldp_core.studies.outcomes import LEVEL, Outcomes, scales_of
from ldp_core.workloads import axes_of
from pages.ui import answer_tables, later, layout, listing, say, verdict_panel
from pages.ui.controls import button
from pages.ui.session.state import Session
from pages.ui.words import people

Pair = tuple[str, str]

EQUAL = 0.02
"""Differences of errors below this share are not mentioned."""
PREDICTED = "Exact predictions exist for unbiased estimates only."


def show(state: Session, outcomes_shown: Outcomes) -> None:
    """The verdict on the outcomes for the design of ``state``, and all views of them."""
    with st.container(key="verdict"):
        st.markdown(
            say.plain(_verdict(state.setting, outcomes_shown)),
            help=say.text("Seed {seed:d}. {predicted}", seed=state.configuration.simulation.seed, predicted=PREDICTED),
        )
    views = {
        "What you might get": _release,
        "Errors": _errors,
        **({"Distribution": _distribution} if len(outcomes_shown.curves) else {}),  # questions along an order have one
        "Intervals": _intervals,
    }
    drawn = [partial(view, state, state.setting, outcomes_shown) for view in views.values()]
    layout.panes(state, "outcome-tabs", list(views), drawn)
    say.caption("{missed}", missed=_missed(state.setting, outcomes_shown))
    say.warning("{worse}", worse=_worse(outcomes_shown))


def _verdict(design: Setting, outcomes_shown: Outcomes) -> str:
    """The largest errors of answers, as designs tell them, by the first mechanism and estimate."""
    rows = outcomes_shown.answers
    first = rows[(rows["mechanism"] == rows["mechanism"].iloc[0]) & (rows["estimator"] == rows["estimator"].iloc[0])]
    observed = first[first["observed"].notna()]
    if observed.empty:
        return "Some collections estimate that a group has nobody: no error can be told."
    times = (outcomes_shown.lines["observed"] / outcomes_shown.lines["predicted"])[: len(design.answers.lines)]
    if observed["unit"].nunique() > 1 and times.notna().all():
        ends = " to ".join(wording.significant(end, 2) for end in (times.min(), times.max()))
        return f"Errors of {len(times):,} questions were {ends} times those predicted."
    worst = observed.groupby("unit", sort=False)[["observed", "predicted"]].max()
    off = verdicts.errors_in_words(worst["observed"])
    words = (
        f"Answers were off by up to {off}" if len(observed) > 1 else f"{observed['question'].iloc[0]} was off by {off}"
    )
    if worst["predicted"].notna().all():
        words += f"; {verdicts.errors_in_words(worst['predicted'])} was predicted for these people"
    return f"{words}."


def _missed(design: Setting, outcomes_shown: Outcomes) -> str:
    """The answers that add up to more or fewer people than took part, with the number; empty if
    there are none."""
    rows = [row for row in outcomes_shown.errors.itertuples() if estimators.misses(row.estimated_users, design.users)]
    if not rows:
        return ""
    each = "; ".join(f"{_name((row.mechanism, row.estimator))}: {people(round(row.estimated_users))}" for row in rows)
    sentence = (
        f"Some answers do not add up to {people(design.users)}, on average over {_trials(outcomes_shown)}. {each}."
    )
    return f"{sentence} {estimators.remedy(*(row.estimator for row in rows))}".strip()


def _worse(outcomes_shown: Outcomes) -> str:
    """The estimates that are many times as inaccurate as the unbiased one from the same reports,
    with the reason; empty if there are none."""
    errors = outcomes_shown.errors
    unbiased = errors[errors["estimator"] == "unbiased"].set_index("mechanism")["observed"]
    errors = errors.assign(times=errors["observed"] / errors["mechanism"].map(unbiased))
    rows = list(errors[(errors["times"] > estimators.WORSE) & np.isfinite(errors["times"])].itertuples())
    if not rows:
        return ""
    each = "; ".join(
        f"{_name((row.mechanism, row.estimator))}: {wording.significant(row.times, 2)} times as much" for row in rows
    )
    reasons = dict.fromkeys(estimators.why(row.estimator) for row in rows)
    return (
        f"Some estimates err many times as much as the unbiased one from the same reports: {each}. {' '.join(reasons)}"
    )


def _name(pair: Pair) -> str:
    return f"{charts.title(pair[0])}, {ESTIMATORS[pair[1]].short}"


def _rows(table: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    return table[(table["mechanism"] == pair[0]) & (table["estimator"] == pair[1])]


def _chosen(table: pd.DataFrame) -> tuple[Pair, pd.DataFrame]:
    """One mechanism and estimate, remembered across the views, with its rows."""
    pairs = list(dict.fromkeys(zip(table["mechanism"], table["estimator"], strict=True)))
    now = pairs[0]
    if len(pairs) > 1:
        now = st.selectbox(
            "Mechanism and estimate", options=pairs, format_func=_name, key="simulated-pair", persist_state="session"
        )
    return now, _rows(table, now)


def _release(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    """One collection as Collect will show it, with the truth; another one at every press."""
    drawn = state.view.get("release", 0)
    with layout.controls("release"):
        pair, _ = _chosen(outcomes_shown.errors)
        button("Draw another one", "release", "casino", lambda: state.view.update(release=drawn + 1))
    mechanism, simulation = design.mechanism(pair[0]), state.configuration.simulation
    if mechanism is None:
        return
    options = {"prior": design.posterior_prior()} if ESTIMATORS[pair[1]].credible else {}
    seed, new = simulation.seed + drawn, simulation.new_people
    about = (mechanism.digest, design.naming, design.people.digest, np.asarray(options.get("prior", 0.0)).tolist())
    found = later.value(
        state,
        ("release", pair, seed, new, *about),
        "simulating a collection",
        lambda cancel: collector.release(
            mechanism, design.workload, design.counts, pair[1], seed, MOST_DOWNLOADED_ANSWERS, new, **options
        ),
        "A collection is being simulated.",
        quick=not ESTIMATORS[pair[1]].from_reports and mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES,
    )
    if found is None:
        return
    known = found[found["low"].notna() & found["true"].notna()]
    held = (known["low"] <= known["true"]) & (known["true"] <= known["high"])
    words = say.text(
        "{name}: this might come out on Collect. The truth, a small mark, lies in **{held:,} of {number}**.",
        name=_name(pair),
        held=int(held.sum()),
        number=wording.plural(len(known), "interval"),
    )
    promise = verdict_panel.judged(state, mechanism)
    lines = None if promise is None else design.lines(mechanism, verdict_panel.alone(state, design))
    like = None if promise is None or lines is None else charts.promised(promise, lines)
    shown = answer_tables.result_and_tables(state, design.answers, found, words, "simulated-release", like)
    verdict_panel.show_lines(lines, "What the design promises, before any answer is known.")
    _say_shown(shown, design)


def _errors(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    table = outcomes_shown.errors
    first, best = table.iloc[0], table.loc[table["observed"].fillna(np.inf).idxmin()]
    name, other = (_name((row["mechanism"], row["estimator"])) for row in (first, best))
    words = say.plain(f"{wording.capital(_trials(outcomes_shown))} of {name}; bars are ± 2 standard errors")
    saved = 1 - best["observed"] / first["observed"] if first["observed"] > 0 else 0.0
    if len(table) > 1 and saved < EQUAL:
        words += f"; no other estimate is more accurate by more than {wording.share(EQUAL)}"
    elif len(table) > 1:
        words += say.text(
            ". The most accurate is **{other}** with {error}, {share} less",
            other=other,
            error=design.error_scale.in_words(best["observed"]),
            share=wording.share(saved),
        )
        if not ESTIMATORS[best["estimator"]].unbiased:
            words += ", at the price of bias"
    if len(design.answers.lines) > 1:
        words += ". Errors are those of the question that is furthest from its target"
    layout.chart(lambda look: charts.errors(table, look, design.error_scale), words + ".", "simulated-errors")
    lines, names = outcomes_shown.lines, charts.pair_names(table)
    listing.show_table(
        pd.DataFrame(
            {
                "Estimate": [names[pair] for pair in zip(lines["mechanism"], lines["estimator"], strict=True)],
                "Question": lines["question"],
                "± observed": _with_uncertainty(lines["observed"], lines["standard_error"]),
                "± predicted": _with_uncertainty(lines["predicted"]),
                "Unit": [verdicts.unit_in_words(unit) for unit in lines["unit"]],
            }
        ),
        "The errors of the questions, observed and predicted; ± behind a number is one standard error of the simulation.",
        column_config={"± predicted": st.column_config.TextColumn(help=PREDICTED)},
    )
    layout.download_table(outcomes_shown.answers, "simulated-errors")
    _say_shown(outcomes_shown.answers, design)


def _with_uncertainty(values: pd.Series, uncertain: pd.Series | None = None) -> list[str]:
    """A text such as "5.85 ± 0.47"; a dash if there is no number."""
    texts = [wording.significant(value) if value == value else "–" for value in values]
    if uncertain is None:
        return texts
    return [
        f"{text} ± {wording.significant(spread, 2)}" if spread == spread else text
        for text, spread in zip(texts, uncertain, strict=True)
    ]


def _distribution(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    scales = {scale.of: scale for scale in scales_of(design.workload, axes_of(design.domain))}
    columns = [name for name in scales if (outcomes_shown.curves["attribute"] == name).any()]
    column = columns[0]
    if len(columns) > 1:
        column = st.selectbox("Column", options=columns, key="distribution-column", persist_state="session")
    scale = scales[column]
    pair, curve = _chosen(outcomes_shown.curves[outcomes_shown.curves["attribute"] == column])
    spread = 100 * (curve["high"] - curve["low"]).max()
    layout.chart(
        lambda look: charts.distribution(curve, scale.of, look),
        f"{_name(pair)}: at each value nine in ten private curves lie inside the band, which is {wording.significant(spread)} percentage "
        "points wide at its widest. Where a line falls, that is noise: a true curve never does.",
        "simulated-distribution",
        outcomes_shown.curves,
    )
    if scale.left_out:
        say.caption(
            "{without} ({those} of people) is left out of these totals of {of}: quantiles are those of all others.",
            without=" and ".join(scale.left_out),
            those=wording.share(1 - curve["true"].iloc[-1]),
            of=scale.of,
        )
    table, unit = outcomes_shown.quantiles[outcomes_shown.quantiles["attribute"] == column], scale.unit
    median = _rows(table, pair).set_index("quantile").loc[0.5]
    where = say.text("the private median lies at **{first_label}**", first_label=median["first_label"])
    if median["first_label"] == median["true_label"]:
        where += ", where the true one is"
    else:
        where += say.text(", the true one at **{true_label}**", true_label=median["true_label"])
    distance = f"{wording.significant(median['value_error'])} {'types' if unit == 'types' else f'(in {unit})'}"
    layout.chart(
        lambda look: charts.quantile_errors(table, unit, look),
        say.text(
            "{name}: in the first collection {where}. Over {trials} it is off by {distance} on average, and in rank by {points}.",
            name=_name(pair),
            where=where,
            trials=_trials(outcomes_shown),
            distance=distance,
            points=wording.points(median["quantile_error"]),
        ),
        "simulated-quantiles",
        outcomes_shown.quantiles,
    )


def _intervals(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    estimated = outcomes_shown.answers[outcomes_shown.answers["method"] != ""]
    if not len(estimated):
        st.info(
            "Confidence intervals exist for unbiased estimates, credible ones for the posterior mean: choose one of these "
            "above. Biased estimates are off by more than chance."
        )
        return
    pair, rows = _chosen(estimated)
    ends = rows["low"].notna()
    kind = "credible" if ESTIMATORS[pair[1]].credible else "confidence"
    layout.chart(
        lambda look: charts.result(rows, look),
        say.text(
            "{name}: **{held:,} of {number:,}** {kind} intervals of the first collection hold the truth, where "
            "{share} or more would on average over many collections (the answers of one err together).",
            name=_name(pair),
            held=int(rows["holds"].sum()),
            number=int(ends.sum()),
            kind=kind,
            share=wording.share(LEVEL),
        ),
        "simulated-intervals",
        rows,
    )
    if ESTIMATORS[pair[1]].unbiased:
        say.caption("{without}", without=estimators.unbounded_in_words(rows))
    for method in METHODS:
        if number := int((rows["method"] == method).sum()):
            say.caption(
                "{intervals} by the method **{method}**: {meaning}.",
                intervals=wording.plural(number, "interval"),
                method=method,
                meaning=METHODS[method],
            )
    _say_shown(rows, design)


def _say_shown(rows: pd.DataFrame, design: Setting) -> None:
    shown = len(rows.drop_duplicates(["line", "query"]))
    every = sum(line.workload.num_queries for line in design.answers.lines)
    if shown < every:
        say.caption("{value:,} of {every:,} answers are shown.", value=shown, every=every)


def _trials(outcomes_shown: Outcomes) -> str:
    return wording.plural(outcomes_shown.trials, "trial")
