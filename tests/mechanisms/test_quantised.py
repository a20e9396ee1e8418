"""Exact tables, checked in whole numbers against e^epsilon as the decimal module has it."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, optimize, workloads
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.mechanisms.quantised import largest_ratio, quantised, rounded
from ldp_core.optimize import SearchLimits
from ldp_core.optimize.enumeration import exact as exact_optimum
from ldp_core.optimize.strategy import from_strategy, lost_by_rounding
from ldp_core.privacy import exponential_below, fitted_exp_epsilon, in_steps, least_meant
from tests.exact import e_to_the
from tests.refused import refused

WHOLE = 2**53


def steps_of(table):
    """The table as rows of Python's whole numbers; fails where an entry is none."""
    exact = [[Fraction(entry) * WHOLE for entry in row] for row in table.tolist()]
    assert all(entry.denominator == 1 for row in exact for entry in row)
    return [[int(entry) for entry in row] for row in exact]


def is_exact(table, epsilon):
    """True if columns sum to 1 and rows keep e^epsilon of the decimal text, in whole and rational
    numbers."""
    rows = steps_of(table)
    sums = {sum(column) for column in zip(*rows, strict=True)}
    limit = e_to_the(epsilon)[0]
    return sums == {WHOLE} and all(min(row) > 0 and max(row) <= limit * min(row) for row in rows)


def two_valued(m, n, epsilon, rng, ratio=None):
    """(2 m, n) rows of random weights with ratios of ``ratio``, just below e^epsilon unless it is given; each with its opposite, so
    that all columns have the same sum."""
    ratio = ratio or fitted_exp_epsilon(epsilon)
    high, weights = rng.random((m, n)) < rng.random(), rng.exponential(size=(m, 1)) + 1e-3
    rows = np.vstack([np.where(high, ratio, 1.0) * weights, np.where(high, 1.0, ratio) * weights])
    return rows / rows[:, :1].sum()


epsilons = st.one_of(st.floats(0.001, 20).map(repr), st.sampled_from(["0.001", "0.1", "1", "1.0", "0.3", "7.25", "20"]))


# --- e^epsilon from below --------------------------------------------------------------------------------------------


@given(epsilons)
def test_the_bound_on_e_is_below_it_and_close(text):
    low, high = e_to_the(text)
    for epsilon in (text, Decimal(text), Fraction(text)):
        found = exponential_below(epsilon)
        assert high * (1 - Fraction(1, 2**80)) < found <= low


@given(st.floats(0.001, 20), st.integers(-(10**6), 10**6))
def test_a_float_means_no_more_than_any_text_read_as_it(epsilon, off):
    assert least_meant(repr(epsilon)) == Fraction(repr(epsilon))
    assert Fraction(epsilon) * (1 - Fraction(1, 2**52)) < least_meant(epsilon) < Fraction(epsilon)
    text = str(Decimal(epsilon) + Decimal(off) * Decimal(math.ulp(epsilon)) / Decimal(10**6))
    if float(text) == epsilon:
        assert least_meant(epsilon) <= Fraction(text)


@pytest.mark.parametrize("epsilon", ["", "one", "1/0", math.nan])
def test_what_is_no_number_is_refused(epsilon):
    refused("Epsilon must be a decimal number", exponential_below, epsilon)


@pytest.mark.parametrize("epsilon", ["-1", "20.5"])
def test_what_is_out_of_range_is_refused(epsilon):
    refused("between 0 and 20", exponential_below, epsilon)


# --- tables ----------------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(st.integers(1, 40), st.integers(2, 20), epsilons, st.integers(0, 2**32))
def test_tables_are_exact_and_close_and_stay_as_they_are(m, n, epsilon, seed):
    rng = np.random.default_rng(seed)
    strategy = two_valued(m, n, float(epsilon), rng)
    table = quantised(strategy, epsilon)
    assert is_exact(table, epsilon)
    assert np.abs(table - strategy).max() <= (2 * m + 2) * 2.0**-53
    assert np.array_equal(quantised(table, epsilon), table)
    by_float = quantised(strategy, float(epsilon))
    assert is_exact(by_float, epsilon)
    audited = ExplicitMechanism("any", strategy, float(epsilon))
    assert np.array_equal(audited.strategy, by_float)
    assert audited.audit().epsilon <= float(epsilon)


@settings(max_examples=100)
@given(st.integers(1, 12), st.integers(2, 12), st.floats(0.001, 20), st.integers(0, 2**32), st.floats(-9e-12, 9e-12))
def test_matrices_at_the_very_limit_are_mended(m, n, epsilon, seed, above):
    """Somebody's own: ratios of e^epsilon as floats have it, or above by rounding."""
    strategy = two_valued(m, n, epsilon, np.random.default_rng(seed), math.exp(epsilon) * (1 + above))
    table = quantised(strategy, epsilon)
    assert is_exact(table, repr(epsilon))
    np.testing.assert_allclose(table, strategy, rtol=1e-10, atol=2 * (m + 1) * 2.0**-53)


@given(st.integers(2, 30), st.integers(2, 12), st.floats(0.001, 20), st.integers(0, 2**32))
def test_any_matrix_within_its_epsilon_becomes_a_table(m, n, epsilon, seed):
    """Ratios anywhere between 1 and e^epsilon, columns that miss 1 by as much as is allowed."""
    rng = np.random.default_rng(seed)
    rows = rng.exponential(size=(m, 1)) * rng.uniform(1, math.exp(epsilon / 2), (m, n))
    strategy = rows / rows.sum(axis=0)
    epsilon = repr(max(0.001, float(np.log((strategy.max(axis=1) / strategy.min(axis=1)).max())) * (1 + 1e-14)))
    table = quantised(strategy * (1 + rng.uniform(-9e-10, 9e-10, n)), str(Decimal(epsilon) + Decimal("1e-8")))
    assert is_exact(table, str(Decimal(epsilon) + Decimal("1e-8")))
    np.testing.assert_allclose(table, strategy, rtol=1e-8, atol=(m + 1) * 2.0**-53)


def test_a_step_more_in_a_column_is_noticed():
    table = quantised(two_valued(5, 4, 1.0, np.random.default_rng(0)), "1")
    changed = table.copy()
    changed[3, 2] += 2.0**-53
    assert not is_exact(changed, "1")
    assert not np.array_equal(quantised(changed, "1"), changed)
    assert is_exact(quantised(changed, "1"), "1")


def test_a_step_too_far_in_a_row_is_noticed():
    """Columns sum to 1, and one row has a step more than e^epsilon allows."""
    low = 2**40
    most = math.floor(exponential_below("1") * low)
    for high, kept in ((most, True), (most + 1, False)):
        units = np.array([[low, high], [2**52 - low, 2**52 - high], [2**52, 2**52]])
        table = units * 2.0**-53
        assert is_exact(table, "1") == kept
        assert np.array_equal(quantised(table, "1"), table) == kept
        assert is_exact(quantised(table, "1"), "1")


@pytest.mark.parametrize(
    "strategy", [[[0.5, 0.0], [0.5, 1.0]], [[0.2, 0.8], [0.8, 0.2]], [[1e-12, 1e-3], [1.0, 0.999]]]
)
def test_what_breaks_epsilon_is_refused_and_rounded_as_it_is(strategy):
    Q = np.array(strategy)
    Q = Q / Q.sum(axis=0)
    refused(r"more than e\^1 times as likely", quantised, Q, "1")
    table = rounded(Q)
    rows = steps_of(table)
    assert [sum(column) for column in zip(*rows, strict=True)] == [WHOLE, WHOLE]
    assert ((table == 0) == (Q == 0)).all()
    np.testing.assert_allclose(table, Q, rtol=1e-12, atol=2.0**-52)
    mechanism = ExplicitMechanism("brought", Q, 1.0)
    assert np.array_equal(mechanism.strategy, table)
    ratio, _ = largest_ratio(table)
    assert mechanism.audit().epsilon == pytest.approx(math.inf if ratio is None else math.log(ratio))
    assert mechanism.audit().epsilon > 1


def test_what_is_too_small_for_steps_is_refused():
    """There are too many reports of next to no probability to give each a step."""
    strategy = np.full((4, 2), 1e-300)
    strategy[0], strategy[1] = (1 - 2.0**-53, 2.0**-53), (2.0**-53, 1 - 2.0**-53)
    refused("as likely for one type", quantised, strategy, "20")
    assert rounded(strategy).min() == 2.0**-53


def test_outputs_are_drawn_with_exactly_the_probabilities_of_the_table():
    """The first of 2^53 equally likely numbers and the last one that send each output, whichever type it is."""
    mechanism = ExplicitMechanism("any", two_valued(6, 5, 3.0, np.random.default_rng(1)), 3.0)
    rows = steps_of(mechanism.strategy)

    class Numbers(np.random.Generator):
        def random(self, size):
            assert len(self.numbers) == size
            return np.array(self.numbers) * 2.0**-53

    rng = Numbers(np.random.PCG64(0))
    for u in range(mechanism.n):
        ends = np.cumsum([row[u] for row in rows]).tolist()
        firsts = [0, *ends[:-1]]
        rng.numbers = firsts + [end - 1 for end in ends]
        drawn = mechanism.privatize(np.full(2 * len(rows), u), rng)
        assert drawn.tolist() == [*range(len(rows)), *range(len(rows))]


# --- what the library builds -----------------------------------------------------------------------------------------


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("maker", [workloads.histogram, workloads.prefix, workloads.all_range])
def test_next_to_no_accuracy_is_lost(maker, epsilon):
    workload = maker(16)
    strategy = optimize.projected_gradient(
        workload, epsilon, limits=SearchLimits(time_limit=None, max_rounds=60)
    ).strategy
    assert abs(lost_by_rounding(strategy, quantised(strategy, epsilon), workload)) < 1e-4
    found = optimize.design(workload, epsilon, time_limit=None, max_rounds=4)
    assert abs(lost_by_rounding(found.strategy, quantised(found.strategy, epsilon), workload)) < 1e-4
    built = from_strategy("optimized", found.strategy, epsilon, {})
    assert analysis.objective(built, workload) == pytest.approx(found.objective, rel=1e-4)
    small = maker(6)
    best = exact_optimum(small, epsilon).strategy
    assert abs(lost_by_rounding(best, quantised(best, epsilon), small)) < 1e-4


# --- what is drawn whatever the person is like, and other probabilities -----------------------------------------------


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=200))
def test_shares_are_in_steps(shares):
    given_ones = np.array(shares) / math.fsum(shares)
    found = in_steps(given_ones)
    assert sum(steps_of(found[None])[0]) == WHOLE
    np.testing.assert_allclose(found, given_ones, rtol=1e-6, atol=200 * 2.0**-53)
    assert np.array_equal(in_steps(found), found)
