"""Exact tables whose rows have two values, checked in whole numbers, and the devices that hold them in bits."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from ldp_core import limits, workloads
from ldp_core.deploy.kit import devices
from ldp_core.deploy.kit.audit import audit
from ldp_core.deploy.kit.client import ONE, Device
from ldp_core.library import optimized
from ldp_core.mechanisms.two_valued import two_valued
from ldp_core.optimize import design, strategy
from tests.deploy.kit.laws import law
from tests.mechanisms.test_quantised import is_exact
from tests.mechanisms.test_quantised import two_valued as random_rows
from tests.refused import refused


def values(table):
    """How many values each row has."""
    return [len(set(row)) for row in table.tolist()]


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "4", "12"])
def test_rows_keep_two_values_and_what_is_left_is_one_more_report(epsilon):
    strategy = random_rows(60, 17, float(epsilon), np.random.default_rng(0))
    table = two_valued(strategy, float(epsilon), 1000)
    assert is_exact(table, epsilon)
    assert table.shape == (121, 17)
    assert max(values(table[:-1])) <= 2
    assert np.abs(table[:-1] / strategy - 1).max() < 1e-6
    assert 0 < table[-1].max() < 1e-6


def test_the_lightest_rows_are_joined_where_there_are_too_many():
    strategy = random_rows(40, 12, 1.0, np.random.default_rng(1))
    table = two_valued(strategy, 1.0, 70)
    assert is_exact(table, "1")
    assert len(table) == 70
    left_out = np.sort(strategy.sum(axis=1))[:11].sum()
    assert table[-1].sum() == pytest.approx(left_out, rel=1e-6)


@pytest.mark.parametrize(
    "rows", [[[1, 2, 1.5], [2, 1, 1.5]], [[1, 1, 0], [0, 0, 1]]], ids=["three values", "a report that some never send"]
)
def test_other_rows_have_no_such_table(rows):
    rows = np.array(rows, dtype=float)
    assert two_valued(rows / rows.sum(axis=0), 1.0, 1000) is None


@pytest.fixture
def no_chances(monkeypatch):
    """Devices that hold no table but in bits."""
    for module in (devices, strategy):
        monkeypatch.setattr(module, "MOST_DEVICE_ENTRIES", 0)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "12"])
def test_a_device_in_bits_draws_by_the_very_chances_of_its_mechanism(no_chances, epsilon):
    workload = workloads.all_range(9)
    made = optimized.build_certified(workload, float(epsilon), max_rounds=3, time_limit=None)
    described = json.loads(json.dumps(devices.describe(made, epsilon)))
    assert described["sampler"]["kind"] == "two_valued"
    assert 0 <= made.lost < 1e-6
    device = Device(described)
    for u in range(9):
        exact = [Fraction(chance) for chance in made.strategy[:, u].tolist()]
        assert law(device, u) == {(y,): chance for y, chance in enumerate(exact)}
    found = audit(described)
    assert found.holds
    assert math.log(found.largest) <= made.audit().epsilon * (1 + 1e-13)  # two logarithms of one ratio
    assert made.audit().epsilon <= float(epsilon)


def test_a_device_in_bits_is_refused_when_one_unit_breaks_epsilon(no_chances):
    made = optimized.build_certified(workloads.all_range(9), 1.0, max_rounds=3, time_limit=None)
    described = devices.describe(made, "1.0")
    sampler = described["sampler"]
    more = math.floor(audit(described).limit * sampler["low"][0]) + 1 - sampler["high"][0]
    sampler["high"][0] += more
    sampler["rest"] = [
        rest - more * (int(cells[0], 16) >> 3) for rest, cells in zip(sampler["rest"], sampler["cells"], strict=True)
    ]
    described["design"] = devices.design_id(described)
    assert not audit(described).holds
    refused("breaks its promise", Device, described)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1120, 2048])
def test_designs_of_many_types_fit_into_a_device(n):
    workload = workloads.prefix(n)
    found = design(workload, 1.0, time_limit=None, max_rounds=1)
    made = strategy.from_strategy("optimized", found.strategy, 1.0, {}, workload=workload)
    assert made.strategy.size <= limits.MOST_STRATEGY_ENTRIES
    assert 0 <= made.lost < 0.01
    described = devices.describe(made, "1.0")
    assert len(json.dumps(described)) < 2e7
    device, last = Device(described), len(made.strategy) - 1
    assert device.draw(3, lambda n: ONE - 1) == [last]
    assert all(0 <= int(device.report(n - 1)) <= last for _ in range(200))
