"""Anderson's acceleration of iterations to a fixed point.

The next point combines the last steps so that its own step would be the shortest if the iteration
were linear (Anderson 1965; Walker and Ni 2011, the unconstrained form). When a step comes out
longer than the one before, the plain iteration resumes with an empty memory (Zhang, O'Donoghue,
Boyd 2020 do so too).
"""

from __future__ import annotations

import numpy as np

MEMORY = 8
# A step may be this many times as long as the one before; a ridge limits the influence of nearly
# equal steps.
_LONGER = 2.0
_RIDGE = 1e-10


class Acceleration:
    """Points from which to go on, for the iteration x -> f(x); ``scale`` (n,) says how steps are measured."""

    def __init__(self, scale: np.ndarray):
        self._scale = scale
        self._moves, self._turns = np.empty((2, MEMORY, len(scale)))
        self._products = np.empty((MEMORY, MEMORY))
        self.forget()

    def forget(self) -> None:
        """Begin again: the iteration has changed."""
        self._count = 0
        self._last: tuple[np.ndarray, np.ndarray, float] | None = None

    def following(self, image: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The point after x, from f(x) = ``image`` and ``step`` = f(x) - x, both (n,)."""
        step = step * self._scale
        length = float(np.linalg.norm(step))
        if self._last is None:
            self._last = image, step, length
            return image
        before, step_before, length_before = self._last
        if length > _LONGER * length_before:
            self.forget()
            return before
        self._last = image, step, length
        place = self._count % MEMORY
        self._count += 1
        held = min(self._count, MEMORY)
        self._moves[place], self._turns[place] = image - before, step - step_before
        moves, turns, products = self._moves[:held], self._turns[:held], self._products[:held, :held]
        products[place] = products[:, place] = turns @ turns[place]
        ridge = _RIDGE * np.trace(products) + np.finfo(float).tiny
        parts = np.linalg.solve(products + ridge * np.eye(held), turns @ step)
        return np.asarray(image - parts @ moves)
