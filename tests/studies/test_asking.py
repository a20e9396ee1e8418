"""Questions one by one: the meaning of each by a count of the people, and the record of a session."""

import math

import numpy as np
import pandas as pd
import pytest

from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.studies import asking
from ldp_core.studies.asking import Asking
from tests.refused import refused

AGE = NumericAttribute(name="age", edges=(20, 30, 40, 60), integer=True)
SEX = CategoricalAttribute(name="sex", values=("female", "male"))
DOMAIN = Domain(attributes=(AGE, SEX))
PEOPLE = pd.DataFrame({"age": [21, 25, 35, 45, 59, 59], "sex": ["female", "male", "male", "female", "male", "male"]})
COUNTS = np.array([1, 1, 0, 1, 1, 2])


def share(question):
    return question.query @ COUNTS / COUNTS.sum()


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        (asking.condition(DOMAIN, "age >= 30 and sex = male"), (PEOPLE.age >= 30) & (PEOPLE.sex == "male")),
        (asking.condition(DOMAIN, "age between 30 and 60"), PEOPLE.age >= 30),
        (asking.condition(DOMAIN, "sex = female"), PEOPLE.sex == "female"),
        (asking.weighted("0 1 0 1 0 1", 6), PEOPLE.sex == "male"),
    ],
    ids=lambda one: getattr(one, "text", ""),
)
def test_questions_ask_for_shares_of_people(question, holds):
    assert question.is_share
    assert share(question) == pytest.approx(holds.mean())


def test_an_average_is_that_of_the_middles_of_bins():
    question = asking.average(DOMAIN, 0)
    assert not question.is_share
    middles = np.select([PEOPLE.age < 30, PEOPLE.age < 40], [25, 35], 50)
    assert question.in_units(share(question)) == pytest.approx(middles.mean())


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: asking.condition(DOMAIN, "height > 3"), "height"),
        (lambda: asking.weighted("0, 1, x, 0, 0, 0", 6), "numbers from 0 to 1"),
        (lambda: asking.weighted("0, 1, nan, 0, 0, 0", 6), "between 0 and 1"),
        (lambda: Asking(COUNTS, 1.0, 0), "1 to 100 rounds"),
        (lambda: Asking(COUNTS, 0.0, 1), "out of range"),
    ],
)
def test_bad_questions_are_refused_in_words(ask, sentence):
    refused(sentence, ask)


def test_a_session_answers_and_ends_and_keeps_a_transcript_without_truths():
    session = Asking(COUNTS * 100_000, 2.0, 3, seed=1)
    first = session.ask(asking.condition(DOMAIN, "sex = male"))
    mean = session.ask(asking.average(DOMAIN, 0))
    assert (first.truth, session.remaining) == (pytest.approx(4 / 6), 1)
    assert first.interval[0] < first.value < first.interval[1]
    assert abs(first.value - first.truth) < 6 * first.answer.standard_error
    assert abs(mean.value - mean.truth) < 6 * 25 * mean.answer.standard_error
    errors = [first.value - first.truth, (mean.value - mean.truth) / 25]
    assert session.largest_error == pytest.approx(np.abs(errors).max())
    refused("finite number", lambda: session.ask(asking.Question("wrong", np.ones(5))))
    assert session.remaining == 1  # a refused question costs no answer
    session.ask(asking.condition(DOMAIN, "age < 40"))
    refused("All 3 groups have answered", lambda: session.ask(asking.condition(DOMAIN, "age < 40")))
    table = session.transcript()
    assert list(table.columns) == ["round", "question", "answer", "low", "high", "people"]
    assert list(table["question"]) == ["sex = male", "average age", "age < 40"]
    assert table["people"].sum() == COUNTS.sum() * 100_000


def test_errors_stay_below_the_bound_of_the_theorem():
    """Bassily 2019, (20), with r = 1/2 as queries are centred: the mean over sessions of the largest error."""
    rounds, counts = 8, COUNTS * 4000
    found = []
    for seed in range(40):
        session = Asking(counts, 1.0, rounds, seed)
        for k in range(rounds):
            places = np.arange(6) == np.ravel_multi_index((k % 3, k % 2), (3, 2))
            session.ask(asking.Question(f"cell {k}", places.astype(float)))
        found.append(session.largest_error)
    error = (math.e + 1) / (math.e - 1) / 2 / math.sqrt(counts.sum() / rounds)
    assert session.expected_error == pytest.approx(error)
    largest_of_8_normals = 1.783  # mean of the largest size of eight, by quadrature
    assert np.mean(found) == pytest.approx(largest_of_8_normals * error, rel=0.2)
    assert np.mean(found) < session.error_bound
    assert session.error_bound == pytest.approx(
        (math.e + 1) / (math.e - 1) * math.sqrt(2 * 8 * math.log(16) / counts.sum()) + 4 * math.exp(-counts.sum() / 64)
    )
