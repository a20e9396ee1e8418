"""A strategy that a search came to, its objective ``L(Q) = tr(M^-1 G)`` (McKenna et al. 2020, Theorem 3.11), and the mechanism that sends by it.

Objectives take the transposed strategy ``P = Q'`` (n, m) and the root (r, n) of the Gram matrix that workloads provide, ``G = root' root``: a
rank-deficient workload then costs less, and the objective is a sum of squares. All large matrix products go to SciPy's BLAS, which `lapack` needs
anyway: NumPy brings a second BLAS with threads of its own, and the two sets of threads would wait for each other. BLAS is column-major, hence the
``.T`` of row-major arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from ldp_core import pictures
from ldp_core.limits import MOST_DEVICE_ENTRIES, MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.mechanisms.two_valued import two_valued
from ldp_core.optimize.base import Design
from ldp_core.optimize.columns.weights import blocks
from ldp_core.run import Check, unchecked
from ldp_core.workloads import Workload

_EXPLANATION = (
    "Each person sends one of {outputs:,} reports; how likely each is for each type was fitted numerically so that the "
    "answers to the chosen workload have the least total variance{aim}."
)
_LOADED = (
    "Each person sends one of {outputs:,} reports; how likely each is for each type is given by a table that was loaded from "
    "a file, not computed here."
)
_SECRET = (
    "Reports are of two kinds. Covered ones are sent by everybody, and from people with a secret value they come at most e^epsilon times as often as "
    "from any others; open ones say the value, and nobody with a secret value sends one."
)


def from_strategy(
    name: str,
    strategy: np.ndarray,
    epsilon: float,
    parameters: Mapping[str, Any],
    prior: np.ndarray | None = None,
    loaded: bool = False,
    workload: Workload | None = None,
    secret: np.ndarray | None = None,
) -> ExplicitMechanism:
    """A fitted mechanism from a strategy and the prior it was optimised for. One that was
    ``loaded`` explains itself as such: what made it is not known. If the ``workload`` it was fitted
    to is given, it knows the loss from becoming an exact table: one of two values a row where a device could not hold others. ``secret`` (n,) says which types are, None where all are."""
    if secret is not None:
        explanation = (
            _SECRET
            if loaded
            else _SECRET + " Chances were fitted numerically so that answers have the least total variance."
        )
        return ExplicitMechanism(name, strategy, epsilon, parameters, explanation, prior, secret)
    if loaded:
        return ExplicitMechanism(name, strategy, epsilon, parameters, _LOADED.format(outputs=len(strategy)), prior)
    if parameters.get("target") == "worst_case":
        aim = " that can be promised whatever the people are like"
    else:
        aim = "" if prior is None else " for people spread over the types as expected"
    strategy = strategy[strategy.any(axis=1)]  # at a large epsilon a search may leave a report that nobody sends
    table = None
    if strategy.size > MOST_DEVICE_ENTRIES:
        table = two_valued(strategy, epsilon, MOST_STRATEGY_ENTRIES // strategy.shape[1])
    explanation = _EXPLANATION.format(outputs=len(strategy if table is None else table), aim=aim)
    made = ExplicitMechanism(name, strategy if table is None else table, epsilon, parameters, explanation, prior)
    if workload is not None and (table is not None or strategy.size <= MOST_DEVICE_ENTRIES):
        made.lost = lost_by_rounding(strategy, made.strategy, workload)
    return made


def lost_by_rounding(strategy: np.ndarray, table: np.ndarray, workload: Workload) -> float | None:
    """By what share the average variance grows from a strategy (m, n) to its exact table; None where it cannot be computed."""
    before, after = (evaluate(np.ascontiguousarray(Q.T), workload.gram_root) for Q in (strategy, table))
    if before is None or after is None or not before.objective > workload.trace:
        return None
    return (after.objective - before.objective) / (before.objective - workload.trace)


@dataclass(frozen=True, repr=False)
class Optimized(Design):
    """A designed strategy and how it was found.

    ``strategy`` (m, n) has columns summing to 1 and rows within a factor e^epsilon, as stored. ``prior`` (n,) is
    the one its reconstruction is to be the best for (see `ldp_core.mechanisms.ExplicitMechanism`), None the uniform one.
    Where the ``target`` is the worst type, ``objective`` and ``history`` are ``n worst_case_variance + tr G``, on the scale of L.
    """

    strategy: np.ndarray
    prior: np.ndarray | None = None
    workload: Workload = field(kw_only=True)
    target: Literal["average", "worst_case"] = field(kw_only=True, default="average")

    @property
    def contents(self) -> str:
        m, n = self.strategy.shape
        return f"{m:,} x {n:,} strategy"

    @cached_property
    def worst_case_variance(self) -> float:
        """Per user, in squared users summed over the queries."""
        return float(type_variances(self.strategy, self.workload, self.prior).max())

    def mechanism(self) -> ExplicitMechanism:
        """The mechanism with this strategy, as an exact table."""
        parameters = {"workload": self.workload.spec, "seed": self.seed, "rounds": self.rounds}
        if self.target != "average":
            parameters["target"] = self.target
        secret = None if self.workload.all_secret is self.workload else self.workload.secret
        return from_strategy(
            "optimized", self.strategy, self.epsilon, parameters, self.prior, workload=self.workload, secret=secret
        )

    def _repr_html_(self) -> str:
        return pictures.strategy_map(self.strategy, repr(self))


def type_variances(strategy: np.ndarray, workload: Workload, prior: np.ndarray | None = None) -> np.ndarray:
    """(n,) variance per user of each type t_u, with the reconstruction of least average variance under ``prior`` (n,).

    ``t_u = sum_y Q_yu |W R_y|^2 - G_uu``, ``R_y = M_p^-1 q_y / d_y``, ``d_y = n q_y'p``. Strategies
    (m, n) must distinguish all types and send every output under the prior.
    """
    masses = strategy.sum(axis=1) if prior is None else workload.n * (strategy @ prior)
    information = strategy.T @ (strategy / masses[:, None])
    solved = linalg.solve(information, workload.gram_root.T, assume_a="pos")
    worth = np.square(strategy @ solved).sum(axis=1)
    return strategy.T @ (worth / masses**2) - workload.gram_diag


@dataclass(frozen=True)
class Evaluation:
    """``objective`` with what its derivatives reuse: ``outputs`` d (m,), ``cholesky`` of M, ``solved`` M^-1 root'."""

    objective: float
    outputs: np.ndarray
    cholesky: np.ndarray
    solved: np.ndarray


def evaluate(transposed: np.ndarray, root: np.ndarray, check: Check = unchecked) -> Evaluation | None:
    """L and its parts at ``transposed`` (n, m), or None where M is singular: no unbiased reconstruction exists."""
    outputs = transposed.sum(axis=0)
    scaled = transposed * (1 / np.sqrt(outputs))
    n, m = transposed.shape
    information = np.zeros((n, n), order="F")
    for part in blocks(m, n):
        check()
        information = blas.dsyrk(1.0, scaled[:, part].T, beta=1.0, c=information, trans=1, lower=1, overwrite_c=1)
    check()
    cholesky, failed = lapack.dpotrf(information, lower=1)
    # A pivot lost in rounding means that M is numerically singular even where the factorisation runs through.
    if failed or cholesky.diagonal().min() ** 2 < 1e-14 * information.diagonal().max():
        return None
    solved, _ = lapack.dpotrs(cholesky, root.T, lower=1)
    return Evaluation(float(np.einsum("ij,ji->", solved, root)), outputs, cholesky, solved)


def of_strategy(strategy: np.ndarray, workload: Workload, prior: np.ndarray | None) -> float:
    """``tr(M_p^-1 G)`` of a strategy (m, n) for a prior p (n,), None for the uniform one."""
    masses = strategy.sum(axis=1) if prior is None else workload.n * (strategy @ prior)
    M = strategy.T @ (strategy / masses[:, None])
    return float(np.trace(linalg.solve(M, workload.gram_dense(), assume_a="pos")))
