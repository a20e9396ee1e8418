"""Panels of Bassily 2019: errors against the bounds drawn with them, the numbers of Table 1, and what remarks say."""

import math

import numpy as np
import pytest

from ldp_core import mechanisms, workloads
from ldp_core.bounds.theorems import few_users
from ldp_core.papers import bassily

PANELS = {panel.key.removeprefix("bassily-"): panel for panel in bassily.PAPER.panels}


@pytest.fixture(scope="module")
def frames():
    return {key: panel.frame() for key, panel in PANELS.items()}


def line(frame, series):
    """(found, standard errors) of a series by x."""
    rows = frame[frame.series == series].set_index("x")
    return rows.here, rows.standard_error


BOUNDED = {
    "theorem-3-2": {
        "Projected": ("Theorem 3.2, projected", "Projected, corrected proof"),
        "Not projected": ("Theorem 3.2, not projected",),
    },
    "theorem-3-4": {
        "Projected": ("Theorem 3.4, projected",),
        "Not projected": ("Theorem 3.4, not projected",),
    },
    "theorem-4-2": {
        "Projected, even": ("Theorem 4.2, projected", "Projected, better constants"),
        "Projected, Zipf": ("Projected, better constants",),
        "Projected, all of one type": ("Projected, better constants",),
    },
    "theorem-5-2": {"Largest error": ("Theorem 5.2", "Equation (20)")},
}


@pytest.mark.parametrize("key", BOUNDED)
def test_errors_lie_below_the_bounds(frames, key):
    assert frames[key].printed.isna().all()
    for found, lines in BOUNDED[key].items():
        errors, deviations = line(frames[key], found)
        assert list(errors.index) == list(bassily.USERS)
        for name in lines:
            bounds, none = line(frames[key], name)
            assert none.isna().all()
            assert len(bounds) >= 5
            assert ((errors - 3 * deviations)[bounds.index] < bounds).all()


def test_stored_bounds_are_those_of_the_theorems(frames):
    for users in bassily.USERS:
        if users >= few_users.LEAST_USERS:
            bound = few_users.bound("rejection", 64, 32, users, 1.0, 8.0)
            assert line(frames["theorem-3-4"], "Theorem 3.4, projected")[0][users] == pytest.approx(bound.projected)
            assert line(frames["theorem-3-4"], "Theorem 3.4, not projected")[0][users] == pytest.approx(
                bound.unprojected
            )
        paper, sharp = (few_users.bound("histogram", 1024, 1024, users, 1.0, form=form) for form in few_users.FORMS)
        assert line(frames["theorem-4-2"], "Theorem 4.2, projected")[0][users] == pytest.approx(paper.projected)
        assert line(frames["theorem-4-2"], "Projected, better constants")[0][users] == pytest.approx(sharp.projected)
    assert 100 not in line(frames["theorem-3-4"], "Theorem 3.4, projected")[0].index


def test_stored_errors_are_those_of_the_mechanisms(frames):
    """Anew, of other people: 10,000 by rejection sampling, and 100,000 by Hadamard response."""
    rng, signs = np.random.default_rng(7), bassily.signs()
    rejection = mechanisms.create("rejection_gaussian", workload=signs, epsilon=1.0)
    hadamard = mechanisms.create("projected_hadamard", n=1024, epsilon=1.0)
    again = (
        ("theorem-3-4", 10_000, (rejection, signs), {"unbiased": "Not projected", "polytope": "Projected"}),
        ("theorem-4-2", 100_000, (hadamard, workloads.histogram(1024)), {"norm_sub": "Projected, even"}),
    )
    for key, users, (mechanism, workload), titles in again:
        even = np.full(mechanism.n, 1 / mechanism.n)
        found = bassily.population_errors(mechanism, workload, even, users, 20, rng, tuple(titles))
        for name, title in titles.items():
            here, deviation = (column[users] for column in line(frames[key], title))
            assert abs(found[name].mean() - here) < 4.5 * math.sqrt(2) * deviation


def test_numbers_of_the_notes_and_remarks(frames):
    """Simulated before, over 30 runs: projected at 1,000 users and not at 10^5; distributions; 20 adaptive queries."""
    assert line(frames["theorem-3-2"], "Projected")[0][1000] == pytest.approx(3.33, rel=0.15)
    assert line(frames["theorem-3-2"], "Not projected")[0][100_000] == pytest.approx(0.742, rel=0.1)
    assert line(frames["theorem-3-2"], "Theorem 3.2, projected")[0][1000] == pytest.approx(9.01, abs=0.005)
    assert line(frames["theorem-3-2"], "Theorem 3.2, not projected")[0][100_000] == pytest.approx(1.090, abs=5e-4)
    for name, expected in (("all of one type", 0.017), ("even", 0.077), ("Zipf", 0.073)):
        assert line(frames["theorem-4-2"], f"Projected, {name}")[0][100_000] == pytest.approx(expected, abs=0.005)
    errors, _ = line(frames["theorem-4-2"], "Not projected")
    bounds, _ = line(frames["theorem-4-2"], "Not projected, better constants")
    assert (errors / bounds).between(0.98, 1.02).all()  # all but attained
    for key, projected, users, gain in (
        ("theorem-3-2", "Projected", 10_000, 0.28),
        ("theorem-4-2", "Projected, even", 1_000_000, 0.38),
    ):
        plain = line(frames[key], "Not projected")[0][users]
        assert 1 - line(frames[key], projected)[0][users] / plain == pytest.approx(gain, abs=0.005)
    for key, algorithm, d, n in (("theorem-3-2", "gaussian", 64, 32), ("theorem-4-2", "histogram", 1024, 1024)):
        below = few_users.project_below(d, n, few_users.noise_of(algorithm, 1, 1.0, 1e-6))
        assert f"{below:,.0f}" in PANELS[key].remark


def test_bounds_for_adaptive_queries_are_drawn_where_they_say_something(frames):
    frame = frames["theorem-5-2"]
    assert frame[frame.standard_error.isna() & (frame.series != "Answering 0")].here.max() < 1
    says = [n for n in bassily.USERS if n >= 160 * math.log(n) and few_users.adaptive(20, n, 1.0) < 1]
    assert list(line(frame, "Theorem 5.2")[0].index) == says
    assert line(frame, "Largest error")[0][10_000] == pytest.approx(0.143 * math.sqrt(2), rel=0.15)


def test_table_1(frames):
    """Orders by hand at 2,000 and 200,000 users, and the theorems."""

    def offline(n):
        before = math.sqrt(256 / n)
        theorem = few_users.bound("rejection", 256, 32, n, 1.0, 16.0).value / 16
        return theorem, min((math.log(32) * math.log(n) / n) ** 0.25, before), before, min(n**-0.25, before)

    def distribution(n):
        before = math.sqrt(1024 / n)
        theorem = few_users.bound("histogram", 1024, 1024, n, 1.0).value
        return theorem, min((math.log(1024) / n) ** 0.25, before), before, min(n**-0.25, before)

    def adaptive(n):
        order = math.sqrt(20 * math.log(20) / n) / math.tanh(0.5)
        return few_users.adaptive(20, n, 1.0), order, None, order

    frame = frames["table-1"]
    by_hand = {"Offline queries": offline, "Distribution": distribution, "Adaptive queries": adaptive}
    for problem, figures in by_hand.items():
        for users in (2000, 200_000):
            rows = frame[frame.x == f"{problem}, {users:,} users"].set_index("series").here
            theorem, upper, before, lower = figures(users)
            assert rows["This work, theorem"] == pytest.approx(theorem)
            assert rows["This work, order"] == pytest.approx(upper)
            assert rows["Lower bound, order"] == pytest.approx(lower)
            assert rows.get("Before, order") == (before and pytest.approx(before))
            assert rows["Found here"] < rows["This work, theorem"] <= 1
    few = frame[frame.x.str.endswith(", 2,000 users")].set_index("series").here
    assert (few["This work, theorem"] == 1).all()
    assert (few["Found here"].min(), few["Found here"].max()) == pytest.approx((0.19, 0.44), abs=0.005)
