"""The contents of files that may be computed from counted people. The app, the command line and
kits all decide it here.

A figure computed from counts can give the counts away: an error in full precision, with the number
of users, leaves a single table of a thousand people and four values. By default, files therefore
give the figures of people spread evenly over the types. These figures depend only on the design and
the number of users; `observed_parts` says which of these come from the data. The analyst can ask
for the figures of the data, and the file then says that it has them.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ldp_core.data import tables
from ldp_core.designs.reveals import observed_parts
from ldp_core.designs.setting import Setting

PEOPLE = "people"
"""The case that averages the error over the people of the design."""
MARK = "Made with counted data: it may tell about people."
"""A sentence for all other downloads, made while the design on screen has counted people."""


def withheld(setting: Setting) -> bool:
    """True if files leave out figures of counted people by default. They do not where the mechanism is fitted to these people: its strategy
    holds their shares, and the file says so."""
    return setting.on_data and setting.case != PEOPLE


def released(setting: Setting, figures: bool = False) -> Setting:
    """The setting that files are computed from: ``setting`` itself where ``figures`` of the data were asked for or nothing is withheld, else
    the same design with people spread evenly, as it is when the file is opened without the data."""
    if figures or not withheld(setting):
        return setting
    sizes, users = setting.domain.shape, setting.users
    size = 8 * setting.domain.size if setting.people.by_type is not None else 2 * users * len(sizes)
    even = setting.results.cached(
        ("people spread evenly", sizes, users),
        lambda: tables.expected_people("uniform", sizes, users),
        lambda _: size,
    )
    return replace(setting, people=even, on_data=False)


def cases(setting: Setting) -> list[str]:
    """The cases that files have figures for. The case of the people is not among them if their
    counts are withheld or not available."""
    unknown = setting.configuration.population.shape == "data" and not setting.on_data
    return [case for case in setting.cases if not (unknown and case == PEOPLE)]


def observed(setting: Setting, figures: bool = False) -> list[str]:
    """The sentences of `observed_parts` for the files of a setting."""
    return observed_parts(setting.configuration, figures and withheld(setting))


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """The table with `MARK` in every row: rows keep it when they are filtered or copied."""
    return table.assign(about_this_file=MARK)
