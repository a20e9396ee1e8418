"""Questions about choices, rankings and courses: against counting people one by one, also within groups."""

import itertools

import numpy as np
import pandas as pd
import pytest

from ldp_core import analysis, bounds, mechanisms, optimize, workloads
from ldp_core.data.domain import CategoricalAttribute, ChoiceAttribute, CourseAttribute, Domain, RankingAttribute
from ldp_core.workloads import (
    BeforePart,
    DaysPart,
    DifferencePart,
    ItemsPart,
    MeanRankPart,
    NumberOfItemsPart,
    PairsOfItemsPart,
    SharePart,
    over_attributes,
)

WAY = ChoiceAttribute(name="way", items=("bus", "car", "walk", "bike"), most=3)
DISH = RankingAttribute(name="dish", items=("a", "b", "c"))
USED = CourseAttribute(of=CategoricalAttribute(name="used", values=("no", "yes")), days=4, changes=1)
SEX = CategoricalAttribute(name="sex", values=("f", "m"))
KNOWN = SEX.model_copy(update={"known": True})


def people(attribute, many=300, seed=0):
    """Types of people, and the row of `members` of each."""
    types = np.random.default_rng(seed).integers(attribute.size, size=many)
    return types, attribute.members[types]


def counted(part, rows):
    """Per question, how many of the people with these rows of `members` it is about, or their mean."""
    if isinstance(part, ItemsPart):
        return (rows == 1).sum(axis=0)
    if isinstance(part, NumberOfItemsPart):
        return np.bincount(rows.sum(axis=1), minlength=4)
    if isinstance(part, PairsOfItemsPart):
        return [(rows[:, [a, b]].sum(axis=1) == 2).sum() for a, b in itertools.combinations(range(rows.shape[1]), 2)]
    if isinstance(part, MeanRankPart):
        return rows.mean(axis=0) * len(rows)
    if isinstance(part, BeforePart):
        return [(rows[:, a] < rows[:, b]).sum() for a, b in itertools.combinations(range(rows.shape[1]), 2)]
    return rows.sum(axis=0)


EVERY = [
    (WAY, ItemsPart(attribute="way"), "way bus"),
    (WAY, NumberOfItemsPart(attribute="way"), "way 0 chosen"),
    (WAY, PairsOfItemsPart(attribute="way"), "way bus and car"),
    (DISH, ItemsPart(attribute="dish"), "dish a first"),
    (DISH, MeanRankPart(attribute="dish"), "mean rank of a in dish"),
    (DISH, BeforePart(attribute="dish"), "dish a before b"),
    (USED, DaysPart(attribute="used"), "used yes on day 1"),
]
called = pytest.mark.parametrize(("attribute", "part", "name"), EVERY, ids=lambda value: getattr(value, "kind", ""))


@called
def test_answers_are_those_of_counting_people(attribute, part, name):
    types, rows = people(attribute)
    (line,) = over_attributes([part], Domain(attributes=(attribute,))).questionnaire.lines
    values = line.values(np.bincount(types, minlength=attribute.size), np.arange(line.workload.num_queries))
    factor = 1.0 if part.averages else 100.0
    np.testing.assert_allclose(values, factor * np.asarray(counted(part, rows)) / len(rows))
    assert line.workload.query_name(0) == name
    assert all(line.possible[0] <= value <= line.possible[1] for value in values)


@called
@pytest.mark.parametrize("sex", [SEX, KNOWN], ids=["secret", "known"])
def test_answers_within_groups_are_shares_or_averages_of_these(attribute, part, name, sex):
    types, rows = people(attribute)
    groups = np.random.default_rng(1).integers(2, size=len(types))
    counts = np.bincount(2 * types + groups, minlength=2 * attribute.size)
    within = part.model_copy(update={"by": ("sex",)}) if part.averages else SharePart(of=part, within=("sex",))
    differs = DifferencePart(of=part, attribute="sex", first="m", second="f")
    first, second = over_attributes(
        [within, differs], Domain(attributes=(attribute, sex)), counts=counts
    ).questionnaire.lines
    factor = 1.0 if part.averages else 100.0
    each = [factor * np.asarray(counted(part, rows[groups == g])) / (groups == g).sum() for g in (0, 1)]
    np.testing.assert_allclose(
        first.values(counts, np.arange(first.workload.num_queries)), np.stack(each, axis=1).ravel()
    )
    np.testing.assert_allclose(second.values(counts, np.arange(len(each[0]))), each[1] - each[0])


@called
def test_a_design_is_made_for_each_and_its_collection_finds_the_answers(attribute, part, name):
    asked = over_attributes([part], Domain(attributes=(attribute,)))
    device = mechanisms.create("optimized", workload=asked, epsilon=3.0, max_rounds=5, time_limit=None)
    types, _ = people(attribute, 40_000)
    reports = device.aggregate(device.privatize(types, np.random.default_rng(2)))
    answers = device.estimate(reports).answers(asked) / len(types)
    (line,) = asked.questionnaire.lines
    told = analysis.answers(device, asked, np.bincount(types, minlength=attribute.size))
    off = line.unit.middle + line.unit.factor * answers - line.values(np.bincount(types), np.arange(len(answers)))
    assert (np.abs(off) <= 5 * told["standard_error"].to_numpy()).all()


def test_who_has_other_or_missing_values_counts_nowhere():
    way = WAY.model_copy(update={"missing": "category", "outside": "other"})
    domain = Domain(attributes=(way,))
    codes = domain.encode(pd.DataFrame({"way": ["bus", "NA", "tram", ""]})).codes
    items = over_attributes([ItemsPart(attribute="way")], domain)
    np.testing.assert_array_equal(items.answers(np.bincount(codes, minlength=way.size)), [1, 0, 0, 0])
    lists = DISH.model_copy(update={"missing": "category"})
    with pytest.raises(ValueError, match="dish is not a ranking of everybody, without other or missing values"):
        over_attributes([MeanRankPart(attribute="dish")], Domain(attributes=(lists,)))


@pytest.mark.parametrize(
    ("attributes", "kinds"),
    [
        ((WAY,), ["items"]),
        ((DISH,), ["mean_rank"]),
        ((USED,), ["days"]),
        ((WAY, SEX), ["items", "histogram"]),
        ((DISH, KNOWN), ["mean_rank", "difference"]),
        ((WAY, KNOWN), ["share", "difference"]),
    ],
)
def test_the_questions_to_begin_with_fit(attributes, kinds):
    parts = workloads.default_parts(attributes)
    assert [part.kind for part in parts] == kinds
    over_attributes(parts, Domain(attributes=attributes))


def test_a_question_about_another_kind_of_attribute_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="sex is not several items chosen or a ranking; choose an attribute that is"):
        over_attributes([ItemsPart(attribute="sex")], Domain(attributes=(SEX,)))
    one = Domain(attributes=(WAY.model_copy(update={"most": 1}),))
    with pytest.raises(ValueError, match="two or more at once"):
        over_attributes([PairsOfItemsPart(attribute="way")], one)


def test_seven_days_in_one_report_come_within_a_thousandth_of_the_proved_least():
    week = CourseAttribute(of=CategoricalAttribute(name="used", values=("no", "yes")), days=7, changes=1)
    asked = over_attributes([DaysPart(attribute="used")], Domain(attributes=(week,)))
    found = optimize.design(asked, epsilon=1.0, time_limit=None, max_rounds=60)
    proof = bounds.certificate(asked, epsilon=1.0, time_limit=None)
    assert proof.verify()
    assert proof.value == pytest.approx(580.892, abs=0.01)
    assert proof.value <= found.objective <= 1.001 * proof.value
