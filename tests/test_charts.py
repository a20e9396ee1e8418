"""Figures build for every size, stay small, and keep one colour per mechanism."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from ldp_core import analysis, charts, frames, mechanisms, simulate, sweep, workloads
from ldp_core.charts.theme import STYLES, UNKNOWN_STYLE, binned, colour, log_axis, marker, short, title
from ldp_core.estimators import ESTIMATORS

LOOKS = [charts.LIGHT, charts.DARK]
NAMES = ["randomized_response", "subset_selection", "hadamard", "hierarchical"]
MAKERS = [workloads.histogram, workloads.prefix, workloads.all_range]
LIMIT = 2_000_000  # bytes of JSON that reach the browser


def size(fig):
    assert isinstance(fig, go.Figure)
    text = fig.to_json()
    json.loads(text)
    return len(text.encode())


def labels(n):
    return [f"from {i} to {i + 1} years" for i in range(n)]


def heat(fig):
    (trace,) = (trace for trace in fig.data if trace.type == "heatmap")
    return np.asarray(trace.z)


def axis_titles(fig):
    return fig.layout.xaxis.title.text, fig.layout.yaxis.title.text


# --- inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("n", [2, 3, 41, 512, 2048])
def test_histogram_shows_the_counts_from_zero(n, look):
    counts = np.random.default_rng(0).multinomial(10_000, np.full(n, 1 / n))
    fig = charts.histogram(labels(n), counts, "age", look)
    assert size(fig) < LIMIT
    assert np.array_equal(fig.data[0].y, counts)
    assert fig.layout.yaxis.rangemode == "tozero"
    assert len(fig.layout.xaxis.tickvals) <= 41
    assert f"{counts[0]:,} users" in fig.data[0].hovertext[0]
    assert axis_titles(fig) == ("age", "users")


def test_histogram_of_nobody_builds():
    assert size(charts.histogram(["a", "b"], np.zeros(2), "x")) < LIMIT


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("n", [2, 9, 65, 512, 2048])
def test_the_query_matrix_is_a_small_picture(maker, n):
    workload = maker(n)
    fig = charts.workload_matrix(workload, labels(n))
    z = heat(fig)
    assert size(fig) < LIMIT
    assert z.dtype == np.float32
    assert z.shape == (min(workload.num_queries, 512), min(n, 512))
    assert (z.min() >= 0) & (z.max() <= 1)
    if n == 9:
        assert np.array_equal(z, workload.matrix)
    assert size(charts.singular_values(workload)) < LIMIT


def test_singular_values_are_drawn_as_they_are():
    workload = workloads.prefix(12)
    assert np.array_equal(charts.singular_values(workload).data[0].y, workload.singular_values())


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (512, 512), (513, 511), (1023, 700), (2048, 4)])
def test_binning_keeps_means(shape):
    matrix = np.random.default_rng(1).random(shape)
    cells = binned(matrix)
    assert cells.shape == tuple(min(side, 512) for side in shape)
    assert cells.dtype == np.float32
    assert (binned(np.full(shape, 0.5)) == 0.5).all()  # blocks of unequal size are averages too
    ramp = np.arange(shape[0])[:, None] / shape[0] + np.zeros(shape)
    assert np.abs(np.diff(binned(ramp)[:, 0]) - 1 / len(cells)).max(initial=0) <= 1 / shape[0] + 1e-6
    if max(shape) <= 512:
        assert np.array_equal(cells, matrix.astype(np.float32))
    if shape == (2048, 4):
        assert cells == pytest.approx(matrix.reshape(512, 4, 4).mean(axis=1), rel=1e-6)


# --- design -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize(("m", "n"), [(2, 2), (12, 5), (600, 40), (2048, 512)])
def test_the_strategy_is_a_small_picture(m, n, relative, look):
    Q = np.random.default_rng(0).uniform(1, 2.7, (m, n))
    Q /= Q.sum(axis=0)
    fig = charts.strategy(Q, labels(n), look, relative)
    z = heat(fig)
    assert size(fig) < LIMIT
    assert z.dtype == np.float32
    assert z.shape == (min(m, 512), min(n, 512))
    if m <= 512:  # every row is there, whatever the order
        expected = Q / Q.min(axis=1, keepdims=True) if relative else Q
        assert np.sort(z, axis=None) == pytest.approx(np.sort(expected, axis=None), rel=1e-6)
        assert (z[:, None, :] == expected.astype(np.float32)).all(axis=2).any(axis=0).all()


def test_the_strategy_is_ordered_by_where_its_likely_types_lie():
    Q = mechanisms.create("randomized_response", 6, 2.0).strategy
    shuffled = Q[[3, 0, 5, 1, 4, 2]]
    assert np.array_equal(heat(charts.strategy(shuffled, labels(6), relative=False)), Q.astype(np.float32))


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("bound", [0.0, 900.0])
@pytest.mark.parametrize("rounds", [1, 2, 5000])
def test_convergence_builds(rounds, bound, look):
    history = pd.DataFrame({"seconds": np.arange(rounds) / 100, "users_needed": 1000 + 1e5 / np.arange(1, rounds + 1)})
    fig = charts.convergence(history, bound, "optimized_gradient", look)
    assert size(fig) < LIMIT
    assert len(fig.layout.shapes) == (2 if bound else 0)
    low, high = 10 ** np.array(fig.layout.yaxis.range)
    assert low < history["users_needed"].min()
    assert high > history["users_needed"].max()


# --- compare and simulate -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ready():
    return {name: mechanisms.create(name, 16, 1.0) for name in NAMES}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("users", [None, 5000])
@pytest.mark.parametrize("bounds", [{}, {"svd": 0.0, "centred_svd": 0.0}, {"svd": 120.0, "centred_svd": 700.0}])
def test_users_needed_marks_mechanisms_bounds_and_plan(ready, bounds, users, look):
    workload, counts = workloads.prefix(16), np.full(16, 50)
    table = frames.summaries([analysis.summarise(mechanism, workload, counts) for mechanism in ready.values()])
    fig = charts.users_needed(table, bounds, users, look)
    assert size(fig) < LIMIT
    (dots,) = fig.data
    shown = dict(zip(dots.y, dots.x, strict=True))
    assert shown == {title(row["name"]): row["users_needed"] for _, row in table.iterrows()}
    lines = [shape for shape in fig.layout.shapes if shape.type == "line"]
    assert len(lines) == sum(value > 0 for value in bounds.values()) + (users is not None)
    everything = [*table["users_needed"], *(v for v in bounds.values() if v > 0), *([users] if users else [])]
    low, high = 10 ** np.array(fig.layout.xaxis.range)
    assert low < min(everything)
    assert high > max(everything)


@pytest.mark.parametrize("epsilon", [None, 1.5])
@pytest.mark.parametrize("points", [0, 1, None])
def test_over_epsilon_builds_at_every_stage_of_a_sweep(points, epsilon):
    frame = sweep.over_epsilon(NAMES, workloads.prefix(8))[:points]
    fig = charts.over_epsilon(frame, epsilon)
    assert size(fig) < LIMIT
    expected = frame[frame["users_needed"] > 0].drop_duplicates("name")["name"]
    assert [trace.name for trace in fig.data] == [title(name) for name in expected]
    if points is None:
        assert (sweep.over_epsilon(NAMES, workloads.prefix(8))["users_needed"] <= 0).any()  # silent points exist
        assert all(min(trace.y) > 0 for trace in fig.data)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("n", [2, 16, 512])
def test_query_errors_and_simulated_answers_build(maker, n):
    workload, counts = maker(n), np.arange(n) + 1
    made = {name: mechanisms.create(name, n, 1.0) for name in NAMES[:2]}
    fig = charts.query_errors(frames.query_errors(list(made.values()), workload, counts, labels(n)))
    assert size(fig) < LIMIT
    assert [trace.line.color for trace in fig.data] == [colour(name) for name in made]
    runs = {name: simulate.collect(m, workload, counts, 2, estimators=["unbiased"]) for name, m in made.items()}
    fig = charts.answers(frames.simulated_answers(runs, workload, labels(n)))
    assert size(fig) < LIMIT
    assert len(fig.data) == 1 + len(made)
    assert fig.data[0].y[-1] == pytest.approx(100 * workload.answers(counts)[-1] / counts.sum())


@pytest.mark.parametrize("trials", [1, 4])
def test_simulated_errors_build(ready, trials):
    workload = workloads.prefix(16)
    runs = {
        name: simulate.collect(mechanism, workload, np.full(16, 9), trials, estimators=list(ESTIMATORS))
        for name, mechanism in ready.items()
    }
    table = frames.simulated_errors(runs, ready, workload)
    fig = charts.errors(table)
    assert size(fig) < LIMIT
    observed, predicted = fig.data
    assert len(set(observed.y)) == len(table) == len(NAMES) * len(ESTIMATORS)
    assert np.array_equal(predicted.x, 100 * table["predicted"], equal_nan=True)


# --- one look -----------------------------------------------------------------------------------------------------


def test_every_style_is_one_of_its_own():
    assert len(set(STYLES.values())) == len(STYLES)
    assert UNKNOWN_STYLE not in STYLES.values()
    assert {*NAMES, "optimized_gradient"} <= set(STYLES)
    for name, style in STYLES.items():
        assert (colour(name), marker(name)) == style
    assert (colour("something new"), marker("something new")) == UNKNOWN_STYLE


def test_colours_do_not_depend_on_company_or_order(ready):
    workload, counts = workloads.prefix(16), np.full(16, 50)
    seen = {}
    for chosen in (NAMES, NAMES[::-1], NAMES[2:]):
        fig = charts.query_errors(frames.query_errors([ready[n] for n in chosen], workload, counts, labels(16)))
        for trace in fig.data:
            seen.setdefault(trace.name, set()).add((trace.line.color, trace.marker.symbol))
    assert {name: len(looks) for name, looks in seen.items()} == {title(name): 1 for name in NAMES}


def test_light_and_dark():
    assert charts.theme() is charts.LIGHT
    assert charts.theme(dark=True) is charts.DARK
    colours = [charts.histogram(["a", "b"], np.ones(2), "x", look).layout.font.color for look in LOOKS]
    assert colours[0] != colours[1]
    transparent = charts.histogram(["a", "b"], np.ones(2), "x").layout
    assert transparent.paper_bgcolor == transparent.plot_bgcolor == "rgba(0,0,0,0)"


@pytest.mark.parametrize(("low", "high"), [(100, 100), (0.5, 3), (1, 1e9), (1e-15, 10), (300, 420), (95, 1900)])
def test_log_axes_have_a_few_plain_ticks(low, high):
    axis = log_axis(low, high)
    start, end = axis["range"]
    assert start <= np.log10(max(low, 1e-12))
    assert end >= np.log10(high)
    ticks = dict(zip(axis["tickvals"], axis["ticktext"], strict=True))
    assert 2 <= sum(start <= np.log10(value) <= end for value in ticks) <= 24
    assert all(float(text.replace(",", "")) == pytest.approx(value) for value, text in ticks.items())
    assert not any("e" in text for value, text in ticks.items() if value >= 1e-4)


def test_labels_are_cut_to_fit():
    assert short("a" * 18) == "a" * 18
    assert short("a" * 19) == "a" * 17 + "…"


def test_labels_are_text_and_never_markup():
    fig = charts.histogram(["<b>bold</b>", "R&amp;D"], np.array([3, 4]), "x")
    assert fig.layout.xaxis.ticktext == ("&lt;b&gt;bold&lt;/b&gt;", "R&amp;amp;D")
    assert fig.data[0].hovertext[0].startswith("&lt;b&gt;bold&lt;/b&gt;<br>3 users")
