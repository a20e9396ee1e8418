"""Frames of survey mechanisms: shares of people and of information by sets of columns, by hand and against the mechanism."""

import numpy as np
import pytest

from ldp_core import anova, charts, frames, mechanisms
from ldp_core.mechanisms import ExplicitMechanism, Pattern, ScrambledPatterns, SplitSurvey
from ldp_core.mechanisms.surveys.split_survey import GroupTable
from ldp_core.workloads import survey

SIZES = (4, 3, 2)


def test_shares_of_people_by_set_of_columns():
    first = np.zeros((4, 3), dtype=bool)
    first[0, 0] = True
    second = ~first
    third = np.array([True, False])
    mechanism = ScrambledPatterns(
        "optimized",
        SIZES,
        1.0,
        [Pattern((0, 1), first), Pattern((2,), third), Pattern((0, 1), second)],
        np.array([0.3, 0.5, 0.2]),
    )
    found = frames.column_sets(mechanism, ["age", "work", "sex"])
    assert found["columns"].tolist() == ["age x work", "sex"]
    assert found["share"].tolist() == pytest.approx([0.5, 0.5])
    assert found["patterns"].tolist() == [2, 1]
    assert found["cells"].tolist() == [12, 2]
    assert found["inside"].tolist() == pytest.approx([(0.3 * 1 + 0.2 * 11) / 0.5, 1])
    assert charts.drawn_patterns(mechanism) == [1, 0, 2]


def test_information_is_split_nearly_as_the_bound_would_have_it():
    asked = survey((9, 8, 7), 2)
    mechanism = mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=3, time_limit=None)
    found = frames.fourier_weights(mechanism, asked)
    assert found["columns"].tolist()[0] == "x1 x x2"
    assert found[["fourier_weight", "ideal"]].sum().tolist() == pytest.approx([1, 1])
    m = mechanism.component_information
    parts = {members: anova.dimensions(asked.shape, members) * value for members, value in m.items()}
    assert found["fourier_weight"][0] == pytest.approx(parts[0, 1] / sum(parts.values()))
    c = asked.components
    values = c.dims * np.sqrt(c.gram)
    assert found["ideal"][0] == pytest.approx(values[c.sets.index((0, 1))] / values.sum())
    assert (found["fourier_weight"] - found["ideal"]).abs().sum() < 0.1


def test_shares_of_people_by_design():
    sent = ScrambledPatterns("optimized", SIZES, 1.0, [Pattern((2,), np.array([True, False]))], np.ones(1))
    own = GroupTable((0, 1), ExplicitMechanism("optimized", np.full((5, 12), 0.2), 1.0))
    mechanism = SplitSurvey("optimized", SIZES, 1.0, [own], sent, [1.0, 3.0])
    found = frames.people_by_design(mechanism, ["age", "work", "sex"])
    assert found["columns"].tolist() == ["age x work", "everything else"]
    assert found["share"].tolist() == [0.25, 0.75]
    assert found["reports"].tolist() == [5, 1]
    assert found["cells"].isna().tolist() == [False, True]
    assert frames.column_sets(sent, ["age", "work", "sex"], 0.75)["share"].tolist() == [0.75]
    assert list(charts.people_by_design(found).data[0].x) == [25, 75]
