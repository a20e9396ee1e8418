"""Mechanisms in closed form as designs: the optimum where types are all alike, and what no other
design may be worse than."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.optimize import nnls

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.subset_selection import SubsetSelection, best_subset_size
from ldp_core.mechanisms.trees.haar import Haar
from ldp_core.optimize.base import Design, SearchLimits
from ldp_core.optimize.columns.generation import strategy_of
from ldp_core.optimize.columns.orbits import Orbits, Shifts
from ldp_core.privacy import check_epsilon, exp_epsilon, fitted_exp_epsilon
from ldp_core.workloads import Workload

Found = TypeVar("Found", bound=Design)


@dataclass(frozen=True, kw_only=True, repr=False)
class ClosedFormDesign(Design):
    """A mechanism in closed form, as what a search came to.

    ``objective`` is that of the average, over a prior where one was given, or of the worst type, as in
    the search that it stands for.
    """

    made: Mechanism
    workload: Workload

    def mechanism(self) -> Mechanism:
        """The mechanism itself."""
        return self.made

    @property
    def prior(self) -> None:
        """Its reconstruction is for users spread evenly."""
        return None

    @property
    def contents(self) -> str:
        return self.made.name.replace("_", " ")

    @cached_property
    def worst_case_variance(self) -> float:
        """Per user, in squared users summed over the queries."""
        return float(self.made.variance_profile(self.workload).max())

    @cached_property
    def strategy(self) -> np.ndarray:
        """(m, n) a strategy with these errors. ValueError where none is small enough to write out.

        That of subset selection has a row for each set, or for fewer sets with the same second
        moments: see `balanced_sets`.
        """
        made = self.made
        n = self.workload.n
        if isinstance(made, SubsetSelection) and math.comb(n, made.size) > 2**13:
            return _fewer_sets(n, made.size, fitted_exp_epsilon(self.epsilon))
        strategy, channel = getattr(made, "strategy", None), getattr(made, "channel", None)
        if strategy is None and channel is not None and channel.shape[0] * n <= MOST_STRATEGY_ENTRIES:
            strategy = channel @ np.eye(n)
            # A little of every row's mean keeps its ratios within e^epsilon as stored.
            strategy += 2.0**-38 * (strategy.mean(axis=1, keepdims=True) - strategy)
        if strategy is None:
            raise ValueError(
                f"The strategy of {self.contents} is not written out for {n:,} types: use `mechanism`, which "
                "draws reports without it."
            )
        return np.asarray(strategy)


def exchangeable_design(workload: Workload, epsilon: float, limits: SearchLimits) -> ClosedFormDesign:
    """Subset selection, which is the optimum for types that are all alike.

    Averaging over all permutations of the types leaves one number of M to choose, the variance of the
    rows, and that is largest for sets of one size (Ye and Barg 2018). ValueError for other workloads.
    """
    if workload.symmetry != "exchangeable":
        raise ValueError("Subset selection is the optimum only where the questions treat all types alike.")
    budget, made = limits.budget(), SubsetSelection(workload.n, check_epsilon(epsilon))
    found = _design_of(made, workload, epsilon, limits, _objective(made, workload, None, False))
    budget.tell(0, objective=found.objective)
    return found


def alike_objective(workload: Workload, epsilon: float) -> float:
    """L of subset selection, the best mechanism that treats all types alike.

    Off the ones M has one eigenvalue, ``(E - 1)^2 k (n - k) / ((n - 1) (E k + n - k)^2)`` for sets of k types.
    """
    n, E = workload.n, exp_epsilon(check_epsilon(epsilon))
    k, constant = best_subset_size(n, epsilon), n * workload.even_square
    eigenvalue = ((E - 1) / (E * k + n - k)) ** 2 * k * (n - k) / (n - 1)
    return constant + (workload.trace - constant) / eigenvalue


def _objective(made: Mechanism, workload: Workload, prior: np.ndarray | None, worst_case: bool) -> float:
    """Of any mechanism, on the scale of `ldp_core.optimize.design`."""
    if worst_case:
        return equivalent_objective(float(made.variance_profile(workload).max()), workload)
    if prior is None:
        return equivalent_objective(made.average_of(workload), workload)
    return workload.n * float(prior @ (made.variance_profile(workload) + workload.gram_diag))


def best_closed_form(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    prior: np.ndarray | None = None,
    worst_case: bool = False,
) -> ClosedFormDesign:
    """The mechanism in closed form of least variance for ``workload``, averaged over ``prior`` (n,) or
    of the worst type: subset selection, which is the best of those that treat all types alike, and Haar."""
    made = candidates(workload.n, check_epsilon(epsilon))
    found = {_objective(one, workload, prior, worst_case): one for one in made}
    return _design_of(found[min(found)], workload, epsilon, limits, min(found))


def candidates(n: int, epsilon: float) -> Iterator[Mechanism]:
    """The mechanisms in closed form that a search is compared with: the optimum for types that are all alike is the first."""
    yield SubsetSelection(n, epsilon)
    yield Haar(n, epsilon)


def _design_of(
    made: Mechanism,
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    objective: float,
) -> ClosedFormDesign:
    return ClosedFormDesign(
        made=made,
        workload=workload,
        objective=objective,
        history=(),
        rounds=0,
        seconds=0.0,
        epsilon=epsilon,
        seed=limits.seed,
        stopped="converged",
    )


def balanced_sets(n: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets (b, n) of ``size`` of n types and weights (b,) such that all shifts of these sets together hold
    any two types equally often.

    A set and a shift of it share r(d) types for a shift by d. Drawn sets have different r, whose average over
    all sets is the same for every d, so that this lies within what enough of them span: non-negative weights
    that reach it solve n/2 equations, and a basic solution has no more sets than these. Source: this project.
    """
    rng, half = np.random.default_rng(0), n // 2
    target = np.full(half, size * (size - 1) / (n - 1))
    drawn = np.zeros((0, n), dtype=bool)
    while True:
        keys = rng.random((3 * half + 8, n))  # sets that are drawn for each equation between them
        more = np.zeros(keys.shape, dtype=bool)
        np.put_along_axis(more, np.argpartition(keys, size - 1, axis=1)[:, :size], True, axis=1)
        drawn = np.vstack([drawn, more])
        power = np.abs(np.fft.fft(drawn)) ** 2
        shared = np.rint(np.fft.ifft(power).real[:, 1 : half + 1])
        weights, residual = nnls(shared.T / size, target / size)
        if residual <= 1e-12 * n:
            kept = weights > 0
            return drawn[kept], weights[kept]


def _fewer_sets(n: int, size: int, ratio: float) -> np.ndarray:
    if n**2 * (n // 2) > MOST_STRATEGY_ENTRIES:
        raise ValueError(
            f"The strategy of subset selection is not written out for {n:,} types: it would have too many rows. "
            "Use `mechanism`, which draws reports without it."
        )
    high, shares = balanced_sets(n, size)
    shifts = Shifts((n,))
    power = np.abs(shifts.transform(np.where(high, ratio, 1.0))) ** 2
    orbits = Orbits.of(high, shares / shares.sum(), power, ratio, shifts, math.nan)
    strategy = strategy_of(*orbits.rows(), ratio)
    return strategy / strategy.sum(axis=0)
