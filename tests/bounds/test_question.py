"""One real-valued question: bound and design meet at the optimum, and no numbers prove more than rational arithmetic over all rows does."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rounding import exact_matrix

from ldp_core import bounds, mechanisms, optimize, workloads
from ldp_core.bounds import verify
from ldp_core.mechanisms.explicit import ExplicitMechanism
from ldp_core.workloads.problem import direction
from tests.certificates import attained, forged

RNG = np.random.default_rng(7)
ASKED = {
    "a contrast of nine": np.r_[1.0, -1, np.zeros(7)],
    "equally spaced": np.arange(8.0),
    "centred": np.arange(7.0) - 3,
    "yes or no": np.repeat([0.0, 1], [6, 3]),
    "skewed": np.exp(2 * RNG.standard_normal(9)),
    "multiples and constants": np.array([[1.0], [-2], [0.3]]) * RNG.standard_normal(7) + [[0.0], [1], [5]],
    "twice the same": np.tile(np.arange(5.0) ** 2, (2, 1)),
    "two types": np.array([3.0, 1]),
}
EPSILONS = (0.05, 0.5, 2.0, 5.0, 8.0, 16.0)


def asking(rows):
    return workloads.custom(np.atleast_2d(rows))


def people(n, prior):
    return None if prior == "even" else np.random.default_rng(n).dirichlet(np.ones(n))


def excess(value, workload, prior):
    """What people's own answers do not explain of an objective."""
    p = np.full(workload.n, 1 / workload.n) if prior is None else prior
    return value - workload.n * float(p @ workload.gram_diag)


# --- the optimum ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("prior", ["even", "own"])
def test_bound_and_design_meet(name, epsilon, prior):
    workload = asking(ASKED[name])
    n, own = workload.n, people(workload.n, prior)
    made = optimize.design(workload, epsilon, None, prior=own)
    proof = bounds.certificate(workload, epsilon, None, own)
    assert proof.kind == "question"
    assert proof.verify()
    reached, proved = excess(made.objective, workload, own), excess(proof.value, workload, own)
    rounding = 1e-8 * made.objective  # the objectives of three kernels differ by up to an eighth of that
    assert proved - rounding < reached < (1.001 if epsilon < 10 else 1.05) * proved + rounding
    sums, ratio = made.strategy.sum(axis=0), (made.strategy.max(axis=1) / made.strategy.min(axis=1)).max()
    assert np.abs(sums - 1).max() < 1e-12
    assert ratio <= np.exp(epsilon)
    held = ExplicitMechanism("held", made.strategy, epsilon, prior=own)
    everything = workloads.histogram(n)  # what is asked later
    assert np.isfinite(held.variance_profile(everything)).all()
    average = float(held.variance_profile(workload) @ (np.full(n, 1 / n) if own is None else own))
    assert abs(average * n - reached) < rounding or epsilon > 10
    others = ("randomized_response", "subset_selection", "hadamard", "hierarchical")
    if own is None:
        for other in others:
            known = mechanisms.create(other, n, epsilon).average_of(workload) * n
            assert reached <= known * (1 + 3e-4)


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
def test_bound_and_design_meet_in_the_worst_case(name, epsilon):
    workload, limits = asking(ASKED[name]), optimize.SearchLimits(None)
    made, proof = optimize.worst_case_design(workload, epsilon, limits), bounds.worst_case(workload, epsilon, None)
    assert proof.verify()
    assert proof.variance >= bounds.worst_case_variance(workload, epsilon) * (1 - 1e-6)
    assert 1 - 1e-6 < made.worst_case_variance / proof.variance < 1.005
    average = bounds.certificate(workload, epsilon, None)
    assert average.variance <= proof.variance * 1.001


@pytest.mark.parametrize("name", ["equally spaced", "skewed", "yes or no", "a contrast of nine"])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_optimum_is_that_over_all_two_valued_rows(name, epsilon):
    workload = asking(ASKED[name])
    exact, proof = optimize.exact(workload, epsilon), bounds.certificate(workload, epsilon, None)
    assert proof.value <= exact.objective
    assert excess(exact.objective, workload, None) <= 1.001 * excess(proof.value, workload, None)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_share_has_the_variance_of_one_bit(epsilon):
    """Of half of the people: the least second moment of a fair sign is ((E + 1) / (E - 1))^2."""
    proof = bounds.certificate(asking(np.repeat([-1.0, 1], [4, 4])), epsilon, None)
    known = 1 / np.tanh(epsilon / 2) ** 2 - 1
    assert proof.variance <= known < proof.variance * 1.0005


def test_more_types_than_nodes_are_mixtures_of_these():
    workload = asking(np.sort(RNG.standard_normal(150)))
    made, proof = optimize.design(workload, 1.0, None, 3), bounds.certificate(workload, 1.0, None)
    assert made.strategy.shape[1] == 150
    assert excess(made.objective, workload, None) < 1.01 * excess(proof.value, workload, None)
    assert proof.verify()


@pytest.mark.usefixtures("clock")
def test_a_bound_of_the_closed_form_is_there_at_once():
    workload = asking(ASKED["skewed"])
    for epsilon in EPSILONS:
        at_once = bounds.certificate(workload, epsilon, 0.0)
        assert at_once.verify()
        assert at_once.value >= bounds.centred_svd(workload, epsilon) * (1 - 1e-6)


def test_cancelled_at_once_there_is_a_strategy_and_a_bound():
    workload = asking(ASKED["equally spaced"])
    made = optimize.design(workload, 1.0, None, cancel=lambda: True)
    proof = bounds.certificate(workload, 1.0, None, cancel=lambda: True)
    assert made.stopped == "cancelled"
    assert proof.verify()
    assert excess(proof.value, workload, None) <= excess(made.objective, workload, None) < np.inf


# --- the proof --------------------------------------------------------------------------------------------------------


def lacking(alpha, beta, p, D):
    """What F lacks, in fractions: over all sets of types whose h_x counts 1 + D times, the least value of a square."""
    alpha, beta, p = ([Fraction(float(x)) for x in of] for of in (alpha, beta, p))
    worst = Fraction(0)
    for high in itertools.product((Fraction(1), 1 + D), repeat=len(p)):
        a, b, c = (sum(h * x for h, x in zip(high, of, strict=True)) for of in (p, beta, alpha))
        worst = max(worst, b**2 / (4 * a) + c)
    return worst


def proved_exactly(workload, prior, z, alpha, beta, D):
    """What the numbers prove of the questions themselves, in fractions."""
    n, rows = workload.n, exact_matrix(workload)
    z, alpha, beta, p = ([Fraction(float(x)) for x in of] for of in (z, alpha, beta, prior))
    total = sum(p)
    Wz, Wp = ([sum(a * b for a, b in zip(row, of, strict=True)) for row in rows] for of in (z, p))
    image = [sum(row[i] * a for row, a in zip(rows, Wz, strict=True)) for i in range(n)]
    both, cross, known = (
        sum(a * b for a, b in zip(left, right, strict=True)) for left, right in ((Wz, Wz), (Wz, Wp), (Wp, Wp))
    )
    along = sum(b * (g - cross) for b, g in zip(beta, image, strict=True))
    return n * (both * (sum(alpha) - lacking(alpha, beta, p, D)) + along + known * (2 - total)) / total


NOISE = st.sampled_from([0.0, 1e-15, 1e-9, 1e-3, 0.3])
SCALES = st.sampled_from([1e-20, 1e-3, 1.0, 1e6, 1e20])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 5), NOISE, SCALES, st.sampled_from([0.01, 0.5, 2.0, 8.0]))
def test_no_numbers_prove_more_than_rational_arithmetic_over_all_rows_does(seed, n, noise, scale, epsilon):
    rng = np.random.default_rng(seed)
    workload = workloads.custom(rng.integers(-2, 3, (2, n)) if rng.random() < 0.5 else rng.standard_normal((1, n)))
    if direction(workload) is None:
        return
    prior = np.where(rng.random(n) < 0.1, 1e-20, rng.dirichlet(np.full(n, 0.5)))
    prior /= prior.sum()
    honest = bounds.certificate(workload, epsilon, None, prior)

    def shaken(array, size):
        return array * (1 + noise * rng.standard_normal(n)) * size

    z, alpha, beta = (
        shaken(honest.numbers[name], size)
        for name, size in (("direction", 1 / scale), ("alpha", scale**2), ("beta", scale))
    )
    document, arrays = forged(honest, direction=z, alpha=alpha, beta=beta).to_file("1")
    D = Fraction(bounds.proof.exp_epsilon_minus_one(epsilon))
    exact = proved_exactly(workload, prior, z, alpha, beta, D)
    found = verify.question(document, arrays, D)
    assert found <= exact
    assert verify.lack(alpha, beta, prior, D) >= lacking(alpha, beta, prior, D)
    if noise == 0 and scale == 1:
        assert found > float(exact) - 1e-5 * abs(float(exact))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from([0.1, 1.0, 4.0]))
def test_whatever_is_asked_no_mechanism_is_below_a_bound(seed, n, epsilon):
    """Along any direction of any questions, not only of one."""
    rng = np.random.default_rng(seed)
    workload = workloads.custom(rng.standard_normal((3, n)))
    z = rng.standard_normal(n)
    one = bounds.certificate(asking((workload.gram_dense() @ z)[None]), epsilon, None)
    half = 1 / float(one.numbers["direction"] @ workload.gram_dense() @ z)  # of the questions asked there
    alpha, beta = one.numbers["alpha"] * half**2, one.numbers["beta"] * half
    assert forged(one, workload=workload, direction=z, alpha=alpha, beta=beta).proven() <= attained(workload, epsilon)


def test_what_can_not_be_looked_at_proves_nothing():
    honest = bounds.certificate(asking(ASKED["skewed"]), 1.0, None)
    for name in ("direction", "alpha", "beta"):
        for factor in (np.nan, np.inf, 1e60, 1e-300, -1.0):
            assert not forged(honest, **{name: honest.numbers[name] * factor}).verify()
        assert not forged(honest, **{name: honest.numbers[name][1:]}).verify()
    assert not replace(honest, epsilon=1.1).verify()
    assert replace(honest, epsilon=0.9).verify()
