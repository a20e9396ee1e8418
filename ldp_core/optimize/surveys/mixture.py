"""The shares of the patterns: they minimise ``sum_A c_A / x_A``, x_A the average Fourier weight of
reports on A.

It is convex in the shares a of the columns, x = E'a with E (columns by sets in the questions). At
the best shares every column in use has the same value,
``sum_A (c_A / x_A^2) e_A = sum_A c_A / x_A``, and no column has more. Prices therefore say which
columns to add.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ldp_core.optimize.surveys.shapes import Shape
from ldp_core.run import Check, unchecked

# The power of a column's price that its share is multiplied by, and updates between two looks at what they bring; entries of the
# Fourier weights gone through in all updates, where they are many.
TOGETHER = 10


class Mixture:
    """The columns of ``shapes`` with their Fourier weights (columns, sets), for costs c (sets,)."""

    def __init__(self, shapes: Sequence[Shape], costs: np.ndarray):
        self.shapes, self.costs = [shape for shape in shapes if len(shape.columns)], costs
        numbers = [shape.numbers[shape.columns[:, 0]] for shape in self.shapes]
        spectra = [shape.spectra[shape.columns[:, 1]] for shape in self.shapes]
        lengths = np.concatenate([np.full(len(part), part.shape[1]) for part in numbers])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.concatenate([part.ravel() for part in spectra])
        places = np.concatenate([part.ravel() for part in numbers])
        fourier_weights = sparse.csr_matrix((entries, places, starts), shape=(len(lengths), len(costs) + 1))
        self.fourier_weights = fourier_weights[:, :-1].tocsr()
        self._transposed = self.fourier_weights.T.tocsr()
        self.shares = np.concatenate([shape.shares for shape in self.shapes])

    def reached(self) -> np.ndarray:
        """(sets,) x."""
        return self._transposed @ self.shares

    @property
    def objective(self) -> float:
        return float(np.sum(self.costs / self.reached()))

    @property
    def worth(self) -> np.ndarray:
        """(sets + 1,) the value of a unit of Fourier weight on each set in the questions, and 0 for
        all others."""
        return np.append(self.costs / self.reached() ** 2, 0.0)

    def fit(self, updates: int, check: Check = unchecked) -> None:
        """Multiplicative updates of the shares (Silvey, Titterington, Torsney 1978), given to the shapes as well."""
        before = np.inf
        shares = self.shares
        for update in range(min(updates, max(2 * TOGETHER, 2 * 10**8 // max(1, self.fourier_weights.nnz)))):
            reached = self._transposed @ shares
            if update % TOGETHER == 0:
                check()
                objective = float(np.sum(self.costs / reached))
                if objective > before * (1 - 1e-8):  # updates end when TOGETHER of them gain less than this share
                    break
                before = objective
            shares = shares * (self.fourier_weights @ (self.costs / reached**2)) ** 0.9
            shares /= shares.sum()
        self.give(shares)

    def give(self, shares: np.ndarray) -> None:
        """Take these ``shares`` (columns,), for the shapes as well."""
        self.shares = shares / shares.sum()
        for shape, part in zip(self.shapes, self.split(self.shares), strict=True):
            shape.shares = part

    def spare(self) -> np.ndarray:
        """(columns,) shares, not summing to 1 exactly, of at most as many columns as sets, with at
        least the same Fourier weight on each set. They are a basic solution of a linear program,
        which prefers patterns over few attributes."""
        attributes = np.concatenate([np.full(len(shape.columns), len(shape.sizes)) for shape in self.shapes])
        needed = sparse.diags(1 / self.reached()) @ self._transposed
        solution = linprog(
            1 + 1e-6 * attributes,
            A_ub=-needed,
            b_ub=-np.ones(len(self.costs)),
            method="highs-ipm",
            options={"time_limit": 20.0},
        )
        return self.shares if solution.status != 0 else np.maximum(solution.x, 0.0)

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """(columns,) the largest part that each column has in the Fourier weight of a set, and whether it has the largest in one of them."""
        weights = sparse.diags(self.shares) @ self.fourier_weights @ sparse.diags(1 / self.reached())
        largest = weights.max(axis=0).toarray().ravel()
        relative = (weights @ sparse.diags(1 / largest)).max(axis=1).toarray().ravel()
        return weights.max(axis=1).toarray().ravel(), relative >= 1 - 1e-12

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """``values`` (columns,) by shape."""
        return np.split(values, np.cumsum([len(shape.columns) for shape in self.shapes])[:-1])
