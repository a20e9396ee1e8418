"""Designs over binary attributes for up to 2^16 types: base rows whose XOR translations are the outputs; none is written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldp_core.optimize.certified import WINDOW
from ldp_core.optimize.columns.weights import fitted_shares
from ldp_core.optimize.gradient.method import Told
from ldp_core.optimize.symmetric.levels import RIDGE, LevelMixture, LevelSearch, images
from ldp_core.privacy import check_epsilon, odds
from ldp_core.run import Budget, Callback, Cancel, Stopped, drive
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload, walsh_hadamard

MOST_TYPES = 2**16
"""Largest number of types for which base rows are designed."""

# Base rows, and entries of all of them together; updates of their shares; smaller shares are left out.
MOST_ROWS, MOST_ENTRIES, UPDATES, NEGLIGIBLE = 2048, 2**24, 40, 1e-9


@dataclass(frozen=True)
class OrbitDesign(Told):
    """Base rows ``high`` (b, n) of booleans and the probabilities ``shares`` (b,) of their orbits, for
    `ldp_core.mechanisms.orbits.OrbitMechanism`, whose objective L is ``objective``; how they were found as in `Optimized`."""

    high: np.ndarray
    shares: np.ndarray
    objective: float
    history: tuple[tuple[int, float, float], ...]
    rounds: int
    seconds: float
    epsilon: float
    seed: int
    stopped: Stopped

    def __repr__(self) -> str:
        rows, n = self.high.shape
        return f"<OrbitDesign: {rows:,} base rows on {n:,} types, {self.told}>"


def design_orbits(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 10.0,
    max_rounds: int | None = None,
    seed: int = 0,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> OrbitDesign:
    """Base rows of least ``L = tr(M^-1 G)`` for a workload that permuting and flipping binary attributes leaves as it is.

    The search is over rows with all their images under translations and permutations of the attributes, where L is a function
    of as many numbers as there are attributes; ``callback(progress)`` sees that objective (and has no strategy to show). In the
    end each base row gets as many permutations as fit, and shares are fitted to those; the search knows what that costs, and chooses
    rows that lose little.
    Parameters as in `ldp_core.optimize.design`. Raises ValueError for other workloads, and above 2^16 types.
    """
    budget = Budget(time_limit, max_rounds, cancel, callback)
    epsilon = check_epsilon(epsilon)
    if workload.symmetry != "hamming" or workload.n > MOST_TYPES:
        raise ValueError(
            f"Orbits are designed for workloads over binary attributes, such as marginals and parities, with up to "
            f"{MOST_TYPES:,} types; this is {workload.title} on {workload.n:,}."
        )
    rng = np.random.default_rng(seed)
    with blas_threads(workload.n):
        search = LevelSearch(workload, epsilon, rng, _most(workload.n))
        run = drive(search, budget, WINDOW)
        mixture, _ = run.found
        found = images(mixture, _copies(mixture), rng)
        high = np.vstack([np.arange(workload.n) == 0, found])  # with randomized response, no character is lost
        shares, objective = _fitted(workload, high, odds(epsilon))
    kept = shares > NEGLIGIBLE
    return OrbitDesign(
        high[kept],
        shares[kept] / shares[kept].sum(),
        objective,
        run.history,
        budget.rounds,
        budget.seconds,
        epsilon,
        seed,
        run.stopped,
    )


def _copies(mixture: LevelMixture) -> np.ndarray:
    """(b,) how many permutations of each base row to take. The fewer characters a row tells something about, the more uneven
    the choice makes the eigenvalues of M: the sum of those variances is least for copies ~ share / sqrt(characters)."""
    powers = walsh_hadamard(mixture.high)[:, 1:] ** 2
    characters = powers.sum(axis=1) ** 2 / np.square(powers).sum(axis=1)
    wanted = mixture.shares / np.sqrt(characters)
    return np.maximum(1, np.rint(_most(mixture.high.shape[1]) * wanted / wanted.sum())).astype(int)


def _most(n: int) -> int:
    """How many base rows there may be."""
    return min(MOST_ROWS, MOST_ENTRIES // n)


def _fitted(workload: Workload, high: np.ndarray, ratio: float) -> tuple[np.ndarray, float]:
    """Shares (k,) of the orbits of base rows ``high``, and L."""
    energies = np.empty(high.shape)
    for row, spectrum in zip(high, energies, strict=True):
        spectrum[:] = walsh_hadamard(np.where(row, ratio, 1.0)) ** 2
    energies /= energies[:, :1]
    gamma = np.maximum(walsh_hadamard(workload.gram_column), 0.0)
    shares = fitted_shares(np.full(len(high), 1 / len(high)), energies, gamma + RIDGE * gamma.mean(), UPDATES)
    asked = gamma > 0
    return shares, float((gamma[asked] / (shares @ energies)[asked]).sum())
