"""Results that take long, of panels and the league, kept as small files beside this one.

``python -m ldp_core.papers make NAME`` makes one again, by the same code that its panel declares.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ldp_core import frames

COLUMNS = ("series", "x", "here", "standard_error", "printed")
"""The columns of a panel's frame, a row per point: ``x`` a number or a name, ``here`` the result of
this package, ``standard_error`` NaN if that is exact, ``printed`` NaN if the paper shows a picture
without numbers."""
FOLDER = Path(__file__).with_name("stored")
DIGITS = 10
"""Significant digits kept: the last ones of a fit differ between processors."""


def read(key: str) -> pd.DataFrame:
    """The frame kept under ``key``."""
    return pd.read_csv(FOLDER / f"{key}.csv", dtype=dict.fromkeys(COLUMNS[2:], float))


def write(key: str, frame: pd.DataFrame) -> None:
    """Keep a frame under ``key``."""
    kept = frame.map(lambda cell: float(f"{cell:.{DIGITS}g}") if isinstance(cell, float) else cell)
    (FOLDER / f"{key}.csv").write_text(frames.as_csv(kept), encoding="utf-8")
