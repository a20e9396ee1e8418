"""Answers of a collection: those of the estimators, with intervals that hold the truth, beside the promised standard error."""

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.deploy import collector
from ldp_core.people import people_of

DESIGN = "0123456789abcdef"
COLUMNS = ["query", "name", "answer", "low", "high", "method", "standard_error", "promised", "adds_up_to", "unbiased"]


def collected(mechanism, people, seed=0):
    return collector.Collection(DESIGN, mechanism.simulate(people, np.random.default_rng(seed)))


@pytest.mark.parametrize("kind", collector.KINDS)
@pytest.mark.parametrize("name", ["randomized_response", "haar", "hierarchical", "oue"])
def test_answers_are_those_of_the_estimators(name, kind):
    workload = workloads.union([workloads.histogram(8), workloads.prefix(8)], [2.0, 0.5])
    mechanism, counts = mechanisms.create(name, n=8, epsilon=1.0), np.arange(8) * 100
    found = collected(mechanism, counts)
    frame = collector.answers(found, mechanism, workload, level=0.9999, kind=kind)
    assert list(frame.columns) == COLUMNS
    plain = np.concatenate([counts, np.cumsum(counts)])
    assert np.all((frame.low <= plain + 1e-6) & (plain <= frame.high + 1e-6))
    assert np.allclose(frame.answer[:8], mechanism.estimate(found.reports).counts())
    everybody_alike = [mechanism.query_variances(workload, np.eye(8, dtype=int)[u] * counts.sum()) for u in range(8)]
    assert np.allclose(
        frame.promised * workload.query_weights(), np.sqrt(np.max([*everybody_alike, np.zeros(16)], axis=0)), atol=1e-4
    )
    assert frame.name[8] == workload.query_name(8)
    chosen = collector.answers(found, mechanism, workload, level=0.9999, kind=kind, queries=np.array([9, 2]))
    assert np.allclose(
        chosen[["answer", "low", "high", "promised"]], frame.loc[[9, 2], ["answer", "low", "high", "promised"]]
    )


@pytest.mark.parametrize("estimator", ["wnnls", "norm_sub", "mle"])
def test_biased_answers_have_the_interval_of_the_unbiased_one(estimator):
    workload, mechanism = workloads.histogram(8), mechanisms.create("randomized_response", n=8, epsilon=1.0)
    found = collected(mechanism, np.array([0, 0, 0, 0, 0, 0, 10, 490]))
    unbiased = collector.answers(found, mechanism, workload)
    frame = collector.answers(found, mechanism, workload, estimator)
    expected = estimators.apply(estimator, found.reports, mechanism, workload).answers(workload)
    assert np.allclose(frame.answer, expected)
    assert np.allclose(frame.low, np.minimum(unbiased.low, frame.answer))
    assert np.allclose(frame.high, np.maximum(unbiased.high, frame.answer))


def test_surveys_are_answered():
    survey = workloads.survey([3, 2, 4], ways=2)
    records = np.random.default_rng(1).integers(0, survey.shape, size=(4000, 3))
    mechanism = mechanisms.create("sampled_sets", workload=survey, epsilon=2.0)
    for kind in collector.KINDS:
        frame = collector.answers(collected(mechanism, records), mechanism, survey, "wnnls", 0.9999, kind)
        truth = survey.answers(people_of(records, survey.shape))
        assert np.all((frame.low <= truth) & (truth <= frame.high))
        exact = np.sqrt(mechanism.query_variances(survey, records))
        assert np.all(exact <= frame.promised * (1 + 1e-9))
        assert np.allclose(frame.standard_error, exact, rtol=0.1)


def test_answers_are_judged_by_their_errors_at_the_answers_found():
    """Randomized response of epsilon 4: the error of an answer depends on how many people it counts."""
    workload, mechanism = workloads.histogram(8), mechanisms.create("randomized_response", n=8, epsilon=4.0)
    counts = np.array([20_000, 10, 0, 0, 0, 0, 0, 0])
    frame, users = collector.answers(collected(mechanism, counts), mechanism, workload), counts.sum()
    exact = np.sqrt(mechanism.query_variances(workload, counts))
    assert np.allclose(frame.standard_error, exact, rtol=0.05)
    assert np.all(frame.promised > 1.5 * exact[1:].mean())  # the most, whatever values people have
    judged = collector.judged(frame, users, exact[0] * 1.1 / users)
    assert judged[0] == "usable"
    for verdict, answer, error in zip(judged[1:], frame.answer[1:], frame.standard_error[1:], strict=True):
        assert verdict == ("usable" if 2 * error <= abs(answer) else "rough" if error <= abs(answer) else "noise")


def test_what_cannot_be_answered_is_told():
    workload, mechanism = workloads.histogram(4), mechanisms.create("randomized_response", n=4, epsilon=1.0)
    found = collected(mechanism, np.full(4, 10))
    empty = collector.Collection.empty(mechanism, DESIGN)
    with pytest.raises(ValueError, match="no reports yet"):
        collector.answers(empty, mechanism, workload)
    with pytest.raises(ValueError, match="did you mean 'any_time'"):
        collector.answers(found, mechanism, workload, kind="anytime")
    with pytest.raises(ValueError, match="4 types"):
        collector.answers(found, mechanism, workloads.histogram(5))
    with pytest.raises(ValueError, match="another mechanism"):
        collector.answers(found, mechanisms.create("randomized_response", n=4, epsilon=2.0), workload)
