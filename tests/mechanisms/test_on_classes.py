"""Mechanisms whose reports are about classes of types: errors, reports and estimates are those of the
mechanism for the classes, and of a strategy whose columns are equal within a class."""

import numpy as np
import pytest

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.deploy.collector.manipulated_reports import manipulation
from ldp_core.estimators import intervals
from ldp_core.estimators.sequences import any_time
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.workloads import OnAttributes, distinguished
from tests.refused import refused

RNG = np.random.default_rng(3)
CLASSES = np.array([0, 1, 1, 2, 0, 3, 4, 4, 4, 5])
CONDITIONS = workloads.custom((RNG.random((5, 6)) < 0.5).astype(float)[:, CLASSES])
AGE = OnAttributes((6, 2, 2), [0], workloads.union([workloads.prefix(6), workloads.histogram(6)]))
COUNTS = {24: RNG.integers(0, 90, 24), 10: RNG.integers(0, 90, 10)}
ON_ATTRIBUTES = ("fourier", "hierarchical_2d", "duchi", "piecewise", "hybrid", "privset")
NAMES = [name for name in mechanisms.names() if not library.spec(name).surveys_only and name not in ON_ATTRIBUTES]


def built(name, workload, **more):
    rounds = {"max_rounds": 30, "time_limit": None} if library.spec(name).fitted else {}
    return mechanisms.create(name, epsilon=1.0, workload=workload, **rounds, **more)


@pytest.mark.parametrize("workload", [CONDITIONS, AGE], ids=["conditions", "age"])
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_those_of_the_mechanism_for_classes(name, workload):
    made = built(name, workload)
    if name == "optimized_gradient" and workload is CONDITIONS:  # classes of several sizes
        assert made.drawn is made
        return
    found, counts = distinguished(workload), COUNTS[workload.n]
    assert (made.n, made.drawn.n) == (workload.n, found.workload.n)
    profile = made.drawn.variance_profile(found.workload)[found.classes]
    assert made.variance_profile(workload) == pytest.approx(profile, rel=1e-12)
    each = made.query_variances(workload, counts)
    assert each.sum() == pytest.approx(made.variance_on(workload, counts), rel=1e-9)
    assert made.query_variances(workload, counts, np.array([2, 0])) == pytest.approx(each[[2, 0]], rel=1e-9)
    assert made.audit().epsilon == made.drawn.audit().epsilon <= 1 + 1e-12
    reports = made.simulate(counts, np.random.default_rng(0))
    estimate = made.estimate(reports)
    assert estimate.counts() is None
    off = estimate.answers(workload) - workload.answers(counts)
    assert estimate.squared_error(workload, counts) == pytest.approx(float(off @ off), rel=1e-9)
    assert estimate.answers(workload, np.array([1])) == pytest.approx(estimate.answers(workload)[[1]])
    refused("made by another mechanism", made.drawn.estimate, reports)
    assert "same reports for types" in made.supports(workloads.histogram(workload.n))


@pytest.mark.parametrize("workload", [CONDITIONS, AGE], ids=["conditions", "age"])
@pytest.mark.parametrize("name", ["randomized_response", "optimized", "hrr", "oue"])
def test_it_is_the_strategy_with_equal_columns_in_a_class(name, workload):
    """The truth: the same table for all types, estimated with the pseudo-inverse."""
    made = built(name, workload)
    Q = np.asarray(made.drawn.channel @ np.eye(made.drawn.n)) if made.drawn.channel is not None else None
    if Q is None:
        pytest.skip("too many reports to write out")
    expanded = Q[:, distinguished(workload).classes]
    assert np.asarray(made.channel @ np.eye(made.n)) == pytest.approx(expanded)
    x = np.arange(made.n, dtype=float)
    assert made.channel @ x == pytest.approx(expanded @ x)
    assert made.channel.T @ np.arange(len(Q)) == pytest.approx(expanded.T @ np.arange(len(Q)))
    assert made.report_table().entries == pytest.approx(
        made.drawn.report_table().entries[:, distinguished(workload).classes]
    )
    if name == "optimized":
        shares = distinguished(workload).shares(None)
        prior = None if shares is None else np.full(made.n, 1 / made.n)
        told = ExplicitMechanism("all", expanded, 1.0, prior=prior)
        assert made.variance_profile(workload) == pytest.approx(told.variance_profile(workload), rel=1e-6)


def test_randomized_response_on_one_of_three_columns_costs_what_it_costs_on_that_column():
    workload = OnAttributes((49, 4, 4), [0], workloads.union([workloads.prefix(49), workloads.histogram(49)]))
    alone = distinguished(workload).workload
    made, before = (built("randomized_response", workload, types=types) for types in ("distinguished", "all"))
    needed = analysis.sample_complexity(made, workload)
    assert needed == pytest.approx(analysis.sample_complexity(built("randomized_response", alone), alone), rel=1e-12)
    assert analysis.sample_complexity(before, workload) > 100 * needed
    assert made.explain().endswith("The questions distinguish 49 of 784 types; reports are about these.")


@pytest.mark.parametrize("name", ["randomized_response", "hierarchical", "gaussian", "optimized"])
def test_intervals_and_forged_reports_are_those_of_the_mechanism_for_classes(name):
    made, counts, few = built(name, AGE), COUNTS[24], distinguished(AGE).workload
    reports = made.simulate(counts, np.random.default_rng(1))
    estimate = made.estimate(reports)
    for found in (intervals, any_time):
        own = found(made.drawn, few, estimate.of_classes, users=int(counts.sum()))
        ends = found(made, AGE, estimate, users=int(counts.sum())).ends
        assert ends == pytest.approx(own.ends)
    forged, own = manipulation(made, AGE), manipulation(made.drawn, few)
    assert forged.reach == pytest.approx(own.reach)
    assert forged.deviation == pytest.approx(own.deviation)


def test_coarser_questions_are_answered_and_finer_ones_refused():
    made = built("subset_selection", CONDITIONS)
    half = workloads.custom(CONDITIONS.matrix[[1, 3]])
    assert made.supports(half) is None
    assert made.query_variances(half, COUNTS[10]) == pytest.approx(made.query_variances(CONDITIONS, COUNTS[10])[[1, 3]])
    assert made.supports(workloads.prefix(10)) == made.supports(workloads.histogram(10))
    refused("Keep all types", lambda: made.variance_profile(workloads.prefix(10)))
