"""Single columns: Fourier weights of sets against what is said to be their largest, and how close proofs come to designs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.bounds.surveys import singles
from tests.certificates import forged
from tests.declared import ADULT


def fourier_weights(tables):
    """Shares (r,) and W (r, k) on each of the k attributes alone, of tables (r, n_1, ..., n_k) with values in [0, 1]."""
    share = tables.reshape(len(tables), -1).mean(axis=1)
    axes = range(1, tables.ndim)
    means = [tables.mean(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    return share, np.stack([mean.var(axis=1) for mean in means], axis=1)


def most(sizes, weights, steps, share):
    """The bound at any shares, from its grid."""
    found, more = singles.largest(sizes, np.array(weights), steps)
    return np.interp(np.minimum(share, 1 - share), np.linspace(0, 0.5, len(found)), found) + more


def all_sets(shape):
    cells = math.prod(shape)
    return (np.arange(1, 2**cells - 1)[:, None] >> np.arange(cells) & 1).reshape(-1, *shape).astype(float)


@pytest.mark.parametrize("shape", [(4,), (2, 2), (2, 3), (2, 2, 3), (2, 2, 2), (3, 4), (2, 6)])
@pytest.mark.parametrize("steps", [2, 10, 36])
@pytest.mark.parametrize("values", [32, 2])
def test_no_set_of_a_small_domain_has_more(shape, steps, values, lower):
    lower(_MOST_VALUES=values)  # 2: attributes of three values and more without regard to how many
    share, found = fourier_weights(all_sets(shape))
    rng = np.random.default_rng(0)
    for weights in (np.ones(len(shape)), rng.random(len(shape)), np.eye(len(shape))[0]):
        assert (found @ weights <= most(shape, weights, steps, share) * (1 + 1e-12)).all()


def test_no_function_with_values_between_has_more():
    rng = np.random.default_rng(1)
    shape = (2, 3, 5, 4)
    tables = rng.random((4000, *shape)) ** rng.choice([0.2, 1, 8, 40], (4000, 1, 1, 1, 1))
    boxes = [rng.random((4000, n)) < rng.choice([0.2, 0.5, 1.0], (4000, 1)) for n in shape]
    tables[:2000] *= np.einsum("ra,rb,rc,rd->rabcd", *boxes)[:2000]
    share, found = fourier_weights(tables)
    told = share > 0
    for weights in ((1.0, 1.0, 1.0, 1.0), (1.0, 0.6, 0.4, 0.5)):
        assert (found[told] @ weights <= most(shape, weights, 40, share[told]) * (1 + 1e-12)).all()


@pytest.mark.parametrize(("sizes", "chosen"), [((2, 2), (1, 1)), ((2, 2, 5), (1, 1, 0)), ((2, 3, 4, 6), (1, 1, 1, 1))])
def test_the_bound_is_attained_by_a_value_of_each_column(sizes, chosen):
    share = math.prod(1 / n for n, one in zip(sizes, chosen, strict=True) if one)
    exact = sum((n - 1) * share**2 for n, one in zip(sizes, chosen, strict=True) if one)
    assert exact <= most(sizes, [1.0 * one for one in chosen], 240, np.array([share]))[0] <= exact * 1.01


@pytest.mark.parametrize(("epsilon", "gap"), [(3.0, 0.07), pytest.param(4.0, 0.12, marks=pytest.mark.slow)])
def test_first_weights_for_a_real_survey(epsilon, gap):
    survey = workloads.survey(ADULT, 1)
    *_, proof = singles.SinglesSearch(survey, epsilon).certificates(math.inf)
    design = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=8, seed=0)
    assert proof.verify()
    assert proof.variance > 0
    assert 0 <= design.objective / proof.value - 1 < gap


@pytest.mark.slow
def test_the_search_for_weights_halves_what_is_left():
    survey = workloads.survey(ADULT, 1)
    proof = bounds.certificate(survey, 3.0, time_limit=None)
    design = optimize.design(survey, epsilon=3.0, time_limit=None, max_rounds=8, seed=0)
    assert isinstance(proof, bounds.SinglesCertificate)
    assert 0 <= design.objective / proof.value - 1 < 0.045


def test_weighted_columns_and_columns_of_many_values():
    survey = workloads.survey((2, 3, 40, 7), 1, weights=[3.0, 1.0, 2.0, 1.0])
    *_, proof = singles.SinglesSearch(survey, 4.0).certificates(math.inf)
    design = optimize.design(survey, epsilon=4.0, time_limit=None, max_rounds=8, seed=0)
    assert bounds.centred_svd(survey, 4.0) * 1.1 < proof.value <= design.objective


@pytest.mark.promise
def test_forged_certificates_are_refused():
    survey = workloads.survey((2, 3, 4, 5), 1)
    *_, proof = singles.SinglesSearch(survey, 3.0).certificates(0.0)
    assert proof.verify()
    assert not replace(proof, value=np.nextafter(proof.proven(), np.inf)).verify()
    assert not replace(proof, epsilon=3.1).verify()
    assert not replace(proof, workload=workloads.survey((2, 3, 4, 5), 1, weights=[0.9] * 4)).verify()
    assert not replace(proof, workload=workloads.survey((2, 3, 4, 5), 2)).verify()
    assert not replace(proof, workload=workloads.survey((2, 3, 4, 5, 6), 1)).verify()
    for steps in (0, -2, 7, 10**6, math.nan, None):
        assert not forged(proof, steps=np.array([steps])).verify()
    own = proof.numbers["weights"]
    for weights in (-own, 0 * own, own[:3], np.full(4, math.nan), None):
        assert not forged(proof, weights=weights).verify()
