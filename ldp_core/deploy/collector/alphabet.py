"""The rows of whole numbers that are reports of a mechanism: those that `privatize` can give, and
no others.

`aggregate` refuses a whole array for one bad row, and takes some rows that no device sends (a set that names one type
twice, say), which would weigh more than a report can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.hrr import HadamardRandomizedResponse
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.strata import StratifiedMechanism
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.surveys.sampled import SampledSets
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.mechanisms.surveys.split_survey import SplitSurvey
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.mechanisms.trees.node_reports import HierarchicalTree
from ldp_core.mechanisms.unary import UnaryMechanism

FEW_OUTCOMES = 2**22
"""The database counts equal reports first if there are at most this many different ones."""


@dataclass(frozen=True)
class Alphabet:
    """Reports of ``mechanism``: arrays of ``shape`` () or (k,), of ``dtype`` int64 or uint64."""

    mechanism: Mechanism
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def width(self) -> int:
        """Numbers in a report."""
        return self.shape[0] if self.shape else 1

    @property
    def outcomes(self) -> float:
        """How many different reports there are, or infinity where they are not counted."""
        return _outcomes(self.mechanism.drawn, self.width)

    @property
    def few(self) -> bool:
        """True if there are at most `FEW_OUTCOMES` different reports, so that it pays to count equal ones first."""
        return self.outcomes <= FEW_OUTCOMES

    @property
    def nothing(self) -> np.ndarray:
        """The reports of no one."""
        return np.zeros((0, *self.shape), dtype=self.dtype)

    def some(self, number: int) -> np.ndarray:
        """(number, ...) reports of people spread at random, for examples."""
        mechanism, rng = self.mechanism, np.random.default_rng(0)
        people = rng.integers(0, mechanism.sizes, size=(number, len(mechanism.sizes)))
        sent = mechanism.privatize(mechanism.inputs(people), rng)
        return sent.astype(self.dtype, copy=False)

    def possible(self, rows: np.ndarray) -> np.ndarray:
        """(N,) which of the ``rows`` (N, width) are reports."""
        return _possible(self.mechanism.drawn, rows) if len(rows) else np.zeros(0, dtype=bool)

    def shaped(self, rows: np.ndarray) -> np.ndarray:
        """``rows`` (N, width) as `aggregate` takes them."""
        return rows.reshape(len(rows), *self.shape)


def alphabet(mechanism: Mechanism) -> Alphabet:
    """The reports of ``mechanism``. ValueError where they are not whole numbers, but have continuous noise."""
    nobody = np.zeros((0, len(mechanism.sizes)), dtype=np.int64)
    sent = mechanism.privatize(mechanism.inputs(nobody), np.random.default_rng(0))
    if not np.issubdtype(sent.dtype, np.integer) and not np.issubdtype(sent.dtype, np.bool_):
        raise ValueError(
            "Reports of this mechanism hold continuous noise, so there are no files of them to be collected: choose a mechanism "
            "with whole-number reports."
        )
    return Alphabet(mechanism, sent.shape[1:], np.dtype(np.uint64 if sent.dtype == np.uint64 else np.int64))


def _outputs(mechanism: object) -> int | None:
    """How many reports there are of a mechanism that sends one number; None for others."""
    if isinstance(mechanism, ExplicitMechanism):
        return int(mechanism.strategy.shape[0])
    if isinstance(mechanism, RandomizedResponse):
        return mechanism.n
    if isinstance(mechanism, HadamardRandomizedResponse):
        return 2 * len(mechanism.coefficients)
    return None


def _outcomes(mechanism: object, width: int) -> float:
    """How many different reports there are, or infinity."""
    if isinstance(mechanism, StratifiedMechanism):
        parts = zip(mechanism.strata, mechanism.widths, strict=True)
        return sum(_outcomes(made.drawn, math.prod(shape)) for made, shape in parts)
    if width == 1:
        return _outputs(mechanism) or math.inf
    if isinstance(mechanism, Haar):
        return 2 * sum(mechanism.blocks)
    if isinstance(mechanism, SubsetSelection):
        return float(math.perm(mechanism.n, mechanism.size)) if mechanism.n < 64 else math.inf
    if isinstance(mechanism, UnaryMechanism) and not isinstance(mechanism, LocalHashing):
        return 2.0**mechanism.n if mechanism.n < 64 else math.inf
    if isinstance(mechanism, HierarchicalTree):
        return sum(_outcomes(oracle, width - 1) for oracle in mechanism.oracles)
    return math.inf


@singledispatch
def _possible(mechanism: Any, rows: np.ndarray) -> np.ndarray:
    """(N,) which of the ``rows`` (N, width) are reports of ``mechanism``."""
    outputs = _outputs(mechanism)
    return _tried(mechanism, rows) if outputs is None else _below(rows, outputs)


@_possible.register
def _(mechanism: SubsetSelection, rows: np.ndarray) -> np.ndarray:
    return _below(rows, mechanism.n) & (np.diff(np.sort(rows, axis=1), axis=1) != 0).all(axis=1)


@_possible.register
def _(mechanism: LocalHashing, rows: np.ndarray) -> np.ndarray:
    return _below(rows[:, 1:], mechanism.buckets)


@_possible.register
def _(mechanism: UnaryMechanism, rows: np.ndarray) -> np.ndarray:
    return _below(rows, 2)


@_possible.register
def _(mechanism: Haar, rows: np.ndarray) -> np.ndarray:
    known = _below(rows[:, :1], len(mechanism.blocks))
    blocks = np.array(mechanism.blocks)[np.where(known, rows[:, 0], 0)]
    return known & (rows[:, 1] >= 0) & (rows[:, 1] < 2 * blocks)


@_possible.register
def _(mechanism: HierarchicalTree, rows: np.ndarray) -> np.ndarray:
    return _one_of(mechanism.oracles, rows, filler=0)


@_possible.register
def _(mechanism: StratifiedMechanism, rows: np.ndarray) -> np.ndarray:
    return _one_of(mechanism.strata, rows, filler=0)


@_possible.register
def _(mechanism: SplitSurvey, rows: np.ndarray) -> np.ndarray:
    return _one_of(mechanism.designs, rows, filler=-1)


@_possible.register
def _(mechanism: SampledSets, rows: np.ndarray) -> np.ndarray:
    return _one_of([mechanism.oracle(k) for k in range(len(mechanism.sets))], rows, filler=-1)


def _below(rows: np.ndarray, limits: int | np.ndarray) -> np.ndarray:
    inside: np.ndarray = (rows >= 0) & (rows < np.asarray(limits).astype(rows.dtype))
    return np.all(inside, axis=1)


def _one_of(mechanisms: Sequence[Mechanism], rows: np.ndarray, filler: int) -> np.ndarray:
    """Rows of the number of a part, a report of it, and the ``filler``."""
    possible, numbers = np.zeros(len(rows), dtype=bool), rows[:, 0]
    for k in np.unique(numbers[_below(rows[:, :1], len(mechanisms))]).tolist():
        own = np.flatnonzero(numbers == k)
        width = alphabet(mechanisms[k]).width
        sent, rest = rows[own, 1 : 1 + width], rows[own, 1 + width :]
        possible[own] = _possible(mechanisms[k].drawn, sent) & (rest == filler).all(axis=1)
    return possible


@_possible.register
def _(mechanism: ScrambledPatterns, rows: np.ndarray) -> np.ndarray:
    """Rows of the number of a pattern, a permutation for each of its attributes, and -1."""
    possible, numbers = np.zeros(len(rows), dtype=bool), rows[:, 0]
    for k in np.unique(numbers[_below(rows[:, :1], len(mechanism.patterns))]).tolist():
        sizes, own = mechanism.patterns[k].cells.shape, np.flatnonzero(numbers == k)
        *moved, rest = np.split(rows[own, 1:], np.cumsum(sizes), axis=1)
        good = (rest == -1).all(axis=1)
        for permutation, size in zip(moved, sizes, strict=True):
            good &= (np.sort(permutation, axis=1) == np.arange(size)).all(axis=1)
        possible[own] = good
    return possible


def _tried(mechanism: Mechanism, rows: np.ndarray) -> np.ndarray:
    """The rows that `aggregate` of another mechanism takes, found by halving."""
    try:
        mechanism.aggregate(alphabet(mechanism).shaped(rows))
    except ValueError:
        if len(rows) == 1:
            return np.zeros(1, dtype=bool)
        half = len(rows) // 2
        return np.concatenate([_tried(mechanism, part) for part in (rows[:half], rows[half:])])
    return np.ones(len(rows), dtype=bool)
