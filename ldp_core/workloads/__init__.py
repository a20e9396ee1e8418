"""Sets of linear counting queries: constructors, and recipes to rebuild them."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np

from ldp_core.wording import check_parameters, meant
from ldp_core.workloads.axes import Axis, axes_of
from ldp_core.workloads.base import DENSE_TYPES, MATRIX_ENTRIES, Workload
from ldp_core.workloads.comparisons import quoted
from ldp_core.workloads.composite import Custom, Product, Union
from ldp_core.workloads.expressions import PredicateError, parse
from ldp_core.workloads.facts import Fact, parse_facts
from ldp_core.workloads.marginals import AllMarginals, KWayMarginals, Parity, checked_shape, walsh_hadamard
from ldp_core.workloads.matrix_files import MatrixFile, read_matrix
from ldp_core.workloads.matrix_part import MatrixPart
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.on_types import ON_TYPES, OVER_ATTRIBUTES, Parameter, TypesPart, kinds_for, on_types, parameter
from ldp_core.workloads.ordered import AllRange, Histogram, Prefix, WidthRange
from ldp_core.workloads.parts import (
    AllMarginalsPart,
    HistogramPart,
    JointHistogramPart,
    KWayMarginalsPart,
    MarginalsPart,
    ParityPart,
    Predicate,
    PredicatesPart,
    PrefixPart,
    RangesPart,
    WorkloadPart,
    default_parts,
    over_attributes,
)
from ldp_core.workloads.predicates import Predicates
from ldp_core.workloads.pricing import Price, price, work_out
from ldp_core.workloads.shares import QueryShare, dominating, group_shares

__all__ = [
    "DENSE_TYPES",
    "FAMILIES",
    "MATRIX_ENTRIES",
    "ON_TYPES",
    "AllMarginals",
    "AllMarginalsPart",
    "AllRange",
    "Axis",
    "Custom",
    "Fact",
    "Histogram",
    "HistogramPart",
    "JointHistogramPart",
    "KWayMarginals",
    "KWayMarginalsPart",
    "MarginalsPart",
    "MatrixFile",
    "MatrixPart",
    "OnAttributes",
    "Parameter",
    "Parity",
    "ParityPart",
    "Predicate",
    "PredicateError",
    "Predicates",
    "PredicatesPart",
    "Prefix",
    "PrefixPart",
    "Price",
    "Product",
    "QueryShare",
    "RangesPart",
    "TypesPart",
    "Union",
    "WidthRange",
    "Workload",
    "WorkloadPart",
    "all_marginals",
    "all_range",
    "axes_of",
    "custom",
    "default_parts",
    "dominating",
    "from_spec",
    "group_shares",
    "histogram",
    "k_way_marginals",
    "kinds_for",
    "on_types",
    "over_attributes",
    "parameter",
    "parity",
    "parse",
    "parse_facts",
    "prefix",
    "price",
    "product",
    "quoted",
    "read_matrix",
    "union",
    "walsh_hadamard",
    "width_range",
    "work_out",
]

FAMILIES: dict[str, type[Workload]] = {
    family.kind: family
    for family in (
        *(Histogram, Prefix, AllRange, WidthRange, AllMarginals, KWayMarginals, Parity),
        *(Custom, Union, Product, OnAttributes, Predicates),
    )
}


def histogram(n: int) -> Workload:
    """Counts of each of ``n`` types.

    >>> ldp.workloads.histogram(3).answers([5, 0, 2])
    array([5., 0., 2.])
    """
    return Histogram(n)


def prefix(n: int) -> Workload:
    """Cumulative counts along ``n`` ordered types.

    >>> ldp.workloads.prefix(3).answers([5, 0, 2])
    array([5., 5., 7.])
    """
    return Prefix(n)


def all_range(n: int) -> Workload:
    """Counts of all n(n + 1)/2 intervals of ``n`` ordered types.

    >>> ranges = ldp.workloads.all_range(3)
    >>> [ranges.query_name(i, ["a", "b", "c"]) for i in range(ranges.num_queries)]
    ['a', 'a to b', 'a to c', 'b', 'b to c', 'c']
    """
    return AllRange(n)


def width_range(n: int, width: int) -> Workload:
    """Counts of all intervals of at most ``width`` of ``n`` ordered types.

    >>> ldp.workloads.width_range(64, 8)
    <width_range workload: 484 queries on 64 types, width 8>
    """
    return WidthRange(n, width)


def all_marginals(attributes: int | Sequence[int]) -> Workload:
    """Every marginal of d binary attributes (a number), or of attributes with the given sizes (a list).

    >>> ldp.workloads.all_marginals([2, 3])
    <all_marginals workload: 12 queries on 6 types>
    """
    return AllMarginals(checked_shape(attributes))


def k_way_marginals(attributes: int | Sequence[int], k: int) -> Workload:
    """The marginals of every group of exactly ``k`` attributes; ``attributes`` as in `all_marginals`.

    >>> ldp.workloads.k_way_marginals(6, k=2)
    <k_way_marginals workload: 60 queries on 64 types, k 2>
    """
    return KWayMarginals(checked_shape(attributes), k)


def parity(d: int, max_weight: int | None = None) -> Workload:
    """The characters of ``d`` binary attributes of weight up to ``max_weight`` (all by default), weight 0 included.

    >>> ldp.workloads.parity(2).matrix
    array([[ 1.,  1.,  1.,  1.],
           [ 1., -1.,  1., -1.],
           [ 1.,  1., -1., -1.],
           [ 1., -1., -1.,  1.]])
    """
    return Parity(d, max_weight)


def custom(matrix: np.ndarray) -> Workload:
    """The queries in the rows of ``matrix`` (p, n).

    >>> ldp.workloads.custom([[1, 1, 0], [0, 1, 1]]).answers([5, 0, 2])
    array([5., 2.])
    """
    return Custom(matrix)


def union(parts: Sequence[Workload], weights: Sequence[float] | None = None) -> Workload:
    """All queries of ``parts``, those of part i scaled by ``weights[i]`` (1 by default).

    >>> both = ldp.workloads.union([ldp.workloads.histogram(3), ldp.workloads.prefix(3)], weights=[1, 2])
    >>> both.answers([5, 0, 2])
    array([ 5.,  0.,  2., 10., 10., 14.])
    """
    return Union(parts, weights)


def product(factors: Sequence[Workload]) -> Workload:
    """Every combination of one query per factor, over the product of the factors' types.

    >>> ldp.workloads.product([ldp.workloads.prefix(8), ldp.workloads.histogram(3)])
    <product workload: 24 queries on 24 types, 2 factors>
    """
    return Product(factors)


def from_spec(spec: dict[str, Any]) -> Workload:
    """The workload described by ``spec`` (see `Workload.spec`). ValueError when it describes none.

    >>> ldp.workloads.from_spec({"kind": "width_range", "n": 64, "width": 8})
    <width_range workload: 484 queries on 64 types, width 8>
    """
    parameters = dict(spec)
    kind = parameters.pop("kind", None)
    if kind not in FAMILIES:
        raise ValueError(f"Unknown workload {kind!r}; {meant(kind, FAMILIES)}")
    for nested in {"parts", "factors"} & set(parameters):
        parameters[nested] = [from_spec(part) for part in parameters[nested]]
    if "base" in parameters:
        parameters["base"] = from_spec(parameters["base"])
    if "shape" in parameters and kind in OVER_ATTRIBUTES:
        parameters["shape"] = checked_shape(parameters["shape"])
    check_parameters(f"The {FAMILIES[kind].title} workload", parameters, signature(FAMILIES[kind]).parameters)
    try:
        return FAMILIES[kind](**parameters)
    except TypeError:
        raise ValueError(
            f"The recipe of a {kind} workload does not fit: {', '.join(parameters) or 'it is empty'}."
        ) from None
