"""Answers of a collection: those of the estimators, with intervals that hold the truth, beside the promised standard error."""

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute
from ldp_core.deploy import collector
from tests.refused import refused

DESIGN = "0123456789abcdef"
ABOUT = {"line", "query", "question", "name", "unit", "target", "finds", "verdict", "found", "adds_up_to", "group"}
NUMBERS = {"answer", "low", "high", "method", "standard_error", "promised", "unbiased"}


def collected(mechanism, people, seed=0):
    return collector.Collection(DESIGN, mechanism.simulate(people, np.random.default_rng(seed)))


@pytest.mark.parametrize("kind", collector.KINDS)
@pytest.mark.parametrize("name", ["randomized_response", "haar", "hierarchical", "oue"])
def test_answers_are_those_of_the_estimators(name, kind):
    workload = workloads.union([workloads.histogram(8), workloads.prefix(8)], [2.0, 0.5])
    mechanism, counts = mechanisms.create(name, n=8, epsilon=1.0), np.arange(8) * 100
    found = collected(mechanism, counts)
    frame = collector.answers(found, mechanism, workload, level=0.9999, kind=kind)
    assert set(frame.columns) == ABOUT | NUMBERS
    share = 100 / counts.sum()
    plain = share * np.concatenate([counts, np.cumsum(counts)])
    assert np.all((frame.low <= plain + 1e-7) & (plain <= frame.high + 1e-7))
    assert np.allclose(frame.answer[:8], share * mechanism.estimate(found.reports).counts())
    everybody_alike = [mechanism.query_variances(workload, np.eye(8, dtype=int)[u] * counts.sum()) for u in range(8)]
    largest = np.sqrt(np.max([*everybody_alike, np.zeros(16)], axis=0))
    assert np.allclose(frame.promised * workload.query_weights(), share * largest, atol=1e-5)
    assert frame.name.tolist() == [workload.query_name(query) for query in range(16)]
    few = collector.answers(found, mechanism, workload, level=0.9999, kind=kind, most=5)
    assert few["query"].tolist() == [0, 3, 7, 11, 15]
    numbers = ["answer", "low", "high", "promised"]
    assert np.allclose(few[numbers], frame.loc[few["query"], numbers])


@pytest.mark.parametrize("estimator", ["wnnls", "norm_sub", "mle"])
def test_biased_answers_have_the_interval_of_the_unbiased_one(estimator):
    workload, mechanism = workloads.histogram(8), mechanisms.create("randomized_response", n=8, epsilon=1.0)
    found = collected(mechanism, np.array([0, 0, 0, 0, 0, 0, 10, 490]))
    unbiased = collector.answers(found, mechanism, workload)
    frame = collector.answers(found, mechanism, workload, estimator)
    expected = estimators.apply(estimator, found.reports, mechanism, workload).answers(workload)
    assert np.allclose(frame.answer, expected / 5)  # per cent of 500 people
    assert np.allclose(frame.low, np.minimum(unbiased.low, frame.answer))
    assert np.allclose(frame.high, np.maximum(unbiased.high, frame.answer))


def test_answers_are_judged_by_their_errors_at_the_answers_found():
    """Randomized response of epsilon 4: the error of an answer depends on how many people it counts."""
    mechanism, counts = (
        mechanisms.create("randomized_response", n=8, epsilon=4.0),
        np.array([20_000, 10, 0, 0, 0, 0, 0, 0]),
    )
    exact = 100 * np.sqrt(mechanism.query_variances(workloads.histogram(8), counts)) / counts.sum()
    axis = CategoricalAttribute(name="value", values=tuple("abcdefgh"))
    workload = workloads.over_attributes(
        [workloads.HistogramPart(attribute="value")], [axis], {"points": 1.1 * exact[0]}
    )
    frame = collector.answers(collected(mechanism, counts), mechanism, workload)
    assert np.allclose(frame.standard_error, exact, rtol=0.05)
    assert np.all(frame.promised > 1.5 * exact[1:].mean())  # the most, whatever values people have
    assert (frame.question == "Histogram of value").all()
    assert frame.verdict[0] == "usable"
    small = frame[1:]
    assert (small.answer < 0).any()
    assert (small.answer > 0).any()
    for verdict, answer, error in zip(small.verdict, small.answer, small.standard_error, strict=True):
        size = max(answer, 0)  # there are no fewer people than none
        assert verdict == ("usable" if 2 * error <= size else "rough" if error <= size else "noise")


def test_what_cannot_be_answered_is_told():
    workload, mechanism = workloads.histogram(4), mechanisms.create("randomized_response", n=4, epsilon=1.0)
    found = collected(mechanism, np.full(4, 10))
    empty = collector.Collection.empty(mechanism, DESIGN)
    refused("no reports yet", collector.answers, empty, mechanism, workload)
    refused("did you mean 'any_time'", lambda: collector.answers(found, mechanism, workload, kind="anytime"))
    refused("4 types", lambda: collector.answers(found, mechanism, workloads.histogram(5)))
    refused(
        "another mechanism",
        lambda: collector.answers(found, mechanisms.create("randomized_response", n=4, epsilon=2.0), workload),
    )
