"""Designs over binary attributes for up to 2^16 types: base rows whose XOR translations are the outputs; none is written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldp_core.limits import MOST_ROW_CELLS, MOST_TRANSFORMED_TYPES
from ldp_core.optimize.base import DEFAULT, Design, SearchLimits, fields_of
from ldp_core.optimize.certified import WINDOW
from ldp_core.optimize.symmetric.levels import LevelMixture, LevelSearch, images
from ldp_core.optimize.symmetric.refining import Refining
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.run import Best, Check, drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload, walsh_hadamard

# Base rows, and entries of all of them together; smaller shares are left out.
_MOST_ROWS = 2048
NEGLIGIBLE = 1e-9
# Rounds over rows with all their images, before there are base rows to refine.
LEVEL_ROUNDS = 15
# Times that room left by rows of few images is given to the others, and how many times as many images are drawn at most.
REFILLS = 3


@dataclass(frozen=True, repr=False)
class OrbitDesign(Design):
    """Base rows ``high`` (b, n) of booleans and the probabilities ``shares`` (b,) of their orbits, for
    `ldp_core.mechanisms.orbits.OrbitMechanism`."""

    high: np.ndarray
    shares: np.ndarray

    @property
    def contents(self) -> str:
        rows, n = self.high.shape
        return f"{rows:,} base rows on {n:,} types"


def design_orbits(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
) -> OrbitDesign:
    """Base rows of least ``L = tr(M^-1 G)`` for a workload that permuting and flipping binary attributes leaves as it is.

    The first 15 rounds are over rows with all their images under translations and permutations of the attributes, where L is a function of as
    many numbers as there are attributes. Then each row gets as many permutations as fit; the search knows what drawing them costs, and
    chooses rows that lose little. All further rounds change these base rows, each for itself (`ldp_core.optimize.symmetric.refining`).
    ``callback(progress)`` sees the objective, an estimate in the first rounds (and has no strategy to show).
    Raises ValueError for other workloads, and above 2^16 types.
    """
    budget = limits.budget()
    epsilon = check_epsilon(epsilon)
    if workload.symmetry != "hamming" or workload.n > MOST_TRANSFORMED_TYPES:
        raise ValueError(
            f"Orbits are designed for workloads over binary attributes, such as marginals and parities, with up to "
            f"{MOST_TRANSFORMED_TYPES:,} types; this is {workload.title} on {workload.n:,}."
        )
    with blas_threads(workload.n):
        search = _Designing(workload, epsilon, generator(limits.seed), budget.check)
        run = drive(search, budget, WINDOW)
    high, shares = run.found[0]
    kept = shares > NEGLIGIBLE
    return OrbitDesign(high[kept], shares[kept] / shares[kept].sum(), **fields_of(run, epsilon, limits))


class _Designing:
    """First rows with all their images, whose ``best`` is not written out yet; then base rows with images, which are refined."""

    finished = False

    def __init__(self, workload: Workload, epsilon: float, rng: np.random.Generator, check: Check):
        self._workload, self._epsilon, self._rng, self._check = workload, epsilon, rng, check
        self._levels, self._rounds = LevelSearch(workload, epsilon, rng, _most(workload.n)), 0
        self._refining: Refining | None = None

    @property
    def best(self) -> Best:
        return self._levels.best if self._refining is None else self._refining

    def prepare(self) -> None:
        """Does nothing: the search is ready."""

    def round(self) -> None:
        if self._rounds < LEVEL_ROUNDS:
            self._levels.round()
            self._rounds += 1
            return
        self._refining = self._refining or self._write()
        self._refining.round(self._check)

    def finish(self, at_once: bool) -> tuple[tuple[np.ndarray, np.ndarray], float]:
        rows = self._refining or self._write()
        return (rows.high, rows.shares), rows.objective

    def _write(self) -> Refining:
        """The best rows written out, with randomized response, so that no character is lost."""
        high = np.vstack([np.arange(self._workload.n) == 0, _written(self._levels.best, self._rng)])
        return Refining(high, self._levels.by_character, exp_epsilon(self._epsilon) - 1)


def _written(mixture: LevelMixture, rng: np.random.Generator) -> np.ndarray:
    """(k, n) base rows with images, as many as there may be beside randomized response. Rows of few images leave room for the others."""
    most = wanted = _most(mixture.high.shape[1]) - 1
    images_written = images(mixture, _copies(mixture, most), rng)
    for _ in range(REFILLS):
        wanted = min(wanted * most // len(images_written), REFILLS * most)
        more = images(mixture, _copies(mixture, wanted), rng)
        if not len(images_written) < len(more) <= most:
            break
        images_written = more
    return images_written


def _copies(mixture: LevelMixture, most: int) -> np.ndarray:
    """(b,) the number of permutations of each base row to take, ``most`` in all. The fewer
    characters a row covers, the more uneven the choice makes the eigenvalues of M: the sum of those
    variances is least for copies ~ share / sqrt(characters)."""
    powers = walsh_hadamard(mixture.high)[:, 1:] ** 2
    characters = powers.sum(axis=1) ** 2 / np.square(powers).sum(axis=1)
    wanted = mixture.shares / np.sqrt(characters)
    copies = np.maximum(1, np.floor(np.arange(most + 1)[:, None] * (wanted / wanted.sum()))).astype(int)
    return np.asarray(copies[copies.sum(axis=1) <= max(most, len(wanted))][-1])


def _most(n: int) -> int:
    """How many base rows there may be: a device holds no more."""
    return min(_MOST_ROWS, MOST_ROW_CELLS // n)
