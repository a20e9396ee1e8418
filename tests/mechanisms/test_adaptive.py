"""Adaptive queries: exact distributions, the promise of each answer, and the version with fixed queries."""

import math

import numpy as np
import pytest
from scipy import stats
from written_out import within

from ldp_core import analysis, mechanisms, workloads
from ldp_core.mechanisms.noise import adaptive
from ldp_core.mechanisms.noise.adaptive import AdaptiveSession, SimulatedUsers, chance_of_plus
from tests.refused import refused

COUNTS = np.array([300, 0, 50, 650])
QUERY = np.array([1.0, -0.5, 0.25, 0])
EPSILON = 1.0
C = (math.e + 1) / (math.e - 1)


def session(rng, groups=1, counts=COUNTS, bound=1.0):
    return AdaptiveSession(4, EPSILON, groups, SimulatedUsers(counts, EPSILON, groups, rng, bound), bound)


@pytest.mark.parametrize(("groups", "bound"), [(1, 1.0), (3, 2.5)])
def test_answers_are_unbiased_with_the_stated_error(groups, bound):
    rng, truth = np.random.default_rng(1), QUERY @ COUNTS / COUNTS.sum()
    asked = [session(rng, groups, bound=bound) for _ in range(1500)]
    for round_ in range(groups):
        answers = [one.ask(QUERY) for one in asked]
        values = np.array([answer.value for answer in answers])
        assert within(values, truth)
        # Each answer is +-c r with mean q_v; users are a random sample, which for one group is all of them.
        users = COUNTS.sum() / groups
        sampled = 1 - 1 / groups
        spread = COUNTS @ QUERY**2 / COUNTS.sum() - truth**2
        expected = ((C * bound) ** 2 - truth**2 - spread * (1 - sampled)) / users
        assert values.var(ddof=1) == pytest.approx(expected, rel=0.2)
        stated = np.array([answer.standard_error for answer in answers])
        assert np.mean(stated**2) == pytest.approx(((C * bound) ** 2 - truth**2) / users, rel=0.03)
        assert round_ < groups


def test_everyone_is_in_exactly_one_group_and_groups_are_even():
    rng = np.random.default_rng(2)
    sizes = np.array([[one.ask(QUERY).users for _ in range(4)] for one in (session(rng, 4) for _ in range(400))])
    assert np.all(sizes.sum(axis=1) == COUNTS.sum())
    assert stats.chisquare(sizes.sum(axis=0)).pvalue > 1e-4
    assert sizes[:, 1].var(ddof=1) == pytest.approx(1000 * 0.25 * 0.75, rel=0.35)


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0])
def test_a_sign_tells_two_types_apart_by_at_most_epsilon(epsilon):
    plus = chance_of_plus(np.linspace(-3, 3, 101), epsilon, 3.0)
    for chance in (plus, 1 - plus):
        assert np.log(chance.max() / chance.min()) == pytest.approx(epsilon, rel=1e-6)
    c = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    assert 3 * c * (2 * plus - 1) == pytest.approx(np.linspace(-3, 3, 101), abs=1e-9)


@pytest.mark.parametrize("users", [2, 3, 7])
def test_few_answers_are_unbiased_and_so_are_their_stated_variances(users):
    """By summing over all outcomes: users of one type whose answer is q send plus a binomial number of times."""
    epsilon, query = 0.7, np.array([0.4, -0.2])
    plus = chance_of_plus(query, epsilon, 1.0)[0]
    chances = stats.binom.pmf(np.arange(users + 1), users, plus)
    answers = [
        AdaptiveSession(2, epsilon, 1, lambda query, group, k=k: (k, users)).ask(query) for k in range(users + 1)
    ]
    values = np.array([answer.value for answer in answers])
    assert chances @ values == pytest.approx(0.4)
    variance = chances @ (values - 0.4) ** 2
    assert chances @ np.array([answer.standard_error**2 for answer in answers]) == pytest.approx(variance)


@pytest.mark.crossed
@pytest.mark.parametrize("share", [0.0, 0.03, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(("users", "epsilon"), [(5, 3.0), (40, 0.5), (400, 1.0)])
def test_intervals_hold_the_truth_in_19_of_20_sessions(share, users, epsilon):
    """Over all numbers of pluses, for one group of a fixed size whose members are drawn from 10 times as many people."""
    n_users, ones = 10 * users, round(10 * users * share)
    plus = chance_of_plus(np.array([-0.5, 0.5]), epsilon, 0.5)
    members = np.arange(users + 1)  # how many of the group are ones
    drawn = stats.hypergeom.pmf(members, n_users, ones, users)
    held = 0.0
    for k in range(users + 1):
        answer = AdaptiveSession(2, epsilon, 1, lambda q, g, k=k: (k, users), bound=0.5, centre=0.5).ask([0.0, 1.0])
        if answer.low - 1e-12 <= ones / n_users <= answer.high + 1e-12:
            of_k = [
                np.convolve(
                    *(
                        stats.binom.pmf(np.arange(size + 1), size, p)
                        for size, p in zip((users - m, m), plus, strict=True)
                    )
                )[k]
                for m in members[drawn > 1e-9]
            ]
            held += drawn[drawn > 1e-9] @ of_k
    assert held >= 0.95 - 1e-6


def test_a_session_ends_with_its_last_group():
    one = session(np.random.default_rng(0), 2)
    one.ask(QUERY)
    refused("between -1 and 1", one.ask, 2 * QUERY)
    assert one.remaining == 1  # a refused query costs no group
    one.ask(-QUERY)
    refused("All 2 groups have answered", one.ask, QUERY)


@pytest.mark.parametrize("query", [np.ones(3), np.full(4, np.nan), np.ones((4, 1))])
def test_malformed_queries_are_refused(query):
    refused("finite number for each of the 4 types", lambda: session(np.random.default_rng(0)).ask(query))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": 1}, "number of types"),
        ({"groups": 2.0}, "number of groups"),
        ({"bound": math.inf}, "number above 0"),
        ({"epsilon": 0}, "out of range"),
    ],
)
def test_bad_parameters_are_refused(options, sentence):
    sound = {"n": 4, "epsilon": 1.0, "groups": 3, "source": lambda query, group: (0, 0)}
    refused(sentence, AdaptiveSession, **{**sound, **options})


# --- fixed queries ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workload", [workloads.prefix(5), workloads.parity(3), workloads.custom([[3.0, -1, 0], [0, 2, 1]])], ids=repr
)
def test_the_fixed_version_asks_each_user_one_query_at_random(workload):
    m, W = adaptive.build(workload, EPSILON), workload.matrix
    centre, bound = (W.max() + W.min()) / 2, (W.max() - W.min()) / 2
    asked = np.flatnonzero(np.ptp(W, axis=1) > 0)
    p, whole, W = len(asked), W, W[asked]
    for k in range(p):
        plus = (1 + (W[k] - centre) / (C * bound)) / 2
        assert m.strategy[2 * k] == pytest.approx(plus / p)
        assert m.strategy[2 * k + 1] == pytest.approx((1 - plus) / p)
    assert m.audit().epsilon <= EPSILON
    assert m.supports(workload) is None
    # Optimal for even populations: never worse than the mean of the query's own users, variance p c^2 r^2 - q^2 each, where
    # q is centred.
    counts = np.full(workload.n, 7)
    alone = (p * (C * bound) ** 2 * counts.sum()) - (W - centre) ** 2 @ counts
    assert np.all(m.query_variances(workload, counts)[asked] <= alone * (1 + 1e-9))
    assert np.delete(m.query_variances(workload, counts), asked) == pytest.approx(np.zeros(len(whole) - p), abs=1e-6)


def test_constant_queries_get_no_users():
    """The last running total is the number of users, which is known: 52.99 in place of 60.75 for eight types."""
    workload = workloads.prefix(8)
    mechanism = mechanisms.create("adaptive", workload=workload, epsilon=1.0)
    assert mechanism.strategy.shape == (14, 8)
    assert analysis.average_variance(mechanism, workload) == pytest.approx(52.99, abs=0.005)
    counts = np.arange(8)
    answers = mechanism.estimate(mechanism.simulate(counts, np.random.default_rng(0))).answers(workload)
    assert answers[-1] == pytest.approx(28)
    constant = workloads.custom(np.ones((2, 4)))
    assert mechanisms.create("adaptive", workload=constant, epsilon=1.0).variance_profile(constant) == pytest.approx(
        np.zeros(4)
    )
