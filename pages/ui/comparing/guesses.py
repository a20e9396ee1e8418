"""The error of each mechanism against how often somebody who sees one report guesses its sender's value, at several epsilons."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ldp_core import beliefs, charts, library, wording
from ldp_core.designs import Setting
from ldp_core.people import dense
from ldp_core.run import Cancel, cancellation
from pages.ui import later, layout, say
from pages.ui.session.state import Session
from pages.ui.tasks import work
from pages.ui.words import case_meaning


def tab(state: Session, case: str) -> None:
    """A mark for each mechanism and epsilon: those in closed form, and fitted ones where they have been fitted."""
    setting, names = state.setting, state.setting.side_by_side
    work.points_over_epsilon(state, setting.chosen)
    settings = (setting, *setting.at_other_epsilons)
    fits = [other.fitted(name) for other in settings for name in names if library.spec(name).fitted]
    about = (setting.workload.digest, setting.answers.norm, setting.people.digest, setting.epsilon, case)
    made = [(name, sorted(setting.parameters_for(name).items())) for name in names]
    frame = later.value(
        state,
        ("guesses", *about, str(made), [fit and fit.mechanism.digest for fit in fits]),
        "working out what reports give away",
        lambda cancel: points(settings, names, case, cancel),
        "What reports give away is being worked out.",
    )
    if frame is None:
        return
    people, strata = dense(setting.counts) / setting.users, setting.workload.strata
    blind = beliefs.blind_guess(people if strata is None else people[strata.types], people.size)
    layout.chart(
        lambda look: charts.guesses(frame, blind, setting.epsilon, setting.scale.unit, look),
        say.plain(_sentence(setting, frame, blind, case)),
        "guesses",
        frame,
    )


def points(settings: Sequence[Setting], names: Sequence[str], case: str, cancel: Cancel) -> pd.DataFrame:
    """name, epsilon, guess and error (in the unit of the design's scale) of each mechanism that is ready and says what its reports tell."""
    rows, cancelled = [], cancellation(cancel)
    for setting in settings:
        people = dense(setting.counts) / setting.users
        for name in names:
            mechanism = None if cancelled() else setting.costed(name)
            guess = None if mechanism is None else beliefs.exposure(mechanism, people).guess
            if mechanism is not None and guess is not None:
                rows.append((name, setting.epsilon, guess, setting.scale.times * setting.error(mechanism, case)))
    return pd.DataFrame(rows, columns=["name", "epsilon", "guess", "error"])


def _sentence(setting: Setting, frame: pd.DataFrame, blind: float, case: str) -> str:
    """How the picture is read, and the two ends of it at the epsilon of the design."""
    base, here = beliefs.base_of(blind), frame[frame["epsilon"] == setting.epsilon]
    said = (
        "Down and to the left is better: smaller errors, and fewer people whose value is guessed. Without a report, the best guess is right for "
        f"{beliefs.out_of(blind, base)} people."
    )
    if len(here):
        best = here.loc[here["error"].idxmin()]
        error = setting.error_in_words(best["error"] / setting.scale.times)
        said += (
            f" At epsilon {setting.configuration.epsilon}, {setting.titled(best['name'])} has the smallest error ({error} for the hardest question, "
            f"{case_meaning(case)}), and one of its reports makes that {beliefs.out_of(best['guess'], base)}."
        )
    silent = [library.spec(name).title for name in setting.side_by_side if name not in set(here["name"])]
    return said + (f" Not fitted, or with too many reports to say: {wording.listed(silent)}." if silent else "")
