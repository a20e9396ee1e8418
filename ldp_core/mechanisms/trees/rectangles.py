"""Queries as rectangles of a table of two attributes, and the shape of that table as far as a
workload shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ldp_core.mechanisms.trees.levels import Ranges
from ldp_core.workloads import (
    AllMarginals,
    Axis,
    Histogram,
    KWayMarginals,
    OnAttributes,
    Product,
    Union,
    Workload,
)

Shape = tuple[int, int]


@dataclass(frozen=True)
class Rectangles:
    """Every combination of a range along each of some attributes, which is counted ``weight`` times; the attributes that are not
    ``along`` (attribute, ranges) are taken whole."""

    shape: Shape
    along: tuple[tuple[int, Ranges], ...]
    weight: float = 1.0

    @property
    def sides(self) -> tuple[Ranges | None, Ranges | None]:
        """The ranges along the first attribute and along the second, None where it is taken whole."""
        along = dict(self.along)
        return along.get(0), along.get(1)


def rectangles(workload: Workload, shape: Shape) -> list[Rectangles] | None:
    """The queries of ``workload``, in their order, as rectangles of a table of ``shape``; None where some are none."""
    if isinstance(workload, Union):
        parts = [rectangles(part, shape) for part in workload.parts]
        pieces = [
            replace(piece, weight=weight * piece.weight)
            for part, weight in zip(parts, workload.weights, strict=True)
            for piece in part or ()
        ]
        return None if None in parts else pieces
    if not isinstance(workload, OnAttributes):
        tables = _tables(workload, (0, 1), shape)
    else:
        telling = [i for i, size in enumerate(workload.shape) if size > 1]
        if tuple(workload.shape[i] for i in telling) != shape or not set(workload.kept) <= set(telling):
            return None
        tables = _tables(workload.base, [telling.index(i) for i in workload.kept], workload.used)
    return None if tables is None else [Rectangles(shape, along) for along in tables]


def _tables(base: Workload, kept: Sequence[int], used: Sequence[int]) -> list[tuple[tuple[int, Ranges], ...]] | None:
    """The ranges along each attribute of the tables that ``base`` asks for, about attributes ``kept`` of ``used`` values."""
    if isinstance(base, Histogram):
        return [tuple((axis, Histogram(size)) for axis, size in zip(kept, used, strict=True))]
    if isinstance(base, (AllMarginals, KWayMarginals)) and base.shape == tuple(used):
        return [tuple((kept[i], Histogram(used[i])) for i in subset) for subset in base.subsets]
    factors = base.factors if isinstance(base, Product) else (base,)
    ranges = [factor for factor in factors if isinstance(factor, Ranges)]
    if len(ranges) != len(factors) or [factor.n for factor in ranges] != list(used):
        return None
    return [tuple(zip(kept, ranges, strict=True))]


# --- the attributes of a workload ---------------------------------------------------------------


def attribute_sizes(workload: Workload) -> tuple[int, ...] | None:
    """Sizes of the attributes of 2 types or more, in the order of the types, as far as the
    questions show them. None if they are about a plain list of types, or contradict each other."""
    if isinstance(workload, Union):
        shapes = {shape for part in workload.parts if (shape := attribute_sizes(part)) is not None}
        return shapes.pop() if len(shapes) == 1 else None
    if workload.axes is not None and isinstance(workload, Histogram):
        sizes = [axis.size for axis in workload.axes]
    else:
        sizes = [size for size, _ in workload.symmetry_group.shifts]
    return tuple(size for size in sizes if size > 1) if len(sizes) > 1 else None


def _axes(workload: Workload) -> Iterator[Axis]:
    """The attributes that the questions name."""
    yield from workload.axes or ()
    inner: Sequence[Workload] = ()
    if isinstance(workload, Union):
        inner = workload.parts
    elif isinstance(workload, Product):
        inner = workload.factors
    elif isinstance(workload, OnAttributes):
        inner = (workload.base,)
    for part in inner:
        yield from _axes(part)


def domain_rule(n: int, epsilon: float, workload: Workload | None) -> str | None:
    """Why trees over two attributes are not for these questions, None when they are."""
    shape = None if workload is None else attribute_sizes(workload)
    if workload is None or shape is None:
        return "It is for combinations of exactly two ordered attributes, and the questions do not tell what they are."
    if len(shape) != 2:
        return f"It is for combinations of exactly two ordered attributes, and there are {len(shape)}."
    if any(axis.size > 1 and not axis.ordered for axis in _axes(workload)):
        return "It is for two ordered attributes, and the questions name one that has no order."
    return None
