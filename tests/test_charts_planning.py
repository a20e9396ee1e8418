"""Charts of sweeps over sizes and of trade-offs: what is drawn, where, and in whose colour."""

import numpy as np
import pytest

from ldp_core import charts, workloads
from ldp_core.charts import lines
from ldp_core.charts.theme import colour, title
from ldp_core.studies import planning, sweep

IMPOSSIBLE = charts.theme.IMPOSSIBLE.replace("<br>", " ")
NAMES = ["haar", "subset_selection", "hadamard"]
WORKLOAD = workloads.prefix(8)


@pytest.fixture(scope="module")
def sizes():
    return sweep.sizes(NAMES, WORKLOAD, 1.0, (8, 16, 32)).points


@pytest.fixture(scope="module")
def errors():
    points = sweep.epsilons(NAMES, WORKLOAD, (0.5, 1.0, 4.0)).points
    return planning.errors_over_epsilon(points, WORKLOAD, 1000)


def trace(fig, name):
    (found,) = [t for t in fig.data if t.name == title(name)]
    return found


def words(fig):
    return [annotation.text.replace("<br>", " ") for annotation in fig.layout.annotations]


def test_over_size_draws_every_point_on_log_axes(sizes):
    fig = charts.over_size(sizes, 16)
    assert (fig.layout.xaxis.type, fig.layout.yaxis.type) == ("log", "log")
    for name in NAMES:
        rows = sizes[sizes["name"] == name]
        drawn = trace(fig, name)
        assert list(drawn.x) == [8, 16, 32]
        assert list(drawn.y) == rows["users_needed"].tolist()
        assert drawn.line.color == colour(name)
        assert drawn.mode == "lines+markers"
    assert list(fig.layout.xaxis.ticktext) == ["8", "16", "32"]
    assert fig.layout.shapes[0].x0 == 16


def test_bounds_over_size_are_marks_because_nothing_is_proved_in_between(sizes):
    fig = charts.over_size(sizes, None)
    assert not [t.name for t in fig.data if t.fill]
    assert {trace(fig, name).mode for name in ("certificate", "centred_svd")} == {"markers"}
    assert lines.BELOW_MARKS.replace("<br>", " ") in words(fig)
    own = charts.over_size(sizes[sizes["name"].isin(NAMES)], None)
    assert not own.data[0].fill
    assert lines.BELOW_MARKS.replace("<br>", " ") not in words(own)


def drawn_at(trace, x):
    """The height of a line of steps: up or down at a point, then level to the next one."""
    assert trace.line.shape == "vh"
    return np.array(trace.y)[np.searchsorted(trace.x, x)]


def test_no_bound_over_epsilon_claims_more_than_is_proved_at_the_next_larger_epsilon(errors):
    coarse = [0.5, 1.0, 3.0]
    swept = sweep.epsilons([], WORKLOAD, coarse).points
    for fig in (charts.over_epsilon(swept, 1.0), charts.trade_off(errors, "epsilon", 0.03)):
        for name in {t.name for t in fig.data} & {title("svd"), title("centred_svd"), title("certificate")}:
            (line,) = [t for t in fig.data if t.name == name]
            for x in np.linspace(line.x[0], line.x[-1], 37):
                proved = [y for at, y in zip(line.x, line.y, strict=True) if at >= x]
                assert drawn_at(line, x) <= max(proved)
        assert sum(t.fill == "tozeroy" for t in fig.data) == 1


def test_trade_off_over_epsilon_is_in_percentage_points(errors):
    fig = charts.trade_off(errors, "epsilon", 0.03, charts.DARK)
    drawn = trace(fig, "haar")
    assert list(drawn.x) == [0.5, 1.0, 4.0]
    expected = planning.plan(WORKLOAD, ["haar"], epsilon=1.0, users=1000)["standard_error"].iloc[0]
    assert drawn.y[1] == pytest.approx(100 * expected)
    assert fig.layout.shapes[0].y0 == pytest.approx(3)
    assert "pp" in fig.layout.yaxis.title.text
    # The SVD bound says nothing at epsilon 4: a point at zero has no place on a log axis.
    assert list(trace(fig, "svd").x) == [0.5, 1.0]


def test_trade_off_over_users(errors):
    plan = planning.plan(WORKLOAD, NAMES, epsilon=1.0, users=1000)
    fig = charts.trade_off(planning.errors_over_users(plan, [100, 10_000]), "users")
    drawn = trace(fig, "haar")
    assert drawn.y[0] / drawn.y[1] == pytest.approx(10)
    with pytest.raises(ValueError, match="over epsilon or users"):
        charts.trade_off(errors, "alpha")
