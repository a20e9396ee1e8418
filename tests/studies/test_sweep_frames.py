"""Sweeps over epsilon and the tidy frames, against the single functions and hand computations."""

import math

import numpy as np
import pandas as pd
import pytest

from ldp_core import analysis, bounds, frames, mechanisms, workloads
from ldp_core.limits import MOST_SHOWN_QUERIES
from ldp_core.studies import simulate, sweep, trial_frames
from ldp_core.studies.simulate import Trials
from ldp_core.workloads.shown import shown_queries

CHEAP = ["randomized_response", "hierarchical"]


def over_epsilon(*arguments, **how):
    """The points of a sweep with the bounds that need no search."""
    return sweep.epsilons(*arguments, bounds=("svd", "centred_svd"), **how).points


# --- sweep --------------------------------------------------------------------------------------------------------


def test_every_point_is_the_single_figure():
    workload, epsilons = workloads.prefix(8), (0.5, 2.0)
    frame = over_epsilon(CHEAP, workload, epsilons, alpha=0.02, parameters={"hierarchical": {"branching": 2}})
    assert list(frame.columns) == sweep.COLUMNS
    found = frame.set_index(["name", "epsilon"])["users_needed"]
    assert len(found) == len(frame) == 2 * (len(CHEAP) + 2)
    for epsilon in epsilons:
        for name, options in [("randomized_response", {}), ("hierarchical", {"branching": 2})]:
            mechanism = mechanisms.create(name, 8, epsilon, **options)
            assert found[name, epsilon] == pytest.approx(analysis.sample_complexity(mechanism, workload, 0.02))
        svd = analysis.users_from_objective(bounds.svd(workload, epsilon), workload, 0.02)
        centred = analysis.users_for(bounds.worst_case_variance(workload, epsilon), 8, 0.02)
        for name, floor in [("svd", svd), ("centred_svd", centred)]:
            assert found[name, epsilon] == pytest.approx(floor)
            assert all(found[other, epsilon] >= floor for other in CHEAP)


# --- frames -------------------------------------------------------------------------------------------------------


def test_summaries_are_sorted_by_users_needed():
    workload, counts = workloads.histogram(8), np.full(8, 100)
    rows = [
        analysis.summarise(mechanisms.create(name, 8, 0.5), workload, counts)
        for name in ("hierarchical", "randomized_response", "subset_selection")
    ]
    frame = frames.summaries(rows)
    assert list(frame["users_needed"]) == sorted(row.users_needed for row in rows)
    assert frame["name"].iloc[0] == "subset_selection"
    assert list(frame.index) == [0, 1, 2]
    for row in rows:
        assert frame.set_index("name").loc[row.name, "noise_floor"] == row.noise_floor


def test_users_bounds_and_gap():
    workload = workloads.prefix(32)
    even = frames.users_bounds(workload, 1.0, 0.01, analysis.average_case(32))
    assert even["centred_svd"] == pytest.approx((7291.3 - workload.trace) / (32 * 32 * 0.01), rel=1e-4)
    assert even["svd"] == pytest.approx((bounds.svd(workload, 1.0) - workload.trace) / (32 * 32 * 0.01))
    assert frames.gap(150, 100) == pytest.approx(0.5)
    assert frames.gap(150, 0) == math.inf


def test_every_case_has_a_bound_of_its_own():
    workload, n, epsilon = workloads.prefix(12), 12, 2.0
    prior = np.arange(1.0, n + 1) / np.arange(1, n + 1).sum()
    cases = {
        "worst_case": analysis.WORST_CASE,
        "average": analysis.average_case(n),
        "people": analysis.Case("people", prior),
    }
    limits = {name: frames.users_bounds(workload, epsilon, 0.01, case) for name, case in cases.items()}
    assert "svd" not in limits["people"]  # it is about the average over the types
    assert limits["worst_case"]["centred_svd"] >= limits["average"]["centred_svd"] * (1 - 1e-12)
    assert limits["worst_case"]["centred_svd"] >= limits["people"]["centred_svd"] * (1 - 1e-3)
    for name in ("subset_selection", "randomized_response", "hierarchical"):
        mechanism = mechanisms.create(name, n=n, epsilon=epsilon)
        profile = mechanism.variance_profile(workload)
        frame = frames.costs(profile, cases, limits, workload.num_queries, 0.01).set_index("case")
        assert (frame["gap"] >= -1e-9).all()
        assert frame.loc["worst_case", "users_needed"] == pytest.approx(analysis.sample_complexity(mechanism, workload))
        assert frame.loc["people", "users_needed"] == pytest.approx(prior @ profile / (workload.num_queries * 0.01))


def test_reports_tell_who_shares_them():
    Q = mechanisms.create("subset_selection", n=5, epsilon=1.0, size=2).strategy
    frame = frames.reports(Q, list("abcde"))
    assert len(frame) == 10
    assert (frame["types"] == 2).all()
    assert frame["probability"].sum() == pytest.approx(1)
    assert set(frame["group"]) >= {"a to b", "a; c"}
    assert (frame["high"] / frame["low"]).to_numpy() == pytest.approx(np.full(10, np.e))


@pytest.mark.parametrize(("n", "expected"), [(27, 378), (512, 400)])
def test_shown_queries_are_few_and_evenly_spread(n, expected):
    workload = workloads.all_range(n)
    shown = shown_queries(workload)
    assert len(shown) == min(workload.num_queries, MOST_SHOWN_QUERIES) == expected
    assert (shown[0], shown[-1]) == (0, workload.num_queries - 1)
    steps = np.diff(shown)
    assert steps.max() - steps.min() <= 1
    assert steps.min() >= 1


def test_query_errors_are_standard_errors_as_shares():
    workload, counts, labels = workloads.prefix(3), np.array([50, 30, 20]), ["a", "b", "c"]
    made = [mechanisms.create(name, 3, 1.0) for name in CHEAP]
    frame = frames.query_errors(made, workload, counts, labels)
    assert list(frame["name"]) == [name for name in CHEAP for _ in range(3)]
    assert list(frame["query"]) == [0, 1, 2] * 2
    assert list(frame["label"]) == ["up to a", "up to b", "up to c"] * 2
    for mechanism in made:
        C = mechanism.covariance(counts)
        first = math.sqrt(C[0, 0]) / 100
        second = math.sqrt(C[:2, :2].sum()) / 100
        assert frame[frame["name"] == mechanism.name]["standard_error"].tolist() == pytest.approx(
            [first, second, 0], abs=1e-7
        )


def hand_made_run(trials=3):
    """Three trials on ten users of two types, with estimates one can reckon with."""
    counts = np.array([6, 4])
    estimates = np.array([[7.0, 3.0], [5.0, 5.0], [9.0, 1.0]])[:trials]
    errors = 2 * (estimates[:, 0] - 6) ** 2  # (1, 1, 9) a type
    frame = pd.DataFrame(
        {
            "mechanism": "randomized_response",
            "estimator": "unbiased",
            "trial": range(trials),
            "users": 10,
            "total_squared_error": errors,
            "root_mean_squared_error": np.sqrt(errors / 2) / 10,
            "estimated_users": [10.0, 10.0, 13.0][:trials],
        }
    )
    return {"randomized_response": Trials(counts, np.arange(2), {"unbiased": estimates}, frame)}


def test_simulated_answers_by_hand():
    frame = trial_frames.simulated_answers(hand_made_run(), workloads.histogram(2), ["yes", "no"])
    assert frame["label"].tolist() == ["yes", "no"]
    assert frame["true"].tolist() == [0.6, 0.4]
    assert frame["mean"].tolist() == pytest.approx([0.7, 0.3])
    assert frame["deviation"].tolist() == pytest.approx([0.2, 0.2])  # of 0.7, 0.5, 0.9
    assert frame["standard_error"].tolist() == pytest.approx([0.2 / math.sqrt(3)] * 2)
    single = trial_frames.simulated_answers(hand_made_run(1), workloads.histogram(2), ["yes", "no"])
    assert single["mean"].tolist() == pytest.approx([0.7, 0.3])
    assert single["deviation"].isna().all()


def test_simulated_errors_by_hand():
    made = {"randomized_response": mechanisms.create("randomized_response", 2, math.log(3))}
    (row,) = trial_frames.simulated_errors(hand_made_run(), made, workloads.histogram(2)).itertuples()
    # Mean squared error of a share: (0.01 + 0.01 + 0.09) / 3.
    observed = math.sqrt(0.11 / 3)
    assert (row.trials, row.estimator) == (3, "unbiased")
    assert row.estimated_users == pytest.approx(11)
    assert row.observed == pytest.approx(observed)
    spread = np.std([0.01, 0.01, 0.09], ddof=1) / math.sqrt(3)
    assert row.standard_error == pytest.approx(spread / (2 * observed))
    # E = 3, n = 2: 2/4 + 2/2 = 1.5 per user for both counts together.
    assert row.predicted == pytest.approx(math.sqrt(10 * 1.5 / 2) / 10)
    (row,) = trial_frames.simulated_errors(hand_made_run(1), made, workloads.histogram(2)).itertuples()
    assert math.isnan(row.standard_error)
    assert row.observed == pytest.approx(0.1)


def test_only_unbiased_estimates_have_an_exact_prediction():
    mechanism, workload = mechanisms.create("hadamard", 4, 1.0), workloads.prefix(4)
    run = simulate.collect(mechanism, workload, np.array([9, 1, 0, 5]), 400, 0, ["unbiased", "wnnls"])
    frame = trial_frames.simulated_errors({"hadamard": run}, {"hadamard": mechanism}, workload).set_index("estimator")
    unbiased = frame.loc["unbiased"]
    assert abs(unbiased["observed"] - unbiased["predicted"]) < 4.5 * unbiased["standard_error"]
    assert math.isnan(frame.loc["wnnls", "predicted"])
    assert frame.loc["wnnls", "observed"] < unbiased["observed"]
