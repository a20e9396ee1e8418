"""Answers weighted to a population whose groups have stated sizes, and intervals for the population that people were drawn from."""

import numpy as np
import pytest

from ldp_core import mechanisms
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.deploy import collector
from ldp_core.workloads import DifferencePart, HistogramPart, MeanPart, over_attributes
from tests.refused import refused

ARM = CategoricalAttribute(name="arm", values=("a", "b"), known=True)
MONTH = CategoricalAttribute(name="month", values=("may", "june", "july"), known=True)
SCORE = RangeAttribute(name="score", low=1, high=4, bins=4, integer=True)
ASKED = over_attributes([HistogramPart(attribute="score"), MeanPart(attribute="score")], [ARM, SCORE])
PEOPLE = np.array([[400, 300, 200, 100], [50, 50, 100, 300]])
SIZES = np.array([2000.0, 8000.0])
TRUTH = (SIZES / PEOPLE.sum(axis=1)) @ PEOPLE


def collected(name="oue", people=PEOPLE, **more):
    made = mechanisms.create(name, workload=ASKED, epsilon=3.0, **more)
    reports = made.simulate(np.ravel(people), np.random.default_rng(0))
    return collector.Collection("0123456789abcdef", reports), made


@pytest.mark.parametrize("name", ["oue", "randomized_response", "subset_selection"])
def test_each_report_stands_for_the_people_of_its_group(name):
    found, made = collected(name)
    told = collector.answers(found, made, ASKED, level=0.999, sizes=SIZES)
    counts, share = made.estimate(found.reports).estimated_counts.reshape(2, 4), 100 / SIZES.sum()
    assert told.answer[:4].tolist() == pytest.approx(share * (SIZES / PEOPLE.sum(axis=1)) @ counts)
    assert ((told.low[:4] <= share * TRUTH) & (told.high[:4] >= share * TRUTH)).all()
    exact = [(made.query_variances(ASKED, np.ravel(PEOPLE * np.eye(2, dtype=int)[[z]].T)))[:4] for z in (0, 1)]
    expected = share * np.sqrt((SIZES / PEOPLE.sum(axis=1)) ** 2 @ exact)
    assert told.standard_error[:4].tolist() == pytest.approx(expected, rel=0.2)
    assert (told.standard_error <= told.promised * (1 + 1e-9)).all()
    drawn = collector.answers(found, made, ASKED, level=0.999, sizes=SIZES, drawn=True)
    assert (drawn.standard_error > told.standard_error).all()
    assert drawn.answer.tolist() == told.answer.tolist()
    mean = told.iloc[4]
    assert mean.unit == "score"
    assert mean.answer == pytest.approx(told.answer[:4] @ np.arange(1, 5) / 100)
    assert mean.low < TRUTH @ np.arange(1, 5) / SIZES.sum() < mean.high
    alike = collector.answers(found, made, ASKED, sizes=PEOPLE.sum(axis=1))
    plain = collector.answers(found, made, ASKED)
    assert alike[["answer", "low", "high", "standard_error", "promised"]].to_numpy() == pytest.approx(
        plain[["answer", "low", "high", "standard_error", "promised"]].to_numpy()
    )


def test_other_estimates_and_occasions_are_weighted_alike():
    found, made = collected()
    told = collector.answers(found, made, ASKED, "norm_sub", sizes=SIZES)
    assert told.answer[:4].sum() == pytest.approx(100)
    assert (told.low <= told.answer).all()
    assert (told.answer <= told.high).all()
    assert told.adds_up_to[0] == pytest.approx(1500)
    once = collector.answers(found, made, ASKED, sizes=SIZES)
    twice = collector.answers(found + found, made, ASKED, sizes=SIZES, occasions=2)
    assert twice.answer.tolist() == pytest.approx(once.answer.tolist())
    refused("take one report of each person", collector.answers, found, made, ASKED, occasions=2, drawn=True)


@pytest.mark.parametrize("secret", [False, True])
def test_answers_within_groups_are_weighted_to_the_population_too(secret):
    """Averages by arm where the months of people are known as well, and have other shares in the population; by sex, which nobody knows."""
    sex = CategoricalAttribute(name="sex", values=("f", "m"))
    axes = [ARM, MONTH, sex, SCORE]
    parts = [MeanPart(attribute="score", by=("sex" if secret else "arm",))]
    parts.append(
        DifferencePart(
            of=MeanPart(attribute="score"),
            attribute="sex" if secret else "arm",
            first="m" if secret else "a",
            second="f" if secret else "b",
        )
    )
    asked, rng = over_attributes(parts, axes), np.random.default_rng(3)
    people, sizes = rng.integers(100, 900, (2, 3, 2, 4)), np.array([[1, 5, 2], [7, 1, 1]]) * 10_000.0
    made = mechanisms.create("randomized_response", workload=asked, epsilon=3.0)
    scores = np.arange(1, 5)
    of_month = people / people.sum(axis=(2, 3), keepdims=True) * sizes[:, :, None, None]
    truth = np.moveaxis(of_month, 2 if secret else 0, 0).reshape(2, -1, 4).sum(axis=1)
    truth = truth @ scores / truth.sum(axis=1)
    truth = np.append(truth, truth[1] - truth[0] if secret else truth[0] - truth[1])
    held, off = [], []
    for _ in range(100):
        found = collector.Collection("0123456789abcdef", made.simulate(people.ravel(), rng))
        told = collector.answers(found, made, asked, sizes=sizes.ravel())
        held.append((told.low <= truth) & (truth <= told.high))
        off.append((told.answer - truth) / told.standard_error)
    assert np.abs(np.mean(off, axis=0)).max() < 0.4
    assert np.std(off, axis=0) == pytest.approx([1, 1, 1], abs=0.25)
    assert np.mean(held) == pytest.approx(0.95, abs=0.05)


def test_what_cannot_be_weighted_is_refused_with_a_sentence():
    found, made = collected()
    for sizes, sentence in (
        ([1.0], "one size for each"),
        ([-1.0, 2.0], "from 0 up, not all 0"),
        ([0.0, 0.0], "from 0 up, not all 0"),
    ):
        refused(sentence, collector.answers, found, made, ASKED, sizes=np.array(sizes))
    refused("for one look, at the end", lambda: collector.answers(found, made, ASKED, kind="any_time", sizes=SIZES))
    few, made = collected(people=np.array([[9, 9, 9, 9], [0, 0, 0, 0]]))
    refused(
        'no report from "b", so nothing can stand for the people there',
        lambda: collector.answers(few, made, ASKED, sizes=collector.sizes_of(["a = 36", "b = 36"], ["a", "b"])),
    )
    assert collector.answers(few, made, ASKED, sizes=np.array([72.0, 0.0])).answer[:4].sum() == pytest.approx(100)
    alone = mechanisms.create("oue", n=8, epsilon=1.0)
    secret = collector.Collection("0123456789abcdef", alone.simulate(np.arange(8), np.random.default_rng(0)))
    refused("groups that the collector knows", collector.answers, secret, alone, ASKED.without_strata, sizes=SIZES)


def test_groups_have_names_and_sizes_are_read():
    assert collector.group_names(Domain(attributes=(ARM, SCORE))) == ["a", "b"]
    groups = collector.group_names(Domain(attributes=(MONTH, SCORE, ARM)))
    assert groups == ["may, a", "may, b", "june, a", "june, b", "july, a", "july, b"]
    axes = over_attributes([HistogramPart(attribute="score")], [MONTH, SCORE, ARM])
    for types, name in zip(axes.strata.types, groups, strict=True):
        month, _, arm = np.unravel_index(types[0], (3, 4, 2))
        assert name == f"{MONTH.values[month]}, {ARM.values[arm]}"
    assert collector.sizes_of(["b = 12,000", "", "a=5"], ["a", "b"]).tolist() == [5, 12000]
    for entries, sentence in (
        (["a = 5"], '"b" is missing'),
        (["a = 5", "a = 6", "b = 1"], "stands twice"),
        (["a = 5", "c = 6"], '"c" is not a group'),
        (["a = x", "b = 1"], 'a whole number up to 1,000,000,000; got "x"'),
        (["a"], '"a" is not a group'),
    ):
        refused(sentence, collector.sizes_of, entries, ["a", "b"])
    refused("knows no group", collector.sizes_of, ["a = 5"], [])
    assert collector.whose(3000, False, None) == "Intervals are for these 3,000 people."
    assert "drawn from; each group is weighted to the 10,000 people stated." in collector.whose(3000, True, SIZES)
