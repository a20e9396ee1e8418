"""Scrambled patterns: what they tell, what they refuse, and how little they need."""

import math

import numpy as np
import pytest
from small_surveys import COUNTS, EPSILON, PAIRS, PATTERNS, SIZES, mask, scrambled
from written_out import EveryReport, check_errors

from ldp_core.mechanisms.surveys.pattern import Pattern
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.people import Counted, Records
from ldp_core.workloads import Custom, Group, Histogram, Parity, Survey, survey
from tests.refused import refused


@pytest.fixture(scope="module")
def mechanism():
    return scrambled()


def test_tables_of_one_estimate_agree(mechanism):
    estimate = mechanism.estimate(mechanism.simulate(COUNTS, np.random.default_rng(7)))
    assert estimate.unbiased
    assert (estimate.counts(), estimate.total) == (None, COUNTS.sum())
    one = estimate.table([2, 1]).reshape(4, 3)
    np.testing.assert_allclose(one.sum(axis=0), estimate.table([1]), atol=1e-9)
    np.testing.assert_allclose(estimate.table([0, 1]).reshape(2, 3).sum(axis=0), estimate.table([1]), atol=1e-9)
    assert one.sum() == pytest.approx(COUNTS.sum())
    truth = PAIRS.answers(Counted(COUNTS, SIZES))
    assert estimate.squared_error(PAIRS, COUNTS) == pytest.approx(np.sum((estimate.answers(PAIRS) - truth) ** 2))


def test_the_guarantee_is_that_of_the_coin_as_drawn(mechanism):
    audit = mechanism.audit()
    assert EPSILON - 1e-9 < audit.epsilon <= EPSILON
    first, second = (np.unravel_index(t, SIZES) for t in audit.worst_pair)
    assert first != second
    for epsilon in (0.001, 8.0, 20.0):
        other = scrambled(epsilon=epsilon)
        assert other.audit().epsilon <= epsilon
        assert other.audit().epsilon > epsilon - 1e-5
        assert (other.true_probability * 2.0**53 == np.floor(other.true_probability * 2.0**53)).all()


def test_an_attribute_of_one_value_costs_nothing():
    sizes = (2, 1, 3, 4)
    patterns = [Pattern(tuple(i + (i > 0) for i in one.attributes), one.cells) for one in PATTERNS[:4]]
    patterns.append(Pattern((0, 1, 2, 3), PATTERNS[4].cells.reshape(sizes)))
    mechanism = scrambled(sizes, patterns)
    assert all(1 not in members for members in mechanism.component_information)
    check_errors(EveryReport(mechanism), survey(sizes, 3), COUNTS, sharp=False)
    estimate = mechanism.estimate(mechanism.simulate(COUNTS, np.random.default_rng(0)))
    assert estimate.table([1]) == pytest.approx([COUNTS.sum()])
    np.testing.assert_allclose(estimate.table([1, 3]), estimate.table([3]))


def test_what_reports_do_not_tell_is_refused():
    first = Pattern((0, 1), mask((2, 3), (0, 0), (0, 1)))
    second = Pattern((1, 2), mask((3, 4), (0, 0), (0, 1), (1, 1), (2, 3)))
    mechanism = ScrambledPatterns("optimized", SIZES, 1.0, [first, second], [0.4, 0.6])
    assert mechanism.supports(survey(SIZES, 1)) is None
    assert "how attribute 1 and attribute 3 go together" in mechanism.supports(survey(SIZES, 2))
    assert mechanism.supports(survey(SIZES, [(0, 1), (1, 2)])) is None
    refused("say nothing about how", lambda: mechanism.variance_profile(survey(SIZES, 2)))
    refused("say nothing about how", lambda: mechanism.query_variances(survey(SIZES, 2), COUNTS))
    assert "sizes" in mechanism.supports(survey((3, 2, 4), 1))
    assert "types" in mechanism.supports(Histogram(25))
    assert mechanism.supports(Histogram(24)) is not None
    balanced = ScrambledPatterns("optimized", (2, 2), 1.0, [Pattern((0, 1), mask((2, 2), (0, 0), (1, 1)))], [1.0])
    assert "the values of attribute 1" in balanced.supports(survey((2, 2), 1))
    assert set(balanced.component_information) == {(0, 1)}


def test_parities_are_answered_from_their_component_alone():
    pattern = Pattern((0, 1), mask((2, 2), (0, 0), (1, 1)))
    mechanism = ScrambledPatterns("optimized", (2, 2, 2), 1.0, [pattern], [1.0])
    asked = Survey((2, 2, 2), [Group((0, 1), Custom([[1, -1, -1, 1]]))])
    chance = math.e / (1 + math.e)  # of the true parity: randomized response
    expected = 4 * chance * (1 - chance) / (2 * chance - 1) ** 2
    assert mechanism.supports(asked) is None
    np.testing.assert_allclose(mechanism.variance_profile(asked), [expected])
    np.testing.assert_allclose(mechanism.query_variances(asked, np.full(8, 5)), [40 * expected])
    one_sided = Survey((2, 2, 2), [Group((0, 1), Custom([[1, 0, 0, 1]]))])  # all people, and the parity
    assert not one_sided.symmetric
    np.testing.assert_allclose(mechanism.variance_profile(one_sided), np.full(8, expected / 4))
    assert "the values of attribute 1" in mechanism.supports(Survey((2, 2, 2), [Group((0, 1), Parity(2))]))
    reports = mechanism.simulate(np.array([0, 0, 0, 0, 10**6, 0, 0, 0]), np.random.default_rng(0))
    assert abs(mechanism.estimate(reports).answers(asked)[0] + 10**6) < 5 * math.sqrt(10**6 * expected)


def test_nothing_grows_with_the_number_of_types():
    sizes = [20] * 199 + [1]
    chain = [(i, i + 1) for i in range(0, 198, 2)]
    cells = np.indices((20, 20)).sum(axis=0) % 20 < 5
    patterns = [Pattern(one, cells) for one in chain] + [Pattern((198,), np.arange(20) < 5)]
    patterns += [Pattern((i,), np.arange(20) < 5) for i in range(198)]
    mechanism = ScrambledPatterns("optimized", sizes, 2.0, patterns, np.full(298, 1 / 298))
    assert mechanism.n == 20**199
    assert "10²⁵⁸ types" in repr(mechanism)
    assert mechanism.audit().epsilon <= 2
    asked = survey(sizes, chain)
    records = np.random.default_rng(0).integers(0, sizes, size=(3000, 200))
    raw = mechanism.privatize(records, np.random.default_rng(1))
    assert raw.nbytes < 3000 * 100
    total = mechanism.variance_profile(asked)[0] * 3000
    assert mechanism.query_variances(asked, records).sum() == pytest.approx(total)
    error = mechanism.estimate(mechanism.aggregate(raw)).squared_error(asked, Records(records, sizes))
    assert abs(error / total - 1) < 0.2


def test_bad_input_is_refused(mechanism):
    refused("probability each", ScrambledPatterns, "optimized", SIZES, 1.0, PATTERNS, [0.25] * 4)
    refused("sum to 1", ScrambledPatterns, "optimized", SIZES, 1.0, PATTERNS, [0.4] * 5)
    refused("does not fit", ScrambledPatterns, "optimized", (2, 3, 5), 1.0, PATTERNS, [0.2] * 5)
    refused("lie outside", mechanism.privatize, np.array([[0, 3, 0]]), np.random.default_rng(0))
    refused("must hold", mechanism.aggregate, np.zeros((1, 3), dtype=int))
    good = mechanism.privatize(np.zeros((1, 3), dtype=int), np.random.default_rng(0))
    refused("from 0 to 4", mechanism.aggregate, np.where(np.arange(10) == 0, 5, good))
    bad = good.copy()
    bad[0, 1] = bad[0, 2]
    refused("permutation", mechanism.aggregate, bad)
    other = scrambled(epsilon=1.0)
    refused("another mechanism", lambda: mechanism.estimate(other.aggregate(good)))
