"""Results that take long, of panels and the league, kept as small files beside this one. ``python -m ldp_core.papers`` makes them again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ldp_core import frames
from ldp_core.papers.panel import COLUMNS

FOLDER = Path(__file__).with_name("stored")
DIGITS = 10
"""Significant digits kept: the last ones of a fit differ between processors."""


def read(key: str) -> pd.DataFrame:
    """The frame of the panel ``key``."""
    return pd.read_csv(FOLDER / f"{key}.csv", dtype=dict.fromkeys(COLUMNS[2:], float))


def write(key: str, frame: pd.DataFrame) -> None:
    """Keep the frame of the panel ``key``."""
    kept = frame.map(lambda cell: float(f"{cell:.{DIGITS}g}") if isinstance(cell, float) else cell)
    (FOLDER / f"{key}.csv").write_text(frames.as_csv(kept), encoding="utf-8")
