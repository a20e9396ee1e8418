"""Mechanisms whose reports are base rows that a group moves: flipped bits, and rotations of a ring."""

import numpy as np
import pytest
from written_out import EveryReport, check_errors

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.mechanisms import RingMechanism
from ldp_core.mechanisms.orbits import OrbitMechanism
from ldp_core.optimize import SearchLimits, design_orbits


def test_characters_that_no_row_shows_are_not_identified():
    types = np.arange(8)
    mechanism = OrbitMechanism("first attribute", np.array([types & 1 == 1]), np.ones(1), 1.0)
    assert mechanism.supports(workloads.histogram(8)) is not None
    assert mechanism.supports(workloads.prefix(8)) is not None
    assert mechanism.supports(workloads.prefix(4)) is not None
    first = workloads.custom(np.stack([types & 1, 1 - (types & 1)]).astype(float))
    assert mechanism.supports(first) is None
    check_errors(EveryReport(mechanism), first, np.arange(8) * 5)
    assert mechanism.estimate(mechanism.simulate(np.arange(8), np.random.default_rng(0))).counts() is None


@pytest.mark.parametrize(
    ("high", "shares", "words"),
    [
        (np.ones((1, 3), bool), [1.0], "power of two"),
        (np.ones((1, 4), bool), [1.0], "high and low"),
        (np.eye(4, dtype=bool), [0.5, 0.5, 0.0, 0.0], "positive probability"),
        (np.eye(4, dtype=bool), [0.5, 0.1], "positive probability"),
    ],
)
def test_bad_rows_to_flip_are_refused(high, shares, words):
    with pytest.raises(ValueError, match=words):
        OrbitMechanism("bad", high, np.array(shares), 1.0)


@pytest.mark.parametrize(
    ("high", "n", "said"),
    [
        (np.eye(1, 8, dtype=bool), 9, "a place for every type"),
        (np.eye(1, 8, dtype=bool)[0], 4, "a place for every type"),
        (np.array([[1, 0, 1, 0]], dtype=bool), 3, "cannot tell all types apart"),
        (np.ones((1, 4), dtype=bool), 3, "high and low"),
    ],
)
def test_bad_rows_to_rotate_are_refused(high, n, said):
    with pytest.raises(ValueError, match=said):
        RingMechanism("ring", high, np.ones(1), n, 1.0)


@pytest.mark.slow
def test_large_domains_need_no_matrix():
    workload = workloads.k_way_marginals(13, 1)
    found = design_orbits(workload, 1.0, SearchLimits(time_limit=None, max_rounds=1))
    mechanism = OrbitMechanism("optimized", found.high, found.shares, 1.0)
    assert analysis.objective(mechanism, workload) == pytest.approx(found.objective, rel=1e-6)
    rng = np.random.default_rng(0)
    counts = np.zeros(2**13, dtype=int)
    counts[:4] = 20_000
    answers = mechanism.estimate(mechanism.simulate(counts, rng)).answers(workload)
    some = np.arange(6)
    deviation = np.sqrt(mechanism.query_variances(workload, counts, some))
    assert (np.abs(answers[some] - workload.answers(counts)[some]) < 5 * deviation).all()
    with pytest.raises(ValueError, match="too large"):
        mechanism.covariance(counts)
    assert "over binary attributes only" in mechanism.supports(workloads.prefix(2**13))


def test_the_registered_mechanism_is_structured_past_written_strategies(lower):
    lower(MOST_FITTED_TYPES=32)
    orbits = mechanisms.create("optimized", 64, 1.0, workload=workloads.all_marginals(6), max_rounds=2)
    assert isinstance(orbits, OrbitMechanism)


def test_the_registered_mechanism_knows_how_many_types_it_takes():
    subsets = mechanisms.create("optimized", 5000, 1.0, workload=workloads.histogram(5000))
    assert subsets.name == "subset_selection"
    rule = library.spec("optimized").unsuitable
    assert rule(5000, 1.0, workloads.histogram(5000)) is None
    assert rule(4096, 1.0, workloads.parity(12)) is None
    assert rule(4097, 1.0, workloads.prefix(4097)) is not None
