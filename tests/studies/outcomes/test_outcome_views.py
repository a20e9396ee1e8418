"""The views of outcomes against plain loops over trials, exact variances, and each other."""

import math

import numpy as np
import pytest

from ldp_core import analysis, estimators, mechanisms, workloads
from ldp_core.studies import outcomes

COUNTS = np.array([120, 10, 40, 300, 50, 35, 80, 65])
N = COUNTS.sum()
LABELS = [f"[{i}, {i + 1})" for i in range(8)]
SCALE = outcomes.Scale(np.arange(8) * 10.0, "years", workloads.prefix(8))


def made(*names):
    return {name: mechanisms.create(name, 8, 1.0) for name in names}


@pytest.fixture(scope="module")
def found():
    return outcomes.compare(
        made("subset_selection", "hadamard"),
        workloads.all_range(8),
        COUNTS,
        LABELS,
        40,
        3,
        ("unbiased", "wnnls", "mle"),
        [SCALE],
    )


@pytest.fixture(scope="module")
def estimates():
    """(40, 8) non-negative counts of the same trials by Hadamard response, the plain way."""
    mechanism, workload = made("hadamard")["hadamard"], workloads.all_range(8)
    streams = np.random.SeedSequence(3).spawn(40)
    reports = [mechanism.simulate(COUNTS, np.random.default_rng(stream)) for stream in streams]
    return np.array([estimators.apply("wnnls", one, mechanism, workload).estimated_counts for one in reports])


def pick(frame, mechanism="hadamard", estimator="wnnls"):
    return frame[(frame["mechanism"] == mechanism) & (frame["estimator"] == estimator)]


def test_the_uncertainty_of_the_error_of_a_question_is_that_of_its_trials(found, estimates):
    """Answers of one trial go together: their errors are no independent ones."""
    workload = workloads.all_range(8)
    means = ((100 / N * (estimates - COUNTS) @ workload.matrix.T) ** 2).mean(axis=1)
    (row,) = pick(found.lines).itertuples()
    assert row.standard_error == pytest.approx(means.std(ddof=1) / math.sqrt(40) / (2 * row.observed))


def test_curves_and_quantiles_follow_from_the_estimates(found, estimates):
    totals = np.cumsum(estimates, axis=1)
    curve = pick(found.curves)
    assert curve["true"].to_numpy() == pytest.approx(np.cumsum(COUNTS) / N)
    assert curve["first"].to_numpy() == pytest.approx(totals[0] / N)
    assert curve["high"].to_numpy() == pytest.approx(np.quantile(totals / N, 0.95, axis=0))
    rows = pick(found.quantiles)
    assert rows["quantile"].tolist() == list(outcomes.QUANTILES)
    median = rows[rows["quantile"] == 0.5].iloc[0]
    assert median["true_label"] == "[3, 4)"  # 170 people are below it, 470 of 700 up to it
    places = outcomes.positions(totals, N, [0.5])[:, 0]
    assert median["first_label"] == LABELS[places[0]]
    assert median["value_error"] == pytest.approx(10 * np.abs(places - 3).mean())
    assert median["value_error_se"] == pytest.approx(10 * np.abs(places - 3).std(ddof=1) / math.sqrt(40))
    shares = np.concatenate([[0], np.cumsum(COUNTS) / N])
    wrong = [max(shares[place] - 0.5, 0.5 - shares[place + 1], 0) for place in places]
    assert median["quantile_error"] == pytest.approx(np.mean(wrong))


def test_intervals_are_those_of_the_first_collection(found):
    workload, mechanism = workloads.all_range(8), made("hadamard")["hadamard"]
    told = found.answers[found.answers["low"].notna()]
    assert set(told["estimator"]) == {"unbiased"}
    rows = pick(found.answers, estimator="unbiased")
    stream = np.random.SeedSequence(3).spawn(40)[0]
    estimate = mechanism.estimate(mechanism.simulate(COUNTS, np.random.default_rng(stream)))
    assert rows["answer"].to_numpy() == pytest.approx(100 / N * estimate.answers(workload))
    found = estimators.intervals(mechanism, workload, estimate, outcomes.LEVEL, users=int(N))
    assert rows[["low", "high"]].to_numpy() == pytest.approx(100 / N * found.ends)
    assert rows["method"].tolist() == found.methods.tolist()
    inside = (rows["low"] - 1e-7 <= rows["true"]) & (rows["true"] <= rows["high"] + 1e-7)
    assert rows["holds"].equals(inside)


def test_intervals_hold_the_truth_as_often_as_they_say():
    mechanism, workload = made("hadamard"), workloads.prefix(8)
    held = [
        outcomes.compare(mechanism, workload, 20 * COUNTS, LABELS, 1, seed).answers["holds"][:7].mean()
        for seed in range(150)
    ]
    assert outcomes.LEVEL - 4 * np.std(held) / math.sqrt(150) < np.mean(held) < 0.985


def test_the_posterior_has_credible_intervals_and_can_be_cancelled():
    chosen, workload = made("randomized_response"), workloads.histogram(8)
    run = outcomes.compare(chosen, workload, COUNTS, LABELS, 1, 0, ["posterior", "wnnls"])
    told = pick(run.answers, "randomized_response", "posterior")
    assert pick(run.answers, "randomized_response")["low"].isna().all()
    assert set(told["method"]) == {"credible"}
    assert ((told["low"] >= 0) & (told["low"] < told["high"])).all()
    assert told["holds"].sum() >= 5
    assert not len(run.curves)
    assert not len(run.quantiles)
    cut = outcomes.compare(chosen, workload, COUNTS, LABELS, 5, 0, ["posterior"], cancel=lambda: True)
    assert (cut.trials, cut.answers["low"].notna().sum()) == (1, 0)


def test_progress_and_cancelling():
    chosen, seen = made("subset_selection", "hadamard"), []
    whole = outcomes.compare(chosen, workloads.prefix(8), COUNTS, LABELS, 3, scales=[SCALE], callback=seen.append)
    assert [step.found for step in seen] == [name for name in chosen for _ in range(3)]
    assert [(step.round, step.max_rounds) for step in seen] == [(k, 6) for k in range(1, 7)]
    seen.clear()
    cut = outcomes.compare(
        chosen, workloads.prefix(8), COUNTS, LABELS, 3, scales=[SCALE],
        callback=seen.append, cancel=lambda: len(seen) >= 2,
    )  # fmt: skip
    assert cut.trials == 2
    assert set(cut.errors["mechanism"]) == {"subset_selection"}
    first = whole.curves[whole.curves["mechanism"] == "subset_selection"]["first"]
    assert cut.curves["first"].tolist() == first.tolist()


def test_consistency_is_predicted_by_the_consistent_tree():
    raw = mechanisms.create("hierarchical", 8, 1.0, reconstruction="raw", branching=2)
    run = outcomes.compare(
        {"hierarchical": raw}, workloads.prefix(8), COUNTS, LABELS, 400, 0, ["unbiased", "consistency"]
    )
    errors = run.errors.set_index("estimator")
    consistent = analysis.variance_on_data(raw.consistent, workloads.prefix(8), COUNTS)
    assert errors.loc["consistency", "predicted"] == pytest.approx(math.sqrt(consistent / 8) / N / 0.1)
    assert errors.loc["consistency", "predicted"] < errors.loc["unbiased", "predicted"]
    for row in errors.itertuples():
        assert abs(row.observed - row.predicted) < 4.5 * row.standard_error
    assert set(run.answers["estimator"][run.answers["low"].notna()]) == {"unbiased", "consistency"}
