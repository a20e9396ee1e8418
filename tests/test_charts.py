"""Figures build for every size, stay small, and keep one colour per mechanism."""

import numpy as np
import pandas as pd
import pytest

from ldp_core import beliefs, charts
from ldp_core.charts.theme import PIXELS, log_axis
from ldp_core.data.domain import NumericAttribute
from ldp_core.pictures import binned
from ldp_core.studies import curves

NAMES = ["randomized_response", "subset_selection", "hadamard", "hierarchical"]


def heat(fig):
    (trace,) = (trace for trace in fig.data if trace.type == "heatmap")
    return np.asarray(trace.z)


# --- inputs -------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(("low", "high"), [(1, 1e7), (1207, 1237), (0.031, 0.033), (5.0, 5.0)])
def test_log_axes_have_plain_ticks_at_any_range(low, high):
    axis = log_axis(low, high, 1.06)
    left, right = (10**end for end in axis["range"])
    seen = [tick for tick in axis["tickvals"] if left <= tick <= right]
    assert 3 <= len(seen) <= 40
    assert [float(text.replace(",", "")) for text in axis["ticktext"]] == pytest.approx(axis["tickvals"])


# --- design -------------------------------------------------------------------------------------------------------


def test_bands_are_the_rows_as_high_as_they_are_common():
    high = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=bool)
    weights = np.array([0.1, 0.2, 0.3, 0.05])
    Q = weights[:, None] * np.where(high, np.e, 1.0)
    Q /= Q.sum(axis=0)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    fig = charts.patterns(Q, list("abcd"), prior=prior)
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


def test_what_mechanisms_need_and_what_is_proved_lie_inside_the_axis():
    frame = pd.DataFrame({"name": NAMES, "users_needed": [9000.0, 0.002, 700.0, 650.0]})
    fig = charts.users_needed(frame, 120.0, 5000)
    (dots,) = fig.data
    assert sorted(dots.x) == [1, 650, 700, 9000]  # nobody needs a part of a person
    assert len([shape for shape in fig.layout.shapes if shape.type == "line"]) == 2
    assert not charts.users_needed(frame, 0.0, None).layout.shapes  # a bound of 0 says nothing
    low, high = 10 ** np.array(fig.layout.xaxis.range)
    assert low < 1 < 9000 < high
    history = pd.DataFrame({"seconds": [0.0, 2.0], "users_needed": [900.0, 300.0]})
    proved = pd.DataFrame({"seconds": [0.0, 0.3], "users_needed": [150.0, 200.0]})
    fig = charts.closing_gap(history, proved, "optimized")
    low, high = 10 ** np.array(fig.layout.yaxis.range)
    assert low < 150 < 900 < high
    assert all(max(trace.x) == 2.0 for trace in fig.data)  # what was found last still holds at the end


# --- one look -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("span", [0.71, 0.9, 1.2, 1.5, 1.79])
def test_few_ticks_on_a_log_axis_leave_no_part_of_it_without(span):
    for low in np.geomspace(0.02, 20, 200):
        axis = log_axis(low, low * 10**span, 1.0, most=3)
        start, end = axis["range"]
        seen = [start, *(np.log10(tick) for tick in axis["tickvals"] if start <= np.log10(tick) <= end), end]
        assert 4 <= len(seen) <= 5
        assert np.diff(seen).max() <= 1 + 1e-9  # never a decade or more without a number


# --- simulated collections ----------------------------------------------------------------------------------------


def _few():
    frame = pd.DataFrame(
        {
            "line": [1, 2, 3, 3],
            "question": ["Average of pay", "Average of pay, new minus old", "Pay in arms", "Pay in arms"],
            "name": [
                "average of pay",
                "average of pay, new minus old",
                "average of <i>pay</i> in old",
                "average of pay in new",
            ],
            "group": ["", "", "<i>old</i>", "new"],
            "unit": ["pay", "difference of pay", "pay", "pay"],
            "answer": [31.0, -2.0, np.nan, 30.0],
            "verdict": ["usable", "rough", "noise", "noise"],
        }
    )
    return frame.assign(low=frame["answer"] - 3, high=frame["answer"] + 4, true=frame["answer"] + 1)


def test_a_result_has_a_question_a_panel_bars_for_many_answers_and_rows_for_few():
    many = pd.DataFrame(
        {"line": 0, "question": "Score", "name": [f"score <b>{i}</b> in {g}" for g in "ab" for i in range(8)]}
    )
    many = many.assign(
        group=[*"aaaaaaaabbbbbbbb"], unit="points", answer=10.0, low=7.0, high=14.0, true=11.0, verdict="usable"
    )
    fig = charts.result(pd.concat([many, _few()], ignore_index=True))
    notes = list(fig.layout.annotations)
    heads = [place for place, words in enumerate(notes) if words.font.weight == "bold"]
    assert [notes[place].text for place in heads] == [
        "Score",
        "Average of pay",
        "Average of pay, new minus old",
        "Pay in arms",
    ]
    assert "-2 (95 %: -5 to +2), ≈ rough" in notes[heads[2] + 1].text.replace("\N{NO-BREAK SPACE}", " ")
    bars, average, difference, arms = (trace for trace in fig.data if trace.type == "bar")
    assert (list(bars.y), list(bars.error_y.array), list(bars.error_y.arrayminus)) == ([10] * 16, [4] * 16, [3] * 16)
    assert bars.x[8] - bars.x[7] > 1  # groups stand apart, and say who they are
    assert [text.split("<br>")[0] for text in (*fig.layout.xaxis.ticktext, fig.layout.yaxis.ticktext[0])] == [
        *"ab",
        "0\N{NO-BREAK SPACE}%",
    ]
    assert not any("<b>" in str(words) for words in bars.customdata.ravel())  # labels of the user's are no markup
    named = charts.result(many[:8].assign(group="")).layout.annotations[2].text  # below each other: they are long
    assert named == "&lt;b&gt;0&lt;/b&gt;"  # without the words that all begin or end with
    assert len({*bars.marker.color}) == len({*arms.marker.color}) == 2
    assert (list(average.base), list(average.x), list(difference.base)) == ([28], [7], [-5])
    assert [shape.x0 for shape in fig.layout.shapes] == [0]  # no difference at all
    assert fig.layout.shapes[0].xref == "x3"
    marks = [trace for trace in fig.data if trace.type == "scatter"]
    assert [list(trace.x) for trace in marks[1:5]] == [[31], [32], [-2], [-1]]  # the answer and the truth
    named = {words.text for words in fig.layout.annotations}
    assert {"&lt;i&gt;old&lt;/i&gt;", "new", "unknown", "30"} <= named
    assert fig.layout.xaxis2.range == fig.layout.xaxis4.range, "rows of one unit have one scale"
    assert fig.layout.xaxis3.range[0] < -5
    assert fig.layout.xaxis3.range[1] > 2
    missed = charts.result(_few().assign(answer=1.0, low=0.0, high=2.0, true=9.0)).layout.xaxis.range
    assert missed[0] < 0 < 9 <= missed[1]  # the truth is seen where an interval misses it


def test_a_promise_reaches_two_standard_errors_and_what_bins_add_to_each_side_of_what_is_planned():
    told = pd.DataFrame({"line": [0, 1], "value": [40.0, np.nan], "standard_error": [2.0, 1.0], "bins": [0.0, 0.5]})
    line = {
        "question": "a",
        "answers": 1,
        "unit": "points",
        "users": 9,
        "value": 40.0,
        "standard_error": 2.0,
        "bins": 0.0,
        "finds": np.nan,
    }
    line |= {"usable": 1, "judged": 1, "verdict": "usable", "alone": np.nan, "at_best": False}
    promised = charts.promised(told, pd.DataFrame([line, line]))
    assert promised["answer"].tolist()[:1] == [40.0]
    assert promised["low"].tolist() == pytest.approx([40 - 1.96 * 2, -2.46])
    assert promised["high"].tolist() == pytest.approx([40 + 1.96 * 2, 2.46])
    assert promised["said"][0].replace("\N{NO-BREAK SPACE}", " ") == "now 40 %; with 9 people ± 2 points (✓ usable)"


def test_marks_of_beliefs_stand_on_their_lines_and_say_their_numbers():
    frame = beliefs.over_epsilon(0.5, None, 25, np.union1d(curves.epsilons(1.0), 1.0))
    fig = charts.beliefs(frame, 1.0, 0.5, "subset_selection", single=0.6, guess=0.08)
    marks = {trace.text[0]: trace.y[0] for trace in fig.data if trace.text}
    assert marks["73"] == pytest.approx(100 * beliefs.strongest(0.5, 1.0))
    assert marks["60"] == pytest.approx(60)
    assert fig.data[0].y == pytest.approx(100 * frame["belief"])
    assert {"strongest belief", "best guess", "prior"} <= {note.text for note in fig.layout.annotations}
    assert len(charts.beliefs(frame, 1.0, 0.5, "gaussian").data) == 4  # nothing known of the mechanism


def test_a_pattern_marks_the_likelier_value_within_the_group_that_sends_a_report():
    of_group, never = np.array([[0.7, 0.3], [0.3, 0.7]]), np.zeros((2, 2))
    fig = charts.patterns(np.block([[of_group, never], [never, of_group]]), list("abcd"))
    assert sorted(map(tuple, fig.data[0].z)) == sorted(map(tuple, np.eye(4)))
