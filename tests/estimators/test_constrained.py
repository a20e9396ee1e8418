"""Agreement with public facts: against an independent solver, conditions of optimality, and facts that cannot be."""

import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize

from ldp_core import estimators, mechanisms, workloads
from ldp_core.estimators import constrained, wnnls
from ldp_core.studies import simulate
from ldp_core.workloads import Axis, Fact, parse_facts

SEX = Axis("sex", ("female", "male"), 2)
AGE = Axis("age", ("0-29", "30-59", "60-89"), 3, ordered=True, edges=(0, 30, 60, 90))
TRUTH = np.array([210, 40, 5, 300, 44, 1])
PUBLIC = (
    "sex = male : 345\nage >= 30 : between 80 and 100\nage >= 60 and sex = male : at most 2\nage < 30 : at least 500"
)
FACTS = parse_facts(PUBLIC, (SEX, AGE))
WORKLOADS = {
    "histogram": workloads.histogram(6),
    "prefix": workloads.prefix(6),
    "marginals": workloads.k_way_marginals([2, 3], 1),
    "signed": workloads.custom(np.random.default_rng(0).standard_normal((9, 6))),
}


def noisy(workload, seed):
    mechanism = mechanisms.create("randomized_response", 6, 1.0)
    reports = mechanism.simulate(TRUTH, np.random.default_rng(seed))
    return mechanism, reports, mechanism.estimate(reports)


def broken(facts, x, users):
    """By how many people the worst of the facts, signs and the total is missed."""
    ends = [max(fact.low - fact.row @ x, fact.row @ x - fact.high) for fact in facts]
    return max(*ends, -x.min(), abs(x.sum() - users))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", WORKLOADS)
def test_facts_hold_and_no_other_counts_are_closer(kind, seed):
    workload = WORKLOADS[kind]
    mechanism, reports, unbiased = noisy(workload, seed)
    found = estimators.apply("constrained", reports, mechanism, workload, facts=FACTS)
    x, z, users = found.counts(), unbiased.counts(), TRUTH.sum()
    assert not found.unbiased
    assert broken(FACTS, x, users) < 1e-6
    # Scaled to shares, for a solver of another kind.
    G, scale = workload.gram_dense(), workload.trace
    ends = [{"type": "eq", "fun": lambda s: s.sum() - 1}]
    for fact in FACTS:
        if math.isfinite(fact.high):
            ends.append({"type": "ineq", "fun": lambda s, fact=fact: fact.high / users - fact.row @ s})
        ends.append({"type": "ineq", "fun": lambda s, fact=fact: fact.row @ s - fact.low / users})
    other = minimize(
        lambda s: (s - z / users) @ G @ (s - z / users) / scale,
        TRUTH / users,
        jac=lambda s: 2 * G @ (s - z / users) / scale,
        bounds=[(0, None)] * 6,
        constraints=ends,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert other.success
    best = workload.quadratic(x - z)
    assert best == pytest.approx(workload.quadratic(users * other.x - z), rel=1e-6, abs=1e-6 * workload.trace)
    # The truth has all the facts, so the projection is never farther from it.
    assert workload.quadratic(x - TRUTH) <= workload.quadratic(z - TRUTH) * (1 + 1e-9)


def test_slopes_are_a_combination_of_the_facts_that_bind():
    """Karush, Kuhn and Tucker: the gradient is made of the total, the facts at their ends and the counts at 0."""
    workload = WORKLOADS["histogram"]
    _, _, unbiased = noisy(workload, 1)
    z = unbiased.counts()
    x = constrained.project(workload, z, 600, FACTS)
    gradient = x - z
    outward = [np.ones(6), -np.ones(6)]
    for fact in FACTS:
        outward += [fact.row] if fact.row @ x > fact.high - 1e-5 else []
        outward += [-fact.row] if fact.row @ x < fact.low + 1e-5 else []
    outward += [-np.eye(6)[u] for u in np.flatnonzero(x < 1e-5)]
    weights = cp.Variable(len(outward), nonneg=True)
    missed = cp.norm(gradient + np.array(outward).T @ weights)
    assert cp.Problem(cp.Minimize(missed)).solve(solver=cp.CLARABEL) < 1e-3


@pytest.mark.parametrize("kind", WORKLOADS)
def test_without_facts_it_is_the_projection_with_known_total(kind):
    workload = WORKLOADS[kind]
    _, _, unbiased = noisy(workload, 3)
    x = constrained.project(workload, unbiased.counts(), 600, [])
    same = wnnls.project(workload, unbiased.counts(), 600)
    assert workload.quadratic(x - same) < 1e-5 * workload.trace


def test_negative_counts_where_they_are_allowed():
    workload, z = workloads.histogram(3), np.array([5.0, -4.0, 2.0])
    fact = Fact(np.array([1.0, 0, 0]), 1.0, 1.0, "the first")
    free = constrained.project(workload, z, 3, [fact], nonnegative=False)
    assert free == pytest.approx([1.0, -2.0, 4.0], abs=1e-6)
    assert constrained.project(workload, z, 3, [fact]) == pytest.approx([1.0, 0.0, 2.0], abs=1e-6)


@pytest.mark.parametrize("users", [10, 10**9])
def test_facts_hold_for_few_and_many(users):
    workload, rng = workloads.prefix(40), np.random.default_rng(2)
    counts = rng.multinomial(users, rng.dirichlet(np.full(40, 0.3)))
    rows = (rng.random((5, 40)) < 0.5).astype(float)
    facts = [Fact(row, row @ counts, row @ counts, f"fact {i}") for i, row in enumerate(rows)]
    x = constrained.project(workload, counts + rng.normal(size=40) * users / 20, users, facts)
    assert broken(facts, x, users) < 1e-6 * max(1, users / 1000)


def test_users_nobody():
    fact = Fact(np.ones(3), 0.0, 5.0, "at most five")
    assert constrained.project(workloads.histogram(3), np.array([1.0, -1, 0]), 0, [fact]).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("sex = male : 700", "The fact sex = male : 700 cannot be true of 600 people; correct its total."),
        ("sex = male : 345\nsex = female : 256", "sex = female : 256 contradicts those before it, for 600 people"),
        ("age < 30 : at least 400\nage >= 30 : at least 201", "age >= 30 : at least 201 contradicts"),
        ("sex = male : 345\nsex = male : at most 1\nage < 30 : 3", "sex = male : at most 1 contradicts"),
        ("sex in {male, female} : 599", "cannot be true of 600 people"),
        ("sex = male : 1\nage < 30 : at least 700", "age < 30 : at least 700 cannot be true of 600"),
    ],
)
def test_facts_that_cannot_all_be_true(lines, sentence):
    mechanism, reports, _ = noisy(WORKLOADS["prefix"], 0)
    facts = parse_facts(lines, (SEX, AGE))
    with pytest.raises(ValueError, match=sentence):
        estimators.apply("constrained", reports, mechanism, WORKLOADS["prefix"], facts=facts)


def test_counts_below_nothing_make_more_facts_possible_but_not_all():
    workload, z = WORKLOADS["prefix"], TRUTH.astype(float)
    more = parse_facts("sex = male : 700", (SEX, AGE))
    x = constrained.project(workload, z, 600, more, nonnegative=False)
    assert more[0].row @ x == pytest.approx(700)
    contradiction = parse_facts("sex = male : 345\nsex = female : 256", (SEX, AGE))
    with pytest.raises(ValueError, match="contradicts those before it"):
        constrained.project(workload, z, 600, contradiction, nonnegative=False)


def test_what_it_needs_is_said():
    mechanism, reports, unbiased = noisy(WORKLOADS["prefix"], 0)
    with pytest.raises(ValueError, match="state at least one, such as sex = male : 480"):
        estimators.apply("constrained", reports, mechanism, WORKLOADS["prefix"])
    with pytest.raises(ValueError, match="about 2 types; there are 6"):
        estimators.apply(
            "constrained", reports, mechanism, WORKLOADS["prefix"], facts=parse_facts("sex = male : 3", [SEX])
        )
    with pytest.raises(ValueError, match="no parameter 'fact'"):
        estimators.apply("constrained", reports, mechanism, WORKLOADS["prefix"], fact=FACTS)
    with pytest.raises(ValueError, match="at most 2,048 types"):
        constrained.project(workloads.prefix(4096), np.ones(4096), 4096, [])
    same = estimators.improve("constrained", unbiased, WORKLOADS["prefix"], 600, facts=FACTS)
    again = estimators.apply("constrained", reports, mechanism, WORKLOADS["prefix"], facts=FACTS)
    assert same.counts() == pytest.approx(again.counts())


def test_simulated_collections_state_no_facts():
    mechanism = mechanisms.create("randomized_response", 6, 1.0)
    with pytest.raises(ValueError, match=r"In agreement with public facts: .*none is stated"):
        simulate.collect(mechanism, WORKLOADS["prefix"], TRUTH, 1, 0, ["constrained"])
