"""Questions about people of whom only some values are secret.

S is the set of secret types, the others are open. A report that a secret type can send comes from every other type at least e^-epsilon times
as often; a report that no secret type can send may say the value (one-sided or utility-optimised LDP: Murakami and Kawamoto 2019;
Kotsogiannis et al. 2020; Acharya et al. 2020). With S = all types it is LDP.

The best strategies send for open types a covered report with one chance zeta, all the same, and their own value otherwise (this project). Open
types then differ in the second kind of report alone. Let r = n p for a prior p, and put them together as one type o of mass rho = sum r_x over
the open x. With u = 1 - zeta and M' the information matrix over S and o,

    M' = sum_v w_v v v' / (r'v) + (u / rho) e_o e_o',        tr(M^-1 G) = tr(M'^-1 G') + kappa / u,

G' the Gram matrix of the questions averaged over the open types, and kappa = sum_x r_x G_xx - rho G'_oo what they ask about differences of these:
u R^-1, R = diag(r), is a covariance for which means weighted by r and the deviations from them are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp_core.limits import MOST_FITTED_TYPES
from ldp_core.wording import magnitude
from ldp_core.workloads.axes import Axis
from ldp_core.workloads.base import Workload
from ldp_core.workloads.representatives import Representatives
from ldp_core.workloads.symmetry import SymmetryGroup


class PartlySecret(Representatives):
    """The queries of ``base`` about people whose types are secret where ``secret`` (n,) is true, and open elsewhere."""

    kind = "partly_secret"
    recipe = ("base", "secret")

    def __init__(self, base: Workload, secret: Sequence[bool] | np.ndarray):
        mask = np.asarray(secret, dtype=bool)
        if mask.shape != (base.n,) or not mask.any() or mask.all():
            raise ValueError(f"Some of the {base.n:,} types are secret and some are open: say so of each.")
        super().__init__(base, np.arange(base.n))
        mask.flags.writeable = False
        self._secret = mask

    @property
    def secret(self) -> np.ndarray:
        return self._secret

    @property
    def all_secret(self) -> Workload:
        return self.base

    @cached_property
    def symmetry_group(self) -> SymmetryGroup:
        """None: what permutes secret types with open ones does not keep the promise."""
        return SymmetryGroup("none", ((self.n, False),))


LEAST_SHARE = 1e-9
"""Types that nobody has count as this share of the average."""


@dataclass(frozen=True, eq=False)
class Lumped:
    """The problem over the ``secret`` types (s,) and one for all ``opened`` ones (o,).

    ``reference`` r (n,) is of all types, ``root`` (k, s + 1) a root of G', the type o last, and ``within`` is kappa.
    """

    secret: np.ndarray
    opened: np.ndarray
    reference: np.ndarray
    root: np.ndarray
    within: float

    @classmethod
    def of(cls, workload: Workload, prior: np.ndarray) -> Lumped:
        """The problem of ``workload``, for people spread as ``prior`` (n,)."""
        opened, r = np.flatnonzero(~workload.secret), workload.n * np.maximum(prior, LEAST_SHARE / workload.n)
        r *= workload.n / r.sum()
        root, masses = workload.gram_root, r[opened]
        middle = root[:, opened] @ masses / masses.sum()
        within = float(masses @ np.square(root[:, opened] - middle[:, None]).sum(axis=0))
        return cls(
            np.flatnonzero(workload.secret),
            opened,
            r,
            np.column_stack([root[:, workload.secret], middle]),
            within,
        )

    @property
    def masses(self) -> np.ndarray:
        """(s + 1,) r of the types, rho last."""
        return np.append(self.reference[self.secret], self.reference[self.opened].sum())


def partly_secret(workload: Workload, axes: Sequence[Axis]) -> Workload:
    """``workload`` with the types that are secret: all but those whose values are open in every column that the collector does not know. ValueError
    where none is secret, and where there are more types than strategies are fitted to."""
    unknown = [axis for axis in axes if not axis.known]
    if all(axis.secret is None for axis in unknown):
        return workload
    if not any(axis.secret is None or any(axis.secret) for axis in unknown):
        raise ValueError("No value is secret, so there is nothing to protect: name a secret value of some column.")
    if workload.n > MOST_FITTED_TYPES or workload.survey is not None:
        raise ValueError(
            f"Values that are not secret are handled for at most {MOST_FITTED_TYPES:,} types so far; there are {magnitude(workload.n)}. "
            "Use coarser bins or fewer columns, or let every value be secret."
        )
    secret = np.zeros(tuple(axis.size for axis in axes), dtype=bool)
    for i, axis in enumerate(axes):
        if not axis.known:
            values = np.ones(axis.size, dtype=bool) if axis.secret is None else np.array(axis.secret)
            secret |= values.reshape([-1 if k == i else 1 for k in range(len(axes))])
    return workload if secret.all() else PartlySecret(workload, secret.ravel())
