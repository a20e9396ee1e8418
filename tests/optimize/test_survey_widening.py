"""Patterns over other attributes than those asked about: what is exchanged."""

import math
from collections import Counter

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import workloads
from ldp_core.optimize.surveys.growing import columns_of, exchanged
from ldp_core.optimize.surveys.mixture import Mixture
from ldp_core.optimize.surveys.search import SurveySearch
from ldp_core.optimize.surveys.shapes import NumberedSets, Shape

EPSILON = 4.0
SIZES = (5, 2, 10, 7, 1, 5)


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
    assert count > 5


def test_values_stand_for_as_many_as_the_rest_or_one_more():
    sizes = (3, 7, 8)
    shape = Shape((3, 7), NumberedSets([(0, 1), (0, 2), (1, 2)], 3), EPSILON)
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


@pytest.mark.parametrize(("sizes", "most"), [((5, 5, 7, 10), 0.014), ((2, 5, 15, 16), 0.0098)])
def test_triples_spend_next_to_nothing_on_what_nobody_asks_for(sizes, most):
    survey = workloads.survey(sizes, ways=3)
    found = ldp.optimize.design(survey, epsilon=EPSILON, time_limit=None, max_rounds=10)
    assert found.objective / ldp.bounds.centred_svd(survey, EPSILON) - 1 < most
