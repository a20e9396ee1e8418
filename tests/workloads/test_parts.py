"""Recipes over attributes, each against the matrix written out from its meaning, type by type."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from ldp_core import workloads
from ldp_core.data.domain import CategoricalAttribute, DateAttribute, Domain, NumericAttribute, RangeAttribute
from ldp_core.workloads import (
    AllMarginalsPart,
    Axis,
    HistogramPart,
    JointHistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    MatrixPart,
    ParityPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    RangesPart,
    RectanglesPart,
    over_attributes,
)
from tests.refused import refused

RECIPES = TypeAdapter(workloads.WorkloadPart)


@st.composite
def some_axes(draw):
    """One to four small attributes, some with types outside the order, one sometimes with a single type."""
    axes = []
    for i in range(draw(st.integers(1, 4))):
        ordinary, special = draw(st.sampled_from([(2, 0), (3, 0), (2, 1), (4, 0), (1, 0), (3, 1)]))
        labels = tuple(f"v{v}" for v in range(ordinary)) + ("(missing)",) * special
        axes.append(Axis(f"a{i}", labels, ordinary, draw(st.booleans())))
    assume(any(axis.size > 1 for axis in axes) and math.prod(axis.size for axis in axes) <= 60)
    return axes


@st.composite
def some_part(draw, axes):
    """A recipe that fits the axes, of any kind."""
    names = [axis.name for axis in axes if axis.size > 1]
    ordered = [axis.name for axis in axes if axis.ordered and axis.ordinary > 1]
    binary = [axis.name for axis in axes if axis.size == 2]
    weight = draw(st.sampled_from([1.0, 0.5, 3.0]))
    some = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)
    kinds = ["histogram", "joint", "marginals", "k_way", "all", "predicates", "matrix"]
    fitting = ["prefix", "ranges"] * bool(ordered) + ["rectangles"] * (len(ordered) > 1) + ["parity"] * bool(binary)
    kind = draw(st.sampled_from(kinds + fitting))
    if kind == "rectangles":
        several = draw(st.lists(st.sampled_from(ordered), min_size=2, max_size=3, unique=True))
        return RectanglesPart(attributes=several, weight=weight)
    if kind == "histogram":
        return HistogramPart(attribute=draw(st.sampled_from(names)), weight=weight)
    if kind == "joint":
        return JointHistogramPart(weight=weight)
    if kind in ("prefix", "ranges"):
        attribute = draw(st.sampled_from(ordered))
        others = [name for name in names if name != attribute]
        by = draw(st.lists(st.sampled_from(others), max_size=2, unique=True)) if others else []
        if kind == "prefix":
            return PrefixPart(attribute=attribute, by=by, weight=weight)
        return RangesPart(attribute=attribute, width=draw(st.sampled_from([None, 1, 2, 99])), by=by, weight=weight)
    if kind == "marginals":
        groups = draw(st.lists(some, min_size=1, max_size=3, unique_by=frozenset))
        return MarginalsPart(groups=groups, weight=weight)
    if kind == "k_way":
        return KWayMarginalsPart(k=draw(st.integers(1, len(names))), weight=weight)
    if kind == "all":
        return AllMarginalsPart(weight=weight)
    if kind == "parity":
        chosen = draw(st.none() | st.lists(st.sampled_from(binary), min_size=1, unique=True))
        return ParityPart(attributes=chosen, max_weight=draw(st.sampled_from([None, 0, 1, 9])), weight=weight)
    if kind == "predicates":
        first, second = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        return PredicatesPart(
            predicates=[
                Predicate(expression=f"{first} = v0 or {second} != v0"),
                Predicate(expression=f"{second} = v0"),
            ],
            weight=weight,
        )
    n = math.prod(axis.size for axis in axes)
    return MatrixPart.of(np.arange(1.0, 1 + 2 * n).reshape(2, n), weight=weight)


def rows_of(part, axes):
    """The queries of a recipe as functions of a record (a value index for each attribute), written out from its meaning."""
    place = {axis.name: i for i, axis in enumerate(axes)}
    telling = [axis.name for axis in axes if axis.size > 1]

    def cells(names):
        for values in product(*(range(axes[place[name]].size) for name in names)):
            yield lambda r, values=values: float(all(r[place[a]] == v for a, v in zip(names, values, strict=True)))

    def intervals(ends):
        for low, high in ends:
            for cell in cells(part.by):
                yield lambda r, low=low, high=high, cell=cell: (low <= r[place[part.attribute]] <= high) * cell(r)

    kind = part.kind
    if kind == "histogram":
        return list(cells([part.attribute]))
    if kind == "joint_histogram":
        return list(cells([axis.name for axis in axes]))
    if kind in ("prefix", "ranges"):
        last = axes[place[part.attribute]].ordinary
        if kind == "prefix":
            return list(intervals((0, i) for i in range(last)))
        wide = part.width or last
        return list(intervals((i, j) for i in range(last) for j in range(i, min(last, i + wide))))
    if kind == "rectangles":
        places = sorted(place[name] for name in part.attributes)
        each = [sorted((i, j) for j in range(axes[at].ordinary) for i in range(j + 1)) for at in places]
        return [
            lambda r, ends=ends: float(all(low <= r[at] <= high for at, (low, high) in zip(places, ends, strict=True)))
            for ends in product(*each)
        ]
    if kind == "marginals":
        return [cell for group in part.groups for cell in cells(group)]
    if kind in ("k_way_marginals", "all_marginals"):
        sizes = [part.k] if kind == "k_way_marginals" else range(len(telling) + 1)
        return [cell for size in sizes for group in combinations(telling, size) for cell in cells(group)]
    if kind == "parity":
        chosen = part.attributes or [axis.name for axis in axes if axis.size == 2]
        most = len(chosen) if part.max_weight is None else min(part.max_weight, len(chosen))
        # Light groups first, and among equally light ones those of the last attributes.
        groups = [list(g) for size in range(most + 1) for g in reversed(list(combinations(chosen, size)))]
        return [lambda r, g=g: (-1.0) ** sum(r[place[a]] for a in g) for g in groups]
    if kind == "predicates":
        first, _, _, _, second, *_ = part.predicates[0].expression.split()
        return [
            lambda r: float(r[place[first]] == 0 or r[place[second]] != 0),
            lambda r: float(r[place[second]] == 0),
        ]
    return [lambda r, row=row: row[np.ravel_multi_index(r, [axis.size for axis in axes])] for row in part.matrix]


def by_hand(parts, axes):
    """The queries of all recipes, and what those of each are multiplied by: what counts is the mean over the answers to each, the first as it is."""
    records = list(product(*(range(axis.size) for axis in axes)))
    asked = [np.array([[f(r) for r in records] for f in rows_of(part, axes)]) for part in parts]
    scales = [part.weight / math.sqrt(len(rows)) for part, rows in zip(parts, asked, strict=True)]
    weights = np.repeat(np.array(scales) / scales[0], [len(rows) for rows in asked])
    return weights[:, None] * np.concatenate(asked), weights


@settings(max_examples=60)
@given(st.data())
def test_unused_attributes_are_those_along_which_no_query_changes(data):
    axes = data.draw(some_axes())
    part = data.draw(some_part(axes))
    shape = tuple(axis.size for axis in axes)
    workload = over_attributes([part], axes)
    W = workload.matrix.reshape(-1, *shape)
    same = [i for i, size in enumerate(shape) if size > 1 and (np.diff(W, axis=i + 1) == 0).all()]
    unused = workloads.unused_attributes(workload, shape)
    # Queries about everybody alone count as questions about one attribute, so that one is left.
    assert list(unused) == (same[1:] if (np.ptp(W, axis=tuple(range(1, W.ndim))) == 0).all() else same)


@settings(max_examples=120)
@given(st.data())
def test_every_recipe_asks_what_it_says(data):
    axes = data.draw(some_axes())
    parts = data.draw(st.lists(some_part(axes), min_size=1, max_size=3))
    w, (W, weights) = over_attributes(parts, axes), by_hand(parts, axes)
    rng = np.random.default_rng(len(W))
    x, G = rng.normal(size=(2, w.n)), W.T @ W
    scale = np.abs(W).max() ** 2 * w.num_queries
    assert w.num_queries == len(W)
    np.testing.assert_allclose(w.matrix, W)
    np.testing.assert_allclose(w.gram_dense(), G, atol=1e-12 * scale)
    np.testing.assert_allclose(w.gram @ x.T, G @ x.T, atol=1e-10 * scale)
    np.testing.assert_allclose(w.gram_diag, np.diag(G), atol=1e-12 * scale)
    assert w.trace == pytest.approx(np.trace(G))
    np.testing.assert_allclose(w.quadratic(x), ((x @ W.T) ** 2).sum(axis=1), rtol=1e-9, atol=1e-10 * scale)
    np.testing.assert_allclose(w.answers(x), x @ W.T, atol=1e-10 * scale)
    some = rng.integers(len(W), size=4)
    np.testing.assert_allclose(w.answers(x, some), x @ W[some].T, atol=1e-10 * scale)
    np.testing.assert_allclose(w.rows(some), W[some])
    np.testing.assert_allclose(w.query_variances(np.diag(x[0] ** 2)), W**2 @ x[0] ** 2, atol=1e-10 * scale)
    np.testing.assert_allclose(w.singular_values(), np.linalg.svd(W, compute_uv=False), atol=2e-7 * math.sqrt(scale))
    np.testing.assert_allclose(w.gram_root.T @ w.gram_root, G, atol=1e-9 * scale)
    assert w.rank == np.linalg.matrix_rank(W)
    assert all(isinstance(w.query_name(i), str) and w.query_name(i) for i in range(w.num_queries))
    assert w.query_weights() == pytest.approx(weights)
    again = workloads.from_spec(w.spec)
    assert again == w
    np.testing.assert_array_equal(again.matrix, w.matrix)


NAMES = st.text(min_size=1, max_size=6)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=3, unique=True), st.floats(1e-6, 1e6))
def test_recipes_of_any_names_go_through_json(name, group, weight):
    for part in (
        HistogramPart(attribute=name, weight=weight),
        PrefixPart(attribute=name, by=group),
        RangesPart(attribute=name, width=3, by=group),
        MarginalsPart(groups=[group]),
        ParityPart(attributes=group, max_weight=2),
        PredicatesPart(predicates=[Predicate(expression=name, name=name)]),
    ):
        assert RECIPES.validate_json(RECIPES.dump_json(part), strict=True) == part


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "histogram"},
        {"kind": "histograms", "attribute": "a"},
        {"kind": "histogram", "attribute": "a", "bins": 3},
        {"kind": "histogram", "attribute": "a", "weight": float("nan")},
        {"kind": "histogram", "attribute": "a", "weight": 0},
        {"kind": "histogram", "attribute": "a", "weight": -1},
        {"kind": "histogram", "attribute": "a", "weight": float("inf")},
        {"kind": "histogram", "attribute": "a", "weight": "1"},
        {"kind": "histogram", "attribute": ""},
        {"kind": "ranges", "attribute": "a", "width": 0},
        {"kind": "ranges", "attribute": "a", "width": 2.5},
        {"kind": "marginals", "groups": []},
        {"kind": "marginals", "groups": [[]]},
        {"kind": "marginals", "groups": [["a", "b"], ["b", "a"]]},
        {"kind": "k_way_marginals", "k": 0},
        {"kind": "predicates", "predicates": []},
        {"kind": "matrix", "rows": 1, "columns": 2, "data": "no base64!"},
        {"kind": "matrix", "rows": 1, "columns": 2, "data": "bm8gemxpYg=="},
        {"kind": "matrix", "rows": 2**14, "columns": 2**9, "data": ""},
    ],
)
def test_bad_recipes_are_refused(document):
    with pytest.raises(ValidationError):
        RECIPES.validate_python(document)


def test_a_packed_matrix_cannot_unpack_to_more_than_it_says():
    bomb = MatrixPart.of(np.ones((1, 2**20)))
    assert len(bomb.data) < 20_000
    small = {**bomb.model_dump(), "columns": 2}
    with pytest.raises(ValidationError, match="a different size from the one it states"):
        MatrixPart.model_validate(small)


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(-1e90, 1e90), min_size=3, max_size=3).filter(any), min_size=1, max_size=4))
def test_matrices_are_kept_exactly(rows):
    part = MatrixPart.of(np.array(rows), [f"q{i}" for i in range(len(rows))])
    np.testing.assert_array_equal(RECIPES.validate_json(RECIPES.dump_json(part)).matrix, rows)
    w = part.build([Axis("a", ("x", "y", "z"), 3)])
    np.testing.assert_array_equal(w.matrix, rows)
    assert w.query_name(0) == "q0"


PEOPLE = Domain(
    attributes=(
        NumericAttribute(name="age", edges=(19.5, 29.5, 39.5, 49.5), integer=True, missing="category"),
        CategoricalAttribute(name="sex", values=("female", "male")),
        NumericAttribute(name="weight", edges=(40.0, 60.0, 80.0, 120.5)),
        CategoricalAttribute(name="education", values=("school", "college", "degree"), ordered=True, outside="other"),
    )
)


def all_names(part, domain=PEOPLE):
    w = over_attributes([part], domain)
    assert w.n == domain.size
    return [w.query_name(i) for i in range(w.num_queries)]


def test_queries_have_readable_names():
    assert all_names(HistogramPart(attribute="age")) == ["age 20-29", "age 30-39", "age 40-49", "age (missing)"]
    assert all_names(PrefixPart(attribute="age")) == ["age up to 29", "age up to 39", "age up to 49"]
    assert all_names(PrefixPart(attribute="weight")) == ["weight below 60", "weight below 80", "weight up to 120.5"]
    assert all_names(PrefixPart(attribute="education", by=["sex"]))[:3] == [
        "education up to school and sex female",
        "education up to school and sex male",
        "education up to college and sex female",
    ]
    assert all_names(RangesPart(attribute="age")) == [
        "age 20-29",
        "age 20-39",
        "age 20-49",
        "age 30-39",
        "age 30-49",
        "age 40-49",
    ]
    assert all_names(RangesPart(attribute="weight", width=2)) == [
        "weight [40, 60)",
        "weight [40, 80)",
        "weight [60, 80)",
        "weight [60, 120.5]",
        "weight [80, 120.5]",
    ]
    assert all_names(RangesPart(attribute="education"))[1] == "education school to college"
    assert all_names(MarginalsPart(groups=[["age", "sex"]]))[3] == "age 30-39 and sex male"
    assert all_names(MarginalsPart(groups=[["sex", "age"], ["sex"]]))[-3:] == [
        "sex male and age (missing)",
        "sex female",
        "sex male",
    ]
    assert all_names(KWayMarginalsPart(k=1))[:5] == [*all_names(HistogramPart(attribute="age")), "sex female"]
    assert all_names(AllMarginalsPart())[0] == "everybody"
    assert (
        all_names(JointHistogramPart())[-1] == "age (missing) and sex male and weight [80, 120.5] and education (other)"
    )
    assert all_names(ParityPart()) == ["everybody", "parity of sex male"]
    asked = [Predicate(expression=" age <  40\nand sex = male"), Predicate(expression="sex = male", name="men")]
    assert all_names(PredicatesPart(predicates=asked)) == ["age < 40 and sex = male", "men"]


def test_one_attribute_gives_the_plain_workload_that_trees_know():
    domain = Domain(attributes=(RangeAttribute(name="age", low=0, high=99, bins=100, integer=True),))
    assert over_attributes([PrefixPart(attribute="age")], domain) == workloads.prefix(100)
    assert over_attributes([RangesPart(attribute="age")], domain) == workloads.all_range(100)
    assert over_attributes([RangesPart(attribute="age", width=500)], domain) == workloads.width_range(100, 100)
    assert over_attributes([HistogramPart(attribute="age")], domain) == workloads.histogram(100)
    assert over_attributes([PrefixPart(attribute="age", weight=2)], domain) == workloads.prefix(
        100
    )  # nothing beside it


def test_millions_of_types_are_named_without_listing_them():
    domain = Domain(attributes=(RangeAttribute(name="income", low=0, high=2**22 - 1, bins=2**22, integer=True),))
    w = over_attributes([PrefixPart(attribute="income")], domain)
    assert w.query_name(2**21) == "income up to 2097152"
    asked = [Predicate(expression="income >= 4194300 or income = 7")]
    w = over_attributes([PredicatesPart(predicates=asked)], domain)
    x = np.zeros(2**22)
    x[[7, 8, 2**22 - 5, 2**22 - 4]] = 1, 10, 100, 1000
    assert w.answers(x).tolist() == [1001]
    days = Domain(attributes=(DateAttribute(name="day", unit="day", first="1700-01-01", last="2026-01-01"),))
    asked = [Predicate(expression="day between 2025-12-30 and 2026-01-01")]
    assert over_attributes([PredicatesPart(predicates=asked)], days).gram_diag.sum() == 3


def test_ten_binary_attributes_stay_structured():
    axes = [Axis(f"q{i}", ("no", "yes"), 2) for i in range(10)]
    w = over_attributes([KWayMarginalsPart(k=3), AllMarginalsPart(weight=0.1), ParityPart(max_weight=2)], axes)
    asked = [
        (120 * 8, 120, 1.0),
        (3**10, 2**10, 0.1),
        (56, 56, 1.0),
    ]  # answers, those that each person counts in, and the weight
    assert w.symmetry == "hamming"
    assert w.trace == pytest.approx(w.n * sum(960 / many * own * weight**2 for many, own, weight in asked))
    # G is constant on Hamming distances, so that its trace and the squared singular values agree with the closed forms.
    assert (w.singular_values() ** 2).sum() == pytest.approx(w.trace)
    assert w.singular_values()[0] ** 2 == pytest.approx(w.gram_sums[0])
    wide = [Axis(f"q{i}", ("no", "yes"), 2) for i in range(18)]
    w = over_attributes([KWayMarginalsPart(k=2), MarginalsPart(groups=[["q0", "q1", "q2"]])], wide)
    assert w.symmetry == "translation"
    assert w.rank == 1 + 18 + math.comb(18, 2) + 1  # characters of weight up to 2, and that of the triple


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (HistogramPart(attribute="agee"), "no attribute agee; did you mean age"),
        (PrefixPart(attribute="sex"), "sex has no order"),
        (RangesPart(attribute="age", by=["age"]), "named twice: age, age"),
        (RangesPart(attribute="age", by=["zip"]), "no attribute zip; the attributes are age, sex, weight, education"),
        (RectanglesPart(attributes=["age", "sex"]), "sex has no order"),
        (RectanglesPart(attributes=["age", "age"]), "named twice: age, age"),
        (RectanglesPart(attributes=["age", "weight", "sex"]), "sex has no order"),
        (KWayMarginalsPart(k=5), "Groups of 5 attributes need at least 5 that have 2 types or more; there are 4"),
        (ParityPart(attributes=["age"]), "age has 4"),
        (MarginalsPart(groups=[["sex", "sex"]]), "named twice"),
        (
            PredicatesPart(predicates=[Predicate(expression="age < 35")]),
            "Condition 1, .age < 35.: at character 7: age < 35 would cut",
        ),
        (PredicatesPart(predicates=[Predicate(expression="sex = male and sex = female")]), "is true for no type"),
        (MatrixPart.of(np.eye(3)), "3 columns and there are 96 types"),
    ],
)
def test_recipes_that_do_not_fit_get_a_sentence(part, sentence):
    refused(sentence, over_attributes, [part], PEOPLE)
    refused(
        r"Group 2 of the queries: .*" + sentence[1:],
        lambda: over_attributes([HistogramPart(attribute="sex"), part], PEOPLE),
    )


def test_attributes_of_one_type_are_left_out_or_refused():
    axes = [Axis("all", ("x",), 1), Axis("sex", ("f", "m"), 2), Axis("none", ("y",), 1, True)]
    assert over_attributes([KWayMarginalsPart(k=1)], axes).num_queries == 2
    refused("all has one type only", lambda: over_attributes([HistogramPart(attribute="all")], axes))
    refused("Every attribute has one type", lambda: over_attributes([AllMarginalsPart()], axes[:1]))
    refused(
        r"single value besides \(other\)",
        lambda: over_attributes([PrefixPart(attribute="b")], [Axis("b", ("0-9", "(missing)"), 1, True)]),
    )
    refused("no attribute has just two", lambda: over_attributes([ParityPart()], [Axis("b", ("1", "2", "3"), 3)]))
    refused("nothing to ask yet", over_attributes, [], axes)


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c", "d"), ()])
def test_boxes_are_of_two_or_three_orders(names):
    refused("attributes", RectanglesPart, attributes=names)
