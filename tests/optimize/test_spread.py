"""Questions whose weights are far apart: designs and proofs meet as for others, and past a million times a sentence says why there are none."""

import numpy as np
import pytest

from ldp_core import bounds, library, optimize, workloads
from ldp_core.bounds.general.certificate import closed_form
from tests.refused import refused

ROWS = {
    "totals": lambda n, rng: np.tril(np.ones((n, n))),
    "single types": lambda n, rng: np.eye(n),
    "real": lambda n, rng: rng.standard_normal((n, n)),
    "few 0/1": lambda n, rng: rng.integers(0, 2, (3, n)).astype(float),
}


def weighted(kind, n, decades, seed):
    """Rows of random weights, the largest at most 10^decades times the smallest."""
    rng = np.random.default_rng(seed)
    rows = ROWS[kind](n, rng)
    return workloads.custom(rows * 10 ** rng.uniform(-decades / 2, decades / 2, (len(rows), 1)))


@pytest.mark.parametrize(
    ("kind", "n", "decades", "seed", "epsilon", "rounds"),
    [
        ("totals", 8, 3, 0, 0.05, 8),
        ("totals", 8, 6, 115, 0.5, 8),
        ("totals", 12, 6, 103, 0.05, 12),
        ("single types", 10, 3, 5, 2.0, 15),
        ("single types", 16, 3, 2, 2.0, 15),
        ("single types", 16, 6, 120, 0.5, 12),
        ("real", 8, 3, 1, 3.0, 12),
        ("few 0/1", 8, 6, 101, 1.0, 10),
        pytest.param("single types", 64, 3, 1, 3.0, 60, marks=pytest.mark.slow),
        pytest.param("totals", 64, 3, 1, 0.05, 40, marks=pytest.mark.slow),
    ],
)
def test_designs_and_proofs_meet(kind, n, decades, seed, epsilon, rounds):
    workload = weighted(kind, n, decades, seed)
    design = optimize.design(workload, epsilon, None, rounds)
    proof = bounds.certificate(workload, epsilon, None)
    assert proof.verify()
    assert 0 <= (design.objective - workload.trace) / (proof.value - workload.trace) - 1 < 0.02


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
@pytest.mark.parametrize("kind", ROWS)
def test_the_closed_form_loses_little_to_rounding(kind, epsilon, seed):
    workload = weighted(kind, 16, 6, seed)
    proof = closed_form(workload, epsilon, np.full(16, 1 / 16))
    assert proof.verify()
    assert proof.value > bounds.centred_svd(workload, epsilon) * (1 - 2e-2)


@pytest.mark.usefixtures("no_hurry")
@pytest.mark.parametrize(
    "apart",
    [
        lambda far: workloads.custom(np.tril(np.ones((8, 8))) * np.geomspace(1, far, 8)[:, None]),
        lambda far: workloads.union([workloads.prefix(8), workloads.width_range(8, 2)], [1, far]),
        lambda far: workloads.product([workloads.custom(np.diag([1, 2, far])), workloads.prefix(3)]),
    ],
)
def test_weights_too_far_apart_are_refused_in_a_sentence(apart):
    workload = apart(2e6)
    for refuse in (
        optimize.design,
        optimize.worst_case_design,
        bounds.certificate,
        bounds.worst_case,
    ):
        refused("too far apart", refuse, workload, 1.0)
    assert "too far apart" in library.spec("optimized").unsuitable(workload.n, 1.0, workload)
    near = apart(1e6)
    assert library.spec("optimized").unsuitable(near.n, 1.0, near) is None
    assert bounds.certificate(near, 1.0, None).verify()


def test_zeros_that_rounding_moved_and_types_alike_do_not_count():
    rows = np.vstack([np.eye(3, 6), np.full((1, 6), 1e-17)])
    assert workloads.custom(rows).spread_too_far is None
    assert workloads.union([workloads.histogram(6), workloads.histogram(6)], [1, 1e9]).spread_too_far is None
