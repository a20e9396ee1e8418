"""Attributes declared without data, as tests need them."""

import numpy as np

from ldp_core.data.domain import CategoricalAttribute, NumericAttribute
from ldp_core.data.tables import listed

ADULT = (16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2)
"""How many values the columns of the sample of working lives have, 1.45 x 10^9 types together."""


def categories(name, text, **settings):
    """Categories one per line, or separated by commas."""
    return CategoricalAttribute(name=name, values=listed(text), origin="declared", **settings)


def numbers(name, low, high, bins, integer=False, **settings):
    """Bins of one width; one for each whole number where ``integer``."""
    edges = np.arange(low, high + 2) - 0.5 if integer else np.linspace(low, high, bins + 1)
    assert len(edges) == bins + 1
    return NumericAttribute(
        name=name, edges=tuple(edges.tolist()), binning="equal_width", integer=integer, origin="declared", **settings
    )
