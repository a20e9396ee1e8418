"""People drawn anew for every trial: errors of the distribution against closed forms and brute force."""

import itertools
import math

import numpy as np
import pytest

import ldp_core as ldp
from ldp_core import errors as sampling
from ldp_core.people import Counted, Records, drawn_anew
from ldp_core.studies import outcomes

COUNTS = np.array([400, 100, 250, 250])
USERS = 1000


def within(found, expected, errors=4.0):
    """The mean of independent numbers lies within some standard errors of what is expected."""
    found = np.asarray(found)
    assert abs(found.mean() - expected) <= errors * found.std(ddof=1) / math.sqrt(len(found))


def test_sampling_is_the_variance_over_everyone_who_could_take_part():
    """Three people of three types: all 27 samples, each with its probability."""
    counts, shares = np.array([1, 2, 0]), np.array([1, 2, 0]) / 3
    workload = ldp.workloads.union([ldp.workloads.prefix(3), ldp.workloads.histogram(3)], weights=[1.0, 3.0])
    answers, chances = [], []
    for people in itertools.product(range(3), repeat=3):
        answers.append(workload.answers(np.bincount(people, minlength=3)))
        chances.append(np.prod(shares[list(people)]))
    spread = np.array(chances) @ (np.array(answers) - workload.answers(counts)) ** 2
    queries, weights = np.arange(6), workload.query_weights()
    assert np.allclose(sampling.of_queries(workload, counts, queries), spread / weights**2)


def test_sampling_of_a_survey_is_that_of_its_tables():
    sizes = (2, 3, 2)
    records = np.random.default_rng(0).integers(0, sizes, size=(50, 3))
    survey = ldp.workloads.survey(sizes, 2)
    people = Records(records, sizes)
    counts = np.bincount(np.ravel_multi_index(records.T, sizes), minlength=12)
    queries = np.arange(survey.num_queries)
    rows = survey.rows(queries)
    expected = rows**2 @ counts - (rows @ counts) ** 2 / 50
    weights = survey.query_weights(queries)
    assert np.allclose(sampling.of_queries(survey, people, queries), expected / weights**2)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_randomized_response_has_the_error_of_the_paper(epsilon):
    """MSE_P of two types in closed form (Lopuhaä-Zwakenberg et al. 2020): 2 E/(N (E - 1)^2) + 2 P(1 - P)/N."""
    E, counts, share = math.exp(epsilon), np.array([300, 700]), 0.3
    mechanism = ldp.mechanisms.create("randomized_response", n=2, epsilon=epsilon)
    workload = ldp.workloads.histogram(2)
    run = lambda new: ldp.simulate.run(mechanism, workload, counts, trials=2000, new_people=new)  # noqa: E731
    fixed, anew = (run(new)["total_squared_error"] / USERS**2 for new in (False, True))
    of_reports = 2 * E / (USERS * (E - 1) ** 2)
    within(fixed, of_reports)
    within(anew, of_reports + 2 * share * (1 - share) / USERS)


@pytest.mark.parametrize("name", ["haar", "oue", "matrix_l1"])
def test_errors_of_new_people_agree_with_their_prediction(name):
    workload = ldp.workloads.prefix(4)
    options = {"workload": workload, "max_rounds": 5} if name == "matrix_l1" else {"n": 4}
    mechanism = ldp.mechanisms.create(name, epsilon=4.0, **options)
    found = outcomes.compare({name: mechanism}, workload, COUNTS, list("abcd"), trials=1500, new_people=True)
    row = found.errors.iloc[0]
    below = np.cumsum(COUNTS) / USERS
    who = USERS * (below * (1 - below)).sum()  # each running total is a binomial count
    exact = (
        math.sqrt((ldp.analysis.variance_on_data(mechanism, workload, COUNTS) + who) / 4) / USERS / 0.1
    )  # in targets
    assert row["predicted"] == pytest.approx(exact)
    assert abs(row["observed"] - exact) <= 4 * row["standard_error"]
    known = found.answers[found.answers["predicted"] > 0]
    assert np.all(np.abs(known["observed"] - known["predicted"]) <= 4.5 * known["standard_error"])


def test_intervals_reach_to_the_population_that_people_are_drawn_from():
    """At a large epsilon reports say nearly who took part, and what is left is the chance of who did."""
    workload = ldp.workloads.histogram(4)
    mechanism = ldp.mechanisms.create("randomized_response", n=4, epsilon=12.0)
    how = {
        "estimators": ["unbiased", "posterior", "posterior_distribution"],
        "trials": 1,
        "seed": 3,
        "new_people": True,
    }
    found = outcomes.compare({"rr": mechanism}, workload, COUNTS, list("abcd"), **how).answers
    unbiased, of_people, distribution = (found[found["estimator"] == name] for name in how["estimators"])
    assert of_people["holds"].all()
    share = COUNTS / USERS
    for rows in (unbiased, distribution):
        assert np.allclose(rows["true"], 100 * share)
        # As Dirichlet(1/2 + x): about 1.96 standard deviations of a binomial share to each side.
        assert np.allclose(rows["high"] - rows["low"], 196 * 2 * np.sqrt(share * (1 - share) / USERS), rtol=0.2)
    assert (of_people["high"] - of_people["low"] < 0.7 * (unbiased["high"] - unbiased["low"]).to_numpy()).all()
    assert unbiased["holds"].sum() >= 3


@pytest.mark.parametrize("kind", ["counts", "counted", "records", "weighted"])
def test_people_drawn_anew_follow_the_distribution(kind):
    sizes, rng = (2, 2), np.random.default_rng(1)
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    people = {
        "counts": COUNTS,
        "counted": Counted(COUNTS, sizes),
        "records": Records(np.repeat(codes, COUNTS, axis=0), sizes),
        "weighted": Records(codes, sizes, COUNTS),
    }[kind]
    counted = lambda who: who if kind == "counts" else who.table((0, 1))  # noqa: E731
    drawn = np.array([counted(drawn_anew(people, rng)) for _ in range(400)])
    assert np.all(drawn.sum(axis=1) == USERS)
    share = COUNTS / USERS
    spread = np.sqrt(USERS * share * (1 - share))
    assert np.all(np.abs(drawn.mean(axis=0) - COUNTS) <= 4 * spread / 20)
    assert np.allclose(drawn.std(axis=0), spread, rtol=0.2)
