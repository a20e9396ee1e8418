"""Curves: a region, a line for each mechanism, marks where only some places were computed, and words that stand apart."""

import numpy as np
import pandas as pd

from ldp_core import charts
from ldp_core.charts.theme import LIMITS, title

AT = np.array([0.25, 0.5, 1.0, 2.0])
LINES = pd.concat(
    pd.DataFrame({"name": name, "epsilon": AT, "users_needed": users / AT**2})
    for name, users in (("centred_svd", 900.0), ("subset_selection", 3000.0), ("optimized", 1000.0))
)


def words(fig):
    return {note.text: note for note in fig.layout.annotations}


def drawn(fig):
    return {trace.name: trace for trace in fig.data}


def shade(fig):
    (region,) = [trace for trace in fig.data if trace.fill]
    return region


def test_bounds_shade_mechanisms_are_lines_and_fits_are_marks():
    fig = charts.users_over_epsilon(LINES, 1.0, 2000, ["optimized"])
    lines = drawn(fig)
    assert list(shade(fig).y) == list(lines[LIMITS["centred_svd"]].y) == list(900.0 / AT**2)
    assert lines[title("subset_selection")].mode == "lines"
    assert lines[title("optimized")].mode == "lines+markers"
    assert list(lines[title("optimized")].y) == list(1000.0 / AT**2)
    assert {"your 2,000 people", "your epsilon", "impossible", title("optimized")} <= set(words(fig))


def test_the_edge_is_drawn_where_it_is_proved_dotted_between_without_a_step_or_a_sag():
    """From the first proof to the last the closed form, which sags between them, is not drawn; beyond them it goes on."""
    proved = pd.DataFrame({"name": "certificate", "epsilon": [0.5, 2.0], "users_needed": [950 / 0.25, 950 / 4]})
    fig = charts.users_over_epsilon(pd.concat([LINES, proved]), 1.0, 2000, ["optimized"])
    line, region = drawn(fig)[LIMITS["certificate"]], shade(fig)
    assert (list(line.x), list(line.y), line.line.dash) == ([0.5, 2.0], [3800.0, 237.5], "dot")
    assert line.mode == "lines+markers"
    assert (list(region.x), list(region.y)) == ([0.25, 0.5, 2.0], [14400.0, 3800.0, 237.5])
    closed = drawn(fig)[LIMITS["centred_svd"]]
    assert [x for x, y in zip(closed.x, closed.y, strict=True) if y == y] == [0.25]
    one = charts.users_over_epsilon(pd.concat([LINES, proved[:1]]), 1.0, 2000, ["optimized"])
    assert list(shade(one).x) == list(AT)  # a single proof is a mark
    assert list(drawn(one)[LIMITS["certificate"]].x) == [0.5]
