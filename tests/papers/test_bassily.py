"""Panels of Bassily 2019: errors against the bounds drawn with them, and what remarks say."""

import math

import pytest

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
        below = (
            d**2 * few_users.noise_of(algorithm, 1, 1.0, 1e-6) / (16 * math.log(n))
        )  # fewer users: the paper projects
        assert f"{below:,.0f}" in PANELS[key].remark
