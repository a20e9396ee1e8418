"""Populations of the papers, beside the distributions they are named for."""

import numpy as np
import pytest
from scipy.stats import cauchy, dirichlet

from ldp_core.data import tables


@pytest.mark.parametrize("centre", [0.001, 0.1, 0.4, 0.95])
def test_a_cauchy_population_is_the_distribution_cut_to_the_types(centre):
    n, users = 500, 10**9
    counts = tables.expected_counts("cauchy", n, users, centre=centre)
    below = cauchy(centre * n, n / 10).cdf(np.arange(n + 1))
    np.testing.assert_allclose(counts, users * np.diff(below) / (below[-1] - below[0]), atol=2)
    near = np.abs(np.arange(n) + 0.5 - centre * n) <= n / 10 + 0.5
    assert counts[near].sum() >= users / 2


@pytest.mark.parametrize("concentration", [0.01, 0.5, 1.0, 40.0, 1000.0])
def test_a_dirichlet_population_has_the_moments_of_its_distribution(concentration):
    n, users, draws = 4, 10**6, 400
    shares = np.array(
        [
            tables.expected_counts("dirichlet", n, users, concentration=concentration, draw=draw) / users
            for draw in range(draws)
        ]
    )
    law = dirichlet(np.full(n, concentration))
    off = (shares.mean(axis=0) - law.mean()) / np.sqrt(law.var() / draws)
    assert np.abs(off).max() < 4.5
    np.testing.assert_allclose(shares.var(axis=0), law.var(), rtol=0.35)
    again = tables.expected_counts("dirichlet", n, users, concentration=concentration, draw=3) / users
    np.testing.assert_array_equal(again, shares[3])


@pytest.mark.parametrize(
    ("shape", "parameters", "sentence"),
    [
        ("cauchy", {"centre": 0.0}, "choose a number between 0 and 1"),
        ("dirichlet", {"concentration": 0.001}, "choose a number from 0.01 to 1000"),
        ("dirichlet", {"draw": 1.5}, "choose a whole number from 0 up"),
    ],
)
def test_shapes_refuse_bad_parameters(shape, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        tables.expected_counts(shape, 4, 10, **parameters)
