"""Projected quasi-Newton steps against problems whose solutions are known."""

import numpy as np
import pytest
from scipy import optimize

from ldp_core.bounds.general.quasi_newton import minimised


def squares(A, b):
    def function(x):
        off = A @ x - b
        return float(off @ off) / 2, A.T @ off

    return function


@pytest.mark.parametrize("free", [0, 5, 30])
def test_least_squares_with_signs(free):
    rng = np.random.default_rng(free)
    A, b = rng.normal(size=(40, 30)), rng.normal(size=40)
    bounds = np.where(np.arange(30) < free, -np.inf, 0.0), np.inf
    known = optimize.lsq_linear(A, b, bounds, tol=1e-14).x
    found = minimised(squares(A, b), np.zeros(30), free, 1000, 1e-15)
    assert found[free:].min(initial=0.0) >= 0
    assert found == pytest.approx(known, abs=1e-5)


def test_a_narrow_valley_is_followed():
    found = minimised(
        lambda x: (float(optimize.rosen(x)), optimize.rosen_der(x)), np.array([-1.2, 1.0, -1.2, 1.0]), 4, 1000, 1e-16
    )
    assert found == pytest.approx(np.ones(4), abs=1e-4)


def test_steps_stay_where_the_value_is_finite():
    def barrier(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return (float(x.sum() - np.log(x).sum()), 1 - 1 / x) if x.min() > 0 else (np.inf, np.zeros_like(x))

    found = minimised(barrier, np.full(3, 40.0), 3, 300, 1e-14)
    assert found == pytest.approx(np.ones(3), abs=1e-4)


def test_it_stops_and_never_rises():
    A, b = np.vander(np.linspace(0, 1, 12), 12), np.ones(12)
    function, seen, start = squares(A, b), [], np.zeros(12)
    values = [function(minimised(function, start, 0, most, 0.0))[0] for most in (1, 2, 5, 20, 80)]
    assert values == sorted(values, reverse=True)
    assert values[0] == function(start)[0]
    assert minimised(lambda x: seen.append(1) or function(x), start, 0, 50, 0.0, lambda: True) is start
    assert len(seen) == 1
