"""Certificates for symmetric workloads: the moment relaxation in as many numbers as there are classes of pairs.

Averaging over the symmetry group keeps the moments of rows inside the relaxation whose dual
`ldp_core.bounds.general.dual` solves, and does not raise tr(M^-1 G), so first moments may be taken
equal, and second moments constant on classes of pairs: milliseconds at 2^16 types. There are few numbers, so the relaxation can afford what it
otherwise lacks: whole-number cuts (`ldp_core.bounds.general.whole`), found and added in rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.symmetric.classes import ClassRelaxation
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

_MOST_ROUNDS = 16


def symmetric_certificate(
    workload: Workload, epsilon: float, stop: Callable[[], bool] = lambda: False, rounds: int = _MOST_ROUNDS
) -> Certificate | None:
    """The relaxation's bound for a workload with a scheme; None for other workloads. Whole-number
    cuts are added in at most ``rounds`` rounds, until ``stop()``."""
    scheme, epsilon = workload.symmetry_group.scheme, check_epsilon(epsilon)
    if scheme is None:
        return None
    gamma, _ = scheme.spectrum(workload.gram_column)
    relaxation = ClassRelaxation(scheme, gamma, np.expm1(epsilon))
    found, reached = list[Certificate](), list[float]()
    for _ in range(rounds):
        relaxation.solve()
        found.append(_extracted(workload, epsilon, relaxation))
        reached.append(relaxation.objective)
        # A single round may gain nothing, because it only moves the moments to another place that is as good.
        settled = len(reached) > 4 and reached[-1] < reached[-5] * (1 + 1e-4)
        if settled or stop() or not relaxation.add_cuts():
            break
    best = replace(found[-1], value=found[-1].claim())
    if best.value < max(reached) * (1 - 1e-4):  # rounding spoils it
        best = max((replace(one, value=one.claim()) for one in found), key=lambda one: one.value)
    return best


def _extracted(workload: Workload, epsilon: float, relaxation: ClassRelaxation) -> Certificate:
    """C = M^-1, kappa and N from the centre, claiming nothing yet."""
    inverse, pairs, kappa = relaxation.multipliers()
    numbers = {
        "inverse": np.where(relaxation.gamma == 0, 0.0, inverse),  # of no use where G is nothing but rounding
        "pairs": pairs,
        "cut_multipliers": kappa,
        "floors": np.array([cut.floor for cut in relaxation.cuts]),
        **{f"cut{k}": np.asarray(cut.weights, dtype=float) for k, cut in enumerate(relaxation.cuts)},
    }
    return Certificate(workload, epsilon, 0.0, "classes", numbers)
