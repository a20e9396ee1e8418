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
from tests.bounds.test_triples import fourier_weights_of, records

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
        (12, 3, 4.0, 0.002),
        (12, 3, 3.0, 0.02),
        (16, 3, 4.0, 0.015),
        (14, 3, 3.0, 0.03),
        (16, 3, 3.0, 0.04),
        (10, 2, 2.0, 0.032),
        (10, 2, 4.0, 0.0125),
    ],
)
def test_many_columns_are_proved_to_within_a_few_per_cent(columns, ways, epsilon, gap):
    survey = workloads.survey([2] * columns, ways)
    found = proof(survey, epsilon)
    assert found.verify()
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=60, seed=0)
    assert 0 <= best.objective / found.value - 1 < gap


@pytest.mark.slow
def test_triples_of_twelve_columns_are_proved_to_within_a_per_cent():
    survey = workloads.survey([2] * 12, 3)
    found = bounds.certificate(survey, 4.0, time_limit=None)
    assert isinstance(found, bounds.TripleSurveyCertificate)
    best = optimize.design(survey, epsilon=4.0, time_limit=None, max_rounds=60, seed=0)
    assert 0 <= best.objective / found.value - 1 < 0.002


@pytest.mark.parametrize(
    ("sizes", "ways", "epsilon", "gain", "gap"),
    [
        ([3] * 5, 1, 0.1, 1.08, 1e-4),
        ([3] * 4, 2, 4.0, 1.6, 1e-5),
        ([4, 4, 1, 4, 4], 2, 4.0, 1.1, 0.02),
        ([5] * 6, 2, 4.0, 1.2, 0.002),
    ],
)
def test_columns_of_more_values(sizes, ways, epsilon, gain, gap):
    survey = workloads.survey(sizes, ways)
    found = proof(survey, epsilon)
    assert found.verify()
    assert found.value > gain * closed_form(survey, epsilon).value
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=20, seed=0)
    assert 0 <= best.objective / found.value - 1 < gap


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "columns", "epsilon", "gap"), [(5, 10, 4.0, 0.003), (4, 10, 3.0, 0.025), (3, 10, 3.0, 0.035)]
)
def test_pairs_of_ten_columns_of_more_values(values, columns, epsilon, gap):
    survey = workloads.survey([values] * columns, 2)
    found = bounds.certificate(survey, epsilon, time_limit=None)
    assert isinstance(found, bounds.TripleSurveyCertificate)
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=60, seed=0)
    assert 0 <= best.objective / found.value - 1 < gap


def test_twelve_larger_columns_are_searched_only_where_it_promises():
    survey = workloads.survey([5] * 12, 2)
    assert surveys.fits(survey)
    assert not surveys.promising(survey, 2.0)
    assert surveys.promising(survey, 4.0)
    assert isinstance(bounds.certificate(survey, 2.0, time_limit=None), bounds.SurveyCertificate)
    assert surveys.promising(workloads.survey([5] * 10, 2), 2.0)
    assert surveys.promising(workloads.survey([2] * 16, 2), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("values", "epsilon"), [(5, 4.0), (4, 3.0), (3, 3.0)])
def test_pairs_of_twelve_columns_of_more_values(values, epsilon):
    survey = workloads.survey([values] * 12, 2)
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=60, seed=0)
    found = next(one for one in surveys.best(survey, epsilon) if best.objective / one.value - 1 < 0.065)
    assert found.verify()
    assert best.objective >= found.value


@pytest.mark.parametrize("q", [3, 4])
def test_no_set_of_records_of_more_values_tells_more(q):
    survey, rng = workloads.survey([q] * 4, 2), np.random.default_rng(q)
    found, every, D = proof(survey, 3.0), records(4, q), np.expm1(3.0)
    sets = [rng.random(q**4) < share for share in (0.01, 0.05, 0.1, 0.3, 0.7)]
    sets += [(every < 1)[:, :m].all(axis=1) for m in (1, 2, 3, 4)] + [every[:, 0] == every[:, 1], every.sum(axis=1) < 3]
    fourier_weights = fourier_weights_of(np.array(sets), 4, q)[:, 1:]
    ratios = fourier_weights @ found.duals.weights * (D / (1 + D * np.mean(sets, axis=1))) ** 2
    assert (ratios <= found.duals.ratio(3.0, q)).all()
    assert ratios.max() > 0.9 * found.duals.ratio(3.0, q)


def test_proofs_hold_for_the_number_of_values_they_were_made_for():
    survey = workloads.survey([3] * 4, 2)
    found = proof(survey, 4.0)
    assert found.verify()
    duals = found.duals
    assert len(duals.cuts)
    cut = duals.cuts[:1]
    for change in (
        {"value": np.nextafter(found.proven(), np.inf)},
        {"epsilon": 4.1},
        {"workload": workloads.survey([2] * 4, 2)},
        {"workload": workloads.survey([3] * 5, 2)},
        {"workload": workloads.survey([3, 3, 3, 4], 2)},
        {"duals": replace(duals, values=0.999 * duals.values)},
        {"duals": replace(duals, factors=0.9 * duals.factors)},
        {"duals": replace(duals, signs=-duals.signs - 1e-9)},
        {"duals": replace(duals, sizes=duals.sizes[:, ::-1] + [1, 0])},
        {"duals": replace(duals, cuts=duals.cuts + 0.5)},
        {"duals": replace(duals, factors=duals.factors * np.nan)},
    ):
        assert not replace(found, **change).verify(), change.keys()
    # The numbers have the shapes of a proof for four values as well, and what they prove there is true.
    other = workloads.survey([4] * 4, 2)
    assert replace(found, workload=other).proven() < closed_form(other, 4.0).value
    # Whole numbers are not used for many records: they would not be exact.
    many = next(surveys.best(workloads.survey([11] * 6, 2), 4.0)).duals
    assert many.valid(11)
    wide = np.hstack([cut[:, :1], np.zeros((1, 5)), cut[:, -2:]])
    assert not replace(many, cuts=wide, whole=np.zeros((len(many.values), 1))).valid(11)


def test_what_is_far_too_large_is_not_looked_at():
    assert not surveys.fits(workloads.survey([6] * 12, 2))
    assert not surveys.fits(workloads.survey([3] * 13, 2))
    assert surveys.fits(workloads.survey([5] * 12, 2))


def test_where_three_records_say_nothing_new_the_search_ends():
    survey = workloads.survey([4] * 6, 2)
    assert list(surveys.best(survey, 1.0, closed_form(survey, 1.0).value)) == []


def test_a_certificate_about_more_values_ends_in_time():
    survey, asked = workloads.survey([5] * 10, 2), iter(range(10**6))
    found = bounds.certificate(survey, 4.0, time_limit=None, cancel=lambda: next(asked) > 60)
    assert found.verify()
    assert found.value >= closed_form(survey, 4.0).value
    assert next(asked) < 90


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
