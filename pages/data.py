"""People and their attributes: upload a table, pick a sample, or declare a domain before collecting
anything."""

from collections.abc import Sequence

import streamlit as st

from ldp_core import wording
from ldp_core.data import tables
from ldp_core.data.tables import AttributeRecipe
from ldp_core.designs import DataChoice, UploadedData
from ldp_core.limits import MOST_NAMED_VALUES
from pages.ui import layout, say
from pages.ui.controls import button, control, number, pick, typed, whole_number
from pages.ui.data import actions as data_actions
from pages.ui.data import (
    attribute_controls,
    background_read,
    column_table,
    combined_controls,
    results,
    source_controls,
)
from pages.ui.formulas import DATA
from pages.ui.sources import Source

SOURCES = {"sample": "Sample", "upload": "Upload", "declared": "Declare"}
SHAPES = {
    "uniform": "even: every type equally common",
    "zipf": "Zipf: few common, many rare",
    "bell": "bell: most in the middle",
    "cauchy": "Cauchy: around a centre, with many far from it",
    "dirichlet": "Dirichlet: shares drawn at random",
}

state = layout.open_page("Data", "Load a table, or describe what you will collect.")


def where_from() -> str:
    """The kind of source on screen."""
    current = state.choice.source if state.choice is not None else "sample"
    source = state.view.get("source") or current
    chosen = control(
        st.segmented_control,
        "Source",
        "data-source",
        source,
        lambda kind: kind and state.view.update(source=kind),
        options=list(SOURCES),
        format_func=SOURCES.get,
    )
    return chosen or source


def table_controls(choice: DataChoice, source: Source) -> None:
    """The columns that are attributes, the meaning of a row, and the treatment of one attribute."""
    table = source.id
    results.sizes(state)
    column_table.of_file(state, choice, source)
    button(
        "All columns",
        "data-all",
        "select_all",
        data_actions.choose_all,
        state,
        source.id,
        help="Every column that says something about people, each as suits its values: missing values count as a category of "
        "their own, and of many categories the most common are kept. What you chose or set up yourself stays. Undo brings the choice on screen back.",
    )
    if isinstance(choice, UploadedData):
        able = background_read.columns_that(tables.can_count, state, source)
        countable = (name for name in source.columns if name == choice.counts or name in able)
        many = {name: f"as many people as {name} says" for name in countable}
        pick(
            "Each row stands for",
            "data-counts",
            choice.counts,
            lambda name: data_actions.set_counts(state, table, name),
            {None: "one person", **many},
            help="A table of counts has a column that says how many people each row stands for.",
        )
        combined_controls.of_columns(state, choice, source)
    commit = lambda recipe: data_actions.set_recipe(state, table, recipe)  # noqa: E731
    more_about(choice.recipes, commit)


def secret_values(recipes: Sequence[AttributeRecipe], position: int, commit: attribute_controls.Commit) -> None:
    """Which values of a column are secret, and what keeps all people hidden although some values are not."""
    if not 2 <= types_of(position) <= MOST_NAMED_VALUES or state.configuration.domain is None:
        return
    attributes = state.configuration.domain.attributes
    attribute_controls.secret(recipes[position], commit, attributes[position].labels)
    hidden = [one.name for one in attributes if not one.known and one.secret_types is None]
    if not hidden or not any(one.secret_types for one in attributes):
        return
    say.caption("Everybody is still hidden: every value of {hidden} is secret.", hidden=wording.listed(hidden))
    first = next(recipe for recipe in recipes if recipe.column == hidden[0])
    st.button(
        say.text("{name} is not sensitive", name=hidden[0]),
        key="data-open",
        on_click=commit,
        args=(first.model_copy(update={"secret": ()}),),
        width="stretch",
    )


def types_of(position: int) -> int:
    """How many values the attribute has; 0 while there is none."""
    shape = () if state.configuration.domain is None else state.configuration.domain.shape
    return shape[position] if position < len(shape) else 0


def declared_controls() -> None:
    """The columns in words, one of them in detail, and the people that are expected."""
    results.sizes(state)
    column_table.of_declaration(state)
    recipes = data_actions.declared(state)
    with layout.actions("declared"):
        st.button(
            "Add another",
            key="declare-add",
            icon=":material/add:",
            on_click=data_actions.declare_another,
            args=(state,),
            help="Another value that each person has. It starts as a yes-or-no question.",
        )
    position = chosen(recipes)
    commit = lambda recipe: data_actions.declare(  # noqa: E731
        state, tuple(recipe if recipe.column == one.column else one for one in recipes), position
    )
    more_about(recipes, commit)
    others = (*recipes[:position], *recipes[position + 1 :])
    st.button(
        "Remove",
        key="declare-remove",
        icon=":material/remove:",
        on_click=data_actions.declare,
        args=(state, others, 0),
        width="stretch",
        disabled=not others,
    )
    population_controls()


def chosen(recipes: Sequence[AttributeRecipe]) -> int:
    """The place of the column that somebody chose, or edited last."""
    names = [recipe.column for recipe in recipes]
    return names.index(state.view["attribute"]) if state.view.get("attribute") in names else 0


def more_about(recipes: Sequence[AttributeRecipe], commit: attribute_controls.Commit) -> None:
    """The settings of one column that only its kind has."""
    names, shown = [recipe.column for recipe in recipes], chosen(recipes)
    with layout.controls("column", border=True):
        pick(
            "More about",
            "data-attribute",
            shown,
            lambda i: state.view.update(attribute=names[i]),
            dict(enumerate(names)),
            help="Settings that only this kind of column has.",
        )
        attribute_controls.of_column(recipes[shown], commit, types_of(shown))
        secret_values(recipes, shown, commit)


def population_controls() -> None:
    """Expected users and how they spread: what errors "to expect" refer to before there is data."""
    now = state.expected()
    control(
        st.text_input,
        "Expected number of people",
        "declare-users",
        f"{now.users:,}",
        lambda text: state.expect(users=whole_number(text, "the number of people", 1, 10**9)),
    )
    pick(
        "Expected shape",
        "declare-shape",
        now.shape,
        lambda shape: state.expect(shape=shape),
        SHAPES,
        help="Only used to predict errors; the mechanism does not depend on it.",
    )
    if now.centre is not None:
        control(
            st.text_input,
            "Centre",
            "declare-centre",
            typed(now.centre),
            lambda text: state.expect(centre=number(text, "the centre")),
            help="Where most people are, from 0 (the first type) to 1 (the last): at least half of them are within a tenth of the types of it.",
        )
    if now.concentration is not None:
        control(
            st.text_input,
            "Concentration",
            "declare-concentration",
            typed(now.concentration),
            lambda text: state.expect(concentration=number(text, "the concentration")),
            help="At 1 every way to spread people over the types is equally likely; 0.1 puts most people into few types, 100 makes types "
            "nearly even.",
        )
        control(
            st.text_input,
            "Draw",
            "declare-draw",
            f"{now.draw}",
            lambda text: state.expect(draw=whole_number(text, "the draw", 0, 10**9)),
            help="Another number draws another population.",
        )


def planning_control(people: str) -> None:
    """Whether a design takes shares, averages and sizes of groups of the people it is planned with."""
    if state.configuration.population.shape == "uniform":
        return
    control(
        st.checkbox,
        say.text("Plan with shares, averages and sizes of groups in {people}", people=people),
        "data-planning",
        state.configuration.planning == "people",
        lambda chosen: state.change(planning="people" if chosen else "even"),
        help="An answer about a group is a ratio: its error, and the best mechanism for it, depend on the share itself and on the size of the "
        "group. The design, its kit and every exported file then hold these numbers, two digits of each. Off: people spread evenly. "
        "Changing this makes a fit stale.",
    )


def settings() -> str:
    """Everything above the results; which kind of source is on screen."""
    source = where_from()
    if source == "declared":
        declared_controls()
        planning_control("these expected people")
        return source
    {"sample": source_controls.samples, "upload": source_controls.upload}[source](state)
    background_read.progress(state)
    choice, source_now = state.choice, state.source_shown
    if choice is not None and source_now is not None and source_now.file.kind == source:
        table_controls(choice, source_now)
        planning_control("this data")
    return source


def counted() -> None:
    """A sentence on how many people a row stands for, where a column is named like one of counts."""
    choice, source = state.choice, state.source_shown
    if source is None or not isinstance(choice, UploadedData):
        return
    if choice.counts is not None:
        say.info(
            "Each row stands for as many people as {counts} says; choose one person instead if that is wrong.",
            counts=choice.counts,
        )
        return
    for name in filter(tables.called_counts, source.columns):
        say.info(
            "Each row was read as one person; if {name} says how many people a row stands for, choose it.", name=name
        )


def people(source: str) -> None:
    """The results: what was chosen."""
    with st.container(key="reading-notes"):  # here as long as the table is used, not until the next action
        for note in state.source_shown.notes if state.source_shown is not None else ():
            st.info(say.plain(note))
        counted()
    if state.draft is not None:
        kept = " The design keeps its earlier data until then." if state.configuration.domain is not None else ""
        (say.info if state.draft.begun else say.error)("{reason}", reason=f"{wording.capital(state.draft.error)}{kept}")
    results.doubts(state)
    results.first_rows(state)
    design = state.setting
    if not design.has_domain:
        way = (
            "Give the column its categories above, or make it numbers with bins such as 18 to 90 in 8."
            if source == "declared"
            else "Pick a sample above to see everything work, or bring your own table."
        )
        say.info("Nothing is chosen yet. {way}", way=way)
    else:
        say.info("{lacking}", lacking=state.lacking)
        results.facts(state, design)
        results.spellings(state, design)
        results.along_one(state, design)
        results.editor(state, design)
        results.across_two(state, design)
        layout.how_computed(DATA)


# Tables stay in functions: Streamlit keeps callbacks, and with them every variable of this script, as long as the session.
controls, place = layout.frame()
with controls:
    shown = settings()
with place:
    people(shown)
