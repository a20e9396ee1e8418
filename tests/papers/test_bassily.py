"""Panels of Bassily 2019: errors against the bounds drawn with them, the numbers of Table 1, and what remarks say."""

import math

import numpy as np
import pytest

from ldp_core import mechanisms
from ldp_core.bounds import few_users
from ldp_core.papers import bassily, stored
from ldp_core.papers.panel import COLUMNS

PANELS = {panel.key.removeprefix("bassily-"): panel for panel in bassily.PAPER.panels}
QUICK = ("theorem-3-2", "theorem-5-2", "table-1")
STORED = ("theorem-3-4", "theorem-4-2")


@pytest.fixture(scope="module")
def frames():
    """Those that are quick worked out, the others as stored."""
    return {**{key: PANELS[key].compute(None, None) for key in QUICK}, **{key: PANELS[key].stored() for key in STORED}}


def line(frame, series):
    """(found, standard errors) of a series by x."""
    rows = frame[frame.series == series].set_index("x")
    return rows.here, rows.standard_error


def test_there_is_a_panel_for_every_theorem_about_errors_and_the_table(frames):
    assert set(PANELS) == {*QUICK, *STORED}
    for key, panel in PANELS.items():
        assert tuple(frames[key].columns) == COLUMNS
        assert frames[key].printed.isna().all()
        assert (panel.stored is not None) == (key in STORED)
    assert [place for place, _ in bassily.PAPER.absent] == ["Figures"]


@pytest.mark.parametrize(
    ("key", "found", "bound"),
    [
        ("theorem-3-2", "Projected", "Theorem 3.2, projected"),
        ("theorem-3-2", "Not projected", "Theorem 3.2, not projected"),
        ("theorem-3-2", "Projected", "Projected, corrected proof"),
        ("theorem-3-4", "Projected", "Theorem 3.4, projected"),
        ("theorem-3-4", "Not projected", "Theorem 3.4, not projected"),
        ("theorem-4-2", "Projected, even", "Theorem 4.2, projected"),
        ("theorem-4-2", "Projected, Zipf", "Projected, better constants"),
        ("theorem-4-2", "Projected, all of one type", "Projected, better constants"),
        ("theorem-4-2", "Projected, even", "Projected, better constants"),
        ("theorem-5-2", "Largest error", "Theorem 5.2"),
        ("theorem-5-2", "Largest error", "Equation (20)"),
    ],
)
def test_errors_lie_below_the_bounds(frames, key, found, bound):
    errors, deviations = line(frames[key], found)
    bounds, none = line(frames[key], bound)
    assert none.isna().all()
    assert len(bounds) >= 5
    assert ((errors - 3 * deviations)[bounds.index] < bounds).all()
    assert list(errors.index) == list(bassily.USERS)


def test_without_the_projection_the_better_constant_is_all_but_attained(frames):
    """Hadamard response has nearly that variance in every coordinate, for all people."""
    errors, deviations = line(frames["theorem-4-2"], "Not projected")
    bounds, _ = line(frames["theorem-4-2"], "Not projected, better constants")
    assert (errors / bounds).between(0.98, 1.02).all()
    assert (deviations < 0.01 * errors).all()


def test_numbers_of_the_notes(frames):
    """Simulated before, over 30 runs: projected at 1,000 users and not at 10^5; distributions; 20 adaptive queries."""
    assert line(frames["theorem-3-2"], "Projected")[0][1000] == pytest.approx(3.33, rel=0.15)
    assert line(frames["theorem-3-2"], "Not projected")[0][100_000] == pytest.approx(0.742, rel=0.1)
    assert line(frames["theorem-3-2"], "Theorem 3.2, projected")[0][1000] == pytest.approx(9.01, abs=0.005)
    assert line(frames["theorem-3-2"], "Theorem 3.2, not projected")[0][100_000] == pytest.approx(1.090, abs=5e-4)
    for name, expected in (("all of one type", 0.017), ("even", 0.077), ("Zipf", 0.073)):
        assert line(frames["theorem-4-2"], f"Projected, {name}")[0][100_000] == pytest.approx(expected, abs=0.005)
    assert line(frames["theorem-4-2"], "Theorem 4.2, not projected")[0][100_000] == pytest.approx(0.438, abs=5e-4)


def test_what_the_remarks_say_of_projecting(frames):
    gains = {
        key: 1 - line(frames[key], projected)[0] / line(frames[key], "Not projected")[0]
        for key, projected in (("theorem-3-2", "Projected"), ("theorem-4-2", "Projected, even"))
    }
    assert gains["theorem-3-2"][10_000] == pytest.approx(0.28, abs=0.005)
    assert gains["theorem-4-2"][1_000_000] == pytest.approx(0.38, abs=0.005)
    assert "28 % at 10,000" in PANELS["theorem-3-2"].remark
    assert "gain 38 %" in PANELS["theorem-4-2"].remark
    assert f"{few_users.project_below('gaussian', 64, 32, 1.0, 1e-6):,.0f}" == "2,143"
    assert f"{few_users.project_below('histogram', 1024, 1024, 1.0):,.0f}" == "44,274"
    assert "2,143" in PANELS["theorem-3-2"].remark
    assert "44,274" in PANELS["theorem-4-2"].remark


def test_what_the_remarks_say_of_privacy():
    printed = bassily.offline("gaussian")
    exact = mechanisms.create("gaussian", workload=bassily.signs(), epsilon=1.0, delta=1e-6)
    assert printed.audit().delta == pytest.approx(5.7e-5, abs=5e-7)
    assert exact.noise.scale / printed.noise.scale == pytest.approx(1.27, abs=0.005)
    as_printed = mechanisms.create("rejection_gaussian", workload=bassily.signs(), epsilon=1.0, variant="paper")
    assert as_printed.audit().epsilon == math.inf
    assert bassily.offline("rejection_gaussian").audit().epsilon <= 1.0
    assert bassily.offline_lines("rejection_gaussian", 119) == {}


def test_bounds_for_adaptive_queries_are_drawn_where_they_say_something(frames):
    frame = frames["theorem-5-2"]
    lines = frame[frame.standard_error.isna() & (frame.series != "Answering 0")]
    assert lines.here.max() < 1
    theorem, _ = line(frame, "Theorem 5.2")
    users = np.array(bassily.USERS)
    assert list(theorem.index) == [
        n for n in users if n >= 160 * math.log(n) and few_users.adaptive(20, int(n), 1.0) < 1
    ]
    errors, _ = line(frame, "Largest error")
    assert errors[10_000] == pytest.approx(0.143 * math.sqrt(2), rel=0.15)


def test_table_1(frames):
    """Orders by hand at 2,000 and 200,000 users."""
    expected = {
        "Offline queries": lambda n: (
            min((math.log(32) * math.log(n) / n) ** 0.25, math.sqrt(256 / n)),
            math.sqrt(256 / n),
            min(n**-0.25, math.sqrt(256 / n)),
        ),
        "Distribution": lambda n: (
            min((math.log(1024) / n) ** 0.25, math.sqrt(1024 / n)),
            math.sqrt(1024 / n),
            min(n**-0.25, math.sqrt(1024 / n)),
        ),
        "Adaptive queries": lambda n: (math.sqrt(20 * math.log(20) / n) / math.tanh(0.5),) * 3,
    }
    frame = frames["table-1"]
    for problem, orders in expected.items():
        for users in (2000, 200_000):
            rows = frame[frame.x == f"{problem}, {users:,} users"].set_index("series").here
            upper, before, lower = orders(users)
            assert rows["This work, order"] == pytest.approx(upper)
            assert rows["Lower bound, order"] == pytest.approx(lower)
            assert rows.get("Before, order") == (None if problem == "Adaptive queries" else pytest.approx(before))
            assert rows["Found here"] < rows["This work, theorem"] <= 1
    few = frame[frame.x.str.endswith(", 2,000 users")].set_index("series").here
    assert (few["This work, theorem"] == 1).all()
    assert (few["Found here"].min(), few["Found here"].max()) == pytest.approx((0.19, 0.44), abs=0.005)


@pytest.mark.parametrize("key", [*QUICK, "theorem-3-4"])
def test_a_cancelled_panel_keeps_what_is_finished(frames, key):
    told = []
    part = PANELS[key].compute(told.append, lambda: len(told) == 2)
    assert part.x.nunique() == 2
    assert told[-1].max_rounds == frames[key].x.nunique()
    kept = frames[key].iloc[: len(part)]
    assert part.series.tolist() == kept.series.tolist()
    np.testing.assert_allclose(part.iloc[:, 2:].astype(float), kept.iloc[:, 2:].astype(float), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("key", STORED)
def test_stored_results_come_out_again(key):
    again, kept = PANELS[key].compute(None, None), stored.read(f"bassily-{key}")
    assert again.series.tolist() == kept.series.tolist()
    np.testing.assert_allclose(kept.iloc[:, 1:].astype(float), again.iloc[:, 1:].astype(float), rtol=1e-8)


def test_the_setting_of_theorem_4_2_opens_as_a_design():
    configuration = PANELS["theorem-4-2"].design()
    assert configuration.workload.build(configuration.domain).kind == "histogram"
    assert configuration.domain.size == 1024
    assert configuration.mechanism.name == "projected_hadamard"
