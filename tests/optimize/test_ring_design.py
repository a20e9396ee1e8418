"""Rows on a ring: what they reach, against proved bounds and other designs, and that the objective is the truth."""

import numpy as np
import pytest

from ldp_core import bounds, library, limits, mechanisms, workloads
from ldp_core.mechanisms import RingMechanism
from ldp_core.optimize import SearchLimits, design_ring, refusals


def made(workload, epsilon, found):
    return RingMechanism("optimized", found.high, found.shares, workload.n, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "epsilon", "gap"),
    [
        (workloads.all_range(512), 0.3, 0.001),
        pytest.param(workloads.all_range(512), 1.0, 0.001, marks=pytest.mark.slow),
        pytest.param(workloads.all_range(512), 3.0, 0.04, marks=pytest.mark.slow),
        (workloads.width_range(256, 20), 1.0, 0.01),
        pytest.param(workloads.prefix(512), 1.0, 0.065, marks=pytest.mark.slow),
        (workloads.prefix(512), 3.0, 0.19),
    ],
    ids=repr,
)
def test_gaps_to_the_closed_form_bound(workload, epsilon, gap):
    found = design_ring(workload, epsilon, SearchLimits(time_limit=None))
    assert 0 <= found.objective / bounds.centred_svd(workload, epsilon) - 1 < gap
    assert found.stopped == "converged"


@pytest.mark.parametrize("n", [2, 3, 16, 45])
@pytest.mark.parametrize("maker", [workloads.prefix, workloads.all_range])
def test_the_objective_is_that_of_the_mechanism(maker, n):
    workload = maker(n)
    found = design_ring(workload, 1.2, SearchLimits(time_limit=None, max_rounds=2))
    profile = made(workload, 1.2, found).variance_profile(workload)
    assert found.objective == pytest.approx(profile.sum() + workload.trace)
    assert found.objective >= bounds.centred_svd(workload, 1.2)


def test_types_hardly_differ():
    workload = workloads.prefix(300)
    profile = made(workload, 1.0, design_ring(workload, 1.0, SearchLimits(time_limit=None))).variance_profile(workload)
    assert profile.max() < 1.05 * profile.mean()


def test_rounds_are_told_and_a_seed_gives_the_same_rows():
    told = []
    runs = [
        design_ring(workloads.prefix(64), 1.0, SearchLimits(None, 2, seed=5, callback=told.append)) for _ in range(2)
    ]
    assert np.array_equal(runs[0].high, runs[1].high)
    assert np.array_equal(runs[0].shares, runs[1].shares)
    assert repr(runs[0]).startswith("<RingDesign: 24 base rows on a ring of 90 places, epsilon 1, objective ")
    objectives = [progress.objective for progress in told if progress.objective]
    assert objectives[0] >= objectives[1] >= objectives[2] == runs[0].objective


def test_cancelled_at_once_there_are_rows_all_the_same():
    workload = workloads.prefix(64)
    found = design_ring(workload, 1.0, SearchLimits(cancel=lambda: True))
    assert found.stopped == "cancelled"
    assert found.objective == np.inf  # it has not been computed
    true = made(workload, 1.0, found).variance_profile(workload).sum() + workload.trace
    assert true < 1.2 * bounds.centred_svd(workload, 1.0)


def test_other_questions_and_more_types_are_refused():
    with pytest.raises(ValueError, match="running totals and ranges; this is Histogram"):
        design_ring(workloads.histogram(8), 1.0)
    with pytest.raises(ValueError, match=r"at most 4,096 types; there are 4,097"):
        design_ring(workloads.prefix(4097), 1.0)


def test_past_the_limit_of_written_strategies_totals_get_a_ring(lower):
    lower(MOST_FITTED_TYPES=16)
    workload = workloads.prefix(24)
    mechanism = mechanisms.create("optimized", epsilon=1.0, workload=workload, target="worst_case")
    assert isinstance(mechanism, RingMechanism)
    counts = np.full(24, 50)
    reports = mechanism.simulate(counts, np.random.default_rng(0))
    score = (mechanism.estimate(reports).answers(workload) - workload.answers(counts)) / np.sqrt(
        mechanism.query_variances(workload, counts) + 1e-9
    )
    assert np.abs(score[:-1]).max() < 5
    with pytest.raises(ValueError, match="at most 16"):
        mechanisms.create("optimized", epsilon=1.0, workload=workload, prior=np.arange(1, 25) / 300)


def test_which_sizes_are_designed_is_said_beforehand():
    spec = library.spec("optimized")
    for workload in (workloads.prefix(4096), workloads.all_range(4096), workloads.width_range(4096, 30)):
        assert spec.unsuitable(4096, 1.0, workload) is None
    assert "at most 4,096 types; there are 4,097" in spec.unsuitable(4097, 1.0, workloads.prefix(4097))
    assert refusals.most_types(workloads.prefix(9), False, True) == limits.MOST_MATRIX_TYPES
    assert refusals.most_types(workloads.prefix(9), False, False) == limits.MOST_FITTED_TYPES
    assert refusals.most_types(workloads.prefix(9), True, True) == limits.MOST_VECTOR_TYPES


@pytest.mark.slow
@pytest.mark.parametrize(("maker", "gap"), [(workloads.prefix, 0.055), (workloads.all_range, 0.001)])
def test_four_thousand_types(maker, gap):
    workload = maker(4096)
    mechanism = mechanisms.create("optimized", epsilon=1.0, workload=workload, time_limit=None)
    objective = mechanism.variance_profile(workload).sum() + workload.trace
    assert 0 <= objective / bounds.centred_svd(workload, 1.0) - 1 < gap
