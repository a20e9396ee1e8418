"""Designs of surveys that are cancelled or out of time: fits on tables of their own, beside patterns for the rest."""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.optimize import SearchLimits
from ldp_core.optimize.surveys.split_design import design_split
from ldp_core.run import GRACE, LEAST_GRACE
from ldp_core.studies import sweep
from ldp_core.workloads import Group, Prefix, Survey, survey
from tests.declared import ADULT
from tests.optimize.checks import Asked

EPSILON, FIT = 1.2, {"time_limit": None, "seed": 0}
PAIRS = survey((2, 3, 4), 2, weights=[1.0, 2.0, 0.5])
MIXED = Survey(
    PAIRS.shape, [*PAIRS.groups, Group((0, 1), Prefix(6)), Group((1, 2), Prefix(12), 0.5), Group((2,), Prefix(4))]
)


BILLION = Survey(
    ADULT,
    [*survey(ADULT, 2).groups, Group((0,), Prefix(16), 9.0), Group((2, 4), Prefix(240)), Group((5, 6), Prefix(30))],
)


@pytest.mark.parametrize("asks", [1, 2, 10, 40, 160])
@pytest.mark.parametrize("asked", [MIXED, BILLION], ids=["few", "billion"])
def test_cancelling_ends_all_fits_at_once(asked, asks):
    cancel = Asked(asks)
    found = design_split(asked, EPSILON, SearchLimits(max_rounds=1, cancel=cancel, **FIT)).mechanism()
    assert cancel.after <= 6  # the running fit checks it a few times more, and no other begins
    assert found.supports(asked) is None
    if cancel.after:
        assert isinstance(found, ScrambledPatterns)


def alike_on_a_table(weight):
    """Conditions on a table of 576 cells that tell few of them apart, beside single columns."""
    half = np.repeat([1.0, 0.0], 12)
    conditions = workloads.Predicates((24, 24), [[((0,), half), ((1,), 1 - half)], [((1,), half)]])
    return Survey((24, 24, 3), [*survey((24, 24, 3), 1).groups, Group((0, 1), conditions, weight)])


@pytest.mark.parametrize("limit", [0, 3, 10, 30, 100])
def test_a_time_limit_holds_for_large_tables(limit, clock):
    asked = alike_on_a_table(9.0)
    found = design_split(asked, EPSILON, SearchLimits(limit)).mechanism()
    assert clock.now <= limit + max(LEAST_GRACE, GRACE * limit) + 14
    assert found.supports(asked) is None
    assert isinstance(found, SplitSurvey) or limit < 30


@pytest.mark.parametrize("asks", [1, 20, 40, 60, 80, 120])
def test_large_tables_are_left_at_once_when_somebody_cancels(asks):
    cancel = Asked(asks)
    found = design_split(alike_on_a_table(9.0), EPSILON, SearchLimits(None, 1, 0, None, cancel)).mechanism()
    assert cancel.after <= 6
    assert isinstance(found, ScrambledPatterns if cancel.times >= asks else SplitSurvey)


@pytest.mark.parametrize("asks", [1, 5, 50])
def test_a_point_of_a_sweep_that_is_cancelled_begins_no_further_fit(asks):
    cancel = Asked(asks)
    assert sweep.evaluate(sweep.SweepPoint("optimized", BILLION, 1.0, {"max_rounds": 1}), cancel) is None
    assert cancel.after <= 10
