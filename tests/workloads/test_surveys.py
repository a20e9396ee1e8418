"""Surveys against the same questions written out over all types of a small table."""

import math

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import anova
from ldp_core.people import Counted, Records
from ldp_core.workloads import (
    AllMarginalsPart,
    Axis,
    HistogramPart,
    JointHistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    ParityPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    RangesPart,
    RectanglesPart,
    Survey,
    Workload,
    from_spec,
    over_attributes,
    survey,
    tables_asked,
)
from ldp_core.workloads.pricing import price
from ldp_core.workloads.surveyed import as_tables, groups_of
from tests.declared import ADULT
from tests.refused import refused


def axes_of(sizes):
    names = "abcdefghijklmnop"
    return [Axis(n, tuple(f"{n}{j}" for j in range(k)), k, True) for n, k in zip(names, sizes, strict=False)]


def projection(sizes, members):
    """(n, n) P_A, a column for every type."""
    n = math.prod(sizes)
    shape = [size if i in members else 1 for i, size in enumerate(sizes)]
    units = np.eye(n).reshape(n, *sizes)
    return np.stack([np.broadcast_to(anova.component(u, members).reshape(shape), sizes).ravel() for u in units], axis=1)


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5)])
def test_components_add_up_to_the_gram_matrix_of_marginals(weights):
    sizes, sets = (2, 3, 4), [(0, 1), (0, 2), (1, 2)]
    made = survey(sizes, sets, weights)
    table = np.arange(24).reshape(sizes)
    rows = []
    for members, weight in zip(sets, weights or (1, 1, 1), strict=True):
        for cell in np.ndindex(*(sizes[i] for i in members)):
            at = tuple(cell[members.index(i)] if i in members else slice(None) for i in range(3))
            row = np.zeros(24)
            row[table[at].ravel()] = weight
            rows.append(row)
    written = np.array(rows)
    assert np.allclose(made.matrix, written)
    assert np.allclose(made.gram_dense(), written.T @ written)
    c = made.components
    total = 24 * c.constant * projection(sizes, ())
    for members, dimension, gram in zip(c.sets, c.dims, c.gram, strict=True):
        own = projection(sizes, members)
        assert np.trace(own) == pytest.approx(dimension)
        total += 24 * gram * own
    assert np.allclose(total, written.T @ written)
    assert made.trace == pytest.approx(np.trace(total))
    assert made.rank == np.linalg.matrix_rank(written)
    singular = np.linalg.svd(written, compute_uv=False)
    assert np.allclose(made.singular_values(), singular[:24], atol=1e-6)


PARTS = {
    "pairs": KWayMarginalsPart(k=2),
    "columns": KWayMarginalsPart(k=1, weight=3.0),
    "totals": PrefixPart(attribute="d", weight=2.0),
    "totals within": PrefixPart(attribute="d", by=("a",)),
    "ranges": RangesPart(attribute="d", width=2, by=("b",)),
    "rectangles": RectanglesPart(attributes=("d", "b")),
    "conditions": PredicatesPart(
        predicates=[
            Predicate(expression="a = a1 and d = d2", name="both"),
            Predicate(expression="b = b1 or not d <= d1"),
            Predicate(expression="d in {d0, d3}"),
        ]
    ),
    "parities": ParityPart(max_weight=1),
    "chosen": MarginalsPart(groups=[("d", "a"), ("b",)], weight=0.5),
    "every group": AllMarginalsPart(),
    "one": HistogramPart(attribute="b"),
    "all": JointHistogramPart(),
}


def compare(parts, sizes):
    """The same queries, names, weights, Gram matrix and answers, in whatever order."""
    axes = axes_of(sizes)
    dense = over_attributes(parts, axes)
    made = Survey(sizes, list(groups_of(dense, tuple(sizes), axes)), axes)
    n = math.prod(sizes)
    assert not isinstance(dense, Survey)
    assert made.num_queries == dense.num_queries
    assert np.allclose(dense.gram_dense(), made.gram_dense())
    x = np.random.default_rng(0).integers(0, 50, n)
    told = [
        sorted(
            (w.query_name(i), round(float(a), 6), round(float(weight), 9))
            for i, (a, weight) in enumerate(zip(answers, w.query_weights(), strict=True))
        )
        for w, answers in ((dense, dense.answers(x)), (made, made.answers(Counted(x, sizes))))
    ]
    assert told[0] == told[1]
    assert np.allclose(made.matrix @ x, made.answers(x))
    chosen = np.arange(made.num_queries)[::3]
    assert np.allclose(made.answers(Counted(x, sizes), chosen), made.answers(x)[chosen])
    assert from_spec(made.spec) == made
    variances = made.query_variances(np.diag(x.astype(float)))
    assert np.allclose(variances, ((made.matrix**2) @ x))
    return made


@pytest.mark.parametrize("name", PARTS)
def test_each_kind_of_questions_is_the_same_as_a_survey(name):
    compare([PARTS[name]], (2, 3, 4, 4) if name == "ranges" else (2, 3, 1, 4))


def test_all_kinds_together_are_the_same_as_a_survey():
    made = compare(list(PARTS.values()), (2, 3, 1, 4))
    assert not made.symmetric
    assert made.rank == np.linalg.matrix_rank(made.matrix)


def test_many_columns_become_a_survey_of_the_tables_that_are_asked():
    axes = axes_of(ADULT)
    made = over_attributes([KWayMarginalsPart(k=2), PrefixPart(attribute="a"), ParityPart()], axes)
    asked = tables_asked(made, ADULT)
    products = [a * b for i, a in enumerate(ADULT) for b in ADULT[i + 1 :]]
    assert isinstance(made, Survey)
    assert not made.symmetric
    # pairs, the table of the totals, the signs of all people and of one and two yes-or-no columns
    assert made.num_queries == sum(products) + 16 + 4
    assert asked.sets == 55 + 3  # those of a, h and k alone
    assert asked.cells == sum(products) + 16 + 2 + 2
    assert (asked.largest, asked.largest_cells) == ((0, 2), 256)
    pairs = survey(ADULT, 2)
    assert pairs.n == math.prod(ADULT)
    assert pairs.symmetric
    assert sum(pairs.components.dims) == sum(
        (a - 1) * (b - 1) for i, a in enumerate(ADULT) for b in ADULT[i + 1 :]
    ) + sum(size - 1 for size in ADULT)
    assert pairs.rank == sum(pairs.components.dims) + 1


@pytest.mark.parametrize(
    ("part", "served"),
    [
        (PrefixPart(attribute="a"), True),
        (PrefixPart(attribute="a", by=("b",)), True),
        (PrefixPart(attribute="a", by=("b", "c")), False),  # 2,160 combinations: no strategy for them is written out
        (PrefixPart(attribute="a", by=("d", "b", "c")), False),  # about all columns
    ],
)
def test_totals_and_pairs_become_a_survey_where_their_tables_fit(part, served):
    """From 2,049 types on, not only past those that can be counted one by one; all answers count alike here."""
    axes = axes_of((16, 9, 15, 2))
    pairs, totals = (over_attributes([own], axes).num_queries for own in (KWayMarginalsPart(k=2), part))
    made = over_attributes(
        [KWayMarginalsPart(k=2), part.model_copy(update={"weight": math.sqrt(totals / pairs)})], axes
    )
    assert made.query_weights([0, pairs]) == pytest.approx([1, 1])
    assert isinstance(made, Survey) == served
    if served:
        found = ldp.optimize.design(made, 1.0, time_limit=None, max_rounds=6)
        assert 1 <= found.objective / ldp.bounds.certificate(made, 1.0, time_limit=None).value < 1.04
        with pytest.raises(ValueError, match="worked out for at most 2,048 types; there are 4,320"):
            made.singular_values()  # nothing that a page waits for takes a matrix over all types


@pytest.mark.parametrize(
    ("workload", "served"),
    [
        (ldp.workloads.k_way_marginals(12, 3), True),
        (ldp.workloads.parity(13, 2), True),
        (ldp.workloads.k_way_marginals(12, 6), False),
        (ldp.workloads.all_marginals(12), False),
        (ldp.workloads.k_way_marginals(11, 3), False),  # a strategy over all types can be written out
        (ldp.workloads.prefix(4096), False),
        (ldp.workloads.histogram(4096), False),
        (ldp.workloads.survey([2] * 12, 3), True),
    ],
    ids=lambda given: repr(given) if isinstance(given, Workload) else "",
)
def test_questions_about_few_bits_are_a_survey_under_any_names(workload, served):
    found = as_tables(workload)
    assert (found is not None) == served
    if found is not None:
        assert found.n == workload.n
        np.testing.assert_allclose(found.gram_column, workload.gram_column, rtol=1e-12)


def test_answers_come_from_records_as_from_counts():
    rng, sizes = np.random.default_rng(1), (2, 3, 4)
    codes = np.stack([rng.integers(0, size, 500) for size in sizes], axis=1)
    counts = np.bincount(np.ravel_multi_index(codes.T, sizes), minlength=24)
    made = survey(sizes, 2)
    assert np.array_equal(made.answers(Records(codes, sizes)), made.answers(counts))
    assert np.array_equal(made.answers(Records(codes, sizes)), made.matrix @ counts)


@pytest.mark.parametrize(
    ("parts", "sizes", "said"),
    [
        ([JointHistogramPart()], ADULT, "cells"),
        ([PrefixPart(attribute="a", by=tuple("bcdefg"))], ADULT, "use fewer or coarser values for a, or leave it out"),
        ([KWayMarginalsPart(k=6)], (3,) * 40, "more than 25,000 sets"),
        ([MarginalsPart(groups=[("a", "b")])], (2048, 2048), "2,048 x 2,048 = 4,194,304 cells"),
    ],
)
def test_too_large_tables_are_refused_by_name(parts, sizes, said):
    names = [
        Axis(f"{'abcdefgh'[i] if i < 8 else f'x{i}'}", tuple(map(str, range(k))), k, True) for i, k in enumerate(sizes)
    ]
    refused(said, over_attributes, parts, names)


def test_two_hundred_columns_of_pairs_have_a_price_and_work():
    axes = [Axis(f"x{i}", tuple(map(str, range(20))), 20, True) for i in range(200)]
    cost = price([KWayMarginalsPart(k=2)], axes)
    made = over_attributes([KWayMarginalsPart(k=2)], axes)
    assert len(made.groups) == 19_900
    assert made.num_queries == 19_900 * 400
    assert cost.bytes == 8 * made.num_queries
    assert 0 < cost.seconds < 60
    assert math.isfinite(made.trace)
    assert made.n == 20**200
    refused("25,000 sets", lambda: over_attributes([KWayMarginalsPart(k=3)], axes))


@pytest.mark.parametrize(
    ("sizes", "ways", "weights", "said"),
    [
        ([3.5, 2], 1, None, "sizes of attributes must be a list of whole numbers"),
        ("323", 1, None, "sizes of attributes must be a list of whole numbers; got '323'"),
        (5, 1, None, "sizes of attributes must be a list of whole numbers; got 5"),
        ([3, -1], 1, None, "at least one value; attribute 2 has -1"),
        ([4] * 201, 1, None, "1 to 200 attributes; got 201"),
        ([10**5] * 200, 1, None, "200 attributes have 1 × 10¹⁰⁰⁰ combinations .* attribute 1 with 100,000 first"),
        ([3, 4, 5], 2.0, None, "ways must be a whole number, or a list of sets"),
        ([3, 4, 5], None, None, "ways must be a whole number, or a list of sets"),
        ([3, 4, 5], [], None, "ways must be a whole number, or a list of sets"),
        ([3, 4, 5], "2", None, "ways must be a whole number, or a list of sets"),
        ([3, 4, 5], [0, 1], None, "Each set must list its attributes, whole numbers from 0 to 2; got 0"),
        ([3, 4, 5], [(0.5, 1)], None, "Each set must list its attributes, whole numbers from 0 to 2"),
        ([3, 4, 5], [(0, 1), (1, 0)], None, "be there once"),
        ([3, 4, 5], [(0, 3)], None, "different attributes, from 0 to 2"),
        ([3, 4, 5], 2, 2.0, "weights must be a list of numbers"),
        ([3, 4, 5], 2, {(0, 1): 2.0}, "weights must be a list of numbers"),
        ([3, 4, 5], 2, [1, 1], "3 sets of attributes and 2 weights"),
        ([3, 4, 5], 2, [0, 0, 0], "All weights are 0"),
        ([1, 1], 1, None, "one value only"),
    ],
)
def test_what_is_no_survey_is_refused_in_a_sentence(sizes, ways, weights, said):
    refused(
        said.replace("× 10", "×\N{NO-BREAK SPACE}10").replace(" ×", "\N{NO-BREAK SPACE}×"), survey, sizes, ways, weights
    )


@pytest.mark.parametrize(
    ("name", "value"), [("attributes", 0), ("attributes", "01"), ("weight", "x"), ("weight", None)]
)
def test_a_recipe_whose_groups_are_none_is_refused_in_a_sentence(name, value):
    group = {"attributes": [0], "weight": 1.0, "base": {"kind": "histogram", "n": 3}} | {name: value}
    refused(
        "must be a list of places, and its weight a number",
        ldp.workloads.from_spec,
        {"kind": "survey", "shape": [3, 4], "groups": [group]},
    )
