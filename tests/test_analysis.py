"""Variances and users needed against closed forms and the definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import analysis, mechanisms, workloads

MAKERS = [workloads.histogram, workloads.prefix, workloads.all_range]
CLOSED = ["randomized_response", "subset_selection", "hadamard", "hierarchical"]
makers = st.sampled_from(MAKERS)
names = st.sampled_from(CLOSED)
epsilons = st.floats(0.05, 6)


@given(st.integers(2, 2000), st.floats(0.05, 8))
def test_randomized_response_on_a_histogram_has_its_closed_form(n, epsilon):
    mechanism, workload = mechanisms.create("randomized_response", n, epsilon), workloads.histogram(n)
    E = math.exp(epsilon)
    expected = (n - 1) * (n / (E - 1) ** 2 + 2 / (E - 1))
    assert analysis.worst_case_variance(mechanism, workload) == pytest.approx(expected, rel=1e-9)
    assert analysis.average_variance(mechanism, workload) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40)
@given(names, makers, st.integers(2, 24), epsilons)
def test_objective_is_the_trace_of_inverse_information_times_gram(name, maker, n, epsilon):
    tree = {"oracle": "hadamard", "reconstruction": "optimal"}  # the one that is kept as a strategy
    mechanism, workload = mechanisms.create(name, n, epsilon, **(tree if name == "hierarchical" else {})), maker(n)
    M = mechanism.information()
    assert M.sum(axis=1) == pytest.approx(np.ones(n))
    expected = np.trace(np.linalg.solve(M, workload.gram_dense()))
    assert analysis.objective(mechanism, workload) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=40)
@given(names, makers, st.integers(2, 24), epsilons)
def test_worst_case_is_at_most_e_epsilon_times_average(name, maker, n, epsilon):
    # McKenna et al. 2020, Theorem 5.1.
    mechanism, workload = mechanisms.create(name, n, epsilon), maker(n)
    worst, average = (f(mechanism, workload) for f in (analysis.worst_case_variance, analysis.average_variance))
    assert average <= worst * (1 + 1e-9)
    assert worst <= math.exp(epsilon) * (average + workload.trace / n) * (1 + 1e-9)


@settings(max_examples=30)
@given(names, makers, st.integers(2, 12), epsilons, st.data())
def test_covariance_standard_errors_and_profile_agree(name, maker, n, epsilon, data):
    mechanism, workload = mechanisms.create(name, n, epsilon), maker(n)
    counts = np.array(data.draw(st.lists(st.integers(0, 10_000), min_size=n, max_size=n)))
    C, W = mechanism.covariance(counts), workload.matrix
    assert pytest.approx(C.T, rel=1e-6, abs=1e-6) == C
    expected = np.sqrt(np.maximum(np.diag(W @ C @ W.T), 0))
    # A total that is known exactly has variance 0; rounding leaves the root of 1e-16 of the others.
    noise = 1e-6 * (1 + np.sqrt(np.abs(C).sum()))
    errors = analysis.standard_errors(mechanism, workload, counts)
    assert errors == pytest.approx(expected, rel=1e-6, abs=noise)
    total = analysis.variance_on_data(mechanism, workload, counts)
    assert (errors**2).sum() == pytest.approx(total, rel=1e-6, abs=1e-6)
    assert total == pytest.approx(counts @ mechanism.variance_profile(workload))


def test_standard_errors_equal_the_spread_of_simulated_answers():
    counts, trials = np.array([900, 0, 400, 50, 10, 140]), 1500
    for name, maker in [("hierarchical", workloads.all_range), ("subset_selection", workloads.prefix)]:
        mechanism, workload = mechanisms.create(name, 6, 1.0), maker(6)
        rng = np.random.default_rng(7)
        answers = np.array(
            [mechanism.estimate(mechanism.simulate(counts, rng)).answers(workload) for _ in range(trials)]
        )
        exact = analysis.standard_errors(mechanism, workload, counts)
        random = exact > 1e-3 * exact.max()  # the total is known
        assert random.sum() >= workload.num_queries - 1
        # The relative error of a standard deviation from k normal draws is 1 / sqrt(2 k).
        spread = answers.std(axis=0, ddof=1)
        assert np.abs(spread[random] / exact[random] - 1).max() < 4.5 / math.sqrt(2 * trials)
        assert answers[:, ~random] == pytest.approx(np.broadcast_to(counts.sum(), (trials, (~random).sum())))


def test_users_needed_bring_the_error_of_a_typical_share_to_alpha():
    mechanism, workload = mechanisms.create("hadamard", 16, 1.0), workloads.prefix(16)
    users = analysis.sample_complexity(mechanism, workload, alpha=0.0025)
    worst = int(mechanism.variance_profile(workload).argmax())
    counts = np.zeros(16)
    counts[worst] = users  # everyone of the worst type
    mean_squared_share = analysis.variance_on_data(mechanism, workload, counts) / workload.num_queries / users**2
    assert mean_squared_share == pytest.approx(0.0025)
    assert analysis.sample_complexity(mechanism, workload) == pytest.approx(users / 4)


def test_users_from_an_objective_are_those_of_the_average_case():
    mechanism, workload = mechanisms.create("subset_selection", 16, 1.0), workloads.all_range(16)
    average = analysis.users_for(analysis.average_variance(mechanism, workload), workload.num_queries, 0.01)
    value = analysis.objective(mechanism, workload)
    assert analysis.users_from_objective(value, workload, 0.01) == pytest.approx(average)
    assert analysis.users_from_objective(workload.trace / 2, workload, 0.01) == 0
