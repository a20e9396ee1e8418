"""Surveys about columns of equally many values, bounded by what three records at a time obey: sets of records and designs against it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.bounds.surveys.certificate import closed_form
from ldp_core.bounds.triples import surveys
from ldp_core.run import Budget, Interrupted
from ldp_core.workloads import walsh_hadamard

CHOSEN = workloads.survey(
    [2] * 8, [(0, 1, 2), (2, 3), (3, 4, 5), (1, 6), (5, 6, 7), (0,)], [1.0, 2.0, 0.5, 1.0, 1.5, 3.0]
)
FIVE = workloads.survey([2] * 5, [(0, 1, 2), (2, 3), (3, 4), (1, 4), (0,)], [1.0, 2.0, 0.5, 1.5, 3.0])
SIX = workloads.survey([2] * 6, [(0, 1, 2), (2, 3), (3, 4, 5), (1, 5), (0,)], [1.0, 2.0, 0.5, 1.5, 3.0])


def some_sets(bits, rng, number=400):
    """Random sets, thresholds of forms of degree one and two, subcubes and their unions."""
    records = np.arange(2**bits)[:, None] >> np.arange(bits) & 1
    signs = 1 - 2 * records
    found = [rng.random(2**bits) < rng.random() for _ in range(number)]
    for _ in range(number):
        form = signs @ rng.normal(size=bits) * rng.choice([0, 1]) + (
            (signs @ rng.normal(size=(bits, bits))) * signs
        ).sum(axis=1)
        found.append(form > np.quantile(form, rng.random()))
        fixed = rng.choice(bits, (2, rng.integers(1, bits + 1)))
        values = rng.integers(0, 2, fixed.shape)
        cubes = [(records[:, f] == v).all(axis=1) for f, v in zip(fixed, values, strict=True)]
        found += [cubes[0], cubes[0] | cubes[1], cubes[0] ^ cubes[1]]
    return np.array(found)


@cache
def proof(survey, epsilon):
    *_, found = surveys.best(survey, epsilon)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("survey", "epsilon", "gain", "gap"),
    [
        pytest.param(workloads.survey([2] * 7, 3), 3.0, 1.1, 0.01, id="seven"),
        pytest.param(workloads.survey([2] * 8, 3), 4.0, 1.1, 0.03, id="eight", marks=pytest.mark.slow),
    ],
)
def test_triples_of_columns(survey, epsilon, gain, gap):
    found = proof(survey, epsilon)
    assert found.verify()
    assert found.value > gain * closed_form(survey, epsilon).value
    assert found.variance == (found.value - survey.trace) / survey.n > 0
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=20, seed=0)
    assert 0 <= best.objective / found.value - 1 < gap


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "ways", "epsilon", "gap"),
    [
        (12, 3, 4.0, 0.005),
        (10, 2, 3.0, 0.04),
        (10, 2, 4.0, 0.02),
    ],
)
def test_many_columns_are_proved_to_within_a_few_per_cent(columns, ways, epsilon, gap):
    survey = workloads.survey([2] * columns, ways)
    found = proof(survey, epsilon)
    assert found.verify()
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=60, seed=0)
    assert 0 <= best.objective / found.value - 1 < gap


@pytest.mark.parametrize(
    "survey",
    [
        pytest.param(FIVE, id="chosen"),
        pytest.param(SIX, id="six", marks=pytest.mark.slow),
        pytest.param(workloads.survey([2, 2, 1, 2, 2, 2], 2), id="one value", marks=pytest.mark.slow),
        pytest.param(CHOSEN, id="eight", marks=pytest.mark.slow),
        pytest.param(workloads.survey([2, 2, 1, 2, 2, 2, 2], 2), id="six and one value", marks=pytest.mark.slow),
    ],
)
def test_no_set_of_records_tells_more(survey):
    """The condition of the argument, with the Fourier weights of exactly the sets of columns that are asked about."""
    found, columns = proof(survey, 2.0), [i for i, size in enumerate(survey.shape) if size == 2]
    bits, ratio = len(columns), found.duals.ratio(2.0)
    asked = np.array([sum(1 << columns.index(i) for i in members) for members in survey.components.sets])
    sets = some_sets(bits, np.random.default_rng(0), 40).astype(float)
    fourier_weights = np.stack([(walsh_hadamard(row)[asked] / 2**bits) ** 2 for row in sets])
    weights = found.duals.weights[np.bitwise_count(asked) - 1]
    D = np.expm1(2.0)
    assert (D**2 * fourier_weights @ weights / (1 + D * sets.mean(axis=1)) ** 2 <= ratio).all()
    best = optimize.design(survey, epsilon=2.0, time_limit=None, max_rounds=10, seed=0)
    assert found.value <= best.objective


@pytest.mark.parametrize(
    ("columns", "epsilon", "most"),
    [
        (6, 1.0, 0.0001),
        pytest.param(6, 2.0, 0.006, marks=pytest.mark.slow),
        pytest.param(6, 3.0, 0.01, marks=pytest.mark.slow),
        (5, 3.0, 0.0001),
        pytest.param(10, 2.0, 0.05, marks=pytest.mark.slow),
    ],
)
def test_pairs_of_columns(columns, epsilon, most):
    survey = workloads.survey((2,) * columns, 2)
    found = bounds.certificate(survey, epsilon, time_limit=None)
    assert found.verify()
    design = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=40, seed=0)
    assert 0 <= design.objective / found.value - 1 < most


def test_it_is_what_a_certificate_is_where_it_is_best():
    survey, told = workloads.survey([2] * 7, 3), []
    found = bounds.certificate(
        survey, 3.0, time_limit=None, callback=lambda at: told.append(at.bound), cancel=lambda: len(told) > 5
    )
    assert isinstance(found, bounds.TripleSurveyCertificate)
    assert found.verify()


@pytest.mark.slow
def test_sixteen_columns_are_affordable():
    found = next(surveys.best(workloads.survey([2] * 16, 3), 4.0))
    assert found.verify()
    assert found.value > 1.2 * closed_form(found.workload, 4.0).value


def test_forged_certificates_are_refused():
    survey = workloads.survey([2] * 7, 3)
    found = proof(survey, 3.0)
    assert found.verify()
    assert not replace(found, value=np.nextafter(found.proven(), np.inf)).verify()
    for change in (
        {"epsilon": 3.1},
        {"workload": workloads.survey([2] * 8, 3)},
        {"workload": workloads.survey([2] * 7, 3, weights=[0.9] * 35)},
        {"workload": workloads.survey([2] * 6 + [3], 3)},
        {"workload": workloads.survey([2] * 7, 7)},
        {"duals": replace(found.duals, values=0.999 * found.duals.values)},
        {"duals": replace(found.duals, weights=-found.duals.weights)},
        {"duals": replace(found.duals, weights=0 * found.duals.weights)},
        {"duals": replace(found.duals, factors=0 * found.duals.factors)},
        {"duals": replace(found.duals, factors=np.full_like(found.duals.factors, 1e99))},
        {"duals": replace(found.duals, values=np.full_like(found.duals.values, np.nan))},
        {"duals": replace(found.duals, sizes=np.full_like(found.duals.sizes, 2.0**40))},
        {"duals": replace(found.duals, cuts=np.full_like(found.duals.cuts, 1e9))},
    ):
        assert not replace(found, **change).verify()


def test_other_surveys_have_none():
    for shape, ways in (([2, 2, 3, 2], 2), ([2, 2], 1), ([2] * 17, 2), ([2] * 4, 4)):
        assert not surveys.fits(workloads.survey(shape, ways))


def test_a_search_that_is_cancelled_ends_at_once():
    survey, asked = workloads.survey([2] * 12, 3), iter(range(10**6))
    with pytest.raises(Interrupted):
        list(surveys.best(survey, 3.0, check=Budget(None, None, lambda: next(asked) > 30).check))
    assert next(asked) < 40
