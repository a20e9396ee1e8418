"""Estimates far from the reports: Norm-Sub when one condition is known far better than the counts
behind it."""

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.deploy import collector
from ldp_core.mechanisms import ExplicitMechanism

N, USERS = 8, 40_000
HALF = workloads.custom([[1.0] * (N // 2) + [0.0] * (N // 2)])


def telling_little_but_the_half():
    """99 of 100 people say which half they are in, the others which type."""
    half, rest = np.repeat(mechanisms.create("randomized_response", n=2, epsilon=1.0).strategy, N // 2, axis=1), 0.01
    every = mechanisms.create("randomized_response", n=N, epsilon=1.0).strategy
    return ExplicitMechanism("any", np.vstack([(1 - rest) * half, rest * every]), 1.0)


def answered(mechanism, name, workload=HALF):
    counts = np.array([USERS // 4, 0, 0, USERS // 4, 0, USERS // 2, 0, 0])
    found = collector.Collection("0123456789abcdef", mechanism.simulate(counts, np.random.default_rng(0)))
    return collector.answers(found, mechanism, workload, name)


def test_an_answer_that_the_reports_contradict_is_told_with_the_reason():
    frame = answered(telling_little_but_the_half(), "norm_sub")
    assert abs(frame["answer"][0] - frame["unbiased"][0]) > 6 * frame["promised"][0]
    said = estimators.contradicted_in_words(frame, "norm_sub")
    assert said.startswith("The answer lies more than 6 standard errors from the unbiased one, which is not chance.")
    assert "far better than the counts behind them. Choose unbiased." in said


@pytest.mark.parametrize("name", ["wnnls_total", "mle"])
def test_nothing_is_said_of_estimates_that_keep_to_the_reports(name):
    frame = answered(telling_little_but_the_half(), name)
    assert frame["unbiased"][0] == pytest.approx(50, abs=6 * frame["promised"][0])
    assert estimators.contradicted_in_words(frame, name) == ""


@pytest.mark.parametrize("mechanism", ["oue", "haar"])
def test_nothing_is_said_where_norm_sub_is_at_home(mechanism):
    made = mechanisms.create(mechanism, n=N, epsilon=1.0)
    for workload in (HALF, workloads.histogram(N), workloads.prefix(N)):
        assert estimators.contradicted_in_words(answered(made, "norm_sub", workload), "norm_sub") == ""


def test_of_several_answers_the_number_is_told():
    frame = answered(mechanisms.create("oue", n=N, epsilon=1.0), "unbiased", workloads.histogram(N))
    frame.loc[2, "answer"] += 7 * frame["promised"][2]
    assert estimators.contradicted_in_words(frame, "ems").startswith("One of these 8 answers lies more than 6 ")
    frame.loc[5, "answer"] -= 7 * frame["promised"][5]
    assert estimators.contradicted_in_words(frame, "ems").startswith("2 of these 8 answers lie more than 6 ")
