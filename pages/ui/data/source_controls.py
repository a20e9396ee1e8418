"""The part of the Data page that brings tables in: samples and uploads, databases among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from ldp_core import wording
from ldp_core.data import tables
from ldp_core.data.tables import ENCODINGS, EXCEL_ENDINGS, TEXT_ENDINGS, ReadOptions
from pages.ui import layout, promises, say, sources
from pages.ui.controls import button, control, guarded, pick, take_file
from pages.ui.data import actions as data_actions
from pages.ui.data import background_read
from pages.ui.session.state import Session
from pages.ui.sources import File

DELIMITERS = {None: "as found", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar |", " ": "space"}
SHEETS = TEXT_ENDINGS | EXCEL_ENDINGS
LINES: dict[int | None, str] = {None: "as found", 0: "none", **{lines: str(lines) for lines in range(1, 11)}}
OPTIONS: dict[str, tuple[str, dict[Any, str], set[str]]] = {
    "header": (
        "The first row holds the column names",
        {None: "as found", True: "yes", False: "no, it holds values"},
        SHEETS,
    ),
    "above": ("Lines above the names", LINES, SHEETS),
    "below": ("Lines below the names", LINES, SHEETS),
    "delimiter": ("Delimiter", DELIMITERS, TEXT_ENDINGS),
    "encoding": ("Encoding", {None: "as found", **{name: name for name in ENCODINGS}}, TEXT_ENDINGS),
    "hidden": ("Hidden rows", {None: "as found", True: "left out", False: "rows like others"}, EXCEL_ENDINGS),
    "merged": (
        "Merged cells count",
        {None: "as found", True: "for each of their rows", False: "only for the first row"},
        EXCEL_ENDINGS,
    ),
    "decimal": ("Decimal sign", {None: "as found", ".": "point: 1234.5", ",": "comma: 1.234,5"}, set()),
    "thousands": (
        "Thousands sign",
        {None: "as found", "": "none", ",": "comma", ".": "point", "'": "apostrophe", " ": "space"},
        set(),
    ),
    "total": (
        "Lines of totals and remarks",
        {None: "as found", True: "left out", False: "rows like others"},
        set(),
    ),
}
"""The label and the choices of each option of files, and the endings of the files that have it, none where all do."""


def samples(state: Session) -> None:
    with layout.actions("samples"):
        for sample in sources.catalogue():
            st.button(
                say.plain(sample["title"]),
                key=f"pick-{sample['file']}",
                on_click=data_actions.load_sample,
                args=(state, sample["file"]),
                help=say.plain(sample["sentence"]),
            )


def upload(state: Session) -> None:
    take_file(
        state,
        "upload",
        say.plain(tables.limits_in_words.upload_in_words()),
        lambda file: guarded(state, data_actions.upload, state, file.getvalue(), file.name),
        type=None,
        help=f"{promises.ROWS_IN_MEMORY} {promises.forgetting()} Nothing is sent anywhere.",
    )
    _reading(state)


def _reading(state: Session) -> None:
    """How the file was read, to be corrected where the guess was wrong, or is to be read where that has failed."""
    given: File | None = state.view.get(data_actions.PENDING_FILE)
    if given is not None and not background_read.waits(state):
        _otherwise(state, given)
    source, choice = state.source_shown, state.choice
    if source is None or choice is None or choice.source != "upload":
        return
    again = partial(data_actions.read_again, state, source.id)
    with st.expander(say.text("How {name} was read", name=source.file.name[-40:])):
        st.caption(say.plain(_as_found(source)))
        if source.file.is_database:
            _query(state, source.file, "read")
        if source.sheets:
            sheets = {name: name for name in source.sheets}
            first = source.options.sheet or source.sheets[0]
            pick("Sheet", "read-sheet", first, lambda name: again(sheet=name), sheets)
        names = {"help": "Queries and answers are shown under these names."}
        _options(source.file, choice.reading, source.columns, "read", again, **names)


def _query(state: Session, file: File, key: str) -> None:
    """What is read of a database: its tables, a SELECT, and the button that runs it."""
    try:
        names = state.results.cached(("tables", file.digest), lambda: tables.database_tables(file.content))
    except ValueError as error:
        st.error(say.plain(str(error)))
        return
    listed = ", ".join(wording.shortened(name) for name in names[:20]) or "none"
    st.caption(say.plain(f"Tables: {listed}{f' and {len(names) - 20:,} more' if len(names) > 20 else ''}."))
    typed = f"query-{file.digest}"
    control(
        st.text_area,
        "Query (one SELECT)",
        f"{key}-query",
        state.view.get(typed) or file.query or "",
        lambda text: state.view.update({typed: text}),
        placeholder="SELECT age, sex FROM people",
        help="It can read this file and nothing else, and change nothing.",
    )

    def run() -> None:
        data_actions.read(state, replace(file, query=state.view.pop(typed, None) or file.query or ""))

    button("Run the query", f"{key}-run", "play_arrow", run, type="primary")
    st.caption(say.plain(tables.limits_in_words.query_in_words()))


def _otherwise(state: Session, given: File) -> None:
    """A file that could not be read, or not yet: it is kept, and read again as soon as it is said how."""

    def change(**said: Any) -> None:
        guarded(state, partial(data_actions.read_otherwise, state, **said))

    with st.expander(say.text("How to read {name}", name=given.name[-40:]), expanded=True):
        if given.is_database:
            _query(state, given, "given")
        else:
            st.caption("This file has not been read. Say how it is to be read: each change reads it again.")
            if given.ending in EXCEL_ENDINGS:
                control(
                    st.text_input,
                    "Sheet",
                    "given-sheet",
                    given.options.sheet or "",
                    lambda name: change(sheet=name.strip() or None),
                    placeholder="the first one",
                )
            _options(given, given.options, given.options.names, "given", change, placeholder="as in the file")
        with st.container(horizontal=True, key="given-actions"):
            if not given.is_database:
                st.button("Read it again", key="given-again", icon=":material/refresh:", on_click=change)
            button(
                "Forget this file", "given-forget", "", state.view.pop, data_actions.PENDING_FILE, None, type="tertiary"
            )


def _options(
    file: File, reading: ReadOptions, names: Sequence[str], key: str, change: Callable[..., None], **about_names: str
) -> None:
    """Controls for the options that a kind of file has; ``change(option=value)`` is called when a person changes one."""
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}-options"):
        for name, (label, shown, endings) in OPTIONS.items():
            if not endings or file.ending in endings:
                said = lambda value, name=name: change(**{name: value})  # noqa: E731
                pick(say.plain(label), f"{key}-{name}", getattr(reading, name), said, shown)
    if reading.together:  # names are those of the columns as they stand in the file
        return
    control(
        st.text_area,
        "Names of the columns, separated by commas",
        f"{key}-names",
        ", ".join(names),
        lambda typed: change(names=data_actions.listed_names(typed)),
        **about_names,
    )


def _as_found(source: sources.Source) -> str:
    if source.file.ending not in TEXT_ENDINGS:
        return f"{len(source.columns):,} columns."
    sign = DELIMITERS.get(source.options.delimiter, source.options.delimiter)
    header = "names" if source.options.header else "no names"
    return (
        f"{len(source.columns):,} columns, separated by {sign}; {source.options.encoding}; decimal sign "
        f"{source.options.decimal}; {header} in the first row."
    )
