"""Panels of Cormode, Kulkarni and Srivastava 2019: what is measured, what is stored, and what their remarks say."""

import math

import numpy as np
import pytest

from ldp_core.papers import cormode
from ldp_core.papers.cormode import printed

PANELS = {panel.key.removeprefix("cormode-figure-"): panel for panel in cormode.PAPER.panels}


@pytest.fixture(scope="module")
def exact():
    """Frames of the panels that are exact and quick."""
    return {key: PANELS[key].frame() for key in ("5a", "6a", "8a", "4-8-1", "4-8-16", "4-8-128", "4-8-240")}


def ratios(frame, series=None):
    """Printed over found, of one series or of all."""
    known = frame[frame.printed.notna() & ((frame.series == series) | (series is None))]
    return (known.printed / known.here).to_numpy()


# --- what is printed, and where -------------------------------------------------------------------------------------


def test_all_numbers_of_figures_5_and_6_are_there():
    """Cells of the text, first and last of the tables, and one that stands out."""
    assert sum(not math.isnan(value) for value in printed().values()) == 2 * 8 * (4 + 4 + 4 + 3)
    for key, value in {
        (5, 8, "HH2", 0.2): 4.269,
        (5, 8, "HaarHRR", 1.4): 0.601,
        (5, 16, "HH16", 1.1): 1.597,
        (5, 20, "HH4", 1.2): 2.488,
        (5, 22, "HaarHRR", 1.4): 1.990,
        (6, 8, "HH16", 0.6): 1.758,
        (6, 16, "HH2", 0.2): 7.701,
        (6, 20, "HH16", 1.4): 2.543,
        (6, 22, "HH2", 0.2): 8.620,
    }.items():
        assert printed()[key] == value
    assert math.isnan(printed()[5, 22, "HH16", 1.1])


# --- what remarks say -----------------------------------------------------------------------------------------------


def test_exact_ranges_agree_with_the_print(exact):
    assert ratios(exact["5a"]).size == 32
    assert ratios(exact["5a"]).mean() == pytest.approx(0.975, abs=0.001)
    assert 0.865 <= ratios(exact["5a"]).min() < ratios(exact["5a"]).max() <= 1.12


BEHIND = {8: (1.02, 1.05), 16: (1.05, 1.09), 20: (1.08, 1.11), 22: (1.06, 1.13)}
"""Error of the wavelet over that of the best consistent tree, by size."""


@pytest.mark.parametrize("size", BEHIND)
def test_ranges_of_one_length(size, exact):
    """OUE of r types has the variance r V_F, and a node of a tree with h levels h V_F; OLH as of its own two chances."""
    E, users = math.exp(1.1), 2**26
    g = round(E + 1)
    own, other = E / (E + g - 1), 1 / g
    counts = {"OUE": 4 * E / (E - 1) ** 2, "OLH": other * (1 - other) / (own - other) ** 2}
    for length in cormode.LENGTHS[size]:
        key = f"4-{size}-{length}"
        frame = exact[key] if size == 8 else PANELS[key].frame()
        flat = frame[frame.series == "OUE of all types"].here.item()
        wavelet = frame[frame.series == "HaarHRR"].here.item()
        trees = {
            series: rows.set_index("x").here for series, rows in frame.groupby("series") if series.startswith("Tree")
        }
        assert flat == pytest.approx(1000 * math.sqrt(length * counts["OUE"] / users), rel=0.01)
        oracles = ["TreeOUE", "TreeHRR", "TreeOLH"] if size == 8 else ["TreeOUE", "TreeHRR"]
        assert len(trees) == 2 * len(oracles)
        for oracle in oracles:
            assert (trees[oracle + "CI"] < trees[oracle]).all()
            if length == 1 and oracle != "TreeHRR":
                heights = [math.ceil(size / math.log2(B)) for B in trees[oracle].index]
                expected = [1000 * math.sqrt(h * counts[oracle[-3:]] / users) for h in heights]
                assert trees[oracle].tolist() == pytest.approx(expected, rel=0.01)
        best = min(trees["TreeOUECI"].min(), trees["TreeHRRCI"].min())
        if length == 1:
            assert flat < best
            assert all(np.diff(tree).max() < 0 for tree in trees.values())
        else:
            low, high = BEHIND[size]
            assert low < wavelet / best < high
            assert flat > best


# --- theorems ---------------------------------------------------------------------------------------------------------


def computed(key):
    (panel,) = [panel for panel in cormode.PAPER.panels if panel.key == f"cormode-{key}"]
    return panel.frame()


def test_theorem_4_3_holds_and_equation_2_fails_for_short_ranges():
    """V_F = 4E/(E - 1)^2, and h = 4 levels of B = 4."""
    frame, V = computed("theorem-4-3"), 4 * math.exp(1.1) / (math.exp(1.1) - 1) ** 2
    rows = {series: part.set_index("x") for series, part in frame.groupby("series")}
    flat, tree = rows["OUE of all types (Fact 1)"], rows["Tree (Theorem 4.3)"]
    consistent, wavelet = rows["Consistent tree (equation 2)"], rows["HaarHRR (equation 3)"]
    assert flat["printed"].tolist() == pytest.approx([r * V for r in flat.index])
    assert tree["printed"].loc[[1, 4, 200]].tolist() == pytest.approx([7 * V * 4, 7 * V * 4 * 2, 418.8], rel=1e-3)
    assert (tree["here"] < tree["printed"]).all()
    assert tree["here"].loc[200] == pytest.approx(173.0, abs=0.06)
    assert math.isnan(consistent["printed"].loc[1])
    assert (consistent["here"].loc[2], consistent["printed"].loc[2]) == pytest.approx((19.0, 15.0), abs=0.06)
    assert wavelet["printed"].unique() == pytest.approx(32 * V)
    assert (wavelet["here"] / wavelet["printed"]).max() == pytest.approx(0.60, abs=0.005)
    assert 256 not in wavelet.index  # the total is known
