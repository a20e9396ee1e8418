"""Types that no question distinguishes, merged: few conditions make few types out of however many.

The values of an attribute that no group of queries distinguishes are one *atom*; what is asked depends on the atoms of a person only. Combinations of
atoms with the same answer to every query are one merged type, of a share of all types that is a fraction of whole numbers. Source: this project.

`ldp_core.workloads.distinguished` gives the class of each type, for designs and reports. This module
serves proofs: it works for any number of types, counts the rounding of every entry, and numbers
merged types in an order that stored proofs rely on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ldp_core.workloads.base import Workload
from ldp_core.workloads.composite import Custom, Union
from ldp_core.workloads.distinguished import alike
from ldp_core.workloads.surveys import Group, Survey

_MOST_QUERIES = 2**12
_MOST_ENTRIES = 2**22
_MOST_ATOMS = 2**20
_MOST_COUNTED = 2**62
"""Limits of the search: queries, their entries on the tables of their groups, combinations of
atoms, and the types that these stand for."""
EXACT = 2.0**26
"""Entries that are whole and no larger than this have whole products."""


class MergedQueries(Custom):
    """Queries (p, c) on merged types, with entries that went through ``rounded`` roundings: each is
    off by at most ``rounded`` u of itself."""

    def __init__(self, matrix: np.ndarray, rounded: int):
        super().__init__(matrix)
        self.rounded = rounded

    @property
    def gram_roundings(self) -> int:
        return super().gram_roundings + 3 * self.rounded


@dataclass(frozen=True, eq=False)
class Merged:
    """``queries`` on c merged types, and the share ``prior`` (c,) of each of all types, rounded once."""

    queries: MergedQueries
    prior: np.ndarray


def merged(workload: Workload, most: int, check: Callable[[], None] = lambda: None) -> Merged | None:
    """The queries on the types that they distinguish; None where these are more than ``most``, or no fewer than there are types, or a single one;
    and where there is too much to look through, or entries are neither given as they are nor whole. ``check`` is called before each group is
    looked at, and may raise."""
    groups = [Group((0,), workload)] if workload.survey is None else workload.survey.groups
    entries = sum(group.base.num_queries * group.base.n for group in groups)
    if workload.num_queries > _MOST_QUERIES or entries > _MOST_ENTRIES:
        return None
    survey = workload.survey or Survey((workload.n,), groups)
    pieces = [[*_pieces(group.base, group.weight, int(group.weight != 1))] for group in survey.groups]
    rounded = max(steps for own in pieces for _, steps in own)
    if math.isinf(rounded):
        return None
    asked = [np.concatenate([rows for rows, _ in own]) for own in pieces]
    tables = [alike(rows) for rows in asked]
    atoms = {i: own for i in range(len(survey.shape)) if (own := _atoms(survey, tables, i)).any()}
    telling = math.prod(survey.shape[i] for i in atoms)
    if math.prod(int(own.max()) + 1 for own in atoms.values()) > _MOST_ATOMS or telling > _MOST_COUNTED:
        return None
    first = {i: np.unique(own, return_index=True)[1] for i, own in atoms.items()}
    numbers = np.zeros(math.prod(map(len, first.values())), dtype=np.int64)
    for group, table in zip(survey.groups, tables, strict=True):
        check()
        place = _cells(survey, group, first)
        numbers = np.unique(numbers * len(table) + table[place], return_inverse=True)[1].ravel()
        if numbers.max() >= most:
            return None
    one_of = np.unique(numbers, return_index=True)[1]
    if not 2 <= len(one_of) < survey.n:
        return None
    sizes = np.ones(1, dtype=np.int64)
    for own in atoms.values():
        sizes = np.outer(sizes, np.bincount(own)).ravel()
    counts = np.zeros(len(one_of), dtype=np.int64)
    np.add.at(counts, numbers, sizes)
    cells = [_cells(survey, group, first)[one_of] for group in survey.groups]
    queries = np.concatenate([rows[:, place] for rows, place in zip(asked, cells, strict=True)])
    return Merged(MergedQueries(queries, int(rounded)), np.array([count / telling for count in counts.tolist()]))


def _pieces(workload: Workload, weight: float, rounded: float) -> Iterator[tuple[np.ndarray, float]]:
    """The weighted queries (q, cells) of what a workload is made of, and how often an entry has been rounded: infinity where that is not known."""
    if isinstance(workload, Union):
        for part, scale in zip(workload.parts, workload.weights, strict=True):
            yield from _pieces(part, weight * scale, rounded + 2 * (scale != 1))
        return
    rows = workload.rows(np.arange(workload.num_queries))
    whole = bool(np.all((rows == np.rint(rows)) & (np.abs(rows) <= EXACT)))
    yield weight * rows, rounded if whole or isinstance(workload, Custom) else math.inf


def _atoms(survey: Survey, tables: list[np.ndarray], i: int) -> np.ndarray:
    """(values,) the number of the atom of each value of attribute i."""
    seen = [np.zeros((survey.shape[i], 1), dtype=np.int64)]
    for group, table in zip(survey.groups, tables, strict=True):
        if i in group.attributes:
            shaped = table.reshape([survey.shape[j] for j in group.attributes])
            seen.append(np.moveaxis(shaped, group.attributes.index(i), 0).reshape(survey.shape[i], -1))
    return np.unique(np.hstack(seen), axis=0, return_inverse=True)[1].ravel()


def _cells(survey: Survey, group: Group, first: dict[int, np.ndarray]) -> np.ndarray:
    """(combinations,) the cell of a group's table that a combination of atoms is in, by the ``first`` value of each atom."""
    numbers = np.zeros((1,) * len(first), dtype=np.int64)
    for i in group.attributes:
        numbers = numbers * survey.shape[i]
        if i in first:
            numbers = numbers + first[i].reshape([-1 if j == i else 1 for j in first])
    return np.broadcast_to(numbers, [len(axis) for axis in first.values()]).ravel()
