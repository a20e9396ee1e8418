"""The sentences on pages that state the limits of readers before a button is pressed, and those for
a reading that passes them."""

from __future__ import annotations

import math
import re
import signal

from ldp_core import limits
from ldp_core.limits import GB, MB
from ldp_core.wording import shortened

MEND = "select fewer columns or rows, or count in the query itself."
_NO_MEMORY = re.compile(r"(?i)bad_alloc|MemoryError|allocat|map segment|out of memory|new thread")


def upload_in_words() -> str:
    """The limits of an upload, for the page."""
    return (
        f"CSV, Excel, Parquet, SQLite or DuckDB, at most {limits.MOST_UPLOAD_BYTES // MB} MB, {limits.MOST_COLUMNS} columns and {limits.READ_TEXT.cells // 10**6} million "
        f"cells ({limits.READ_EXCEL.cells // 10**6} million in Excel). Reading ends after {_minutes(limits.READ_TEXT.seconds)}, Excel after "
        f"{_minutes(limits.READ_EXCEL.seconds)}."
    )


def query_in_words() -> str:
    """The limits of a query, for the page."""
    return (
        f"A query takes at most {_minutes(limits.READ_QUERY.seconds)} and {limits.READ_QUERY.memory // GB} GB of memory, returns at most "
        f"{limits.READ_QUERY.unpacked // GB} GB, and can be cancelled."
    )


def _minutes(seconds: float) -> str:
    return "a minute" if seconds == 60 else f"{seconds / 60:g} minutes" if seconds >= 60 else f"{seconds:g} seconds"


def too_much(size: int, mend: str, system: float = math.inf) -> str:
    """The sentence for a reading that exceeds its memory of ``size`` bytes, or the ``system``'s."""
    least = min(size, system)
    shown = f"{least / GB:.3g} GB" if least >= GB else f"{least / MB:,.0f} MB"
    if system < size:
        return (
            f"This takes more memory than this system allows a process ({shown}, ulimit -v): allow it more, or {mend}"
        )
    return f"This takes more memory than is allowed ({shown}): {mend}"


def died(code: int | None, said: str, size: int, system: float, mend: str) -> str:
    """The sentence for a reading whose process ended with this ``code``, having ``said`` this, before it was done."""
    name = signal.Signals(-code).name if code is not None and -code in set(signal.Signals) else ""
    if name == "SIGXCPU":
        return f"This takes more processor time than this system allows a process (ulimit -t): allow it more, or {mend}"
    if name == "SIGKILL":
        return f"The system ended this reading, as it does where its memory or processor time runs out: allow it more, or {mend}"
    if _NO_MEMORY.search(said):
        return too_much(size, mend, system)
    if name:
        return f"The program that reads such files crashed on this one ({name}): save it again, if need be in another format."
    return not_started((said.strip().splitlines() or [f"it ended with code {code}"])[-1])


def not_started(cause: str) -> str:
    """The sentence for a process that cannot even begin to read, for a ``cause`` in the words of others."""
    cause = shortened(re.sub(r"\[\w+ \d+\] ?|(/[^\s/:'\"]+){2,}", "", cause).strip(" .:"))
    return f"Files cannot be read on this machine now ({cause}): ask the person who runs this app."


def too_long(seconds: float, mend: str) -> str:
    """The sentence for a reading that exceeds its time."""
    return f"This took longer than {_minutes(seconds)} and was stopped: {mend}"
