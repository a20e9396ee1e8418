"""Bounds of surveys: against all sets of small domains, in rational arithmetic, against designs, and against forgers."""

import math
import threading
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ldp_core import anova, bounds, optimize, workloads
from ldp_core.bounds.proof import exp_epsilon_minus_one
from ldp_core.bounds.surveys.certificate import closed_form
from tests.declared import ADULT
from tests.refused import refused


@cache
def rows(shape):
    """All 0/1 tables of a small shape but the constant ones: their sets of attributes, shares (r,) and Fourier weights W (r, sets)."""
    cells = math.prod(shape)
    tables = (np.arange(1, 2**cells - 1)[:, None] >> np.arange(cells) & 1).reshape(-1, *shape).astype(float)
    sets = list(anova.subsets(range(len(shape))))[1:]
    fourier_weights = np.empty((len(tables), len(sets)))
    for j, members in enumerate(sets):
        axes = tuple(i + 1 for i in range(len(shape)) if i not in members)
        found = tables.mean(axis=axes, keepdims=True)
        for i in members:
            found = found - found.mean(axis=i + 1, keepdims=True)
        fourier_weights[:, j] = (found**2).reshape(len(tables), -1).mean(axis=1)
    return sets, tables.reshape(len(tables), -1).mean(axis=1), fourier_weights


def relative(survey, epsilon, value):
    return value / bounds.centred_svd(survey, epsilon) - 1


# --- certificates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 4.0, 12.0])
def test_without_inequalities_the_bound_is_the_closed_form(epsilon):
    survey = workloads.survey(ADULT, 2)
    proof = closed_form(survey, epsilon)
    assert proof.verify()
    closed = max(bounds.centred_svd(survey, epsilon), survey.trace)
    assert -2e-8 < proof.value / closed - 1 <= 0


def true_bound(proof):
    """The bound by all sets of a small domain, in rational arithmetic."""
    survey, c = proof.workload, proof.workload.components
    sets, shares, fourier_weights = rows(survey.shape)
    cells = math.prod(survey.shape)
    D = Fraction(exp_epsilon_minus_one(proof.epsilon))
    position = [sets.index(members) for members in c.sets]
    # The Fourier weights are fractions with a denominator of cells^2 at most.
    numerators = np.rint(fourier_weights[:, position] * cells**2).astype(int)
    most = Fraction(0)
    for own, count in {(tuple(row.tolist()), round(s * cells)) for row, s in zip(numerators, shares, strict=True)}:
        s = Fraction(count, cells)
        value = Fraction(sum(own), cells**2) * D**2 / (1 + D * s) ** 2
        most = max(most, value)
    root = sum(
        Fraction(float(dims)) * root_of(Fraction(float(gram))) for dims, gram in zip(c.dims, c.gram, strict=True)
    )
    return cells * (Fraction(c.constant) + (root**2 / most if root else 0))


def root_of(x):
    """A square root from above, within 1e-30."""
    scale = 10**60
    return Fraction(math.isqrt(math.ceil(x * scale)) + 1, 10**30)


@pytest.mark.crossed
@pytest.mark.parametrize(("shape", "ways"), [((2, 2, 3), 1), ((2, 2, 3), 2), ((3, 4), 1), ((2, 2, 2), 2)])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_small_surveys_against_all_sets_in_rational_arithmetic(shape, ways, epsilon):
    survey = workloads.survey(shape, ways)
    proof = bounds.certificate(survey, epsilon, time_limit=None)
    assert proof.verify()
    if proof.kind == "tables" and type(proof) is bounds.Certificate:
        assert proof.value <= true_bound(proof)
    assert proof.value <= optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=30, seed=0).objective


# --- how good they are ----------------------------------------------------------------------------------------------


def one_column_at_a_time(sizes, epsilon):
    """L of asking one random column at a time by subset selection, with the best shares of people."""
    D = math.expm1(epsilon)
    roots, constant = 0.0, len(sizes) / len(sizes)
    constant = sum(1 / n for n in sizes)
    for n in sizes:
        s = np.arange(1, n) / n
        fourier_weight = (D**2 * s * (1 - s) / (1 + D * s) ** 2).max()
        roots += (n - 1) / math.sqrt(n * fourier_weight)
    return math.prod(sizes) * (constant + roots**2)


@pytest.mark.parametrize(
    ("epsilon", "least", "most"),
    [
        (1.0, 0.0, 0.016),
        pytest.param(2.0, 0.0, 0.04, marks=pytest.mark.slow),
        pytest.param(3.0, 0.0, 0.06, marks=pytest.mark.slow),
    ],
)
def test_single_columns_of_a_real_survey(epsilon, least, most):
    sizes = ADULT if epsilon > 1 else ADULT[::3]
    value = bounds.certificate(workloads.survey(sizes, 1), epsilon, time_limit=None).value
    columns = one_column_at_a_time(sizes, epsilon)
    mixed = 1.0 if epsilon < 3 else 0.95  # larger patterns are better by a few per cent there
    assert least <= mixed * columns / value - 1 <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "ways", "epsilon", "most"),
    [
        (ADULT, 2, 1.0, 0.001),
        ((5,) * 12, 2, 1.0, 0.005),
        ((2,) * 6, 1, 4.0, 0.05),
        *(
            pytest.param(ADULT, ways, e, most, marks=pytest.mark.slow)
            for ways, e, most in (
                (2, 2.0, 0.001),
                (2, 3.0, 0.055),
                (3, 1.0, 0.001),
                (3, 2.0, 0.001),
            )
        ),
    ],
)
def test_designs_and_bounds_meet(sizes, ways, epsilon, most):
    survey = workloads.survey(sizes, ways)
    proof = bounds.certificate(survey, epsilon, time_limit=None)
    design = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=25, seed=0)
    assert proof.verify()
    assert 0 <= design.objective / proof.value - 1 < most


@pytest.mark.crossed
@pytest.mark.parametrize(("sizes", "ways"), [((2,), 1), ((3,), 1), ((1, 3), 1), ((2, 2), 2), ((2, 3), 2)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_so_few_types_that_most_shares_belong_to_no_set(sizes, ways, epsilon):
    test_designs_and_bounds_meet(sizes, ways, epsilon, 0.001)


@settings(max_examples=4)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=2).filter(lambda sizes: max(sizes) > 1),
    st.integers(1, 3),
    st.sampled_from([0.05, 0.5, 2.0, 5.0, 6.0, 8.0]),
)
@example([3], 1, 6.0)  # the finest grid of a single column is not looked at
@example([5], 1, 8.0)
def test_what_is_found_for_any_survey_can_be_verified(sizes, ways, epsilon):
    survey, asked = workloads.survey(sizes, min(ways, len(sizes))), iter(range(10**6))
    found = bounds.certificate(survey, epsilon, time_limit=None, cancel=lambda: next(asked) > 80)
    assert found.verify()
    assert found.value <= optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=5, seed=0).objective


@pytest.mark.parametrize(
    ("columns", "epsilon", "gain"),
    [
        (6, 0.5, 1.03),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((7, 0.5, 1.03), (8, 0.5, 1.03), (10, 0.5, 1.02), (8, 0.7, 1.02))
        ),
    ],
)
def test_that_bits_come_in_whole_numbers_counts_at_small_epsilon(columns, epsilon, gain):
    """The bound by pairs of types, which is none of columns, is among those tried, and not above what a strategy over all types reaches."""
    survey = workloads.survey([2] * columns, 2)
    found = bounds.certificate(survey, epsilon, time_limit=None)
    assert found.kind == "classes"
    assert found.verify()
    closed = closed_form(survey, epsilon)
    assert found.value > gain * closed.value
    assert not replace(found, value=found.value * (1 + 1e-6)).verify()
    best = optimize.design(survey, epsilon=epsilon, time_limit=None, max_rounds=10)
    assert found.value <= best.objective


# --- time, progress, and cancelling ---------------------------------------------------------------------------------


def test_the_closed_form_is_there_at_once_and_the_bound_only_grows(clock):
    survey, told = workloads.survey(ADULT, 1), []
    at_once = bounds.certificate(survey, 3.0, time_limit=0)
    assert at_once.verify()
    assert abs(relative(survey, 3.0, at_once.proven())) < 1e-9
    stop = threading.Event()

    def watch(progress):
        told.append(progress)
        if len(told) == 4:
            stop.set()

    found = bounds.certificate(survey, 3.0, time_limit=None, callback=watch, cancel=stop)
    values = [progress.bound for progress in told]
    assert values == sorted(values)
    assert found.value == values[-1]
    assert len(told) == 4
    assert found.verify()
    refused(r".", bounds.certificate, survey, -1.0, None)
