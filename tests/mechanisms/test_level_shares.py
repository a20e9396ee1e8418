"""Levels of a tree picked with probabilities of one's own, against enumeration, plain linear algebra and numerical optimisation."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import optimize
from written_trees import least_squares, level_matrices

from ldp_core import analysis, library, mechanisms, workloads
from ldp_core.mechanisms.trees.levels import Tree
from tests.refused import refused

SHARES = [0.5, 0.3, 0.2]
create = partial(mechanisms.create, "hierarchical", epsilon=1.0, branching=2)


@pytest.mark.parametrize("n", [7, 9, 64])
def test_consistency_weighs_the_levels_by_their_shares(n):
    """Least squares with a weight p_l for the nodes of level l, and the sum fixed."""
    height = len(level_matrices(n, 4))
    shares = np.arange(height, 0, -1.0)
    tree = create(n=n, branching=4, oracle="oue", reconstruction="consistent", shares=shares).tree
    noisy = [np.random.default_rng(level).normal(size=(2, size)) for level, size in enumerate(tree.sizes)]
    from_nodes, from_root = least_squares(n, 4, shares / shares.sum())
    assert tree.consistent(noisy, 17.0) == pytest.approx(np.hstack(noisy) @ from_nodes.T + 17 * from_root, abs=1e-10)
    rows = np.random.default_rng(5).normal(size=(3, n))
    assert np.hstack(tree.shares(rows)) == pytest.approx(rows @ from_nodes, abs=1e-10)


# --- the best shares ------------------------------------------------------------------------------------------------


def least(height, average):
    """The logarithm of the least average variance over all shares, by a search of SciPy's from even ones."""
    share = lambda logs: (weights := np.exp(logs - logs.max())) / weights.sum()  # noqa: E731
    return optimize.minimize(lambda logs: math.log(average(share(logs))), np.zeros(height), method="L-BFGS-B").fun


@pytest.mark.parametrize("kind", ["prefix", "all_range"])
@pytest.mark.parametrize(
    ("oracle", "reconstruction"), [("oue", "raw"), ("hrr", "raw"), ("oue", "consistent"), ("hadamard", "optimal")]
)
def test_fitted_shares_are_the_best(kind, oracle, reconstruction):
    workload, how = getattr(workloads, kind)(16), {"oracle": oracle, "reconstruction": reconstruction}
    average = lambda shares: create(n=16, shares=shares, **how).variance_profile(workload).mean()  # noqa: E731
    fitted = create(workload=workload, shares="fitted", **how)
    found = analysis.average_variance(fitted, workload)
    assert math.log(found) == pytest.approx(least(4, average), abs=2e-4)  # shares have four decimal places
    assert found < 0.999 * average(np.ones(4))


def test_what_shares_change_and_what_not():
    even, named = create(n=8, oracle="oue"), create(n=8, oracle="oue", shares="even")
    assert even.digest == named.digest
    one, other = create(n=8, oracle="oue", shares=SHARES), create(n=8, oracle="oue", shares="50 30 20")
    assert one.digest == other.digest != even.digest
    assert sum(one.parameters["shares"]) == 1
    assert one.audit().epsilon == even.audit().epsilon
    assert "with probabilities 0.5, 0.3, 0.2" in one.explain()
    variant = library.spec("hierarchical(oracle=oue, shares=5 3 2)")
    assert library.spec(variant.name).name == variant.name
    assert library.create(variant.name, 8, 1.0, branching=2).digest == one.digest


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([0.5, 0.5], "3 levels below its root, so 3 shares are needed"),
        ([1, 0, 1], "a number above 0 for each level"),
        ("1 2 x", "Unknown shares '1 2 x'"),
        ("fitted", "pass a workload"),
    ],
)
def test_bad_shares_are_refused_in_a_sentence(shares, words):
    refused(words, create, n=8, oracle="oue", shares=shares)


def test_thinning_follows_the_shares():
    tree, counts, rng = Tree(7, 2, tuple(SHARES)), np.array([3, 0, 100, 41, 7, 0, 9]), np.random.default_rng(3)
    samples = np.array([[part.sum() for part in tree.thin(counts, rng)] for _ in range(2000)])
    assert np.all(samples.sum(axis=1) == counts.sum())
    spread = np.sqrt(counts.sum() * 0.25 / 2000)
    assert samples.mean(axis=0) == pytest.approx(counts.sum() * np.array(SHARES), abs=5 * spread)
