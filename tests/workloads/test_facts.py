"""Facts as text: what is read, and sentences about what cannot be."""

import math

import numpy as np
import pytest

from ldp_core.workloads import Axis, Fact, StatedFact, parse_facts

SEX = Axis("sex", ("female", "male"), 2)
AGE = Axis("age", ("0-29", "30-59", "60-89"), 3, ordered=True, edges=(0, 30, 60, 90))
CITY = Axis("home town", ("a:b", "c"), 2)


def read(text, axes=(SEX, AGE)):
    return [(fact.row.tolist(), fact.low, fact.high) for fact in parse_facts(text, axes)]


@pytest.mark.parametrize(
    ("text", "row", "low", "high"),
    [
        ("sex = male : 480", [0, 0, 0, 1, 1, 1], 480, 480),
        ("age >= 30 : at least 100", [0, 1, 1, 0, 1, 1], 100, math.inf),
        ("age >= 30 and sex = female:at most 12.5", [0, 1, 1, 0, 0, 0], 0, 12.5),
        ("not sex = male : Between 1,000 and 1,250,000", [1, 1, 1, 0, 0, 0], 1000, 1_250_000),
        ("sex = male and sex = female : at most 3", [0] * 6, 0, 3),
        ("sex in {male, female} : 0", [1] * 6, 0, 0),
    ],
)
def test_a_condition_a_colon_and_a_total(text, row, low, high):
    assert read(text) == [(row, low, high)]


def test_one_fact_a_line_and_colons_in_names():
    assert len(read("sex = male : 480\n\n  \n age < 30 : at most 7\n")) == 2
    assert len(parse_facts(["sex = male : 480", "age < 30 : at most 7"], (SEX, AGE))) == 2
    assert read('"home town" = "a:b" : 3', [CITY]) == [([1, 0], 3, 3)]
    assert parse_facts("", [SEX]) == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sex = male", "Fact 1, sex = male: write a condition, a colon and how many .* such as sex = female : 480"),
        ("sex = male : 480\nsex = : 3", "Fact 2, sex = : 3: at character 7: expected a value"),
        ("sex = mail : 480", "did you mean male"),
        ("sex = male : 48o", "such as 480, at least 480, at most 480 or between 450 and 500; got 48o"),
        ("sex = male :", "nothing follows it"),
        ("sex = male : -4", "got -4"),
        ("sex = male : 1,00", "got 1,00"),
        ("sex = male : at least", "got at least"),
        ("sex = male : nan", "got nan"),
        ("sex = male : between 30 and 20", "no number lies between 30 and 20; put the lower one first"),
        ("age > 45 : 3", "would cut the bin"),
        ("sex = male and sex = female : 3", "is true for no type"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        read(text)
    assert str(refusal.value)[-1] in ".?"


@pytest.mark.parametrize(("low", "high"), [(2, 1), (math.nan, 1), (0, math.nan)])
def test_facts_made_by_hand_have_their_ends_in_order(low, high):
    with pytest.raises(ValueError, match="lower to its upper end"):
        Fact(np.ones(3), low, high, "everybody")


COUNTS = np.array([10, 20, 30, 100, 2000, 3])


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("sex = male : 2,103", True),
        ("sex = male : 2104", False),
        ("age >= 60 : at most 33", True),
        ("age >= 60 : at most 32", False),
        ("age >= 60 : at least 33", True),
        ("age >= 60 : between 34 and 40", False),
    ],
)
def test_a_fact_is_true_of_people_or_not(text, true):
    (fact,) = parse_facts(text, (SEX, AGE))
    assert fact.true_of(COUNTS) is true


def test_facts_are_true_of_many_people_but_for_rounding():
    row, counts = np.full(6, 1 / 3), np.array([1, 2, 3, 4, 5, 6]) * 10**8
    assert Fact(row, 7e8, 7e8, "a third").true_of(counts)
    assert not Fact(row, 7e8 + 10, 7e8 + 10, "a third and ten").true_of(counts)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sex = male", "sex = male : 2,103"),
        ("sex = male :", "sex = male : 2,103"),
        ("age < 30 and sex = female", "age < 30 and sex = female : 10"),
        ("sex = male and sex = female", "sex = male and sex = female : 0"),
        ("sex = male : 480", None),
        ("sex = male : at least", None),
        ("sex = mail", None),
        ("age > 45", None),
    ],
)
def test_a_condition_without_a_total_can_be_counted(text, told):
    found = StatedFact(text=text).counted((SEX, AGE), COUNTS)
    assert found == (None if told is None else StatedFact(text=told, origin="data"))
    if found is not None:
        (fact,) = parse_facts([found.text], (SEX, AGE))
        assert fact.true_of(COUNTS)


def test_colons_in_names_are_no_totals():
    found = StatedFact(text='"home town" = "a:b"').counted([CITY], np.array([4, 5]))
    assert found is not None
    assert read(found.text, [CITY]) == [([1, 0], 4, 4)]
    time = Axis("time", ("12", "12:30"), 2)
    assert StatedFact(text="time = 12:30").counted([time], np.array([4, 5])) is None  # it is a fact about 30 people


def test_a_total_read_off_the_data_stays_one():
    before = [StatedFact(text="sex = male : 2,103", origin="data"), StatedFact(text="age < 30 : 7")]
    origins = {
        "sex = male : 2,103": "data",
        "sex = female : 2103": "data",
        "sex = male : 2,104": "declared",
        "age < 30 : 7": "declared",
        "age < 30": "declared",
    }
    assert {text: StatedFact(text=text).known_from(before).origin for text in origins} == origins


@pytest.mark.parametrize("text", ["", " sex = male : 1", "sex = male : 1\n", "a : 1\rb : 2", "a" * 10_001])
def test_a_stated_fact_is_one_line(text):
    with pytest.raises(ValueError, match=r"one line|at least 1 character|at most 10000 characters"):
        StatedFact(text=text)
