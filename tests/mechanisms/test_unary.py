"""RAPPOR, OUE and OLH: reconstructions, hashing against its definition, and what reports are kept as."""

from itertools import combinations

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.mechanisms.local_hashing import LocalHashing
from ldp_core.mechanisms.unary import RECONSTRUCTIONS, UnaryEncoding
from tests.refused import refused


def build(name, n, epsilon, reconstruction="known_total"):
    if name == "olh":
        return LocalHashing(n, epsilon, reconstruction)
    return UnaryEncoding(name, n, epsilon, reconstruction)


@pytest.mark.parametrize("name", ["oue", "rappor", "olh"])
@pytest.mark.parametrize("n", [2, 9, 300])
def test_known_total_never_loses(name, n):
    for w in (workloads.prefix(n), workloads.histogram(n)):
        standard, known = (build(name, n, 1.0, r).variance_profile(w) for r in RECONSTRUCTIONS[::-1])
        assert known.max() <= standard.max() * (1 + 1e-12)


@pytest.mark.parametrize("buckets", [2, 3, 4, 6])
def test_three_types_hash_independently_for_any_number_of_buckets(buckets):
    """Exact enumeration of all coefficients and offsets, keys apart: every triple of buckets is equally likely."""
    m = LocalHashing(8, 1.0)
    m.buckets = buckets
    grids = np.meshgrid(*[np.arange(buckets)] * (m.digits + 1), indexing="ij")
    functions = np.stack([grid.ravel() for grid in grids], axis=1)
    hashed = (functions[:, :-1] @ m._digits_of(np.arange(8)).T + functions[:, -1:]) % buckets
    for triple in combinations(range(8), 3):
        joint = hashed[:, triple] @ (buckets ** np.arange(3))
        assert np.all(np.bincount(joint, minlength=buckets**3) == len(functions) // buckets**3)


def test_olh_has_the_buckets_of_the_paper():
    assert [LocalHashing(8, e).buckets for e in (0.1, 1.0, 2.0, 4.0)] == [2, 4, 8, 56]


@pytest.mark.parametrize("reconstruction", RECONSTRUCTIONS)
def test_hashed_collections_have_the_exact_covariance(reconstruction):
    m, rng, trials = LocalHashing(6, 1.0, reconstruction), np.random.default_rng(1), 1500
    counts = np.array([40, 0, 25, 5, 60, 15])
    values, C = np.repeat(np.arange(6), counts), m.covariance(counts)
    for draw in (lambda: m.simulate(counts, rng), lambda: m.aggregate(m.privatize(values, rng))):
        found = np.array([m.estimate(draw()).counts() for _ in range(trials)])
        assert (np.abs(found.mean(axis=0) - counts) < 4.5 * np.sqrt(np.diag(C) / trials)).all()
        # A sample covariance has standard error sqrt((C_ii C_jj + C_ij^2)/trials).
        spread = np.sqrt((np.outer(np.diag(C), np.diag(C)) + C**2) / trials)
        assert (np.abs(np.cov(found.T) - C) < 5 * spread).all()


def test_bad_reports_and_parameters_get_a_sentence():
    m, olh = build("oue", 5, 1.0), build("olh", 5, 1.0)
    refused("Unknown reconstruction", build, "oue", 5, 1.0, "best")
    refused("must hold 5 bits", m.aggregate, np.full((3, 5), 2))
    refused("uint64", olh.aggregate, np.zeros((3, 2)))
    refused(
        "another mechanism",
        lambda: m.estimate(build("oue", 5, 2.0).simulate(np.ones(5, dtype=int), np.random.default_rng(0))),
    )
