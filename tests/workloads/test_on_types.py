"""Workloads on the plain list of types, and what every recipe of queries has in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ldp_core import workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.workloads import (
    ON_TYPES,
    DifferencePart,
    HistogramPart,
    KWayMarginalsPart,
    PrefixPart,
    RangesPart,
    SharePart,
    TypesPart,
    default_parts,
    kinds_for,
    on_types,
    over_attributes,
    parameter,
)
from tests.refused import refused

AGE = NumericAttribute(name="age", edges=(0.0, 10.0, 20.0, 30.0, 40.0))
SEX = CategoricalAttribute(name="sex", values=("f", "m"))
LEVEL = CategoricalAttribute(name="level", values=("low", "high"), ordered=True, missing="category")
ONE = CategoricalAttribute(name="country", values=("here",))


def domain(*attributes) -> Domain:
    return Domain(attributes=attributes)


def written_out(kind: str, n: int, **parameters: int) -> set[tuple[float, ...]]:
    """The rows of each workload from its definition, as a set."""
    d = n.bit_length() - 1
    if kind == "histogram":
        found = np.eye(n)
    elif kind == "prefix":
        found = np.tri(n)
    elif kind in ("all_range", "width_range"):
        widest = parameters.get("width", n)
        found = [[float(i <= x <= j) for x in range(n)] for i in range(n) for j in range(i, n) if j - i < widest]
    elif kind == "parity":
        masks = [mask for mask in range(n) if mask.bit_count() <= parameters.get("max_weight", d)]
        found = [[(-1.0) ** (mask & x).bit_count() for x in range(n)] for mask in masks]
    else:
        k = parameters.get("k")
        masks = [mask for mask in range(n) if k is None or mask.bit_count() == k]
        found = [
            [float(x & mask == value) for x in range(n)]
            for mask in masks
            for value in range(n)
            if value & mask == value
        ]
    return {tuple(map(float, row)) for row in found}


@st.composite
def kinds_and_parameters(draw):
    n = draw(st.sampled_from([2, 3, 4, 5, 8, 16]))
    kind = draw(st.sampled_from(kinds_for(n)))
    needed = parameter(kind, n)
    given_ = {} if needed is None else {needed.name: draw(st.integers(needed.low, needed.high))}
    return kind, n, given_


@given(kinds_and_parameters())
def test_every_kind_asks_what_its_definition_says(drawn):
    kind, n, parameters = drawn
    assert {tuple(row) for row in on_types(kind, n, **parameters).matrix.tolist()} == written_out(kind, n, **parameters)


@given(kinds_and_parameters())
def test_a_recipe_on_types_builds_the_same_on_any_attributes(drawn):
    kind, n, parameters = drawn
    part = TypesPart(family=kind, parameters=parameters)
    one = domain(CategoricalAttribute(name="x", values=tuple(map(str, range(n)))))
    assert part.build(one) == on_types(kind, n, **parameters)
    if n == 8:
        assert part.build(domain(AGE, SEX)) == part.build(domain(SEX, AGE)) == part.build(one)
    assert TypesPart.model_validate_json(part.model_dump_json()) == part


@given(st.sampled_from(list(ON_TYPES)), st.sampled_from([2, 4, 8, 64, 1024]))
def test_the_default_of_a_parameter_lies_in_its_range_and_works(kind, n):
    needed = parameter(kind, n)
    if needed is None:
        assert on_types(kind, n).n == n
        return
    assert needed.low <= needed.default <= needed.high
    assert on_types(kind, n, **{needed.name: needed.default}).n == n
    if needed.low:
        refused(r".", on_types, kind, n, **{needed.name: needed.low - 1})


@pytest.mark.parametrize(
    ("kind", "parameters", "reason"),
    [
        ("prefx", {}, "Unknown workload 'prefx'; did you mean 'prefix'?"),
        ("prefix", {"width": 3}, "The Prefix workload has no parameter 'width'"),
        ("width_range", {}, "does not fit: there are no settings"),
    ],
)
def test_what_makes_no_workload_is_refused_in_a_sentence(kind, parameters, reason):
    refused(reason, on_types, kind, 4, **parameters)


@pytest.mark.parametrize(
    "fields",
    [
        {"family": "product"},
        {"family": "width_range", "parameters": {"width": -1}},
        {"family": "width_range", "parameters": {"width": "3"}},
        {"family": "width_range", "parameters": {"width": True}},
        {"family": "prefix", "weight": 0},
        {"family": "prefix", "colour": 1},
    ],
)
def test_recipes_with_strange_settings_are_refused(fields):
    with pytest.raises(ValidationError):
        TypesPart(**fields)


# --- what to ask first ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ([AGE], PrefixPart(attribute="age")),
        ([SEX], HistogramPart(attribute="sex")),
        ([LEVEL], PrefixPart(attribute="level")),
        ([AGE, SEX], KWayMarginalsPart(k=2)),
        ([ONE, AGE], PrefixPart(attribute="age")),
        ([SEX, ONE], HistogramPart(attribute="sex")),
        ([ONE, AGE, SEX], KWayMarginalsPart(k=2)),
        ([LEVEL.model_copy(update={"values": ("low",)})], HistogramPart(attribute="level")),
    ],
)
def test_what_is_asked_first_suits_the_domain_and_works(attributes, expected):
    parts = default_parts(domain(*attributes))
    assert parts == (expected,)
    built = over_attributes(parts, domain(*attributes))
    assert built.n == domain(*attributes).size
    assert built.matrix.any(axis=1).all()


def test_what_is_asked_first_of_known_groups_is_asked_within_each_and_compared():
    arm, three = (
        CategoricalAttribute(name=name, values=tuple("abc"[:k]), known=True) for name, k in (("arm", 2), ("shop", 3))
    )
    age = PrefixPart(attribute="age")
    less = DifferencePart(of=age, attribute="arm", first="b", second="a")  # new, the second, less control
    assert default_parts([arm, AGE]) == (SharePart(of=age, within=("arm",)), less)
    assert default_parts([three, AGE]) == (SharePart(of=age, within=("shop",)),)
    parts = default_parts([arm, AGE, three, SEX])
    assert [part.within for part in parts] == [("arm", "shop")] * 2
    assert parts[0].of == age
    assert [one.name for one in parts[1].of.predicates] == [f"sex {SEX.values[-1]}"]  # one row for two values


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part",
    [
        HistogramPart(attribute="age", weight=2.0),
        PrefixPart(attribute="age"),
        RangesPart(attribute="age", width=2, weight=0.5),
    ],
)
def test_queries_about_one_attribute_follow_its_name(part):
    renamed = AGE.model_copy(update={"name": "years"})
    moved = part.about("age", "years")
    assert moved == type(part)(**{**part.model_dump(), "attribute": "years"})
    assert moved.build(domain(renamed)) == part.build(domain(AGE))
    assert part.about("sex", "years") == part


# --- digests ----------------------------------------------------------------------------------------------------------


@st.composite
def built(draw):
    kind, n, parameters = draw(kinds_and_parameters())
    return on_types(kind, n, **parameters)


@given(built(), built())
def test_a_digest_is_that_of_the_queries(first, second):
    assert workloads.from_spec(first.spec).digest == first.digest
    assert (first.digest == second.digest) == (first.spec == second.spec)
    if first.digest == second.digest:
        np.testing.assert_array_equal(first.matrix, second.matrix)


def test_names_are_no_part_of_a_digest_and_weights_and_entries_are():
    named, plain = (workloads.Custom(np.eye(3), names) for names in (["a", "b", "c"], None))
    assert named.digest == plain.digest
    assert workloads.custom(2 * np.eye(3)).digest != plain.digest
    assert workloads.custom(np.eye(3)[::-1]).digest != plain.digest
    parts = [workloads.prefix(4), workloads.histogram(4)]
    digests = {workloads.union(parts, weights).digest for weights in ([1, 1], [2, 1], [1, 2])}
    assert len(digests | {workloads.union(parts[::-1]).digest}) == 4
    assert workloads.union(parts).digest == workloads.union(parts, [1.0, 1.0]).digest
