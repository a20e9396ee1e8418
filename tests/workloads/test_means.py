"""Averages and totals of a column: what bins make of them, against those of the numbers themselves, and how answers are told."""

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from ldp_core import verdicts, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.mechanisms import create
from ldp_core.workloads import HistogramPart, MeanPart, TotalPart, WorkloadPart, over_attributes

SALARY = NumericAttribute(name="salary", edges=(-10, 0, 20, 50, 100), origin="declared")
SEX = CategoricalAttribute(name="sex", values=("female", "male"), origin="declared")
PARTS = TypeAdapter(WorkloadPart)


def people(attribute, many=500, seed=0):
    rng = np.random.default_rng(seed)
    low, high = attribute.edges[0], attribute.edges[-1]
    numbers = (
        rng.integers(np.ceil(low), np.floor(high), many, endpoint=True)
        if attribute.integer
        else rng.uniform(low, high, many)
    )
    table = pd.DataFrame({attribute.name: numbers, "sex": rng.choice(SEX.values, many)})
    codes = Domain(attributes=(attribute, SEX)).encode(table).codes
    return table, np.bincount(codes, minlength=2 * attribute.size)


@pytest.mark.parametrize(
    ("attribute", "off"),
    [
        (SALARY, 25.0),
        (RangeAttribute(name="age", low=18, high=87, bins=7, integer=True, origin="declared"), 4.5),
        (RangeAttribute(name="age", low=1, high=6, bins=6, integer=True, origin="declared"), 0.0),
        (NumericAttribute(name="age", edges=(0, 10, 21), integer=True, origin="declared"), 5.5),
    ],
)
def test_averages_and_totals_are_those_of_the_numbers_but_for_half_a_bin(attribute, off):
    table, counts = people(attribute)
    axes, numbers = Domain(attributes=(attribute, SEX)), table[attribute.name]
    for part, truth, scale in (
        (MeanPart(attribute=attribute.name), numbers.mean(), 1),
        (TotalPart(attribute=attribute.name, weight=3.0), numbers.sum(), len(table)),
    ):
        w = over_attributes([part], axes)
        unit, (share,) = w.unit(0), w.answers(counts) / w.query_weights() / len(table)
        assert 0 <= share <= 1
        assert abs(unit.value(share, len(table)) - truth) <= (off + 1e-9) * scale
        assert unit.value(share + 0.1, len(table)) - unit.value(share, len(table)) == pytest.approx(
            unit.error(0.1, len(table))
        )
        assert f" {off:g}" in part.caveat(axes) or (off == 0 and "nothing is lost" in part.caveat(axes))
        assert w.query_name(0) == f"{part.summary[0].lower()}{part.summary[1:]}"


def test_totals_by_group_are_those_of_the_people_in_each():
    table, counts = people(SALARY)
    part = TotalPart(attribute="salary", by=("sex",))
    for attributes in ((SALARY, SEX), (SEX, SALARY)):
        codes = Domain(attributes=attributes).encode(table).codes
        w = part.build(Domain(attributes=attributes))
        counts = np.bincount(codes, minlength=w.n)
        shares = w.answers(counts) / len(table)
        for query, value in enumerate(SEX.values):
            numbers = table["salary"][table["sex"] == value]
            assert w.query_name(query) == f"total of salary, sex = {value}"
            assert abs(w.unit(query).value(shares[query], len(table)) - numbers.sum()) <= 25 * len(numbers)
        assert verdicts.only_unit(w) == w.unit(0)
    assert part.summary == "Total of salary, within each sex"
    assert part.caveat((SALARY, SEX)).endswith("parts of the range from -10 to 100.")
    with pytest.raises(ValueError, match="named twice"):
        TotalPart(attribute="salary", by=("salary",)).build(Domain(attributes=(SALARY, SEX)))


def test_people_without_a_number_count_as_nothing_in_a_total_and_leave_no_average():
    attribute = NumericAttribute(name="salary", edges=(10, 20, 30), missing="category", origin="declared")
    axes = Domain(attributes=(attribute,))
    with pytest.raises(ValueError, match=r"without a number, \(missing\), .* ask for its total"):
        MeanPart(attribute="salary").build(axes)
    w = TotalPart(attribute="salary").build(axes)
    assert w.unit(0).value(w.answers(np.array([2, 1, 5]))[0] / 8, 8) == pytest.approx(2 * 15 + 25)
    assert "(missing) count as 0" in TotalPart(attribute="salary").caveat(axes)


@pytest.mark.parametrize("name", ["sex", "wage"])
def test_what_has_no_numbers_is_refused(name):
    with pytest.raises(ValueError, match="no average; choose a numeric" if name == "sex" else "no attribute wage"):
        MeanPart(attribute=name).build(Domain(attributes=(SALARY, SEX)))


@pytest.mark.parametrize("part", [MeanPart(attribute="salary"), TotalPart(attribute="salary", weight=0.5)])
def test_recipes_come_back_from_files(part):
    assert PARTS.validate_json(PARTS.dump_json(part)) == part
    assert part.about("salary", "pay").attribute == "pay"
    assert part.mentions == ("salary",)


def test_units_belong_to_their_queries_also_in_a_survey():
    many = [CategoricalAttribute(name=f"q{k}", values=tuple("abcdefgh"), origin="declared") for k in range(7)]
    parts = [HistogramPart(attribute="q3"), TotalPart(attribute="salary"), MeanPart(attribute="salary")]
    for attributes in ((SALARY, *many), (SALARY, many[3])):
        w = over_attributes(parts, Domain(attributes=attributes))
        units = [w.unit(query) for query in range(w.num_queries)]
        assert units[:8] == [None] * 8
        assert [(unit.name, unit.low, unit.span, unit.total) for unit in units[8:]] == [
            ("salary", -10, 110, True),
            ("salary", -10, 110, False),
        ]
    assert workloads.histogram(4).unit(0) is None


def test_a_target_is_two_per_cent_of_the_range_and_judges_alone():
    w = over_attributes([MeanPart(attribute="salary")], Domain(attributes=(SALARY,)))
    low = np.array([1000, 0, 0, 0])  # everybody near the lowest value
    assert verdicts.suggest(w, low).target == pytest.approx(0.02)
    assert verdicts.limits(0.02, verdicts.sizes_of(w, low, np.array([0]))).tolist() == [0.02]


def test_collected_answers_are_in_the_unit_of_the_column():
    w = over_attributes([MeanPart(attribute="salary"), TotalPart(attribute="salary")], Domain(attributes=(SALARY,)))
    counts, mechanism = np.array([300, 500, 200, 1000]), create("randomized_response", n=4, epsilon=2.0)
    collection = collector.Collection("0" * 16, mechanism.simulate(counts, np.random.default_rng(0)))
    frame = collector.answers(collection, mechanism, w, level=0.9999)
    told = collector.in_units(frame, w, 2000)
    truth = counts @ [-5, 10, 35, 75]
    assert ((told["low"] <= [truth / 2000, truth]) & (told["high"] >= [truth / 2000, truth])).all()
    assert np.allclose(
        told.loc[1, ["answer", "standard_error"]].astype(float),
        2000 * told.loc[0, ["answer", "standard_error"]].astype(float),
    )
    assert np.allclose(told["standard_error"], [0.055 * frame["standard_error"][0], 110 * frame["standard_error"][1]])
    assert (told["unit"] == "salary").all()
    assert collector.judged(frame, 2000, 1.0, w).tolist() == ["usable", "usable"]
