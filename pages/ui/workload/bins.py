"""Conditions that cut a bin: the bin can be split where they cut it, and the questions are kept."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ldp_core import wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Attribute
from ldp_core.data.tables import AttributeRecipe, NumericRecipe
from ldp_core.designs import DataChoice
from ldp_core.limits import MOST_SPLIT_BINS
from ldp_core.workloads import PredicateError, PredicatesPart
from ldp_core.workloads.axes import axes_of
from pages.ui.controls import guarded
from pages.ui.session.state import Session
from pages.ui.sources import Source
from pages.ui.words import plain
from pages.ui.workload.choice import replace
from pages.ui.workload.kinds import edited, read_conditions


@dataclass(frozen=True)
class Splits:
    """The attributes with bins that no condition cuts, and where these were split: (attribute, edge)."""

    recipes: tuple[AttributeRecipe, ...]
    edges: tuple[tuple[str, float], ...]


def split_control(state: Session, place: int, part: PredicatesPart, text: str) -> None:
    """A button that splits the bins which the conditions ``text`` of a group cut; nothing where that does not help."""
    splits = _splits(state, part, text)
    if splits is None:
        return
    table = "" if state.source is None else state.source.id
    where: dict[str, list[str]] = {}
    for name, edge in splits.edges:
        where.setdefault(name, []).append(f"{edge:.12g}")
    words = " and ".join(f"{wording.shortened(name, 30)} at {', '.join(edges)}" for name, edges in where.items())
    st.button(
        plain(f"Split the bin{'s' if len(splits.edges) > 1 else ''} of {words}"),
        key=f"group-{place}-split",
        icon=":material/content_cut:",
        on_click=guarded,
        args=(state, _split, state, table, place, part, text, splits.recipes),
        help="The attribute gets its own edges, with these among them. The questions stay; Undo brings the old bins back.",
    )


def _splits(state: Session, part: PredicatesPart, text: str) -> Splits | None:
    """The split that lets no condition cut a bin; None if no condition does, or if splitting bins
    is not enough."""
    choice, domain = state.configuration.data, state.configuration.domain
    if (
        choice is None
        or domain is None
        or state.draft is not None
        or (choice.source != "declared") != (state.source is not None)
    ):
        return None
    recipes, attributes, edges = list(choice.recipes), list(domain.attributes), list[tuple[str, float]]()
    names = [attribute.name for attribute in attributes]
    try:
        for _ in range(MOST_SPLIT_BINS):
            cut = _first_cut(text, attributes)
            if cut is None:
                axes = axes_of(attributes)
                edited(part, predicates=read_conditions(text, axes)).build(axes)
                return Splits(tuple(recipes), tuple(edges)) if edges else None
            place = names.index(cut.attribute)
            recipe, attribute = recipes[place], attributes[place]
            if not isinstance(recipe, NumericRecipe) or attribute.kind not in ("numeric", "range") or not cut.edges:
                return None
            recipes[place] = tables.split_bins(recipe, attribute, cut.edges)
            attributes[place] = tables.build_attribute(recipes[place])
            edges += [(cut.attribute, edge) for edge in cut.edges]
    except ValueError:  # another sentence says what is wrong with the conditions, or there would be too many bins
        return None
    return None


def _first_cut(text: str, attributes: list[Attribute]) -> workloads.CutsBin | None:
    """The first bin that a condition cuts. ValueError where a condition is wrong in another way."""
    axes = axes_of(attributes)
    for predicate in read_conditions(text, axes):
        try:
            workloads.parse(predicate.expression, axes)
        except PredicateError as error:
            if error.cut is None:
                raise
            return error.cut
    return None


def _split(
    state: Session, table: str, place: int, part: PredicatesPart, text: str, recipes: tuple[AttributeRecipe, ...]
) -> None:
    choice, source = state.choice, state.source_shown
    if choice is not None and table == ("" if source is None else source.id):
        _apply(state, choice, source, place, part, text, recipes)


def _apply(
    state: Session,
    choice: DataChoice,
    source: Source | None,
    place: int,
    part: PredicatesPart,
    text: str,
    recipes: tuple[AttributeRecipe, ...],
) -> None:
    """New bins and the conditions on them, as one step. ValueError with a sentence; then nothing has changed."""
    refused = {key: entry for key, entry in state.invalid.items() if key != f"group-{place}-conditions"}
    state.set_data(choice.model_copy(update={"recipes": recipes}), source)
    if state.draft is not None:
        sentence, state.draft = state.draft.error, None
        raise ValueError(sentence)
    between, domain = state.configuration, state.present.domain
    replace(state, place, edited(part, predicates=read_conditions(text, axes_of(domain))))
    if state.history.past and state.history.past[-1][0] is between:
        state.history.past.pop()
    state.invalid.update(refused)
