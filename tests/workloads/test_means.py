"""Averages and totals of a column: what bins make of them, against those of the numbers themselves, and how answers are told."""

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter

from ldp_core import analysis, workloads
from ldp_core.data import tables
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.mechanisms import create
from ldp_core.people import Counted, Records
from ldp_core.workloads import DifferencePart, HistogramPart, MeanPart, TotalPart, WorkloadPart, over_attributes
from ldp_core.workloads.means import middles
from tests.refused import refused

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
    for part, truth in (
        (MeanPart(attribute=attribute.name), numbers.mean()),
        (TotalPart(attribute=attribute.name, weight=3.0), numbers.sum() / len(table)),
    ):
        (line,) = over_attributes([part], axes).questionnaire.lines
        (value,) = line.values(counts, np.arange(1))
        assert line.possible[0] <= value <= line.possible[1]
        assert abs(value - truth) <= off + 1e-9
        assert line.unit.off == off
        assert f" {off:g}" in part.caveat(axes) or (off == 0 and "nothing is lost" in part.caveat(axes))
        assert line.workload.query_name(0) == f"{part.summary[0].lower()}{part.summary[1:]}"


def test_totals_by_group_are_those_of_the_people_in_each():
    table, _counts = people(SALARY)
    part = TotalPart(attribute="salary", by=("sex",))
    for attributes in ((SALARY, SEX), (SEX, SALARY)):
        codes = Domain(attributes=attributes).encode(table).codes
        (line,) = over_attributes([part], Domain(attributes=attributes)).questionnaire.lines
        values = len(table) * line.values(np.bincount(codes, minlength=line.workload.n), np.arange(2))
        for query, value in enumerate(SEX.values):
            numbers = table["salary"][table["sex"] == value]
            assert line.workload.query_name(query) == f"total of salary and sex {value}"
            assert abs(values[query] - numbers.sum()) <= 25 * len(numbers)
        assert line.key == "total salary"
    assert part.summary == "Total of salary, within each sex"
    assert part.caveat((SALARY, SEX)).endswith("may be off by up to 25 for each person, half of the widest bin.")
    refused(
        "named twice", lambda: TotalPart(attribute="salary", by=("salary",)).build(Domain(attributes=(SALARY, SEX)))
    )


def test_people_without_a_number_count_as_nothing_in_a_total_and_leave_no_average():
    attribute = NumericAttribute(name="salary", edges=(10, 20, 30), missing="category", origin="declared")
    axes = Domain(attributes=(attribute,))
    refused(r"without a number, \(missing\), .* ask for its total", lambda: MeanPart(attribute="salary").build(axes))
    (line,) = over_attributes([TotalPart(attribute="salary")], axes).questionnaire.lines
    assert 8 * line.values(np.array([2, 1, 5]), np.arange(1)) == pytest.approx([2 * 15 + 25])
    assert line.possible == (0, 30)
    assert "(missing) count as 0" in TotalPart(attribute="salary").caveat(axes)


@pytest.mark.parametrize("name", ["sex", "wage"])
def test_what_has_no_numbers_is_refused(name):
    refused(
        "no average; choose a numeric" if name == "sex" else "no attribute wage",
        lambda: MeanPart(attribute=name).build(Domain(attributes=(SALARY, SEX))),
    )


@pytest.mark.parametrize("part", [MeanPart(attribute="salary"), TotalPart(attribute="salary", weight=0.5)])
def test_recipes_come_back_from_files(part):
    assert PARTS.validate_json(PARTS.dump_json(part)) == part
    assert part.about("salary", "pay").attribute == "pay"
    assert part.mentions == ("salary",)


def test_each_question_has_its_unit_also_in_a_survey():
    many = [CategoricalAttribute(name=f"q{k}", values=tuple("abcdefgh"), origin="declared") for k in range(7)]
    parts = [HistogramPart(attribute="q3"), TotalPart(attribute="salary"), MeanPart(attribute="salary")]
    for attributes in ((SALARY, *many), (SALARY, many[3])):
        asked = over_attributes(parts, Domain(attributes=attributes)).questionnaire
        assert [line.key for line in asked.lines] == ["points", "total salary", "salary"]
        assert [line.workload.num_queries for line in asked.lines] == [8, 1, 1]
        assert [line.possible for line in asked.lines] == [(0, 100), (-10, 100), (-10, 100)]
        records = np.zeros((100, len(attributes)), dtype=int)
        records[:25] = 3
        counts = (
            Records(records, [4, *[8] * 7]) if len(attributes) > 2 else np.bincount(9 * records[:, 0], minlength=32)
        )
        told = [line.values(counts, np.arange(line.workload.num_queries)) for line in asked.lines]
        assert told[0] == pytest.approx([75, 0, 0, 25, 0, 0, 0, 0])
        assert [*told[1], *told[2]] == pytest.approx([0.75 * -5 + 0.25 * 75] * 2)


def test_a_target_by_itself_is_two_per_cent_of_the_range_or_a_tenth_of_the_spread_and_judges_alone():
    domain, part = Domain(attributes=(SALARY,)), MeanPart(attribute="salary")
    (line,) = over_attributes([part], domain).questionnaire.lines
    assert line.target == pytest.approx(2.2)
    people = np.array([1000, 0, 0, 1000])  # half at -5, half at 75
    w = over_attributes([part], domain, counts=people)
    assert w.questionnaire.lines[0].target == pytest.approx(4.0)
    near = np.array([1000, 0, 0, 70])  # close to 0 on average, which is no reason to ask for more
    assert abs(w.questionnaire.lines[0].values(near, np.arange(1)))[0] < 0.5
    fine = over_attributes(
        [part], Domain(attributes=(SALARY.model_copy(update={"edges": tuple(range(-10, 101, 2))}),)), {"salary": 4.0}
    )
    mechanism = create("randomized_response", n=55, epsilon=4.0)
    told = analysis.answers(mechanism, fine, np.full(55, 200))
    assert told["standard_error"][0] + told["bins"][0] < 4
    assert told["verdict"][0] == "usable"
    coarse = analysis.answers(create("randomized_response", n=4, epsilon=4.0), w, near * 100)
    assert coarse["standard_error"][0] < 1
    assert coarse["bins"][0] == 25
    assert coarse["verdict"][0] == "noise"


def test_collected_answers_are_in_the_unit_of_the_column():
    w = over_attributes([MeanPart(attribute="salary"), TotalPart(attribute="salary")], Domain(attributes=(SALARY,)))
    counts, mechanism = np.array([300, 500, 200, 1000]), create("randomized_response", n=4, epsilon=2.0)
    collection = collector.Collection("0" * 16, mechanism.simulate(counts, np.random.default_rng(0)))
    told = collector.answers(collection, mechanism, w, level=0.9999)
    truth = counts @ [-5, 10, 35, 75]
    estimated = mechanism.estimate(collection.reports).counts() @ [-5, 10, 35, 75]
    assert told["answer"].tolist() == pytest.approx([estimated / 2000, estimated])
    assert ((told["low"] <= [truth / 2000, truth]) & (told["high"] >= [truth / 2000, truth])).all()
    exact = np.sqrt(mechanism.query_variances(workloads.custom([[-5, 10, 35, 75]]), counts))[0]
    assert told["standard_error"].tolist() == pytest.approx([exact / 2000, exact], rel=0.1)
    assert (told["high"] - told["low"])[0] > 2 * 25 + 7 * told["standard_error"][0]  # the middles of bins and the noise
    assert told["unit"].tolist() == ["salary", "total salary"]
    assert told["target"].tolist() == pytest.approx([2.2, 2.2 * 2000])
    assert told["verdict"].tolist() == ["noise", "noise"]  # bins of up to 50 for answers within 2.2


@pytest.mark.parametrize("weights", [None, "many"])
def test_planning_data_give_the_average_of_the_column_and_not_of_middles(weights):
    """In all, in groups, as a difference and as totals; who lies beyond the ends counts as they are sent, who has no number as 0."""
    table = people(SALARY, 900, seed=5)[0].assign(many=lambda own: 1 + own.index % 3)
    table.loc[:30, "salary"], table.loc[31:40, "salary"] = 250.0, None
    salary = SALARY.model_copy(update={"missing": "category", "outside": "clamp"})
    times = table["many"] if weights else 1 + 0 * table["many"]
    tally = tables.tally(table, Domain(attributes=(salary, SEX)), weights)
    held = Counted(tally.counts, (salary.size, 2), tally.sums)
    own = (table["salary"].clip(upper=100).fillna(0) * times).groupby(table["sex"]).sum()
    asked = over_attributes(
        [TotalPart(attribute="salary"), TotalPart(attribute="salary", by=("sex",))], (salary, SEX), counts=held
    )
    values = [line.values(tally.counts, np.arange(line.workload.num_queries)) for line in asked.questionnaire.lines]
    assert values[0] == pytest.approx([own.sum() / times.sum()])
    assert values[1] == pytest.approx((own / times.sum()).tolist())
    known = table[table["salary"].notna()]
    tally = tables.tally(known, Domain(attributes=(salary.model_copy(update={"missing": "drop"}), SEX)), weights)
    held, axes = Counted(tally.counts, (SALARY.size, 2), tally.sums), (SALARY, SEX)
    mean = MeanPart(attribute="salary")
    over = DifferencePart(of=mean, attribute="sex", first="female", second="male")
    asked = over_attributes([mean, mean.model_copy(update={"by": ("sex",)}), over], axes, counts=held).questionnaire
    values = [line.values(tally.counts, np.arange(line.workload.num_queries)).tolist() for line in asked.lines]
    clipped, of = known["salary"].clip(upper=100), times[known.index]
    averages = (clipped * of).groupby(known["sex"]).sum() / of.groupby(known["sex"]).sum()
    assert values[0] == pytest.approx([(clipped * of).sum() / of.sum()])
    assert values[1] == pytest.approx(averages.tolist())
    assert values[2] == pytest.approx([averages["female"] - averages["male"]])
    bare = over_attributes([mean], axes, counts=tally.counts).questionnaire.lines[0]
    assert abs(bare.values(tally.counts, np.array([0]))[0] - values[0][0]) > 0.1
    rounded = workloads.rates_of([mean.model_copy(update={"by": ("sex",)})], axes, held)[0]
    assert rounded.ratios[0] + asked.lines[1].unit.middle == pytest.approx([float(f"{x:.2g}") for x in averages])


@pytest.mark.parametrize(("attribute", "off", "bins"), [(SALARY, 5.0, 11), (SALARY, 0.5, 110)])
def test_finer_bins_keep_middles_as_near_as_is_asked(attribute, off, bins):
    found = workloads.bins_for(workloads.axes_of([attribute])[0], off)
    assert found == bins
    fine = RangeAttribute(name="x", low=attribute.edges[0], high=attribute.edges[-1], bins=found, integer=False)
    assert (
        middles(workloads.axes_of([fine])[0])[3]
        <= off
        < middles(workloads.axes_of([fine.model_copy(update={"bins": found - 1})])[0])[3]
    )


@pytest.mark.parametrize("off", [0.2, 0.5, 1.0, 1.7, 4.0, 40.0])
def test_finer_bins_of_whole_numbers_hold_equally_many(off):
    age = RangeAttribute(name="age", low=18, high=89, bins=2, integer=True)
    found = workloads.bins_for(workloads.axes_of([age])[0], off)
    fine = RangeAttribute(name="age", low=18, high=89, bins=found, integer=True) if found > 1 else age
    assert 72 % found == 0
    assert middles(workloads.axes_of([fine])[0])[3] <= off
