"""What mixing gives is never promised too small: exact laws of mixed reports, by enumeration and by binomials, lie below."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

import ldp_core as ldp
from ldp_core import shuffled
from ldp_core.privacy import exponential_below
from ldp_core.shuffled import Blanket, blanket_of, delta
from tests.refused import refused


def hockey_stick(P, R, epsilon):
    return float(np.maximum(P - math.exp(epsilon) * R, 0).sum())


def binary(users, ones, local):
    """The laws of the number of ones among mixed answers of ``ones`` people with 1 and the others with 0, and one more of either kind."""
    p = 1 / (1 + math.exp(-local))
    others = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, p), stats.binom.pmf(np.arange(users - ones), users - 1 - ones, 1 - p)
    )
    return np.convolve(others, [1 - p, p]), np.convolve(others, [p, 1 - p])


@pytest.mark.crossed
@pytest.mark.parametrize("users", [100, 1_000, 10_000])
@pytest.mark.parametrize("local", [0.5, 1.0, 2.0])
def test_binary_randomized_response_is_as_near_as_its_blanket_is(users, local):
    """Others' answers vary by p (1 - p), and by gamma / 4 in the blanket; with a third type the two are the same."""
    mechanism = ldp.mechanisms.create("randomized_response", n=2, epsilon=local)
    allowed = 1e-6
    ours = shuffled.shuffled(mechanism, users, allowed)

    def worst(epsilon):
        laws = [binary(users, ones, local) for ones in (0, users // 2, users - 1)]
        return max(hockey_stick(*pair, epsilon) for P, R in laws for pair in ((P, R), (R, P)))

    assert worst(ours) <= allowed
    exact = optimize.brentq(lambda e: math.log(max(worst(e), 1e-300) / allowed), 1e-3 * local, local * (1 - 1e-9))
    assert ours <= 1.06 * exact / math.sqrt((1 + math.exp(-local)) / 2)


def mixed_law(Q, people):
    """{multiset: probability} of the mixed reports of ``people``."""
    law = {(0,) * len(Q): 1.0}
    for person in people:
        further = {}
        for counts, chance in law.items():
            for y, q in enumerate(Q[:, person]):
                moved = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                further[moved] = further.get(moved, 0.0) + chance * q
        law = further
    return law


def told_apart(Q, users, epsilon):
    """The exact delta of the mixed reports of ``users`` people: the worst two types of one of them, and the worst others."""
    deltas = [0.0]
    for others in itertools.combinations_with_replacement(range(Q.shape[1]), users - 1):
        laws = [mixed_law(Q, (*others, one)) for one in range(Q.shape[1])]
        for P, R in itertools.permutations(laws, 2):
            deltas.append(sum(max(0.0, P[y] - math.exp(epsilon) * R[y]) for y in P))
    return max(deltas)


@pytest.mark.parametrize("seed", range(8))
def test_no_set_of_people_is_told_apart_better(seed):
    rng = np.random.default_rng(seed)
    users, local, k = int(rng.integers(2, 7)), rng.uniform(0.2, 2), int(rng.integers(2, 5))
    heights = rng.uniform(1, math.exp(local), (k, 3))
    Q = heights / heights.sum(axis=0)  # rows of any values
    if seed % 2:
        Q = np.where(np.eye(3) > 0, math.exp(local), 1.0) / (math.exp(local) + 2)
    of = Blanket.of_table(Q)
    for epsilon in (0.1, 0.3, 0.7):
        assert told_apart(Q, users, epsilon) <= delta(of, users, epsilon) + 1e-12


WITH_ZEROS = [
    [[0.5, 0.3], [0.4, 0.7], [0.1, 0.0]],
    [[0.5, 0.3], [0.45, 0.6], [0.05, 0.0], [0.0, 0.1]],
    [[0.5, 0.25, 0.3], [0.4, 0.75, 0.5], [0.1, 0.0, 0.2]],
    [[0.6, 0.3, 0.3], [0.2, 0.5, 0.2], [0.2, 0.2, 0.4999], [0.0, 0.0, 0.0001]],
    [[1.0, 0.5], [0.0, 0.5]],
    [[1.0, 0.0], [0.0, 1.0]],
]


@pytest.mark.parametrize("table", WITH_ZEROS)
def test_reports_that_some_people_never_send_are_told_apart_however_many_are_mixed(table):
    Q = np.array(table)
    of = Blanket.of_table(Q)
    certain = Q[Q.min(axis=1) == 0].sum(axis=0).max()
    for users, epsilon in itertools.product((1, 2, 4), (0.01, 0.1, 0.3, 0.6, 1.0, 3.0)):
        assert told_apart(Q, users, epsilon) <= delta(of, users, epsilon) + 1e-12
    assert shuffled.shuffled(of, 10_000) == math.inf
    assert "mixing proves nothing" in shuffled.promised(of, 10_000)
    assert certain <= delta(of, 10**9, 5.0) <= certain * (1 + 1e-6)


def test_reports_that_hardly_anybody_sends_are_part_of_delta():
    Q = np.array([[0.6, 0.4 - 1e-5], [0.4, 0.6], [0.0, 1e-5]])
    for allowed in (2e-5, 1e-3):
        central = shuffled.shuffled(Blanket.of_table(Q), 6, allowed)
        assert central < math.inf
        assert told_apart(Q, 6, central) <= allowed
    assert shuffled.shuffled(Blanket.of_table(Q), 6, 0.9e-5) == math.inf


@pytest.mark.parametrize(
    "high", [[[1, 0], [0, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [0, 1, 1], [1, 0, 1]]]
)
@pytest.mark.parametrize("users", [1, 2, 3])
def test_what_counts_is_rounded_outwards(high, users):
    """The bound in rational arithmetic, of rows of two values: every outcome of a few people, and e^epsilon as a number just below it."""
    ratio = Fraction(3)
    rows = [[ratio if one else Fraction(1) for one in row] for row in high]
    low = 1 / sum(row[0] for row in rows)  # the least probability of each report
    of = Blanket.of_table(np.array(rows, dtype=float) * float(low))
    for epsilon in (0.001, 0.1, 0.5, 1.0, 1.09, 1.0986):
        F = exponential_below(Fraction(epsilon))
        worth = [(low, row[0] - F * row[1]) for row in rows] + [(1 - low * len(rows), Fraction(0))]
        outcomes = (zip(*outcome, strict=True) for outcome in itertools.product(worth, repeat=users))
        exact = sum(math.prod(chances) * max(Fraction(0), sum(values)) for chances, values in outcomes) / users
        assert exact <= Fraction(delta(of, users, epsilon)) <= exact * Fraction(103, 100)


@pytest.mark.parametrize(
    ("n", "local", "users"), [(2, 0.5, 10**3), (8, 1.0, 10**4), (64, 5.0, 10**6), (16, 3.0, 10**7)]
)
def test_never_above_the_closed_form(n, local, users):
    """Feldman, McMillan, Talwar 2021, arXiv 2012.12803, for randomized response among k."""
    E, allowed = math.exp(local), min(1e-6, 1 / users)
    small = math.sqrt(2 * (n + 1) * math.log(4 / allowed)) / math.sqrt((E + n - 1) * n * users) + (n + 1) / (n * users)
    mechanism = ldp.mechanisms.create("randomized_response", n=n, epsilon=local)
    assert shuffled.shuffled(mechanism, users, allowed) <= min(local, math.log1p((E - 1) * 4 * small))


def blanket_sum(of, users, epsilon):
    """E[(L_1 + ... + L_m)_+] / N, over all outcomes of a few people."""
    values, chances = of.atoms(epsilon)
    values, chances = np.append(values, 0.0), np.append(chances, 1 - chances.sum())
    outcomes = itertools.product(range(5), repeat=users)
    return math.fsum(max(0.0, values[list(y)].sum()) * chances[list(y)].prod() for y in outcomes) / users


@pytest.mark.crossed
@pytest.mark.parametrize("users", [1, 2, 5])
@pytest.mark.parametrize(("name", "local"), [("randomized_response", 1.0), ("subset_selection", 0.3), ("oue", 3.0)])
def test_the_transform_is_the_sum_over_all_outcomes_rounded_up(users, name, local):
    of = blanket_of(ldp.mechanisms.create(name, n=6, epsilon=local))
    for share in (0.05, 0.5, 0.9):
        exact, ours = blanket_sum(of, users, share * local), delta(of, users, share * local)
        assert exact <= ours <= 1.02 * exact


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hadamard", "hierarchical", "haar", "hrr"])
def test_closed_forms_are_those_of_the_table(name):
    mechanism = ldp.mechanisms.create(name, n=8, epsilon=1.2)
    Q = mechanism.strategy if mechanism.strategy is not None else mechanism.channel @ np.eye(8)
    known, table = blanket_of(mechanism), Blanket.of_table(np.asarray(Q))
    assert known.gamma == pytest.approx(table.gamma, rel=1e-9)
    assert known.ratio == pytest.approx(table.ratio, rel=1e-9)
    assert known.overlap == pytest.approx(table.overlap, rel=1e-9, abs=1e-12)


def test_more_people_less_epsilon_and_more_delta_give_less():
    def central(local=1.0, users=2_000, allowed=1e-6):
        return shuffled.shuffled(ldp.mechanisms.create("subset_selection", n=12, epsilon=local), users, allowed)

    by_users = [central(users=users) for users in (10, 100, 10_000)]
    by_epsilon = [central(local=local) for local in (0.1, 1, 4, 8)]
    by_delta = [central(allowed=allowed) for allowed in (1e-4, 1e-6, 1e-12)]
    assert by_users == sorted(by_users, reverse=True)
    assert by_epsilon == sorted(by_epsilon)
    assert by_delta == sorted(by_delta)
    assert central(users=1, allowed=0.5) <= 1.0


def test_outputs_that_say_the_same_count_as_one():
    Q = ldp.mechanisms.create("subset_selection", n=6, epsilon=1.0).strategy
    split = np.vstack([0.3 * Q, 0.7 * Q])
    merged, apart = Blanket.of_table(Q), Blanket.of_table(split)
    assert shuffled.shuffled(apart, 500) == pytest.approx(shuffled.shuffled(merged, 500), rel=1e-6)


def test_what_has_no_blanket_is_refused():
    noisy = ldp.mechanisms.create("gaussian", epsilon=1.0, workload=ldp.workloads.prefix(8))
    refused("unbounded", shuffled.shuffled, noisy, 100)
    plain = ldp.mechanisms.create("randomized_response", n=8, epsilon=1.0)
    for users, allowed in ((0, None), (100, 0.5), (100, 0.0)):
        refused("1", shuffled.shuffled, plain, users, allowed)
