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


def test_the_region_below_the_strongest_bound_is_shaded_and_named(sizes):
    fig = charts.over_size(sizes, None)
    assert trace(fig, "certificate").fill == "tozeroy"
    assert {t.name for t in fig.data if t.fill} == {"certificate"}
    assert trace(fig, "centred_svd").mode == "lines"
    assert IMPOSSIBLE in words(fig)
    closed = charts.over_size(sizes[sizes["name"] != "certificate"], None)
    assert {t.name for t in closed.data if t.fill} == {"centred SVD bound"}
    own = charts.over_size(sizes[sizes["name"].isin(NAMES)], None)
    assert IMPOSSIBLE not in words(own)


def test_few_lines_are_named_at_their_ends_and_many_in_a_legend(sizes):
    few = charts.over_size(sizes[sizes["name"].isin([*NAMES, "certificate"])], None)
    assert not few.layout.showlegend
    labels = [a for a in few.layout.annotations if a.text.replace("<br>", " ") != IMPOSSIBLE]
    assert {a.text.replace("<br>", " ") for a in labels} == {title(name) for name in [*NAMES, "certificate"]}
    height = np.diff(few.layout.yaxis.range)[0]
    assert np.diff(sorted(a.y for a in labels)).min() >= lines.LABEL_HEIGHT * height * (1 - 1e-9)
    assert charts.over_size(sizes, None).layout.showlegend


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


def test_charts_build_at_every_stage(sizes, errors):
    for points in range(4):
        charts.over_size(sizes[:points], 8).to_json()
        charts.trade_off(errors[:points], "epsilon").to_json()
