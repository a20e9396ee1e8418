"""Searches and proofs have something at once, end inside a round when they should, and know their limits beforehand."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.bounds.general.certificate import nothing
from ldp_core.data.domain import Domain, NumericAttribute
from ldp_core.optimize import (
    ClosedFormDesign,
    SearchLimits,
    design,
    projected_gradient,
    strategies,
    worst_case_design,
)
from ldp_core.optimize.columns.orbits import Shifts, first_orbits
from ldp_core.run import GRACE, LEAST_GRACE, Budget, Interrupted
from tests.optimize.checks import Asked

PREFIX = workloads.prefix(24)
PRIOR = np.arange(1.0, 25) / 300


def average(how):
    return design(PREFIX, 1.0, None, max_rounds=4, **how)


def with_prior(how):
    return design(PREFIX, 1.0, None, max_rounds=4, prior=PRIOR, **how)


def blind(how):
    return design(workloads.parity(5, 2), 1.0, None, max_rounds=4, prior=np.arange(1.0, 33) / 528, **how)


def orbits(how):
    return design(workloads.all_marginals(5), 1.0, None, max_rounds=2, **how)


def alike(how):
    return design(workloads.histogram(40), 1.0, None, max_rounds=2, **how)


def worst_case(how):
    return worst_case_design(PREFIX, 1.0, SearchLimits(None, 4, **how))


def gradient(how):
    return projected_gradient(PREFIX, 1.0, limits=SearchLimits(None, 4, **how))


PRIORS = {with_prior: PRIOR, blind: np.arange(1.0, 33) / 528}
SEARCHES = [average, with_prior, blind, orbits, alike, worst_case, gradient]


def assert_as_told(search, result):
    """The result is a mechanism with the costs that it states."""
    workload = {blind: workloads.parity(5, 2), orbits: workloads.all_marginals(5), alike: workloads.histogram(40)}.get(
        search, PREFIX
    )
    assert np.abs(result.strategy.sum(axis=0) - 1).max() <= 1e-12
    mechanism = mechanisms.ExplicitMechanism("found", result.strategy, 1.0, prior=result.prior)
    if isinstance(result, ClosedFormDesign):
        assert analysis.objective(mechanism, workload) <= analysis.objective(result.mechanism(), workload) * (1 + 1e-6)
        mechanism = result.mechanism()
    assert mechanism.audit().epsilon <= 1 + 1e-11
    profile = mechanism.variance_profile(workload)
    if search is worst_case:
        told, cost = result.objective, workload.n * profile.max() + workload.trace
        assert result.worst_case_variance == pytest.approx(profile.max(), rel=1e-6)
    elif search in PRIORS:
        prior = PRIORS[search]
        told, cost = bounds.average_variance(result.objective, workload, prior), prior @ profile
    else:
        told, cost = result.objective, analysis.objective(mechanism, workload)
    assert told == pytest.approx(cost, rel=1e-5)


@pytest.mark.parametrize("asks", [1, 2, 3, 9, 40])
@pytest.mark.parametrize("search", SEARCHES)
def test_cancelling_anywhere_leaves_what_was_best(search, asks):
    cancel = Asked(asks)
    result = search({"cancel": cancel})
    if cancel.times < asks:
        pytest.skip("it was done before")
    assert result.stopped == "cancelled"
    assert cancel.times <= asks + 3  # why it was interrupted, and whether to polish: no work goes on
    assert_as_told(search, result)


def test_what_is_there_at_once_follows_the_attributes():
    """Marginals stay the same under shifts of every attribute, so that hardly anything is lost by using all of them."""
    axes = [NumericAttribute(name=f"a{n}", edges=tuple(range(n + 1)), origin="declared") for n in (3, 4, 5)]
    pairs = workloads.MarginalsPart(groups=[("a3", "a4"), ("a4", "a5")])
    workload = workloads.over_attributes([pairs], Domain(attributes=axes))
    group = Shifts.of(workload)
    assert group.sizes == (3, 4, 5)
    first = first_orbits(workload.gram_dense(), math.e * (1 - 2.0**-38), group)
    strategy = np.ascontiguousarray(first.transposed.T)
    mechanism = mechanisms.ExplicitMechanism("first", strategy, 1.0)
    assert analysis.objective(mechanism, workload) == pytest.approx(first.objective, rel=1e-6)
    information = mechanism.information(None)
    for axis in range(3):  # unchanged by shifting any attribute
        moved = np.roll(np.arange(60).reshape(3, 4, 5), 1, axis=axis).ravel()
        assert information[np.ix_(moved, moved)] == pytest.approx(information)
    assert first.objective < 1.5 * bounds.certificate(workload, 1.0, None).value


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("limit", [0, 40, 1000])
def test_a_time_limit_holds_within_a_tenth(search, limit, clock):
    workload = {blind: workloads.parity(5, 2), orbits: workloads.all_marginals(5), alike: workloads.histogram(40)}
    asked = workload.get(search, PREFIX)
    if run := {worst_case: worst_case_design, gradient: projected_gradient}.get(search):
        result = run(asked, 1.0, limits=SearchLimits(time_limit=limit))
    else:
        result = design(asked, 1.0, time_limit=limit, prior=PRIOR if search is with_prior else None)
    at_once = isinstance(result, ClosedFormDesign) and result.stopped == "converged"
    assert at_once or result.stopped == "time" or clock.now < limit
    assert clock.now <= limit + max(LEAST_GRACE, GRACE * limit) + 8


def test_a_step_under_way_has_a_little_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("ldp_core.run.time", SimpleNamespace(perf_counter=lambda: now[0]))
    budget = Budget(time_limit=100)
    now[0] = 104.0
    budget.check()
    assert budget.stopped() == "time"
    now[0] = 106.0
    with pytest.raises(Interrupted):
        budget.check()
    assert budget.interrupted == "time"
    Budget().check()
    with pytest.raises(Interrupted):
        Budget(cancel=lambda: True).check()


@pytest.mark.parametrize("optimise", [strategies.optimal_l1, strategies.optimal_l2])
@pytest.mark.parametrize("asks", range(1, 9))
def test_matrix_strategies_can_be_cancelled_anywhere(optimise, asks):
    cancel, seen = Asked(asks), []
    found = optimise(PREFIX, max_rounds=30, cancel=cancel, callback=seen.append)
    assert found.stopped == "cancelled"
    assert cancel.times <= asks + 3
    assert found.error == pytest.approx(strategies.error_of(found.strategy, PREFIX), rel=1e-6)
    assert found.error <= seen[0].error
    assert seen[0].round == 0


@pytest.mark.parametrize("bound", [bounds.certificate, bounds.worst_case])
@pytest.mark.parametrize("at_once", [0, 512])
def test_proofs_can_be_cancelled_anywhere(bound, at_once, lower):
    """With ``at_once`` 0 as where even the closed form takes seconds: it is there all the same."""
    lower(AT_ONCE_TYPES=at_once)
    full, values = bound(PREFIX, 1.0, time_limit=None), []
    for asks in itertools.chain(range(1, 12), (20, 40, 80, 160)):
        cancel = Asked(asks)
        found = bound(PREFIX, 1.0, time_limit=None, cancel=cancel)
        assert found.verify()
        assert cancel.times <= asks + 4
        values.append(found.variance)
    assert max(values) <= full.variance * (1 + 1e-9)
    assert min(values) > 0


@pytest.mark.parametrize("workload", [PREFIX, workloads.parity(4, 2)], ids=repr)
def test_nothing_proved_is_a_proof_that_no_variance_is_negative(workload):
    prior = np.arange(1.0, workload.n + 1)
    proof = nothing(workload, 1.0, prior / prior.sum())
    assert (proof.variance, proof.verify()) == (0.0, True)
    assert proof.value == pytest.approx(workload.n * (prior / prior.sum()) @ workload.gram_diag, rel=1e-13)
