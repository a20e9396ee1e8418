"""Designs along one order, such as running totals and ranges, for up to 4,096 types: base rows on a ring, whose rotations are the outputs.

The n types are neighbouring places of a ring of N >= n, and each base row is used with all its N
rotations alike. The columns of such a strategy are balanced for any rows. M depends on the powers
of the rows at N / 2 frequencies alone (but for the masses of the outputs). A few rows of N bits can
therefore be fitted to the best powers one bit at a time. Averages over rotations cost ranges next
to nothing: ``P G P``, P the projection off the ones, is the covariance of a Brownian bridge less
its mean (Watson 1961), which a rotation of the n places does not change. Running totals end
elsewhere than they begin: their ring has places that no type takes, and they stay about 5 % above
the bound. How rows are found is in `ldp_core.optimize.symmetric.ring_rows`. Source: this project.
"""

from __future__ import annotations

from dataclasses import dataclass

from ldp_core.optimize.base import DEFAULT, SearchLimits, fields_of
from ldp_core.optimize.refusals import along_an_order, ring_too_large
from ldp_core.optimize.symmetric.ring_rows import RingSearch
from ldp_core.optimize.symmetric.translations import OrbitDesign
from ldp_core.privacy import check_epsilon, exp_epsilon
from ldp_core.run import drive, generator
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload


@dataclass(frozen=True, repr=False)
class RingDesign(OrbitDesign):
    """Base rows ``high`` (b, N) of booleans on a ring and the probabilities ``shares`` (b,) of their rotations, for
    `ldp_core.mechanisms.rings.RingMechanism`."""

    @property
    def contents(self) -> str:
        rows, places = self.high.shape
        return f"{rows:,} base rows on a ring of {places:,} places"


def design_ring(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits = DEFAULT,
) -> RingDesign:
    """Base rows on a ring of least ``L = tr(M^-1 G)``, for running totals and ranges; ranges come within 0.1 % of the closed-form bound at
    small epsilon, running totals within 5 % for 4,096 types and 6.5 % for 512.

    The objective is infinite where the search was stopped before it was worked out. Raises
    ValueError for other workloads, and above 4,096 types.

    >>> workload = ldp.workloads.all_range(256)
    >>> found = ldp.optimize.design_ring(workload, 1.0, ldp.optimize.SearchLimits(time_limit=None))
    >>> 0 <= found.objective / ldp.bounds.centred_svd(workload, epsilon=1.0) - 1 < 0.001
    True
    """
    budget = limits.budget()
    epsilon = check_epsilon(epsilon)
    if not along_an_order(workload):
        raise ValueError(f"Rows on a ring are designed for running totals and ranges; this is {workload.title}.")
    if reason := ring_too_large(workload.n):
        raise ValueError(reason)
    with blas_threads(workload.n):
        search = RingSearch(workload, exp_epsilon(epsilon), generator(limits.seed), budget.check)
        run = drive(search, budget)
    rows = run.found[0]
    return RingDesign(rows.high, rows.shares, **fields_of(run, epsilon, limits))
