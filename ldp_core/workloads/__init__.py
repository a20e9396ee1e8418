"""Sets of linear counting queries: constructors, and recipes to rebuild them."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from types import ModuleType
from typing import Any

import numpy as np

from ldp_core.arguments import check_choice
from ldp_core.wording import check_parameters
from ldp_core.workloads.answers import Line as Line
from ldp_core.workloads.answers import Questionnaire as Questionnaire
from ldp_core.workloads.axes import Axis as Axis
from ldp_core.workloads.axes import axes_of as axes_of
from ldp_core.workloads.base import Workload as Workload
from ldp_core.workloads.base import in_chunks as in_chunks
from ldp_core.workloads.before_part import BeforePart as BeforePart
from ldp_core.workloads.combined_part import CombinedPart as CombinedPart
from ldp_core.workloads.comparisons import quoted as quoted
from ldp_core.workloads.composite import Custom as Custom
from ldp_core.workloads.composite import Product as Product
from ldp_core.workloads.composite import Union as Union
from ldp_core.workloads.days_part import DaysPart as DaysPart
from ldp_core.workloads.expressions import PredicateError as PredicateError
from ldp_core.workloads.expressions import parse as parse
from ldp_core.workloads.group_parts import DifferencePart as DifferencePart
from ldp_core.workloads.group_parts import SharePart as SharePart
from ldp_core.workloads.group_parts import SlopePart as SlopePart
from ldp_core.workloads.group_parts import WorkloadPart as WorkloadPart
from ldp_core.workloads.items_part import ItemsPart as ItemsPart
from ldp_core.workloads.items_part import NumberOfItemsPart as NumberOfItemsPart
from ldp_core.workloads.matrix_files import read_matrix as read_matrix
from ldp_core.workloads.matrix_part import MatrixPart as MatrixPart
from ldp_core.workloads.mean_rank_part import MeanRankPart as MeanRankPart
from ldp_core.workloads.means import MeanPart as MeanPart
from ldp_core.workloads.means import TotalPart as TotalPart
from ldp_core.workloads.means import averageable as averageable
from ldp_core.workloads.means import bins_for as bins_for
from ldp_core.workloads.means import summable as summable
from ldp_core.workloads.on_attributes import OnAttributes as OnAttributes
from ldp_core.workloads.ordered import AllRange as AllRange
from ldp_core.workloads.ordered import Histogram as Histogram
from ldp_core.workloads.ordered import Prefix as Prefix
from ldp_core.workloads.ordered import WidthRange as WidthRange
from ldp_core.workloads.pairs_of_items_part import PairsOfItemsPart as PairsOfItemsPart
from ldp_core.workloads.parts import AllMarginalsPart as AllMarginalsPart
from ldp_core.workloads.parts import HistogramPart as HistogramPart
from ldp_core.workloads.parts import JointHistogramPart as JointHistogramPart
from ldp_core.workloads.parts import KWayMarginalsPart as KWayMarginalsPart
from ldp_core.workloads.parts import MarginalsPart as MarginalsPart
from ldp_core.workloads.parts import MomentsPart as MomentsPart
from ldp_core.workloads.parts import ParityPart as ParityPart
from ldp_core.workloads.parts import Predicate as Predicate
from ldp_core.workloads.parts import PredicatesPart as PredicatesPart
from ldp_core.workloads.parts import PrefixPart as PrefixPart
from ldp_core.workloads.parts import RangesPart as RangesPart
from ldp_core.workloads.parts import RectanglesPart as RectanglesPart
from ldp_core.workloads.predicates import Predicates as Predicates
from ldp_core.workloads.pricing import Price as Price
from ldp_core.workloads.pricing import price as price
from ldp_core.workloads.pricing import work_out as work_out
from ldp_core.workloads.questionnaire import assembled as assembled
from ldp_core.workloads.questionnaire import default_parts as default_parts
from ldp_core.workloads.questionnaire import over_attributes as over_attributes
from ldp_core.workloads.questionnaire import rates_of as rates_of
from ldp_core.workloads.questionnaire import share_of as share_of
from ldp_core.workloads.quotient import Quotient as Quotient
from ldp_core.workloads.quotient import classes_of as classes_of
from ldp_core.workloads.quotient import distinguished as distinguished
from ldp_core.workloads.ratios import Rates as Rates
from ldp_core.workloads.ratios import Ratios as Ratios
from ldp_core.workloads.representatives import Representatives as Representatives
from ldp_core.workloads.secret import PartlySecret as PartlySecret
from ldp_core.workloads.spanned import spans as spans
from ldp_core.workloads.spanned import tells_everybody as tells_everybody
from ldp_core.workloads.strata import Strata as Strata
from ldp_core.workloads.strata import Stratified as Stratified
from ldp_core.workloads.strata import StratifiedSurvey as StratifiedSurvey
from ldp_core.workloads.subsets import AllMarginals as AllMarginals
from ldp_core.workloads.subsets import KWayMarginals as KWayMarginals
from ldp_core.workloads.subsets import Parity as Parity
from ldp_core.workloads.subsets import checked_shape
from ldp_core.workloads.surveys import Group as Group
from ldp_core.workloads.surveys import Survey as Survey
from ldp_core.workloads.surveys import survey as survey
from ldp_core.workloads.symmetry import walsh_hadamard as walsh_hadamard
from ldp_core.workloads.tabulated import AnswerTable as AnswerTable
from ldp_core.workloads.tabulated import answer_tables as answer_tables
from ldp_core.workloads.types_part import ON_TYPES as ON_TYPES
from ldp_core.workloads.types_part import OVER_ATTRIBUTES as OVER_ATTRIBUTES
from ldp_core.workloads.types_part import TypesPart as TypesPart
from ldp_core.workloads.types_part import kinds_for as kinds_for
from ldp_core.workloads.types_part import on_types as on_types
from ldp_core.workloads.types_part import parameter as parameter
from ldp_core.workloads.units import Detect as Detect
from ldp_core.workloads.units import Unit as Unit
from ldp_core.workloads.workload_size import example_queries as example_queries
from ldp_core.workloads.workload_size import joint_domain_fits as joint_domain_fits
from ldp_core.workloads.workload_size import tables_asked as tables_asked
from ldp_core.workloads.workload_size import tables_limit as tables_limit
from ldp_core.workloads.workload_size import unused_attributes as unused_attributes

FAMILIES: dict[str, type[Workload]] = {
    family.kind: family
    for family in (
        *(Histogram, Prefix, AllRange, WidthRange, AllMarginals, KWayMarginals, Parity),
        *(Custom, Union, Product, OnAttributes, Predicates, Representatives, Survey),
        *(Stratified, StratifiedSurvey, PartlySecret),
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


def marginals(attributes: int | Sequence[int], k: int | None = None) -> Workload:
    """`all_marginals`, or those of exactly ``k`` attributes.

    >>> ldp.workloads.marginals((2, 2, 2))
    <all_marginals workload: 27 queries on 8 types>
    """
    return all_marginals(attributes) if k is None else k_way_marginals(attributes, k)


def parity(d: int, max_weight: int | None = None) -> Workload:
    """The characters of ``d`` binary attributes of weight up to ``max_weight`` (all by default), weight 0 included.

    >>> ldp.workloads.parity(2).matrix
    array([[ 1.,  1.,  1.,  1.],
           [ 1., -1.,  1., -1.],
           [ 1.,  1., -1., -1.],
           [ 1., -1., -1.,  1.]])
    """
    return Parity(len(checked_shape(d)), max_weight)


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
    parameters = {name: _rebuilt(value) for name, value in spec.items()}
    kind = check_choice("workload", parameters.pop("kind", None), FAMILIES)
    if "shape" in parameters and kind in OVER_ATTRIBUTES:
        parameters["shape"] = checked_shape(parameters["shape"])
    check_parameters(f"The {FAMILIES[kind].title} workload", parameters, signature(FAMILIES[kind]).parameters)
    try:
        return FAMILIES[kind](**parameters)
    except TypeError:
        raise ValueError(
            f"The recipe of a {kind} workload does not fit: {', '.join(parameters) or 'it is empty'}."
        ) from None


def _rebuilt(value: Any) -> Any:
    if isinstance(value, dict):
        return _group(value) if "attributes" in value else from_spec(value)
    nested = isinstance(value, list) and value and isinstance(value[0], dict)
    return [_rebuilt(item) for item in value] if nested else value


def _group(recipe: dict[str, Any]) -> Group:
    if set(recipe) != {"attributes", "weight", "base"}:
        raise ValueError("A group of a survey has attributes, a weight and a base workload, and nothing else.")
    places, weight = recipe["attributes"], recipe["weight"]
    if not isinstance(places, (list, tuple)) or isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise ValueError("The attributes of a group must be a list of places, and its weight a number.")
    return Group(tuple(places), from_spec(recipe["base"]), float(weight))


def __dir__() -> list[str]:
    """What is public: constructors, classes and recipes, and no modules."""
    of_others = {
        "ModuleType",
        "annotations",
        "signature",
        "Any",
        "Sequence",
        "check_parameters",
        "check_choice",
        "checked_shape",
    }
    held = {name for name, what in globals().items() if not isinstance(what, ModuleType) and name[0] != "_"}
    return sorted(held - of_others)
