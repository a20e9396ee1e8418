"""The types that questions distinguish: those with different columns in W.

Types with equal columns are one type to every question. A mechanism for the classes of such types loses nothing: draw a type of
each class evenly, and any mechanism for all types becomes one for the classes, with the same variance on average over a class.
The values of an attribute that no group of queries distinguishes are one *atom*; what is asked depends on the atoms of a person only.
That finds the classes of any number of types. Source: this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core.limits import MOST_MATRIX_TYPES, MOST_TABLE_CELLS
from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom, Union
from ldp_core.workloads.on_attributes import OnAttributes
from ldp_core.workloads.representatives import Representatives
from ldp_core.workloads.surveys import Group

_CLOSE = 1e-9
"""Images of types under a random query that differ by less, relative to the largest, may be equal."""
_MOST_QUERIES, _MOST_ENTRIES, _MOST_COUNTED = 2**12, 2**22, 2**62
"""Queries about classes that are written out, their entries on the tables of their groups, and the types that are counted."""
EXACT = 2.0**26
"""Entries that are whole and no larger than this have whole products."""


class RoundedQueries(Custom):
    """Queries (p, c) with entries that went through ``rounded`` roundings: each is off by at most ``rounded`` u of itself."""

    def __init__(self, matrix: np.ndarray, rounded: int):
        super().__init__(matrix)
        self.rounded = rounded

    @property
    def gram_roundings(self) -> int:
        return super().gram_roundings + 3 * self.rounded


@dataclass(frozen=True, eq=False)
class Quotient:
    """``workload``, the queries about c classes of types, numbered by their first types, and ``even`` (c,), the share of each class of
    all types, rounded once. ``table`` has the class of each combination of the ``atoms``, by attribute, of types in a table of ``shape``."""

    workload: Workload
    even: np.ndarray
    shape: tuple[int, ...]
    atoms: dict[int, np.ndarray]
    table: np.ndarray

    @cached_property
    def classes(self) -> np.ndarray:
        """(n,) the class of each type."""
        axes = [size if i in self.atoms else 1 for i, size in enumerate(self.shape)]
        return np.broadcast_to(self.table[np.ix_(*self.atoms.values())].reshape(axes), self.shape).ravel()

    @property
    def sizes(self) -> np.ndarray:
        """(c,) the number of types in each class."""
        return np.bincount(self.classes)

    def shares(self, prior: np.ndarray | None) -> np.ndarray | None:
        """(c,) ``prior`` (n,) added up by class. None if all classes have the same share and no prior is given."""
        if prior is not None:
            return np.bincount(self.classes, prior)
        return None if np.ptp(self.even) == 0 else self.even

    def spread(self, shares: np.ndarray) -> np.ndarray:
        """(n,) the prior over types whose classes have ``shares`` (c,), equal within each class."""
        return (shares / self.sizes)[self.classes]


def quotient(workload: Workload, most: float = math.inf, check: Callable[[], None] = lambda: None) -> Quotient | None:
    """The classes of types that ``workload`` distinguishes; None where they are all types, a single one or more than ``most``, and where there is
    too much to look through, or roundings are not known. ``check`` is called before each group is looked at, and may raise."""
    if workload.n <= MOST_MATRIX_TYPES:  # a random query shows whether no two types have equal columns
        images = np.sort(workload.apply_gram(np.random.default_rng(0).random(workload.n)))
        if workload.symmetry == "exchangeable" or np.diff(images).min() > _CLOSE * np.abs(images).max():
            return None
    shape, groups = _groups(workload)
    entries = sum(group.base.num_queries * group.base.n for group in groups)
    written = workload.num_queries <= _MOST_QUERIES and entries <= _MOST_ENTRIES
    if workload.survey is not None and not written:
        return None
    tables = [_cell_classes(group.base) for group in groups]
    atoms = {i: atom for i in range(len(shape)) if (atom := _atoms(shape, groups, tables, i)).any()}
    first = {i: np.unique(atom, return_index=True)[1] for i, atom in atoms.items()}
    axes, telling = [len(values) for values in first.values()], math.prod(shape[i] for i in atoms)
    if math.prod(axes) > MOST_TABLE_CELLS or telling > _MOST_COUNTED:
        return None
    numbers = np.zeros(math.prod(axes), dtype=np.int64)
    for group, table in zip(groups, tables, strict=True):
        check()
        of_group = table[_cells(shape, group, first)]
        numbers = np.unique(numbers * len(table) + of_group, return_inverse=True)[1].ravel()
        if numbers.max() >= most:
            return None
    numbers, one_of = _by_first(numbers)
    if not 2 <= len(one_of) < workload.n:
        return None
    sizes, counts = np.ones(1, dtype=np.int64), np.zeros(len(one_of), dtype=np.int64)
    for atom in atoms.values():
        sizes = np.outer(sizes, np.bincount(atom)).ravel()
    np.add.at(counts, numbers, sizes)
    even, reduced = np.array([count / telling for count in counts.tolist()]), None
    if telling == len(one_of) and workload.survey is None:  # no question is about the other attributes
        reduced = _among(workload, list(atoms))
    elif written:
        reduced = _rounded(groups, [_cells(shape, group, first)[one_of] for group in groups])
    if reduced is None and workload.n <= MOST_MATRIX_TYPES:
        types = _cells(shape, Group(tuple(range(len(shape))), workload), first)[one_of]
        reduced = Representatives(workload, types)
    return None if reduced is None else Quotient(reduced, even, shape, atoms, numbers.reshape(axes))


def distinguished(workload: Workload) -> Quotient | None:
    """The classes of types that the questions distinguish, worked out once for a workload.

    None if these are all the types, a single one, if there are too many types to compare, or where a class could be secret in part.
    """
    kept = vars(workload)
    if "distinguished" not in kept:
        comparable = workload.all_secret is workload and workload.n <= (
            MOST_MATRIX_TYPES if workload.survey else MOST_TABLE_CELLS
        )
        kept["distinguished"] = quotient(workload) if comparable else None
    classes: Quotient | None = kept["distinguished"]
    return classes


def classes_of(workload: Workload) -> Quotient | None:
    """The classes of types to make reports about; None if they are nearly as many as the types."""
    classes = distinguished(workload)
    return classes if classes is not None and classes.workload.n <= 0.9 * workload.n else None


def _groups(workload: Workload) -> tuple[tuple[int, ...], Sequence[Group]]:
    """The sizes of the attributes, and the questions about some of these; questions that know of no attributes are one group, on one attribute."""
    if workload.survey is not None:
        return workload.survey.shape, workload.survey.groups
    parts = _parts(workload)
    about = [part for part in parts if isinstance(part, OnAttributes)]
    if len(about) < len(parts) or len({part.shape for part in about}) > 1:
        return (workload.n,), [Group((0,), workload)]
    weights = workload.weights if isinstance(workload, Union) else [1.0]
    kept = [tuple(sorted(part.kept)) for part in about]
    groups = [Group(on, part.among(on), weight) for on, part, weight in zip(kept, about, weights, strict=True)]
    return about[0].shape, groups


def _parts(workload: Workload) -> Sequence[Workload]:
    return workload.parts if isinstance(workload, Union) else (workload,)


def _among(workload: Workload, kept: Sequence[int]) -> Workload:
    """Questions about attributes, of types in a table of those ``kept`` alone."""
    parts = [part.among(kept) for part in _parts(workload) if isinstance(part, OnAttributes)]
    return Union(parts, workload.weights) if isinstance(workload, Union) else parts[0]


def _rounded(groups: Sequence[Group], cells: Sequence[np.ndarray]) -> RoundedQueries | None:
    """The queries of ``groups`` about some ``cells`` (c,) of the table of each; None where their roundings are not known."""
    pieces = [
        (rows[:, chosen], steps)
        for group, chosen in zip(groups, cells, strict=True)
        for rows, steps in _pieces(group.base, group.weight, int(group.weight != 1))
    ]
    rounded = max(steps for _, steps in pieces)
    return None if math.isinf(rounded) else RoundedQueries(np.concatenate([rows for rows, _ in pieces]), int(rounded))


def _by_first(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``numbers`` of classes in the order of their first members, and these."""
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place.ravel()], np.sort(first)


def _pieces(workload: Workload, weight: float, rounded: float) -> Iterator[tuple[np.ndarray, float]]:
    """The weighted queries (q, cells) of each part of a workload, and how often an entry has been rounded: infinity where that is not known."""
    if isinstance(workload, Union):
        for part, scale in zip(workload.parts, workload.weights, strict=True):
            yield from _pieces(part, weight * scale, rounded + 2 * (scale != 1))
        return
    rows = workload.rows(np.arange(workload.num_queries))
    whole = bool(np.all((rows == np.rint(rows)) & (np.abs(rows) <= EXACT)))
    yield weight * rows, rounded if whole or isinstance(workload, Custom) else math.inf


def _cell_classes(base: Workload) -> np.ndarray:
    """(cells,) the number of the class of each cell. Where there is no way to compare them, each is one: finer classes are as good."""
    if base.num_queries * base.n <= _MOST_ENTRIES:
        return alike(base.rows(np.arange(base.num_queries)))
    # G e_u = G e_v exactly if W e_u = W e_v, and G is there for any number of queries.
    return alike(base.gram_dense()) if base.n <= MOST_MATRIX_TYPES else np.arange(base.n)


def alike(rows: np.ndarray) -> np.ndarray:
    """(n,) the number of the class of each type: types are in one where all ``rows`` (q, n) of questions are the same to the last bit."""
    columns = np.ascontiguousarray(rows.T) + 0.0  # no -0
    keys = columns.view(np.dtype((np.void, columns.shape[1] * columns.itemsize))).ravel()
    return np.unique(keys, return_inverse=True)[1].ravel()


def _atoms(shape: Sequence[int], groups: Sequence[Group], tables: Sequence[np.ndarray], i: int) -> np.ndarray:
    """(values,) the number of the atom of each value of attribute i, by the first of its values."""
    seen = [np.zeros((shape[i], 1), dtype=np.int64)]
    for group, table in zip(groups, tables, strict=True):
        if i in group.attributes:
            shaped = table.reshape([shape[j] for j in group.attributes])
            seen.append(np.moveaxis(shaped, group.attributes.index(i), 0).reshape(shape[i], -1))
    return _by_first(np.unique(np.hstack(seen), axis=0, return_inverse=True)[1].ravel())[0]


def _cells(shape: Sequence[int], group: Group, first: dict[int, np.ndarray]) -> np.ndarray:
    """(combinations,) the cell of a group's table that a combination of atoms is in, by the ``first`` value of each atom."""
    numbers = np.zeros((1,) * len(first), dtype=np.int64)
    for i in group.attributes:
        numbers = numbers * shape[i]
        if i in first:
            numbers = numbers + first[i].reshape([-1 if j == i else 1 for j in first])
    return np.broadcast_to(numbers, [len(axis) for axis in first.values()]).ravel()
