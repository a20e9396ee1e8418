"""Reports about tables that share attributes: what they tell together is the best linear unbiased estimate, and never worse than apart."""

import math

import numpy as np
import pytest
from written_out import EveryReport, cells_of, check_errors

from ldp_core import anova
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.surveys.combined import Combined, Strategies, together
from ldp_core.mechanisms.surveys.split_survey import GroupTable, SplitSurvey
from ldp_core.optimize.surveys.split_design import TableQuestions
from ldp_core.run import Budget
from ldp_core.workloads import Custom, Group, Histogram, Prefix, Survey, survey

SIZES, EPSILON = (2, 3, 4), 0.7
SETS = {"shared": [(0, 1), (1, 2)], "ring": [(0, 1), (0, 2), (1, 2)], "nested": [(0, 1, 2), (1, 2)]}


def strategy(cells, seed):
    """A strategy that treats all types differently."""
    rng = np.random.default_rng(seed)
    Q = np.exp(EPSILON * rng.random((3 * cells, cells)) / 2)
    Q *= rng.random((len(Q), 1))
    return Q / Q.sum(axis=0)


def split_design(sets, shares=(1.0, 3.0, 2.0), strategies=None):
    given = strategies or [strategy(math.prod(SIZES[i] for i in one), k) for k, one in enumerate(sets)]
    own = [GroupTable(one, ExplicitMechanism("made", Q, EPSILON)) for one, Q in zip(sets, given, strict=True)]
    return SplitSurvey("made", SIZES, EPSILON, own, None, shares[: len(sets)])


def spanned(sets):
    """(24, 24) the projection on the functions that tables of ``sets`` hold, without the mean."""
    found = np.zeros((24, 24))
    for members in {part for one in sets for part in anova.subsets(one) if part}:
        one = np.ones((1, 1))
        for i, size in enumerate(SIZES):
            mean = np.full((size, size), 1 / size)
            one = np.kron(one, np.eye(size) - mean if i in members else mean)
        found += one
    return found


def whole(mechanism):
    """(reports, 24) the probabilities of all reports for all types."""
    return np.concatenate(
        [
            share * one.mechanism.strategy[:, cells_of(SIZES, one.attributes)]
            for one, share in zip(mechanism.tables, mechanism.shares, strict=True)
        ]
    )


@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_combined_tables_give_the_best_linear_unbiased_estimate(sets):
    """The least mean square of all unbiased estimates, by least squares over every report."""
    mechanism, rows = split_design(sets), np.random.default_rng(9).standard_normal((5, 24)) @ spanned(sets)
    (one,) = mechanism.combined
    values = list(one.added(rows, (0, 1, 2)))
    parts = [
        share * (value @ own.mechanism.strategy)[:, cells_of(SIZES, own.attributes)]
        for own, value, share in zip(mechanism.tables, values, mechanism.shares, strict=True)
    ]
    np.testing.assert_allclose(sum(parts), rows, atol=1e-9)
    Q = whole(mechanism)
    D = Q.sum(axis=1)
    found = (np.concatenate(values, axis=1) ** 2 @ D) / 24
    scaled = Q / np.sqrt(D)[:, None]  # the least |x|^2 over scaled' x = r
    least = (np.linalg.lstsq(scaled.T, rows.T, rcond=None)[0] ** 2).sum(axis=0) / 24
    np.testing.assert_allclose(found, least, rtol=1e-8)


ASKED = {
    "pairs": survey(SIZES, [(0, 1), (1, 2)]),
    "mixed": Survey(SIZES, [Group((0, 1), Prefix(6)), Group((1, 2), Prefix(12), 0.5), Group((2,), Prefix(4))]),
    "across": Survey(SIZES, [Group((0,), Custom([[0.0, 1.0]])), Group((1, 2), Custom(np.eye(12)[:3]))]),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("sets", [*SETS.values(), [(0,), (1, 2)]], ids=[*SETS, "apart"])
def test_it_is_never_worse_than_dividing(sets, asked, lower):
    if sets == [(0,), (1, 2)]:
        asked = Survey(SIZES, [Group((0,), Histogram(2)), *ASKED["across"].groups])
    best = split_design(sets).average_of(asked)
    lower(_MOST_DIMENSIONS=0)
    divided = split_design(sets)
    assert len(divided.combined) == len(sets)
    if sets == [(0,), (1, 2)]:
        assert best == pytest.approx(divided.average_of(asked), rel=1e-12)
    else:
        assert best < 0.999 * divided.average_of(asked)


def merging(cells, merged):
    """A strategy that distinguishes types of ``cells`` only as far as their numbers ``merged``
    (cells,) differ."""
    return strategy(max(merged) + 1, cells)[:, merged]


def test_combined_reports_tell_more_and_say_what_they_do_not_tell():
    first = np.array([0, 1, 1, 2, 3, 3])  # of the second attribute, the first value
    second = np.repeat([0, 1, 1], 4) * 4 + np.tile(np.arange(4), 3)
    second[4:] = np.where(np.arange(8) < 4, 4, 5)  # and here the second and the third of it, but not the last attribute
    together_ = split_design([(0, 1), (1, 2)], strategies=[merging(6, first), merging(12, second)])
    assert (1,) in together_.inflation
    assert (2,) not in together_.inflation
    assert (1, 2) not in together_.inflation
    assert together_.knows((1,))
    assert not split_design([(0, 1)], strategies=[merging(6, first)]).knows((1,))
    assert "say nothing about" in together_.supports(ASKED["pairs"])
    counts = np.random.default_rng(0).integers(0, 9, 24)
    check_errors(EveryReport(together_), Survey(SIZES, [Group((1,), Prefix(3))]), counts, sharp=False)


def test_tables_that_attributes_of_one_value_tie_are_not_tied():
    found = together((3, 1, 4, 2), [(0, 1), (1, 2), (2, 3)])
    assert [one.numbers for one in found] == [(0,), (1, 2)]
    assert sum(one.dimensions for one in found) == 2 + 3 + 1 + 3


def test_shares_are_improved_until_no_design_gains_more_than_another(no_hurry):
    asked = Survey(SIZES, [*survey(SIZES, 2).groups, *ASKED["mixed"].groups])
    given = TableQuestions(asked, ((0, 1), (1, 2)))
    own, costs = [strategy(6, 1), strategy(12, 2)], np.array([1.0, 50.0, 30.0])
    (tables,) = given.together
    gram = tables.gram(asked)

    def cost(shares):
        return Combined(Strategies(tables, own), shares[:2]).cost(gram) + costs[2] / shares[2]

    start = np.sqrt(costs) / np.sqrt(costs).sum()
    first = given.shared(own, np.sqrt(costs), costs[2:], Budget(0))
    assert first.cost == pytest.approx(cost(start))
    np.testing.assert_allclose(first.shares, start)
    found = given.shared(own, start, costs[2:], Budget(None))
    assert found.cost == pytest.approx(cost(found.shares))
    assert found.shares.sum() == pytest.approx(1)
    grid = [np.array([a, b, 1 - a - b]) for a in np.arange(0.02, 1, 0.02) for b in np.arange(0.02, 0.99 - a, 0.02)]
    best = min(map(cost, grid))
    assert found.cost < 1.003 * best
    assert first.cost > 1.02 * found.cost
