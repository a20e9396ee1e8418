"""Designs for the worst type and for priors, measured in one run: gaps to their bounds, what they gain and what they lose."""

import time

import numpy as np
import pytest

from ldp_core import bounds, mechanisms, workloads

pytestmark = pytest.mark.benchmark

# Seconds for design and bound together, and the gap in worst-case variance they must reach.
TARGETS = {32: (10, 0.01), 64: (30, 0.02), 128: (60, 0.03)}
EPSILONS = (0.5, 1.0, 2.0, 4.0)
MAKERS = {"prefix": workloads.prefix, "all_range": workloads.all_range}


def built(workload, epsilon, seconds, **options):
    return mechanisms.create("optimized", epsilon=epsilon, workload=workload, time_limit=seconds, **options)


@pytest.mark.parametrize("n", TARGETS)
@pytest.mark.parametrize("name", MAKERS)
def test_worst_case_gap(name, n, capsys):
    limit, target = TARGETS[n]
    workload, gaps = MAKERS[name](n), {}
    for epsilon in EPSILONS:
        started = time.perf_counter()
        mechanism = built(workload, epsilon, 0.6 * limit, target="worst_case")
        bound = bounds.worst_case(workload, epsilon, 0.3 * limit, prior=mechanism.prior)
        seconds = time.perf_counter() - started
        assert bound.verify()
        worst = mechanism.variance_profile(workload).max()
        plain = built(workload, epsilon, 0.6 * limit).variance_profile(workload).max()
        gaps[epsilon] = worst / bound.variance - 1
        with capsys.disabled():
            gain, closed = plain / worst - 1, bounds.worst_case_variance(workload, epsilon)
            print(
                f"\n{name} {n}, epsilon {epsilon:g}: worst case {worst:.6g}, bound {bound.variance:.6g} (closed form "
                f"{closed:.6g}), gap {gaps[epsilon]:.2%}, average design {gain:.2%} worse, {seconds:.1f} s",
                end="",
            )
    assert max(gaps.values()) <= target


def zipf(n):
    p = 1 / np.arange(1.0, n + 1)
    return p / p.sum()


def bell(n):
    p = np.exp(-(((np.arange(n) - (n - 1) / 2) / (n / 8)) ** 2) / 2)
    return p / p.sum()


@pytest.mark.parametrize("shape", [zipf, bell], ids=["zipf", "bell"])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_priors_gain_and_lose(shape, epsilon, capsys):
    n = 32
    workload, prior = workloads.prefix(n), shape(n)
    plain = built(workload, epsilon, 5).variance_profile(workload)
    informed = built(workload, epsilon, 5, prior=prior).variance_profile(workload)
    certified = bounds.certificate(workload, epsilon, prior=prior)
    assert certified.verify()
    gap = prior @ informed / certified.variance - 1
    with capsys.disabled():
        print(
            f"\nprefix {n}, epsilon {epsilon:g}, {shape.__name__}: {1 - prior @ informed / (prior @ plain):.2%} less under the "
            f"prior, {informed.max() / plain.max() - 1:.2%} more in the worst case, gap {gap:.2%}",
            end="",
        )
    assert prior @ informed <= prior @ plain
    assert gap <= 0.02
