"""How an answer changes with columns that the collector knows: linear regression, by ordinary least squares.

The people of a group z have the same row x_z of known values: 1, the middle of the bin of each numeric column, and of each
other column whether it has its second, third, ... value. With b_z their number and m_z their average answer, the
coefficients are ``(X'BX)^-1 X'B m``: sums over the people of all groups, linear in what is secret, so that designs, errors
and proofs are those of any linear question on known groups. X'BX is known. A coefficient of a numeric column is for a round
step of about half its range, which makes it comparable with a difference of two groups (Gelman 2008, Statistics in Medicine
27). All are differences; the intercept is in the model, and is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ldp_core.people import Counts
from ldp_core.workloads.answers import GroupQuestion, Line, Within
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.comparisons import shortened
from ldp_core.workloads.composite import Custom
from ldp_core.workloads.grouped import placed
from ldp_core.workloads.means import averageable, middles
from ldp_core.workloads.ratios import Rates, Ratios
from ldp_core.workloads.surveys import Group
from ldp_core.workloads.units import OF_GROUP

RANK = 1e-9
"""Columns that others add up to are known by what is left of them, as a share of them."""


def model(axes: Sequence[Axis]) -> tuple[np.ndarray, list[str]]:
    """The matrix of a regression on some columns.

    Parameters
    ----------
    axes : sequence of Axis
        The columns, all of their values ordinary where they are numbers.

    Returns
    -------
    X : ndarray (g, 1 + q)
        A row for each group, the last column running fastest; first the intercept. Numbers count from the centre of
        their range, in steps.
    names : list of str
        (q,) what each coefficient is of: "per 20 of age", "arm new minus old".
    """
    values = np.indices([axis.size for axis in axes]).reshape(len(axes), -1)
    columns, names = [np.ones(values.shape[1])], list[str]()
    for axis, place in zip(axes, values, strict=True):
        if len(axis.edges) and not averageable(axis):
            raise ValueError(
                f"{shortened(axis.name)} has people without a number; leave them out on the Data page, or make it categories."
            )
        if len(axis.edges):
            at, low, high, _ = middles(axis)
            step = round_step((high - low) / 2)
            columns.append((at[place] - (low + high) / 2) / step)
            names.append(f"per {step:g} of {axis.name}")
        else:
            columns += [(place == k).astype(float) for k in range(1, axis.size)]
            names += [f"{axis.name} {label} minus {axis.labels[0]}" for label in axis.labels[1:]]
    return np.stack(columns, axis=1), names


def round_step(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is at most ``most``.

    >>> ldp.workloads.regression.round_step(36.0)
    20.0
    """
    power = 10.0 ** math.floor(math.log10(most))
    return float(f"{max(k for k in (1, 2, 5) if k * power <= most * (1 + RANK)) * power:.3g}")


@dataclass(frozen=True, eq=False)
class Regression(GroupQuestion):
    """What it is to ask how an answer changes with known columns, those of `groups`."""

    @cached_property
    def model(self) -> tuple[np.ndarray, list[str]]:
        """See `model`."""
        return model([self.axes[i] for i in self.groups])

    def weights(self, sizes: np.ndarray) -> np.ndarray:
        """(..., q, g) by which the averages of the groups add up to each coefficient, for groups of ``sizes`` (..., g); NaN where people in
        them do not tell the coefficient from others."""
        X, _ = self.model
        weighed = np.swapaxes(X * sizes[..., None], -1, -2)  # X'B
        square = weighed @ X
        inverse = np.linalg.pinv(square, rcond=RANK, hermitian=True)
        left = np.abs(inverse @ square - np.eye(X.shape[1])).max(axis=-1) > RANK**0.5
        return np.where(left[..., None], np.nan, inverse @ weighed)[..., 1:, :]

    def on_table(self, table: Group, survey: bool, most: int | None) -> Slopes:
        slopes = super().on_table(table, survey, None)
        names = [f"{slopes.names[0].removesuffix(self.names()[0])}, {name}" for name in self.model[1]]
        given = {name: getattr(slopes, name) for name in ("attributes", "sums", "inside", "known", "place")}
        unit = replace(slopes.unit, middle=0.0)
        return Slopes(names=tuple(names), unit=unit, queries_of=np.arange(len(names)), regression=self, **given)

    def line(self, question: str, weight: float, rates: Rates) -> SlopeLine:
        sizes, (table,), weights = rates.sizes[0], self.tables, self.weights(rates.sizes[0])
        matrix = np.nan_to_num(weights / np.where(sizes > 0, sizes, np.inf))
        if not matrix.any():
            raise ValueError("The people planned for are alike in the known columns, so nothing changes with these.")
        base = Within([table.base, Custom(matrix, [f", {n}" for n in self.model[1]])], self.unit.name == OF_GROUP)
        answered = placed(self.axes, (*table.attributes, *self.groups), base)
        given: dict[str, Any] = {"rates": rates, "group_question": self, "spread": rates.spread, "weight": weight}
        given |= {"weights": weights, "slopes": self.unit.factor * weights @ np.nan_to_num(rates.ratios[0])}
        return SlopeLine(question, self.unit, answered, ((answered, 1.0),), difference=True, **given)


@dataclass(frozen=True, eq=False, kw_only=True)
class SlopeLine(Line):
    """Coefficients of a regression: in planning data ``slopes`` (q,), of which the groups have ``weights`` (q, g); its `rates` are of each group."""

    weights: np.ndarray = field(repr=False)
    slopes: np.ndarray = field(repr=False)

    @property
    def by_group(self) -> bool:
        return False

    def values(self, people: Counts | None, queries: np.ndarray) -> np.ndarray:
        return np.asarray(self.slopes[queries])

    @property
    def answered(self) -> np.ndarray:
        return np.flatnonzero(np.isfinite(self.slopes))

    @property
    def bins(self) -> float:
        return self.unit.off * float(np.nansum(np.abs(self.weights), axis=1).max())

    @property
    def possible(self) -> tuple[float, float]:
        most = self.unit.factor * self.unit.span * float(np.nansum(np.abs(self.weights), axis=1).max()) / 2
        return -most, most

    @property
    def drawn(self) -> np.ndarray:
        return super().drawn @ np.nan_to_num(self.weights**2).T


@dataclass(frozen=True, eq=False, kw_only=True)
class Slopes(Ratios):
    """The coefficients of a ``regression``, from the sums and sizes of all groups."""

    regression: Regression

    def values(self, answers: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
        a, b = self.parts(answers)
        b = b if sizes is None else sizes
        averages = np.divide(a, b, out=np.zeros(a.shape), where=np.broadcast_to(b > 0, a.shape))[..., 0, :]
        return self.unit.factor * np.einsum("...qg,...g->...q", self.regression.weights(b[..., 0, :]), averages)

    def errors(self, answers: np.ndarray) -> Workload:
        a, b = self.parts(answers)
        size = np.where(b > 0, b, np.inf)
        return self.queries(
            self.unit.factor * np.nan_to_num(self.regression.weights(b[0])) @ self.each(a / size, size)[0]
        )

    def by_size(self, sizes: np.ndarray) -> np.ndarray:
        weights = self.regression.weights(sizes[0])
        each = self.sums[0] / np.where(sizes > 0, sizes, np.inf)[0, :, None]
        return (np.where(np.isfinite(weights), weights, 1.0) @ each)[None]

    def there(self, sizes: np.ndarray) -> np.ndarray:
        return np.isfinite(self.regression.weights(sizes[0])).all(axis=1)

    def possible(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights, (least, most) = self.regression.weights(sizes[0]), self.ends
        return np.minimum(weights * least, weights * most).sum(1), np.maximum(weights * least, weights * most).sum(1)
