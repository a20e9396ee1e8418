"""The exact optimum over all rows: between certificate and design, equal to closed forms, and proved by its own numbers."""

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, optimize, workloads
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.optimize import SearchLimits
from tests.refused import refused

WORKLOADS = {
    "histogram": workloads.histogram,
    "prefix": workloads.prefix,
    "all ranges": workloads.all_range,
    "signed": lambda n: workloads.custom(np.random.default_rng(n).standard_normal((n - 1, n))),
    "union": lambda n: workloads.union([workloads.prefix(n), workloads.histogram(n)], [0.1, 3.0]),
}
FEWER_QUESTIONS_THAN_TYPES = {
    "1-way marginals": workloads.k_way_marginals(3, 1),
    "2-way marginals": workloads.k_way_marginals(3, 2),
    "light parities": workloads.parity(3, 1),
    "two counts": workloads.custom(np.eye(6)[:2]),
    "one total and one range": workloads.custom([[1.0, 1, 1, 1, 1], [0, 1, 1, 0, 0]]),
}


def valid(found, epsilon, rounding=1e-12):
    Q = found.strategy
    assert np.abs(Q.sum(axis=0) - 1).max() <= 1e-12
    assert ExplicitMechanism("optimized", Q, epsilon).audit().epsilon <= epsilon
    assert found.proof.verify()
    assert found.proof.value <= found.objective * (1 + rounding)
    return found


@pytest.mark.crossed
@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_it_lies_between_certificate_and_design(kind, n):
    workload = WORKLOADS[kind](n)
    found = valid(optimize.exact(workload, 1.0), 1.0)
    certificate = bounds.certificate(workload, 1.0, time_limit=None)
    designed = optimize.design(workload, 1.0, time_limit=None, max_rounds=60)
    assert certificate.value <= found.objective
    assert found.proof.value <= designed.objective
    assert certificate.value > 0.95 * found.proof.value
    assert designed.objective < 1.001 * found.objective


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 4.0, 10.0, 20.0])
@pytest.mark.parametrize("kind", ["histogram", "prefix"])
def test_it_is_as_good_at_every_epsilon(kind, epsilon):
    workload = WORKLOADS[kind](6)
    found = valid(optimize.exact(workload, epsilon), epsilon)
    for name in ("randomized_response", "subset_selection"):
        attained = analysis.objective(mechanisms.create(name, 6, epsilon), workload)
        assert found.proof.value <= attained * (1 + 1e-12)


@pytest.mark.crossed
@pytest.mark.parametrize("workload", FEWER_QUESTIONS_THAN_TYPES.values(), ids=FEWER_QUESTIONS_THAN_TYPES)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_a_workload_that_does_not_tell_all_types_apart_has_one_too(workload, epsilon):
    # Types that need not be distinguished leave an information matrix of condition 10^9 or more,
    # and so fewer digits of the objective.
    found = valid(optimize.exact(workload, epsilon), epsilon, rounding=1e-6)
    designed = optimize.design(workload, epsilon, time_limit=None, max_rounds=60)
    assert found.proof.value <= designed.objective < 1.01 * found.objective


def test_the_total_alone_costs_nothing():
    workload = workloads.custom(np.ones((1, 6)))
    found = valid(optimize.exact(workload, 1.0), 1.0)
    assert found.objective == pytest.approx(workload.trace)


PRIORS = {
    "rising": np.arange(1.0, 7) / 21,
    "one common": np.array([0.95, 0.01, 0.01, 0.01, 0.01, 0.01]),
    "some absent": np.array([0.5, 0, 0.25, 0, 0.25, 0]),
}


@pytest.mark.crossed
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("kind", ["histogram", "prefix"])
def test_a_prior_is_the_average_that_counts(kind, prior):
    workload = WORKLOADS[kind](6)
    found = valid(optimize.exact(workload, 1.0, prior), 1.0)
    designed = optimize.design(workload, 1.0, time_limit=None, max_rounds=60, prior=prior)
    assert bounds.certificate(workload, 1.0, prior=prior, time_limit=None).value <= found.objective
    assert found.proof.value <= designed.objective < 1.001 * found.objective
    mechanism = ExplicitMechanism("optimized", found.strategy, 1.0, prior=prior)
    variance = float(prior @ mechanism.variance_profile(workload))
    assert found.variance == bounds.average_variance(found.objective, workload, prior) == pytest.approx(variance)
    even = optimize.exact(workload, 1.0)
    other = ExplicitMechanism("optimized", even.strategy, 1.0, prior=prior)
    assert variance < float(prior @ other.variance_profile(workload))


@pytest.mark.parametrize(
    "workload", [workloads.histogram(6), workloads.k_way_marginals(3, 1), workloads.k_way_marginals([2, 4], 1)]
)
def test_where_types_are_alike_it_is_that_of_the_worst_case_too(workload):
    """No mechanism is better for the worst type than the optimum on average, and one attains it."""
    assert workload.symmetry_group.all_alike
    least = optimize.exact(workload, 1.0).variance
    worst = optimize.worst_case_design(workload, 1.0, SearchLimits(time_limit=None, max_rounds=60))
    found = ExplicitMechanism("optimized", worst.strategy, 1.0).variance_profile(workload).max()
    assert least * (1 - 1e-4) <= found <= 1.001 * least


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((workloads.prefix(11), 1.0), "at most 10 types; there are 11"),
        ((workloads.prefix(4), 0.0), "[Ee]psilon"),
        ((workloads.prefix(4), 1.0, np.ones(4)), "A prior holds"),
    ],
)
def test_what_it_cannot_do_is_said_in_a_sentence(arguments, sentence):
    refused(sentence, optimize.exact, *arguments)
