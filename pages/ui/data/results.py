"""The results of the Data page: what the chosen data looks like, and a table to edit it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ldp_core import charts, frames, library, wording
from ldp_core.data import tables
from ldp_core.data.domain import Attribute, CategoricalAttribute
from ldp_core.data.tables import CategoricalRecipe
from ldp_core.designs import Setting
from ldp_core.limits import MOST_DOWNLOADED_TYPES, MOST_EXACT_TYPES, MOST_LISTED_TYPES
from ldp_core.optimize.base import most_types
from ldp_core.people import check_cells
from ldp_core.workloads import tables_asked
from pages.ui import layout, listing, say
from pages.ui.controls import button
from pages.ui.data import actions as data_actions
from pages.ui.data import background_read
from pages.ui.session.state import Session
from pages.ui.sources import Source
from pages.ui.words import people

NAMED = 12
"""Most attributes whose sizes are listed."""
_ENDS = (
    "These ends come from the data, rounded. Ends that are public knowledge, such as 0 and 120 for an age, would reveal nothing: "
    "give them yourself."
)
_MOST_SPELLINGS = 4
"""Most spellings of one value that are listed."""


def sizes(state: Session) -> None:
    """People and types in numbers, and the columns that make the types."""
    design = state.setting
    if not design.has_domain:
        return
    with st.container(key="sizes"):
        tally, domain = state.tally, design.domain
        row = layout.metrics("data")
        say.metric(row, "People", wording.count(design.users), "Each will send one report.")
        within = f" of {MOST_EXACT_TYPES:,}" if domain.size <= MOST_EXACT_TYPES else ""
        say.metric(
            row,
            "Types so far",
            f"{wording.magnitude(domain.size)}{within}",
            "A type is a value that a person can have, after binning, or a combination of values of several columns. Up to "
            f"{MOST_EXACT_TYPES:,} types are told apart one by one; beyond, questions have to be about a few columns at a time.",
        )
        _per_cell(row, design)
        if tally is not None:
            say.metric(row, "Left out", f"{tally.dropped:,}", "People left out because a value of theirs is missing.")
        parts = [f"{one.size:,} {one.name}{' (known)' if one.known else ''}" for one in domain.attributes]
        more = f" and {len(parts) - NAMED:,} more columns" if len(parts) > NAMED else ""
        crowded = "More types than people: ask about a few columns at a time, or choose fewer."
        say.caption(
            "{types} types = {parts}. {crowded}",
            types=wording.magnitude(domain.size),
            parts=" × ".join(parts[:NAMED]) + more,
            crowded=crowded if domain.size > design.users else "",
        )


def facts(state: Session, design: Setting) -> None:
    """What is wrong with the people and the types."""
    for sentence in _warnings(design):
        st.warning(say.plain(sentence))
    say.caption("{notes}", notes=" ".join(state.tally.notes) if state.tally is not None else "")


FEW = 0.001
"""Fewer people per type than this are as good as none."""


def _per_cell(row: DeltaGenerator, design: Setting) -> None:
    """Users per cell of the largest table that the questions are about: of all types, or of a few attributes."""
    shape, noise = design.domain.shape, "With few people per {}, every count is mostly noise."
    tables = tables_asked(design.workload, shape) if design.has_questions else None
    if tables is None or len(tables.largest) == len(shape):
        average = design.users / design.domain.size
        shown = wording.significant(average) if average >= FEW else f"under {FEW:g}"
        say.metric(row, "People per type", shown, f"On average. {noise.format('type')}")
        return
    names = " x ".join(design.domain.attributes[i].name for i in tables.largest)
    say.metric(
        row,
        "People per cell",
        wording.significant(design.users / tables.largest_cells),
        f"On average, in the largest table that the questions are about: {names}. {noise.format('cell')}",
    )


def _warnings(design: Setting) -> list[str]:
    """Warnings about choices that are impossible or work badly."""
    if design.misfit:
        return [f"The questions cannot be asked: {design.misfit}"]
    if design.has_questions and (survey := design.workload.survey) is not None:
        largest = tables_asked(survey, design.domain.shape).largest
        return tables.table_warnings(design.domain, design.users, largest)
    if design.people.by_type is None:
        return []
    return tables.size_warnings(design.domain, design.people, *_within_reach(design))


def _within_reach(design: Setting) -> tuple[int, str]:
    """Most types that the chosen mechanisms can be fitted to, and which these are."""
    chosen = [library.spec(name) for name in design.side_by_side]
    workload = design.workload if design.has_questions else None
    out = [s for s in chosen if s.fitted and s.unsuitable(design.domain.size, design.epsilon, workload)]
    if not out:
        return design.domain.size, ""
    most = min(most_types(s.continuous) for s in out)
    return most, " and ".join(s.title for s in out)


def along_one(state: Session, design: Setting) -> None:
    """Users along the attribute being set up, whatever else they are."""
    attribute, others = _shown(state, design)
    place = next(i for i in range(len(design.domain.attributes)) if i not in others)
    marginal = design.people.table([place])
    layout.chart(
        lambda look: charts.marginal(attribute, marginal, look),
        _in_words(design, attribute, marginal),
        "histogram",
        lambda: _types(design),
        title=say.text("People by {name}", name=attribute.name),
    )
    if attribute.origin == "data":
        say.caption("The types of {name} come from the data, so exported designs reveal them.", name=attribute.name)


def spellings(state: Session, design: Setting) -> None:
    """Categories that look alike, and a button for each attribute that merges them."""
    choice, source = state.choice, state.source_shown
    if choice is None or source is None or state.draft is not None:
        return
    for place, (recipe, attribute) in enumerate(zip(choice.recipes, design.domain.attributes, strict=True)):
        if (
            recipe.kind != "categorical"
            or attribute.kind != "categorical"
            or not (groups := tables.spellings(attribute))
        ):
            continue
        shown = wording.listed([", ".join(map(wording.quoted, group[:_MOST_SPELLINGS])) for group in groups])
        with st.container(horizontal=True, vertical_alignment="center", key=f"spellings-{place}"):
            say.warning("{name}: {shown} look alike.", name=wording.shortened(attribute.name, 30), shown=shown)
            merged = tables.merge_spellings(recipe, attribute, design.people.table([place]))
            undone, take = "Under the most common spelling. Undo brings them back.", data_actions.set_recipe
            button("Merge them", f"data-merge-{place}", "merge", take, state, source.id, merged, help=undone)


def doubts(state: Session) -> None:
    """A sentence on each column that can be read in two ways or has numbers far from all others, and buttons for what to do instead."""
    choice, source = state.choice, state.source_shown
    if choice is None or choice.source == "declared" or source is None:
        return
    for place, recipe in enumerate(choice.recipes[: background_read.DOUBTED_COLUMNS]):
        if recipe.column not in source.columns:
            continue
        for i, doubt in enumerate(background_read.doubts(state, source, recipe)):
            st.info(say.plain(doubt.said))
            with st.container(horizontal=True, key=f"data-readings-{place}-{i}"):
                for j, (label, other) in enumerate(doubt.ways):
                    key, effect = f"data-reading-{place}-{i}-{j}", f"{doubt.effect} {_ENDS}" if doubt.effect else None
                    button(label, key, "", data_actions.set_recipe, state, source.id, other, help=effect)


def across_two(state: Session, design: Setting) -> None:
    """Users by two attributes, where there are several."""
    domain = design.domain
    attribute, others = _shown(state, design)
    if not others:
        return
    names = [domain.attributes[i].name for i in others]
    across = st.selectbox("Together with", options=names, key="data-across", persist_state="session")
    places = [next(i for i, a in enumerate(domain.attributes) if a.name == name) for name in (attribute.name, across)]
    try:
        nobody = _nobody(design, places)
    except ValueError as error:  # a table of more cells than are counted
        st.caption(say.plain(str(error)))
        return
    layout.chart(
        lambda look: charts.joint(domain, design.counts, attribute.name, across, look),
        nobody,
        "joint",
        lambda: frames.per_attribute(domain, design.counts),
        title=f"People by {attribute.name} and {across}",
    )


def _nobody(design: Setting, places: Sequence[int]) -> str:
    """How many types no one has, or combinations of two attributes where no one has nearly all types. ValueError for attributes
    whose table is too large."""
    check_cells(design.domain.shape, places, [attribute.name for attribute in design.domain.attributes])
    if design.people.by_type is not None:
        size, what = design.domain.size, "For all attributes together, "
        empty, none = size - design.people.different[0], "no type is empty."
    else:
        table = design.people.table(sorted(places))
        size, empty, what, none = table.size, int((table == 0).sum()), "", "Every combination of these two occurs."
    kind = "types are empty" if what else "combinations of these two do not occur"
    return f"{what}{wording.share(empty / size)} of the {size:,} {kind}." if empty else f"{what}{none}"


def _shown(state: Session, design: Setting) -> tuple[Attribute, tuple[int, ...]]:
    """The attribute being set up, and the places of all others."""
    names = [attribute.name for attribute in design.domain.attributes]
    chosen = state.view.get("attribute")
    place = names.index(chosen) if chosen in names else 0
    return design.domain.attributes[place], tuple(i for i in range(len(names)) if i != place)


def _in_words(design: Setting, attribute: Attribute, marginal: np.ndarray) -> str:
    top, users = int(marginal.argmax()), int(marginal.sum())
    unused, empty = int((marginal == 0).sum()), "every value occurs"
    if unused:
        empty = f"{unused:,} of {attribute.size:,} values {'does' if unused == 1 else 'do'} not occur"
    words = say.text(
        "The most common value of {name} is **{label}** with {share} of {people}; {empty}.",
        name=attribute.name,
        label=attribute.decode(np.array([top]))[0],
        share=wording.share(marginal[top] / users),
        people=people(users),
        empty=empty,
    )
    return (
        words
        if design.on_data
        else say.text("No data is loaded: this is the population you expect. {words}", words=words)
    )


def _types(design: Setting) -> pd.DataFrame:
    """Every type with its number, its values and its users: records decoded, and the way to encode them."""
    if (counts := design.people.by_type) is None:  # too many for a number each
        return frames.per_attribute(design.domain, design.people)
    used = np.arange(design.domain.size)
    if design.domain.size > MOST_DOWNLOADED_TYPES:
        used = np.flatnonzero(counts)[:MOST_DOWNLOADED_TYPES]
    table = design.domain.decode(used)
    table.insert(0, "type", used)
    return table.assign(users=counts[used])


def editor(state: Session, design: Setting) -> None:
    """A table of the categories of one column, to rename, merge or order, and a button that declares its types as they are."""
    choice, source = state.choice, state.source_shown
    if choice is None or choice.source == "declared" or source is None or state.draft is not None:
        return
    attribute, _ = _shown(state, design)
    recipe = choice.recipes[design.domain.attributes.index(attribute)]
    if attribute.size > MOST_LISTED_TYPES or attribute.name != recipe.column:
        return
    if attribute.kind == "categorical" and recipe.kind == "categorical":
        wrong = any(doubt.listed for doubt in background_read.doubts(state, source, recipe))
        opened = wrong or bool(state.view.get("editing"))
        with st.expander(say.text("Edit the categories of {name}", name=attribute.name), expanded=opened):
            st.caption(
                "Give several values the same category to merge them, change a category's name to rename it, or its place to move "
                "it; a value without a category counts as (other)."
            )
            _categories(state, source, recipe, attribute)
    if attribute.origin == "data":
        button(
            "These types are public knowledge",
            "data-declare",
            "lock_open",
            data_actions.set_recipe,
            state,
            source.id,
            tables.declared_recipe(attribute),
            help="Keeps the types as they are now, whatever the data, and marks them as declared. That is right for the months of "
            "a year or the countries of the world, but not for a list that tells who is in the data.",
        )


@dataclass
class _Base:
    """The source of the table on screen, and the recipe with all edits so far.

    The widget remembers its edits by its ``key`` and belongs to one table: a new one for every edit would lose what somebody
    types meanwhile.
    """

    source: str
    recipe: CategoricalRecipe
    attribute: CategoricalAttribute
    reached: CategoricalRecipe
    key: str


def _base(state: Session, source: Source, recipe: CategoricalRecipe, attribute: CategoricalAttribute) -> _Base:
    """The table on screen, as long as nothing but its own edits has changed the attribute, or will once a file has been read;
    else a new one."""
    base: _Base | None = state.view.get("edit-base")
    now = recipe if base is None or not background_read.waits(state) else base.reached
    same = base is not None and (base.source, base.reached) == (source.id, now)
    if base is None or not same or (base.reached != base.recipe and base.key not in st.session_state):
        state.view["edits"] = state.view.get("edits", 0) + 1
        base = _Base(source.id, recipe, attribute, recipe, f"edit-{state.view['edits']}")
        state.view["edit-base"] = base
    return base


def _categories(state: Session, source: Source, recipe: CategoricalRecipe, attribute: CategoricalAttribute) -> None:
    """The table of categories, edited in place."""
    base = _base(state, source, recipe, attribute)
    first, known = base.recipe, base.attribute
    table = background_read.edit_table(state, source, recipe.column, tables.category_table, known)

    def changed() -> None:
        state.notices, state.view["editing"] = [], True
        try:
            made = tables.recipe_of_categories(first, known, tables.apply_edits(table, st.session_state[base.key]))
            unedited = tables.recipe_of_categories(first, known, table)
            if made != (base.reached if base.reached != first else unedited):
                data_actions.set_recipe(state, source.id, made)
                base.reached = made
        except ValueError as error:
            state.notices = [("error", f"{error} Nothing has changed.")]

    if table.attrs.get("left_out"):
        say.caption("{left_out:,} more values are not shown.", left_out=table.attrs["left_out"])
    st.data_editor(
        table,
        key=base.key,
        on_change=changed,
        disabled=["value", "people"],
        hide_index=True,
        alt="What each value counts as",
        column_config={
            "value": st.column_config.TextColumn("Value in the data"),
            "people": st.column_config.NumberColumn("People", format="localized"),
            "category": st.column_config.TextColumn("Counts as"),
            "order": st.column_config.NumberColumn(
                "Place",
                min_value=0,
                help="Rows come in this order: 1.5 is between the first and the second, 0 before all.",
            ),
        },
    )


def first_rows(state: Session) -> None:
    """The beginning of the table."""
    source = state.source_shown
    if source is None or state.choice is None:
        return
    first, columns = background_read.beginning(state, source), wording.plural(len(source.columns), "column")
    listing.show_table(first, f"First of {wording.plural(len(source.table), 'row')}, {columns}.")
