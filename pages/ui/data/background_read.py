"""Large tables are read and counted in the background: what a person asks for is done to a copy of the design, which takes its place once
it is done.

Until then the design stays as it was; who cancels goes on with it at once, whatever the size of the table.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVarTuple

import pandas as pd
import streamlit as st

from ldp_core import wording
from ldp_core.data import tables
from ldp_core.data.columns import Column, parse
from ldp_core.data.domain import Attribute
from ldp_core.data.tables import AttributeRecipe
from ldp_core.designs import DataChoice
from ldp_core.limits import MOST_SHOWN_CHARACTERS
from pages.ui import later
from pages.ui.controls import guarded
from pages.ui.later import Task, Work
from pages.ui.session.state import Session, counts_column
from pages.ui.sources import Source

PREVIEW = 4
DOUBTED_COLUMNS = 6
"""Most columns that are said to be readable in two ways."""
Ts = TypeVarTuple("Ts")
_PENDING = "pending"


@dataclass(frozen=True)
class Pending:
    """A copy of the session to which an action is done, and the design that it was asked of."""

    work: Work
    done: Session
    asked_of: tuple[Any, ...]


def do(state: Session, slow: bool, title: str, act: Callable[[Session], None]) -> None:
    """``act(state)``. Where that is slow, it is done to a copy in the background, and the design becomes that of the copy once it is
    done. ValueError with a sentence when it is not available; then nothing has changed."""
    if not slow:
        act(state)
        return
    forget(state)
    done = state.copy()

    def run(work: Work) -> None:
        with tables.watched(work.cancelled):
            act(done)
            _look_ahead(done)

    work = Task(state, f"look:{uuid.uuid4().hex}", title, run).start()
    state.view[_PENDING] = Pending(work, done, _asked_of(state))


def _look_ahead(state: Session) -> None:
    """What the page will show of the columns."""
    choice, source = state.choice, state.source_shown
    if choice is not None and source is not None:
        columns_that(tables.can_count, state, source)
        columns_that(tables.can_tick, state, source)
        for recipe in choice.recipes[:DOUBTED_COLUMNS]:
            with suppress(ValueError, KeyError):
                doubts(state, source, recipe)


def looking(
    action: Callable[[Session, DataChoice, Source, *Ts], None],
) -> Callable[[Session, str, *Ts], None]:
    """Decorates an action ``(state, choice, source, ...)`` on the choice on screen and the table it is about: with a large table, it is
    done in the background.

    It is called with the id of the table that was on screen. If another file, or none, has taken
    its place, nothing happens: a control can be pressed before the page is drawn again.
    """

    @wraps(action)
    def wrapped(state: Session, table: str, *arguments: *Ts) -> None:
        choice, source = state.choice, state.source_shown
        if choice is not None and source is not None and source.id == table:
            do(state, source.slow, "counting in the table", lambda done: action(done, choice, source, *arguments))

    return wrapped


def _asked_of(state: Session) -> tuple[Any, ...]:
    return id(state.history), state.configuration, state.draft


def settle(state: Session) -> None:
    """Do what was waiting, once its file has been read. app.py calls this before it draws a
    page."""
    pending = state.view.get(_PENDING)
    if pending is None:
        return
    if _asked_of(state) != pending.asked_of:  # another design by now
        forget(state)
    elif not pending.work.active or pending.work.cancelled():
        del state.view[_PENDING]
        guarded(state, _end, state, pending)


def forget(state: Session) -> None:
    """Give up what is waiting."""
    pending = state.view.pop(_PENDING, None)
    if pending is not None:
        pending.work.cancel()


def waits(state: Session) -> bool:
    """True if an action waits for its file."""
    return _PENDING in state.view


def progress(state: Session) -> None:
    """The work that the page waits for, and a button that ends it."""
    if not waits(state):
        return
    work = state.view[_PENDING].work
    later.show(work, unknown=f"{wording.capital(work.title)}.")
    st.button("Cancel", key="look-cancel", icon=":material/stop_circle:", on_click=work.cancel)


def column_of(state: Session, source: Source, name: str, counts: str | None) -> Column:
    """A column, with the people each of its rows stands for."""
    return state.results.cached(
        ("column", source.id, name, counts), lambda: source.column(name, counts), lambda c: c.nbytes
    )


def beginning(state: Session, source: Source) -> pd.DataFrame:
    """The first rows."""

    def shown() -> pd.DataFrame:
        frame = source.table.head(PREVIEW)
        long = frame.map(lambda cell: isinstance(cell, str | bytes) and len(cell) > MOST_SHOWN_CHARACTERS)
        for name in frame.columns[long.any()]:
            cut = frame[name].map(lambda cell: wording.shortened(str(cell), MOST_SHOWN_CHARACTERS), na_action="ignore")
            frame = frame.assign(**{name: cut.astype(object)})
        return frame

    return state.results.cached(("first", source.id), shown)


def edit_table(
    state: Session, source: Source, column: str, make: Callable[..., pd.DataFrame], attribute: Attribute
) -> pd.DataFrame:
    """The table that a column of the choice on screen is edited in, ``make(attribute, column)``: kept, as it is small."""
    counts = counts_column(state.choice)
    key = ("edit table", source.id, column, make.__name__, attribute.model_dump_json(), counts)
    return state.results.cached(key, lambda: make(attribute, column_of(state, source, column, counts)))


def doubts(state: Session, source: Source, recipe: AttributeRecipe) -> tuple[tables.Doubt, ...]:
    """What may be doubted about a column under its recipe."""
    counts = counts_column(state.choice)
    key = ("doubts", source.id, recipe.model_dump_json(), counts)
    return state.results.cached(key, lambda: tables.doubts_of(recipe, column_of(state, source, recipe.column, counts)))


def columns_that(can: Callable[[Column], bool], state: Session, source: Source) -> list[str]:
    """The columns that can say how many people each row stands for (`tables.can_count`), or can be items of one choice (`can_tick`)."""

    def found() -> list[str]:
        first = beginning(state, source)  # most columns show that they cannot by it
        likely = [name for name in source.columns if can(parse(first[name]))]
        return [name for name in likely if can(column_of(state, source, name, None))]

    return state.results.cached(("columns that", can.__name__, source.id), found)


def _end(state: Session, pending: Pending) -> None:
    if pending.work.cancelled():
        raise ValueError("Reading was cancelled.")
    if pending.work.error:
        raise ValueError(pending.work.error)
    state.take(pending.done)
