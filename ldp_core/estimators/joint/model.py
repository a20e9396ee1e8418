"""A distribution over all attributes that is a tree of tables: asked for any few attributes, or for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core.anova import Set
from ldp_core.estimators.joint.trees import spanning
from ldp_core.limits import MOST_MODEL_CELLS, MOST_VALUES
from ldp_core.people import ROWS_AT_ONCE, check_cells, smallest_type
from ldp_core.run import Stopped


@dataclass(frozen=True, eq=False)
class JointModel:
    """``users`` people over attributes of these ``sizes``: the distribution of largest entropy among those with the tables over
    ``followed``, sets of attributes that form a tree. It is a `Tables` (`ldp_core.people`): non-negative, and all its tables agree.

    ``probabilities`` has, for each followed set, an array of the sizes of its attributes.
    ``measured``: the sets with measured tables. The followed sets are those (or parts of them)
    whose signal exceeds their noise.
    """

    sizes: tuple[int, ...]
    users: int
    followed: tuple[Set, ...]
    probabilities: tuple[np.ndarray, ...]
    measured: tuple[Set, ...]
    iterations: int
    stopped: Stopped
    """Why the fit ended: "converged", or what limit it met; a model that had not converged follows its tables less closely."""

    @cached_property
    def _tree(self) -> list[tuple[int, int, Set]]:
        return spanning(self.followed)

    def follows(self, attributes: Sequence[int]) -> bool:
        """True if the table of these attributes was fitted to the measured one, within a followed set."""
        return any(set(attributes) <= set(members) for members in self.followed)

    def extrapolated(self, attributes: Sequence[int]) -> bool:
        """True if no measured table contains these attributes: what the model says is then what largest entropy adds."""
        return not any(set(attributes) <= set(members) for members in self.measured)

    def table(self, attributes: Sequence[int]) -> np.ndarray:
        """(cells,) expected users by the values of the attributes at these places, in row-major order of the places as given.

        ValueError for repeated or unknown places, or where there are too many cells, in the answer or on the way to it.
        """
        asked = tuple(map(int, attributes))
        if len(set(asked)) < len(asked) or not all(0 <= i < len(self.sizes) for i in asked):
            raise ValueError(f"Attributes must be different places from 0 to {len(self.sizes) - 1}; got {list(asked)}.")
        check_cells(self.sizes, asked)
        passed: dict[int, list[tuple[np.ndarray, Set]]] = {place: [] for place in range(-1, len(self.followed))}
        for place, parent, shared in reversed(self._tree):
            reached = set(asked) & set(self.followed[place]).union(*(over for _, over in passed[place]))
            if reached <= set(shared) and parent >= 0:
                continue  # what lies beyond sums to one
            kept = tuple(sorted(reached | set(shared)))
            factors = [(self._conditional(place, shared), self.followed[place]), *passed[place]]
            passed[parent].append((self._product(factors, kept), kept))
        factors = passed[-1]
        return self.users * self._product(factors, asked).ravel() if factors else np.array([float(self.users)])

    def people(self, users: int, rng: np.random.Generator) -> np.ndarray:
        """(users, d) value indices of synthetic people, drawn independently from the model. ValueError for too many."""
        if users < 0 or users * len(self.sizes) > MOST_VALUES:
            raise ValueError(
                f"From 0 to {MOST_VALUES // len(self.sizes):,} synthetic people with {len(self.sizes)} attributes can be drawn at "
                f"once, not {users:,}."
            )
        people = np.empty((users, len(self.sizes)), dtype=smallest_type(self.sizes))
        steps = [self._draws(place, shared) for place, _, shared in self._tree]
        for start in range(0, users, ROWS_AT_ONCE):
            rows = people[start : start + ROWS_AT_ONCE]
            for shared, new, edges in steps:
                given = _index(rows, shared, self.sizes)
                cells = edges.size // math.prod(self.sizes[i] for i in shared)
                drawn = np.searchsorted(edges, given + rng.random(len(rows)), side="right") - given * cells
                values = np.unravel_index(np.minimum(drawn, cells - 1), [self.sizes[i] for i in new])
                for i, codes_drawn in zip(new, values, strict=True):
                    rows[:, i] = codes_drawn
        return people

    def _conditional(self, place: int, shared: Set) -> np.ndarray:
        """The table of a followed set, given the attributes that it shares with its parent."""
        table, places = self.probabilities[place], self.followed[place]
        given = table.sum(axis=tuple(k for k, i in enumerate(places) if i not in shared), keepdims=True)
        return np.divide(table, given, out=np.zeros_like(table), where=given > 0)

    def _product(self, factors: Sequence[tuple[np.ndarray, Set]], kept: Set) -> np.ndarray:
        """The product of ``factors`` (array, its attributes), summed over all attributes but ``kept``, in their order."""
        work = math.prod(self.sizes[i] for i in set(kept).union(*(over for _, over in factors)))
        if work > MOST_MODEL_CELLS:
            raise ValueError(
                f"These attributes lie so far apart in the model that a table of {work:,} cells is needed on the way, more than "
                f"{MOST_MODEL_CELLS:,}. Ask for fewer attributes at once, or draw people and count them."
            )
        letters = {i: k for k, i in enumerate(sorted(set().union(*(over for _, over in factors))))}
        operands = [part for array, over in factors for part in (array, [letters[i] for i in over])]
        return np.einsum(*operands, [letters[i] for i in kept], optimize=True)

    def _draws(self, place: int, shared: Set) -> tuple[Set, Set, np.ndarray]:
        """Attributes that are known, those to draw, and the ends of their cells on [k, k + 1] for the k-th known values, flat."""
        places = self.followed[place]
        new = tuple(i for i in places if i not in shared)
        table = self._conditional(place, shared).transpose([places.index(i) for i in (*shared, *new)])
        ends = table.reshape(math.prod(self.sizes[i] for i in shared), -1).cumsum(axis=1)
        ends /= np.where(ends[:, -1:] > 0, ends[:, -1:], 1.0)
        return shared, new, (ends + np.arange(len(ends))[:, None]).ravel()


def _index(rows: np.ndarray, attributes: Set, sizes: Sequence[int]) -> np.ndarray:
    """(rows,) row-major index of each row's values of the attributes; 0 for none."""
    numbers = np.zeros(len(rows), dtype=np.int64)
    for i in attributes:
        numbers = numbers * sizes[i] + rows[:, i]
    return numbers
