"""Lopuhaä-Zwakenberg et al. 2020: the panels against the notes' tables and formulas, and what their remarks say."""

import numpy as np
import pytest

from ldp_core.papers import lopuhaa

PANELS = {panel.key: panel for panel in lopuhaa.PAPER.panels}


def points(key):
    return PANELS[key].frame().pivot(index="x", columns="series", values="here")


@pytest.fixture(scope="module")
def collected():
    """Mean squared errors by the panels of Figures 2 and 3."""
    return {panel.key: points(panel.key) for panel in lopuhaa.PAPER.panels if panel.place in ("Figure 2", "Figure 3")}


def test_proposition_4_6_holds():
    found = PANELS["lopuhaa-proposition-4.6"].frame()
    even = found[found["series"] == "frequency"].set_index("x")
    assert even.loc[1.0, "printed"] == pytest.approx(1.84135, abs=0.6e-5)
    assert even.loc[0.5, "printed"] == pytest.approx(7.83540, abs=0.6e-5)
    assert (np.abs(found["here"] - found["printed"]) < 4.5 * found["standard_error"]).all()
    assert (found["standard_error"] < 0.03 * found["here"]).all()


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
