"""The bound on the worst type: below every mechanism, at or above the closed form, its gradient and its progress."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.bounds.general.hardest_prior import type_variances
from ldp_core.mechanisms import ExplicitMechanism

MAKERS = [workloads.prefix, workloads.all_range, lambda n: workloads.custom(np.diag(np.arange(1.0, n + 1)))]
UNEVEN = workloads.custom(np.vstack([np.tril(np.ones((9, 9))), 3 * np.eye(9)[:2]]))


def random_prior(n, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(n))


# --- scales ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.sampled_from(MAKERS), st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_objectives_stand_for_the_variances_of_mechanisms(maker, n, seed):
    rng, workload, prior = np.random.default_rng(seed), maker(n), random_prior(n, seed)
    Q = rng.uniform(1, 3, (3 * n, n))
    Q /= Q.sum(axis=0)
    profile = ExplicitMechanism("any", Q, 2.0, prior=prior).variance_profile(workload)
    M = Q.T @ (Q / (n * Q @ prior)[:, None])
    objective = np.trace(np.linalg.inv(M) @ workload.gram_dense())
    assert bounds.average_variance(objective, workload, prior) == pytest.approx(prior @ profile, rel=1e-5)
    even = ExplicitMechanism("any", Q, 2.0)
    average = analysis.average_variance(even, workload)
    assert bounds.equivalent_objective(average, workload) == pytest.approx(analysis.objective(even, workload))
    users = analysis.users_for(average, workload.num_queries)
    assert analysis.users_from_objective(bounds.equivalent_objective(average, workload), workload) == pytest.approx(
        users
    )


# --- the closed form ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("workload", [workloads.prefix(12), workloads.all_range(12), UNEVEN], ids=repr)
def test_no_prior_nearby_makes_the_closed_form_larger(workload, epsilon):
    prior, value = bounds.least_favourable_prior(workload, epsilon)
    assert prior.sum() == pytest.approx(1)
    assert prior.min() > 0

    def closed(p):
        return bounds.average_variance(bounds.centred_svd(workload, epsilon, p), workload, p)

    assert closed(prior) == pytest.approx(value, rel=1e-6)
    for seed in range(5):
        for share in (0.01, 0.3, 1.0):
            assert closed((1 - share) * prior + share * random_prior(workload.n, seed)) <= value * (1 + 1e-6)


# --- the certificate ------------------------------------------------------------------------------------------------


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("workload", [workloads.prefix(12), workloads.all_range(12), UNEVEN], ids=repr)
def test_is_proven_and_at_least_every_other_bound(workload, epsilon, clock):
    found = bounds.worst_case(workload, epsilon, None)
    assert found.verify()
    assert found.variance == pytest.approx(bounds.average_variance(found.value, workload, found.prior))
    assert found.variance >= bounds.worst_case_variance(workload, epsilon) * (1 - 1e-6)
    # The relaxation itself is known to 0.04 %.
    assert found.variance >= bounds.certificate(workload, epsilon, None).variance * (1 - 1e-3)
    other = random_prior(workload.n, 3)
    assert found.variance >= bounds.certificate(workload, epsilon, None, other).variance
    elsewhere = bounds.worst_case(workload, epsilon, prior=other, time_limit=0)
    assert elsewhere.variance >= bounds.worst_case_variance(workload, epsilon) * (1 - 1e-6)


@settings(max_examples=4)
@given(
    st.sampled_from(["randomized_response", "hadamard", "hierarchical", "optimized_gradient"]),
    st.sampled_from(MAKERS),
    st.integers(2, 10),
    st.floats(0.2, 5),
)
def test_no_mechanism_is_below(name, maker, n, epsilon):
    workload = maker(n)
    options = {"workload": workload, "max_rounds": 40} if name.startswith("optimized") else {}
    mechanism = mechanisms.create(name, n=n, epsilon=epsilon, **options)
    worst = analysis.worst_case_variance(mechanism, workload)
    assert bounds.worst_case(workload, epsilon, None).variance <= worst * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("workload", [workloads.prefix(10), UNEVEN], ids=repr)
def test_variances_of_the_types_bound_the_relaxation_at_every_other_prior(workload, epsilon):
    # A concave function lies below its tangents: F(q) <= sum_u q_u t_u.
    prior = random_prior(workload.n, 0) / 2 + 1 / (2 * workload.n)
    found = bounds.certificate(workload, epsilon, None, prior)
    variances = type_variances(found)
    assert prior @ variances == pytest.approx(found.variance, rel=5e-3)
    for seed in range(1, 7):
        other = random_prior(workload.n, seed)
        assert bounds.certificate(workload, epsilon, None, other).variance <= other @ variances * (1 + 5e-3)


def test_the_search_for_a_prior_pays():
    workload = workloads.custom(np.diag(np.arange(1.0, 13)))
    closed, _ = bounds.least_favourable_prior(workload, 3.0)
    start = bounds.certificate(workload, 3.0, None, closed)
    found = bounds.worst_case(workload, 3.0, None)
    assert found.variance > 1.002 * start.variance
    assert type_variances(found).max() < 1.02 * found.variance
    again = bounds.worst_case(workload, 3.0, None, prior=found.prior)
    assert again.variance >= found.variance * (1 - 1e-6)


def test_symmetric_workloads_need_no_search():
    for workload in (workloads.histogram(2**16), workloads.all_marginals(4)):
        found = bounds.worst_case(workload, 1.0, None)
        assert found.kind == "classes"
        assert found.verify()
        assert found.variance == bounds.certificate(workload, 1.0, None).variance
    best = mechanisms.create("subset_selection", 12, 1.0)
    histogram = workloads.histogram(12)
    worst = analysis.worst_case_variance(best, histogram)
    assert bounds.worst_case(histogram, 1.0, None).variance == pytest.approx(worst, rel=1e-4)


def test_stops_when_told_with_a_bound_that_holds(clock):
    workload, event = workloads.prefix(16), threading.Event()
    closed = bounds.worst_case_variance(workload, 1.0)
    for options in ({"time_limit": 0}, {"time_limit": None, "cancel": lambda: True}):
        found = bounds.worst_case(workload, 1.0, **options)
        assert found.verify()
        assert found.variance == pytest.approx(closed, rel=1e-6)
    seen = []

    def watch(progress):
        seen.append(progress)
        event.set()

    assert bounds.worst_case(workload, 1.0, None, callback=watch, cancel=event).verify()
    assert len(seen) == 1
