"""The theorems on pages: every entry complete, its number on the scale of variances, or one
sentence why not."""

import math

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.bounds.theorems import few_users, frequency, ranges
from ldp_core.bounds.theorems.statements import STATEMENTS, Setting
from tests.refused import refused

USERS = 10_000
HISTOGRAM, RANGES, PREFIX = workloads.histogram(5), workloads.all_range(64), workloads.prefix(64)


def tree(workload, reconstruction, oracle="oue"):
    return mechanisms.create(
        "hierarchical", n=workload.n, epsilon=1.0, branching=4, oracle=oracle, reconstruction=reconstruction
    )


def named(name, workload):
    return mechanisms.create(name, n=workload.n, epsilon=1.0)


def value(name, workload, mechanism=None, epsilon=1.0, users=USERS, concentration=None):
    return STATEMENTS[name].number(Setting(workload, epsilon, users, mechanism, concentration))


def reason(name, workload, mechanism=None, epsilon=1.0, users=USERS):
    return STATEMENTS[name].reason(Setting(workload, epsilon, users, mechanism))


@pytest.mark.usefixtures("no_hurry")
@pytest.mark.parametrize("workload", [HISTOGRAM, RANGES, PREFIX], ids=lambda workload: workload.kind)
@pytest.mark.parametrize(
    "make",
    [
        lambda w: None,
        lambda w: named("oue", w),
        lambda w: named("haar", w),
        lambda w: tree(w, "raw"),
        lambda w: tree(w, "consistent"),
        lambda w: mechanisms.create("gaussian", epsilon=1.0, workload=w),
    ],
)
def test_each_gives_a_number_or_a_sentence(workload, make):
    mechanism = make(workload)
    for name in STATEMENTS:
        if why := reason(name, workload, mechanism):
            assert why.endswith(".")
            said = refused(r".", value, name, workload, mechanism)
            assert said == why
        else:
            assert 0 <= value(name, workload, mechanism) < math.inf


@pytest.mark.usefixtures("no_hurry")
@pytest.mark.parametrize("workload", [HISTOGRAM, RANGES, PREFIX], ids=lambda workload: workload.kind)
def test_nothing_is_below_what_is_impossible(workload):
    for name in ("randomized_response", "oue", "hierarchical"):
        average = analysis.average_variance(named(name, workload), workload)
        for bound in ("svd", "centred_svd", "certificate"):
            assert value(bound, workload, named(name, workload)) <= average
    assert value("svd", workload) == pytest.approx(max(0.0, (bounds.svd(workload, 1.0) - workload.trace) / workload.n))


def test_large_samples_on_the_scale_of_variances():
    mechanism = named("oue", HISTOGRAM)
    for error in frequency.ERRORS:
        for form in frequency.FORMS:
            expected = bounds.large_sample(5, 1.0, error, form, 0.5)
            assert value(f"large_sample_{form}_{error}", HISTOGRAM, concentration=0.5) == pytest.approx(expected)
        corollary = bounds.large_sample_of(mechanism, error)[0]
        assert value(f"corollary_{error}", HISTOGRAM, mechanism) == pytest.approx(corollary)
        assert value(f"corollary_{error}", HISTOGRAM, mechanism, concentration=0.5) < corollary
    # At the even population an efficient estimator knows of M = Q'D^-1 Q, over all 2^5 reports.
    M = np.einsum("yi,yj->ij", mechanism.strategy / mechanism.strategy.sum(axis=1, keepdims=True), mechanism.strategy)
    assert value("efficient_frequency", HISTOGRAM, mechanism) == pytest.approx((np.trace(np.linalg.inv(M)) - 5) / 5)


def test_predictions_are_sums_over_the_ranges_asked():
    raw, consistent, flat, haar = (
        tree(RANGES, "raw"),
        tree(RANGES, "consistent"),
        named("oue", RANGES),
        named("haar", RANGES),
    )
    p = RANGES.num_queries
    assert value("flat_ranges", RANGES, flat) == pytest.approx(p * 66 / 3 * ranges.count_variance(1.0))
    assert value("raw_tree_average", RANGES, raw) == pytest.approx(p * bounds.range_error(64, 1.0, 4))
    assert value("raw_tree_average_corrected", RANGES, raw) == pytest.approx(
        p * ranges.range_error_averaged(64, 1.0, 4)
    )
    assert value("haar", RANGES, haar) == pytest.approx(p * ranges.haar_bound(64, 1.0))
    each = [ranges.consistent_error(64, 1.0, 4, r) for r in range(1, 65)]
    assert value("consistent_tree", PREFIX, consistent) == pytest.approx(sum(each))
    narrow = workloads.width_range(64, 2)
    expected = 64 * ranges.raw_bound(64, 1.0, 4, 1) + 63 * ranges.raw_bound(64, 1.0, 4, 2)
    assert value("raw_tree_bound", narrow, raw) == pytest.approx(expected)
    # Bounds among them bound the exact sums.
    for name, mechanism in (("raw_tree_bound", raw), ("haar", haar)):
        assert analysis.average_variance(mechanism, RANGES) <= value(name, RANGES, mechanism)


@pytest.mark.parametrize(
    "mechanism", [None, named("oue", RANGES), named("subset_selection", RANGES)], ids=["none", "oue", "sets"]
)
@pytest.mark.parametrize("B", [2, 4, 8])
def test_theorem_4_5_needs_only_types_epsilon_and_a_branching_factor(mechanism, B):
    for workload in (RANGES, PREFIX, workloads.width_range(64, 5)):
        p = workload.num_queries
        found = STATEMENTS["raw_tree_average"].number(Setting(workload, 1.0, USERS, mechanism, branching=B))
        assert found == pytest.approx(
            p * 2 * (B - 1) * 4 * math.e / (math.e - 1) ** 2 * math.log(64, B) * math.log(3 * 64**2 / 129, B)
        )
    along = workloads.OnAttributes((64, 3), (0,), RANGES)
    own, whole = (STATEMENTS["raw_tree_average"].number(Setting(w, 1.0, USERS, branching=B)) for w in (along, RANGES))
    assert own == pytest.approx(whole)
    assert "along one attribute" in reason("flat_ranges", along, named("oue", along))


def test_wavelets_and_trees_with_written_out_reports_have_likelihoods():
    """142.061: Corollary 4.3 for haar on 25 types, from independent code."""
    histogram = workloads.histogram(25)
    haar = mechanisms.create("haar", n=25, epsilon=1.0)
    assert value("corollary_distribution", histogram, haar) == pytest.approx(142.061, abs=5e-4)
    explicit = mechanisms.ExplicitMechanism("written", haar.channel @ np.eye(25), 1.0)
    assert value("efficient_frequency", histogram, haar) == pytest.approx(
        analysis.average_variance(explicit, histogram)
    )
    for reconstruction in ("raw", "consistent"):
        hadamard = tree(histogram, reconstruction, "hadamard")
        assert value("efficient_frequency", histogram, hadamard) > 0


def test_theorems_of_the_histogram_hold_for_weights_and_for_one_column():
    mechanism, name = named("hadamard", HISTOGRAM), "large_sample_sharp_frequency"
    weighted = workloads.union([HISTOGRAM], weights=[3.0])
    for each in (name, "large_sample_paper_distribution", "corollary_frequency", "efficient_frequency"):
        assert value(each, weighted, mechanism) == pytest.approx(9 * value(each, HISTOGRAM, mechanism))
    column = workloads.OnAttributes((5, 4), (0,), HISTOGRAM)
    assert value(name, column) == pytest.approx(value(name, HISTOGRAM))
    # No mechanism on all 20 types is below it, as the limit is one of every estimator.
    limit = bounds.certificate(column, 1.0, time_limit=None)
    assert value("large_sample_paper_frequency", column) <= limit.variance
    assert "of one column" in reason("corollary_frequency", column, mechanisms.create("hadamard", n=20, epsilon=1.0))
    partly = workloads.OnAttributes((6, 4), (0,), HISTOGRAM, used=(5,))
    assert "about the histogram" in reason(name, partly)
    assert "about the histogram" in reason("projected_hadamard", weighted)


def test_few_users_are_squared_and_for_all_users_together():
    sizes, r = (PREFIX.num_queries, 64, USERS, 1.0), math.sqrt(64)
    gaussian = mechanisms.create("gaussian", epsilon=1.0, workload=PREFIX, delta=1e-5)
    noise = gaussian.noise.variance / r**2
    for name, workload, mechanism, error in (
        ("gaussian_projected", PREFIX, None, few_users.bound("gaussian", *sizes, r).value),
        ("gaussian_projected", PREFIX, gaussian, few_users.bound("gaussian", *sizes, r, delta=1e-5).value),
        (
            "gaussian_projected_sharp",
            PREFIX,
            gaussian,
            few_users.bound("gaussian", *sizes, r, "sharp", noise=noise).value,
        ),
        ("rejection_projected", PREFIX, None, few_users.bound("rejection", *sizes, r).value),
        ("projected_hadamard", HISTOGRAM, None, few_users.bound("histogram", 5, 5, USERS, 1.0).value),
        ("adaptive_sharp", PREFIX, None, 8 * few_users.adaptive(64, USERS, 1.0, form="sharp")),
        ("lower_order_answers", PREFIX, None, few_users.lower_order("gaussian", *sizes, r)),
    ):
        assert value(name, workload, mechanism) == pytest.approx(USERS * error**2), name


@pytest.mark.parametrize(
    ("name", "workload", "mechanism", "words"),
    [
        ("svd", PREFIX, mechanisms.create("gaussian", epsilon=1.0, workload=PREFIX), "delta"),
        (
            "large_sample_paper_frequency",
            HISTOGRAM,
            mechanisms.create("gaussian", epsilon=1.0, workload=HISTOGRAM),
            "delta",
        ),
        ("large_sample_paper_frequency", PREFIX, None, "about the histogram"),
        ("corollary_frequency", HISTOGRAM, None, "choose one"),
        (
            "corollary_frequency",
            HISTOGRAM,
            mechanisms.create("ball_sampling", epsilon=1.0, workload=HISTOGRAM),
            "numbers with noise",
        ),
        ("raw_tree_average", HISTOGRAM, None, "about ranges"),
        ("raw_tree_bound", RANGES, tree(RANGES, "raw", "randomized_response"), "OUE, OLH or HRR"),
        ("raw_tree_bound", RANGES, None, "hierarchical"),
        ("haar", HISTOGRAM, mechanisms.create("haar", n=5, epsilon=1.0), "about ranges"),
        ("flat_ranges", RANGES, mechanisms.create("haar", n=64, epsilon=1.0), "OUE, OLH or HRR"),
        ("projected_hadamard", PREFIX, None, "about the histogram"),
        ("adaptive", RANGES, None, "at least 2 queries"),
    ],
)
def test_why_not(name, workload, mechanism, words):
    assert words in reason(name, workload, mechanism)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((HISTOGRAM, 0.0, USERS), "Epsilon"),
        ((HISTOGRAM, 1.0, 0), "number of users"),
        ((HISTOGRAM, 1.0, USERS, mechanisms.create("oue", n=6, epsilon=1.0)), "6 types, the workload 5"),
        ((HISTOGRAM, 1.0, USERS, None, -1.0), "concentration"),
    ],
)
def test_bad_settings_are_refused(arguments, words):
    refused(words, Setting, *arguments)
