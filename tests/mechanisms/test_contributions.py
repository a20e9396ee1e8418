"""The contribution of one report to answers: means, variances and limits, against exact covariances
and reports drawn one by one."""

import numpy as np
import pytest

from ldp_core import library, mechanisms, workloads
from ldp_core.mechanisms.orbits import OrbitMechanism
from ldp_core.mechanisms.rings import RingMechanism

N = 12
WORKLOAD = workloads.all_range(N)
UNARY = [
    (name, {"reconstruction": r}) for name in ("oue", "rappor", "olh") for r in ("known_total", "standard", "optimal")
]
TREES = [
    ("hierarchical", {"branching": 3, "oracle": oracle, "reconstruction": r})
    for oracle in ("hadamard", "oue", "hrr", "randomized_response", "subset_selection")
    for r in ("consistent", "raw")
]
TABLES = [
    ("hierarchical_2d", {"shape": (3, 4), "branching": 2, "oracle": oracle, "reconstruction": r})
    for oracle in ("hadamard", "oue", "hrr")
    for r in ("consistent", "raw")
]
CASES = [
    ("randomized_response", {}),
    ("subset_selection", {"size": 3}),
    *UNARY,
    ("hadamard", {}),
    ("square_wave", {}),
    ("hrr", {"reconstruction": "transform"}),
    ("hrr", {"reconstruction": "optimal"}),
    ("haar", {}),
    *TREES,
    *TABLES,
    ("rejection_gaussian", {}),
]


def built(name, parameters, workload=WORKLOAD):
    fitted = {"workload": workload} if library.spec(name).needs_workload else {"n": workload.n}
    return mechanisms.create(name, epsilon=1.0, **fitted, **parameters)


def orbits():
    high = np.zeros((2, 16), dtype=bool)
    high[0, 0] = high[1, [0, 3, 5]] = True
    return OrbitMechanism("orbits", high, np.array([0.3, 0.7]), 1.0), workloads.all_range(16)


def ring():
    high = np.zeros((2, 21), dtype=bool)
    high[0, 0] = high[1, [0, 3, 5, 6, 7]] = True
    return RingMechanism("ring", high, np.array([0.3, 0.7]), 16, 1.0), workloads.all_range(16)


def check(mechanism, workload, draws=300):
    """Variances per type add up to those of a population, and no report adds more or less than is said."""
    rng, queries = np.random.default_rng(0), np.arange(workload.num_queries)
    adds = mechanism.query_contributions(workload, queries)
    assert np.array_equal(adds.means, workload.rows(queries))
    counts = rng.multinomial(500, np.full(workload.n, 1 / workload.n))
    exact = mechanism.query_variances(workload, counts, queries)
    assert adds.variances @ counts == pytest.approx(exact, rel=1e-9, abs=1e-9 * exact.max())
    off = np.empty((draws, queries.size))
    for i in range(draws):
        one = np.eye(workload.n, dtype=int)[i % workload.n]
        added = mechanism.estimate(mechanism.simulate(one, rng)).answers(workload)
        off[i] = added - workload.rows(queries)[:, i % workload.n]
        two = np.isfinite(adds.low)
        nearest = np.minimum(np.abs(added - adds.low), np.abs(added - adds.high))
        assert nearest[two] == pytest.approx(np.zeros(two.sum()), abs=1e-7)
    assert np.all(off <= adds.up * adds.parts + 1e-7)
    assert np.all(-off <= adds.down * adds.parts + 1e-7)
    return adds, off


@pytest.mark.parametrize(("name", "parameters"), CASES, ids=repr)
def test_contributions_are_those_of_reports(name, parameters):
    mechanism = built(name, parameters)
    adds, off = check(mechanism, WORKLOAD)
    if adds.parts == 1 and mechanism.n == N and name in ("randomized_response", "hadamard", "hrr", "haar"):
        noisy = adds.variances.max(axis=1) > 1e-6  # limits that are reached, not only kept
        assert off.max(axis=0)[noisy] == pytest.approx(adds.up[noisy], rel=0.35)


@pytest.mark.parametrize(("name", "parameters"), TABLES, ids=repr)
def test_contributions_to_rectangles_are_those_of_reports(name, parameters):
    workload = workloads.product([workloads.all_range(3), workloads.prefix(4)])
    check(built(name, parameters, workload), workload)


def test_contributions_of_orbits():
    check(*orbits())


def test_contributions_on_a_ring():
    check(*ring())


def test_two_values_are_found_where_they_are():
    histogram, prefix = workloads.histogram(8), workloads.prefix(8)

    def two(name, workload, **parameters):
        mechanism = mechanisms.create(name, workload.n, 1.0, **parameters)
        return np.isfinite(mechanism.query_contributions(workload, np.arange(7)).low)

    for name in ("randomized_response", "subset_selection", "hrr"):
        assert two(name, histogram).all()
    assert two("oue", histogram, reconstruction="standard").all()
    assert not two("oue", histogram).any()
    assert two("randomized_response", prefix).all()
    assert two("subset_selection", prefix, size=3).tolist() == [True, *[False] * 5, True]


def test_bits_of_unary_encodings_are_independent_parts():
    mechanism = mechanisms.create("oue", 8, 1.0, reconstruction="standard")
    adds = mechanism.contributions(np.array([[1.0, -2.0, 0, 0, 0, 0, 0, 3.0]]))
    unit = 1 / (mechanism.p - mechanism.q)
    assert adds.parts == 8
    assert adds.up[0] == pytest.approx(unit * max(3 * (1 - mechanism.q), 2 * mechanism.p))
    assert adds.down[0] == pytest.approx(unit * max(3 * mechanism.p, 2 * (1 - mechanism.q)))
