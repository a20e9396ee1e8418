"""Tidy frames of surveys: numbers by sets of columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ldp_core import anova
from ldp_core.mechanisms import Mechanism
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.workloads import Survey


def names_of(survey: Survey) -> list[str]:
    """The names of the columns."""
    return (
        [f"x{i + 1}" for i in range(len(survey.shape))] if survey.axes is None else [axis.name for axis in survey.axes]
    )


def attribute_sets(survey: Survey) -> pd.DataFrame:
    """attributes, number, dimension, gram, share: the sets of attributes that queries of a ``survey`` depend on, the largest share
    first.

    ``number`` of attributes; ``dimension`` of P_A, the functions that vary with exactly these; ``gram`` is g_A / n, what the queries
    weigh each of them by (on average, where the survey is not `symmetric`); ``share`` is in proportion to dim_A sqrt(g_A): information x_A
    spread like this over the sets makes the error ``sum_A dim_A^2 g_A / x_A`` smallest. ValueError where the components would take too
    large tables.
    """
    c = survey.components
    names = names_of(survey)
    values = c.dims * np.sqrt(c.gram)
    frame = pd.DataFrame(
        {
            "attributes": [" x ".join(names[i] for i in members) for members in c.sets],
            "number": [len(members) for members in c.sets],
            "dimension": c.dims,
            "gram": c.gram,
            "share": values / values.sum(),
        }
    )
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def people_by_design(mechanism: SplitSurvey, names: Sequence[str]) -> pd.DataFrame:
    """columns, share, kind, reports, cells: the designs that people are split among, those with a strategy of their own first.

    ``share`` of people who take part; ``reports`` that can be sent, of a strategy, or patterns; ``cells`` of the table of a strategy.
    """
    tables = [
        (" x ".join(names[i] for i in group.attributes), "strategy of its own", *group.mechanism.strategy.shape)
        for group in mechanism.tables
    ]
    rest = [] if mechanism.rest is None else [("everything else", "patterns", len(mechanism.rest.patterns), None)]
    frame = pd.DataFrame([*tables, *rest], columns=["columns", "kind", "reports", "cells"]).astype({"cells": "Int64"})
    frame.insert(1, "share", mechanism.shares)
    return frame


def column_sets(mechanism: ScrambledPatterns, names: Sequence[str], part: float = 1.0) -> pd.DataFrame:
    """columns, share, patterns, cells, inside: the sets of columns that reports of a survey mechanism are about, most common first.

    ``share`` of people who report about the set, where ``part`` of all send patterns; ``patterns`` in use there, ``cells`` of its table; ``inside`` how many of them a report
    names, on average.
    """
    rows = pd.DataFrame(
        {
            "columns": [" x ".join(names[i] for i in pattern.attributes) for pattern in mechanism.patterns],
            "share": mechanism.shares,
            "cells": [pattern.cells.size for pattern in mechanism.patterns],
            "inside": [np.count_nonzero(pattern.cells) for pattern in mechanism.patterns] * mechanism.shares,
        }
    )
    frame = rows.groupby("columns", sort=False).agg(
        share=("share", "sum"), patterns=("share", "size"), cells=("cells", "first"), inside=("inside", "sum")
    )
    frame["inside"] /= frame["share"]
    frame["share"] *= part
    return frame.sort_values("share", ascending=False, kind="stable").reset_index()


def fourier_weights(mechanism: Mechanism, survey: Survey) -> pd.DataFrame:
    """columns, Fourier weight, ideal: how the information of reports is spread over sets of columns, largest first.

    ``fourier_weight`` is the share of dim_A m_A, ``ideal`` that of dim_A sqrt(g_A), where the lower bound would be met (see
    `ldp_core.workloads.surveys`). Components that no question depends on have an ideal of 0.
    """
    c, names = survey.components, names_of(survey)
    columns = {
        members: anova.dimensions(survey.shape, members) * m
        for members, m in ((mechanism.survey and mechanism.survey.component_information) or {}).items()
    }
    wanted = dict(zip(c.sets, (c.dims * np.sqrt(c.gram)).tolist(), strict=True))
    sets = sorted(
        {*columns, *wanted}, key=lambda members: (-wanted.get(members, 0.0), -columns.get(members, 0.0), members)
    )
    fourier_weight, ideal = (np.array([weights.get(members, 0.0) for members in sets]) for weights in (columns, wanted))
    return pd.DataFrame(
        {
            "columns": [" x ".join(names[i] for i in members) for members in sets],
            "fourier_weight": fourier_weight / fourier_weight.sum(),
            "ideal": ideal / ideal.sum(),
        }
    )
