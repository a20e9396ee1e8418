"""The same numbers in one thread and on a Dask cluster; cancelling leaves nothing behind."""

import pickle
import sys
import threading
import time
import types

import pytest

from ldp_core import workloads
from ldp_core.studies import sweep
from ldp_core.studies.sweep import points as points_module

NAMES = ["haar", "optimized", "optimized_gradient", "matrix_l1"]
PARAMETERS = {"optimized": {"max_rounds": 3}, "optimized_gradient": {"max_rounds": 5}}
ENDLESS = {"optimized_gradient": {"max_rounds": 10**6}}


def small_sweep(**how):
    return sweep.epsilons(NAMES, workloads.prefix(6), (0.5, 2.0), parameters=PARAMETERS, **how)


@pytest.fixture(scope="module")
def in_turn():
    return small_sweep()


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    # Workers begin by what is the main module here, which a page run by an earlier test has put in its place.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
        with distributed.LocalCluster(**options) as cluster:
            yield cluster


def same(one, other):
    return one.points.equals(other.points) and one.left_out.equals(other.left_out)


def test_a_cluster_gives_identical_numbers(in_turn, cluster):
    assert same(small_sweep(scheduler=cluster.scheduler_address), in_turn)
    with cluster.get_client() as client:
        restored = client.run(lambda: points_module._workload.cache_info().currsize)
    assert len(restored) == 2
    assert sum(restored.values()) >= 1  # the workers did the work


def test_the_environment_names_the_cluster(in_turn, cluster, monkeypatch):
    monkeypatch.setenv(sweep.SCHEDULER_VARIABLE, cluster.scheduler_address)
    assert same(small_sweep(), in_turn)
    monkeypatch.setenv(sweep.SCHEDULER_VARIABLE, "nonsense")
    with pytest.raises(ValueError, match="No Dask scheduler answers at nonsense"):
        small_sweep()


@pytest.mark.parametrize("where", ["thread", "cluster"])
def test_cancelling_reaches_into_fits_and_returns_what_there_is(where, request):
    how = {}
    if where == "cluster":
        how["scheduler"] = request.getfixturevalue("cluster").scheduler_address
    cheap = threading.Event()

    def follow(progress):
        if progress.round == 6:
            cheap.set()

    found = sweep.epsilons(
        ["haar", "optimized_gradient"],
        workloads.prefix(64),
        (1.0, 2.0),
        bounds=("svd", "centred_svd"),
        parameters=ENDLESS,  # minutes, if it were not cancelled
        callback=follow,
        cancel=cheap,
        **how,
    )
    assert sorted(set(found.points["name"])) == ["centred_svd", "haar", "svd"]
    if where == "cluster":
        scheduler = request.getfixturevalue("cluster").scheduler
        while scheduler.tasks:
            time.sleep(0.05)
        assert not scheduler.extensions["events"]._events
    # The cluster is free for the next one.
    assert len(small_sweep(**how).points)


def test_a_cluster_without_workers_is_refused():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=True, dashboard_address=":0") as empty,
        pytest.raises(ValueError, match="has no workers"),
    ):
        small_sweep(scheduler=empty.scheduler_address)


def test_workers_without_the_core_are_named(cluster, lower):
    lower(WHAT_WORKERS_NEED="import ldp_core_of_another_age")
    with pytest.raises(ValueError, match=r"2 of the 2 workers.*No module named 'ldp_core_of_another_age'"):
        small_sweep(scheduler=cluster.scheduler_address)


def test_points_travel_as_recipes():
    workload = workloads.prefix(512)
    workload.gram_dense()
    point = sweep.SweepPoint("haar", workload, 1.5, {"a": 1})
    sent = pickle.dumps(point)
    assert len(sent) < 1000
    back = pickle.loads(sent)
    assert (back.name, back.workload, back.epsilon, back.parameters) == ("haar", workload, 1.5, {"a": 1})
    assert back.key == point.key
