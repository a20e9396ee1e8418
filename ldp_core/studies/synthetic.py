"""Synthetic people from one simulated collection of a survey: a joint model of all columns, and the
accuracy of its answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldp_core.anova import Set
from ldp_core.estimators import joint
from ldp_core.mechanisms.surveys.estimates import ComponentEstimate
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.people import Counts, people_of
from ldp_core.run import Callback, Cancel
from ldp_core.workloads import Axis, Survey

NOTE = "synthetic"
"""The column that marks each row as made up."""


@dataclass(frozen=True)
class Synthetic:
    """A ``model`` fitted to one simulated collection. Errors are root mean squares over the queries (with their squared weights), as
    shares of all users: of the ``unbiased`` answers to the same reports, of the ``modelled`` ones, and of the modelled ones to every table of
    one column more than was asked for (``beyond``; None where there is none to look at)."""

    model: joint.JointModel
    unbiased: float
    modelled: float
    beyond: float | None


def make(
    mechanism: ScrambledPatterns | SplitSurvey,
    survey: Survey,
    counts: Counts,
    seed: int = 0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> Synthetic:
    """Simulate one collection from people, and fit a joint model to its estimates. ValueError where that cannot be done."""
    if reason := unsuitable(mechanism, survey):
        raise ValueError(reason)
    people = people_of(counts, survey.shape)
    reports = mechanism.simulate(people, np.random.default_rng(seed))
    estimate = mechanism.estimate(reports)
    sets = [group.attributes for group in survey.groups]
    known = evidence(mechanism, estimate, people.users)
    model = joint.fit_evidence(survey.shape, known, people.users, measured=sets, callback=callback, cancel=cancel)

    def share(squares: float) -> float:
        return math.sqrt(squares / survey.squared_weights) / people.users

    wider = _wider(survey)
    beyond = None
    if wider:
        errors = [float(np.mean((model.table(members) - people.table(members)) ** 2)) for members in wider]
        beyond = math.sqrt(float(np.mean(errors))) / people.users
    return Synthetic(
        model,
        share(survey.squared_distance(estimate, people)),
        share(survey.squared_distance(model, people)),
        beyond,
    )


def unsuitable(mechanism: ScrambledPatterns | SplitSurvey, survey: Survey) -> str | None:
    """The reason why a mechanism's reports give no joint model, in a sentence; None where they
    do."""
    if not hasattr(mechanism, "inflation"):
        return (
            "A joint model is made from reports about tables of columns, and these reports are about all types at once."
        )
    for i, size in enumerate(survey.shape):
        if size > 1 and (i,) not in mechanism.inflation:
            name = f"attribute {i + 1}" if survey.axes is None else survey.axes[i].name
            return (
                f"The reports say nothing about {name} alone, and a joint model covers all columns. Ask how many have each of its "
                "values, or leave it out of the data."
            )
    return joint.too_large(survey.shape) or joint.missing()


def evidence(
    mechanism: ScrambledPatterns | SplitSurvey, estimate: ComponentEstimate, users: int
) -> dict[Set, joint.Evidence]:
    """The estimate of each component, with its noise. The variance in each direction of the table
    of A is users / (n_A m_A): a direction of length one there has length sqrt(n / n_A) over the
    types, and M has the eigenvalue m_A / n along it. Separate strategies have noise of another size
    in each direction, and of other people. If their tables share attributes, their errors are
    correlated in several components. The mean over the directions and the types
    (`SplitSurvey.inflation`) is used, as in the weight of a component; the model ignores the
    correlations."""
    return {
        members: joint.Evidence(part, math.sqrt(users * mechanism.inflation[members] / part.size))
        for members, part in estimate.components.items()
    }


_MOST_WIDER = 24
WIDER_CELLS = 2**16


def _wider(survey: Survey) -> list[Set]:
    """Some sets of one attribute more than the largest asked about, evenly spread."""
    most = max(len(group.attributes) for group in survey.groups)
    asked = [group.attributes for group in survey.groups if len(group.attributes) == most]
    wider = dict.fromkeys(
        tuple(sorted((*members, i)))
        for members in asked[:: max(1, len(asked) // _MOST_WIDER)]
        for i in range(len(survey.shape))
        if i not in members and math.prod(survey.shape[j] for j in (*members, i)) <= WIDER_CELLS
    )
    return list(wider)[:: max(1, len(wider) // _MOST_WIDER)][:_MOST_WIDER]


def rows(model: joint.JointModel, axes: Sequence[Axis], users: int, seed: int = 0) -> pd.DataFrame:
    """A table of ``users`` synthetic people: a column of labels for each attribute, and `NOTE`, which says of every row that no one has it."""
    codes = model.people(users, np.random.default_rng(seed))
    return labelled(codes, axes)


def labelled(codes: np.ndarray, axes: Sequence[Axis]) -> pd.DataFrame:
    """Value indices (users, d) as labels."""
    columns: dict[str, Sequence[str] | np.ndarray] = {
        axis.name: np.asarray(axis.labels[:], dtype=object)[codes[:, i]] for i, axis in enumerate(axes)
    }
    frame = pd.DataFrame(columns)
    name = NOTE
    while name in frame.columns:
        name += "_"
    frame[name] = "yes"
    return frame
