"""Tables: each has a caption above it, which is also its name for screen readers."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.words import plain, spoken


def show_table(frame: pd.DataFrame, caption: str, **options: Any) -> None:
    """Rows to sort and search; ``options`` are those of `st.dataframe`."""
    st.caption(caption)
    st.dataframe(frame, hide_index=True, alt=spoken(caption), **options)


def show_words(frame: pd.DataFrame, caption: str) -> None:
    """A few rows of sentences, which are shown whole; none of them is read as Markdown."""
    st.caption(caption)
    st.table(frame.map(plain), hide_index=True, alt=spoken(caption))
