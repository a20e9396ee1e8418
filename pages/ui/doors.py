"""The doors of Start by job: each asks three things about a table, and Design opens with the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from ldp_core import wording, workloads
from ldp_core.data import tables
from ldp_core.data.domain import Attribute
from ldp_core.data.tables import AttributeRecipe
from ldp_core.designs import DataChoice, DeclaredData, WorkloadRecipe
from ldp_core.designs.configuration import DifferenceToDetect
from ldp_core.limits import MOST_ATTRIBUTES, MOST_COMPARED_GROUPS, MOST_LINES
from ldp_core.workloads import Axis, WorkloadPart
from pages.ui import layout, say
from pages.ui.controls import guarded, number, take_file
from pages.ui.data import actions, background_read
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import Source

ENOUGH = "2"
"""Percentage points: the error of a share that a survey begins with."""
_OPENED = "door-opened"


def compare_groups(state: Session, choice: DataChoice, source: Source, epsilon: str) -> None:
    """Two groups: which column holds them, what is measured, and what difference matters."""
    able = _attributes(state, choice, source)
    grouping = [
        name for name, one in able.items() if one.kind == "categorical" and 2 <= one.size <= MOST_COMPARED_GROUPS
    ]
    if not grouping or len(able) < 2:
        st.info(
            "Two groups are compared by a column of categories and another one that is measured; this table lacks them."
        )
        return
    group = st.selectbox("Which column is the group?", options=grouping, key="door-group")
    values = list(able[group].labels)
    first, second = values[1], values[0]
    if len(values) > 2:
        first = st.selectbox("Which group", options=values, index=1, key="door-first")
        second = st.selectbox(
            "is compared with", options=[value for value in values if value != first], key="door-second"
        )
    measured = st.selectbox("What is measured?", options=[name for name in able if name != group], key="door-measured")
    axis = Axis.of(able[measured])
    question: WorkloadPart
    if workloads.summable(axis) and axis.ordinary == axis.size:
        question, unit = workloads.MeanPart(attribute=measured), measured
    else:
        labels = list(able[measured].labels)
        last = max(i for i in range(len(labels)) if i < axis.ordinary)
        answer = st.selectbox("Which answer is counted?", options=labels, index=last, key="door-answer")
        condition = f"{workloads.quoted(measured)} = {workloads.quoted(answer)}"
        question = workloads.PredicatesPart(predicates=(workloads.Predicate(expression=condition),))
        unit = "percentage points"
    shares = unit != measured
    typed = st.text_input(
        "What difference matters? (percentage points)" if shares else "What difference matters? (in its own unit)",
        "5" if shares else "",
        key=f"door-difference-{measured}",
    )
    known = st.checkbox(
        "The collector knows the group already",
        True,
        key="door-known",
        help="As of the arms of an experiment: the group is then sent in the clear, and only what is measured is protected.",
    )

    def opened() -> None:
        difference = number(typed, "the difference that matters", 100 if shares else 1e12)
        part = workloads.DifferencePart(attribute=group, first=first, second=second, of=question)
        recipes = [_recipe(state, choice, source, name) for name in (group, measured)]
        recipes[0] = recipes[0].model_copy(update={"known": known})
        _install(state, choice, source, recipes, [part], epsilon, lambda key: DifferenceToDetect(difference=difference))

    _open(state, opened)


def several_questions(state: Session, choice: DataChoice, source: Source, epsilon: str) -> None:
    """A survey: which columns are asked, whether they are also counted in pairs, and what error is small enough."""
    able = actions.able_columns(state, choice, source)
    if not able:
        st.info("No column of this table can be asked about.")
        return
    chosen = st.multiselect(
        "Which columns are asked?",
        options=list(able),
        default=list(able),
        key=f"door-columns-{source.id}",
        max_selections=MOST_ATTRIBUTES,
    )
    pairs = st.checkbox("Also count every pair of columns together", key="door-pairs", disabled=len(chosen) < 2)
    typed = st.text_input("What error is small enough? (± percentage points)", ENOUGH, key="door-error")

    def opened() -> None:
        if not chosen:
            raise ValueError("Please choose at least one column.")
        error = number(typed, "the error", 100)
        each: list[WorkloadPart] = [workloads.HistogramPart(attribute=name) for name in chosen]
        parts = each if len(chosen) <= MOST_LINES else [workloads.KWayMarginalsPart(k=1)]
        parts += [workloads.KWayMarginalsPart(k=2)] * (pairs and len(chosen) > 1)
        _install(state, choice, source, [able[name] for name in chosen], parts, epsilon, lambda key: error)

    _open(state, opened)


def _table(state: Session) -> tuple[DataChoice, Source] | None:
    """The table on screen, with a way to bring another; None, and the way to do without, while there is none."""
    choice, source = state.choice, state.source_shown
    take_file(
        state,
        "door-table",
        "Your table" if source is None else "Another table",
        lambda file: actions.upload(state, file.getvalue(), file.name),
    )
    background_read.progress(state)
    if choice is None or source is None or isinstance(choice, DeclaredData):
        st.page_link("pages/data.py", label="No table yet? Describe the columns", icon=":material/edit:")
        return None
    if source.slow:
        st.info("This table is large, so that looking at all its columns takes long. Data does that beside the page.")
        st.page_link("pages/data.py", label="Choose its columns on Data", icon=":material/table_rows:")
        return None
    st.caption(
        say.plain(
            f"{source.file.name}: {wording.plural(len(source.table), 'row')}, {wording.plural(len(source.columns), 'column')}."
        )
    )
    return choice, source


def _recipe(state: Session, choice: DataChoice, source: Source, name: str) -> AttributeRecipe:
    """How a column is treated on Data, or is to be first."""
    there = {recipe.column: recipe for recipe in choice.recipes}
    return there.get(name) or actions.suggested(state, source, name, counts_column(choice))


def _attributes(state: Session, choice: DataChoice, source: Source) -> dict[str, Attribute]:
    """{column: its attribute}, of those that say something about people."""
    found = {}
    for name in actions.able_columns(state, choice, source):
        recipe = _recipe(state, choice, source, name).model_copy(update={"known": False})
        key = ("door attribute", source.id, recipe.model_dump_json())
        domain = state.results.cached(key, partial(tables.build_domain, [recipe], source.table, counts_column(choice)))
        found[name] = domain.attributes[0]
    return found


def _install(
    state: Session,
    choice: DataChoice,
    source: Source,
    recipes: list[AttributeRecipe],
    parts: Sequence[WorkloadPart],
    epsilon: str,
    target: Callable[[str], float | DifferenceToDetect],
) -> None:
    """These columns, questions and targets are the design. ValueError with a sentence; then nothing has changed."""
    before = state.configuration, state.source
    with state.history.one_step():
        try:
            state.set_data(choice.model_copy(update={"recipes": tuple(recipes)}), source)
            if state.draft is not None:
                raise ValueError(state.draft.error)
            state.change(workload=WorkloadRecipe(parts=tuple(parts)), epsilon=epsilon)
            lines = state.setting.answers.lines
            state.change(targets={line.key: target(line.key) for line in lines})
        except ValueError:
            state.draft = None
            state.install(*before)
            raise


def _open(state: Session, action: Callable[[], None]) -> None:
    """The button that opens Design with what was answered."""

    def opened() -> None:
        action()
        state.view[_OPENED] = True

    arguments = (state, opened)
    st.button(
        "Open Design", "door-open", type="primary", icon=":material/arrow_forward:", on_click=guarded, args=arguments
    )


DOORS = {
    "groups": ("Compare two groups", "compare_arrows", compare_groups),
    "survey": ("A survey of several questions", "list_alt", several_questions),
}
"""The title and the icon of each door, and what it asks."""


def buttons(state: Session) -> None:
    """A button for each door."""
    for door, (title, icon, _) in DOORS.items():
        st.button(
            say.plain(title),
            f"door-{door}",
            icon=f":material/{icon}:",
            on_click=state.view.update,
            kwargs={"door": door},
        )


def draw(state: Session, epsilon: float) -> None:
    """What the door that was chosen asks; nothing where none was."""
    if state.view.pop(_OPENED, False):
        st.switch_page("pages/design.py")
    if (door := state.view.get("door")) not in DOORS:
        return
    title, _, ask = DOORS[door]
    with layout.controls("door", border=True):
        say.markdown("**{title}**", title=title)
        if (found := _table(state)) is not None:
            ask(state, *found, f"{epsilon:g}")
