"""Figures build for every size, stay small, and keep one colour per mechanism."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from ldp_core import analysis, charts, frames, library, mechanisms, workloads
from ldp_core.charts.theme import DOTLESS, FILLS, PIXELS, UNKNOWN_STYLE, colour, filled, log_axis, marker, short, title
from ldp_core.data.domain import CategoricalAttribute, NumericAttribute
from ldp_core.pictures import binned
from ldp_core.studies import simulate, trial_frames

LOOKS = [charts.LIGHT, charts.DARK]
SUITABLE = ["unbiased", "wnnls", "norm_sub", "polytope"]
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


def attribute(*values):
    return CategoricalAttribute(name="age", values=values)


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
    fig = charts.marginal(attribute(*labels(n)), counts, look)
    assert size(fig) < LIMIT
    assert fig.data[0].y.sum() == 10_000
    assert len(fig.data[0].y) == min(n, 683)  # three types share a bar of 2,048
    assert fig.layout.yaxis.rangemode == "tozero"
    assert len(fig.layout.xaxis.tickvals) <= 41
    assert axis_titles(fig) == ("age" if n < 2048 else "age (a bar is 3 types)", "users")
    if n < 2048:
        assert np.array_equal(fig.data[0].y, counts)
        assert f"{counts[0]:,} people" in fig.data[0].hovertext[0]


@pytest.mark.parametrize("n", [2, 40, 2_000])
def test_types_without_a_place_in_the_order_stand_apart_in_grey(n):
    ages = NumericAttribute(name="age", edges=tuple(range(n + 1)), missing="category", outside="other")
    (bars,) = charts.marginal(ages, np.ones(n + 2)).data
    gaps, colours = np.diff(bars.x), bars.marker.color
    assert (gaps[:-2] == 1).all()
    assert gaps[-2] == 2
    assert len(set(colours[:-2])) == 1
    assert set(colours[-2:]) == {charts.LIGHT.faint}
    ticks = charts.marginal(ages, np.ones(n + 2)).layout.xaxis
    assert ticks.ticktext[-2:] == ("(other)", "(missing)")
    assert np.allclose(ticks.tickvals[-2:], bars.x[-2:], atol=0.01)
    assert (np.diff(ticks.tickvals) > 0.9).all()


def test_histogram_of_nobody_builds():
    assert size(charts.marginal(attribute("a", "b"), np.zeros(2))) < LIMIT


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
    cells = binned(matrix, PIXELS)
    assert cells.shape == tuple(min(side, 512) for side in shape)
    assert cells.dtype == np.float32
    assert (binned(np.full(shape, 0.5), PIXELS) == 0.5).all()  # blocks of unequal size are averages too
    ramp = np.arange(shape[0])[:, None] / shape[0] + np.zeros(shape)
    assert np.abs(np.diff(binned(ramp, PIXELS)[:, 0]) - 1 / len(cells)).max(initial=0) <= 1 / shape[0] + 1e-6
    if max(shape) <= 512:
        assert np.array_equal(cells, matrix.astype(np.float32))
    if shape == (2048, 4):
        assert cells == pytest.approx(matrix.reshape(512, 4, 4).mean(axis=1), rel=1e-6)


@pytest.mark.parametrize(("low", "high"), [(1, 1e7), (600, 700), (1207, 1237), (0.031, 0.033), (5.0, 5.0), (40, 900)])
def test_log_axes_have_plain_ticks_at_any_range(low, high):
    axis = log_axis(low, high, 1.06)
    left, right = (10**end for end in axis["range"])
    seen = [tick for tick in axis["tickvals"] if left <= tick <= right]
    assert 3 <= len(seen) <= 40
    assert [float(text.replace(",", "")) for text in axis["ticktext"]] == pytest.approx(axis["tickvals"])


# --- design -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(("m", "n"), [(2, 2), (12, 5), (600, 40), (2048, 512)])
def test_patterns_are_a_small_picture(m, n, look):
    rng = np.random.default_rng(0)
    Q = np.where(rng.random((m, n)) < 0.3, 2.7, 1.0) * rng.uniform(0.1, 1, (m, 1))
    Q /= Q.sum(axis=0)
    fig = charts.patterns(Q, labels(n), look)
    assert size(fig) < LIMIT
    assert heat(fig).shape == (min(m, 256), min(n, 256))
    edges = np.asarray(fig.data[0].y)
    assert edges[0] == 0
    assert edges[-1] == pytest.approx(100)


def test_bands_are_the_rows_as_high_as_they_are_common():
    high = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=bool)
    weights = np.array([0.1, 0.2, 0.3, 0.05])
    Q = weights[:, None] * np.where(high, np.e, 1.0)
    Q /= Q.sum(axis=0)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    fig = charts.patterns(Q, labels(4), prior=prior)
    z, heights = heat(fig), np.diff(np.asarray(fig.data[0].y)) / 100
    rows = [
        int(np.flatnonzero((np.round((Q / Q.min(axis=1, keepdims=True) > 1.5)) == (row > 0.5)).all(axis=1))[0])
        for row in z
    ]
    assert sorted(rows) == [0, 1, 2, 3]
    assert heights == pytest.approx((Q @ prior)[rows])
    # Hover: this type's probability, the size of its group, and the probability outside of it.
    numbers = np.asarray(fig.data[0].customdata)
    assert numbers[:, :, 0] == pytest.approx(Q[rows], rel=1e-6)
    assert numbers[:, 0, 1].tolist() == (z > 0.5).sum(axis=1).tolist()


def test_similar_rows_are_neighbours_and_others_lie_on_the_diagonal():
    Q = mechanisms.create("randomized_response", 6, 2.0).strategy
    shuffled = Q[[3, 0, 5, 1, 4, 2]]
    assert np.array_equal(heat(charts.patterns(shuffled, labels(6))), np.eye(6, dtype=np.float32))
    blocks = np.kron(np.eye(2), np.ones((3, 4)))[[0, 3, 1, 4, 2, 5]] + 1
    z = heat(charts.patterns(blocks / blocks.sum(axis=0), labels(8)))
    assert np.abs(np.diff(z, axis=0)).sum(axis=1).tolist() == [0, 0, 8, 0, 0]


def test_many_reports_become_slices_of_equal_probability():
    Q = np.vstack([np.full((700, 3), 0.5 / 700), np.diag([0.5, 0.5, 0.5])]) + 0.0
    Q[700:] += 1e-9
    Q /= Q.sum(axis=0)
    z = heat(charts.patterns(Q, labels(3)))
    common = (z == 1).sum(axis=1) == 1
    assert abs(common.mean() - 0.5) < 0.02  # the three reports that make half of all, though there are 700 others


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("bound", [0.0, 900.0])
@pytest.mark.parametrize("rounds", [1, 2, 5000])
def test_the_closing_gap_builds(rounds, bound, look):
    history = pd.DataFrame({"seconds": np.arange(rounds) / 100, "users_needed": 1000 + 1e5 / np.arange(1, rounds + 1)})
    proved = pd.DataFrame({"seconds": [0.0, 0.3], "users_needed": [0.9 * bound, bound]})
    fig = charts.closing_gap(history, proved, "optimized", look)
    assert size(fig) < LIMIT
    assert len(fig.data) == (3 if bound else 1)
    assert (charts.LIGHT.paper, charts.colour("optimized")) == ("#FFFFFF", "#D55E00")
    low, high = 10 ** np.array(fig.layout.yaxis.range)
    assert low < min(history["users_needed"].min(), bound or np.inf)
    assert high > history["users_needed"].max()
    for trace in fig.data:  # what was found last still holds at the end of the chart
        assert max(trace.x) == max(history["seconds"].max(), 0.3 if bound else 0, 1e-3)


# --- compare and simulate -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ready():
    return {name: mechanisms.create(name, 16, 1.0) for name in NAMES}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("users", [None, 5000])
@pytest.mark.parametrize("bounds", [{}, {"svd": 0.0, "centred_svd": 0.0}, {"svd": 120.0, "centred_svd": 700.0}])
def test_users_needed_marks_mechanisms_bounds_and_plan(ready, bounds, users, look):
    workload, counts = workloads.prefix(16), np.full(16, 50)
    frame = frames.summaries([analysis.summarise(mechanism, workload, counts) for mechanism in ready.values()])
    fig = charts.users_needed(frame, bounds, users, look)
    assert size(fig) < LIMIT
    (dots,) = fig.data
    shown = dict(zip(dots.text, dots.x, strict=True))
    assert shown == {title(row["name"]): row["users_needed"] for _, row in frame.iterrows()}
    lines = [shape for shape in fig.layout.shapes if shape.type == "line"]
    assert len(lines) == sum(value > 0 for value in bounds.values()) + (users is not None)
    everything = [*frame["users_needed"], *(v for v in bounds.values() if v > 0), *([users] if users else [])]
    low, high = 10 ** np.array(fig.layout.xaxis.range)
    assert low < min(everything)
    assert high > max(everything)


@pytest.mark.crossed
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("n", [2, 16, 512])
def test_query_errors_and_simulated_answers_build(maker, n):
    workload, counts = maker(n), np.arange(n) + 1
    made = {name: mechanisms.create(name, n, 1.0) for name in NAMES[:2]}
    fig = charts.query_errors(frames.query_errors(list(made.values()), workload, counts, labels(n)))
    assert size(fig) < LIMIT
    assert [trace.line.color for trace in fig.data] == [colour(name) for name in made]
    runs = {name: simulate.collect(m, workload, counts, 2, estimators=["unbiased"]) for name, m in made.items()}
    fig = charts.answers(trial_frames.simulated_answers(runs, workload, labels(n)))
    assert size(fig) < LIMIT
    assert len(fig.data) == 1 + len(made)
    assert fig.data[0].y[-1] == pytest.approx(100 * workload.answers(counts)[-1] / counts.sum())


@pytest.mark.parametrize("trials", [1, 4])
def test_simulated_errors_build(ready, trials):
    workload = workloads.prefix(16)
    runs = {
        name: simulate.collect(mechanism, workload, np.full(16, 9), trials, estimators=SUITABLE)
        for name, mechanism in ready.items()
    }
    frame = trial_frames.simulated_errors(runs, ready, workload)
    fig = charts.errors(frame)
    assert size(fig) < LIMIT
    observed, predicted = fig.data
    assert len(set(observed.text)) == len(frame) == len(NAMES) * len(SUITABLE)
    assert np.array_equal(predicted.x, 100 * frame["predicted"], equal_nan=True)


# --- one look -----------------------------------------------------------------------------------------------------


def test_every_style_is_one_of_its_own():
    styles = [spec.style for spec in library.REGISTRY.values()]
    assert len(set(styles)) == len(styles)
    assert UNKNOWN_STYLE not in styles
    for name, spec in library.REGISTRY.items():
        assert (colour(name), marker(name)) == spec.style
    assert (colour("something new"), marker("something new")) == UNKNOWN_STYLE


def test_every_marker_can_be_drawn_with_every_fill():
    variants = [
        library.variants.variant(library.spec(name), {"branching": branching}).name
        for name in ("hierarchical", "hierarchical_2d")
        for branching in range(2, 7)
    ]
    assert any(marker(name).endswith("-dot") for name in variants)
    dotless = library.variants.variant(library.spec("covering_sets"), {"oracle": "oue"}).name
    own = [shape for _, shape in library.table_strategies.LOOKS]
    for symbol in (*map(marker, [*library.names(), *variants, dotless]), *own, UNKNOWN_STYLE[1]):
        drawn = [filled(symbol, fill) for fill in FILLS]
        assert all(go.Scatter(marker={"symbol": one}).marker.symbol == one for one in (symbol, *drawn))
        assert len(set(drawn)) == (2 if symbol.startswith(DOTLESS) else 4)


@pytest.mark.parametrize("name", ["covering_sets", "hierarchical(branching=2)", "subset_selection"])
def test_estimates_are_told_apart_where_no_line_joins_their_markers(name):
    estimates = ["unbiased", "wnnls", "wnnls_total", "norm_sub"]
    frame = pd.DataFrame({"mechanism": name, "estimator": estimates, "group": 0, "label": "a", "queries": 1})
    frame = frame.assign(observed=0.1, standard_error=0.01, predicted=np.nan)
    drawn = [trace.marker for trace in charts.group_errors(frame, "attributes").data if trace.marker.symbol]
    assert len({(one.symbol, one.angle) for one in drawn}) == len(estimates)


def test_colours_do_not_depend_on_company_or_order(ready):
    workload, counts = workloads.prefix(16), np.full(16, 50)
    seen = {}
    for chosen in (NAMES, NAMES[::-1], NAMES[2:]):
        fig = charts.query_errors(frames.query_errors([ready[n] for n in chosen], workload, counts, labels(16)))
        for trace in fig.data:
            seen.setdefault(trace.name, set()).add((trace.line.color, trace.marker.symbol))
    assert {name: len(looks) for name, looks in seen.items()} == {title(name): 1 for name in NAMES}


def test_light_and_dark():
    colours = [charts.marginal(attribute("a", "b"), np.ones(2), look).layout.font.color for look in LOOKS]
    assert colours[0] != colours[1]
    transparent = charts.marginal(attribute("a", "b"), np.ones(2)).layout
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


@pytest.mark.parametrize(("low", "high", "seen"), [(1.43, 100, [1, 10, 100]), (305, 3e6, [10_000, 1_000_000])])
def test_few_ticks_on_a_wide_log_axis_are_powers_of_ten(low, high, seen):
    axis = log_axis(low, high, 1.8, most=3)
    start, end = axis["range"]
    ticks = [tick for tick in axis["tickvals"] if start <= np.log10(tick) <= end]
    assert ticks == seen


@pytest.mark.parametrize("span", [0.71, 0.9, 1.2, 1.5, 1.79])
def test_few_ticks_on_a_log_axis_leave_no_part_of_it_without(span):
    for low in np.geomspace(0.02, 20, 200):
        axis = log_axis(low, low * 10**span, 1.0, most=3)
        start, end = axis["range"]
        seen = [start, *(np.log10(tick) for tick in axis["tickvals"] if start <= np.log10(tick) <= end), end]
        assert 4 <= len(seen) <= 5
        assert np.diff(seen).max() <= 1 + 1e-9  # never a decade or more without a number


def test_labels_are_cut_to_fit():
    assert short("a" * 18) == "a" * 18
    assert short("a" * 19) == "a" * 17 + "…"


def test_labels_are_text_and_never_markup():
    fig = charts.marginal(attribute("<b>bold</b>", "R&amp;D"), np.array([3, 4]))
    assert fig.layout.xaxis.ticktext == ("&lt;b&gt;bold&lt;/b&gt;", "R&amp;amp;D")
    assert fig.data[0].hovertext[0].startswith("age &lt;b&gt;bold&lt;/b&gt;: 3 people")


def test_compared_designs_show_cost_and_proof():
    frame = pd.DataFrame(
        {
            "design": [
                "epsilon <b>1</b>",
                "epsilon 2",
                "a name of other questions that takes more than a line of the chart",
            ],
            "mechanism": ["haar", "haar", "optimized"],
            "users_needed": [4000.0, 1000.0, 10.0],
            "users_bound": [900.0, np.nan, 9.0],
            "alike": [True, True, False],
        }
    )
    fig = charts.side_by_side(frame)
    dots = {x: s for trace in fig.data if trace.text for x, s in zip(trace.x, trace.marker.symbol, strict=True)}
    assert sorted(dots) == [10, 1000, 4000]
    assert [x for x, symbol in dots.items() if symbol.endswith("-open")] == [10]
    (proved,) = [trace for trace in fig.data if trace.name == "proved minimum"]
    assert list(proved.x) == [900, 9]
    names = [words.text for words in fig.layout.annotations if words.name == "row"]
    assert names[0] == "epsilon &lt;b&gt;1&lt;/b&gt;"
    assert names[2].endswith("…")
    low, high = fig.layout.xaxis.range
    assert 10**low < 9
    assert 10**high > 4000
