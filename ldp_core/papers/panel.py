"""The papers' figures and tables, each recomputed beside the numbers that were printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core import wording
from ldp_core.designs import Configuration
from ldp_core.run import Callback, Cancel

COLUMNS = ("series", "x", "here", "standard_error", "printed")
"""The columns of a panel's frame, a row per point: ``x`` a number or a name, ``here`` the result of
this package, ``standard_error`` NaN if that is exact, ``printed`` NaN if the paper shows a picture
without numbers."""

Row = tuple[str, float | str, float, float, float]
"""One of them, in the order of `COLUMNS`."""


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
        seconds: about what `compute` takes on one thread; what takes more than a few is computed on request.
        compute: ``(callback, cancel) -> frame`` with `COLUMNS`; what is finished when somebody cancels.
        remark: what differs from the print and why, in a sentence; "" where nothing does.
        design: the setting as a design to open, None where the app has no such design.
        stored: the frame that is shown at once for what takes long, made by the same `compute` before; None without one.
    """

    key: str
    place: str
    title: str
    setting: str
    x: str
    y: str
    seconds: float
    compute: Callable[[Callback | None, Cancel | None], pd.DataFrame]
    remark: str = ""
    log_x: bool = False
    log_y: bool = True
    design: Callable[[], Configuration] | None = None
    stored: Callable[[], pd.DataFrame] | None = None


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
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
