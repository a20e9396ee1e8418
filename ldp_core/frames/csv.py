"""Frames as CSV files that no spreadsheet computes."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from ldp_core.wording import NUMBER

_FORMULA = re.compile(r"(^(?=[\t\r\n])|(?:^|[;\t\r\n])\s*(?=[=+@＝＋－＠-]))")


def as_csv(frame: pd.DataFrame) -> str:
    """``frame`` as a CSV file, numbers in full precision, without any formula.

    Spreadsheets compute what begins with =, +, - or @, also after a tab, a line break or, where that separates cells, a
    semicolon: an apostrophe goes before it, in names of columns too. Texts that are numbers stay as they are.
    """
    safe = frame.set_axis([_no_formula(name) for name in frame.columns], axis=1)
    for place, kind in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            safe.isetitem(place, safe.iloc[:, place].astype(object).map(_no_formula))
    return safe.to_csv(index=False)


def _no_formula(cell: Any) -> Any:
    if not isinstance(cell, str) or NUMBER.fullmatch(cell):
        return cell
    return _FORMULA.sub(r"\1'", re.sub("\r\n?", "\n", cell))  # a bare \r would end the row
