"""Usable, rough or noise: one definition, in the same words everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import analysis, mechanisms, verdicts, workloads
from ldp_core.data import tables

shares = st.floats(1e-6, 1)


@given(shares, st.floats(1.001, 100))
def test_the_definition(difference, factor):
    for error, verdict in {
        0.0: "usable",
        difference / 2: "usable",
        difference / 2 * factor: "rough" if factor <= 2 else "noise",
        difference: "rough",
        difference * factor: "noise",
    }.items():
        assert verdicts.judge(np.array([error]), difference).tolist() == [verdict]


@given(shares)
def test_alpha_and_the_difference_stand_for_each_other(difference):
    alpha = verdicts.alpha_for(difference)
    assert math.sqrt(alpha) == pytest.approx(difference / 2)
    assert verdicts.difference_for(alpha) == pytest.approx(difference)
    assert verdicts.judge(np.array([math.sqrt(alpha)]), difference).tolist() == ["usable"]


def test_the_default_alpha_stands_for_twenty_percentage_points():
    assert verdicts.alpha_for(0.2) == analysis.DEFAULT_ALPHA
    assert verdicts.in_words(verdicts.difference_for(analysis.DEFAULT_ALPHA)) == "20 percentage points"
    assert verdicts.in_words(0.01) == "1 percentage point"


def test_users_needed_make_a_typical_answer_just_usable():
    """On a histogram, where all answers of people spread evenly are equally good."""
    mechanism, workload = mechanisms.create("subset_selection", 50, 1.0), workloads.histogram(50)
    needed = math.ceil(analysis.sample_complexity(mechanism, workload, verdicts.alpha_for(0.01)))
    counts = np.full(50, 1 / 50)
    for users, verdict in ((needed, "usable"), (0.99 * needed, "rough"), (needed / 4.1, "noise")):
        errors = verdicts.standard_errors(mechanism, workload, users * counts)
        assert set(verdicts.judge(errors, 0.01)) == {verdict}
        assert verdicts.tally(errors, 0.01, users=users).users_for_all == pytest.approx(needed, rel=1e-3)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), shares)
def test_a_tally_counts_every_answer_once(errors, difference):
    found = verdicts.tally(np.array(errors), difference, users=100)
    assert found.judged == found.queries == len(errors)
    assert (found.users_for_all <= 100 * (1 + 1e-8)) == (found.usable == len(errors))


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (verdicts.Tally(31, 12, 7, 50), "31 of 50 answers are usable, 12 rough and 7 noise"),
        (verdicts.Tally(1, 0, 2, 3), "1 of 3 answers is usable, 2 noise"),
        (verdicts.Tally(0, 50, 0, 50), "all 50 answers are rough"),
        (verdicts.Tally(0, 3, 2, 5), "none of 5 answers is usable, 3 rough and 2 noise"),
        (verdicts.Tally(50, 0, 0, 50), "all 50 answers are usable"),
        (verdicts.Tally(0, 1, 0, 1), "the only answer is rough"),
        (verdicts.Tally(400, 0, 0, 20_000), "all 400 answers looked at (there are 20,000) are usable"),
    ],
)
def test_tallies_in_words(tally, words):
    assert tally.in_words() == words


def test_every_verdict_has_a_word_a_sign_of_its_own_and_a_meaning():
    assert list(verdicts.MEANINGS) == list(verdicts.MARKS) == ["usable", "rough", "noise"]
    assert len(set(verdicts.MARKS.values())) == 3
    assert verdicts.marked("usable") == "✓ usable"


def test_errors_are_exact_and_without_weights():
    plain = workloads.prefix(16)
    weighted = workloads.union([plain, plain], weights=[1.0, 5.0])
    mechanism, counts = mechanisms.create("haar", 16, 1.0), np.arange(1, 17) * 10
    errors = verdicts.standard_errors(mechanism, weighted, counts)
    expected = analysis.standard_errors(mechanism, plain, counts) / counts.sum()
    np.testing.assert_allclose(errors, [*expected, *expected], atol=1e-8)
    with pytest.raises(ValueError, match=r"judged for at most 2,048 types; there are 4,096 here"):
        verdicts.standard_errors(mechanisms.create("haar", 4096, 1.0), workloads.prefix(4096), np.ones(4096))


def test_many_queries_are_judged_by_some_of_them():
    assert len(verdicts.judged_queries(workloads.prefix(2048))) == 2048
    some = verdicts.judged_queries(workloads.all_range(512))
    assert len(some) == 400
    assert some[-1] == workloads.all_range(512).num_queries - 1


def test_half_of_a_typical_answer_is_suggested():
    found = verdicts.suggest(workloads.histogram(50), np.full(50, 20))
    assert (found.typical, found.smallest) == pytest.approx((0.02, 0.02))
    assert (found.difference, found.smallest_difference) == (0.01, 0.02)


def test_answers_count_from_the_nearer_end():
    counts = np.array([0, 5, 5, 40, 40, 10])
    found = verdicts.suggest(workloads.prefix(6), counts)
    assert found.typical == pytest.approx(np.sqrt(np.mean(np.square([0.05, 0.1, 0.5, 0.1]))))
    assert found.smallest == pytest.approx(0.05)


@pytest.mark.parametrize("tail", [0, 60, 600])
def test_a_long_tail_hardly_changes_how_many_users_a_typical_answer_takes(tail):
    """Answers of next to no one make a typical answer smaller, and the allowed error of a typical
    query by as much. The sum of squares counts, and they leave it as it is."""
    people = np.array([200_000, 300_000, 300_000, 200_000] + [1] * tail)
    workload = workloads.histogram(len(people))
    found = verdicts.suggest(workload, people)
    assert found.typical**2 * workload.num_queries == pytest.approx(0.26, rel=2e-2)


def test_the_smallest_share_that_matters_leaves_out_the_tail():
    counts = tables.expected_counts("zipf", 100, 10**6)
    found = verdicts.suggest(workloads.histogram(100), counts)
    shares = counts / counts.sum()
    larger = np.unique(shares[shares > found.smallest])[0]
    assert shares[shares < found.smallest].sum() <= verdicts.NEGLIGIBLE < shares[shares < larger].sum()
    assert found.smallest < found.typical


@pytest.mark.parametrize("tail", [0, 60, 600])
def test_answers_of_next_to_nobody_do_not_decide_what_share_matters(tail):
    people = np.array([200_000, 300_000, 300_000, 190_000, 10_000] + [1] * tail)
    found = verdicts.suggest(workloads.histogram(len(people)), people)
    assert found.smallest == pytest.approx(0.19, rel=1e-3)  # the fifth has one in a hundred people
    assert found.smallest_difference == 0.2


def test_nothing_is_suggested_where_everybody_is_alike():
    found = verdicts.suggest(workloads.histogram(4), np.array([0, 7, 0, 0]))
    assert (found.typical, found.smallest, found.smallest_difference) == (None, None, None)
    assert verdicts.alpha_for(found.difference) == analysis.DEFAULT_ALPHA


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40).filter(any))
def test_what_is_suggested_can_be_entered(counts):
    found = verdicts.suggest(workloads.histogram(len(counts)), np.array(counts))
    for difference in (found.difference, found.smallest_difference):
        if difference is not None:
            assert verdicts.LEAST_DIFFERENCE <= difference <= verdicts.LARGEST_DIFFERENCE
            assert 0 < verdicts.alpha_for(difference) <= 1
            assert f"{difference:.0e}" == f"{difference:.9e}".replace(".000000000", "")


def _union():
    """Running totals and a histogram: their answers differ by far."""
    return workloads.union([workloads.prefix(6), workloads.histogram(6)]), np.array([500, 300, 150, 40, 10, 0])


def test_groups_of_questions_have_targets_of_their_own():
    workload, counts = _union()
    targets = verdicts.group_targets(workload, counts)
    alone = [verdicts.suggest(part, counts).difference for part in workload.parts]
    assert list(targets.values()) == alone
    assert alone[0] >= alone[1] > 0


def test_a_histogram_of_many_bars_has_a_smaller_target_than_totals():
    workload = workloads.union([workloads.prefix(50), workloads.histogram(50)])
    targets = list(verdicts.group_targets(workload, np.full(50, 20)).values())
    assert targets[1] == 0.01 < 0.1 <= targets[0]


def test_an_answer_is_judged_against_its_own_size():
    """Bars below 1 % with an error of 3 points were called usable, since running totals had moved the one target to 8 points."""
    workload, counts = _union()
    errors = np.full(12, 0.0328)
    differences = verdicts.differences(workload, counts, np.arange(12), verdicts.group_targets(workload, counts))
    judged = verdicts.judge(errors, differences)
    assert judged[:5].tolist() == ["usable"] * 5
    assert judged[9:].tolist() == ["rough", "noise", "noise"]
    assert set(verdicts.judge(errors[9:], verdicts.differences(workload, counts, np.arange(9, 12), 0.08))) <= {
        "rough",
        "noise",
    }


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(any),
    st.lists(st.floats(0, 1), min_size=8, max_size=8),
    st.none() | st.floats(1e-4, 1),
)
def test_an_answer_smaller_than_its_standard_error_is_never_usable(counts, errors, difference):
    workload = workloads.union([workloads.prefix(4), workloads.histogram(4)])
    counts, errors = np.array(counts), np.array(errors)
    target = verdicts.group_targets(workload, counts) if difference is None else difference
    judged = verdicts.judge(errors, verdicts.differences(workload, counts, np.arange(8), target))
    smaller = workload.answers(counts) / counts.sum() < errors / (1 + 1e-6)
    assert not (smaller & (judged == "usable")).any()


def test_users_for_all_leaves_out_answers_that_count_nobody_and_says_so():
    workload, counts = _union()
    differences = verdicts.differences(workload, counts, np.arange(12), 0.08)
    found = verdicts.tally(np.full(12, 0.01), differences, users=1000)
    assert found.nobody == 1
    assert found.users_for_all == pytest.approx(1000 * (2 * 0.01 / 0.01) ** 2)
    assert verdicts.for_all(found) == "All but the 1 expected to count no one would be with 4,000 users."
    scaled = verdicts.tally(np.full(12, 0.01) / np.sqrt(found.users_for_all / 1000), differences)
    assert scaled.usable == 11


@pytest.mark.parametrize(
    "workload",
    [
        workloads.all_marginals(3),
        workloads.survey((2, 3, 2), ways=2),
        workloads.union([workloads.all_marginals(3), workloads.prefix(8)]),
    ],
    ids=["marginals", "survey", "union"],
)
def test_groups_are_runs_of_queries_that_are_alike(workload):
    groups = workload.groups_of(np.arange(workload.num_queries))
    assert (np.diff(groups) >= 0).all()
    assert len(np.unique(groups)) == {27: 8, 16: 3, 35: 9}[workload.num_queries]
    some = np.array([3, 0, workload.num_queries - 1])
    assert workload.groups_of(some).tolist() == groups[some].tolist()
