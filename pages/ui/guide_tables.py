"""The tables of the Guide, which are the same for everybody: each is made once."""

import math
from functools import cache

import pandas as pd

from ldp_core import designs, wording
from pages.ui import say

LEVELS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)

SLOPES = {
    "Each column reported at half of epsilon (k-RR)": 263_000.0,
    "The best histogram of both": 1_612.0,
    "Moments": 178.0,
    "A slope where the collector knows x": 18.5,
}
"""The variance of the slope of y by x, a person: values 1 to 10 of two normal numbers around 5.5 with a deviation of 2.25 and a correlation of 0.5, epsilon 1."""


@cache
def meanings() -> pd.DataFrame:
    """What epsilon means for one person. An even guess is rounded up: even at epsilon 8 it is not quite certainty."""
    guesses = [math.ceil(1e4 / (1 + math.exp(-e))) / 100 for e in LEVELS]
    table = {
        "Epsilon": [f"{e:g}" for e in LEVELS],
        "What it means": [designs.risk_in_words(e).capitalize() for e in LEVELS],
        "An even guess (50 %) between two values becomes at most": [f"{guess:g} %" for guess in guesses],
    }
    return pd.DataFrame(table).map(say.plain)


@cache
def slopes() -> pd.DataFrame:
    """What it takes to learn how two columns go together."""
    people = [wording.count(round(variance / 0.05**2)) for variance in SLOPES.values()]
    return pd.DataFrame(
        {
            "Asked as": list(SLOPES),
            "Variance of the slope, a person": list(SLOPES.values()),
            "People for ± 0.05": people,
        }
    )
