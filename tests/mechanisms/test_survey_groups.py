"""People split among strategies on the tables of a few attributes and scrambled patterns."""

import numpy as np
import pytest
from small_surveys import COUNTS, EPSILON, MIXED, ORDERED, PAIRS, SIZES, TABLES, matrix, split_survey
from written_out import EveryReport, check_errors, types_of

from ldp_core import analysis, mechanisms
from ldp_core.bounds import centred_svd
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.optimize import SearchLimits, design
from ldp_core.optimize.surveys.split_design import design_split, table_sets
from ldp_core.people import Counted
from ldp_core.studies import sweep
from ldp_core.workloads import Group, Histogram, Prefix, Survey
from tests.refused import refused


def test_foreign_or_broken_reports_are_refused():
    mechanism = split_survey("shared")
    raw = mechanism.privatize(types_of(SIZES), np.random.default_rng(1))
    other = SplitSurvey("optimized", SIZES, EPSILON, mechanism.tables, mechanism.rest, mechanism.shares[::-1] ** 2)
    if len(other.parts) > 1:
        refused("another mechanism", lambda: other.estimate(mechanism.aggregate(raw)))
    broken = raw.copy()
    broken[0, 0] = 9
    for wrong in (broken, raw[:, :1], raw.astype(float)):
        refused("number of a design", mechanism.aggregate, wrong)


@pytest.mark.parametrize("asked", [MIXED, ORDERED], ids=["mixed", "ordered"])
def test_tables_too_large_to_combine_have_the_errors_of_all_reports(asked, lower):
    lower(_MOST_DIMENSIONS=5)
    mechanism = split_survey("shared")
    assert len(mechanism.combined) == 2
    check_errors(EveryReport(mechanism), asked, COUNTS, sharp=False)


def test_designs_must_fit():
    whole = split_survey("one")
    for changed, message in (
        ({"tables": [GroupTable((1,), whole.tables[0].mechanism)]}, "does not fit"),
        ({"tables": [], "rest": None, "shares": []}, "must be a design"),
        ({"epsilon": 2.0}, "all need epsilon 2"),
        ({"sizes": (2, 3, 4, 5)}, "are for attributes"),
        ({"shares": [1.0, 0.0]}, "positive share"),
    ):
        given = {"sizes": SIZES, "epsilon": EPSILON, "tables": whole.tables, "rest": whole.rest, "shares": [1.0, 1.0]}
        refused(message, SplitSurvey, "optimized", **{**given, **changed})
    narrow = SplitSurvey("optimized", SIZES, EPSILON, whole.tables, None, [1.0])
    assert "say nothing about" in narrow.supports(PAIRS)
    assert narrow.supports(Survey(SIZES, [Group((2,), Prefix(4))])) is None
    assert narrow.knows((2,))
    assert not narrow.knows((0, 2))


# --- the library's choice ---------------------------------------------------------------------------------------------

FIT = {"time_limit": None, "seed": 0}


@pytest.mark.parametrize(
    "asked",
    [
        Survey(SIZES, [Group((2,), Prefix(4), 9.0), Group((0, 1), Histogram(6))]),
        Survey(SIZES, [Group((0, 2), Prefix(8)), Group((1, 2), Prefix(12)), Group((0, 1), Histogram(6), 0.1)]),
    ],
    ids=["apart", "shared"],
)
def test_what_is_built_has_the_objective_of_all_its_reports(asked):
    told = []
    found = design_split(asked, EPSILON, SearchLimits(max_rounds=20, callback=told.append, **FIT)).mechanism()
    assert isinstance(found, SplitSurvey)
    every = EveryReport(found)
    variances = every.Q.T @ every.added(asked) ** 2 - matrix(asked).T ** 2
    objective = variances.sum() + asked.trace
    assert analysis.objective(found, asked) == pytest.approx(objective)
    assert told[-1].objective == pytest.approx(objective, rel=1e-6)
    assert told[-1].objective < told[-2].objective
    assert centred_svd(asked, EPSILON) <= objective


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (Survey((8, 4), [Group((0,), Prefix(8)), Group((0, 1), Histogram(32), 0.5)]), "Optimized"),
        (Survey((16, 9, 16), [Group((0,), Prefix(16), 9.0), Group((1, 2), Histogram(144))]), "SurveyDesign"),
        (Survey((16, 9, 16), [Group((0,), Histogram(16), 9.0), Group((1, 2), Histogram(144))]), "SurveyDesign"),
    ],
    ids=["few types", "an order", "alike"],
)
def test_the_design_of_the_core_is_that_of_the_mechanism(asked, kind):
    """Patterns alone, which treat the values of a column alike, needed 15 times as many users for a single condition."""
    found = design(asked, EPSILON, max_rounds=5, **FIT)
    assert type(found).__name__ == kind
    assert repr(found).startswith(f"<{kind}: ")
    made = mechanisms.create("optimized", workload=asked, epsilon=EPSILON, max_rounds=5, **FIT)
    assert found.objective == pytest.approx(analysis.objective(made, asked), rel=1e-6)
    assert found.history[-1][2] >= found.objective * (1 - 1e-9)


def test_too_many_tables_are_left_to_patterns():
    sizes = (3,) * 26
    asked = Survey(sizes, [Group((j,), Prefix(3)) for j in range(26)])
    assert table_sets(asked) == ()
    assert isinstance(design_split(asked, 1.0, SearchLimits(max_rounds=0, **FIT)).mechanism(), ScrambledPatterns)


@pytest.mark.parametrize("which", TABLES)
def test_averages_are_no_worst_cases_where_only_the_worst_type_is_known(which, lower):
    found, asked = split_survey(which), MIXED if which == "shared" else ORDERED
    reports = EveryReport(found)
    every = (reports.Q.T @ reports.added(asked) ** 2 - matrix(asked).T ** 2).sum(axis=1)
    people = Counted(COUNTS, SIZES)
    lower(MOST_TABLE_CELLS=23)
    assert found.variance_profile(asked).shape == (1,)
    assert analysis.variance_on_data(found, asked, COUNTS) == pytest.approx(every @ COUNTS)
    worst, scale = analysis.worst_case_variance(found, asked), asked.squared_weights * analysis.DEFAULT_ALPHA
    assert every.max() * (1 - 1e-9) <= worst < 1.02 * every.max()
    assert analysis.average_variance(found, asked) == pytest.approx(every.mean())
    assert analysis.people_needed(found, asked, people) == pytest.approx(every @ COUNTS / people.users / scale)
    assert analysis.people_needed(found, asked, people, analysis.WORST_CASE) == pytest.approx(worst / scale)
    assert sweep.outcome_of(found, asked, "").average == pytest.approx(every.mean())
    refused("not known one by one", lambda: analysis.average_case(24).variance(found.variance_profile(asked)))
    assert analysis.WORST_CASE.variance(found.variance_profile(asked)) == worst
