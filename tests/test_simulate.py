"""Trials: reproducible, cancellable, and what the formulas predict."""

import math

import numpy as np
import pytest

from ldp_core import analysis, mechanisms, simulate, workloads

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


def test_run_is_the_frame_of_collect(mechanism, workload):
    frame = simulate.run(mechanism, workload, COUNTS, trials=3, seed=9, estimators=["wnnls"])
    assert frame.equals(simulate.collect(mechanism, workload, COUNTS, 3, 9, ["wnnls"]).frame)


def test_the_first_trials_of_many_are_those_of_a_few(mechanism, workload):
    many, few = (simulate.collect(mechanism, workload, COUNTS, trials=k, seed=4) for k in (12, 5))
    assert np.array_equal(many.answers["unbiased"][:5], few.answers["unbiased"])
    assert many.frame[:5].equals(few.frame)
    other = simulate.collect(mechanism, workload, COUNTS, trials=5, seed=5)
    assert not np.array_equal(other.answers["unbiased"], few.answers["unbiased"])
    assert len(np.unique(many.frame["total_squared_error"])) > 1


def test_estimators_see_the_same_reports(mechanism, workload):
    both = simulate.collect(mechanism, workload, COUNTS, 6, 1, ["unbiased", "wnnls"])
    alone = simulate.collect(mechanism, workload, COUNTS, 6, 1, ["wnnls"])
    assert np.array_equal(both.answers["wnnls"], alone.answers["wnnls"])


@pytest.mark.parametrize("name", ["randomized_response", "subset_selection", "hadamard", "hierarchical"])
def test_observed_errors_are_the_predicted_ones(name, workload):
    mechanism = mechanisms.create(name, 6, 1.0)
    errors = simulate.run(mechanism, workload, COUNTS, trials=1500, seed=0)["total_squared_error"]
    exact = analysis.variance_on_data(mechanism, workload, COUNTS)
    assert abs(errors.mean() - exact) < 4.5 * errors.std() / math.sqrt(1500)


def test_progress_is_followed_and_cancelling_keeps_what_there_is(mechanism, workload):
    seen = []
    whole = simulate.collect(mechanism, workload, COUNTS, 5, callback=lambda *done: seen.append(done))
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    seen.clear()
    stopped = simulate.collect(
        mechanism, workload, COUNTS, 5, callback=lambda *done: seen.append(done), cancelled=lambda: len(seen) >= 2
    )
    assert seen == [(1, 5), (2, 5)]
    assert np.array_equal(stopped.answers["unbiased"], whole.answers["unbiased"][:2])
    assert stopped.frame.equals(whole.frame[:2])
    at_once = simulate.collect(mechanism, workload, COUNTS, 5, cancelled=lambda: True)
    assert at_once.frame.equals(whole.frame[:1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"counts": COUNTS * 0}, "no users"),
        ({"counts": COUNTS[:4]}, "one entry for each of the 6 types"),
        ({"counts": COUNTS - 1}, "non-negative whole numbers"),
        ({"trials": 0}, "at least 1; got 0"),
        ({"trials": -3}, "at least 1; got -3"),
        ({"trials": 2.5}, "at least 1; got 2.5"),
        ({"seed": -1}, "non-negative"),
        ({"estimators": ["best"]}, "Unknown estimator 'best'"),
        ({"workload": workloads.prefix(5)}, "one entry for each of the 5 types"),
        ({"workload": workloads.prefix(5), "counts": COUNTS[:5]}, "mechanism has 6 types, the workload 5"),
    ],
)
def test_bad_input_is_refused_in_words(mechanism, workload, changes, words):
    with pytest.raises(ValueError, match=words):
        simulate.collect(**{"mechanism": mechanism, "workload": workload, "counts": COUNTS, **changes})


def test_ten_million_users_cost_no_loop_over_users(workload):
    mechanism = mechanisms.create("subset_selection", 512, 1.0)
    counts = np.random.default_rng(0).multinomial(10**7, np.full(512, 1 / 512))
    run = simulate.collect(mechanism, workloads.prefix(512), counts, trials=1)
    exact = analysis.variance_on_data(mechanism, workloads.prefix(512), counts)
    assert 0.02 * exact < run.frame["total_squared_error"].iloc[0] < 20 * exact
