"""Results that take minutes, of panels and the league, kept as small files beside this one.

The league's is made again by ``python -m ldp_core.papers``; the panels' were found before by fits and simulations that are no part
of this package any more, and tests check what of them follows in seconds.
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
