"""The library's best mechanism for surveys: fitted, reconciled with closed forms and with what is fitted to all types."""

import math

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core.mechanisms.surveys.scrambled import ScrambledPatterns
from ldp_core.people import Records
from ldp_core.workloads import KWayMarginals, survey
from tests.declared import ADULT

FIT = {"time_limit": None, "seed": 0}


@pytest.fixture(scope="module")
def adult():
    asked = survey(ADULT, 2)
    return asked, ldp.mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=4, **FIT)


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(8)
    first = rng.geometric(0.3, 20_000)
    return np.stack([np.minimum(first * rng.geometric(0.7, 20_000) - 1, size - 1) for size in ADULT], axis=1)


def test_a_billion_types_are_within_a_per_cent_of_the_bound(adult):
    asked, mechanism = adult
    assert isinstance(mechanism, ScrambledPatterns)
    assert mechanism.n == math.prod(ADULT)
    assert mechanism.audit().epsilon <= 1.0
    bound = ldp.bounds.centred_svd(asked, 1.0)
    assert 0 <= ldp.analysis.objective(mechanism, asked) / bound - 1 < 0.01
    needed = ldp.analysis.sample_complexity(mechanism, asked)
    assert 0 <= needed / ldp.analysis.users_from_objective(bound, asked) - 1 < 0.01
    assert ldp.analysis.worst_case_variance(mechanism, asked) == ldp.analysis.average_variance(mechanism, asked)
    assert mechanism.bits_per_report < 200
    assert "scrambled set of about" in mechanism.explain()
    assert repr(mechanism).startswith(
        "<optimized mechanism: 11 attributes, 1.45\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁹ types, epsilon 1, seed 0"
    )


def test_the_objective_of_the_design_is_that_of_the_mechanism(adult):
    asked, mechanism = adult
    found = ldp.optimize.design(asked, epsilon=1.0, max_rounds=4, **FIT)
    assert found.objective == pytest.approx(ldp.analysis.objective(mechanism, asked), rel=1e-9)
    again = ldp.mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=4, **FIT)
    assert again.digest == mechanism.digest


@pytest.mark.parametrize(
    ("sizes", "near"),
    [
        ([2] * 6, 0.003),
        ([2, 3, 8], None),
    ],
)
def test_what_is_fitted_to_all_types_is_hardly_better(sizes, near):
    asked, dense = survey(sizes, 2), KWayMarginals(tuple(sizes), 2)
    mechanism = ldp.mechanisms.create("optimized", workload=asked, epsilon=1.0, max_rounds=8, **FIT)
    ours = ldp.analysis.objective(mechanism, asked)
    assert ours == pytest.approx(ldp.analysis.objective(mechanism, dense), rel=1e-9)
    assert ldp.bounds.centred_svd(dense, 1.0) <= ours * (1 + 1e-9)
    best = ldp.optimize.design(dense, epsilon=1.0, time_limit=None, max_rounds=20).objective
    assert ours <= best * 1.003
    if near:  # orbits of rows over all types are near the optimum by then
        assert ours >= best * (1 - near)


def test_simulations_take_records_and_every_target_is_the_same(adult, records):
    asked, mechanism = adult
    frame = ldp.simulate.run(mechanism, asked, records, trials=2, estimators=["unbiased", "wnnls_total", "norm_sub"])
    errors = frame.groupby("estimator")["total_squared_error"].mean()
    assert errors["wnnls_total"] < errors["unbiased"]
    about = mechanism, asked, Records(records, ADULT)
    assert ldp.analysis.people_needed(*about) == ldp.analysis.people_needed(*about, ldp.analysis.WORST_CASE)
    small = survey([2, 3, 4], 2)
    for how in ({"target": "worst_case"}, {"prior": np.arange(1, 25) / 300}):
        ldp.mechanisms.create("optimized", workload=small, epsilon=1.0, max_rounds=2, **FIT, **how)
