"""Grids over epsilon and sizes: closed forms, reasons, progress, cancelling, and what a cache saves."""

import math

import numpy as np
import pytest

from ldp_core import analysis, bounds, library, mechanisms, workloads
from ldp_core.studies import sweep

NAMES = ["randomized_response", "subset_selection"]


def rr_variance(n, epsilon):
    """Randomized response on the histogram, the same for every type (McKenna et al. 2020, Example 3.7)."""
    E = math.exp(epsilon)
    return (n - 1) * (n / (E - 1) ** 2 + 2 / (E - 1))


def test_sizes_follow_the_closed_form():
    found = sweep.sizes(NAMES, workloads.histogram(5), 1.0, (8, 16, 32), alpha=0.02)
    assert found.left_out.empty
    assert list(found.points.columns) == sweep.COLUMNS
    points = found.points.set_index(["name", "n"])
    assert len(points) == 3 * (len(NAMES) + len(sweep.BOUNDS))
    for n in (8, 16, 32):
        row = points.loc["randomized_response", n]
        assert row["users_needed"] == pytest.approx(rr_variance(n, 1.0) / (n * 0.02))
        assert row["users_average"] == pytest.approx(row["users_needed"])
        assert row["stopped"] == "closed form"
        # Subset selection is the optimum on histograms, and the certificate proves it.
        best = points.loc["subset_selection", n]["users_needed"]
        floor = points.loc["certificate", n]["users_needed"]
        assert floor <= best <= floor * 1.001
        for bound in ("svd", "centred_svd"):
            assert points.loc[bound, n]["users_needed"] <= best * (1 + 1e-9)


def test_bounds_lie_below_mechanisms_and_the_certificate_is_highest():
    names = [*NAMES, "haar", "hierarchical", "optimized"]
    found = sweep.epsilons(names, workloads.prefix(8), (0.5, 2.0), parameters={"optimized": {"max_rounds": 40}}).points
    for epsilon, rows in found.groupby("epsilon"):
        for column in ("users_needed", "users_average"):
            users = rows.set_index("name")[column]
            assert users["svd"] <= users["centred_svd"] <= users["certificate"] * (1 + 1e-9), epsilon
            assert users["certificate"] <= users[names].min(), epsilon
    fits = found[found["name"] == "optimized"]
    assert (fits["stopped"] == "rounds").all()
    assert (fits["rounds"] == 40).all()


def test_points_that_cannot_be_computed_are_left_out_with_a_reason():
    found = sweep.epsilons(["rejection_gaussian", "haar"], workloads.prefix(8), (1.0, 2.0), bounds=())
    assert list(found.points["epsilon"][found.points["name"] == "rejection_gaussian"]) == [1.0]
    (row,) = found.left_out.itertuples(index=False)
    assert (row.name, row.n, row.epsilon) == ("rejection_gaussian", 8, 2.0)
    assert row.reason == "It works for epsilon from 0.001 to 1.39."


def test_what_will_be_left_out_is_known_before():
    names, sizes, workload = ["randomized_response", "haar", "fourier"], (6, 8, 12), workloads.prefix(8)
    foreseen = sweep.without_figures(names, workload, 1.0, sizes)
    found = sweep.sizes(names, workload, 1.0, sizes).left_out
    assert len(found) == 2  # no powers of two
    same = ["n", "name"]
    assert found.sort_values(same).reset_index(drop=True).equals(foreseen.sort_values(same).reset_index(drop=True))
    with pytest.raises(ValueError, match="their own types only"):
        sweep.without_figures(names, workloads.custom([[1, 0], [1, 1]]), 1.0)


def test_sizes_that_a_family_does_not_have_are_left_out():
    found = sweep.sizes(["haar"], workloads.width_range(32, 10), 1.0, (8, 16, 32), bounds=("svd",))
    assert set(found.points["n"]) == {16, 32}
    assert list(zip(found.left_out["name"], found.left_out["n"], strict=True)) == [("svd", 8), ("haar", 8)]
    with pytest.raises(ValueError, match="exist for their own types only"):
        sweep.sizes(["haar"], workloads.custom(np.eye(4)), 1.0)


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (workloads.width_range(12, 3), workloads.width_range(16, 3)),
        (workloads.parity(3, 1), workloads.parity(4, 1)),
        (
            workloads.union([workloads.prefix(8), workloads.histogram(8)], [1.0, 2.0]),
            workloads.union([workloads.prefix(16), workloads.histogram(16)], [1.0, 2.0]),
        ),
    ],
    ids=lambda value: value.kind,
)
def test_families_are_resized(workload, expected):
    assert sweep.resized(workload, 16) == expected


def test_a_cached_sweep_computes_nothing_and_another_alpha_costs_nothing():
    results = sweep.MemoryCache()
    names = [*NAMES, "optimized"]
    options = {"parameters": {"optimized": {"max_rounds": 3, "seed": 1}}, "results": results}
    first = sweep.epsilons(names, workloads.prefix(8), (0.5, 1.0), **options)
    assert len(results) == 12
    seen = []
    again = sweep.epsilons(
        names,
        workloads.prefix(8),
        (1.0, 0.5),
        0.05,
        callback=lambda step: seen.append((step.round, step.max_rounds)),
        **options,
    )
    assert seen == [(12, 12)]  # all known at once
    both = first.points.merge(again.points, on=["name", "n", "epsilon"])
    assert (both["users_needed_x"] * 0.01).to_numpy() == pytest.approx((both["users_needed_y"] * 0.05).to_numpy())
    sweep.epsilons(names, workloads.prefix(8), (0.5, 2.0), **options)
    assert len(results) == 18


def test_the_key_holds_everything_that_matters_and_no_more():
    workload = workloads.prefix(8)
    point = sweep.SweepPoint("optimized", workload, 1.0, {"seed": 0})
    same = [
        sweep.SweepPoint("optimized", workloads.prefix(8), 1.0, {"seed": 0, "time_limit": 3.0}),
        sweep.SweepPoint(
            "optimized", workload, 1.0, {"max_rounds": library.spec("optimized").sweep_rounds[64], "seed": 0}
        ),
    ]
    prior, other = np.full(2000, 1 / 2000), np.full(2000, 1 / 2000)
    other[1000] = 0.0  # in the part that numpy leaves out when it prints
    different = [
        sweep.SweepPoint("optimized_gradient", workload, 1.0, {"seed": 0}),
        sweep.SweepPoint("optimized", workloads.all_range(8), 1.0, {"seed": 0}),
        sweep.SweepPoint("optimized", workload, 1.0 + 1e-15, {"seed": 0}),
        sweep.SweepPoint("optimized", workload, 1.0, {"seed": 1}),
        sweep.SweepPoint("optimized", workload, 1.0, {"seed": 0, "max_rounds": 7}),
        sweep.SweepPoint("optimized", workload, 1.0, {"seed": 0, "prior": prior}),
        sweep.SweepPoint("optimized", workload, 1.0, {"seed": 0, "prior": other}),
    ]
    assert {each.key for each in same} == {point.key}
    assert len({each.key for each in [point, *different]}) == 1 + len(different)


def test_variances_are_those_of_the_mechanism():
    workload = workloads.prefix(8)
    found = sweep.evaluate(sweep.SweepPoint("haar", workload, 1.0))
    mechanism = mechanisms.create("haar", 8, 1.0)
    assert found.worst_case == pytest.approx(analysis.worst_case_variance(mechanism, workload))
    assert found.average == pytest.approx(analysis.average_variance(mechanism, workload))
    assert found.bits == mechanism.bits_per_report
    certified = sweep.evaluate(sweep.SweepPoint("certificate", workload, 1.0))
    value = bounds.certificate(workload, 1.0).value
    assert certified.average == pytest.approx((value - workload.trace) / 8)


def test_bad_grids_are_refused():
    with pytest.raises(ValueError, match="Unknown mechanism 'laplace'"):
        sweep.sizes(["laplace"], workloads.prefix(4), 1.0)
    with pytest.raises(ValueError, match="Unknown bound 'svd2'"):
        sweep.epsilons(NAMES, workloads.prefix(4), bounds=["svd2"])
    with pytest.raises(ValueError, match="out of range"):
        sweep.epsilons(NAMES, workloads.prefix(4), (-1.0,))


def test_points_without_time_are_left_out_and_computed_by_another_call():
    prefix, results, seen = workloads.prefix(8), sweep.MemoryCache(), []
    none = sweep.epsilons(NAMES, prefix, (1.0,), time_limit=0.0, results=results)
    assert none.points.empty
    assert len(none.left_out) == len(NAMES) + len(sweep.BOUNDS)
    assert set(none.left_out["reason"]) == {sweep.TIME_OVER}
    whole = sweep.epsilons(NAMES, prefix, (1.0,), results=results)
    assert whole.left_out.empty
    assert len(whole.points) == len(none.left_out)
    again = sweep.epsilons(NAMES, prefix, (1.0, 2.0), time_limit=0.0, results=results, callback=seen.append)
    assert again.points.equals(whole.points)
    assert set(again.left_out["epsilon"]) == {2.0}
    cancelled = sweep.epsilons(NAMES, prefix, (2.0,), time_limit=1e9, cancel=lambda: True)
    assert cancelled.points.empty
    assert cancelled.left_out.empty
