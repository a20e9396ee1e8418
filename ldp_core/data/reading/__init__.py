"""Files to tables: CSV and its kin, Parquet, Excel, database files. Every refusal is one clear sentence.

* `load`: an uploaded file (its bytes, at most `MOST_UPLOAD_BYTES`).
* `query`: one SELECT over an SQLite or DuckDB file (its bytes), which can read that file and nothing else.
* `LocalTable`: a CSV or Parquet file of any size by its path, counted by Arrow in flat memory.
* `watched`: what is read inside it can be cancelled.

`limits` says what each may take. Excel and Parquet uploads and queries are read by a process of their own, which is ended
when it passes a limit.
"""

from __future__ import annotations

from pathlib import PurePath

import pandas as pd

from ldp_core import limits
from ldp_core.data.reading import limits_in_words as limits_in_words
from ldp_core.data.reading.child import rows_of, run, table_of
from ldp_core.data.reading.common import EXCEL_ENDINGS as EXCEL_ENDINGS
from ldp_core.data.reading.common import PARQUET_ENDINGS as PARQUET_ENDINGS
from ldp_core.data.reading.common import TEXT_ENDINGS as TEXT_ENDINGS
from ldp_core.data.reading.common import Stopped as Stopped
from ldp_core.data.reading.common import UnreadableTable as UnreadableTable
from ldp_core.data.reading.common import check_rows
from ldp_core.data.reading.common import watched as watched
from ldp_core.data.reading.database import database_tables as database_tables
from ldp_core.data.reading.database import is_database as is_database
from ldp_core.data.reading.database import query as query
from ldp_core.data.reading.options import ENCODINGS as ENCODINGS
from ldp_core.data.reading.options import Loaded as Loaded
from ldp_core.data.reading.options import ReadOptions as ReadOptions
from ldp_core.data.reading.options import Together as Together
from ldp_core.data.reading.reader import LocalTable as LocalTable
from ldp_core.data.reading.reader import TooManyRows as TooManyRows
from ldp_core.data.reading.stored import frame_of, plain_numbers, type_notes
from ldp_core.data.reading.text import read_text
from ldp_core.data.reading.together import can_tick as can_tick
from ldp_core.data.reading.together import items_of as items_of
from ldp_core.data.reading.together import joined
from ldp_core.data.reading.together import sign_between as sign_between
from ldp_core.data.reading.totals import without_extra

_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive (Excel and OpenOffice files are zip archives too)",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"SQLite format 3": "an SQLite database",
}
_EXCEL_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def load(content: bytes, filename: str, options: ReadOptions | None = None) -> Loaded:
    """Read an uploaded file.

    Parameters
    ----------
    content : bytes
        The whole file, at most `MOST_UPLOAD_BYTES`.
    filename : str
        Its name. The ending says what it should be: .csv .tsv .tab .txt .data .dat, .parquet .pq, .xlsx .xlsm.
    options : ReadOptions, optional
        How to read it; what they leave open is found out.

    Returns
    -------
    Loaded
        The table (columns of text files hold unstripped text), the options used, and notes on everything guessed.

    Raises
    ------
    UnreadableTable
        With one sentence saying what is wrong and how to fix it.
    """
    options = options or ReadOptions()
    ending = PurePath(filename).suffix.lower()
    _check_content(content, ending)
    if ending in EXCEL_ENDINGS:
        mend = "save the table as CSV or Parquet."
        written, answer = run("excel", options.model_dump(), limits.READ_EXCEL, content, mend)
        rows = pd.DataFrame(rows_of(written), columns=answer["names"], dtype=object)
        used = options.model_copy(update=answer["options"])
        loaded = plain_numbers(Loaded(rows, used, tuple(answer["notes"]), tuple(answer["sheets"])))
    elif ending in PARQUET_ENDINGS:
        mend = "keep only the columns or rows you need."
        table = table_of(run("parquet", options.model_dump(), limits.READ_PARQUET, content, mend)[0])
        loaded = plain_numbers(Loaded(frame_of(table), options, tuple(type_notes(table.schema))))
    else:
        table, used, notes = read_text(content, options, ending)
        loaded = Loaded(frame_of(table), used, tuple(notes))
    check_rows(len(loaded.table))
    return joined(without_extra(loaded))


def _check_content(content: bytes, ending: str) -> None:
    """Refuse what has another ending, is empty, too large, or plainly something other than its ending says."""
    if ending not in TEXT_ENDINGS | PARQUET_ENDINGS | EXCEL_ENDINGS:
        kind = f'ending in "{ending[:20]}"' if ending else "without an ending"
        raise UnreadableTable(
            f"Files {kind} are not read: use CSV (.csv, .tsv, .txt), Parquet (.parquet), Excel (.xlsx), SQLite or DuckDB."
        )
    if not content:
        raise UnreadableTable("This file is empty: choose one with a header line and at least one row.")
    if len(content) > limits.MOST_UPLOAD_BYTES:
        raise UnreadableTable(
            f"This file has {len(content) / 2**20:,.0f} MB and at most {limits.MOST_UPLOAD_BYTES / 2**20:,.0f} MB are read: "
            "keep only the columns you need, or save it as Parquet."
        )
    for magic, kind in _MAGIC.items():
        if content.startswith(magic) and not (ending in EXCEL_ENDINGS and magic in _EXCEL_MAGIC):
            raise UnreadableTable(f"This file is {kind}, not a table: save the table as CSV or Parquet and load that.")
    if content.startswith(b"PAR1") and ending not in PARQUET_ENDINGS:
        raise UnreadableTable("This file is a Parquet file by its content: rename it to end in .parquet.")
