"""Covering sets of columns: what they hold, and their errors against the strategy written out."""

import math

import numpy as np
import pytest
from written_out import reports_of

from ldp_core import analysis, mechanisms, workloads
from ldp_core.mechanisms.surveys import covering
from ldp_core.mechanisms.surveys.sampled import SampledSets, build
from ldp_core.mechanisms.surveys.sets import maximal_sets
from ldp_core.workloads import Group, Survey

ADULT = (16, 9, 16, 7, 15, 6, 5, 2, 10, 5, 2)
YES_NO = workloads.survey([2] * 5, 2)
MIXED = workloads.survey([2, 3, 1, 2, 4], 2, weights=[1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0])
ORDERED = Survey(
    (2, 2, 4, 2),
    [Group((0, 1), workloads.histogram(4)), Group((1, 3), workloads.histogram(4)), Group((0, 2), workloads.prefix(8))],
)
SURVEYS = {"yes or no": YES_NO, "mixed": MIXED, "ordered": ORDERED}


@pytest.mark.parametrize("sizes", [(2,) * 9, (3, 2, 4, 2, 2, 5, 1), ADULT])
@pytest.mark.parametrize("ways", [1, 3])
@pytest.mark.parametrize("cells", [8, 256])
def test_what_is_asked_is_held_by_tables_that_are_small_enough(sizes, ways, cells):
    asked = maximal_sets(workloads.survey(sizes, ways))
    found = covering.cover(asked, sizes, cells)
    for one in asked:
        assert any(set(one) <= set(members) for members in found)
    for members in found:
        assert members in asked or math.prod(sizes[i] for i in members) <= cells
    assert not any(set(one) < set(other) for one in found for other in found)
    assert list(found) == sorted(set(found))


def test_triples_of_yes_or_no_columns_are_few():
    """The pairs of nine columns lie in no fewer than 12 triples, and of 30 in 150 (Steiner's systems, or their bound)."""
    for columns, least in ((9, 12), (30, 150)):
        found = covering.cover(maximal_sets(workloads.survey([2] * columns, 2)), (2,) * columns, 8)
        assert least <= len(found) <= 1.4 * least
        assert sorted(set(map(len, found))) in ([3], [2, 3])  # some pair may be left alone


@pytest.mark.parametrize("oracle", ["subset_selection", "randomized_response"])
@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_tables_in_common_are_averaged_as_the_best_linear_estimate_does(name, epsilon, oracle):
    """What McKenna et al. 2020 prove best for the strategy as a whole (Theorem 3.10), written out over all types."""
    survey = SURVEYS[name]
    mechanism = build(survey, epsilon, oracle, sets="covering")
    _, Q = reports_of(mechanism)
    assert Q.sum(axis=0) == pytest.approx(np.ones(survey.n))
    assert np.log(Q.max(axis=1) / Q.min(axis=1)).max() == pytest.approx(mechanism.audit().epsilon)
    assert mechanism.audit().epsilon <= epsilon
    M = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    best = np.trace(np.linalg.pinv(M, hermitian=True, rtol=1e-9) @ survey.gram_dense()) - survey.trace
    assert analysis.average_variance(mechanism, survey) == pytest.approx(best / survey.n, rel=1e-9)
    told = covering.variance(survey, mechanism.sets, mechanism.information_on)
    asked = sum(group.weight**2 * group.base.trace / group.base.n for group in survey.groups)
    total = sum(group.weight**2 * float(np.sum(group.base.gram_sums)) / group.base.n**2 for group in survey.groups)
    assert told - (asked - total) == pytest.approx(best / survey.n, rel=1e-9)


@pytest.mark.parametrize(("oracle", "epsilon"), [("subset_selection", 1.0), ("oue", 0.2), ("randomized_response", 4.0)])
@pytest.mark.parametrize("survey", [*SURVEYS.values(), workloads.survey(ADULT, 2), workloads.survey([2] * 12, 3)])
def test_they_are_never_worse_than_the_sets_asked_about(survey, epsilon, oracle):
    covered, asked = build(survey, epsilon, oracle, sets="covering"), SampledSets(survey, epsilon, oracle)
    assert analysis.average_variance(covered, survey) <= analysis.average_variance(asked, survey) * (1 + 1e-12)
    shares = build(survey, epsilon, oracle, shares="fitted", sets="covering")
    assert shares.sets == covered.sets
    assert analysis.average_variance(shares, survey) <= analysis.average_variance(covered, survey) * (1 + 1e-6)


def test_larger_tables_pay_off_where_columns_have_few_values():
    survey = workloads.survey([2] * 12, 2)
    covered, asked = (
        analysis.average_variance(mechanisms.create(name, epsilon=4.0, workload=survey), survey)
        for name in ("covering_sets", "sampled_sets")
    )
    assert covered < 0.4 * asked
    single = workloads.survey(ADULT, 1)
    assert build(single, 1.0, sets="covering").sets == SampledSets(single, 1.0).sets
