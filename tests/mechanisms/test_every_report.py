"""Mechanisms on few types against all of their reports: guarantees, errors, draws and operators."""

import numpy as np
import pytest
from written_out import EveryReport, check_collected, check_errors, check_guarantee, check_sent, close

from ldp_core import mechanisms, workloads
from ldp_core.mechanisms import ExplicitMechanism, FiniteOutput, Mechanism
from ldp_core.mechanisms.trees.grid import ORACLES as TABLE_ORACLES
from ldp_core.mechanisms.trees.node_reports import NODE_ORACLES
from ldp_core.mechanisms.unary import RECONSTRUCTIONS

EPSILON = 1.1


def with_prior():
    Q = np.random.default_rng(4).uniform(1, np.exp(EPSILON), (8, 5))
    return ExplicitMechanism("fitted", Q / Q.sum(axis=0), 2 * EPSILON, prior=np.array([0.5, 0.25, 0.125, 0.125, 0.0]))


MADE = [
    ("randomized_response", 5, {}),
    *(("subset_selection", n, {"size": size}) for n in (2, 3, 6) for size in range(1, n)),
    ("hadamard", 5, {}),
    ("square_wave", 5, {}),
    ("haar", 5, {}),
    ("haar", 8, {}),
    *(("hrr", n, {"reconstruction": r}) for n in (5, 8) for r in ("optimal", "transform")),
    *((name, 5, {"reconstruction": r}) for name in ("oue", "rappor") for r in RECONSTRUCTIONS),
    *(
        ("hierarchical", n, {"branching": branching, "oracle": oracle, "reconstruction": r})
        for n, branching in ((5, 2), (7, 3))
        for oracle in NODE_ORACLES
        for r in ("consistent", "raw")
    ),
    *(("hierarchical_2d", 6, {"shape": (3, 2), "branching": 2, "oracle": oracle}) for oracle in TABLE_ORACLES),
]
CASES = {
    **{
        f"{name}-{n}-" + "-".join(map(str, told.values())): mechanisms.create(name, n, EPSILON, **told)
        for name, n, told in MADE
    },
    "explicit with a prior": with_prior(),
}


@pytest.fixture(scope="module", params=CASES)
def every(request):
    return EveryReport(CASES[request.param])


def asked(mechanism):
    n, matrix = mechanism.n, np.random.default_rng(0).normal(size=(3, mechanism.n))
    yield from (workloads.histogram(n), workloads.prefix(n), workloads.all_range(n), workloads.custom(matrix))
    if "shape" in mechanism.parameters:
        shape = mechanism.parameters["shape"]
        yield workloads.product([workloads.all_range(size) for size in shape])
        yield workloads.k_way_marginals(shape, 1)


def test_the_guarantee_is_the_largest_ratio_of_all_reports(every):
    assert isinstance(every.mechanism, Mechanism)
    check_guarantee(every, spent=every.mechanism.name != "fitted")


def test_errors_are_those_of_all_reports(every):
    counts = np.random.default_rng(1).integers(0, 90, every.mechanism.n)
    for workload in asked(every.mechanism):
        check_errors(every, workload, counts)


def test_people_send_every_report_as_often_as_its_probability_says(every):
    if "olh" in (every.mechanism.name, every.mechanism.parameters.get("oracle")):
        return  # not all of its keys are written out
    check_sent(every, every.mechanism.n // 2)


@pytest.mark.parametrize("users", [60, 60_000], ids=["one by one", "type by type"])
def test_collections_are_drawn_with_the_moments_of_all_reports(every, users):
    shares = np.random.default_rng(2).dirichlet(np.ones(every.mechanism.n))
    shares[0] = 0
    check_collected(every, np.rint(users * shares).astype(int))


def test_operators_and_matrices_are_those_of_all_reports(every):
    mechanism, Q, rng = every.mechanism, every.Q, np.random.default_rng(1)
    counts, rows = rng.integers(0, 90, mechanism.n), rng.normal(size=(4, mechanism.n))
    adds = np.array([every.estimate(k).counts() for k in range(len(Q))])
    covariance = adds.T @ ((Q @ counts)[:, None] * adds) - np.diag(counts)
    scale = np.abs(covariance).max()
    close(mechanism.covariance(counts), covariance, scale)
    close(mechanism.linear_variances(rows, counts), np.einsum("qi,ij,qj->q", rows, covariance, rows), scale)
    if isinstance(mechanism, FiniteOutput):
        close(mechanism.information(), (Q.T / Q.sum(axis=1)) @ Q)
    if mechanism.strategy is not None:
        close(mechanism.strategy, Q)
    if mechanism.channel is not None:
        expected = np.array([mechanism.tally(one) for one in every.collected]).T @ Q
        y = rng.normal(size=len(expected))
        close(np.column_stack([mechanism.channel @ unit for unit in np.eye(mechanism.n)]), expected)
        close(mechanism.channel.T @ y, expected.T @ y)
