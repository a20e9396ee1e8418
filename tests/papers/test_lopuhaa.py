"""Lopuhaä-Zwakenberg et al. 2020: the panels against the notes' tables and formulas, and what their remarks say."""

import numpy as np
import pytest

from ldp_core.papers import lopuhaa

PANELS = {panel.key: panel for panel in lopuhaa.PAPER.panels}
# Types; N x error for all protocols at epsilon 1 (59), (60), sharper forms for even people, and subset selection's.
PROTOCOL_FREE = {
    2: (0.67739, 0.24920, 2.34135, 1.84135, 1.84135),
    3: (1.01609, 0.37380, 4.25241, 3.67506, 4.36009),
    5: (1.69348, 0.62300, 9.85106, 9.18232, 11.42975),
    10: (3.38697, 1.24600, 25.66239, 24.88812, 29.10406),
    32: (10.83830, 3.98719, 102.08787, 101.19365, 109.73256),
}
# N x error of the best estimator on two types at epsilon 1, people by Jeffreys' prior.
BAYES = {1: 0.2233, 10: 1.0944, 100: 1.6228, 1_000: 1.8313, 10_000: 1.9446}


def points(key):
    return PANELS[key].frame().pivot(index="x", columns="series", values="here")


@pytest.fixture(scope="module")
def collected():
    """Mean squared errors by the panels of Figures 2 and 3."""
    return {panel.key: points(panel.key) for panel in lopuhaa.PAPER.panels if panel.place in ("Figure 2", "Figure 3")}


def test_theorem_4_5_has_the_values_of_the_notes():
    found = points("lopuhaa-theorem-4.5")
    series = [
        "Theorem 4.5, distribution",
        "Theorem 4.5, frequency",
        "sharper form, distribution",
        "sharper form, frequency",
        "subset_selection",
    ]
    assert set(series) == set(found)
    for n, expected in PROTOCOL_FREE.items():
        assert found.loc[n, series].to_list() == pytest.approx(expected, abs=0.6e-5)


def test_proposition_4_6_holds():
    found = PANELS["lopuhaa-proposition-4.6"].frame()
    even = found[found["series"] == "frequency"].set_index("x")
    assert even.loc[1.0, "printed"] == pytest.approx(1.84135, abs=0.6e-5)
    assert even.loc[0.5, "printed"] == pytest.approx(7.83540, abs=0.6e-5)
    assert (np.abs(found["here"] - found["printed"]) < 4.5 * found["standard_error"]).all()
    assert (found["standard_error"] < 0.03 * found["here"]).all()


def test_large_samples_are_larger_than_one_thinks():
    found = points("lopuhaa-corollary-4.3")
    assert found["best estimator"].to_dict() == pytest.approx(BAYES, abs=0.6e-4)
    assert found["limit of the best"].to_list() == pytest.approx([2.0913] * 5, abs=0.6e-4)
    assert (found["best estimator"] < found["Corollary 4.3, large N"]).all()
    assert (found["Theorem 4.1, at every N"] <= found["best estimator"]).all()


def test_the_bounds_of_table_1_lie_below_what_is_reached():
    found = points("lopuhaa-table-1")
    assert found.loc[1.0, "new bound (59), distribution"] == pytest.approx(3.38697, abs=0.6e-5)
    assert found.loc[1.0, "new bound (60), frequency"] == pytest.approx(1.24600, abs=0.6e-5)
    assert found.loc[1.0, "subset_selection"] == pytest.approx(29.10406, abs=0.6e-5)
    reached = found[list(lopuhaa.TABLE_MECHANISMS)]
    assert (reached.min(axis=1) > found["new bound (60), frequency"]).all()
    assert (reached.idxmin(axis=1) == "subset_selection").all()


@pytest.mark.parametrize("error", ["distribution", "frequency"])
def test_maximum_likelihood_against_norm_sub(collected, error):
    """The four remarks: by how much Norm-Sub is worse, over epsilon."""

    def excess(mechanism, users):
        found = collected[f"lopuhaa-{mechanism}-{users}-{error}"]
        return found["Non-negative, known total (Norm-Sub)"] / found["Maximum likelihood"]

    assert excess("randomized-response", 10**6).between(0.98, 1.06).all()
    assert (excess("randomized-response", 10**4) > 1.15).all()
    assert (excess("oue", 10**6) > 1.01).all()
    assert excess("oue", 10**6).max() > 1.2
    assert excess("oue", 100).between(0.95, 1.2).all()


def test_unbiased_errors_are_the_exact_ones(collected):
    """Randomized response: N x squared error of the frequencies is the mean of the variance
    profile, for all people."""
    found = collected["lopuhaa-randomized-response-1000000-frequency"]["Unbiased"]
    n = 1024
    for epsilon, value in found.items():
        gain = np.expm1(epsilon)
        assert value == pytest.approx((n - 1) * (n / gain**2 + 2 / gain) / 10**6, rel=0.05)
