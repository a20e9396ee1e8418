"""People known by counts of all types, by records, or as expected: the same tables from each, against counting one by one."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import cauchy, dirichlet

from ldp_core.data.population import SHAPES, expected_counts, expected_people
from ldp_core.limits import MOST_TABLE_CELLS
from ldp_core.people import Counted, Drawn, Records, check_cells, dense, people_of, users_of
from tests.refused import refused


@st.composite
def somebody(draw):
    """(sizes, codes, weights, places)."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=30))
    weights = draw(st.none() | st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    places = draw(st.permutations(range(len(sizes))).flatmap(lambda p: st.integers(0, len(p)).map(lambda k: p[:k])))
    return tuple(sizes), np.array(rows), None if weights is None else np.array(weights), places


def by_hand(sizes, codes, weights, places):
    """Users by the values of the attributes at ``places``, counted one person at a time."""
    found = dict.fromkeys(itertools.product(*(range(sizes[i]) for i in places)), 0)
    for row, times in zip(codes.tolist(), [1] * len(codes) if weights is None else weights.tolist(), strict=True):
        found[tuple(row[i] for i in places)] += times
    return list(found.values())


@given(somebody())
def test_tables_of_records_and_of_counts_are_those_counted_by_hand(who):
    sizes, codes, weights, places = who
    expected = by_hand(sizes, codes, weights, places)
    counts = np.array(by_hand(sizes, codes, weights, range(len(sizes))))
    for people in (Records(codes, sizes, weights), Counted(counts, sizes)):
        assert people.table(places).tolist() == expected
        assert people.table(places).tolist() == expected  # kept
        assert people.users == users_of(people) == sum(expected)
        everybody = np.concatenate([*people.chunks(), np.empty((0, len(sizes)), dtype=int)])
        assert len(everybody) == people.users
        assert by_hand(sizes, everybody, None, places) == expected


@given(somebody())
def test_people_are_equal_where_their_digests_are(who):
    sizes, codes, weights, _ = who
    first, again = (
        Records(codes, sizes, weights),
        people_of(codes, sizes) if weights is None else Records(codes, sizes, weights),
    )
    assert first.digest == again.digest
    other = codes.copy()
    other[0, 0] = (other[0, 0] + 1) % sizes[0]
    assert (Records(other, sizes, weights).digest == first.digest) == (sizes[0] == 1)
    different, largest = first.different
    each = [count for count in by_hand(sizes, codes, weights, range(len(sizes))) if count]
    assert (different, largest) == (len(each), max(each, default=0))


@pytest.mark.parametrize("shape", SHAPES)
def test_expected_people_of_many_types_have_the_shape_in_every_attribute(shape):
    sizes, users = (300, 400, 20, 2), 5_000
    found = expected_people(shape, sizes, users, **SHAPES[shape])
    assert isinstance(found, Drawn)
    assert found.users == users
    assert math.prod(sizes) > MOST_TABLE_CELLS
    for i, size in enumerate(sizes):
        parameters = {**SHAPES[shape]}
        if "draw" in parameters:
            parameters["draw"] += i
        assert np.array_equal(found.table([i]), expected_counts(shape, size, users, **parameters))
    pair = found.table([3, 2]).reshape(2, 20)
    assert pair.sum() == users
    assert np.array_equal(pair.sum(axis=0), found.table([2]))
    everybody = np.concatenate(list(found.chunks()))
    assert np.array_equal(np.bincount(everybody[:, 3] * 20 + everybody[:, 2], minlength=40), pair.ravel())
    assert expected_people(shape, sizes, users, **SHAPES[shape]).digest == found.digest
    refused("too many to have a number each", dense, found)


def test_too_many_expected_people_have_expected_tables_and_are_not_drawn():
    found = expected_people("uniform", (2,) * 30, 10**9)
    assert found.table([0, 5]).tolist() == [2.5e8] * 4
    refused("too many to simulate one by one", lambda: next(found.chunks()))


def test_too_large_tables_are_refused_with_what_to_coarsen():
    people = Records(np.zeros((3, 2), dtype=int), (2048, 1024))
    refused("attribute 1 x attribute 2 has 2,048 x 1,024 = 2,097,152 cells", people.table, [0, 1])
    refused("attribute 1 has 2,097,152 cells", check_cells, (2**21, 2), [0])
    refused("coarser values for city", check_cells, (2048, 1024), [1, 0], ["city", "job"])


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (np.zeros((3, 3), dtype=int), "a column for each of the 2"),
        (np.zeros((3, 2)), r"whole-number .* got shape \(3, 2\) of float64"),
        (np.zeros(5, dtype=int), r"each of the 4 types; got shape \(5,\)\. Records have a row per person"),
        (np.array([[0, 2]]), "attribute 2 run from 0 to 1"),
        (np.array([[-1, 0]]), "attribute 1 run from 0 to 1"),
    ],
)
def test_records_outside_their_attributes_are_refused(codes, said):
    refused(said, people_of, codes, (2, 2))


@pytest.mark.parametrize("kind", ["uint8", "int16", "uint64"])
def test_records_of_every_kind_of_whole_numbers_are_counted_alike(kind):
    codes = np.array([[0, 2], [1, 1], [1, 1]])
    assert Records(codes.astype(kind), (2, 3)).table([0, 1]).tolist() == [0, 0, 1, 0, 2, 0]


# Populations of the papers, beside the distributions they are named for


@pytest.mark.parametrize("centre", [0.001, 0.1, 0.4, 0.95])
def test_a_cauchy_population_is_the_distribution_cut_to_the_types(centre):
    n, users = 500, 10**9
    counts = expected_counts("cauchy", n, users, centre=centre)
    below = cauchy(centre * n, n / 10).cdf(np.arange(n + 1))
    np.testing.assert_allclose(counts, users * np.diff(below) / (below[-1] - below[0]), atol=2)
    near = np.abs(np.arange(n) + 0.5 - centre * n) <= n / 10 + 0.5
    assert counts[near].sum() >= users / 2


@pytest.mark.parametrize("concentration", [0.01, 0.5, 1.0, 40.0, 1000.0])
def test_a_dirichlet_population_has_the_moments_of_its_distribution(concentration):
    n, users, draws = 4, 10**6, 400
    shares = np.array(
        [
            expected_counts("dirichlet", n, users, concentration=concentration, draw=draw) / users
            for draw in range(draws)
        ]
    )
    law = dirichlet(np.full(n, concentration))
    off = (shares.mean(axis=0) - law.mean()) / np.sqrt(law.var() / draws)
    assert np.abs(off).max() < 4.5
    np.testing.assert_allclose(shares.var(axis=0), law.var(), rtol=0.35)
    again = expected_counts("dirichlet", n, users, concentration=concentration, draw=3) / users
    np.testing.assert_array_equal(again, shares[3])


@pytest.mark.parametrize(
    ("shape", "parameters", "sentence"),
    [
        ("cauchy", {"centre": 0.0}, "choose a number between 0 and 1"),
        ("dirichlet", {"concentration": 0.001}, "choose a number from 0.01 to 1000"),
        ("dirichlet", {"draw": 1.5}, "choose a whole number from 0 up"),
    ],
)
def test_shapes_refuse_bad_parameters(shape, parameters, sentence):
    refused(sentence, expected_counts, shape, 4, 10, **parameters)
