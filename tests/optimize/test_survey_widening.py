"""Patterns over other attributes than those asked about: what is exchanged, and what climbs by groups of values."""

import math
from collections import Counter

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import workloads
from ldp_core.mechanisms.surveys.pattern import energies
from ldp_core.optimize.surveys import coarse
from ldp_core.optimize.surveys.growing import columns_of, exchanged
from ldp_core.optimize.surveys.mixture import Mixture
from ldp_core.optimize.surveys.search import SurveySearch
from ldp_core.optimize.surveys.shapes import Asked, Shape
from ldp_core.privacy import odds

EPSILON = 4.0
SIZES = (5, 2, 10, 7, 1, 5)


def worth_of(cells, weights):
    """J from the energies of the whole table, sets numbered as in `energies`."""
    return float(energies(cells[None], EPSILON)[0] @ weights)


@pytest.mark.parametrize("seed", range(4))
def test_what_climbs_by_groups_is_worth_what_its_whole_table_is(seed):
    rng = np.random.default_rng(seed)
    groupings = coarse.drawn(60, 2, SIZES, 800, rng)
    weights = [np.append(0.0, rng.random(2 ** len(members) - 1)) for members, _ in groupings]
    worths = dict(zip((members for members, _ in groupings), weights, strict=True))
    weights = [worths[members] for members, _ in groupings]
    level = 0.5 * math.sinh(EPSILON / 2) ** 2
    share, difference = 1 / (odds(EPSILON) + 1), odds(EPSILON) - 1
    found = coarse.climbed(groupings, weights, difference, share, level, rng)
    climbed = [(members, cells.reshape(shape)) for shape, some in found.items() for members, cells in some]
    assert climbed
    for members, cells in climbed:
        assert cells.shape == tuple(SIZES[i] for i in members)
        assert worth_of(cells, worths[members]) > level
    assert len(climbed) < len(groupings)


@pytest.mark.parametrize("seed", range(6))
def test_no_cell_of_groups_and_no_exchange_of_two_improves_what_climbed(seed):
    rng = np.random.default_rng(seed)
    (members, groups), *_ = coarse.drawn(1, 2, (4, 5, 7), 140, rng)
    weights = np.append(0.0, rng.random(2 ** len(members) - 1))
    found = coarse.climbed([(members, groups)], [weights], odds(EPSILON) - 1, 0.05, 0.0, rng)
    ((shape, [(_, cells)]),) = found.items()
    reached = worth_of(cells.reshape(shape), weights)
    # Every cell of groups by one of its cells; what it holds is what its other cells hold.
    label = np.zeros(shape, dtype=int)
    for axis, sizes in enumerate(groups):
        group = np.repeat(np.arange(len(sizes)), sizes)
        label = label * len(sizes) + group.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    label = label.ravel()
    assert all(len(set(cells[label == one].tolist())) == 1 for one in set(label.tolist()))
    for first in set(label.tolist()):
        for second in set(label.tolist()):
            changed = cells ^ (label == first) ^ ((label == second) & (first != second))
            if changed.any() and not changed.all():
                assert worth_of(changed.reshape(shape), weights) <= reached * (1 + 1e-8)


def test_groupings_are_of_all_values_of_attributes_that_have_some():
    rng = np.random.default_rng(0)
    groupings = coarse.drawn(500, 3, SIZES, 3500, rng)
    assert len(groupings) > 100
    for members, groups in groupings:
        assert len(set(members)) == len(members)
        assert list(members) == sorted(members, key=lambda i: (SIZES[i], i))
        assert [sum(sizes) for sizes in groups] == [SIZES[i] for i in members]
        assert all(min(sizes) >= 1 and 2 <= len(sizes) <= 3 for sizes in groups)
        assert math.prod(SIZES[i] for i in members) <= 3500
        assert math.prod(map(len, groups)) <= coarse.MOST_CELLS
    assert {len(members) for members, _ in groupings} == {3, 4, 5}
    assert coarse.drawn(10, 1, (1, 7), 3500, rng) == []


def test_exchanged_columns_hold_the_values_of_the_attribute_before():
    search = SurveySearch(workloads.survey(SIZES, ways=2), EPSILON, np.random.default_rng(0))
    for _ in range(3):
        search.round()
    mixture = search._mixture
    known = {
        tuple(shape.attributes[place].tolist()): shape.patterns[pattern]
        for shape, place, pattern in columns_of(mixture)
    }
    found = exchanged(mixture, 200, SIZES, 800, np.random.default_rng(1))
    count = 0
    for shape, starts in found.items():
        assert math.prod(shape) <= 800
        for members, cells in starts:
            count += 1
            assert list(members) == sorted(set(members), key=lambda i: (SIZES[i], i))
            assert shape == tuple(SIZES[i] for i in members)
            assert cells.any()
            assert not cells.all()
            assert any(len(set(members) - set(before)) == 1 and len(before) == len(members) for before in known)
    assert count > 10


def test_values_stand_for_as_many_as_the_rest_or_one_more():
    sizes = (3, 7, 8)
    shape = Shape((3, 7), Asked([(0, 1), (0, 2), (1, 2)], 3), EPSILON)
    rows = np.array([[1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 0]], dtype=bool)
    shape.add_columns(shape.add_attributes([(0, 1)]), shape.add_patterns(rows.ravel()[None]))
    shape.shares = np.ones(1)
    rng, seen = np.random.default_rng(1), set()
    for _ in range(20):
        found = exchanged(Mixture([shape], np.ones(3)), 1, sizes, 64, rng)
        for table_sizes, [(members, cells)] in found.items():
            seen.add(members)
            table = cells.reshape(table_sizes)
            if members == (1, 2):  # the last attribute has the place of the first: 8 values for 3
                alike = Counter(map(tuple, table.T.tolist()))
                assert sorted(alike.values()) == [2, 3, 3]
                assert set(alike) == set(map(tuple, rows.tolist()))
            else:  # and that of the second: every value once, and one of them twice
                columns = Counter(map(tuple, table.T.tolist()))
                known = Counter(map(tuple, rows.T.tolist()))
                assert (columns - known).total() == 1
                assert not known - columns
    assert seen == {(0, 2), (1, 2)}


@pytest.mark.parametrize(("sizes", "most"), [((5, 5, 7, 10), 0.0125), ((2, 5, 15, 16), 0.0065)])
def test_triples_spend_next_to_nothing_on_what_nobody_asks_for(sizes, most):
    """Exchanges of single cells end at 0.0144 and 0.0094."""
    survey = workloads.survey(sizes, ways=3)
    found = ldp.optimize.design(survey, epsilon=EPSILON, time_limit=None, max_rounds=10)
    assert found.objective / ldp.bounds.centred_svd(survey, EPSILON) - 1 < most
