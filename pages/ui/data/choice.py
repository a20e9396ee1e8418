"""What the Data page does to the design: tables come in, columns become attributes."""

from __future__ import annotations

import csv

import pandas as pd

from ldp_core.data import tables
from ldp_core.data.domain import Attribute
from ldp_core.data.tables import AttributeRecipe, CategoricalRecipe, ReadOptions
from ldp_core.designs import DataChoice, DeclaredData, Population, SampleData, UploadedData
from pages.ui import sources
from pages.ui.data.ahead import look, looking, values
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import Source

UNDESCRIBED = (CategoricalRecipe(column="value"),)


def adopt(state: Session, found: Source, reading: ReadOptions) -> None:
    """A table came in: it serves the design at hand where that was waiting for it or uses its columns; otherwise its
    first column is offered in the treatment that suits it."""
    configuration = state.configuration
    choice = state.draft.choice if state.draft is not None else configuration.data
    kept = {"reading": reading, "query": found.query}
    if state.awaits_upload and state.fits(configuration.domain, found, configuration.data.counts):
        tally = state.count(configuration.domain, found, configuration.data.counts)
        population = Population(users=tally.users, origin="data", shape="data")
        data = configuration.data.model_copy(update=kept)
        state.install(configuration.with_(population=population, data=data), found)
    elif isinstance(choice, UploadedData) and {r.column for r in choice.recipes} <= set(found.columns):
        counts = choice.counts if choice.counts in found.columns else None
        state.set_data(choice.model_copy(update={**kept, "counts": counts}), found)
    else:
        counts = tables.counts_column(found.table) if isinstance(found.table, pd.DataFrame) else None
        first = next(name for name in found.columns if name != counts)
        if isinstance(found.table, tables.LocalTable):
            first = state.cached(("first to count", found.id), lambda: _first_to_count(state, found))
        recipe = _suggested(state, found, first)
        state.set_data(UploadedData(recipes=(recipe,), counts=counts, reading=reading, query=found.query), found)
        if counts is not None:
            state.notices.append(
                (
                    "info",
                    f"Each row stands for as many people as {counts} says; choose one person instead if that is wrong.",
                )
            )
    state.notices = [*state.notices, *(("info", note) for note in found.notes)]


def upload(state: Session, content: bytes, name: str) -> None:
    """Read an uploaded file. ValueError with a sentence when it is no table; then nothing has changed."""
    options = state.configuration.data.reading if state.awaits_upload else ReadOptions()
    adopt(state, sources.uploaded(content, name, options), options)


def open_file(state: Session, path: str) -> None:
    """A CSV or Parquet file of this machine, counted where it is."""
    options = state.configuration.data.reading if state.awaits_upload else ReadOptions()
    look(
        state,
        "reading the file",
        lambda at, found: adopt(at, found, options),
        lambda: sources.local_file(path, options),
    )


def run_query(state: Session, path: str, query: str) -> None:
    """The answer of a local database."""
    look(
        state,
        "running the query",
        lambda at, found: adopt(at, found, ReadOptions()),
        lambda: sources.queried(path, query),
    )


def rename_columns(state: Session, typed: str) -> None:
    """Other names for all columns, from a text with commas."""
    names = next(csv.reader([" ".join(typed.splitlines())], skipinitialspace=True), [])
    read_again(state, names=tuple(name.strip() for name in names))


@looking("reading the file again")
def read_again(state: Session, **options: object) -> None:
    """The file at hand under other options; its columns may get other names, which the attributes follow."""
    choice, found = state.choice, state.source_shown
    reading = ReadOptions(**{**dict(choice.reading), **options})
    if found.kind == "local":
        again = sources.local_file(found.path, reading)
    else:
        again = sources.uploaded(found.content, found.name, reading)
    if len(again.columns) == len(found.columns):
        now = dict(zip(found.columns, again.columns, strict=True))
        recipes = tuple(
            recipe.model_copy(update={"column": now.get(recipe.column, recipe.column)}) for recipe in choice.recipes
        )
        counts = choice.counts and now.get(choice.counts)
        state.set_data(choice.model_copy(update={"recipes": recipes, "counts": counts, "reading": reading}), again)
        state.notices = [*state.notices, *(("info", note) for note in again.notes)]
    else:
        adopt(state, again, reading)


@looking("counting in the file")
def choose_columns(state: Session, columns: list[str]) -> None:
    """Which columns are the attributes, in their order. What was set up for a column comes back with it."""
    if not columns:
        raise ValueError("Please keep at least one column: a domain needs an attribute.")
    choice, found = state.choice, state.source_shown
    remembered = state.view.setdefault("recipes", {})
    remembered.update({(found.id, recipe.column): recipe for recipe in choice.recipes})
    recipes = [remembered.get((found.id, column)) or _suggested(state, found, column, choice) for column in columns]
    state.set_data(choice.model_copy(update={"recipes": tuple(recipes)}), found)
    new = [column for column in columns if column not in {recipe.column for recipe in choice.recipes}]
    if new:
        state.view["attribute"] = new[-1]


@looking("counting in the file")
def set_recipe(state: Session, position: int, recipe: AttributeRecipe) -> None:
    """Another treatment of one attribute."""
    choice, now = state.choice, state.configuration.domain
    if recipe.kind == "numeric" and recipe.method == "own_edges" and not recipe.edges and now is not None:
        # Start from the bins on screen rather than from an empty line.
        bins = [a for a in now.attributes if a.name == recipe.column and a.kind in ("numeric", "range")]
        recipe = tables.recipe_of_edges(recipe, tables.edge_table(bins[0])) if bins else recipe
    recipes = [*choice.recipes[:position], recipe, *choice.recipes[position + 1 :]]
    state.set_data(choice.model_copy(update={"recipes": tuple(recipes)}), state.source_shown)
    state.view["attribute"] = recipe.column


@looking("counting in the file")
def set_counts(state: Session, column: str | None) -> None:
    """The column that says how many people a row stands for."""
    choice = state.choice
    recipes = tuple(recipe for recipe in choice.recipes if recipe.column != column)
    if not recipes:
        others = [name for name in state.source_shown.columns if name != column]
        if not others:
            raise ValueError("The table has no other column that could hold the values.")
        recipes = (_suggested(state, state.source_shown, others[0]),)
    state.set_data(choice.model_copy(update={"counts": column, "recipes": recipes}), state.source_shown)


def fix(state: Session, position: int, attribute: Attribute) -> None:
    """Keep the types of an attribute as they are, as declared ones."""
    set_recipe(state, position, tables.declared_recipe(attribute))


def declare(state: Session, recipes: tuple[AttributeRecipe, ...], position: int) -> None:
    """Attributes without data; the one at ``position`` stays on screen."""
    state.view["attribute"] = recipes[position].column
    state.set_data(DeclaredData(recipes=recipes), None)


def declare_another(state: Session) -> None:
    """One more attribute, a yes-or-no question until it is told otherwise."""
    recipes = declared(state)
    taken = {recipe.column for recipe in recipes}
    name = next(f"question {i}" for i in range(1, len(recipes) + 2) if f"question {i}" not in taken)
    new = CategoricalRecipe(column=name, categories=("no", "yes"))
    # An attribute nobody has described yet gives way to the first one that has been described.
    kept = () if recipes == UNDESCRIBED else recipes
    declare(state, (*kept, new), len(kept))


def declared(state: Session) -> tuple[AttributeRecipe, ...]:
    """The attributes that are declared so far."""
    return state.choice.recipes if isinstance(state.choice, DeclaredData) else UNDESCRIBED


def load_sample(state: Session, file: str) -> None:
    """One click: a sample with its columns in the treatment that suits them."""
    entry = next(sample for sample in sources.catalogue() if sample["file"] == file)
    state.view.pop("source", None)
    state.set_data(SampleData(file=file, recipes=entry["recipes"]), sources.sample(file))


def _first_to_count(state: Session, found: Source) -> str:
    """The first column of a large file with few enough different values: people's numbers often come first."""
    for name in found.columns[:-1]:
        try:
            values(state, found, name, None)
            return name
        except tables.TooManyRows:
            continue
    return found.columns[-1]


def _suggested(state: Session, found: Source, column: str, choice: DataChoice | None = None) -> AttributeRecipe:
    """The treatment to offer first; a million different texts take a second to read, so they are read once."""
    counts = choice and counts_column(choice)
    return state.cached(
        ("suggested", found.id, column, counts),
        lambda: tables.suggest_recipe(*values(state, found, column, counts)),
    )
