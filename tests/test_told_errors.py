"""The error told of an answer is that of the answer itself, over whole collections drawn at random: shares, averages, totals and differences, in
known and in secret groups."""

import math

import numpy as np
import pytest

from ldp_core import analysis, optimize
from ldp_core.data.domain import CategoricalAttribute, Domain, RangeAttribute
from ldp_core.workloads import (
    DifferencePart,
    HistogramPart,
    MeanPart,
    PrefixPart,
    SharePart,
    TotalPart,
    over_attributes,
)
from ldp_core.workloads.answers import ratios_of
from ldp_core.workloads.axes import axes_of

USERS = 40_000
HAPPY, SCORE = HistogramPart(attribute="happy"), MeanPart(attribute="score")
QUESTIONS = [
    HistogramPart(attribute="score"),
    PrefixPart(attribute="score"),
    SCORE,
    TotalPart(attribute="score"),
    SharePart(of=HAPPY, within=("arm",)),
    SharePart(of=PrefixPart(attribute="score"), within=("arm",)),
    MeanPart(attribute="score", by=("arm",)),
    DifferencePart(of=HAPPY, attribute="arm", first="a1", second="a0"),
    DifferencePart(of=SCORE, attribute="arm", first="a1", second="a0"),
    DifferencePart(of=HAPPY, attribute="arm", first="a1", second="a0", shares=False),
]


def drawn(seed):
    """A random domain with people, questions about it, and epsilon."""
    rng = np.random.default_rng(seed)
    arms, known = int(rng.integers(2, 4)), bool(seed % 2)
    arm = CategoricalAttribute(name="arm", values=tuple(f"a{k}" for k in range(arms)), known=known)
    happy = CategoricalAttribute(name="happy", values=("no", "yes"))
    score = RangeAttribute(name="score", low=0, high=40, bins=int(rng.integers(3, 6)), outside="clamp")
    domain = Domain(attributes=(arm, happy, score))
    shares = rng.dirichlet(np.full(domain.size, 2.0)).reshape(domain.shape)
    shares *= (rng.dirichlet(np.full(arms, 20.0)) / shares.sum(axis=(1, 2)))[:, None, None]
    chosen = rng.choice(len(QUESTIONS), int(rng.integers(1, 4)), replace=False)
    epsilon = float(rng.choice([1.0, 2.0, 4.0] if not known else [0.5, 1.0, 2.0, 4.0]))
    people = np.floor(USERS * shares).astype(int).ravel()
    return domain, people, [QUESTIONS[k] for k in chosen], epsilon, rng


def collected(line, mechanism, estimate, axes, users):
    """The answers of a collection in their units, worked out without what tells their errors."""
    if line.group_question is None:
        shares = estimate.answers(line.workload) / line.workload.query_weights() / users
        return (line.unit.middle + line.unit.factor * shares) * (users if line.unit.total else 1)
    asked = ratios_of(line.group_question, False)
    return np.concatenate([own.values(estimate.answers(own.linear)) for own in asked])


def check(seed, trials):
    domain, people, parts, epsilon, rng = drawn(seed)
    given = people if seed % 3 else None  # without planning data errors are told for people spread evenly
    if given is None:
        people = np.full(domain.size, USERS // domain.size)
    workload, axes = over_attributes(parts, domain, counts=given), axes_of(domain)
    mechanism = optimize.design(workload, epsilon, time_limit=None, max_rounds=8).mechanism()
    told = analysis.answers(mechanism, workload, people)
    answers = []
    for _ in range(trials):
        estimate = mechanism.estimate(mechanism.simulate(people, rng))
        answers.append(
            np.concatenate(
                [collected(line, mechanism, estimate, axes, people.sum()) for line in workload.questionnaire.lines]
            )
        )
    centre, spread = np.mean(answers, axis=0), np.std(answers, axis=0, ddof=1)
    errors = told["standard_error"].to_numpy()
    counted = errors > 1e-6  # others are known without a report
    assert np.abs(spread[counted] / errors[counted] - 1).max() < 4 / math.sqrt(2 * (trials - 1))
    assert np.abs(centre - told["value"]).max() < 6 * errors.max() / math.sqrt(trials) + errors.max() ** 2 / 50
    return spread[counted] / errors[counted]


@pytest.mark.parametrize("seed", range(8))
def test_errors_told_are_those_of_collections(seed):
    check(seed, 300)


@pytest.mark.slow
def test_errors_told_of_forty_designs_are_those_of_collections():
    assert np.concatenate([check(seed, 2_000) for seed in range(40)]).mean() == pytest.approx(1, abs=0.01)


def test_with_the_people_needed_each_question_just_meets_its_target():
    for seed in range(4):
        domain, people, parts, epsilon, _ = drawn(seed)
        workload = over_attributes(parts, domain, counts=people)
        mechanism = optimize.design(workload, epsilon, time_limit=None, max_rounds=5).mechanism()
        needed = analysis.people_needed(mechanism, workload, people)
        told = analysis.answers(mechanism, workload, people / people.sum() * needed)
        reached = []
        for k, line in enumerate(workload.questionnaire.lines):
            own = told[told["line"] == k]
            met = own["finds"] / own["target"] if line.difference else own["standard_error"] / own["target"]
            reached.append(float(met.max() if line.difference else math.sqrt((met**2).mean())))
        assert max(reached) == pytest.approx(1, abs=1 / needed + 1e-9)  # of whole people
