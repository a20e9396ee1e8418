"""Designs are what they are said to be, point by point, and so are the errors of the mechanisms made of them."""

import itertools
import math
import re

import numpy as np
import pytest

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.mechanisms import block_designs
from ldp_core.mechanisms.block_designs import geometry, sketch
from tests.refused import refused

DESIGNS = {
    "Fano plane": (geometry(7, 2), 7),
    "plane of order 4": (geometry(21, 4), 21),
    "plane of order 9": (geometry(91, 9), 91),
    "space of order 3": (geometry(40, 3), 40),
    "affine plane of order 8": (geometry(64, 8), 64),
    "affine space of order 4": (geometry(64, 4), 64),
    "line": (geometry(7, 7), 7),
    "sketch of 3 buckets": (sketch(27, 3), 27),
    "sketch of 8 buckets": (sketch(60, 8), 64),
}
"""Designs of every kind, with as many types as points."""


def blocks_of(design, n):
    inside = design.write(n)
    return inside[inside.any(axis=1)]  # an affine geometry is written with the hyperplane that holds none of its points


@pytest.mark.parametrize("name", DESIGNS)
def test_every_two_points_share_equally_many_blocks(name):
    design, n = DESIGNS[name]
    blocks = blocks_of(design, n).astype(int)
    assert (design.points, blocks.shape) == (n, (design.blocks, n))
    assert set(blocks.sum(axis=1)) == {design.size}
    assert set(blocks.sum(axis=0) * design.points) == {design.blocks * design.size}
    assert len(set((blocks.T @ blocks)[~np.eye(n, dtype=bool)])) == 1


@pytest.mark.parametrize("name", DESIGNS)
def test_errors_are_those_of_subset_selection_with_sets_like_blocks(name):
    """Park, Nam and Lee 2023: only the number of points and the size of blocks matter."""
    epsilon, (design, n) = 1.0, DESIGNS[name]
    mechanism = block_designs._mechanism(design, n, epsilon, {})
    same = mechanisms.create("subset_selection", n, epsilon, size=design.size)
    counts = np.arange(n)
    for workload in (workloads.histogram(n), workloads.prefix(n)):
        assert mechanism.variance_profile(workload).mean() == pytest.approx(same.variance_profile(workload).mean())
    histogram = workloads.histogram(n)
    assert mechanism.variance_profile(histogram) == pytest.approx(np.full(n, design.variance(n, epsilon)))
    assert mechanism.query_variances(histogram, counts) == pytest.approx(same.query_variances(histogram, counts))


def test_projective_geometry_has_the_probabilities_of_its_paper():
    """Feldman et al. 2022: K = (q^t - 1)/(q - 1) reports, (q^(t-1) - 1)/(q - 1) of them e^epsilon
    times as likely; any two types share (q^(t-2) - 1)/(q - 1) of these."""
    Q = mechanisms.create("projective_geometry", 156, 1.5, order=5).strategy
    likely = Q.mean() < Q
    assert Q.shape == (156, 156)
    assert set(likely.sum(axis=0)) == {31}
    assert set((likely.T.astype(int) @ likely)[~np.eye(156, dtype=bool)]) == {6}
    assert Q[likely].min() == pytest.approx(math.exp(1.5) / (31 * math.exp(1.5) + 125))
    assert Q[~likely].max() == pytest.approx(1 / (31 * math.exp(1.5) + 125))


@pytest.mark.parametrize(("n", "q", "length"), [(25, 5, 2), (27, 3, 3), (20, 3, 3), (7, 7, 1)])
def test_a_count_mean_sketch_is_a_random_hash_and_randomized_response(n, q, length):
    """Hash functions u -> h'u over a prime field, one of each that differ by a factor only; the bucket is then told by randomized response."""
    E, Q = math.exp(1.0), block_designs._mechanism(sketch(n, q), n, 1.0, {}).strategy
    words = list(itertools.product(range(q), repeat=length))
    hashes = [h for h in words if next((letter for letter in h if letter), 0) == 1]
    expected = [
        [
            (E if sum(map(math.prod, zip(h, u, strict=True))) % q == bucket else 1) / (E + q - 1) / len(hashes)
            for u in words
        ]
        for h in hashes
        for bucket in range(q)
    ]
    # Types may have other numbers: what any two of them share, and what each sends, is the same.
    found, told = Q.T @ Q, np.array(expected).T @ np.array(expected)
    assert Q.shape == (q * len(hashes), n)
    assert found == pytest.approx(told[:n, :n])
    assert np.sort(Q, axis=0) == pytest.approx(np.sort(expected, axis=0)[:, :n])


@pytest.mark.parametrize(("n", "epsilon"), [(5, 0.3), (64, 1.0), (100, 4.0)])
def test_the_sketch_is_a_kind_of_geometry(n, epsilon):
    histogram, name = workloads.histogram(n), "projective_geometry(kind=count_mean_sketch)"
    found, best, hashed = (
        analysis.average_variance(mechanisms.create(one, n, epsilon), histogram)
        for one in (name, "subset_selection", "olh")
    )
    assert best * (1 - 1e-9) <= found <= 1.15 * best
    assert found <= hashed * (1 + 1e-9)
    assert "kind count mean sketch" in library.spec(name).title
    refused("Unknown kind 'sketch'", lambda: mechanisms.create("projective_geometry", n, epsilon, kind="sketch"))


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (6, "The order of a field is a prime power, such as 2, 3, 4, 5, 7, 8 or 9; got 6."),
        (1, "Order must be a whole number of at least 2; got 1."),
        (10**17, "needs a strategy matrix of at least 100,000,000,000,000,000 x 8 entries, too large here."),
    ],
)
def test_other_orders_are_refused_in_a_sentence(order, words):
    refused(re.escape(words), mechanisms.create, "projective_geometry", 8, 1.0, order=order)
