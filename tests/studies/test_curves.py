"""The gain from epsilon, against the functions that compute each point separately."""

import numpy as np
import pytest

from ldp_core import analysis, bounds, library, workloads
from ldp_core.studies import curves

N = 12
SKEWED = analysis.Case("people", np.arange(1, N + 1) / (N * (N + 1) / 2))


@pytest.mark.parametrize("case", [analysis.WORST_CASE, analysis.average_case(N), SKEWED], ids=lambda case: case.name)
def test_curves_are_what_each_point_gives(case):
    workload, at = workloads.prefix(N), curves.epsilons(1.0, 5)
    found = curves.users_needed("hierarchical", workload, at, case, {"branching": 2})
    for epsilon, users in zip(found["epsilon"], found["users_needed"], strict=True):
        mechanism = library.create("hierarchical", epsilon=epsilon, workload=workload, branching=2)
        variance = case.variance(mechanism.variance_profile(workload))
        assert users == pytest.approx(analysis.users_for(variance, workload.squared_weights, 0.01))
    assert list(found["epsilon"]) == pytest.approx(list(at))
    bound = curves.users_bound(workload, at, case)
    prior = np.full(N, 1 / N) if case.prior is None else case.prior
    for epsilon, users in zip(bound["epsilon"], bound["users_needed"], strict=True):
        value = bounds.centred_svd(workload, epsilon, None if case.name != "people" else prior)
        variance = max(0.0, bounds.average_variance(value, workload, prior))
        assert users == pytest.approx(analysis.users_for(variance, workload.squared_weights, 0.01), rel=1e-6, abs=1e-6)
    assert (bound["users_needed"] <= found["users_needed"]).all()
    assert (np.diff(found["users_needed"]) < 0).all()


def test_curves_leave_gaps_without_a_mechanism_and_can_be_cancelled():
    workload = workloads.prefix(8)
    found = curves.users_needed("rejection_gaussian", workload, [0.5, 1.0, 3.0], analysis.WORST_CASE)
    assert list(found["epsilon"]) == [0.5, 1.0]
    none = curves.users_needed("hadamard", workload, [1.0], analysis.WORST_CASE, cancel=lambda: True)
    assert len(none) == 0
