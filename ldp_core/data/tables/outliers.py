"""A few numbers far from all others, which leave most bins of one width empty: bins for where nearly everyone is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core.data import columns
from ldp_core.data.domain.numbers import BinnedAttribute
from ldp_core.data.tables.codes import codes_of
from ldp_core.data.tables.recipes import NumericRecipe, build_attribute

_TAIL = 0.01
"""Share of people on either side of the middle of a column."""
_CROWDED = 8
"""The middle is crowded if it fills at most one bin in this number."""


@dataclass(frozen=True)
class Crowd:
    """The range of nearly everyone: the middle 98 % of people are in ``held`` of ``bins`` bins of
    one width. ``recipe`` has bins that leave out values far from them; ``beyond`` people have
    values outside, which count in its first and last bin."""

    recipe: NumericRecipe
    held: int
    bins: int
    beyond: int

    @property
    def ends(self) -> str:
        return f"from {self.recipe.low:,.15g} to {self.recipe.high:,.15g}"

    @property
    def told(self) -> str:
        """The recipe in a sentence."""
        beyond = (
            "1 user with a value beyond counts"
            if self.beyond == 1
            else f"{self.beyond:,} users with values beyond count"
        )
        return f"Bins of {self.recipe.column} go {self.ends}; {beyond} in the end bins."


def crowd(recipe: NumericRecipe, series: pd.Series, weights: np.ndarray | None = None) -> Crowd | None:
    """True if a few numbers of a column take most of its bins of one width; None where they do not, or the ends were given.

    The new ends hold all values no further from the middle 98 % than these are wide, and are rounded outwards to two digits of their
    distance. They follow from the data, and the recipe says so.

    Args:
        weights: (rows,) people a row stands for; one each by default.
    """
    given = recipe.method == "range" and (recipe.low is not None or recipe.high is not None)
    if given or recipe.method not in ("equal_width", "range"):
        return None
    column = columns.parse(series, weights)
    if codes_of(column, recipe.no_answer):
        return None  # asked about first
    order = np.argsort(column.numbers)
    order = order[np.isfinite(column.numbers[order]) & ~np.isin(column.numbers[order], recipe.no_answer)]
    numbers, so_far = column.numbers[order], np.cumsum(column.rows_per_text[order])
    if not numbers.size:
        return None
    first, last = numbers[np.searchsorted(so_far, so_far[-1] * np.array([_TAIL, 1 - _TAIL]))]
    near = numbers[(numbers >= first - (last - first)) & (numbers <= last + (last - first))]
    if near[0] == near[-1]:
        return None
    try:
        now = build_attribute(recipe, series, weights)
        if not isinstance(now, BinnedAttribute):
            return None
        low, high = _outwards(float(near[0]), float(near[-1]), now.integer)
        ends = {"method": "range", "low": low, "high": high, "outside": "clamp", "origin": "data"}
        cut = recipe.model_copy(update=ends)
        build_attribute(cut, series, weights)
    except ValueError:  # said where the column is used
        return None
    edges = np.asarray(now.edges)
    bins = len(edges) - 1
    places = np.clip(np.searchsorted(edges, [first, last], side="right") - 1, 0, bins - 1)
    held = int(places[1] - places[0]) + 1
    outside = ((column.numbers < low) | (column.numbers > high)) & ~np.isin(column.numbers, recipe.no_answer)
    beyond = int(column.rows_per_text[outside].sum())
    return Crowd(cut, held, bins, beyond) if held * _CROWDED <= bins and beyond else None


def _outwards(low: float, high: float, whole: bool) -> tuple[float, float]:
    """Ends around these, rounded to two digits of their distance."""
    digits = math.floor(math.log10(high - low)) - 1
    digits = max(0, digits) if whole else digits
    step = 10.0**digits
    return round(math.floor(low / step) * step, -digits), round(math.ceil(high / step) * step, -digits)
