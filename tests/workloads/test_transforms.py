"""The Walsh-Hadamard transform against its definition."""

import numpy as np
import pytest

from ldp_core.workloads import walsh_hadamard


@pytest.mark.parametrize("d", [0, 1, 3, 4, 5, 8, 11])
def test_transforms_are_sums_with_the_signs_of_common_bits(d):
    types, rng = np.arange(2**d), np.random.default_rng(d)
    signs = 1.0 - 2.0 * (np.bitwise_count(types[:, None] & types) % 2)
    x = rng.standard_normal((2, 3, 2**d))
    given = x.copy()
    assert walsh_hadamard(x) == pytest.approx(x @ signs, abs=1e-9)
    assert np.array_equal(x, given)
    whole = rng.integers(-(2**30), 2**30, 2**d)
    assert np.array_equal(walsh_hadamard(whole), signs.astype(int) @ whole)
    assert np.array_equal(walsh_hadamard(whole > 0), signs @ (whole > 0))


def test_numbers_in_single_precision_stay_so_and_whole_ones_are_exact():
    sets = np.random.default_rng(0).random((3, 2**12)) < 0.3
    found = walsh_hadamard(sets.astype(np.float32))
    assert found.dtype == np.float32
    assert np.array_equal(found, walsh_hadamard(sets))
    assert walsh_hadamard(sets).dtype == float
