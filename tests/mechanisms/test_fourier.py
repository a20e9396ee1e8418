"""Fourier fitted to a workload: it samples the parities that the questions need, and only those."""

import numpy as np
import pytest
from written_out import EveryReport, check_errors

from ldp_core import analysis, mechanisms, workloads
from ldp_core.mechanisms import fourier
from tests.refused import refused


def sampled(workload):
    """The parities that ``workload`` needs, by its definition: those that some row of W is not orthogonal to."""
    H = np.ones((1, 1))
    while len(H) < workload.n:
        H = np.block([[H, H], [H, -H]])
    return set(np.flatnonzero(np.abs(workload.matrix @ H).max(axis=0) > 1e-9).tolist()) - {0}


def three_way(d=9):
    return workloads.k_way_marginals(d, 3)


QUESTIONS = {
    "3-way marginals": workloads.k_way_marginals(5, 3),
    "parities": workloads.parity(4, 2),
    "everything": workloads.histogram(16),
    "ranges": workloads.all_range(16),
    "a prefix of attributes of 4 values": workloads.k_way_marginals([4, 4], 1),
    "weighted": workloads.union([workloads.k_way_marginals(4, 1), workloads.parity(4, 1)], weights=[0.3, 1e-3]),
    "one attribute": workloads.custom(np.kron(np.eye(2), np.ones(8))),
    "one question": workloads.custom(np.array([[1.0, 0, 0, 1, 0, 1, 1, 0]])),
    "signed": workloads.custom(np.random.default_rng(0).normal(size=(3, 2)) @ [[1, 1, 0, 0], [0, 0, 0.1, 0.1]]),
}


@pytest.mark.parametrize("workload", QUESTIONS.values(), ids=QUESTIONS)
def test_it_samples_what_the_workload_needs_and_nothing_else(workload):
    mechanism = mechanisms.create("fourier", epsilon=1.0, workload=workload)
    assert len(mechanism.strategy) == 2 * len(sampled(workload))
    assert mechanism.supports(workload) is None
    assert mechanism.audit().epsilon <= 1.0
    everything = mechanisms.create("fourier", n=workload.n, epsilon=1.0)
    fewer = len(sampled(workload)) < workload.n - 1
    # Characters are orthogonal: if fewer are reported in the same number of reports, each is
    # reported more often.
    ratio = len(sampled(workload)) / (workload.n - 1)
    known = workload.quadratic(np.full(workload.n, 1 / workload.n))
    cost, dear = (workload.n * analysis.average_variance(m, workload) + workload.trace for m in (mechanism, everything))
    assert cost - workload.n * known == pytest.approx(ratio * (dear - workload.n * known))
    found = mechanism.estimate(mechanism.simulate(np.full(workload.n, 9), np.random.default_rng(0)))
    assert (found.counts() is None) == fewer
    assert (mechanism.supports(workloads.histogram(workload.n)) is None) == (not fewer)


def test_three_way_marginals_need_as_many_users_as_in_the_paper():
    workload = three_way()
    mechanism = mechanisms.create("fourier", workload=workload, epsilon=1.0)
    assert round(analysis.sample_complexity(mechanism, workload, alpha=0.01)) == 6596
    assert round(analysis.sample_complexity(mechanisms.create("fourier", n=512, epsilon=1.0), workload)) == 26161
    assert mechanism.digest == mechanisms.create("fourier", n=512, epsilon=1.0, max_weight=3).digest


def test_a_largest_weight_that_is_given_decides():
    mechanism = mechanisms.create("fourier", workload=three_way(4), epsilon=1.0, max_weight=2)
    assert mechanism.digest == mechanisms.create("fourier", n=16, epsilon=1.0, max_weight=2).digest
    assert "cannot answer" in mechanism.supports(three_way(4))


def test_it_answers_what_its_characters_span():
    mechanism, workload = fourier.build(16, 1.0, max_weight=2), workloads.k_way_marginals(4, 2)
    check_errors(EveryReport(mechanism), workload, np.arange(16) * 3)
    assert "same reports" in mechanism.supports(workloads.k_way_marginals(4, 3))


@pytest.mark.parametrize(
    ("n", "weight", "sentence"), [(12, None, "power of two"), (8, 4, "from 1 to 3"), (2**14, None, "too large")]
)
def test_it_says_what_it_cannot_do(n, weight, sentence):
    refused(sentence, fourier.build, n, 1.0, weight)
