"""Trials: reproducible, cancellable, and what the formulas predict."""

import math

import numpy as np
import pytest

from ldp_core import analysis, mechanisms, workloads
from ldp_core.studies import simulate
from tests.refused import refused

COUNTS = np.array([120, 0, 40, 300, 5, 35])
N = COUNTS.sum()


@pytest.fixture
def mechanism():
    return mechanisms.create("subset_selection", 6, 1.0)


@pytest.fixture
def workload():
    return workloads.prefix(6)


def test_the_frame_follows_from_the_estimates(mechanism, workload):
    run = simulate.collect(mechanism, workload, COUNTS, trials=4, seed=3, estimators=["unbiased", "wnnls"])
    assert list(run.answers) == ["unbiased", "wnnls"]
    assert np.array_equal(run.counts, COUNTS)
    assert list(zip(run.frame["trial"], run.frame["estimator"], strict=True)) == [
        (trial, name) for trial in range(4) for name in ("unbiased", "wnnls")
    ]
    assert set(run.frame["mechanism"]) == {"subset_selection"}
    assert set(run.frame["users"]) == {N}
    for row in run.frame.itertuples():
        error = run.answers[row.estimator][row.trial] - workload.matrix @ COUNTS
        assert row.total_squared_error == pytest.approx(error @ error)
        assert row.root_mean_squared_error == pytest.approx(math.sqrt((error**2).mean()) / N)
    assert np.diff(run.answers["wnnls"], prepend=0).min() >= -1e-9  # running totals of counts that are not negative


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hadamard", "hierarchical"])
def test_observed_errors_are_the_predicted_ones(name, workload):
    mechanism = mechanisms.create(name, 6, 1.0)
    errors = simulate.run(mechanism, workload, COUNTS, trials=1500, seed=0)["total_squared_error"]
    exact = analysis.variance_on_data(mechanism, workload, COUNTS)
    assert abs(errors.mean() - exact) < 4.5 * errors.std() / math.sqrt(1500)


def test_progress_is_followed_and_cancelling_keeps_what_there_is(mechanism, workload):
    seen = []
    whole = simulate.collect(
        mechanism, workload, COUNTS, 5, callback=lambda step: seen.append((step.round, step.max_rounds))
    )
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    seen.clear()
    stopped = simulate.collect(
        mechanism,
        workload,
        COUNTS,
        5,
        callback=lambda step: seen.append((step.round, step.max_rounds)),
        cancel=lambda: len(seen) >= 2,
    )
    assert seen == [(1, 5), (2, 5)]
    assert np.array_equal(stopped.answers["unbiased"], whole.answers["unbiased"][:2])
    assert stopped.frame.equals(whole.frame[:2])
    at_once = simulate.collect(mechanism, workload, COUNTS, 5, cancel=lambda: True)
    assert at_once.frame.equals(whole.frame[:1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": COUNTS * 0}, "no users"),
        ({"counts": COUNTS - 1}, "non-negative whole numbers"),
        ({"trials": 2.5}, "at least 1; got 2.5"),
        ({"seed": -1}, "non-negative"),
        ({"estimators": ["best"]}, "Unknown estimator 'best'"),
        ({"workload": workloads.prefix(5), "counts": COUNTS[:5]}, "mechanism has 6 types, the workload 5"),
    ],
)
def test_bad_input_is_refused_in_words(mechanism, workload, changes, words):
    refused(words, simulate.collect, **{"mechanism": mechanism, "workload": workload, "counts": COUNTS, **changes})


def test_estimators_that_do_not_suit_are_refused_before_any_trial(mechanism, workload):
    seen = []
    refused(
        "Maximum likelihood: The likelihood needs every report",
        lambda: simulate.collect(
            mechanism, workload, COUNTS, 5, 0, ["unbiased", "mle"], lambda *done: seen.append(done)
        ),
    )
    assert not seen
    refused("at least one estimator", simulate.collect, mechanism, workload, COUNTS, 5, 0, [])
    twice = simulate.collect(mechanism, workload, COUNTS, 2, 0, ["wnnls", "wnnls"])
    assert len(twice.frame) == 2
