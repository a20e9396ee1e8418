"""The results of the Workload page: a picture of a design's questions, and how hard they are.

Slow results are computed in the background.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import charts, frames, wording, workloads
from ldp_core.designs import Setting
from ldp_core.limits import (
    AT_ONCE_TYPES,
    MOST_DOWNLOADED_QUERIES,
    MOST_DRAWN_SETS,
    MOST_DRAWN_VALUES,
    MOST_EXACT_TYPES,
    MOST_TRANSFORMED_TYPES,
)
from ldp_core.workloads import MarginalsPart, Survey, Workload, WorkloadPart, example_queries, tables_asked
from ldp_core.workloads.units import OF_GROUP, POINTS
from pages.ui import later, layout, proving, say
from pages.ui.patterns import PICTURE_BYTES
from pages.ui.session.state import Session
from pages.ui.words import case_meaning, people

QUICK_ALIKE = 2**13
"""Types up to which spectra and bounds take no time where the questions treat the types alike, so that no large matrices are needed."""
QUICK_PICTURE = 2**13

SOURCES = {
    "svd": "McKenna et al. 2020, Theorem 5.6",
    "centred_svd": "derived in this project; see below",
    "certificate": "a proof that anybody can check again, derived in this project; see below",
}


def quick(design: Setting) -> bool:
    """True if spectra and bounds of the questions take no time."""
    most = AT_ONCE_TYPES if design.workload.symmetry == "none" else QUICK_ALIKE
    return design.workload.n <= most or alike(design.workload)


def alike(workload: Workload) -> bool:
    """True if everything is known by sets of attributes, however many types there are."""
    return workload.survey is not None and workload.survey.symmetric


def groups_of(design: Setting, parts: Sequence[WorkloadPart]) -> list[tuple[str, int]]:
    """Name and number of queries of each group: of the recipe, or of the only part's own groups of attributes."""
    only, whole = parts[0], design.workload.without_strata
    if len(parts) == 1 and isinstance(only, MarginalsPart):
        if only.weight != 1 and isinstance(whole, workloads.Union):  # its weight makes it a union of one
            whole = whole.parts[0]
        if isinstance(whole, workloads.Union):
            return [(" x ".join(group), part.num_queries) for group, part in zip(only.groups, whole.parts, strict=True)]
    return [(part.summary, line.workload.num_queries) for part, line in zip(parts, design.answers.lines, strict=True)]


def show(state: Session, design: Setting, parts: Sequence[WorkloadPart]) -> None:
    """All results of the page."""
    row, survey = layout.metrics("workload"), design.workload.survey
    about = "All single answers asked for. The papers call them queries, and their number p."
    say.metric(row, "Answers", wording.count(design.answers.workload.num_queries), about)
    if survey is not None:
        tables = tables_asked(design.workload, design.domain.shape)
        about = "Each set has a table of counts that answers are made of."
        say.metric(row, "Sets of columns", wording.count(tables.sets), about)
        names = " x ".join(design.domain.attributes[i].name for i in tables.largest)
        say.metric(row, "Largest table (cells)", wording.count(tables.largest_cells), f"The table of {names}.")
        hardness(state, design, row)
        if len({group.attributes for group in survey.groups}) > 1:
            _asked_together(state, design, survey, parts)
            _sets(state, survey)
        return
    hardness(state, design, row)
    tabs = {
        "What they count": partial(matrix, state, design, parts),
        **(
            {"Singular values": partial(singular_values, state, design)}
            if design.answers.workload.num_queries > 1  # a single one has nothing to compare with
            else {}
        ),
    }
    layout.panes(state, "workload-tabs", list(tabs), list(tabs.values()))


def matrix(state: Session, design: Setting, parts: Sequence[WorkloadPart]) -> None:
    """The picture of the queries, with three of them named; a single query in words."""
    w, groups = design.answers.workload, groups_of(design, parts)
    if w.num_queries == 1:
        about = f"is about {np.count_nonzero(w.rows(np.array([0]))[0]):,} of {wording.plural(w.n, 'type')}"
        if design.answers.lines[0].unit.name not in (POINTS, OF_GROUP):
            about = f"counts each of {wording.plural(w.n, 'type')} by its value"
        say.markdown(
            "One answer: **{query}**. It {about}.", query=wording.shortened(w.query_name(0, design.labels)), about=about
        )
        return
    look, title = layout.look(), "the picture of the answers"

    def draw(look: charts.Theme) -> go.Figure:
        return charts.workload_matrix(w, design.labels, look, groups)

    key = ("matrix", w.digest, design.naming, look)
    waiting, quick_picture = "The picture of the answers is being drawn.", w.n <= QUICK_PICTURE
    picture = later.value(
        state, key, title, lambda cancel: draw(look), waiting, quick=quick_picture, size=PICTURE_BYTES
    )
    if picture is None:
        return
    last = w.num_queries - 1
    examples = (w.query_name(query, design.labels) for query in (0, last // 2, last))
    thinned = " (evenly thinned here)" if w.num_queries > 512 else ""
    several = ", the groups as bands" if len(groups) > 1 else ""
    layout.chart(
        lambda wanted: picture if wanted == look else draw(wanted),
        say.text(
            "Each row is one of {rows}: {colours}. Examples: {examples}.",
            rows=f"{w.num_queries:,} answers{thinned}{several}",
            colours=_meaning_of_colours(parts),
            examples=_in_bold(examples),
        ),
        "workload",
        (lambda: query_table(design, groups)) if w.num_queries <= MOST_DOWNLOADED_QUERIES else None,
    )


def _in_bold(names: Iterable[str]) -> say.Markdown:
    return say.join(", ", (say.text("**{name}**", name=wording.shortened(name)) for name in dict.fromkeys(names)))


def _meaning_of_colours(parts: Sequence[WorkloadPart]) -> str:
    """What the filled cells of the picture say."""
    parity = [part.kind == "parity" or getattr(part, "family", "") == "parity" for part in parts]
    if any(parity) or any(part.kind == "matrix" for part in parts):
        return "types are added in one colour and subtracted in the other"
    if any(part.averages or part.kind == "total" for part in parts):
        return "the darker, the more a type counts"
    return "filled where it counts a type" if len(parts) == 1 else "filled where it counts a type, by weight"


def query_table(design: Setting, groups: Sequence[tuple[str, int]]) -> pd.DataFrame:
    """query, name, group, weight of every query."""
    w = design.answers.workload
    return pd.DataFrame(
        {
            "query": np.arange(w.num_queries),
            "name": [w.query_name(query, design.labels) for query in range(w.num_queries)],
            "group": np.repeat([name for name, _ in groups], [many for _, many in groups]),
            "weight": w.query_weights(),
        }
    )


# --- how hard --------------------------------------------------------------------------------------------------------


def bounds(state: Session, design: Setting) -> dict[str, float] | None:
    """Lower bounds on users needed by name, in the case that counts; None while they are computed. ValueError where
    there are none."""
    w, case = design.workload, state.setting.case
    most = MOST_EXACT_TYPES if w.symmetry == "none" else MOST_TRANSFORMED_TYPES
    if w.n > most and w.survey is None:
        raise ValueError(
            f"How many people any mechanism needs is worked out here for up to {most:,} types with questions like these; there are "
            f"{wording.magnitude(w.n)}. Design says it once it is proved."
        )
    about, answers = state.setting.cases[case], state.setting.answers
    bounds_known = later.ask(
        state,
        ("bounds", state.setting.certificate_key(case), answers.norm),
        "how hard the questions are",
        lambda cancel: frames.users_bounds(answers.workload, design.epsilon, answers.norm, about, cancel),
        quick(design),
    )
    proof = state.setting.proof(case)
    if bounds_known is None or proof is None:
        return bounds_known
    return {**bounds_known, "certificate": frames.users_certified(proof.certificate, answers.norm)}


def hardness(state: Session, design: Setting, row: DeltaGenerator) -> None:
    """The users that any mechanism needs: as a number of ``row``, in a sentence, and proving a sharper bound."""
    c, case, name = state.configuration, state.setting.case, "People needed at least"
    try:
        limits = bounds(state, design)
    except ValueError as error:
        row.caption(say.plain(str(error)))
        return
    about = "How hard the questions are: with fewer people, no mechanism that is right on average (unbiased) reaches the target at this epsilon."
    if limits is None:
        say.metric(row, name, "…", about)
        st.info("How hard the questions are is being worked out.")
        return
    bound, strongest = max(limits.values()), frames.strongest(limits)
    if bound > 0:
        source = f"By the {charts.title(strongest)} ({SOURCES[strongest]})."
        say.metric(row, name, wording.minimum(bound), f"{about} {source}")
        enough = "are too few" if design.users < bound else "may be enough"
        say.markdown(
            "For {error} at epsilon {epsilon}, {case}, no mechanism that is right on average can need fewer "
            "than **{needed}**; your {people} {enough}.",
            error=design.error_in_words(1.0),
            epsilon=c.epsilon,
            case=case_meaning(case),
            needed=wording.at_least(bound),
            people=people(design.users),
            enough=enough,
        )
    else:
        say.metric(row, name, "unknown", about)
        st.markdown("At this epsilon the lower bounds say nothing.")
    proving.controls(state, case)


def singular_values(state: Session, design: Setting) -> None:
    """How evenly the questions spread over the directions there are, by their singular values and rank."""
    w = design.answers.workload
    if w.n > MOST_TRANSFORMED_TYPES:
        say.info(
            "These are worked out for up to {most:,} types; there are {n:,}.",
            most=MOST_TRANSFORMED_TYPES,
            n=w.n,
        )
        return
    figures = later.value(
        state,
        ("spectrum", w.digest),
        "singular values",
        lambda cancel: (w.singular_values(), w.rank),
        "The singular values are being worked out.",
        quick=quick(design),
        size=8 * w.n,
    )
    if figures is None:
        return
    values, rank = figures
    say.caption(
        "How many different things the answers depend on: {rank:,} of them {verb} from the others "
        "(their rank). Each singular value says how much of all answers moves together in one way.",
        rank=rank,
        verb="does not follow" if rank == 1 else "do not follow",
    )
    first = max(1, len(values) // 10)
    share = float(values[:first].sum() / values.sum())
    largest = f"The {first:,} largest hold" if first > 1 else "The largest holds"
    sentence = (
        f"The singular values add up to {wording.significant(values.sum())}. {largest} {wording.share(share)}: the more "
        "evenly they spread, the more independent questions there are, and the more users any mechanism needs."
    )

    def table() -> pd.DataFrame:
        return pd.DataFrame({"rank": np.arange(1, len(values) + 1), "singular_value": values})

    if len(values) > MOST_DRAWN_VALUES:
        st.markdown(say.plain(sentence))
        layout.download_table(table, "singular-values")
        return
    layout.chart(lambda look: charts.singular_values(design.answers.workload, look), sentence, "singular-values", table)


# --- a survey: by sets of attributes instead of types -----------------------------------------------------------------


def _asked_together(state: Session, design: Setting, survey: Survey, parts: Sequence[WorkloadPart]) -> None:
    """The sets of attributes in the questions, with some queries by name."""
    layout.chart(
        lambda look: charts.asked_together(survey, look),
        say.text(
            "How many of the {number:,} answers are about each column, and about each two of them together. Examples: {examples}.",
            number=survey.num_queries,
            examples=_in_bold(survey.query_name(query) for query in example_queries(survey)),
        ),
        "workload",
        (lambda: query_table(design, groups_of(design, parts)))
        if survey.num_queries <= MOST_DOWNLOADED_QUERIES
        else None,
    )


def _sets(state: Session, survey: Survey) -> None:
    """The sets of attributes that make the questions hard."""
    try:
        shares = state.results.cached(("attribute sets", survey.digest), lambda: frames.attribute_sets(survey))
    except ValueError as error:
        st.caption(say.plain(str(error)))
        return
    first, drawn = shares.iloc[0], shares.head(MOST_DRAWN_SETS)
    some = (
        f"These {len(drawn)} of {len(shares):,} sets hold {wording.share(drawn['share'].sum())}."
        if len(drawn) < len(shares)
        else f"These are all {len(shares):,} sets."
    )
    layout.chart(
        lambda look: charts.attribute_sets(shares, look),
        say.text(
            "Which columns make the questions hard: reports that treat the values of a column alike best "
            "spend {share} of their information on **{attributes}**. {some} Of each set, only what varies "
            "with exactly its columns is counted: {types} independent contrasts in all.",
            share=wording.share(first["share"]),
            attributes=wording.shortened(first["attributes"]),
            some=some,
            types=wording.magnitude(shares["dimension"].sum()),
        ),
        "attribute-sets",
        shares,
    )
