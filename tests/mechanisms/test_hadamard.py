"""Hadamard response: the construction, entry by entry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import mechanisms
from ldp_core.mechanisms import hadamard
from tests.refused import refused


@settings(max_examples=60)
@given(st.integers(2, 70), st.floats(0.001, 20))
def test_hadamard_blocks_follow_the_paper(n, epsilon):
    blocks, size = hadamard.blocks_and_size(n, epsilon)
    assert blocks == 2 ** (math.ceil(math.log2(min(math.exp(epsilon), 2 * n))) - 1)
    assert size == 2 ** math.ceil(math.log2(n / blocks + 1))
    assert blocks * (size - 1) >= n


@settings(max_examples=60)
@given(st.integers(2, 70), st.floats(0.001, 20))
def test_every_type_owns_half_a_block_and_audits_within_epsilon(n, epsilon):
    mechanism = mechanisms.create("hadamard", n, epsilon)
    blocks, size = hadamard.blocks_and_size(n, epsilon)
    Q = mechanism.strategy
    assert Q.shape == (blocks * size, n)
    own = math.sqrt(Q.min() * Q.max()) < Q
    assert (own.sum(axis=0) == size // 2).all()
    for alike in (Q[own], Q[~own]):  # two values, as whole steps of 2^-53 that sum to 1 in every column
        assert np.ptp(alike) <= 2 * len(Q) * 2.0**-53
    assert Q.max() / Q.min() == pytest.approx(math.exp(epsilon))
    assert mechanism.audit().epsilon <= epsilon
    # Any two types of one block share half of their outputs, types of two blocks share none.
    block = np.arange(n) // (size - 1)
    shared = own.T.astype(int) @ own
    expected = np.where(block[:, None] == block, size // 4, 0) + np.diag(np.full(n, size // 2 - size // 4))
    assert np.array_equal(shared, expected)
    assert mechanism.bits_per_report == math.log2(blocks * size)


def test_hadamard_too_large_to_write_out_is_refused():
    refused("too large here", mechanisms.create, "hadamard", 2**14, 1.0)
