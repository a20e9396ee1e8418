"""Gaussian noise: its exact guarantee against numerical integration, the paper's constant, and the mechanism."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms.noise import gaussian
from ldp_core.mechanisms.noise.gaussian_privacy import calibrated_scale, exact_delta
from tests.refused import refused


@pytest.mark.parametrize(
    ("epsilon", "scale", "diameter"), [(0.1, 2, 1), (1, 3, 2), (1, 0.7, 1.4), (3, 1, 5), (5, 2, 0.3)]
)
def test_exact_delta_is_the_hockey_stick_divergence(epsilon, scale, diameter):
    """delta = integral of the positive part of f(y - D) - e^epsilon f(y)."""
    f, g = norm(diameter, scale), norm(0, scale)
    crossing = scale**2 * epsilon / diameter + diameter / 2  # where the densities have the ratio e^epsilon
    expected, _ = quad(
        lambda y: f.pdf(y) - math.exp(epsilon) * g.pdf(y),
        crossing,
        crossing + diameter + 30 * scale,
        epsabs=0,
        epsrel=1e-10,
    )
    assert exact_delta(epsilon, scale, diameter) == pytest.approx(expected, rel=1e-6, abs=1e-300)


@settings(max_examples=150)
@given(st.floats(0.001, 20), st.floats(-60, -1.01), st.floats(1e-3, 1e4))
def test_calibration_is_tight_and_never_short(epsilon, log_delta, diameter):
    delta = 10**log_delta
    scale = calibrated_scale(epsilon, delta, diameter)
    assert exact_delta(epsilon, scale, diameter) <= delta
    assert exact_delta(epsilon, scale * (1 - 1e-6), diameter) > delta


def test_the_papers_constant_delivers_what_the_design_notes_say():
    """eps = 1, delta = 1e-6: 6.5e-4 for columns 2r apart, 7.0e-6 at sqrt(2) r."""
    scale = math.sqrt(2 * math.log(2e6))
    assert exact_delta(1, scale, 2) == pytest.approx(6.5e-4, rel=0.01)
    assert exact_delta(1, scale, math.sqrt(2)) == pytest.approx(7.0e-6, rel=0.01)
    far_apart = gaussian.build(workloads.custom(np.array([[1.0, -1, 0]])), 1.0, calibration="paper")
    assert far_apart.audit().delta == pytest.approx(6.5e-4, rel=0.01)
    assert far_apart.audit().worst_pair == (0, 1)
    assert "0.00065" in far_apart.explain()
    histogram = gaussian.build(workloads.histogram(9), 1.0, calibration="paper")
    assert histogram.audit().delta == pytest.approx(7.0e-6, rel=0.01)


@pytest.mark.parametrize(
    "workload",
    [workloads.prefix(9), workloads.all_range(6), workloads.parity(3, 1), workloads.k_way_marginals([2, 3], 1)],
    ids=repr,
)
@pytest.mark.parametrize("calibration", gaussian.CALIBRATIONS)
def test_the_gram_root_stands_for_the_queries(workload, calibration):
    """Distances, and the error of noise on W itself with least squares for the known total, are the same."""
    m = gaussian.build(workload, 1.0, delta=1e-5, calibration=calibration)
    W, n = workload.matrix, workload.n
    pairs = [(u, v) for u in range(n) for v in range(u)]
    expected = [np.linalg.norm(W[:, u] - W[:, v]) for u, v in pairs]
    assert [np.linalg.norm(m.vectors[:, u] - m.vectors[:, v]) for u, v in pairs] == pytest.approx(expected, abs=1e-6)
    assert len(m.vectors) == np.linalg.matrix_rank(W)
    centred = W @ (np.eye(n) - 1 / n)
    profile = m.noise.scale**2 * np.linalg.matrix_rank(centred)  # |W P (W P)^+|_F^2, a projector
    assert m.variance_profile(workload) == pytest.approx(np.full(n, profile))
    radius = np.linalg.norm(W, axis=0).max()
    if calibration == "paper":
        assert m.noise.scale == pytest.approx(math.sqrt(2 * math.log(2e5)) * radius)
        assert m.audit().delta == pytest.approx(exact_delta(1.0, m.noise.scale, max(expected)), rel=1e-6)
    else:
        assert m.audit().delta == pytest.approx(1e-5, rel=1e-6)
        assert m.audit().delta <= 1e-5


@pytest.mark.parametrize(
    ("workload", "options", "sentence"),
    [
        (workloads.prefix(4), {"calibration": "loose"}, "analytic, paper"),
        (workloads.custom(np.ones((2, 3))), {}, "nothing to learn"),
        (workloads.histogram(5000), {}, "at most 4,096"),
    ],
)
def test_bad_parameters_are_refused(workload, options, sentence):
    refused(sentence, mechanisms.create, "gaussian", epsilon=1.0, workload=workload, **options)
