"""Expectation maximisation with smoothing (EMS): a likely histogram that is also smooth along an order.

Each round takes one step of expectation maximisation for the likelihood ``sum_y s_y log (Q p)_y`` of the reports (see
`ldp_core.estimators.mle`), and then averages every share with its neighbours, with the binomial weights 1/4, 1/2, 1/4:

    p_u <- p_u (Q'(s/(Q p)))_u / N,    p <- K p,    each row of K summing to 1, and then p scaled to sum to 1.

At the ends, the weights are 2/3 and 1/3. Silverman, Jones, Wilson and Nychka 1990 ("A smoothed EM approach to indirect estimation
problems") proposed it, and Li et al. 2020 (`ldp_core.mechanisms.square_wave`) for reports on a line, whose likelihood alone is greatest at
ragged histograms. Its objective does not always rise and the remaining error has no bound, so
rounds end when shares hardly move. The authors end them when the likelihood hardly moves, which
depends on the number of people. It is biased: peaks, steps and single common values are flattened
however
many the people are.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ldp_core.mechanisms.base import Estimate, Mechanism, Reports
from ldp_core.workloads import Workload

ROUNDS = 2_000
"""Most rounds. They end before where one of them moves next to nobody."""


def estimate(
    reports: Reports, mechanism: Mechanism, unbiased: Estimate, ordinary: int | None = None, max_rounds: int = ROUNDS
) -> Estimate:
    """N times the smoothed shares. The first ``ordinary`` types are in order (None: all); the others, such as "(missing)", have no
    neighbours. The search begins at even shares, as in the paper, whatever ``unbiased``, the mechanism's own estimate, is."""
    if not reports.users:
        return Estimate(np.zeros(mechanism.n), unbiased=False, identified=unbiased.identified)
    shares = smoothed_shares(mechanism.channel, mechanism.tally(reports).astype(float), ordinary, max_rounds)
    return Estimate(reports.users * shares, unbiased=False, identified=unbiased.identified)


def smoothed_shares(
    channel: np.ndarray | LinearOperator, tally: np.ndarray, ordinary: int | None, max_rounds: int
) -> np.ndarray:
    """(n,) shares given ``tally`` (m,), at least one report, of the outputs of ``channel`` (m, n); the others as in `estimate`."""
    shares, back, line = np.full(channel.shape[1], 1 / channel.shape[1]), channel.T, slice(ordinary)
    for _ in range(max_rounds):
        expected = channel @ shares
        shares_next = shares * (back @ np.divide(tally, expected, out=np.zeros_like(tally), where=tally > 0))
        shares_next[line] = smooth(shares_next[line])
        shares_next /= shares_next.sum()
        moved = np.abs(shares_next - shares).sum()
        shares = shares_next
        if moved <= 1e-7:  # of the people
            break
    return shares


def smooth(shares: np.ndarray) -> np.ndarray:
    """``shares`` (n,) averaged with their neighbours, with the weights 1, 2, 1 of those that are there.

    >>> from ldp_core.estimators import smoothed
    >>> smoothed.smooth(np.array([0.0, 12.0, 0.0, 0.0])).tolist()
    [4.0, 6.0, 3.0, 0.0]
    """
    padded, there = np.zeros(len(shares) + 2), np.full(len(shares), 4.0)
    padded[1:-1] = shares
    there[0] -= 1
    there[-1] -= 1
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / there


def in_order(workload: Workload) -> str | None:
    """Why the types are no line along which shares could be smoothed, None when they are (or nothing is known of them)."""
    several = [axis for axis in workload.axes or () if axis.size > 1]
    if workload.axes is None or (len(several) == 1 and several[0].ordered):
        return None
    what = (
        f"the types here are combinations of {len(several)} attributes" if len(several) > 1 else "this one has no order"
    )
    return f"It smooths along one ordered attribute, and {what}. Choose maximum likelihood, or WNNLS."


def types_in_order(workload: Workload) -> int | None:
    """How many of the types have a place in the order, None where that is not known."""
    several = [axis for axis in workload.axes or () if axis.size > 1]
    return several[0].ordinary if len(several) == 1 else None
