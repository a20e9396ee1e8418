"""Text that several pages show: what comes from data or files made safe, and recurring phrases."""

import re
from collections.abc import Callable

import pandas as pd
from pandas.io.formats.style import Styler

from ldp_core import wording
from ldp_core.designs import Configuration

JOINER = "\N{WORD JOINER}"
"""A letter without width, put where a backslash does not help."""
_SPACES = re.compile(r"[^\S\N{NO-BREAK SPACE}]+")
_READ_LATER = re.compile(r":(?=[\w+/-]+:|//)|www|@|<(?=-)|-(?=[->])|[<>~](?==)", re.IGNORECASE)
_SIGNS = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|$~:^&]")


def plain(text: str) -> str:
    """Text of a user (labels, names, sentences that quote them) made safe to place in Markdown: shown as it is.

    Icons, emoji, arrows, addresses and e-mail are looked for in what is left once backslashes have been read, so these are
    taken apart by a letter no one sees.
    """
    line = _READ_LATER.sub(rf"\g<0>{JOINER}", wording.visible(_SPACES.sub(" ", text).strip(" ")))
    return _SIGNS.sub(r"\\\g<0>", line)


def spoken(sentence: str) -> str:
    """A sentence in Markdown as plain words, for screen readers; names made safe by `plain` come out as they are."""
    return re.sub(rf"\\(.)|[*_`${JOINER}]", r"\1", sentence)


def people(number: float) -> str:
    """A number of people in full: "1 person", "3,000 people"."""
    return f"{wording.count(number)} {'person' if number == 1 else 'people'}"


def cells(table: pd.DataFrame, **written: Callable[[float], str]) -> Styler:
    """A table for the screen. The named columns are written as in sentences and metrics, and sort
    as numbers."""
    return table.style.format(written, na_rep="–")


CASES = {
    "worst_case": ("worst case", "whatever people answer"),
    "average": ("average over the types", "with all types equally common"),
    "people": ("your people", "for people spread over the types like yours"),
    "histogram": ("your histogram", "for people spread like your histogram"),
}


def case_title(case: str) -> str:
    """What is optimised for, in two or three words."""
    return CASES[case][0]


def case_meaning(case: str) -> str:
    """What is optimised for, to follow a number of users."""
    return CASES[case][1]


WEIGHTED = (
    "In typical and total errors an answer counts by the square of its weight: one of weight 2 counts like four of weight 1. "
    "Single answers and their errors are shown without weights."
)


def weighting(configuration: Configuration) -> str:
    """A sentence on what weights do to errors, where the questions of the design have any."""
    recipe = configuration.workload
    return WEIGHTED if recipe is not None and any(part.weight != 1 for part in recipe.parts) else ""
