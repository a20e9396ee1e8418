"""Survey mechanisms on 2 x 3 x 4 types against all of their reports."""

import math

import numpy as np
import pytest
from small_surveys import AMONG_ALL, BETWEEN_PAIRS, COUNTS, EPSILON, PAIRS, SIZES, TABLES, scrambled, split_survey
from written_out import EveryReport, check_collected, check_errors, check_guarantee, check_sent, close

from ldp_core import anova, workloads
from ldp_core.mechanisms import Mechanism
from ldp_core.mechanisms.surveys.sampled import ORACLES, SampledSets
from ldp_core.people import Counted, Records
from ldp_core.workloads import Group, Histogram, Survey

CASES = {
    **{oracle: lambda oracle=oracle: SampledSets(PAIRS, EPSILON, oracle) for oracle in ORACLES},
    "scrambled": scrambled,
    **{f"tables: {which}": lambda which=which: split_survey(which) for which in TABLES},
}


@pytest.fixture(scope="module", params=CASES)
def every(request):
    return EveryReport(CASES[request.param]())


@pytest.mark.promise
def test_the_guarantee_is_the_largest_ratio_of_all_reports(every):
    assert isinstance(every.mechanism, Mechanism)
    check_guarantee(every)


@pytest.mark.promise
@pytest.mark.parametrize("name", [*BETWEEN_PAIRS, *AMONG_ALL])
def test_errors_are_those_of_all_reports(every, name):
    workload = {**BETWEEN_PAIRS, **AMONG_ALL}[name]
    if name in AMONG_ALL and every.mechanism.supports(workload) is not None:
        assert not any(len(members) == 3 for members in every.mechanism.survey.component_information or {})
        return
    check_errors(every, workload, COUNTS, sharp=isinstance(every.mechanism, SampledSets))
    records = Records(np.repeat(list(np.ndindex(SIZES)), COUNTS, axis=0), SIZES)
    variances = every.mechanism.query_variances(workload, COUNTS)
    for people in (records, Counted(COUNTS, SIZES)):
        close(every.mechanism.query_variances(workload, people), variances, 1.0)
    if isinstance(workload, Survey):
        again = workloads.from_spec(workload.spec)  # an equal survey, not the same one
        close(every.mechanism.variance_profile(again), every.mechanism.variance_profile(workload))


def test_people_send_every_report_as_often_as_its_probability_says(every):
    check_sent(every, 17)


@pytest.mark.parametrize("how", ["counts", "many", "records"])
def test_collections_are_drawn_with_the_moments_of_all_reports(every, how):
    counts = 10 * COUNTS if how == "many" else COUNTS
    people = Records(np.repeat(list(np.ndindex(SIZES)), counts, axis=0), SIZES) if how == "records" else None
    check_collected(every, counts, people)


def test_inflation_is_the_mean_variance_of_every_component(every):
    if every.mechanism.consistent is not every.mechanism:
        return  # tables from their own reports have several estimates of a component
    for members, value in every.mechanism.inflation.items():
        sizes = [SIZES[i] for i in members]
        adds = every.added(Survey(SIZES, [Group(members, Histogram(math.prod(sizes)))]))
        projection = np.ones((1, 1))
        for size in sizes:
            projection = np.kron(projection, np.eye(size) - 1 / size)
        squares = ((adds @ projection) ** 2).sum(axis=1) * math.prod(sizes) / 24
        close((every.Q.T @ squares).sum() / anova.dimensions(SIZES, members), value)
