"""The picture of a panel: a line per series, printed numbers hollow beside it, errors drawn, names in their order."""

import math

import numpy as np

from ldp_core import charts
from ldp_core.papers import frame_of

NAN = math.nan
FRAME = frame_of(
    [
        ("hadamard", 1.0, 100.0, NAN, 120.0),
        ("hadamard", 2.0, 10.0, NAN, NAN),
        ("my <b>own</b>", 1.0, 50.0, 5.0, NAN),
        ("my <b>own</b>", 2.0, 5.0, 0.5, 4.0),
        ("svd", 1.0, 3.0, NAN, NAN),
        ("svd", 2.0, 2.0, NAN, NAN),
    ]
)


def trace(fig, name):
    return next(trace for trace in fig.data if trace.name == name)


def test_series_printed_numbers_and_errors():
    fig = charts.panel(FRAME, "epsilon", "users")
    assert [t.name for t in fig.data] == [
        "Hadamard response",
        "Hadamard response, printed",
        "my &lt;b&gt;own&lt;/b&gt;",
        "my &lt;b&gt;own&lt;/b&gt;, printed",
        "SVD bound",
        "printed",
    ]
    ours, printed = fig.data[0], fig.data[1]
    assert list(ours.y) == [100, 10]
    assert ours.line.color == charts.colour("hadamard") == printed.marker.color
    assert printed.marker.symbol == f"{ours.marker.symbol}-open"
    assert (list(printed.x), list(printed.y), list(printed.customdata)) == ([1], [120], ["1.2"])
    assert ours.error_y.array is None
    assert list(fig.data[2].error_y.array) == [5, 0.5]
    assert trace(fig, "SVD bound").mode == "lines"
    assert fig.layout.showlegend
    assert (fig.layout.xaxis.type, fig.layout.yaxis.type) == (None, "log")
    low, high = 10 ** np.array(fig.layout.yaxis.range)
    assert low < 2
    assert high > 120
