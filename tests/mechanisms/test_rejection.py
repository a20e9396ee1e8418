"""Rejection sampling: integrals, densities, Monte Carlo; the corrected step is pure LDP and the printed one is not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from written_out import within

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms.noise.rejection import Acceptance, best_rho
from tests.refused import refused

BOTH = [{"variant": "corrected"}, {"variant": "paper", "users": 50}]


def built(maker=workloads.prefix, n=4, epsilon=1.0, **options):
    return mechanisms.create("rejection_gaussian", n, epsilon, maker(n), **options)


@settings(max_examples=20)
@given(st.floats(0.001, 2 * math.log(2)), st.floats(0.3, 3))
def test_no_other_noise_is_better(epsilon, factor):
    rho = best_rho(epsilon)
    best, other = (Acceptance(r, epsilon / 2, False).variance for r in (rho, rho * factor))
    assert best <= other * (1 + 1e-6)


@pytest.mark.parametrize("options", BOTH, ids=lambda options: options["variant"])
@pytest.mark.parametrize("epsilon", [0.3, 1.38])
def test_variances_are_the_integrals(options, epsilon):
    """Mean and variance of what one user sends, along the own vector and across it, by quadrature of z eta(z) and z^2 eta(z)."""
    m = built(epsilon=epsilon, **options)
    kinks = [(sign * m.acceptance.band + m.acceptance.rho**2 / 2) / m.acceptance.rho for sign in (-1, 1)]
    edges = np.unique(np.clip([-12, *kinks, 12], -12, 12))

    def mean_of(power):
        parts = [
            quad(lambda z: z**power * float(m.acceptance(z)) * stats.norm.pdf(z), a, b, epsabs=1e-13)[0]
            for a, b in zip(edges[:-1] + 1e-13, edges[1:] - 1e-13, strict=True)
        ]
        return sum(parts)

    sent, mean, square = (m.scale**j * mean_of(j) for j in range(3))
    along, across = square - mean**2, m.scale**2 * sent  # nothing sent counts as 0
    assert m.variances == pytest.approx((across, (along - across) / m.radius**2), rel=1e-6)
    # The same, of the estimated counts: R Cov R' with the covariance of the vector sent.
    for u in range(m.n):
        direction = m.vectors[:, u] / m.radius
        covariance = across * np.eye(m.size) + (along - across) * np.outer(direction, direction)
        expected = m.reconstruction @ covariance @ m.reconstruction.T
        assert m.covariance(np.eye(m.n)[u]) == pytest.approx(expected, rel=1e-6, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("options", BOTH, ids=lambda options: options["variant"])
def test_simulated_sums_have_the_distribution_of_added_reports(options):
    m, rng = built(**options), np.random.default_rng(3)
    few = np.array([1, 0, 2, 0])
    simulated = [m.simulate(few, rng).data for _ in range(4000)]
    added = [m.aggregate(m.privatize(np.array([0, 2, 2]), rng)).data for _ in range(4000)]
    for coordinate in range(m.size):
        one, two = ([total[coordinate] for total, _ in data] for data in (simulated, added))
        assert stats.ks_2samp(one, two).pvalue > 1e-4
    kept = [np.bincount([sent[0] for _, sent in data], minlength=4) for data in (simulated, added)]
    assert stats.chi2_contingency(np.array(kept)).pvalue > 1e-4


def chances(m, y):
    """(points, n) chance that each type sends the draw ``y``, from the densities of N(a, s^2) and N(0, s^2)."""
    log_ratio = (2 * y @ m.vectors - (m.vectors**2).sum(axis=0)) / (2 * m.scale**2)
    return log_ratio, m.acceptance(y @ m.vectors / (m.radius * m.scale))


@pytest.mark.parametrize("epsilon", [0.05, 1.38])
def test_no_report_tells_two_types_apart_by_more_than_epsilon(epsilon):
    m, rng = built(epsilon=epsilon), np.random.default_rng(0)
    y = rng.normal(scale=6 * m.scale, size=(20000, m.size))
    log_ratio, eta = chances(m, y)
    band = epsilon / 2
    assert eta == pytest.approx(np.exp(np.clip(log_ratio, -band, band)) / 2, rel=1e-9)
    assert 0 < eta.min() <= eta.max() <= 1
    ratios = np.log(eta.max(axis=1) / eta.min(axis=1))
    audit = m.audit()
    assert ratios.max() == pytest.approx(audit.epsilon, rel=1e-9)
    assert audit.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert audit.epsilon <= epsilon
    u, v = audit.worst_pair
    assert np.abs(np.log(eta[:, u] / eta[:, v])).max() == pytest.approx(epsilon, rel=1e-9)
    # Sending nothing: the norms are equal, so the chance is.
    assert np.linalg.norm(m.vectors, axis=0) == pytest.approx(np.full(4, m.radius))
    sent = ~np.isnan(m.privatize(np.repeat(np.arange(4), 20000), rng)[:, 0]).reshape(4, -1)
    assert stats.chi2_contingency([sent.sum(axis=1), (~sent).sum(axis=1)]).pvalue > 1e-4
    assert within(sent.ravel().astype(float), m.acceptance.moments[0])


def test_the_printed_step_is_not_private():
    m = built(variant="paper", users=50)
    y = np.random.default_rng(0).normal(scale=m.scale, size=(5000, m.size))
    _, eta = chances(m, y)
    assert np.any((eta.max(axis=1) > 0) & (eta.min(axis=1) == 0))
    assert m.audit().epsilon == math.inf
    assert "not locally private" in m.explain()
    assert m.scale == pytest.approx(math.sqrt(4 * math.log(50)) * m.radius)
    assert m.parameters["users"] == 50


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"epsilon": 1.4}, "2 log 2 = 1.386"),
        ({"users": 5}, "leave users out"),
        ({"variant": "paper", "users": 1}, "at least 2"),
    ],
)
def test_bad_parameters_are_refused(options, sentence):
    refused(sentence, built, **options)
