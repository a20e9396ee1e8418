"""Usable, rough or noise: one definition, in the same words everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import analysis, mechanisms, verdicts, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.workloads import Detect, DifferencePart, HistogramPart, MeanPart, PrefixPart, over_attributes
from tests.declared import numbers

shares = st.floats(1e-6, 1)
ARM = CategoricalAttribute(name="arm", values=("old", "new"), known=True)
HAPPY = CategoricalAttribute(name="happy", values=("no", "yes"))
SCORE = RangeAttribute(name="score", low=1, high=5, bins=5, integer=True)


def target_of(counts, part):
    """The target that answers about these people have by themselves, in percentage points."""
    values = Domain(attributes=(numbers("value", 1, len(counts), len(counts), integer=True),))
    return over_attributes([part(attribute="value")], values, counts=np.array(counts)).questionnaire.lines[0].target


@given(shares, st.none() | shares, st.floats(1.001, 100))
def test_the_rule(target, size, factor):
    """Usable up to the target and, for shares, up to half of the answer; rough up to twice either; noise beyond."""
    limit = target if size is None else verdicts.largest_error(target, np.array([size]))
    most = target if size is None else min(target, size / 2)
    for error, verdict in {
        0.0: "usable",
        most: "usable",
        most * factor: "rough" if factor <= 2 else "noise",
        2 * most: "rough",
        2 * most * factor: "noise",
    }.items():
        assert verdicts.judge(np.array([error]), limit).tolist() == [verdict]
    assert verdicts.judge(np.array([math.nan]), limit).tolist() == [""]


def test_people_needed_make_answers_just_usable():
    """On a histogram, where all answers of people spread evenly are equally good."""
    values = Domain(attributes=(numbers("value", 1, 50, 50, integer=True),))
    workload = over_attributes([HistogramPart(attribute="value")], values, {"points": 0.5})
    mechanism, counts = mechanisms.create("subset_selection", 50, 1.0), np.full(50, 1 / 50)
    needed = math.ceil(analysis.people_needed(mechanism, workload))
    for users, verdict in ((needed, "usable"), (0.99 * needed, "rough"), (needed / 4.1, "noise")):
        assert set(analysis.answers(mechanism, workload, users * counts)["verdict"]) == {verdict}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), shares)
def test_a_tally_counts_every_answer_once(errors, target):
    found = verdicts.tally(verdicts.judge(np.array(errors), target))
    assert found.judged == found.queries == len(errors)
    assert found.usable == sum(error <= target * (1 + 1e-9) for error in errors)


def test_the_headline_tells_how_many_questions_meet_their_targets_and_what_a_single_one_comes_to():
    plain = lambda words: words.replace("\N{NO-BREAK SPACE}", " ")  # noqa: E731
    short = plain(verdicts.headline(1, "0.5", 1.5))
    assert short == "With 1 person at epsilon 0.5, it takes 2 people until every question meets its target."
    assert "epsilon 12, every question meets its target." in verdicts.headline(200, "12", 0.0002)
    workload = over_attributes(
        [
            HistogramPart(attribute="happy"),
            MeanPart(attribute="score"),
            DifferencePart(of=HistogramPart(attribute="happy"), attribute="arm", first="new", second="old"),
        ],
        Domain(attributes=(ARM, HAPPY, SCORE)),
    )
    mechanism = mechanisms.create("optimized", workload=workload, epsilon=1.0, max_rounds=2, time_limit=None)
    told = analysis.answers(mechanism, workload, np.full(workload.n, 200.0))
    needed = [
        analysis.needed_by(mechanism, line, np.full(workload.n, 200.0), None) for line in workload.questionnaire.lines
    ]
    lines, tally = (
        analysis.lines_of(workload.questionnaire, told, needed, 200 * workload.n),
        verdicts.tally(told["verdict"]),
    )
    assert plain(verdicts.headline(4000, "1", 9e5, lines, tally)) == (
        f"With 4,000 people at epsilon 1, {lines['met'].sum() or 'none'} of 3 questions meet their targets. {tally.in_words()} It takes 900,000 people until "
        "every question meets its target."
    )
    assert lines["met"].tolist() == [people <= 200 * workload.n for people in needed]
    assert "epsilon 1, all questions meet their targets." in verdicts.headline(
        4000, "1", 9.0, lines.assign(met=True), tally
    )
    one, only = lines[lines["unit"] == "score"], verdicts.tally(told["verdict"][told["unit"] == "score"])
    error = plain(verdicts.in_unit(one["standard_error"].iloc[0], "score"))
    assert f"the average of score is off by ± {error}. The only answer is" in plain(
        verdicts.headline(4000, "1", 9.0, one, only)
    )
    assert error.endswith(" in score")


def test_errors_are_exact_and_without_weights():
    plain = workloads.prefix(16)
    weighted = workloads.union([plain, plain], weights=[1.0, 5.0])
    mechanism, counts = mechanisms.create("haar", 16, 1.0), np.arange(1, 17) * 10
    expected = 100 * analysis.standard_errors(mechanism, plain, counts) / counts.sum()
    errors = analysis.answers(mechanism, weighted, counts)["standard_error"]
    np.testing.assert_allclose(errors, [*expected, *expected], atol=1e-6)
    assert "judged for at most 2,048 types; there are 4,096 here" in analysis.too_many_types(workloads.prefix(4096))


def test_a_quarter_of_a_typical_answer_is_the_target():
    assert target_of([20] * 50, HistogramPart) == 0.5


def test_answers_count_from_the_nearer_end():
    typical = np.sqrt(np.mean(np.square([0.05, 0.1, 0.5, 0.1])))
    assert target_of([0, 5, 5, 40, 40, 10], PrefixPart) == pytest.approx(100 * typical / 4, rel=0.3)
    assert target_of([90, 2, 2, 2, 2, 2], PrefixPart) == target_of([2, 2, 2, 2, 2, 90], PrefixPart) < 2


def test_a_long_tail_hardly_changes_how_many_users_a_typical_answer_takes():
    """Answers of next to no one make a typical answer smaller, and the allowed error of a typical
    query by as much. The sum of squares counts, and they leave it as it is."""
    for tail in (0, 600):
        people = [200_000, 300_000, 300_000, 200_000] + [1] * tail
        found = target_of(people, HistogramPart) / 100
        assert (4 * found) ** 2 * len(people) == pytest.approx(0.26, rel=0.5)  # one digit of the target


def test_ten_points_are_the_target_where_everybody_is_alike():
    assert target_of([0, 7, 0, 0], HistogramPart) == 10 == 100 * math.sqrt(analysis.DEFAULT_ALPHA)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40).filter(any))
def test_targets_are_round_and_can_be_entered(counts):
    target = target_of(counts, HistogramPart)
    assert 0.01 <= target <= 100
    assert f"{2 * target:.0e}" == f"{2 * target:.9e}".replace(".000000000", "")


def test_an_answer_is_judged_against_its_own_size():
    """Bars below 1 % with an error of 3 points were called usable, since running totals had moved the one target to 8 points."""
    workload = workloads.union([workloads.prefix(6), workloads.histogram(6)])
    counts = np.array([500, 300, 150, 40, 10, 0])
    limits = verdicts.largest_error(4.0, 100 * workload.answers(counts) / counts.sum())
    assert limits.tolist() == pytest.approx([4.0] * 9 + [2.0, 0.5, 0])
    judged = verdicts.judge(np.full(12, 3.28), limits)
    assert judged[:9].tolist() == ["usable"] * 9
    assert judged[9:].tolist() == ["rough", "noise", "noise"]


def test_averages_and_differences_are_judged_by_their_targets_alone():
    """A difference of people spread evenly is 0: however many took part, it was noise."""
    parts = [
        MeanPart(attribute="score"),
        DifferencePart(of=HistogramPart(attribute="happy"), attribute="arm", first="new", second="old"),
    ]
    targets = {"score": 0.3, "difference of points of the group": Detect(5.0)}
    workload = over_attributes(parts, Domain(attributes=(ARM, HAPPY, SCORE)), targets)
    mechanism = mechanisms.create("optimized", workload=workload, epsilon=1.0, max_rounds=2, time_limit=None)
    told = analysis.answers(mechanism, workload, np.full(workload.n, 5e5))
    assert told["value"].tolist() == pytest.approx([3, 0], abs=1e-9)
    assert told["verdict"].tolist() == ["usable", "usable"]


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(any),
    st.lists(st.floats(0, 1), min_size=8, max_size=8),
    st.floats(1e-4, 1),
)
def test_a_share_smaller_than_twice_its_standard_error_is_never_usable(counts, errors, target):
    workload = workloads.union([workloads.prefix(4), workloads.histogram(4)])
    counts, errors = np.array(counts), np.array(errors)
    sizes = workload.answers(counts) / counts.sum()
    judged = verdicts.judge(errors, verdicts.largest_error(target, sizes))
    assert not ((sizes < 2 * errors / (1 + 1e-6)) & (judged == "usable")).any()
