"""The sentences on pages that state the limits of readers before a button is pressed, and those for
a reading that passes them."""

from __future__ import annotations

from ldp_core import limits
from ldp_core.limits import GB, MB

MEND = "select fewer columns or rows, or count in the query itself."


def upload_in_words() -> str:
    """The limits of an upload, for the page."""
    return (
        f"CSV, Excel or Parquet, at most {limits.MOST_UPLOAD_BYTES // MB} MB, {limits.MOST_COLUMNS} columns and {limits.READ_TEXT.cells // 10**6} million "
        f"cells ({limits.READ_EXCEL.cells // 10**6} million in Excel). Reading ends after {_minutes(limits.READ_TEXT.seconds)}, Excel after "
        f"{_minutes(limits.READ_EXCEL.seconds)}."
    )


def local_in_words() -> str:
    """The limits of looking at a local file, for the page."""
    return (
        f"Reading and counting take at most {_minutes(limits.READ_LOCAL.seconds)} and {limits.READ_LOCAL.memory // GB} GB of memory, and can be "
        "cancelled. If columns have more than a million combinations of values, people are kept one by one: up to "
        f"{limits.MOST_VALUES // 10**6:,} million values, such as {limits.MOST_VALUES // 11 // 10**6:,} million people with 11 columns."
    )


def query_in_words() -> str:
    """The limits of a query, for the page."""
    return (
        f"A query takes at most {_minutes(limits.READ_QUERY.seconds)} and {limits.READ_QUERY.memory // GB} GB of memory, returns at most "
        f"{limits.READ_QUERY.unpacked // GB} GB, and can be cancelled."
    )


def _minutes(seconds: float) -> str:
    return "a minute" if seconds == 60 else f"{seconds / 60:g} minutes" if seconds >= 60 else f"{seconds:g} seconds"


def too_much(size: int, mend: str) -> str:
    """The sentence for a reading that exceeds its memory."""
    shown = f"{size / GB:g} GB" if size >= GB else f"{size / MB:,.0f} MB"
    return f"This takes more memory than is allowed ({shown}): {mend}"


def too_long(seconds: float, mend: str) -> str:
    """The sentence for a reading that exceeds its time."""
    allowed = f"{seconds:g} seconds" if seconds < 60 else _minutes(seconds)
    return f"This took longer than {allowed} and was stopped: {mend}"
