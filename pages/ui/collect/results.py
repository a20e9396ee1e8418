"""The part of the Collect page that shows what was counted, and the answers that follow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from ldp_core import analysis, charts, estimators, verdicts, wording
from ldp_core.analysis import questionnaire_of
from ldp_core.deploy import collector
from ldp_core.deploy.collector import Collection, Read
from ldp_core.deploy.collector.reasons import ANOTHER_DESIGN
from ldp_core.deploy.collector.trying import SIMULATED
from ldp_core.deploy.kit.opening import Kit
from ldp_core.designs import choices
from ldp_core.limits import AT_ONCE_TYPES, MOST_DOWNLOADED_ANSWERS, MOST_SHOWN_QUERIES
from ldp_core.run import Cancel
from ldp_core.studies.outcomes import LEVEL
from ldp_core.workloads import JointHistogramPart, over_attributes
from ldp_core.workloads.units import POINTS
from pages.ui import answer_tables, later, layout, listing, say, verdict_panel
from pages.ui.collect import regressing
from pages.ui.controls import control
from pages.ui.priors import in_words, prior_control
from pages.ui.session.state import Session
from pages.ui.words import people

KINDS = {"fixed": "One look, at the end", "any_time": "Valid whenever one looks"}
MEANING = {
    "fixed": "Each interval holds the true answer in 95 of 100 collections or more, if you look once.",
    "any_time": "The intervals of an answer hold at all looks together in 95 of 100 collections or more: look every day. They are wider.",
}
DRAWN = "For the population that they were drawn from"
PLANNED_FOR = 0.05
"""Share by which the number of reports may differ from that planned for before it is said."""


def simulated(collection: Collection) -> list[Read]:
    """The files counted whose reports were drawn here, from the people of a design."""
    return [file for file in collection.read if file.name.startswith(Path(SIMULATED).stem)]


def counted(collection: Collection) -> None:
    """How many reports were accepted, repeated and refused, in all and file by file."""
    row = layout.metrics("collected")
    say.metric(row, "Reports counted", wording.count(collection.users))
    say.metric(
        row,
        "Repeated",
        wording.count(collection.repeated),
        "Left out because the same report had come before under its id.",
    )
    say.metric(row, "Refused", wording.count(sum(collection.refused.values())))
    say.metric(row, "Files read", wording.count(len(collection.read)))
    if drawn_here := simulated(collection):
        number = sum(file.accepted for file in drawn_here)
        say.warning(
            "{number} of the reports counted are simulated. Begin again before you count those of people.",
            number=wording.count(number),
        )
    for reason, number in collection.refused.items():
        say.caption("{number} refused: {reason}.", number=wording.count(number), reason=reason)
    if ANOTHER_DESIGN in collection.refused:
        st.caption("Reports of another design are counted with its kit: choose that above.")


def files(collection: Collection) -> None:
    """The files read, one by one."""
    with st.expander("Files read"):
        table = pd.DataFrame(
            {
                "File": [file.name for file in collection.read],
                "Counted": [wording.count(file.accepted) for file in collection.read],
                "Repeated": [wording.count(file.repeated) for file in collection.read],
                "Refused": [
                    ", ".join(f"{wording.count(number)} {reason}" for reason, number in file.refused.items()) or "0"
                    for file in collection.read
                ],
            }
        )
        listing.show_words(table, "What was counted of each file.")


def estimate_controls(state: Session, subject: Kit) -> tuple[str, str, dict[str, Any]]:
    """The estimator and the kind of intervals chosen, and the options of the estimator: its prior."""
    offered = {
        name: estimators.spec(name).title
        for name in estimators.names()
        if estimators.spec(name).unsuitable(subject.mechanism, subject.workload) is None
    }
    meanings = [f"{title}: {estimators.spec(name).meaning}." for name, title in offered.items()]
    estimator = st.selectbox(
        "Estimate",
        options=list(offered),
        index=list(offered).index("unbiased"),
        format_func=offered.__getitem__,
        key="collect-estimator",
        help=say.join("  \n", meanings),
        persist_state="session",
    )
    kind = st.radio(
        "Intervals",
        list(KINDS),
        format_func=lambda kind: KINDS[kind],
        captions=[MEANING[kind] for kind in KINDS],
        key="collect-kind",
        persist_state="session",
    )
    return estimator, kind, {"prior": _prior(state, subject)} if estimators.spec(estimator).credible else {}


def _whose(state: Session, subject: Kit, reported: float) -> tuple[bool, pd.Series | None]:
    """Whether intervals are for the population that people were drawn from, and the sizes of its groups where these are stated."""
    offered = {"fixed": f"For these {wording.count(reported)} people", "drawn": DRAWN}
    whose = st.radio(
        "Whom intervals are for",
        ["fixed", "drawn"],
        format_func=lambda one: say.plain(offered[one]),
        key="collect-people",
        persist_state="session",
        help="Who takes part is chance: intervals for the population hold that chance as well, so they are wider.",
    )
    groups = collector.group_names(subject.domain)
    if not groups:
        return whose == "drawn", None
    key, typed = f"collect-sizes-{subject.design}", state.view.get(f"collect-sizes-{subject.design}", "")

    def commit(text: str) -> None:
        if text.strip():
            collector.sizes_of(text.splitlines(), groups)
        state.view[key] = text

    control(
        st.text_area,
        "Weight to a population (optional)",
        key,
        typed,
        commit,
        placeholder="\n".join(f"{group} = 12000" for group in groups[:3]),
        help="The people of each group in the population, a line for each. Answers are then of that population: each report of a group stands "
        "for its people divided by its reports.",
    )
    return whose == "drawn", collector.sizes_of(typed.splitlines(), groups) if typed.strip() else None


def _occasions(subject: Kit) -> int | None:
    """How many reports of each person were counted; None until somebody has said so, where a person may send several."""
    most = subject.configuration.reports_per_user
    if most == 1:
        return 1
    stated = st.number_input(
        "Reports of each person that were counted",
        0,
        most,
        0,
        key="collect-occasions",
        persist_state="session",
        help=say.text(
            "People send up to {most:,} reports, each on another occasion, such as a month. Answers are the "
            "average of the occasions counted.",
            most=most,
        ),
    )
    return stated or None


def _earlier(state: Session, subject: Kit) -> bool:
    """True if the posterior mean starts from earlier counts, by default as the design has it; those of a kit are in it."""
    c = subject.configuration
    there = c == state.configuration or c.optimizer.histogram is not None
    return bool(state.view.get("collect-prior", c.simulation.prior == "histogram")) and there


def _prior(state: Session, subject: Kit) -> float | np.ndarray:
    now, current = _earlier(state, subject), subject.configuration == state.configuration
    if current or subject.configuration.optimizer.histogram is not None:
        keep = lambda on: state.view.update({"collect-prior": on})  # noqa: E731
        prior_control(state, "collect-prior", now, keep, editable=current)
    return choices.posterior_prior(subject.configuration, now)


def answers(state: Session, subject: Kit, collection: Collection) -> None:
    """The answers beside what the design promised: picture, table, download."""
    with layout.controls("answers"):
        try:
            occasions = _occasions(subject)
            with layout.more("Estimate, intervals and population"):
                estimator, kind, options = estimate_controls(state, subject)
                wider, sizes = _whose(state, subject, collection.users / (occasions or 1))
        except ValueError as error:
            later.instead(error)
            return
    if occasions is None:
        st.info("Say how many reports of each person these are: otherwise people would be counted several times.")
        return
    workload = subject.workload
    compute = partial(
        collector.answers,
        collection,
        subject.mechanism,
        workload=workload,
        estimator=estimator,
        level=LEVEL,
        kind=kind,
        occasions=occasions,
        drawn=wider,
        sizes=sizes,
        **options,
    )
    every = sum(line.workload.num_queries for line in questionnaire_of(workload).lines)
    key = (
        collection.digest,
        subject.mechanism.digest,
        workload.digest,
        subject.design,
        estimator,
        kind,
        occasions,
        wider,
        None if sizes is None else sizes.tolist(),
        np.asarray(options.get("prior", 0.0)).tolist(),
        str(subject.configuration.targets),
    )

    def work_out(cancel: Cancel) -> tuple[pd.DataFrame, str]:
        return compute(most=MOST_DOWNLOADED_ANSWERS), collector.unlike_in_words(collection, subject.mechanism)

    quick = subject.mechanism.cost_dimension(workload) <= AT_ONCE_TYPES and not estimators.spec(estimator).from_reports
    found = later.value(
        state, key, "working out the answers", work_out, "The answers are being worked out.", quick=quick
    )
    if found is None:
        return
    table, unlike = found
    reported = collection.users / occasions
    say.error("{unlike}", unlike=unlike)
    words = say.text(
        "{said} {whose}", said=_said(subject, table, reported, estimator), whose=collector.whose(reported, wider, sizes)
    )
    if "prior" in options:
        words += f" {in_words(_earlier(state, subject))}"
    lines, promise = _promised(state, subject)
    shown = answer_tables.result_and_tables(state, questionnaire_of(workload), table, words, "collected", promise)
    verdict_panel.show_lines(lines, "What the design promised, before any answer was known.")
    if len(shown) < every:
        say.caption(
            "{shown:,} of {every:,} answers are shown; the download has {downloaded:,}.",
            shown=len(shown),
            every=every,
            downloaded=len(table),
        )
    with st.expander("The answers as a table"):
        _table(shown, "The answers shown, their intervals, and their standard errors at the answers found.", kind)
    regressing.quantiles(state, subject, collection, kind, wider)
    regressing.logistic(state, subject, collection)
    regressing.associations(state, subject, collection, wider)
    if subject.domain.size <= MOST_SHOWN_QUERIES and any(
        line.key != POINTS for line in questionnaire_of(workload).lines
    ):
        _behind(state, subject, compute, key, quick)


def _promised(state: Session, subject: Kit) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """The lines of the questions, and what the design promised of each answer to people who were counted or are known; None while these are not
    known."""
    design, mechanism = subject.setting, subject.mechanism
    if analysis.too_many_types(design.workload):
        return None, None
    quick = mechanism.cost_dimension(design.workload) <= AT_ONCE_TYPES
    alone = verdict_panel.alone(state, design)
    key = ("promise", subject.design, design.people.digest, alone)
    lines = later.value(state, key, "what was promised", lambda cancel: subject.lines(alone), quick=quick)
    if lines is None or not design.on_data:
        return lines, None
    return lines, charts.promised(design.answered(mechanism), lines)


def _behind(
    state: Session, subject: Kit, answered: Callable[..., pd.DataFrame], key: tuple[Any, ...], quick: bool
) -> None:
    """The counts that shares, averages and differences are made of, in a fold."""
    counts = over_attributes([JointHistogramPart()], subject.domain)
    with st.expander("The counts behind these answers"):
        if reason := subject.mechanism.supports(counts):
            say.caption("This design estimates what was asked and no counts besides: {reason}", reason=reason)
            return
        work_out = lambda cancel: answered(workload=counts)  # noqa: E731
        found = later.value(state, ("behind", *key), "working out the counts", work_out, quick=quick, small=True)
        if found is not None:
            _table(found, "The counts, their intervals, and their standard errors at the counts found.", "fixed")


def _said(subject: Kit, table: pd.DataFrame, reported: float, estimator: str) -> str:
    bounded = table[table["low"].notna()] if table["low"].notna().any() else table
    worst = bounded.groupby("unit", sort=False)[["standard_error", "promised"]].max()
    words = say.text("From **{number} reports**", number=wording.count(reported))
    if len(worst) == 1:
        off, promised = (verdicts.errors_in_words(worst[name]) for name in ("standard_error", "promised"))
        one = len(table) == 1
        words = say.text(
            "{words} {answers} {off}; however people answer, it would be at most {promised}",
            words=words,
            answers="the answer is off by" if one else "answers are off by up to",
            off=off,
            promised=promised,
        )
    words += "."
    if subject.needed is not None and not questionnaire_of(subject.workload).coarse:
        enough = "enough" if reported >= subject.needed else "fewer than that"
        words += f" The design needs {wording.users(subject.needed)} until every question meets its target: these are {enough}."
    if not estimators.spec(estimator).unbiased:
        words += " This estimate is not right on average (biased): its intervals are those of the one that is, as far as they reach, and hold the estimate too."
    if missed := estimators.missed_in_words(float(table["adds_up_to"].iloc[0]), reported, estimator):
        words += say.text(" {missed}", missed=missed)
    if contradicted := estimators.contradicted_in_words(table, estimator):
        words += say.text(" **{contradicted}**", contradicted=contradicted)
    planned = subject.configuration.population.users
    if planned and abs(reported / planned - 1) > PLANNED_FOR:
        words += f" The design was planned for {people(planned)}."
    return words


def _table(table: pd.DataFrame, words: str, kind: str) -> None:
    """Every answer once, in the order it was asked for."""
    numbers = {
        heading: table[column].map(lambda x: wording.significant(x, 4) if x == x else "none")
        for heading, column in {"Answer": "answer", "Low": "low", "High": "high", "±": "standard_error"}.items()
    }
    judged = [verdicts.marked(word) for word in table["verdict"]]
    shown = pd.DataFrame(
        {"Question": table["name"], **numbers, "Unit": table["unit"].map(verdicts.unit_in_words), "Verdict": judged}
    )
    if table["found"].any():
        shown["Difference"] = table["found"]
    listing.show_table(
        shown,
        words,
        column_config={"Question": st.column_config.TextColumn(width="large")},
    )
    if (table["method"] == "Fieller").any():
        st.caption(
            "Sizes of secret groups are estimated as well: the intervals are Fieller's, for the ratio of two estimates."
        )
    say.caption("{unbounded}", unbounded=estimators.unbounded_in_words(table, kind))
    st.caption(verdicts.RULE)
