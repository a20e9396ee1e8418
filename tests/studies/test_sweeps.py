"""Sweeps over epsilon and the number of types: closed forms, what is left out and why, caches, cancelling, and a Dask cluster."""

import math
import sys
import threading
import time
import types

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.designs import Results
from ldp_core.studies import sweep
from tests.refused import refused

NAMES = ["randomized_response", "subset_selection"]
PREFIX = workloads.prefix(8)
Point = sweep.SweepPoint


def test_sizes_follow_the_closed_form():
    found = sweep.sizes(NAMES, workloads.histogram(5), 1.0, (8, 16, 32), alpha=0.02)
    assert found.left_out.empty
    assert list(found.points.columns) == sweep.COLUMNS
    points, E = found.points.set_index(["name", "n"]), math.e
    assert len(points) == 3 * (len(NAMES) + len(sweep.BOUNDS))
    for n in (8, 16, 32):
        row = points.loc["randomized_response", n]  # McKenna et al. 2020, Example 3.7, the same for every type
        assert row["users_needed"] == pytest.approx((n - 1) * (n / (E - 1) ** 2 + 2 / (E - 1)) / (n * 0.02))
        assert row["users_average"] == pytest.approx(row["users_needed"])
        # Subset selection is the optimum on histograms, and the certificate proves it.
        best, floor = (points.loc[name, n]["users_needed"] for name in ("subset_selection", "certificate"))
        assert floor <= best <= floor * 1.001
        for bound in ("svd", "centred_svd"):
            assert points.loc[bound, n]["users_needed"] <= best * (1 + 1e-9)


def test_bounds_lie_below_mechanisms_and_the_certificate_is_highest():
    names = [*NAMES, "haar", "hierarchical", "optimized"]
    found = sweep.epsilons(names, PREFIX, (0.5, 2.0), parameters={"optimized": {"max_rounds": 40}}).points
    for epsilon, rows in found.groupby("epsilon"):
        for column in ("users_needed", "users_average"):
            users = rows.set_index("name")[column]
            assert users["svd"] <= users["centred_svd"] <= users["certificate"] * (1 + 1e-9), epsilon
            assert users["certificate"] <= users[names].min(), epsilon
    fits = found[found["name"] == "optimized"]
    assert fits[["stopped", "rounds"]].to_numpy().tolist() == [["rounds", 40]] * 2


def test_variances_are_those_of_the_mechanism():
    found, mechanism = sweep.evaluate(Point("haar", PREFIX, 1.0)), mechanisms.create("haar", 8, 1.0)
    assert found.worst_case == pytest.approx(analysis.worst_case_variance(mechanism, PREFIX))
    assert found.average == pytest.approx(analysis.average_variance(mechanism, PREFIX))
    certified = sweep.evaluate(Point("certificate", PREFIX, 1.0))
    assert certified.average == pytest.approx((bounds.certificate(PREFIX, 1.0, None).value - PREFIX.trace) / 8)


def test_what_cannot_be_computed_is_left_out_with_a_reason_that_is_known_before():
    names, sizes = ["randomized_response", "haar", "fourier", "rejection_gaussian"], (6, 8, 12)
    found = sweep.sizes(names, PREFIX, 2.0, sizes).left_out
    rejected = found[found["name"] == "rejection_gaussian"]
    assert rejected["reason"].tolist() == ["It works for epsilon from 0.001 to 1.39."] * 3
    assert set(found["n"][found["name"] == "fourier"]) == {6, 12}  # no powers of two
    foreseen, same = sweep.without_figures(names, PREFIX, 2.0, sizes), ["n", "name"]
    assert found.sort_values(same).reset_index(drop=True).equals(foreseen.sort_values(same).reset_index(drop=True))
    few = sweep.sizes(["haar"], workloads.width_range(32, 10), 1.0, (8, 16), bounds=("svd",))
    assert set(few.points["n"]) == {16}
    assert few.left_out[["name", "n"]].to_numpy().tolist() == [["svd", 8], ["haar", 8]]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: sweep.sizes(["laplace"], PREFIX, 1.0), "Unknown mechanism 'laplace'"),
        (lambda: sweep.epsilons(NAMES, PREFIX, bounds=["svd2"]), "Unknown bound 'svd2'"),
        (lambda: sweep.epsilons(NAMES, PREFIX, (-1.0,)), "out of range"),
        (lambda: sweep.sizes(NAMES, workloads.custom(np.eye(4)), 1.0), "exist for their own types only"),
        (lambda: sweep.without_figures(NAMES, workloads.all_marginals([2, 3]), 1.0), "exist for their own types only"),
        (lambda: sweep.epsilons(NAMES, PREFIX, (1.0,), scheduler="nonsense"), "No Dask scheduler answers at nonsense"),
    ],
)
def test_bad_grids_are_refused(ask, words):
    refused(words, ask)


def test_points_without_time_are_left_out_and_computed_by_another_call(clock):
    results = Results()
    none = sweep.epsilons(NAMES, PREFIX, (1.0,), time_limit=0.0, results=results)
    assert none.points.empty
    assert len(none.left_out) == len(NAMES) + len(sweep.BOUNDS)
    assert set(none.left_out["reason"]) == {sweep.TIME_OVER}
    whole = sweep.epsilons(NAMES, PREFIX, (1.0,), results=results)
    assert (len(whole.points), len(whole.left_out)) == (len(none.left_out), 0)
    again = sweep.epsilons(NAMES, PREFIX, (1.0, 2.0), time_limit=0.0, results=results)
    assert again.points.equals(whole.points)
    assert set(again.left_out["epsilon"]) == {2.0}


# --- on a cluster -------------------------------------------------------------------------------------------------

FITS = ["haar", "optimized", "optimized_gradient", "matrix_l1"]
FEW_ROUNDS = {"optimized": {"max_rounds": 3}, "optimized_gradient": {"max_rounds": 5}}


def small_sweep(**how):
    return sweep.epsilons(FITS, workloads.prefix(6), (0.5, 2.0), parameters=FEW_ROUNDS, **how)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    # Workers begin by what is the main module here, which a page run by an earlier test has put in its place.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        with distributed.LocalCluster(**options) as cluster:
            yield cluster


def test_a_cluster_gives_identical_numbers(cluster, monkeypatch):
    monkeypatch.setenv(sweep.SCHEDULER_VARIABLE, cluster.scheduler_address)
    there = small_sweep()
    with cluster.get_client() as client:
        done = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert sum(done.values()) >= 1  # the workers did the work
    monkeypatch.delenv(sweep.SCHEDULER_VARIABLE)
    here = small_sweep()
    assert there.points.equals(here.points)
    assert there.left_out.equals(here.left_out)


@pytest.mark.parametrize("where", ["thread", "cluster"])
def test_cancelling_reaches_into_fits_and_returns_what_there_is(where, request):
    how = {} if where == "thread" else {"scheduler": request.getfixturevalue("cluster").scheduler_address}
    cheap = threading.Event()

    def follow(progress):
        if progress.round == 6:
            cheap.set()

    endless = {"optimized_gradient": {"max_rounds": 10**6}}  # minutes, if it were not cancelled
    given = (["haar", "optimized_gradient"], workloads.prefix(64), (1.0, 2.0))
    found = sweep.epsilons(
        *given, bounds=("svd", "centred_svd"), parameters=endless, callback=follow, cancel=cheap, **how
    )
    assert sorted(set(found.points["name"])) == ["centred_svd", "haar", "svd"]
    assert found.left_out.empty
    if where == "cluster":
        scheduler = request.getfixturevalue("cluster").scheduler
        while scheduler.tasks:
            time.sleep(0.05)
        assert not scheduler.extensions["events"]._events
    assert len(small_sweep(**how).points)  # the cluster is free for the next one
