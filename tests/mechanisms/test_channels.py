"""The numbers that estimators need of mechanisms: the strategy as an operator, the tally of its
outputs, variances of single queries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism
from ldp_core.mechanisms.trees.levels import Tree

WITH_CHANNEL = [
    ("randomized_response", {}),
    ("subset_selection", {"size": 1}),
    ("hadamard", {}),
    ("square_wave", {}),
    ("hrr", {"reconstruction": "transform"}),
    ("haar", {}),
    *(
        ("hierarchical", {"oracle": oracle, "reconstruction": reconstruction, "branching": branching})
        for oracle in ("hadamard", "hrr", "randomized_response")
        for reconstruction in ("consistent", "raw")
        for branching in (2, 5)
    ),
]
TABLES = [
    ("hierarchical_2d", {"shape": (2, 4), "oracle": oracle, "reconstruction": reconstruction, "branching": branching})
    for oracle in ("hadamard", "hrr")
    for reconstruction in ("consistent", "raw")
    for branching in (2, 5)
]
# Unary encodings keep every pattern of bits where there are few types.
FEW_TYPES = [("oue", {}), ("rappor", {"reconstruction": "optimal"})]
TALLIED = [(name, parameters, n) for name, parameters in WITH_CHANNEL for n in (2, 3, 8, 13)]
TALLIED += [(name, parameters, n) for name, parameters in FEW_TYPES for n in (2, 3, 8)]
TALLIED += [(name, parameters, 8) for name, parameters in TABLES]
WITHOUT = [
    ("subset_selection", {"size": 3}),
    ("olh", {}),
    ("hierarchical", {"oracle": "oue", "reconstruction": "raw"}),
    ("hierarchical", {"oracle": "oue", "reconstruction": "consistent"}),
    ("hierarchical_2d", {"shape": (2, 4)}),
]


def columns(channel):
    return np.column_stack([channel @ unit for unit in np.eye(channel.shape[1])])


@pytest.mark.parametrize(("name", "parameters", "n"), TALLIED, ids=repr)
def test_the_channel_is_the_distribution_of_the_tally(name, parameters, n):
    mechanism, rng = mechanisms.create(name, n, 0.8, **parameters), np.random.default_rng(n)
    Q = columns(mechanism.channel)
    assert Q.min() > 0
    assert Q.sum(axis=0) == pytest.approx(np.ones(n))
    assert np.log(Q.max(axis=1) / Q.min(axis=1)).max() <= 0.8 * (1 + 1e-9)
    y = rng.normal(size=len(Q))
    assert mechanism.channel.T @ y == pytest.approx(Q.T @ y)
    counts = rng.integers(0, 9, n) * 100_000
    expected = Q @ counts
    for reports in (mechanism.simulate(counts, rng), mechanism.simulate(counts[::-1].copy(), rng)):
        assert mechanism.tally(reports).sum() == counts.sum()
    deviation = (mechanism.tally(mechanism.simulate(counts, rng)) - expected) / np.sqrt(np.maximum(expected, 1))
    assert np.abs(deviation).max() < 5
    values = np.repeat(np.arange(n), counts // 5000)
    raw = mechanism.tally(mechanism.aggregate(mechanism.privatize(values, rng)))
    assert np.abs((raw - expected / 5000) / np.sqrt(np.maximum(expected / 5000, 1))).max() < 5


@pytest.mark.parametrize(("name", "parameters"), WITHOUT, ids=repr)
def test_sums_have_no_channel(name, parameters):
    assert mechanisms.create(name, 8, 1.0, **parameters).channel is None


@pytest.mark.parametrize(("name", "parameters"), FEW_TYPES, ids=repr)
def test_patterns_of_up_to_ten_bits_are_kept(name, parameters):
    assert mechanisms.create(name, 10, 1.0, **parameters).channel.shape == (1024, 10)
    assert mechanisms.create(name, 11, 1.0, **parameters).channel is None


@pytest.mark.parametrize("n", [2, 3, 8, 13])
@pytest.mark.parametrize(
    ("name", "parameters"), [*WITH_CHANNEL, *FEW_TYPES, *WITHOUT[1:-1], ("matrix_l2", {"max_rounds": 2})], ids=repr
)
def test_variances_of_single_queries_are_those_of_all(name, parameters, n):
    rng = np.random.default_rng(n)
    counts = rng.integers(0, 9, n)
    for workload in (workloads.all_range(n), workloads.histogram(n), workloads.custom(rng.normal(size=(7, n)))):
        fitted = {"workload": workloads.prefix(n)} if name == "matrix_l2" else {"n": n}
        mechanism = mechanisms.create(name, epsilon=0.8, **fitted, **parameters)
        everything = mechanism.query_variances(workload, counts)
        queries = rng.integers(workload.num_queries, size=9)
        some = mechanism.query_variances(workload, counts, queries)
        scale = 1e-9 * np.abs(everything).max()
        assert some == pytest.approx(everything[queries], rel=1e-9, abs=scale)
        rows = workload.rows(queries)
        direct = np.einsum("qi,ij,qj->q", rows, mechanism.covariance(counts), rows)
        assert mechanism.linear_variances(rows, counts) == pytest.approx(direct, rel=1e-9, abs=scale)
    assert mechanism.query_variances(workload, counts, np.zeros(0, dtype=int)).shape == (0,)


@settings(max_examples=60)
@given(st.integers(2, 40), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_shares_are_the_adjoint_of_consistency(n, branching, seed):
    tree, rng = Tree(n, branching), np.random.default_rng(seed)
    levels, rows = [rng.normal(size=size) for size in tree.sizes], rng.normal(size=(3, n))
    through = sum(weights @ level for weights, level in zip(tree.shares(rows), levels, strict=True))
    assert through == pytest.approx(rows @ tree.consistent(levels, 0.0))


@pytest.mark.parametrize("users", [40, 4000])
def test_few_and_many_users_are_drawn_alike(users):
    """Few are drawn one by one, many type by type: means and covariances of the tally are the exact ones either way."""
    rng = np.random.default_rng(0)
    Q = rng.dirichlet(np.full(64, 0.7), size=6).T + 1e-6
    mechanism = ExplicitMechanism("any", Q / Q.sum(axis=0), 20.0)
    Q, counts = mechanism.strategy, rng.multinomial(users, np.full(6, 1 / 6))
    tallies = np.array([mechanism.simulate(counts, rng).data for _ in range(4000)])
    assert np.all(tallies.sum(axis=1) == users)
    mean, C = Q @ counts, np.diag(Q @ counts) - (Q * counts) @ Q.T
    assert np.abs((tallies.mean(axis=0) - mean) / np.sqrt(np.diagonal(C) / 4000)).max() < 4.5
    direction = rng.normal(size=(64, 5))
    spread = (tallies @ direction).var(axis=0) / np.einsum("yk,yz,zk->k", direction, C, direction)
    assert np.abs(spread - 1).max() < 6 * np.sqrt(2 / 4000)
