"""Designs for the worst type: against the min-max over all rows (CVXPY), bounds, validity, and the mechanisms built on them."""

import cvxpy as cp
import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.optimize import SearchLimits, design, worst_case_design
from ldp_core.optimize.columns.reweighting import type_variances
from tests.optimize.checks import assert_valid
from tests.refused import refused

UNEVEN = workloads.custom(np.vstack([np.tril(np.ones((5, 5))), 3 * np.eye(5)[:2]]))
LOW_RANK = workloads.custom(np.array([[1.0, 1, 0, 0, 0, 2], [0, 1, 1, 0, 0, 0], [0, 0, 0, 3, 1, 0]]))


def least_worst_case(workload, epsilon):
    """min over strategies and unbiased reconstructions of max_u t_u, all 2^n rows enumerated: no prior comes into it.

    Let w be weights and Z_v = w_v R_v columns. Then t_u + G_uu = sum_v v_u |W Z_v|^2 / w_v is
    jointly convex.
    """
    n, K = workload.n, 2**workload.n
    rows = 1 + np.expm1(epsilon) * ((np.arange(K)[:, None] >> np.arange(n)) & 1)
    w, Z, costs, worst = cp.Variable(K, nonneg=True), cp.Variable((n, K)), cp.Variable(K), cp.Variable()
    images = workload.gram_root @ Z
    constraints = [rows.T @ w == 1, Z @ rows == np.eye(n), rows.T @ costs - workload.gram_diag <= worst]
    constraints += [cp.quad_over_lin(images[:, k], w[k]) <= costs[k] for k in range(K)]
    return float(cp.Problem(cp.Minimize(worst), constraints).solve(solver="CLARABEL"))


def mechanism_of(result):
    return ExplicitMechanism("designed", result.strategy, result.epsilon, prior=result.prior)


CASES = {
    "prefix 4": workloads.prefix(4),
    "ranges 5": workloads.all_range(5),
    "uneven": UNEVEN,
    "mean": workloads.custom([[0, 1, 2, 4, 7]]),
}


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", [0.5, pytest.param(1.0, marks=pytest.mark.slow), 3.0])
@pytest.mark.parametrize("case", CASES)
def test_is_the_least_worst_case_over_all_rows(case, epsilon):
    workload = CASES[case]
    result = worst_case_design(workload, epsilon, SearchLimits(time_limit=None, max_rounds=300))
    assert_valid(result.strategy, epsilon)
    best = least_worst_case(workload, epsilon)
    assert best * (1 - 1e-5) < result.worst_case_variance < best * (1 + 5e-4)
    bound = bounds.worst_case(workload, epsilon, None, result.prior)
    assert bound.verify()
    assert bound.variance <= best * (1 + 1e-6)


@pytest.mark.parametrize("workload", [workloads.prefix(12), LOW_RANK], ids=repr)
def test_what_is_reported_is_what_the_mechanism_does(workload):
    result = worst_case_design(workload, 1.0, SearchLimits(time_limit=None, max_rounds=40))
    assert_valid(result.strategy, 1.0)
    profile = mechanism_of(result).variance_profile(workload)
    assert profile == pytest.approx(type_variances(result.strategy, workload, result.prior), rel=1e-6)
    assert result.worst_case_variance == pytest.approx(profile.max(), rel=1e-6)
    assert result.objective == pytest.approx(workload.n * profile.max() + workload.trace, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [pytest.param(1.0, marks=pytest.mark.slow), 4.0])
def test_gap_of_prefix_and_gain_over_the_average_design(epsilon):
    workload = workloads.prefix(32)
    result = worst_case_design(workload, epsilon, SearchLimits(time_limit=None, max_rounds=150))
    bound = bounds.worst_case(workload, epsilon, None, result.prior)
    assert bound.verify()
    assert bound.variance <= result.worst_case_variance < 1.01 * bound.variance
    even = design(workload, epsilon, time_limit=None, max_rounds=150)
    assert result.worst_case_variance < type_variances(even.strategy, workload).max()
    if epsilon == 4.0:  # where much is gained, some is paid
        assert 1.2 * result.worst_case_variance < type_variances(even.strategy, workload).max()
        assert type_variances(even.strategy, workload).mean() < mechanism_of(result).variance_profile(workload).mean()


@pytest.mark.parametrize("workload", [workloads.histogram(9), workloads.all_marginals(3)], ids=repr)
def test_symmetry_makes_the_average_the_worst_case(workload):
    result = worst_case_design(workload, 1.0, SearchLimits(time_limit=None, max_rounds=20))
    profile = mechanism_of(result).variance_profile(workload)
    assert result.prior is None
    assert np.ptp(profile) < 1e-9 * profile.max()
    assert result.worst_case_variance == pytest.approx((result.objective - workload.trace) / workload.n)


def test_a_query_that_needs_no_reports_costs_nothing():
    total = workloads.custom(np.ones((1, 5)))
    result = worst_case_design(total, 1.0, SearchLimits(time_limit=None, max_rounds=5))
    assert_valid(result.strategy, 1.0)
    assert abs(result.worst_case_variance) < 1e-6
    assert bounds.worst_case(total, 1.0, None).variance < 1e-6


def test_progress_is_the_worst_case_on_the_scale_of_L_and_never_rises():
    workload, seen = workloads.prefix(16), []

    def watch(progress):
        assert_valid(progress.strategy, 1.0)
        seen.append((progress.round, progress.seconds, progress.objective))

    result = worst_case_design(workload, 1.0, SearchLimits(time_limit=None, max_rounds=25, callback=watch))
    assert result.history == tuple(seen[2:])  # after what there is at once, and before the first round
    assert (np.diff([s[2] for s in seen]) <= 0).all()
    assert (result.stopped, result.rounds) == ("rounds", 25)
    assert result.objective <= seen[-1][2] * (1 + 1e-4)
    needed = analysis.sample_complexity(mechanism_of(result), workload)
    assert analysis.users_from_objective(result.objective, workload) == pytest.approx(needed)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "out of range"),
        ({"limits": SearchLimits(None, max_rounds=-1)}, "max_rounds"),
        ({"limits": SearchLimits(time_limit=float("nan"))}, "time_limit"),
        ({"workload": workloads.prefix(4096)}, "too large"),
    ],
)
def test_bad_input_is_refused_in_words(changes, words):
    refused(
        words,
        lambda: worst_case_design(
            **{"workload": workloads.prefix(4), "epsilon": 1.0, "limits": SearchLimits(None), **changes}
        ),
    )


# --- the mechanisms -------------------------------------------------------------------------------------------------


def created(workload, **options):
    seen = []
    mechanism = mechanisms.create(
        "optimized",
        epsilon=3.0,
        workload=workload,
        time_limit=None,
        max_rounds=60,
        callback=lambda progress: seen.append(progress.objective),
        **options,
    )
    return mechanism, seen[-1]


def test_each_target_is_the_best_at_its_own_aim():
    workload = workloads.prefix(16)
    zipf = 1 / np.arange(1.0, 17)
    zipf /= zipf.sum()
    built = {
        "average": created(workload),
        "prior": created(workload, prior=zipf),
        "worst": created(workload, target="worst_case"),
    }
    aims = {
        "average": lambda profile: profile.mean(),
        "prior": lambda profile: zipf @ profile,
        "worst": lambda profile: profile.max(),
    }
    profiles = {name: mechanism.variance_profile(workload) for name, (mechanism, _) in built.items()}
    for name, aim in aims.items():
        assert min(profiles, key=lambda other: aim(profiles[other])) == name
        # Callbacks get the aim, on the scale of L.
        assert built[name][1] == pytest.approx(workload.n * aim(profiles[name]) + workload.trace, rel=1e-3)
    assert built["average"][0].prior is None
    assert np.array_equal(built["prior"][0].prior, zipf)
    assert built["worst"][0].parameters["target"] == "worst_case"
    assert "whatever the people are like" in built["worst"][0].explain()
    assert "as expected" in built["prior"][0].explain()
    assert len({mechanism.digest for mechanism, _ in built.values()}) == 3


def test_a_prior_is_within_a_per_cent_of_its_certificate():
    workload, prior = workloads.all_range(12), np.arange(1.0, 13) / 78
    mechanism, _ = created(workload, prior=prior)
    certified = bounds.certificate(workload, 3.0, None, prior)
    assert certified.verify()
    reached = prior @ mechanism.variance_profile(workload)
    assert certified.variance <= reached < 1.01 * certified.variance


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "best"}, "one of average, worst_case"),
        ({"target": "worst_case", "prior": np.full(4, 0.25)}, "leave the prior out"),
        ({"prior": np.full(3, 1 / 3)}, "each of the 4 types"),
    ],
)
def test_bad_targets_are_refused_in_words(options, words):
    refused(words, lambda: mechanisms.create("optimized", epsilon=1.0, workload=workloads.prefix(4), **options))
