"""The papers' figures and tables, each with what this package finds beside the numbers that were printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.designs import Configuration
from ldp_core.papers import stored

Row = tuple[Any, ...]
"""A point of a frame, in the order of `stored.COLUMNS`; without the last ones where it has none."""


@dataclass(frozen=True)
class Panel:
    """A figure or table of a paper.

    Attributes:
        key: unique, such as "cormode-table-5".
        place: where it is in the paper, such as "Table 5".
        title: what it shows, in a few words.
        setting: in which setting, in a sentence.
        x: title of the horizontal axis, with its unit.
        y: title of the vertical axis, with its unit.
        compute: makes the frame.
        seconds: about what that takes on one thread, where it takes so long that the frame is stored; 0 where it is made as it is looked at.
        remark: what differs from the print and why, in a sentence; "" where nothing does.
        design: the setting as a design to open, None where the app has no such design.
    """

    key: str
    place: str
    title: str
    setting: str
    x: str
    y: str
    compute: Callable[[], pd.DataFrame]
    remark: str = ""
    seconds: int = 0
    log_x: bool = False
    log_y: bool = True
    design: Callable[[], Configuration] | None = None

    def frame(self) -> pd.DataFrame:
        """Its points, with `stored.COLUMNS`: worked out now, or as stored."""
        return stored.read(self.key) if self.seconds else self.compute()


@dataclass(frozen=True)
class Paper:
    """A paper with its panels; ``absent`` says of every figure or table that is not among them why it is not."""

    key: str
    authors: str
    title: str
    year: int
    panels: Sequence[Panel]
    absent: Sequence[tuple[str, str]] = ()


def frame_of(rows: Sequence[Row]) -> pd.DataFrame:
    """A panel's frame."""
    missing = math.nan, math.nan
    return pd.DataFrame([(*row, *missing)[: len(stored.COLUMNS)] for row in rows], columns=list(stored.COLUMNS))


def agreement(frame: pd.DataFrame) -> str:
    """How printed numbers and those found here compare, in a sentence: the middle, least and greatest of printed / here."""
    ratios = (frame["printed"] / frame["here"]).to_numpy(dtype=float)
    ratios = ratios[np.isfinite(ratios)]
    if not ratios.size:
        return "The paper's text gives no numbers here to compare with."
    low, middle, high = (wording.significant(float(value)) for value in (ratios.min(), np.median(ratios), ratios.max()))
    if len(ratios) == 1:
        return f"The printed number is {middle} times the one found here."
    spread = f"{low}" if low == high else f"between {low} and {high}, and {middle} in the middle,"
    return f"Printed numbers are {spread} times those found here ({len(ratios):,} numbers)."
