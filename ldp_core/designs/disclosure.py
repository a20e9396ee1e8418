"""The parts of files that depend on data: the one place that decides it, for the app, the command
line and kits.

A figure computed from counts is as good as the counts: an error in full precision and the number of users leave a single table of
a thousand people with four values. Files therefore hold the figures of people spread evenly, whom no one counted, unless somebody
asks for those of the data. They then depend on the design and the number of users alone, and `observed_parts` says which parts of
these were taken from the data.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ldp_core.data import tables
from ldp_core.designs.privacy_note import observed_parts
from ldp_core.designs.setting import Setting
from ldp_core.people import Counted, Records

PEOPLE = "people"
"""The case that counts everyone as they are."""
MARK = "Made with counted data: it may tell about people."
"""A note for every other file that an analyst takes from a page while a table is open."""


def withheld(found: Setting) -> bool:
    """True if there are figures of counted people that files leave out unless they are asked for. A strategy that is fitted to these people
    holds their shares, and says so: then nothing is left to keep back."""
    return found.on_data and found.aim(found.chosen) != PEOPLE


def released(found: Setting, figures: bool = False) -> Setting:
    """The setting that files are written from: as it is where ``figures`` of the data are asked for, else as whoever opens the file without
    the data gets it."""
    if figures or not withheld(found):
        return found
    return replace(found, people=_even(found), on_data=False)


def cases(found: Setting) -> list[str]:
    """The cases that files have figures for: the people are no one's case where it is not known how they are spread."""
    unknown = found.configuration.population.shape == "data" and not found.on_data
    return [case for case in found.cases if not (unknown and case == PEOPLE)]


def told(found: Setting, figures: bool = False) -> list[str]:
    """The facts about data that the files of a setting reveal, as of `observed_parts`."""
    return observed_parts(found.configuration, figures and withheld(found))


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the mark in every row, so that none is passed on without it."""
    return table.assign(about_this_file=MARK)


def _even(found: Setting) -> Counted | Records:
    sizes, users = found.domain.shape, found.users

    def spread() -> Counted | Records:
        return tables.expected_people("uniform", sizes, users)

    size = 8 * found.domain.size if found.people.by_type is not None else 2 * users * len(sizes)
    return found.results.cached(("people spread evenly", sizes, users), spread, lambda _: size)
