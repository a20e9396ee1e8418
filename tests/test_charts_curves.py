"""Curves: a region, a line for each mechanism, marks where only some places were computed, and words that stand apart."""

import numpy as np
import pandas as pd
import pytest

from ldp_core import charts, workloads
from ldp_core.charts.theme import BOUND_LINES, title
from ldp_core.studies import curves, planning, sweep

AT = np.array([0.25, 0.5, 1.0, 2.0])
LINES = pd.concat(
    pd.DataFrame({"name": name, "epsilon": AT, "users_needed": users / AT**2})
    for name, users in (("centred_svd", 900.0), ("subset_selection", 3000.0), ("optimized", 1000.0))
)
NAMES = ["haar", "subset_selection", "hadamard"]
WORKLOAD = workloads.prefix(8)


def words(fig):
    return {note.text: note for note in fig.layout.annotations}


def drawn(fig):
    return {trace.name: trace for trace in fig.data}


def test_bounds_shade_mechanisms_are_lines_and_fits_are_marks():
    fig = charts.users_over_epsilon(LINES, 1.0, 2000, ["optimized"], 950.0)
    lines = drawn(fig)
    assert [name for name, trace in lines.items() if trace.fill] == [title("centred_svd")]
    assert lines[title("subset_selection")].mode == "lines"
    assert lines[title("optimized")].mode == "lines+markers"
    assert list(lines[title("optimized")].y) == list(1000.0 / AT**2)
    assert list(lines["proved minimum"].y) == [950.0]
    assert {"your 2,000 people", "your epsilon", "impossible", title("optimized")} <= set(words(fig))


def test_no_bound_claims_more_than_is_proved_at_the_next_larger_epsilon():
    swept = sweep.epsilons([], WORKLOAD, [0.5, 1.0, 3.0]).points
    fig = charts.users_over_epsilon(swept, 1.0, points=set(swept["name"]))
    for line in (drawn(fig)[title(name)] for name in BOUND_LINES if title(name) in drawn(fig)):
        assert line.line.shape == "vh"
        for x in np.linspace(line.x[0], line.x[-1], 37):
            proved = [y for at, y in zip(line.x, line.y, strict=True) if at >= x]
            assert np.array(line.y)[np.searchsorted(line.x, x)] <= max(proved)
    assert sum(trace.fill == "tozeroy" for trace in fig.data) == 1


def test_errors_over_users_are_in_percentage_points():
    plan = planning.plan(WORKLOAD, NAMES, epsilon=1.0, users=1000)
    fig = charts.error_over_users(curves.errors_over_users(plan, [100, 1000, 10_000]), 0.03)
    haar = drawn(fig)[title("haar")]
    assert haar.y[1] == pytest.approx(100 * plan["standard_error"].iloc[0])
    assert haar.y[0] / haar.y[2] == pytest.approx(10)
    assert fig.layout.shapes[0].y0 == pytest.approx(3)
    assert "pp" in fig.layout.yaxis.title.text
    assert sum(trace.fill == "tozeroy" for trace in fig.data) == 1
