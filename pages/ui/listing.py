"""Tables: each has a caption above it, which is also its name for screen readers."""

import textwrap
from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from pages.ui import say

_LETTERS = 29
"""Letters that fit into a line of a column of medium width."""
# pixels
_LINE = 20
_MARGIN = 6
_WRAPPING = 66  # the least height in pixels of rows in which Streamlit breaks lines
_WHOLE = 12
"""A table of tall rows shows up to this many in full, and otherwise five and a half."""


def height_for(texts: Iterable[str]) -> int | None:
    """Height of rows in pixels that shows the longest of ``texts`` whole in a column of medium width; None where one line does."""
    lines = max((len(textwrap.wrap(text, _LETTERS)) for text in texts), default=1)
    return None if lines <= 1 else max(_WRAPPING, _LINE * lines + _MARGIN)


def show_table(frame: pd.DataFrame | Styler, caption: str, **options: Any) -> None:
    """Rows to sort and search, with grey dashes for what is missing; ``options`` are those of `st.dataframe`."""
    st.caption(words := say.plain(caption))
    if options.get("row_height") and len(frame.index) <= _WHOLE:
        options["height"] = "content"
    st.dataframe(frame, hide_index=True, alt=say.spoken(words), placeholder="–", **options)


def show_words(frame: pd.DataFrame, caption: str) -> None:
    """A few rows of sentences, which are shown whole; none of them is read as Markdown."""
    show_safe(frame.map(say.plain), caption)


def show_safe(frame: pd.DataFrame, caption: str) -> None:
    """The same for cells that have been made safe."""
    st.caption(words := say.plain(caption))
    st.table(frame, hide_index=True, alt=say.spoken(words))
