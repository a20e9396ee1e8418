"""The effects of the Data page on the design: tables come in, columns become attributes."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from ldp_core import wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Domain
from ldp_core.data.tables import AttributeRecipe, CategoricalRecipe, NumericRecipe, ReadOptions, Together
from ldp_core.designs import DataChoice, DeclaredData, Population, SampleData, UploadedData
from ldp_core.limits import MOST_ATTRIBUTES, MOST_EXACT_TYPES
from pages.ui import say, sources
from pages.ui.controls import button
from pages.ui.data.background_read import column_of, do, looking
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import File, Source

BINS_ADD = 10
"""Bins should move no answer by more than this part of its target."""
PENDING_FILE = "given"
"""The key under which the view keeps a file that could not be read."""
UNDESCRIBED = (CategoricalRecipe(column="value"),)


def adopt(state: Session, source: Source) -> None:
    """A table came in: it serves the design available where that was waiting for it or uses its columns; otherwise its
    first column is offered in the treatment that suits it."""
    configuration, missed = state.configuration, _missed_table(state)
    domain, columns = configuration.domain, set(source.columns)
    kept: dict[str, Any] = {"reading": source.file.options, "query": source.file.query}
    described = (data for data in (missed, state.choice) if isinstance(data, UploadedData))
    known = next((data for data in described if {recipe.column for recipe in data.recipes} <= columns), None)
    if missed is not None and domain is not None and state.fits(domain, source, missed.counts):
        population = Population(users=state.count(domain, source, missed.counts).users, origin="data", shape="data")
        state.install(configuration.with_(population=population, data=missed.model_copy(update=kept)), source)
    elif known is not None:
        counts = known.counts if known.counts in columns else None
        state.set_data(known.model_copy(update={**kept, "counts": counts}), source)
    else:
        counts = tables.counts_column(source.table)
        first = _first(state, source, counts)
        state.set_data(UploadedData(recipes=(suggested(state, source, first),), counts=counts, **kept), source)


def _first(state: Session, source: Source, counts: str | None) -> str:
    """The first column that says something about people rather than identifying them: their numbers often come first."""
    names = [name for name in source.columns if name != counts]
    columns = ((name, column_of(state, source, name, counts)) for name in names)
    return next((name for name, one in columns if not tables.identifies(one) and not tables.records_in(one)), names[0])


def _missed_table(state: Session) -> UploadedData | None:
    """The description in a loaded design of the table that it waits for."""
    data = state.configuration.data
    return data if state.awaits_upload and isinstance(data, UploadedData) else None


def upload(state: Session, content: bytes, name: str) -> None:
    """Read an uploaded file; of a database what a loaded design asked of it, or nothing until there is a query. ValueError with a
    sentence when it is no table; then nothing has changed, and the file is kept until it can be read or another one is given."""
    missed = _missed_table(state)
    options, query = (ReadOptions(), None) if missed is None else (missed.reading, missed.query)
    given = File("upload", name, options, content, query)
    if given.is_database and query is None:
        state.view[PENDING_FILE] = given
    else:
        read(state, given)


def read(state: Session, given: File) -> None:
    """Read a file as it is to be read; in the background where that takes long."""
    state.view[PENDING_FILE] = given if given.has_options else None

    def act(state: Session) -> None:
        adopt(state, given.read())
        state.view.pop(PENDING_FILE, None)

    do(state, given.slow, "running the query" if given.query else "reading the file", act)


def read_otherwise(state: Session, **said: Any) -> None:
    """The file that could not be read, with other options."""
    given: File = state.view[PENDING_FILE]
    read(state, replace(given, options=ReadOptions.model_validate({**dict(given.options), **said})))


def listed_names(typed: str) -> tuple[str, ...]:
    """Names of columns from a text with commas."""
    return tuple(map(str.strip, next(csv.reader([" ".join(typed.splitlines())], skipinitialspace=True), [])))


def read_again(state: Session, table: str, **said: Any) -> None:
    """The file available under other options; its columns may get other names, which the attributes follow."""
    choice, source = state.choice, state.source_shown
    if not isinstance(choice, UploadedData) or source is None or source.id != table:
        return
    reading = ReadOptions.model_validate({**dict(choice.reading), **said})
    given = replace(source.file, options=reading)

    def act(state: Session) -> None:
        found = given.read()
        if len(found.columns) != len(source.columns):
            return adopt(state, found)
        now = dict(zip(source.columns, found.columns, strict=True))
        recipes = tuple(r.model_copy(update={"column": now.get(r.column, r.column)}) for r in choice.recipes)
        counts = choice.counts and now.get(choice.counts)
        state.set_data(choice.model_copy(update={"recipes": recipes, "counts": counts, "reading": reading}), found)

    do(state, given.slow or source.slow, "reading the file again", act)


def put_together(state: Session, table: str, together: tuple[Together, ...], most: int | None = None) -> None:
    """The file available with these columns put together: each new choice becomes an attribute, of at most so many items at once."""
    choice, source = state.choice, state.source_shown
    if not isinstance(choice, UploadedData) or source is None or source.id != table:
        return
    reading = choice.reading.model_copy(update={"together": together})

    def act(state: Session) -> None:
        found = replace(source.file, options=reading).read()
        kept = [recipe for recipe in choice.recipes if recipe.column in found.columns]
        new = [one for one in together if one not in choice.reading.together]
        recipes = (*kept, *(tables.together_recipe(one, most) for one in new))
        recipes = recipes or (suggested(state, found, _first(state, found, choice.counts)),)
        state.set_data(choice.model_copy(update={"recipes": recipes, "reading": reading}), found)
        state.view["attribute"] = recipes[-1].column

    do(state, source.slow, "reading the file again", act)


@looking
def set_columns(state: Session, choice: DataChoice, source: Source, recipes: tuple[AttributeRecipe, ...]) -> None:
    """These columns in this treatment are the attributes."""
    state.set_data(choice.model_copy(update={"recipes": recipes}), source)


def picked(state: Session, choice: DataChoice, source: Source) -> set[str]:
    """The columns among the attributes that somebody chose one by one."""
    by_hand: set[tuple[str, str]] = state.view.get("picked", set())
    return {recipe.column for recipe in choice.recipes if (source.id, recipe.column) in by_hand}


def remember(state: Session, choice: DataChoice, source: Source) -> dict[tuple[str, str], AttributeRecipe]:
    """The settings of columns, including those on screen, by table and column."""
    remembered: dict[tuple[str, str], AttributeRecipe] = state.view.setdefault("recipes", {})
    remembered.update({(source.id, recipe.column): recipe for recipe in choice.recipes})
    return remembered


@looking
def set_recipe(state: Session, choice: DataChoice, source: Source, recipe: AttributeRecipe) -> None:
    """Another treatment of one attribute; of none where its column is not among them any more."""
    columns = [known.column for known in choice.recipes]
    if recipe.column not in columns:
        return
    position = columns.index(recipe.column)
    recipes = (*choice.recipes[:position], recipe, *choice.recipes[position + 1 :])
    state.set_data(choice.model_copy(update={"recipes": recipes}), source)
    state.view["attribute"] = recipe.column


@looking
def set_counts(state: Session, choice: DataChoice, source: Source, column: str | None) -> None:
    """The column that says how many people a row stands for."""
    recipes = tuple(recipe for recipe in choice.recipes if recipe.column != column)
    if not recipes:
        others = [name for name in source.columns if name != column]
        if not others:
            raise ValueError("The table has no other column that could hold the values.")
        recipes = (suggested(state, source, others[0]),)
    state.set_data(choice.model_copy(update={"counts": column, "recipes": recipes}), source)


def declare(state: Session, recipes: tuple[AttributeRecipe, ...], position: int) -> None:
    """Attributes without data; the one at ``position`` stays on screen."""
    state.view["attribute"] = recipes[position].column
    state.set_data(DeclaredData(recipes=recipes), None)


def declare_another(state: Session) -> None:
    """One more attribute: a yes-or-no question until it is changed."""
    recipes = declared(state)
    taken = {recipe.column for recipe in recipes}
    name = next(f"question {i}" for i in range(1, len(recipes) + 2) if f"question {i}" not in taken)
    new = CategoricalRecipe(column=name, categories=("no", "yes"))
    # An attribute no one has described yet gives way to the first one that has been described.
    kept = () if recipes == UNDESCRIBED else recipes
    declare(state, (*kept, new), len(kept))


def declared(state: Session) -> tuple[AttributeRecipe, ...]:
    """The attributes that are declared so far."""
    if isinstance(state.choice, DeclaredData):
        return state.choice.recipes
    return UNDESCRIBED


def load_sample(state: Session, file: str) -> None:
    """One click: a sample with its columns in the treatment that suits them."""
    entry = next(sample for sample in sources.catalogue() if sample["file"] == file)
    state.view.pop("source", None)
    state.set_data(SampleData(file=file, recipes=entry["recipes"]), File("sample", file).read())


def suggested(state: Session, source: Source, column: str, counts: str | None = None) -> AttributeRecipe:
    """The treatment to offer first; a million different texts take a second to read, so they are read once."""
    return state.results.cached(
        ("suggested", source.id, column, counts),
        lambda: tables.suggest_recipe(column_of(state, source, column, counts)),
    )


def _looked_at(state: Session, choice: DataChoice, source: Source) -> dict[str, tables.Suggestion]:
    """What is suggested for every column in a survey."""
    counts = counts_column(choice)
    look = lambda name: tables.suggest_for_survey(column_of(state, source, name, counts))  # noqa: E731
    return {
        name: state.results.cached(("in a survey", source.id, name, counts), partial(look, name))
        for name in source.columns
        if name != counts
    }


def able_columns(state: Session, choice: DataChoice, source: Source) -> dict[str, AttributeRecipe]:
    """The columns that say something about people, each with the treatment that suits it in a survey."""
    found = _looked_at(state, choice, source)
    return {name: suggestion.recipe for name, suggestion in found.items() if suggestion.recipe is not None}


@looking
def choose_all(state: Session, choice: DataChoice, source: Source) -> None:
    """Every column that says something about people becomes an attribute. Settings and choices made
    by hand stay as they are.
    ValueError with a sentence where there is none; then nothing has changed."""
    counts, looked = counts_column(choice), _looked_at(state, choice, source)
    remembered = remember(state, choice, source)
    stay = picked(state, choice, source) if state.draft is None else set()
    for name, suggestion in looked.items():
        before = remembered.get((source.id, name))
        by_hand = suggestion.recipe is None and name in stay
        if before is not None and (by_hand or before != suggested(state, source, name, counts)):
            looked[name] = replace(suggestion, recipe=before, note="")
    able = {suggestion.recipe: suggestion.types for suggestion in looked.values() if suggestion.recipe is not None}
    if not able:
        raise ValueError(
            f"No column can be an attribute. {' '.join(suggestion.note for suggestion in list(looked.values())[:3])}"
        )
    kept = list(able)[: min(MOST_ATTRIBUTES, tables.fitting(list(able.values())))]
    state.set_data(choice.model_copy(update={"recipes": tuple(kept)}), source)
    said = tables.told_of(looked)
    if len(kept) < len(able):
        said.append(f"Only the first {len(kept):,} of these fit in one design: leave out some to have others.")
    state.notices = [*state.notices, ("info", " ".join(said))]


def unused_columns(state: Session) -> None:
    """The sentence and the button; nothing where every column is used, or the data on screen is not the design's."""
    design = state.setting
    if state.draft is not None or not (names := design.unused_columns):
        return
    times = math.prod(a.size for a in design.domain.attributes if a.name in names)
    with st.container(horizontal=True, vertical_alignment="center", key="unused-columns"):
        say.warning(
            "No question uses {names}: without {them} there would be {fewer} types instead of {types}.",
            names=wording.listed([wording.shortened(name, 30) for name in names]),
            them="it" if len(names) == 1 else "them",
            fewer=wording.magnitude(design.domain.size // times),
            types=wording.magnitude(design.domain.size),
        )
        what = wording.shortened(names[0], 30) if len(names) == 1 else f"{len(names):,} columns"
        undone = "The questions stay. Undo brings the columns back."
        button(f"Drop {what}", "drop-unused", "playlist_remove", _drop, state, names, help=undone)


def coarse_bins(state: Session) -> None:
    """For each column that is averaged or added up what its bins may add, where that is more than a tenth of the target, and a button with finer ones."""
    design = state.setting
    if not design.has_questions or state.draft is not None:
        return
    axes = {axis.name: axis for axis in design.answers.axes}
    wanted = {
        line.unit.name: (
            line,
            workloads.bins_for(axes[line.unit.name], line.off_for(1 / (BINS_ADD + 1))),
        )
        for line in sorted(design.answers.lines, key=lambda line: line.bins / line.goal)
        if line.bins > line.goal / BINS_ADD
    }
    for place, (name, (line, bins)) in enumerate(wanted.items()):
        fits = bins * (design.domain.size // axes[name].size) <= MOST_EXACT_TYPES
        able = isinstance(state.choice, DeclaredData) or state.source is not None
        recipes = state.choice.recipes if state.choice is not None and able else ()
        words = f"Bins of {wording.shortened(name, 30)} may move an answer by {wording.significant(line.bins)}; its target is {wording.significant(line.goal)}."
        words += f" With {bins:,} bins that is at most a tenth of it{'' if fits else ', but there would be too many types to judge single answers'}."
        with st.container(horizontal=True, vertical_alignment="center", key=f"coarse-bins-{place}"):
            st.warning(say.plain(words))
            for recipe in (one for one in recipes if one.column == name and fits):
                if isinstance(recipe, NumericRecipe) and recipe.method in ("equal_width", "range"):
                    finer = recipe.model_copy(update={"bins": bins})
                    button(f"Use {bins:,} bins", f"use-bins-{place}", "grid_on", _use, state, finer)


def _use(state: Session, recipe: AttributeRecipe) -> None:
    """The design with another treatment of a column."""
    if state.source is not None:
        set_recipe(state, state.source.id, recipe)
    else:
        recipes = tuple(recipe if one.column == recipe.column else one for one in declared(state))
        declare(state, recipes, recipes.index(recipe))


def _drop(state: Session, names: tuple[str, ...]) -> None:
    """The design without these columns."""
    c, domain = state.configuration, state.setting.domain
    kept = [i for i, attribute in enumerate(domain.attributes) if attribute.name not in names]
    recipes = () if c.data is None else tuple(c.data.recipes[i] for i in kept)
    if state.source is not None:
        set_columns(state, state.source.id, recipes)
    elif isinstance(c.data, DeclaredData):
        declare(state, recipes, 0)
    else:  # a design that was loaded without its rows
        data = None if c.data is None else c.data.model_copy(update={"recipes": recipes})
        state.change(data=data, domain=Domain(attributes=tuple(domain.attributes[i] for i in kept)))
