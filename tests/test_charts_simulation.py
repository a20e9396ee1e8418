"""Figures of simulated collections: they show the numbers of their tables, stay small, and name what they draw."""

import numpy as np
import pytest

from ldp_core import charts, mechanisms, workloads
from ldp_core.charts.outcomes import FEW
from ldp_core.studies import outcomes

ESTIMATORS = ("unbiased", "wnnls", "norm_sub", "mle")


def run(kind="prefix", n=16, trials=12, names=("hadamard", "subset_selection"), estimators=ESTIMATORS):
    workload = workloads.on_types(kind, n)
    chosen = {name: mechanisms.create(name, n, 1.0) for name in names}
    counts = np.random.default_rng(0).multinomial(2000, np.arange(1, n + 1) / np.arange(1, n + 1).sum())
    labels = [f"<b>{i}</b> & more years" for i in range(n)]
    scale = outcomes.Scale(np.arange(n, dtype=float), "types", workloads.prefix(n))
    scales = [scale] if kind in ("prefix", "all_range", "histogram") else []
    return outcomes.compare(chosen, workload, counts, labels, trials, 0, estimators, scales)


@pytest.fixture(scope="module")
def found():
    return run()


def one(table, mechanism="hadamard", estimator="wnnls"):
    return table[(table["mechanism"] == mechanism) & (table["estimator"] == estimator)]


def test_releases_are_nine_panels_with_the_truth_behind(found):
    rows = one(found.releases)
    fig = charts.releases(rows)
    assert len(fig.data) == 2 * outcomes.RELEASES
    published = [trace for trace in fig.data if trace.name == "published"]
    for number, trace in enumerate(published, start=1):
        assert trace.y == pytest.approx(100 * rows[rows["release"] == number]["released"])
        assert trace.mode == "lines"
    truth = [trace for trace in fig.data if trace.name == "true"]
    assert all(trace.y == pytest.approx(truth[0].y) for trace in truth)
    assert sum(bool(trace.showlegend) for trace in fig.data) == 2
    assert len({axis.matches for axis in fig.select_yaxes()} - {None}) == 1  # all on one scale
    few = charts.releases(rows[rows["release"] <= 2])
    assert len(few.data) == 4


def test_many_queries_without_an_order_are_put_in_that_of_the_truth():
    found = run("all_range", 32, 3, ("hadamard",), ("unbiased",))
    rows = found.releases
    fig = charts.releases(rows, in_order=False)
    truth, published = fig.data[:2]
    assert np.diff(truth.y).min() >= 0
    first = rows[rows["release"] == 1].sort_values("true", kind="stable")
    assert published.y == pytest.approx(100 * first["released"])
    assert published.x.tolist() == list(range(1, len(first) + 1))
    assert published.mode == "markers"
    assert "true answer" in fig.layout.xaxis2.title.text  # three collections, in one row
    points = charts.intervals(found.intervals, in_order=False).data[-1]
    assert np.diff(points.y).min() >= 0
    assert len(first) > FEW


def test_distribution_shows_truth_one_collection_and_the_band(found):
    rows = one(found.curves)
    fig = charts.distribution(rows, "age")
    drawn = {trace.name: trace for trace in fig.data if trace.name}
    assert drawn["true"].y == pytest.approx(100 * rows["true"])
    assert drawn["one private collection"].y == pytest.approx(100 * rows["first"])
    assert drawn["nine collections in ten"].fill == "tonexty"
    assert fig.data[0].y == pytest.approx(100 * rows["low"])
    assert "<b>" not in drawn["true"].customdata[0]  # labels of the user's are no markup


def test_intervals_are_told_apart_by_whether_they_hold_the_truth(found):
    rows = one(found.intervals, estimator="unbiased").assign(holds=[True] * 10 + [False] * 6)
    held, missed, truth = charts.intervals(rows).data
    assert len(held.x) == 30
    assert list(missed.x[::3]) == list(range(11, 17))
    assert missed.y[1] == pytest.approx(100 * rows["high"].iloc[10])
    assert truth.y == pytest.approx(100 * rows["true"])
    assert not charts.intervals(rows.assign(holds=True)).data[1].showlegend
