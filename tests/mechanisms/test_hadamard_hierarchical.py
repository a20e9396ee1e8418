"""Hadamard response and hierarchical histograms: the construction, entry by entry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms import hadamard


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
    with pytest.raises(ValueError, match="too large here"):
        mechanisms.create("hadamard", 2**14, 1.0)


@pytest.mark.parametrize(
    ("n", "branching", "widths"),
    [
        (2, 2, [1]),
        (2, 16, [1]),
        (8, 2, [1, 2, 4]),
        (9, 2, [1, 2, 4, 8]),
        (32, 4, [1, 4, 16]),
        (64, 4, [1, 4, 16]),
        (65, 4, [1, 4, 16, 64]),
        (125, 5, [1, 5, 25]),  # log(125) / log(5) is above 3 in floating point
        (243, 3, [1, 3, 9, 27, 81]),
    ],
)
def test_levels_count_exact_powers_rightly(n, branching, widths):
    # Randomized response has one output a node, so the outputs count the nodes of all levels.
    mechanism = mechanisms.create("hierarchical", n, 1.0, branching=branching, oracle="randomized_response")
    assert len(mechanism.strategy) == sum(math.ceil(n / width) for width in widths)


@settings(max_examples=30)
@given(
    st.integers(2, 40),
    st.integers(2, 8),
    st.floats(0.001, 20),
    st.sampled_from(["hadamard", "randomized_response"]),
)
def test_the_strategy_picks_a_level_and_runs_the_oracle_on_its_nodes(n, branching, epsilon, oracle):
    mechanism = mechanisms.create("hierarchical", n, epsilon, branching=branching, oracle=oracle)
    powers = (branching**level for level in range(7))
    levels = [[u // width for u in range(n)] for width in powers if width < n]
    parts = [mechanisms.create(oracle, max(node) + 1, epsilon).strategy for node in levels]
    columns = [
        np.concatenate([part[:, node[u]] / len(levels) for part, node in zip(parts, levels, strict=True)])
        for u in range(n)
    ]
    assert mechanism.strategy == pytest.approx(np.array(columns).T)
    assert mechanism.audit().epsilon <= epsilon
    assert mechanism.audit().epsilon == pytest.approx(epsilon, rel=1e-6)  # small probabilities are whole steps of 2^-53


def test_parameters_are_part_of_the_digest():
    made = [
        mechanisms.create("hierarchical", 16, 1.0, branching=branching, oracle=oracle)
        for branching in (2, 4)
        for oracle in ("hadamard", "randomized_response")
    ]
    assert len({mechanism.digest for mechanism in made}) == 4
    assert made[0].parameters["branching"] == 2
    assert mechanisms.create("hierarchical", 16, 1.0, branching=4, oracle="hadamard").digest == made[2].digest


def test_a_tree_needs_fewer_users_than_a_flat_histogram_for_prefixes():
    workload = workloads.prefix(128)
    tree, flat = (mechanisms.create(name, 128, 1.0) for name in ("hierarchical", "hadamard"))
    assert tree.variance_profile(workload).max() < 0.3 * flat.variance_profile(workload).max()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"branching": 1}, "whole number of at least 2; got 1"),
        ({"branching": 2.5}, "whole number of at least 2"),
        ({"branching": True}, "whole number of at least 2"),
        ({"branching": "4"}, "whole number of at least 2"),
        ({"branching": None}, "whole number of at least 2"),
        ({"branching": float("nan")}, "whole number of at least 2"),
        ({"oracle": "laplace"}, "Unknown oracle 'laplace'"),
        ({"reconstruction": "best"}, "Unknown reconstruction 'best'"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        mechanisms.create("hierarchical", 8, 1.0, **parameters)


def test_trees_too_large_to_write_out_are_refused():
    with pytest.raises(ValueError, match="too large to write out"):
        mechanisms.create("hierarchical", 4096, 1.0, oracle="hadamard", reconstruction="optimal")
