"""The reports of a mechanism as rows of whole numbers, as files hold them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldp_core.mechanisms.base import Mechanism

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
    def small(self) -> bool:
        """True if there are at most `FEW_OUTCOMES` different reports, so that it pays to count equal ones first."""
        return self.mechanism.outcomes <= FEW_OUTCOMES

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
        return self.mechanism.possible(rows) if len(rows) else np.zeros(0, dtype=bool)

    def shaped(self, rows: np.ndarray) -> np.ndarray:
        """``rows`` (N, width) as `aggregate` takes them."""
        return rows.reshape(len(rows), *self.shape)


def alphabet(mechanism: Mechanism) -> Alphabet:
    """The reports of ``mechanism``. ValueError where they are not whole numbers, but have continuous noise."""
    nothing = mechanism.nothing
    if nothing.dtype.kind not in "iub":
        mechanism.possible(nothing)  # says why
    return Alphabet(mechanism, nothing.shape[1:], np.dtype(np.uint64 if nothing.dtype == np.uint64 else np.int64))
