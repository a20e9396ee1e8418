"""Gaussian noise on each person's own answers to all queries (Bassily 2019, Algorithms 1 and 2)."""

from __future__ import annotations

import math

import numpy as np

from ldp_core.mechanisms.noise.additive import ROUNDING, AdditiveMechanism, GaussianNoise, check_vectors
from ldp_core.mechanisms.noise.gaussian_privacy import DEFAULT_DELTA, calibrated_scale, check_delta
from ldp_core.mechanisms.noise.vectors import diameter
from ldp_core.privacy import check_epsilon
from ldp_core.wording import significant
from ldp_core.workloads import Workload

CALIBRATIONS = ("analytic", "paper")


def build(
    workload: Workload, epsilon: float, delta: float = DEFAULT_DELTA, calibration: str = "analytic"
) -> AdditiveMechanism:
    """Sends the user's own column of W plus normal noise; (epsilon, delta)-LDP.

    The noise is the same in all directions, so W may be replaced by its Gram root R, R'R = G: distances between types and
    errors of the answers stay the same, and a report holds at most n numbers instead of one per query.

    ``calibration`` "analytic" takes the exact scale for the largest distance of two types (Balle and Wang 2018);
    "paper" takes sigma^2 = 2 r^2 log(2/delta)/epsilon^2 with r the largest column norm, as printed, whose true delta is
    larger than ``delta``: `audit` states it. The projection of Algorithm 2 is the estimator "polytope".
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    root = np.asarray(workload.gram_root)
    check_vectors(root)
    if calibration == "paper":
        scale = math.sqrt(2 * workload.gram_diag.max() * math.log(2 / delta)) / epsilon
    else:
        scale = calibrated_scale(epsilon, delta, diameter(root, "l2")[0] * ROUNDING)
    explanation = (
        f"Each person sends their own answers to all queries, squeezed to {len(root):,} numbers, each with normal noise of "
        f"standard deviation {significant(scale)}."
    )
    if calibration == "paper":
        true = GaussianNoise(scale).audit(root, epsilon).delta
        explanation += f" The noise is the paper's, which at epsilon = {epsilon:g} delivers delta = {significant(true, 2)}, not {significant(delta, 2)}."
    parameters = {"workload": workload.spec, "delta": delta, "calibration": calibration}
    return AdditiveMechanism("gaussian", root, GaussianNoise(scale), epsilon, delta, parameters, explanation)
