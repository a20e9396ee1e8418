"""Usable, rough or noise: one definition, in the same words everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp_core import analysis, mechanisms, verdicts, workloads
from ldp_core.data import tables

shares = st.floats(1e-6, 1)


@given(shares, st.none() | shares, st.floats(1.001, 100))
def test_the_rule(target, size, factor):
    """Usable up to the target and up to half of the answer where its size is known; rough up to twice either; noise beyond."""
    limit = target if size is None else verdicts.limits(target, np.array([size]))
    most = target if size is None else min(target, size / 2)
    for error, verdict in {
        0.0: "usable",
        most: "usable",
        most * factor: "rough" if factor <= 2 else "noise",
        2 * most: "rough",
        2 * most * factor: "noise",
    }.items():
        assert verdicts.judge(np.array([error]), limit).tolist() == [verdict]


def test_users_needed_make_a_typical_answer_just_usable():
    """On a histogram, where all answers of people spread evenly are equally good."""
    mechanism, workload = mechanisms.create("subset_selection", 50, 1.0), workloads.histogram(50)
    needed = math.ceil(analysis.sample_complexity(mechanism, workload, verdicts.alpha_for(0.005)))
    counts = np.full(50, 1 / 50)
    for users, verdict in ((needed, "usable"), (0.99 * needed, "rough"), (needed / 4.1, "noise")):
        errors = verdicts.standard_errors(mechanism, workload, users * counts)
        assert set(verdicts.judge(errors, 0.005)) == {verdict}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), shares)
def test_a_tally_counts_every_answer_once(errors, target):
    found = verdicts.tally(np.array(errors), target)
    assert found.judged == found.queries == len(errors)
    assert found.usable == sum(error <= target * (1 + 1e-9) for error in errors)


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (verdicts.Tally(1, 0, 2, 3), "1 of 3 answers is usable."),
        (verdicts.Tally(0, 1, 0, 1), "The only answer is rough."),
        (verdicts.Tally(400, 0, 0, 20_000), "All 400 answers looked at (there are 20,000) are usable."),
    ],
)
def test_tallies_in_words(tally, words):
    assert tally.in_words() == words


def test_the_headline_says_the_error_first():
    """Whose numbers are right with one person, too."""
    assert "(less than one person)" in verdicts.headline(200, "12", 0.0002, 0.01, None)
    words = verdicts.headline(1, "0.5", 1.0, 0.01, None).replace("\N{NO-BREAK SPACE}", " ")
    assert (
        words
        == "With 1 person at epsilon 0.5 a typical answer is off by ± 100 percentage points (1 person), which is noise."
    )


def test_every_verdict_has_a_word_and_a_sign_of_its_own_and_the_rule_names_all():
    assert list(verdicts.MARKS) == ["usable", "rough", "noise"]
    assert len(set(verdicts.MARKS.values())) == 3
    assert verdicts.marked("usable") == "✓ usable"
    assert all(f"{word} ({mark})" in verdicts.RULE for word, mark in verdicts.MARKS.items())


def test_errors_are_exact_and_without_weights():
    plain = workloads.prefix(16)
    weighted = workloads.union([plain, plain], weights=[1.0, 5.0])
    mechanism, counts = mechanisms.create("haar", 16, 1.0), np.arange(1, 17) * 10
    errors = verdicts.standard_errors(mechanism, weighted, counts)
    expected = analysis.standard_errors(mechanism, plain, counts) / counts.sum()
    np.testing.assert_allclose(errors, [*expected, *expected], atol=1e-8)
    with pytest.raises(ValueError, match=r"judged for at most 2,048 types; there are 4,096 here"):
        verdicts.standard_errors(mechanisms.create("haar", 4096, 1.0), workloads.prefix(4096), np.ones(4096))


def test_a_quarter_of_a_typical_answer_is_suggested():
    found = verdicts.suggest(workloads.histogram(50), np.full(50, 20))
    assert (found.typical, found.smallest) == pytest.approx((0.02, 0.02))
    assert (found.target, found.smallest_target) == (0.005, 0.01)


def test_answers_count_from_the_nearer_end():
    counts = np.array([0, 5, 5, 40, 40, 10])
    found = verdicts.suggest(workloads.prefix(6), counts)
    assert found.typical == pytest.approx(np.sqrt(np.mean(np.square([0.05, 0.1, 0.5, 0.1]))))
    assert found.smallest == pytest.approx(0.05)


@pytest.mark.parametrize("tail", [0, 600])
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


def test_nothing_is_suggested_where_everybody_is_alike():
    found = verdicts.suggest(workloads.histogram(4), np.array([0, 7, 0, 0]))
    assert (found.typical, found.smallest, found.smallest_target) == (None, None, None)
    assert verdicts.alpha_for(found.target) == analysis.DEFAULT_ALPHA


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40).filter(any))
def test_what_is_suggested_can_be_entered(counts):
    found = verdicts.suggest(workloads.histogram(len(counts)), np.array(counts))
    for target in (found.target, found.smallest_target):
        if target is not None:
            assert verdicts.LEAST_TARGET <= target <= verdicts.LARGEST_TARGET
            assert 0 < verdicts.alpha_for(target) <= 1
            assert f"{2 * target:.0e}" == f"{2 * target:.9e}".replace(".000000000", "")


def test_an_answer_is_judged_against_its_own_size():
    """Bars below 1 % with an error of 3 points were called usable, since running totals had moved the one target to 8 points."""
    workload, counts = (
        workloads.union([workloads.prefix(6), workloads.histogram(6)]),
        np.array([500, 300, 150, 40, 10, 0]),
    )
    limits = verdicts.limits(0.04, verdicts.sizes_of(workload, counts, np.arange(12)))
    assert limits.tolist() == pytest.approx([0.04] * 9 + [0.02, 0.005, 0])
    judged = verdicts.judge(np.full(12, 0.0328), limits)
    assert judged[:9].tolist() == ["usable"] * 9
    assert judged[9:].tolist() == ["rough", "noise", "noise"]


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(any),
    st.lists(st.floats(0, 1), min_size=8, max_size=8),
    st.floats(1e-4, 1),
)
def test_an_answer_smaller_than_twice_its_standard_error_is_never_usable(counts, errors, target):
    workload = workloads.union([workloads.prefix(4), workloads.histogram(4)])
    counts, errors = np.array(counts), np.array(errors)
    judged = verdicts.judge(errors, verdicts.limits(target, verdicts.sizes_of(workload, counts, np.arange(8))))
    smaller = workload.answers(counts) / counts.sum() < 2 * errors / (1 + 1e-6)
    assert not (smaller & (judged == "usable")).any()
