"""Surveys about columns of equally many values, bounded by what three records at a time obey: sets of records and designs against it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.bounds.surveys.certificate import closed_form
from ldp_core.bounds.triples.certificate import improved
from ldp_core.bounds.triples.duals import Duals
from ldp_core.workloads import walsh_hadamard

FIVE = workloads.survey([2] * 5, [(0, 1, 2), (2, 3), (3, 4), (1, 4), (0,)], [1.0, 2.0, 0.5, 1.5, 3.0])


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
    *_, found = improved(closed_form(survey, epsilon))
    return found


@pytest.mark.parametrize(
    "survey",
    [
        pytest.param(FIVE, id="chosen"),
        pytest.param(workloads.survey([2, 2, 1, 2, 2, 2], 2), id="one value", marks=pytest.mark.slow),
    ],
)
def test_no_set_of_records_tells_more(survey):
    """The condition of the argument, with the Fourier weights of exactly the sets of columns that are asked about."""
    found, columns = proof(survey, 2.0), [i for i, size in enumerate(survey.shape) if size == 2]
    duals = Duals.from_numbers(found.numbers)
    bits, ratio = len(columns), duals.ratio(2.0)
    asked = np.array([sum(1 << columns.index(i) for i in members) for members in survey.components.sets])
    sets = some_sets(bits, np.random.default_rng(0), 40).astype(float)
    fourier_weights = np.stack([(walsh_hadamard(row)[asked] / 2**bits) ** 2 for row in sets])
    weights = duals.weights[np.bitwise_count(asked) - 1]
    D = np.expm1(2.0)
    assert (D**2 * fourier_weights @ weights / (1 + D * sets.mean(axis=1)) ** 2 <= ratio).all()
    best = optimize.design(survey, epsilon=2.0, time_limit=None, max_rounds=10, seed=0)
    assert found.value <= best.objective


@pytest.mark.parametrize(
    ("columns", "epsilon", "most"),
    [
        (6, 1.0, 0.0001),
        pytest.param(6, 2.0, 0.009, marks=pytest.mark.slow),
        pytest.param(6, 3.0, 0.01, marks=pytest.mark.slow),
        (5, 3.0, 0.0001),
        pytest.param(10, 2.0, 0.08, marks=pytest.mark.slow),
    ],
)
def test_pairs_of_columns(columns, epsilon, most):
    survey = workloads.survey((2,) * columns, 2)
    found = bounds.certificate(survey, epsilon, time_limit=None)
    assert found.verify()
    design = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=40, seed=0)
    assert 0 <= design.objective / found.value - 1 < most


def test_it_is_what_a_certificate_is_at_once_where_it_is_best():
    survey, told = workloads.survey([2] * 8, 2), []
    found = bounds.certificate(
        survey, 3.0, time_limit=None, callback=lambda at: told.append(at.bound), cancel=lambda: len(told) > 1
    )
    assert isinstance(found, bounds.TripleCertificate)
    assert found.verify()


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
    ):
        assert not replace(found, **change).verify()
