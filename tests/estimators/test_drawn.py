"""Intervals for the people who reported, for the population that they were drawn from, and weighted to one of stated sizes: how often
they hold the truth, with few people and with many, and with groups that the collector knows."""

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, RangeAttribute
from ldp_core.estimators import any_time
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.mechanisms.base import Reports
from ldp_core.workloads import DifferencePart, HistogramPart, PrefixPart, over_attributes

ARM = CategoricalAttribute(name="arm", values=("a", "b", "c"), known=True)
SCORE = RangeAttribute(name="score", low=1, high=8, bins=8, integer=True)
COMPARED = DifferencePart(of=HistogramPart(attribute="score"), attribute="arm", first="a", second="c", weight=2)
KNOWN = over_attributes(
    [HistogramPart(attribute="score", by=("arm",)), COMPARED, PrefixPart(attribute="score")], [SCORE, ARM]
)
ALONE = workloads.prefix(8)
SHARES = np.random.default_rng(3).dirichlet(np.full(8, 2.0), 3).T
"""(8, 3) of the types within each arm."""
ARMS = np.array([0.5, 0.3, 0.2])
SIZES = np.array([1000.0, 3000.0, 500.0])
BASES = (30, 300, 3000)


def one_in(kind, base, rng):
    """People of one collection, and those whose answers are the truth, both as counts."""
    if kind == "drawn":
        return rng.multinomial(3 * base, (SHARES * ARMS).ravel()), 3 * base * (SHARES * ARMS).ravel()
    if kind == "weighted":
        people = np.stack([rng.multinomial(base, shares) for shares in SHARES.T], axis=1).ravel()
        return people, (SHARES * SIZES).ravel()
    fixed = np.round(base * SHARES).astype(int).ravel()
    return fixed, fixed


def held(name, kind, base, workload=KNOWN, epsilon=1.0, trials=200, find=estimators.intervals):
    """How often an interval holds the truth, on average over the queries that are not known without a report; and the standard error that
    intervals say over that of the answers."""
    made, rng = mechanisms.create(name, workload=workload, n=workload.n, epsilon=epsilon), np.random.default_rng(1)
    weights = SIZES / base if kind == "weighted" else None
    more = {"weights": weights} if kind == "weighted" else {}
    found, errors, answers = [], [], []
    for _ in range(trials):
        people, whose = one_in(kind, base, rng)
        if workload.n == 8:
            people, whose = (counts.reshape(8, 3).sum(axis=1) for counts in (people, whose))
        estimate = made.estimate(made.simulate(people, rng))
        own, truth = find(made, workload, estimate, drawn=kind != "fixed", **more), workload.answers(whose)
        found.append((own.ends[:, 0] <= truth + 1e-6) & (truth - 1e-6 <= own.ends[:, 1]))
        errors.append(own.errors**2)
        counts = estimate.estimated_counts
        answers.append(workload.answers(counts if weights is None else (counts.reshape(8, 3) * weights).ravel()))
    told = np.std(answers, axis=0) > 1e-6 * base
    ratio = np.sqrt(np.mean(errors, axis=0))[told] / np.std(answers, axis=0)[told]
    assert np.all(found, axis=0)[~told].all()
    return np.mean(found, axis=0)[told].mean(), np.mean(ratio)


EXPECTED = {30: (0.945, 1.0), 300: (0.945, 0.985), 3000: (0.94, 0.967)}
"""95 to 96 of 100 hold where a report weighs next to nothing. With fewer people they are widened by the largest part of one report, and with
as few as 30 in a group they are bounds: nearly all of them hold."""


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", ["fixed", "drawn", "weighted"])
@pytest.mark.parametrize("name", ["randomized_response", "oue"])
def test_intervals_of_known_groups_hold_the_truth(name, kind, base):
    coverage, ratio = held(name, kind, base)
    low, high = EXPECTED[base]
    assert low <= coverage <= high
    assert ratio == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", ["fixed", "drawn"])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_intervals_without_groups_hold_the_truth(kind, base, epsilon):
    coverage, ratio = held("randomized_response", kind, base, ALONE, epsilon, trials=1000)
    assert EXPECTED[base][0] <= coverage <= EXPECTED[30 if epsilon > 1 and base < 3000 else base][1]
    assert ratio == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("name", "users"),
    [("gaussian", 10), ("gaussian", 1000), ("matrix_l1", 1000), ("piecewise", 10), ("piecewise", 1000)],
)
def test_people_drawn_are_on_top_of_noise(name, users):
    score = over_attributes([workloads.MeanPart(attribute="score")], [SCORE])
    asked = score if name == "piecewise" else workloads.histogram(8)
    made = mechanisms.create(name, n=8, workload=asked, epsilon=8.0, **({"delta": 1e-5} if name == "gaussian" else {}))
    rng, found = np.random.default_rng(2), []
    for _ in range(200):
        estimate = made.estimate(made.simulate(rng.multinomial(users, SHARES[:, 0]), rng))
        ends, truth = estimators.intervals(made, asked, estimate, drawn=True).ends, asked.answers(users * SHARES[:, 0])
        found.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    assert np.mean(found) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)


def test_few_people_of_two_answers_are_covered_exactly():
    """Every number of people of each answer, weighted by its chance: Clopper and Pearson's interval of a share."""
    chances, users, workload = (0.27, 0.73), 12, workloads.histogram(2)
    made = ExplicitMechanism("two", np.array([[1 - p for p in chances], chances]), 1.0)
    ends = np.empty((users + 1, 2))
    for yes in range(users + 1):
        estimate = made.estimate(Reports(made.digest, users, np.array([users - yes, yes])))
        found = estimators.intervals(made, workload, estimate, queries=np.array([1]), drawn=True)
        assert found.methods == ["exact"]
        ends[yes] = found.ends[0]
    rng = np.random.default_rng(0)
    for share in np.linspace(0, 1, 11):
        said = rng.binomial(users, chances[0] + share * (chances[1] - chances[0]), 20_000)
        holds = (ends[said, 0] <= users * share + 1e-9) & (users * share <= ends[said, 1] + 1e-9)
        assert holds.mean() >= 0.945


@pytest.mark.parametrize("name", ["randomized_response", "oue"])
def test_intervals_at_any_time_are_wider_than_those_of_one_look_at_people_drawn(name):
    assert held(name, "drawn", 300, trials=50, find=any_time)[0] > 0.99


@pytest.mark.parametrize("name", ["randomized_response", "hrr"])
def test_a_question_about_one_group_has_the_interval_of_that_group_alone(name):
    made, rng = mechanisms.create(name, workload=KNOWN, epsilon=1.0), np.random.default_rng(0)
    reports = made.simulate(np.round(40 * SHARES).astype(int).ravel(), rng)
    found = estimators.intervals(made, KNOWN, made.estimate(reports))
    alone = made.strata[1].estimate(made.reports_of(reports)[1])
    few = estimators.intervals(made.strata[1], workloads.histogram(8), alone)
    places = [query for query in range(24) if KNOWN.query_name(query).endswith("arm b")]
    assert found.ends[places] == pytest.approx(few.ends)
    assert found.methods[places].tolist() == few.methods.tolist()


def test_sizes_of_known_groups_have_intervals_that_rounding_does_not_move():
    """Reports add nothing to them, but for rounding; who was drawn is all that is uncertain."""
    arm, score = ARM.model_copy(update={"values": ("a", "b")}), SCORE.model_copy(update={"high": 10, "bins": 10})
    asked = over_attributes([PrefixPart(attribute="score", by=("arm",)), HistogramPart(attribute="arm")], [arm, score])
    made = mechanisms.create("hrr", workload=asked, epsilon=1.0)
    people = np.random.default_rng(7).integers(0, 50, 20)
    estimate = made.estimate(made.simulate(people, np.random.default_rng(3)))
    found = estimators.intervals(made, asked, estimate, drawn=True)
    assert found.ends.mean(axis=1)[18:] == pytest.approx(estimate.answers(asked)[18:], rel=1e-9)
