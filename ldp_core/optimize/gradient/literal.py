"""Algorithm 2 of McKenna, Maity, Mazumdar and Miklau (2020) as printed: plain gradient steps on z and Q, with one step size.

``z <- clip(z - alpha dL/dz, 0, 1)``, then ``Q <- project(Q - beta dL/dQ)`` onto the columns that z allows. The derivative for z goes
through the projection: an entry at a bound of its row moves with it, and the free entries of its column share what is missing
evenly. The paper asks for an alpha smaller than beta and leaves it open: here it is smaller by m e^epsilon for m rows. As there,
beta comes from a search by short runs.

The starting strategy is drawn evenly and projected with z = (1 + e^-epsilon)/2m, as in `random_start`.
"""

from __future__ import annotations

import numpy as np

from ldp_core.optimize.gradient.descent import DescentSearch, FeasibleStrategy, slopes
from ldp_core.optimize.gradient.projection import project_types
from ldp_core.optimize.strategy import evaluate
from ldp_core.privacy import exp_epsilon

TRIALS = 4.0 ** np.arange(-2, 5)
"""Step sizes tried, in units of one that moves the entry with the steepest slope by an average entry."""


def slope_of_lower(transposed: np.ndarray, lower: np.ndarray, ratio: float, gradient: np.ndarray) -> np.ndarray:
    """(m,) dL/dz through the projection, from ``gradient`` (n, m) dL/dQ at the projected strategy ``transposed`` (n, m)."""
    moves = np.where(lower * ratio <= transposed, ratio, np.where(lower >= transposed, 1.0, 0.0))
    free = moves == 0
    shared = np.where(free, gradient, 0.0).sum(axis=1) / np.maximum(free.sum(axis=1), 1)
    return ((gradient - shared[:, None]) * moves).sum(axis=0)


class LiteralDescent(DescentSearch):
    """Rounds of Algorithm 2 as printed; ``best`` is the best strategy seen, as steps of one size can also rise."""

    def prepare(self) -> None:
        """The search for beta: the size whose short run ends lowest."""
        self.best = start = self._start()
        self.finished = start.objective <= 0  # no questions
        if self.finished:
            return
        slope = np.abs(self._gradient(start)).max()
        unit = start.at.outputs.sum() / start.transposed.size / slope
        ends = {float(size * unit): self._trial(start, float(size * unit)) for size in TRIALS}
        self._beta = min(ends, key=lambda beta: ends[beta])
        self._point = start

    def round(self) -> None:
        moved = self._step(self._point, self._beta)
        if moved is None:  # the paper argues that small steps never lose a type; this one did
            self.finished = True
            return
        self._point = moved
        if self.best is None or moved.objective < self.best.objective:
            self.best = moved

    def _trial(self, point: FeasibleStrategy, beta: float) -> float:
        for _ in range(50):
            moved = self._step(point, beta)
            if moved is None:
                return np.inf
            point = moved
        return point.objective

    def _gradient(self, point: FeasibleStrategy) -> np.ndarray:
        """(n, m) dL/dQ, transposed."""
        product, curvature = slopes(point.transposed, point.at, self._check)
        return (curvature - 2 * product) / point.at.outputs

    def _step(self, point: FeasibleStrategy, beta: float) -> FeasibleStrategy | None:
        P, low, gradient = point.transposed, point.lower, self._gradient(point)
        ratio = exp_epsilon(self._epsilon)
        by_lower = slope_of_lower(P, low, ratio, gradient)
        lower = np.clip(low - beta / (len(low) * ratio) * by_lower, 0.0, 1.0)
        total = lower.sum()
        if not (total <= 1 <= total * ratio and lower.min() > 0):
            return None
        transposed, _ = project_types(P - beta * gradient, lower, lower * ratio, np.zeros(len(P)), check=self._check)
        at = evaluate(transposed, self._root, self._check)
        return None if at is None else FeasibleStrategy(transposed, lower, at)
