"""The views of simulated collections: one tab per question, each with a picture, a sentence about it, and downloads."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import charts, estimators, verdicts, wording
from ldp_core.deploy import collector
from ldp_core.designs import Setting
from ldp_core.estimators import ESTIMATORS, METHODS
from ldp_core.limits import AT_ONCE_TYPES
from ldp_core.studies.outcomes import LEVEL, Outcomes, scales_of
from ldp_core.workloads import axes_of
from ldp_core.workloads.shown import shown_queries
from pages.ui import layout, listing
from pages.ui.controls import button, control
from pages.ui.session.state import Session
from pages.ui.verdict_panel import counts_in_words
from pages.ui.words import people, plain, weighting

Pair = tuple[str, str]

EQUAL = 0.02
"""Differences of errors below this share are not mentioned."""
PREDICTED = "Exact predictions exist for unbiased estimates only."
_UNITS = ((1e9, "billion "), (1e6, "million "), (1e3, "thousand "), (1.0, ""))


def show(state: Session, outcomes_shown: Outcomes) -> None:
    """The verdict on ``found``, outcomes for the design of ``state``, and all views of it."""
    with st.container(key="verdict"):
        st.markdown(
            plain(_verdict(state.setting, outcomes_shown)),
            help=f"Seed {state.configuration.simulation.seed:d}. {PREDICTED}",
        )
    titles = ["What you might get", "Errors", "Distribution", "Intervals"]
    views = [_release, _errors, _distribution, _intervals]
    if len(outcomes_shown.ratios):
        titles, views = [*titles, "Within groups"], [*views, _within_groups]
    layout.panes(state, "outcome-tabs", titles, [partial(view, state, state.setting, outcomes_shown) for view in views])
    if missed := _missed(state.setting, outcomes_shown):
        st.caption(missed)
    if worse := _worse(outcomes_shown):
        st.warning(worse)


def _verdict(design: Setting, outcomes_shown: Outcomes) -> str:
    """The error of a typical answer by the first mechanism and estimate."""
    first = outcomes_shown.errors.iloc[0]
    words = f"A typical answer was off by {design.error_in_words(first['observed'])}"
    if first["predicted"] == first["predicted"]:
        words += f"; {design.error_in_words(first['predicted'])} was predicted for these people"
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
    return f"{sentence} {plain(estimators.remedy(*(row.estimator for row in rows)))}".strip()


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
    return f"Some estimates err many times as much as the unbiased one from the same reports: {each}. {plain(' '.join(reasons))}"


def _pairs(table: pd.DataFrame) -> list[Pair]:
    return list(dict.fromkeys(zip(table["mechanism"], table["estimator"], strict=True))) if len(table) else []


def _name(pair: Pair) -> str:
    return f"{charts.title(pair[0])}, {ESTIMATORS[pair[1]].short}"


def _rows(table: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    return table[(table["mechanism"] == pair[0]) & (table["estimator"] == pair[1])]


def _chosen(state: Session, table: pd.DataFrame, key: str) -> tuple[Pair, pd.DataFrame]:
    """One mechanism and estimate, remembered across the views, with its rows."""
    pairs, remembered = _pairs(table), state.view.get("simulated_pair")
    now = remembered if remembered in pairs else pairs[0]
    if len(pairs) > 1:
        control(
            st.selectbox,
            "Mechanism and estimate",
            key,
            now,
            lambda pair: state.view.update(simulated_pair=pair),
            options=pairs,
            format_func=_name,
        )
    return now, _rows(table, now)


def _release(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    """One collection as Collect will show it, with the truth; another one at every press."""
    drawn = state.view.get("release", 0)
    with layout.controls("release"):
        pair, _ = _chosen(state, outcomes_shown.errors, "pair-release")
        button("Draw another one", "release", "casino", lambda: state.view.update(release=drawn + 1))
    mechanism, simulation = design.mechanism(pair[0]), state.configuration.simulation
    if mechanism is None:
        return
    options = {"prior": design.posterior_prior()} if ESTIMATORS[pair[1]].credible else {}
    seed, queries, labels = simulation.seed + drawn, shown_queries(design.workload), design.labels
    about = (mechanism.digest, design.naming, design.people_digest, np.asarray(options.get("prior", 0.0)).tolist())
    found = layout.once_known(
        state,
        ("release", pair, seed, simulation.new_people, *about),
        "simulating a collection",
        not ESTIMATORS[pair[1]].from_reports and mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES,
        lambda cancel: collector.release(
            mechanism, design.workload, design.counts, pair[1], seed, queries, labels, simulation.new_people, **options
        ),
        "A collection is being simulated.",
    )
    if found is None:
        return
    held = (found["low"] <= found["true"]) & (found["true"] <= found["high"])
    worst = found.loc[(found["answer"] - found["true"]).abs().idxmax()]
    layout.chart(
        lambda look: charts.collection(found, design.users, pair[0], look),
        f"{_name(pair)}: this might come out on Collect. **{int(held.sum()):,} of {wording.plural(len(found), 'interval')}** hold the truth. The "
        f"answer furthest off is **{plain(worst['name'])}**: {wording.share(worst['answer'] / design.users)} instead of "
        f"{wording.share(worst['true'] / design.users)}. Grey bars are 1.96 of the largest standard error that an answer can have.",
        "simulated-release",
        found,
    )
    _say_shown(found, design)


def _errors(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    table = outcomes_shown.errors
    first, best = table.iloc[0], table.loc[table["observed"].idxmin()]
    name, other = (_name((row["mechanism"], row["estimator"])) for row in (first, best))
    words = f"{wording.capital(_trials(outcomes_shown))} of {name}; bars are ± 2 standard errors"
    saved = 1 - best["observed"] / first["observed"] if first["observed"] > 0 else 0.0
    if len(table) > 1 and saved < EQUAL:
        words += f"; no other estimate is more accurate by more than {wording.share(EQUAL)}"
    elif len(table) > 1:
        words += f". The most accurate is **{other}** with {plain(design.error_in_words(best['observed']))}, {wording.share(saved)} less"
        if not ESTIMATORS[best["estimator"]].unbiased:
            words += ", at the price of bias"
    layout.chart(lambda look: charts.errors(table, look, design.scale), words + ".", "simulated-errors")
    names = charts.pair_names(table)
    scale, unit = next(
        (choice_of_unit for choice_of_unit in _UNITS if table["total_observed"].max() >= choice_of_unit[0]), _UNITS[-1]
    )
    total, times, short = f"Total ({unit}users²)", design.scale.times, plain(design.scale.short)
    typical, predicted = f"Typical query ({short})", f"Predicted ({short})"
    of = "In percentage points of all users." if design.scale == wording.POINTS else "In the unit of the values."
    listing.show_table(
        pd.DataFrame(
            {
                "Estimate": [names[pair] for pair in _pairs(table)],
                typical: _with_uncertainty(times * table["observed"], times * table["standard_error"]),
                predicted: _with_uncertainty(times * table["predicted"]),
                "Answers": [_counted(state, _rows(outcomes_shown.queries, pair)) for pair in _pairs(table)],
                total: _with_uncertainty(table["total_observed"] / scale, table["total_standard_error"] / scale),
            }
        ),
        "The errors of the estimates, observed and predicted; ± is one standard error of the simulation.",
        column_config={
            typical: st.column_config.TextColumn(help=of),
            predicted: st.column_config.TextColumn(help=PREDICTED),
            "Answers": st.column_config.TextColumn(help=verdicts.RULE),
            total: st.column_config.TextColumn(help="Squared errors, summed over all queries."),
        },
    )
    layout.download_table(table, "simulated-errors")
    if weighting(state.configuration):
        st.caption(weighting(state.configuration))
    _say_shown(outcomes_shown.queries, design)


def _counted(state: Session, rows: pd.DataFrame) -> str:
    return counts_in_words(_error(rows), state.setting.limits(rows["query"]))


def _error(rows: pd.DataFrame) -> pd.Series:
    """The error by which answers are judged: exact where it is known, as on every page, else as observed."""
    return rows["predicted"].fillna(rows["observed"])


def _with_uncertainty(values: pd.Series, uncertain: pd.Series | None = None) -> list[str]:
    """A text such as "5.85 ± 0.47"; a dash if there is no number."""
    texts = [wording.significant(value) if value == value else "–" for value in values]
    if uncertain is None:
        return texts
    return [
        f"{text} ± {wording.significant(spread, 2)}" if spread == spread else text
        for text, spread in zip(texts, uncertain, strict=True)
    ]


def _within_groups(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    pair, rows = _chosen(state, outcomes_shown.ratios, "pair-ratios")
    told = rows["low"].notna()
    words = f"{_name(pair)}: shares and averages within groups, each in its unit"
    if told.any():
        words += f"; **{int(rows['holds'].sum()):,} of {wording.plural(int(told.sum()), 'interval')}** of the first collection hold the truth"
    st.markdown(f"{words}.")
    if ESTIMATORS[pair[1]].unbiased and (without := estimators.unbounded_in_words(rows)):
        st.caption(plain(without))
    numbers = {
        heading: rows[name].map(lambda value: wording.significant(value) if value == value else "none")
        for name, heading in {
            "true": "True",
            "answer": "First collection",
            "low": "Low",
            "high": "High",
            "observed": "± observed",
            "predicted": "± predicted",
        }.items()
    }
    listing.show_words(
        pd.DataFrame({"Question": rows["name"], "Unit": rows["unit"], **numbers}),
        f"Errors of {_trials(outcomes_shown)}, and those predicted for these people, which hold where groups are estimated well.",
    )
    layout.download_table(rows, "simulated-ratios")


def _distribution(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    scales = {scale.of: scale for scale in scales_of(design.workload, axes_of(design.domain))}
    if not len(outcomes_shown.curves):
        st.info(
            "A cumulative distribution needs questions along the order of an attribute, such as its running totals, ranges or "
            "histogram, and answers that give the running totals of everybody; these questions do not."
        )
        return
    columns = [name for name in scales if (outcomes_shown.curves["attribute"] == name).any()]
    column = columns[0] if (remembered := state.view.get("simulated_column")) not in columns else remembered
    if len(columns) > 1:
        control(
            st.selectbox,
            "Column",
            "distribution-column",
            column,
            lambda name: state.view.update(simulated_column=name),
            options=columns,
        )
    scale = scales[column]
    pair, curve = _chosen(
        state, outcomes_shown.curves[outcomes_shown.curves["attribute"] == column], "pair-distribution"
    )
    spread = 100 * (curve["high"] - curve["low"]).max()
    layout.chart(
        lambda look: charts.distribution(curve, scale.of, look),
        f"{_name(pair)}: at each value nine in ten private curves lie inside the band, which is {wording.significant(spread)} percentage "
        "points wide at its widest. Where a line falls, that is noise: a true curve never does.",
        "simulated-distribution",
        outcomes_shown.curves,
    )
    if scale.left_out:
        without, those = (
            " and ".join(plain(label) for label in scale.left_out),
            wording.share(1 - curve["true"].iloc[-1]),
        )
        st.caption(
            f"{without} ({those} of users) is left out of these totals of {plain(scale.of)}: quantiles are those of all others."
        )
    table, unit = outcomes_shown.quantiles[outcomes_shown.quantiles["attribute"] == column], scale.unit
    median = _rows(table, pair).set_index("quantile").loc[0.5]
    where = f"the private median lies at **{plain(median['first_label'])}**"
    if median["first_label"] == median["true_label"]:
        where += ", where the true one is"
    else:
        where += f", the true one at **{plain(median['true_label'])}**"
    distance = f"{wording.significant(median['value_error'])} {'types' if unit == 'types' else f'(in {plain(unit)})'}"
    layout.chart(
        lambda look: charts.quantile_errors(table, unit, look),
        f"{_name(pair)}: in the first collection {where}. Over {_trials(outcomes_shown)} it is off by {distance} on average, and in rank by "
        f"{wording.points(median['quantile_error'])}.",
        "simulated-quantiles",
        outcomes_shown.quantiles,
    )


def _intervals(state: Session, design: Setting, outcomes_shown: Outcomes) -> None:
    if not len(outcomes_shown.intervals):
        st.info(
            "Confidence intervals exist for unbiased estimates, credible ones for the posterior mean: choose one of these "
            "above. Biased estimates are off by more than chance."
        )
        return
    pair, rows = _chosen(state, outcomes_shown.intervals, "pair-intervals")
    held, half = int(rows["holds"].sum()), float(np.median(rows["high"] - rows["low"]) / 2)
    kind = "credible" if ESTIMATORS[pair[1]].credible else "confidence"
    layout.chart(
        lambda look: charts.intervals(rows, _in_order(design), look, outcomes_shown.people),
        f"{_name(pair)}: **{held:,} of {len(rows):,}** {kind} intervals of the first collection hold the truth, where "
        f"{wording.share(LEVEL)} or more would on average over many collections (the answers of one err together). A typical one reaches {wording.points(half)} to each side.",
        "simulated-intervals",
        outcomes_shown.intervals,
    )
    for method in METHODS:
        if number := int((rows["method"] == method).sum()):
            st.caption(f"{number:,} interval{'s' if number > 1 else ''} by the method **{method}**: {METHODS[method]}.")
    _say_shown(rows, design)


def _in_order(design: Setting) -> bool:
    """True if the queries are best drawn in the order they have."""
    return design.workload.kind in ("histogram", "prefix")


def _say_shown(rows: pd.DataFrame, design: Setting) -> None:
    shown, p = rows["query"].nunique(), design.workload.num_queries
    if shown < p:
        st.caption(f"{shown:,} of {p:,} queries are shown, evenly spread.")


def _trials(outcomes_shown: Outcomes) -> str:
    return f"{outcomes_shown.trials:,} trial{'s' if outcomes_shown.trials > 1 else ''}"
