"""Questions over attributes as a `Survey`: each group on the table of the few attributes that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from ldp_core import anova
from ldp_core.limits import MOST_FITTED_TYPES, MOST_SETS, MOST_TABLE_CELLS, MOST_TRANSFORMED_TYPES
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom, Union
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.predicates import Predicates
from ldp_core.workloads.subsets import AllMarginals, KWayMarginals, Parity
from ldp_core.workloads.surveys import Group, Survey, marginal

TOGETHER = 5
"""Questions about more yes-or-no attributes at once are proved by classes of pairs of types, though
patterns answer them as well."""


def surveyed(workload: Workload, axes: Sequence[Axis]) -> Workload:
    """The same questions as a `Survey` if that is better. It is past `MOST_TABLE_CELLS` types. It is also
    past `MOST_FITTED_TYPES`, if no question is about all attributes at once, and if questions that do
    not treat the values of each attribute alike are about few enough types to fit a strategy.
    ValueError if a table in the questions is too large."""
    n, shape = workload.n, tuple(axis.size for axis in axes)
    if n <= MOST_FITTED_TYPES or workload.survey is not None or sum(size > 1 for size in shape) < 2:
        return workload
    if n <= MOST_TABLE_CELLS:
        return _about_few(workload, shape, axes) or workload
    return by_tables(workload, shape, axes)


def as_tables(workload: Workload) -> Survey | None:
    """The questions as a `Survey`: a survey as it is, and questions that treat alike attributes of two values, whatever they are called,
    where that serves better (see `surveyed`); None for all others."""
    if workload.survey is not None:
        return workload.survey
    if workload.n <= MOST_FITTED_TYPES or workload.symmetry != "hamming":
        return None
    return _about_few(workload, (2,) * (workload.n.bit_length() - 1))


def _about_few(workload: Workload, shape: tuple[int, ...], axes: Sequence[Axis] | None = None) -> Survey | None:
    """The `Survey`, where it serves better (see `surveyed`); None where something for all types does."""
    bits = all(size <= 2 for size in shape) and workload.n <= MOST_TRANSFORMED_TYPES and workload.symmetry == "hamming"
    if bits and _degree(workload) > TOGETHER:
        return None
    try:
        survey = by_tables(workload, shape, axes)
    except ValueError:
        return None
    return survey if few_at_a_time(survey) else None


def few_at_a_time(survey: Survey) -> bool:
    """True if no question is about all attributes at once, and those that follow an order or single out values are about no more types than
    strategies are fitted to."""
    telling = {i for i, size in enumerate(survey.shape) if size > 1}
    return all(len(set(group.attributes) & telling) < len(telling) for group in survey.groups) and all(
        group.base.n <= MOST_FITTED_TYPES for group in survey.ordered_groups
    )


def by_tables(workload: Workload, shape: tuple[int, ...], axes: Sequence[Axis] | None = None) -> Survey:
    """The same questions on the tables of the attributes that each is about. ValueError where these are too many or too large."""
    groups = list(islice(groups_of(workload, shape, axes), MOST_SETS + 1))
    if len(groups) > MOST_SETS:
        raise ValueError(
            f"The questions are about more than {MOST_SETS:,} sets of attributes: choose the sets that matter, or fewer "
            "attributes at a time."
        )
    return Survey(shape, groups, axes)


def of_bits(workload: Workload) -> Survey:
    """Questions that treat yes-or-no attributes alike, on the tables of those that each is about. ValueError for too many tables."""
    return by_tables(workload, (2,) * (workload.n.bit_length() - 1))


def _degree(workload: Workload) -> int:
    """The most yes-or-no attributes that a component of the questions depends on, which treat all of these alike."""
    scheme = workload.symmetry_group.scheme
    assert scheme is not None
    gamma, _ = scheme.spectrum(workload.gram_column)
    return int(np.flatnonzero(gamma).max(initial=0))


def groups_of(
    workload: Workload, shape: tuple[int, ...], axes: Sequence[Axis] | None = None, weight: float = 1.0
) -> Iterator[Group]:
    """The questions of ``workload``, on types in a table of ``shape``, about each set of attributes."""
    workload_shape = (2,) * workload.d if isinstance(workload, Parity) else getattr(workload, "shape", shape)
    if len(workload_shape) < len(shape):  # it leaves out attributes of a single value, which do not change the types
        telling = [i for i, size in enumerate(shape) if size > 1]
        chosen = None if axes is None else [axes[i] for i in telling]
        for group in groups_of(workload, tuple(shape[i] for i in telling), chosen, weight):
            yield _ordered([telling[i] for i in group.attributes], shape, group)
    elif isinstance(workload, Union):
        for part, scale in zip(workload.parts, workload.weights, strict=True):
            yield from groups_of(part, shape, axes, weight * scale)
    elif isinstance(workload, OnAttributes):
        yield from _placed(workload, shape, axes, weight)
    elif isinstance(workload, KWayMarginals | AllMarginals):
        for members in workload.subsets:
            yield marginal(shape, members, weight, axes) if members else _everybody(shape, weight)
    elif isinstance(workload, Parity):
        yield from _signs(workload, weight)
    elif isinstance(workload, Predicates):
        yield from _conditions(workload, shape, weight)
    else:
        yield Group(tuple(range(len(shape))), workload, weight)


def _placed(
    workload: OnAttributes, shape: Sequence[int], axes: Sequence[Axis] | None, weight: float
) -> Iterator[Group]:
    kept, sizes = workload.kept, tuple(workload.shape[i] for i in workload.kept)
    if workload.used == sizes:
        chosen = None if axes is None else [axes[i] for i in kept]
        for group in groups_of(workload.base, sizes, chosen, weight):
            yield _ordered([kept[i] for i in group.attributes], shape, group)
    else:  # values that no query counts are cells of the table all the same
        places = tuple(sorted(kept))
        base = OnAttributes([shape[i] for i in places], [places.index(i) for i in kept], workload.base, workload.used)
        yield Group(places, base, weight)


def _ordered(kept: Sequence[int], shape: Sequence[int], group: Group) -> Group:
    """``group`` about the attributes ``kept``, whose places need not increase."""
    places = tuple(sorted(kept))
    if list(places) == list(kept):
        return Group(places, group.base, group.weight)
    base = OnAttributes([shape[i] for i in places], [places.index(i) for i in kept], group.base)
    return Group(places, base, group.weight)


def _everybody(shape: Sequence[int], weight: float) -> Group:
    place = next(i for i, size in enumerate(shape) if size > 1)
    return Group((place,), Custom(np.ones((1, shape[place])), ["everybody"]), weight)


def _signs(workload: Parity, weight: float) -> Iterator[Group]:
    for members in anova.subsets(range(workload.d), workload.max_weight):
        if not members:
            yield _everybody((2,) * workload.d, weight)
            continue
        parity = Parity(len(members))
        named = [f"x{i + 1}" if workload.axes is None else workload.axes[i].at(1) for i in members]
        row = parity.rows(np.array([parity.num_queries - 1]))
        yield Group(members, Custom(row, [f"parity of {', '.join(named)}"]), weight)


def _conditions(workload: Predicates, shape: Sequence[int], weight: float) -> Iterator[Group]:
    """Conditions about the same attributes together, in the order of their first appearance."""
    places_by_set: dict[tuple[int, ...], list[int]] = {}
    for k, factors in enumerate(workload.predicates):
        mentioned = tuple(sorted({i for on, _ in factors for i in on}))
        places_by_set.setdefault(mentioned or (0,), []).append(k)
    for places, chosen in places_by_set.items():
        moved = [[(tuple(places.index(i) for i in on), table) for on, table in workload.predicates[k]] for k in chosen]
        names = None if workload.names is None else [workload.names[k] for k in chosen]
        yield Group(places, Predicates([shape[i] for i in places], moved, names), weight)
