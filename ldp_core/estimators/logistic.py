"""Logistic regression of a secret yes or no on columns that the collector knows, by maximum likelihood from the reports.

In a group z with known values x_z a share ``pi_z = 1/(1 + exp(-x_z'b))`` says yes, and a report r comes with the chance
``P(r | z) = Q(r | no) + (Q(r | yes) - Q(r | no)) pi_z``, Q the probabilities of the mechanism. The log-likelihood of all reports
is maximised over b by damped steps of Gauss and Newton (Levenberg 1944), as it is not concave. An interval holds the values
of a coefficient at which the likelihood, maximised over the others, is within half the quantile of chi-square of its maximum (profile
likelihood, Wilks 1938), a little more where reports are few; an end is infinite where it stays within however far the coefficient goes. The reports can be likeliest where nobody, or
everybody, of some groups says yes: then the maximum is on the boundary, and coefficients are as large as one likes.

Source: van den Hout, van der Heijden and Gilchrist 2007 (The logistic regression model with response variables subject to
randomized response, Computational Statistics & Data Analysis 51).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from ldp_core.estimators.posterior import check_level

ROUNDS, GAIN = 300, 1e-10
"""Of the search, and the nats that the last step promises at most."""
FURTHEST, BOUNDARY = 30.0, 12.0
"""Log odds past which shares are 0 or 1 but for 10^-13, and past which a maximum is on the boundary."""

FEW, WIDER = 2.0, 0.3
"""What intervals are wider by where reports are few or likeliest on the boundary: as a share of the quantile, `FEW` by the
information on the intercept (a quarter of a person who answers in the clear), `WIDER` at most. Measured: 91 to 94 % held without."""


@dataclass(frozen=True, eq=False)
class Logistic:
    """The likelihood of reports.

    Attributes
    ----------
    X : (g, k) the known values of each group.
    group : (r,) the group that each kind of report comes from, ``times`` (r,) how often it came.
    no, yes : (r,) the chances of the report for either answer.
    """

    X: np.ndarray
    group: np.ndarray
    times: np.ndarray
    no: np.ndarray
    yes: np.ndarray

    def at(self, b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The log-likelihood at ``b`` (k,), its slope (k,), and the curvature (k, k) that a step takes."""
        share = expit(self.X @ b)
        chance = self.no + (self.yes - self.no) * share[self.group]
        score = (self.yes - self.no) / chance * (share * (1 - share))[self.group]
        rows = self.X[self.group] * score[:, None]
        return float(self.times @ np.log(chance)), self.times @ rows, (rows * self.times[:, None]).T @ rows

    def maximum(self, start: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """The likeliest coefficients (k,) where those not ``free`` stay as in ``start``; the log-likelihood, and the curvature there."""
        b, damping, (value, slope, curve) = start, 1e-9, self.at(start)
        for _ in range(ROUNDS):
            square = curve[np.ix_(free, free)]
            damped = square + np.diag(damping * square.diagonal() + 1e-12 * (1 + square.diagonal().max(initial=0.0)))
            step = np.zeros(len(b))
            step[free] = np.linalg.solve(damped, slope[free])
            step *= min(1.0, 4.0 / max(1e-300, np.abs(self.X @ step).max()))
            promised, reached = slope @ step, self.at(b + step)
            damping *= 10 if reached[0] < value else 0.1
            if reached[0] >= value:
                b, (value, slope, curve) = b + step, reached
            if promised < GAIN:
                break
        return b, value, curve

    def highest(self, starts: Sequence[np.ndarray], free: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """The highest `maximum` from several ``starts``: there may be some where shares are 0 or 1."""
        return max((self.maximum(start, free) for start in starts), key=itemgetter(1))

    def end(self, best: np.ndarray, top: float, j: int, reach: float, step: float) -> float:
        """Where the profile of coefficient ``j`` falls by ``reach`` nats below ``top``, in the direction of ``step``; infinite where it
        does not."""
        free, near, furthest = np.arange(len(best)) != j, best, 2 * FURTHEST / np.abs(self.X[:, j]).max()

        @cache
        def missing(value: float) -> float:
            nonlocal near
            most = (3 + abs(value) * np.abs(self.X[:, j]).max()) * np.eye(1, len(best))[0]
            along = near * (value / near[j] if near[j] else 1.0)  # coefficients may grow for ever together
            starts = near, along, best, most, -most  # the last: everybody says yes, or nobody
            near, profile, _ = self.highest([np.where(free, b, value) for b in starts], free)
            return top - profile - reach

        inside = outside = float(best[j])
        while missing(outside := outside + step) < 0:
            if outside * np.sign(step) > furthest:
                return float(np.copysign(np.inf, step))
            inside, step = outside, 1.5 * step
        return float(brentq(lambda value: -reach if value == best[j] else missing(value), inside, outside, xtol=1e-9))


def logistic(likelihood: Logistic, names: list[str], level: float = 0.95) -> pd.DataFrame:
    """The coefficients with intervals.

    Parameters
    ----------
    likelihood : Logistic
        Of the reports.
    names : list of str
        (k,) what each coefficient is of.
    level : float
        Of the intervals, each by itself.

    Returns
    -------
    DataFrame
        A row a coefficient, in log odds: ``name``, ``answer``, ``low`` and ``high``, which may be infinite, ``standard_error`` by the
        curvature, and ``odds``, the factor of the odds; ``boundary``, whether the reports are likeliest where a group has a share
        of 0 or 1: then the answer is as far as the search went.

    Raises
    ------
    ValueError
        The columns add up to one another among the people who reported, so that coefficients are not told apart.
    """
    k, there = likelihood.X.shape[1], np.unique(likelihood.group)
    if np.linalg.matrix_rank(likelihood.X[there]) < k:
        raise ValueError("The people who reported do not tell these columns apart: leave one out.")
    every = np.ones(k, dtype=bool)
    best, top, curve = likelihood.highest([np.eye(1, k)[0] * start for start in (0.0, -3.0, 3.0)], every)
    reach = float(ndtri((1 + check_level(level)) / 2)) ** 2 / 2 * (1 + min(WIDER, FEW / max(curve[0, 0], FEW)))
    errors = np.sqrt(np.linalg.pinv(curve, hermitian=True).diagonal())
    steps = np.clip(2 * errors, 0.2, 4.0)
    ends = np.array([[likelihood.end(best, top, j, reach, way * steps[j]) for way in (-1, 1)] for j in range(k)])
    boundary = bool(np.abs(likelihood.X[there] @ best).max() > BOUNDARY)
    numbers = {"low": ends[:, 0], "high": ends[:, 1], "standard_error": errors, "odds": np.exp(best)}
    return pd.DataFrame({"name": names, "answer": best, **numbers, "boundary": boundary})
