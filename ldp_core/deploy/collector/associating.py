"""What goes with what where both columns are secret: slope and correlation of numbers, and a test of independence.

With the averages m of x, y, x^2, y^2 and xy estimated from the same reports, the covariance ``m_xy - m_x m_y`` and the variances err
to first order as the averages of ``xy - m_x y - m_y x`` and ``x^2 - 2 m_x x`` do. The slope is their ratio, with Fieller's interval. The
correlation has normal quantiles of its standard error to each side, cut to what is possible: it does not shrink towards the ends, where the noise of reports stays. Two columns are independent where their table is the product of its margins:
``g = p - a b'``, without the last row and column, errs as a linear question of p, and ``g' Cov(g)^-1 g`` has the distribution of chi-square
(Wald) with the covariance of the mechanism and of who takes part, for people as the margins have them. As a and b are estimates themselves, that
covariance is too large, by about the one of the product of their errors, which is taken off: of 600 collections of 10,000 people, 10 x 10 independent
values and epsilon 1, 4.5 % are rejected at 5 %, and 3.3 % without. Where it is half of the whole, people are too few for a test.

Source: Gaboardi and Rogers 2018 (Local private hypothesis testing), for two mechanisms; the covariance of any is of this project.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtri

from ldp_core import wording
from ldp_core.deploy.collector.collection import Collection
from ldp_core.estimators import intervals
from ldp_core.estimators.norm_sub import project
from ldp_core.estimators.ratios import fieller
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.mechanisms.base import Mechanism
from ldp_core.workloads import Custom, Histogram, Workload, averageable, axes_of
from ldp_core.workloads.grouped import placed, places_of
from ldp_core.workloads.means import middles

ALIKE = "These are too few reports for a slope and a correlation: all people may be alike in one of the columns."


def associations(
    collection: Collection,
    mechanism: Mechanism,
    attributes: Any,
    columns: tuple[str, str],
    level: float = 0.95,
    drawn: bool = False,
) -> pd.DataFrame:
    """Slope and correlation of two secret columns of numbers, from questions that hold their moments.

    Parameters
    ----------
    collection, mechanism : Collection, Mechanism
        Reports, and the mechanism that drew them.
    attributes : Domain or sequence of attributes
        Of the design.
    columns : tuple of str
        x and y.
    level, drawn : float, bool
        Of the intervals: see `answers`.

    Returns
    -------
    DataFrame
        A row each: ``name``, ``answer``, ``low``, ``high``, ``standard_error``.

    Raises
    ------
    ValueError
        The columns are no numbers, the design does not tell their moments, or all people may be alike in one of them.
    """
    axes = axes_of(attributes)
    x, y = columns
    places = places_of(axes, columns)
    if not all(averageable(axes[i]) for i in places):
        raise ValueError("Slopes and correlations are of two columns of numbers that everybody has.")
    grid = dict(
        zip(sorted(places), np.meshgrid(*(middles(axes[i])[0] for i in sorted(places)), indexing="ij"), strict=True)
    )
    X, Y = (grid[i].ravel() for i in places)
    estimate, users = mechanism.estimate(collection.reports), collection.users

    def of_rows(*rows: np.ndarray) -> Workload:
        return placed(axes, sorted(places), Custom(np.stack(rows)))

    if reason := mechanism.supports(moments := of_rows(X, Y, X * X, Y * Y, X * Y)):
        raise ValueError(f"This design does not tell the moments of {x} and {y}: {reason}")
    mx, my, mxx, myy, mxy = estimate.answers(moments) / users
    both, vx, vy = mxy - mx * my, mxx - mx * mx, myy - my * my
    if min(vx, vy) <= 0:
        raise ValueError(ALIKE)
    of_both, of_x, of_y = X * Y - mx * Y - my * X, X * X - 2 * mx * X, Y * Y - 2 * my * Y
    spread = np.sqrt(vx * vy)
    of_r = of_both / spread - both / spread / 2 * (of_x / vx + of_y / vy)
    found = intervals(mechanism, of_rows(of_both, of_x, of_both + of_x, of_r), estimate, level, None, users, drawn)
    one, other, total, error = (found.errors / users) ** 2
    z, covariance = float(ndtri((1 + level) / 2)), (total - one - other) / 2
    ends = [float(end) for end in fieller(both, vx, one, other, covariance, z)]
    if np.isnan(ends).any():
        raise ValueError(ALIKE)
    of_slope = np.sqrt(max(0.0, one - 2 * both / vx * covariance + (both / vx) ** 2 * other)) / vx
    reach = z * np.sqrt(error)
    r, low, high = np.clip(both / spread + np.array([0.0, -reach, reach]), -1, 1)
    rows = [
        (f"slope of {y} per 1 of {x}", both / vx, *ends, of_slope),
        ("correlation", r, low, high, np.sqrt(error)),
    ]
    return pd.DataFrame(rows, columns=["name", "answer", "low", "high", "standard_error"])


def independence(
    collection: Collection, mechanism: Mechanism, attributes: Any, columns: tuple[str, str]
) -> tuple[float, int, float]:
    """Wald's test of the independence of two secret columns in the population that people were drawn from.

    Parameters
    ----------
    collection, mechanism, attributes, columns
        As of `associations`; the design must tell the joint counts of both columns.

    Returns
    -------
    tuple of float, int, float
        The statistic, its degrees of freedom, and the chance of one as large where the columns are independent.

    Raises
    ------
    ValueError
        The design does not tell the joint counts, or reports are too few.
    """
    axes = axes_of(attributes)
    places = sorted(places_of(axes, columns))
    shape, users = [axes[i].size for i in places], collection.users
    table = placed(axes, places, Histogram(shape[0] * shape[1]))
    if reason := mechanism.supports(table) or ("" if table.n <= MOST_MATRIX_TYPES else "it has too many types."):
        raise ValueError(f"This design does not tell the joint counts of {' and '.join(columns)}: {reason}")
    p = mechanism.estimate(collection.reports).answers(table).reshape(shape) / users
    margins = p.sum(axis=1), p.sum(axis=0)
    cells, T = np.outer(*(project(margin, 1.0) for margin in margins)).ravel(), table.rows(np.arange(table.num_queries))
    spread = T.T @ (cells * users) * len(cells) / table.n  # evenly over all other columns
    noise = T @ mechanism.covariance(spread) @ T.T / users**2
    whole = noise + (np.diag(cells) - np.outer(cells, cells)) / users
    parts = whole.reshape(*shape, *shape)
    of_a, of_b, both = parts.sum(axis=(1, 3)), parts.sum(axis=(0, 2)), parts.sum(axis=(1, 2))
    product = np.einsum("ik,jl->ijkl", of_a, of_b) + np.einsum("il,kj->ijkl", both, both)
    about = np.kron(*(np.eye(len(margin))[:-1] - margin[:-1, None] for margin in margins))
    g = (p - np.outer(*margins) + both)[:-1, :-1].ravel()  # the product is off by `both` on average
    second = product[:-1, :-1, :-1, :-1].reshape(len(g), len(g))
    square = about @ whole @ about.T
    if np.trace(second) > np.trace(square) / 2:
        raise ValueError("These are too few reports for a test of independence.")
    statistic = float(g @ np.linalg.solve(square - second, g))
    return statistic, len(g), float(chdtrc(len(g), statistic))


def in_words(
    collection: Collection, mechanism: Mechanism, attributes: Any, columns: tuple[str, str], level: float, drawn: bool
) -> list[str]:
    """What the design tells of two columns, in sentences."""
    said, about = list[str](), (collection, mechanism, attributes, columns)
    if not collection.users:
        return ["There are no reports."]
    try:
        for _, row in associations(*about, level, drawn).iterrows():
            written = [wording.significant(row[name], 4) for name in ("answer", "low", "high", "standard_error")]
            said.append("{}: {}, from {} to {}, ± {}.".format(wording.capital(row["name"]), *written))
    except ValueError as error:
        said += [ALIKE] if str(error) == ALIKE else []
    with suppress(ValueError):
        statistic, freedom, chance = independence(*about)
        said.append(
            f"Independence: chi-square {statistic:.4g}, {freedom} degrees of freedom, {wording.chance(chance)}."
        )
    return said or ["This design tells neither the moments nor the joint counts of these columns."]
