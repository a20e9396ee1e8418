"""Trees over two attributes, against matrices written out from their definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_trees import level_matrices

from ldp_core import library, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.mechanisms.trees.rectangles import attribute_sizes
from ldp_core.mechanisms.trees.tables import Grid, Tree
from ldp_core.workloads import OnAttributes, PrefixPart, RangesPart, over_attributes
from tests.refused import refused

SMALL = [((4, 4), 4), ((4, 8), 4), ((8, 8), 4), ((3, 7), 2), ((2, 5), 4)]


def built(shape, branching=4, oracle="oue", epsilon=1.0):
    parameters = {"shape": shape, "branching": branching, "oracle": oracle}
    return mechanisms.create("hierarchical_2d", math.prod(shape), epsilon, **parameters)


def rectangles(shape):
    return workloads.product([workloads.all_range(size) for size in shape])


def levels_of(n, branching):
    """(nodes, n) of each level of a tree, the root last: which values a node covers."""
    return [*level_matrices(n, branching), np.ones((1, n))]


def tables_of(shape, branching):
    """(cells, n) of each table, that of the two roots left out."""
    one, other = (levels_of(size, branching) for size in shape)
    return [np.kron(a, b) for a in one for b in other][:-1]


# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "branching"), SMALL)
def test_tables_and_sums_follow_the_definition(shape, branching):
    grid, tables = Grid(Tree(shape[0], branching), Tree(shape[1], branching)), tables_of(shape, branching)
    counts = np.random.default_rng(0).normal(size=(2, grid.n))
    assert grid.sizes == tuple(map(len, tables))
    for level, (found, table) in enumerate(zip(grid.aggregate(counts), tables, strict=True)):
        assert found == pytest.approx(counts @ table.T)
        assert np.array_equal(grid.nodes_of(level, np.arange(grid.n)), table.argmax(axis=0))


@settings(max_examples=60)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_consistency_is_least_squares_with_the_sum_fixed(rows, columns, branching, seed):
    grid, rng = Grid(Tree(rows, branching), Tree(columns, branching)), np.random.default_rng(seed)
    cells, T = [rng.normal(size=(2, size)) for size in grid.sizes], np.vstack(tables_of((rows, columns), branching))
    bordered = np.block([[T.T @ T, np.ones((grid.n, 1))], [np.ones((1, grid.n)), np.zeros((1, 1))]])
    seen = np.hstack([np.hstack(cells) @ T, np.full((2, 1), 17.0)])
    found = grid.consistent(cells, 17.0)
    assert found == pytest.approx(np.linalg.solve(bordered, seen.T)[:-1].T, abs=1e-8)
    some = rng.normal(size=(3, grid.n))
    through = sum(w @ cell[0] for w, cell in zip(grid.shares(some), cells, strict=True))
    assert through == pytest.approx(some @ grid.consistent([cell[0] for cell in cells], 0.0))


# --- estimates and their variances --------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", ["oue", "hrr", "hadamard"])
def test_structured_variances_are_those_of_the_matrix(oracle):
    """Rectangles by Kronecker products, and the same queries as a plain matrix by products of matrices over the types."""
    shape = (6, 5)
    mechanism = built(shape, 3, oracle)
    line, cells = workloads.all_range(5), workloads.product([workloads.prefix(6), workloads.histogram(5)])
    parts = [
        rectangles(shape),
        cells,
        workloads.histogram(30),
        workloads.all_marginals(shape),
        workloads.k_way_marginals(shape, 1),
        OnAttributes(shape, [1], line),
        OnAttributes((6, 1, 5), [2, 0], workloads.product([line, workloads.prefix(6)])),
        OnAttributes(shape, [0, 1], workloads.product([workloads.prefix(4), workloads.width_range(5, 2)]), used=[4, 5]),
    ]
    workload = workloads.union(parts, [1.0, 2.0, 0.5, 3.0, 1.0, 0.1, 1.5, 0.7])
    plain, counts = workloads.custom(workload.matrix), np.arange(30)
    assert mechanism.variance_profile(workload) == pytest.approx(mechanism.variance_profile(plain))
    exact = mechanism.query_variances(plain, counts)
    assert mechanism.query_variances(workload, counts) == pytest.approx(exact, abs=1e-9 * exact.max())


def test_domains_past_any_matrix_have_exact_variances_of_rectangles():
    """The average over the types of what the profile says, against single queries chosen at random: within 5 standard errors."""
    shape, rng = (256, 256), np.random.default_rng(0)
    mechanism, workload = built(shape), rectangles((256, 256))
    profile, counts = mechanism.variance_profile(workload), np.full(256**2, 10.0)
    some = rng.integers(workload.num_queries, size=64)
    each = mechanism.query_variances(workload, counts, some)
    expected = counts @ profile / workload.num_queries
    assert abs(each.mean() - expected) < 5 * each.std() / 8
    assert profile.mean() / workload.num_queries == pytest.approx(836.61, abs=0.01)
    estimate = mechanism.estimate(mechanism.simulate(counts.astype(int), rng))
    assert estimate.squared_error(workload, counts) == pytest.approx(expected * workload.num_queries, rel=0.5)
    refused("at most 4,096 types", lambda: mechanism.variance_profile(workloads.custom(np.ones((1, 256**2)))))
    refused("at most 4,096 types", lambda: built((2, 2**19)).variance_profile(rectangles((2, 2**19))))


# --- which attributes -----------------------------------------------------------------------------------------------------

AGE = NumericAttribute(name="age", edges=(0, 20, 40, 60, 80), missing="category")
INCOME = NumericAttribute(name="income", edges=(0, 1, 2, 3))
SEX = CategoricalAttribute(name="sex", values=("female", "male"))
GRADE = CategoricalAttribute(name="grade", values=("a", "b", "c"), ordered=True)
ALONE = CategoricalAttribute(name="country", values=("one",))


def asked(*attributes, parts=None):
    questions = [PrefixPart(attribute="age", by=[a.name for a in attributes if a not in (AGE, ALONE)])]
    return over_attributes(parts or questions, Domain(attributes=attributes))


@pytest.mark.parametrize(
    ("workload", "shape"),
    [
        (rectangles((4, 8)), (4, 8)),
        (asked(AGE, INCOME), (5, 3)),
        (asked(ALONE, GRADE, AGE), (3, 5)),
        (asked(AGE, GRADE, parts=[RangesPart(attribute="age"), RangesPart(attribute="grade", weight=2.0)]), (5, 3)),
        (
            asked(AGE, INCOME, parts=[workloads.PredicatesPart(predicates=[{"expression": "age < 40 or income < 1"}])]),
            (5, 3),
        ),
        (workloads.union([rectangles((4, 2)), workloads.custom(np.ones((1, 8)))]), (4, 2)),
    ],
)
def test_the_questions_tell_the_shape(workload, shape):
    assert attribute_sizes(workload) == shape
    assert library.spec("hierarchical_2d").unsuitable(workload.n, 1.0, workload) is None
    mechanism = mechanisms.create("hierarchical_2d", workload=workload, epsilon=1.0)
    assert mechanism.parameters["shape"] == shape
    counts = np.arange(workload.n) * 50
    each = mechanism.query_variances(workload, counts)
    assert each.sum() == pytest.approx(counts @ mechanism.variance_profile(workload))
    answers = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(0))).answers(workload)
    assert np.all(np.abs(answers - workload.answers(counts)) <= 5 * np.sqrt(np.maximum(each, 0)) + 1e-6)


NOT_TOLD = "It is for combinations of exactly two ordered attributes, and the questions do not tell what they are."
THREE = "It is for combinations of exactly two ordered attributes, and there are 3."
NO_ORDER = "It is for two ordered attributes, and the questions name one that has no order."


@pytest.mark.parametrize(
    ("workload", "reason"),
    [
        (workloads.prefix(8), NOT_TOLD),
        (workloads.union([rectangles((4, 2)), rectangles((2, 4))]), NOT_TOLD),
        (asked(AGE, INCOME, GRADE), THREE),
        (asked(AGE, SEX), NO_ORDER),
    ],
)
def test_other_questions_are_told_why_not(workload, reason):
    assert library.spec("hierarchical_2d").unsuitable(workload.n, 1.0, workload) == reason
    if reason == THREE:  # the arithmetic does without an order
        refused(reason, mechanisms.create, "hierarchical_2d", workload=workload, epsilon=1.0)


@pytest.mark.parametrize(("n", "shape"), [(8, (2, 4)), (15, (3, 5))])
def test_a_plain_list_of_types_becomes_two_attributes_as_equal_as_can_be(n, shape):
    mechanism = mechanisms.create("hierarchical_2d", workload=workloads.prefix(n), epsilon=1.0)
    assert mechanism.parameters["shape"] == shape
    assert mechanism.supports(workloads.prefix(n)) is None
    refused(NOT_TOLD, mechanisms.create, "hierarchical_2d", 7, 1.0)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((4, 3), "Attributes of 4 and 3 values have 12 combinations; n is 8."),
        ((2.0, 4.0), "two whole numbers of at least 2"),
        (8, "two whole numbers of at least 2"),
    ],
)
def test_bad_shapes_are_refused(shape, words):
    refused(words, mechanisms.create, "hierarchical_2d", 8, 1.0, shape=shape)
