"""What reports reveal about one person: exact against Bayes' rule by enumeration, and never more
than epsilon allows."""

import itertools
import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from ldp_core import beliefs, library, mechanisms, workloads
from ldp_core.mechanisms.randomized_response import RandomizedResponse
from ldp_core.mechanisms.subset_selection import SubsetSelection
from ldp_core.mechanisms.unary import UnaryEncoding
from ldp_core.privacy import MAX_EPSILON, MIN_EPSILON
from tests.refused import refused

PRIORS = {
    "even": None,
    "mixed": np.array([0.3, 0.05, 0.2, 0.15, 0.05, 0.25]),
    "some absent": np.array([0.0, 0.5, 0.0, 0.2, 0.3, 0.0]),
    "nearly all alike": np.array([1e-9, 1e-9, 1 - 3e-9, 0.0, 1e-9, 0.0]),
    "all alike": np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
}


def by_enumeration(table, prior, suspicion):
    """(strongest belief in one type against all others, chance that the best guess is right), one Bayes' rule after another."""
    n = table.shape[1]
    p = np.full(n, 1 / n) if prior is None else prior
    strongest = suspicion
    for u in range(n):
        rest = np.delete(p, u)
        rest = rest / rest.sum() if rest.sum() else np.full(n - 1, 1 / (n - 1))
        for row in table:
            yes, no = suspicion * row[u], (1 - suspicion) * float(np.delete(row, u) @ rest)
            if yes + no > 0:
                strongest = max(strongest, yes / (yes + no))
    return strongest, sum(max(share * chance for share, chance in zip(p, row, strict=True)) for row in table)


def written_out(name, n, epsilon):
    mechanism = library.create(name, n=n, epsilon=epsilon)
    if isinstance(mechanism, RandomizedResponse | SubsetSelection | UnaryEncoding):
        return mechanism, mechanism.written_out()
    return mechanism, np.asarray(mechanism.channel @ np.eye(n))


@pytest.mark.crossed
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    "name",
    [
        "randomized_response",
        "subset_selection",
        "rappor",
        "oue",
        "hadamard",
        "hrr",
        "haar",
        "hierarchical(oracle=hadamard)",
    ],
)
def test_what_a_mechanism_tells_is_what_bayes_rule_gives(name, epsilon, prior):
    mechanism, table = written_out(name, 6, epsilon)
    found = beliefs.exposure(mechanism, prior)
    for suspicion in (0.02, 0.5, 0.9):
        strongest, guess = by_enumeration(table, prior, suspicion)
        assert beliefs.strongest(suspicion, found.single) == pytest.approx(strongest, rel=1e-6)
        assert found.guess == pytest.approx(guess, rel=1e-9)
        assert strongest <= beliefs.strongest(suspicion, found.between) + 1e-12
        assert beliefs.strongest(suspicion, found.between) <= beliefs.strongest(suspicion, epsilon) + 1e-12
    assert found.guess <= beliefs.best_guess(prior, 6, epsilon) + 1e-12
    # One value against another: over all pairs of columns.
    pairs = [table[:, u] / table[:, v] for u, v in itertools.permutations(range(6), 2)]
    assert math.exp(found.between) == pytest.approx(np.max(pairs), rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_sets_of_every_size_are_exact(size):
    mechanism = SubsetSelection(6, 1.3, size)
    for prior in PRIORS.values():
        found = beliefs.exposure(mechanism, prior)
        strongest, guess = by_enumeration(mechanism.written_out(), prior, 0.3)
        assert beliefs.strongest(0.3, found.single) == pytest.approx(strongest, rel=1e-6)
        assert found.guess == pytest.approx(guess, rel=1e-9)


@pytest.mark.parametrize("oracle", ["subset_selection", "oue", "randomized_response"])
def test_guesses_from_reports_about_nodes_are_those_of_all_reports_written_out(oracle):
    """Of a tree of three levels that picks them with chances of its own."""
    mechanism = library.create("hierarchical", n=6, epsilon=1.3, oracle=oracle, branching=2, shares="fitted",
                               workload=workloads.prefix(6))  # fmt: skip
    assert mechanism.levels > 1
    nodes = [mechanism.tree.nodes_of(level, np.arange(6)) for level in range(mechanism.levels)]
    levels = zip(mechanism.oracles, nodes, mechanism.gains, strict=True)
    table = np.concatenate([made.written_out()[:, own] / gain for made, own, gain in levels])
    np.testing.assert_allclose(table.sum(axis=0), 1)
    for prior in PRIORS.values():
        assert beliefs.exposure(mechanism, prior).guess == pytest.approx(by_enumeration(table, prior, 0.3)[1], rel=1e-9)


def test_a_fitted_table_is_read_in_parts_of_any_size(monkeypatch):
    table = np.random.default_rng(0).dirichlet(np.ones(40), size=6).T
    mechanism = mechanisms.ExplicitMechanism("custom", table, 1.0)
    whole = beliefs.exposure(mechanism, PRIORS["mixed"])
    monkeypatch.setattr("ldp_core.beliefs.reports._ENTRIES_AT_ONCE", 18)
    assert astuple(beliefs.exposure(mechanism, PRIORS["mixed"])) == pytest.approx(astuple(whole))
    strongest, guess = by_enumeration(table, PRIORS["mixed"], 0.5)
    assert beliefs.strongest(0.5, whole.single) == pytest.approx(strongest, rel=1e-9)
    assert whole.guess == pytest.approx(guess, rel=1e-12)


def test_reports_that_settle_it_are_said_to():
    table = np.array([[0.5, 0.0, 0.0], [0.5, 0.5, 0.5], [0.0, 0.5, 0.5]])
    found = beliefs.exposure(mechanisms.ExplicitMechanism("custom", table, 1.0))
    assert found.between == found.single == math.inf
    assert beliefs.strongest(0.5, found.between) == 1.0
    assert "practical certainty" in beliefs.exposure_in_words(found, "Custom", 0.5, 1.0)


@pytest.mark.crossed
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_best_guess_is_that_of_the_best_mechanism(prior, epsilon):
    """Against a linear program over all mechanisms: as many reports as types, each leading to the guess of one."""
    n, E = 6, math.exp(epsilon)
    p = np.full(n, 1 / n) if prior is None else prior
    within = []
    for y, u, v in itertools.product(range(n), repeat=3):
        if u != v:
            row = np.zeros((n, n))
            row[y, u], row[y, v] = 1, -E
            within.append(row.ravel())
    sums = np.tile(np.eye(n), n)
    best = linprog(-np.diag(p).ravel(), np.array(within), np.zeros(len(within)), sums, np.ones(n))
    assert beliefs.best_guess(prior, n, epsilon) == pytest.approx(-best.fun, rel=1e-7)


def test_delta_gives_the_value_away_that_often_and_no_more():
    n, epsilon, delta, E = 2, 1.0, 0.05, math.e
    expected = (E + delta) / (1 + E)  # Kairouz, Oh and Viswanath 2015, for two types
    assert beliefs.best_guess(None, n, epsilon, delta) == pytest.approx(expected)
    assert beliefs.best_guess(None, n, epsilon, 0.0) < expected
    assert beliefs.best_guess(None, n, epsilon, delta, reports=40) == 1.0
    words = beliefs.belief_in_words(0.5, 1.0, 1e-6, reports=3)
    assert "with probability 0.000003 the value itself may be given away" in words
    assert "no limit" not in words


def test_gaussian_noise_has_no_largest_belief_of_its_own():
    mechanism = library.create("gaussian", n=8, epsilon=1.0, workload=workloads.prefix(8))
    found = beliefs.exposure(mechanism)
    assert (found.between, found.single, found.guess) == (math.inf, None, None)
    assert "practical certainty" in beliefs.exposure_in_words(found, "Gaussian", 0.5, 1.0)


def test_what_is_not_worked_out_is_said_so():
    found = beliefs.exposure(library.create("olh", n=8, epsilon=1.0))
    assert found.single is None
    assert found.guess is None
    assert "not computed" in beliefs.exposure_in_words(found, "OLH", 0.5, 1.0)
    assert "with it" not in beliefs.guess_in_words(found, 0.125, 0.3)


@pytest.mark.crossed
@pytest.mark.parametrize("reports", [1, 3, 1000])
@pytest.mark.parametrize("suspicion", [0.01, 0.5, 0.99])
def test_beliefs_grow_with_epsilon_and_stay_probabilities(suspicion, reports):
    epsilons = np.geomspace(MIN_EPSILON, MAX_EPSILON, 60)
    for delta in (0.0, 1e-6):
        frame = beliefs.over_epsilon(suspicion, PRIORS["mixed"], 6, epsilons, delta, reports)
        for column in ("belief", "guess"):
            assert np.all(np.diff(frame[column]) >= -1e-15)
            assert frame[column].between(0, 1).all()
        assert frame["belief"].iloc[0] >= suspicion
        assert frame["guess"].iloc[0] >= 0.3


def test_several_reports_are_odds_multiplied():
    # Three reports, the same each time, of the type that is suspected: Bayes' rule three times.
    mechanism = RandomizedResponse(4, 1.0)
    table = mechanism.written_out()
    belief = 0.2
    for _ in range(3):
        belief = belief * table[0, 0] / (belief * table[0, 0] + (1 - belief) * table[0, 1])
    assert beliefs.strongest(0.2, beliefs.exposure(mechanism).between, 3) == pytest.approx(belief)
    assert beliefs.strongest(0.2, 1.0, 3) == pytest.approx(belief)


@pytest.mark.parametrize("suspicion", [0.0, 1.0, math.nan])
def test_a_suspicion_is_between_the_certainties(suspicion):
    refused("above 0 and below 1", beliefs.strongest, suspicion, 1.0)


@pytest.mark.parametrize(
    ("chance", "base", "words"),
    [
        (math.e / (1 + math.e), 100, "73 of 100"),
        (0.9934, 100, "99.3 of 100"),
        (0.9996, 100, "99.96 of 100"),
        (1 - 1e-9, 100, "more than 99.99 of 100"),
        (0.0042, 10_000, "42 of 10,000"),
    ],
)
def test_probabilities_are_told_as_people_out_of_many(chance, base, words):
    assert beliefs.out_of(chance, base) == words


def test_sentences_hold_the_numbers():
    assert beliefs.belief_in_words(0.5, 1.0) == (
        "Someone who thinks a value is 50\N{NO-BREAK SPACE}% likely can become at most 73.2\N{NO-BREAK SPACE}% sure after seeing "
        "the report."
    )
    found = beliefs.exposure(SubsetSelection(6, 1.0, 3))
    words = beliefs.exposure_in_words(found, "Subset selection", 0.5, 1.0)
    assert beliefs.at_most(beliefs.strongest(0.5, found.single)) in words
    weaker = beliefs.exposure(RandomizedResponse(6, 0.5))
    assert "62.3\N{NO-BREAK SPACE}% at most" in beliefs.exposure_in_words(weaker, "Randomized response", 0.5, 1.0)
    stronger = beliefs.exposure(RandomizedResponse(6, 2.0))
    assert "further than this epsilon allows: to 88.1\N{NO-BREAK SPACE}%" in beliefs.exposure_in_words(
        stronger, "It", 0.5, 1.0
    )


@given(chance=st.floats(1e-6, 0.9999))
def test_a_belief_at_most_is_never_rounded_down(chance):
    assert float(beliefs.at_most(chance).split("\N{NO-BREAK SPACE}")[0]) >= 100 * chance * (1 - 1e-11)
