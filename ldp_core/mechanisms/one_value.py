"""Mechanisms made for the mean of one number, on the values that the types have: known ones, to compare with.

Values w are moved and scaled to [-1, 1]; with E = e^epsilon and s = e^(epsilon / 2):

* *Duchi* (Duchi, Jordan and Wainwright 2018): one bit, 1 with probability ``1/2 + w (E - 1) / (2 (E + 1))``, which stands for
  +-(E + 1)/(E - 1); its variance is ``((E + 1)/(E - 1))^2 - w^2``.
* *Piecewise* (Wang et al. 2019, Algorithm 2): a number v in [-C, C], C = (s + 1)/(s - 1), of density ``s (s - 1) / (2 (s + 1))`` from
  ``(C + 1) w / 2 - (C - 1) / 2`` to C - 1 above that, and 1/E of it elsewhere; its variance is
  ``w^2 / (s - 1) + (s + 3) / (3 (s - 1)^2)``. Its density is the same between two ends of such intervals, so a report is the number of
  such a *cell*: nothing about w is in where in it v lies.
* *Hybrid* (Wang et al. 2019, Section III-C): piecewise with probability ``1 - 1/s`` where epsilon is above 0.61, else Duchi's.

Estimates are the optimal ones, which for evenly spread people are never worse than those of the papers.
"""

from __future__ import annotations

import numpy as np

from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.privacy import check_epsilon, exp_epsilon

_ONLY_DUCHI = 0.61
_APART = 1e-12
"""Ends of cells that are no further apart are one."""


def on_unit(values: np.ndarray) -> np.ndarray:
    """(n,) ``values``, not all equal, moved and scaled to lie from -1 to 1, at its ends exactly: beyond them a bit would tell more."""
    low, high = values.min(), values.max()
    return np.clip((2 * values - low - high) / (high - low), -1.0, 1.0)


def duchi_rows(w: np.ndarray, epsilon: float) -> np.ndarray:
    """(2, n) the chances of the two bits for values ``w`` (n,) from -1 to 1."""
    E = exp_epsilon(epsilon)
    # Sums of positive numbers: what is left of 1 would lose the digits that a large epsilon needs.
    return np.stack([(1 + w) * E + (1 - w), (1 - w) * E + (1 + w)]) / (2 * (E + 1))


def cells(w: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """The ends (k + 1,) of the cells for values ``w`` (n,) from -1 to 1, and (k, n) their chances."""
    E = exp_epsilon(epsilon)
    s = np.sqrt(E)
    C = (s + 1) / (s - 1)
    left = (C + 1) / 2 * w - (C - 1) / 2
    ends = np.unique(np.concatenate([[-C], left, left + C - 1, [C]]))
    ends = ends[np.append(True, np.diff(ends) > _APART * C)]
    middle = (ends[1:] + ends[:-1])[:, None] / 2
    near = (middle > left) & (middle < left + C - 1)
    Q = np.where(near, E, 1.0) * np.diff(ends)[:, None]
    return ends, Q / Q.sum(axis=0)


def duchi(values: np.ndarray, epsilon: float) -> ExplicitMechanism:
    """Duchi's one bit for types with ``values`` (n,)."""
    return ExplicitMechanism(
        "duchi",
        duchi_rows(on_unit(values), check_epsilon(epsilon)),
        epsilon,
        {},
        "Each person sends one bit, which is 1 the more often the larger their value is.",
    )


def piecewise(values: np.ndarray, epsilon: float) -> ExplicitMechanism:
    """The piecewise mechanism for types with ``values`` (n,)."""
    said = "Each person sends a number of a range wider than that of the values, more often one near their own."
    return ExplicitMechanism("piecewise", cells(on_unit(values), check_epsilon(epsilon))[1], epsilon, {}, said)


def hybrid(values: np.ndarray, epsilon: float) -> ExplicitMechanism:
    """The hybrid mechanism for types with ``values`` (n,)."""
    w, share = on_unit(values), piecewise_share(check_epsilon(epsilon))
    Q = (
        np.vstack([(1 - share) * duchi_rows(w, epsilon), share * cells(w, epsilon)[1]])
        if share
        else duchi_rows(w, epsilon)
    )
    said = "Each person sends a number as of the piecewise mechanism or, at random, one bit as of Duchi's."
    return ExplicitMechanism("hybrid", Q, epsilon, {}, said)


def piecewise_share(epsilon: float) -> float:
    """How many people take the piecewise mechanism in the hybrid one."""
    return float(-np.expm1(-epsilon / 2)) if epsilon > _ONLY_DUCHI else 0.0
