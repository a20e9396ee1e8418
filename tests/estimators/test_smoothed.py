"""Smoothed likelihood against rounds written out in loops, and where it is offered."""

import numpy as np
import pytest

from ldp_core import estimators, mechanisms, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain, NumericAttribute
from ldp_core.estimators import mle
from ldp_core.mechanisms.base import Reports

AGE = NumericAttribute(name="age", edges=tuple(range(0, 90, 10)), origin="declared", missing="category")
SEX = CategoricalAttribute(name="sex", values=("f", "m"), origin="declared")
COUNTS = np.array([50, 90, 160, 400, 300, 120, 60, 20])


def rounds(Q, tally, n, ordinary, times):
    """The paper's rounds, entry by entry."""
    x = [1 / n] * n
    for _ in range(times):
        expected = [sum(Q[y][u] * x[u] for u in range(n)) for y in range(len(Q))]
        x = [x[u] * sum(tally[y] * Q[y][u] / expected[y] for y in range(len(Q)) if tally[y]) for u in range(n)]
        old = list(x)
        for u in range(ordinary):
            near = [(v, 2 if v == u else 1) for v in (u - 1, u, u + 1) if 0 <= v < ordinary]
            x[u] = sum(weight * old[v] for v, weight in near) / sum(weight for _, weight in near)
        x = [share / sum(x) for share in x]
    return np.array(x)


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["square_wave", "randomized_response", "haar", "hierarchical(oracle=hadamard)"])
@pytest.mark.parametrize("ordinary", [8, 6])
def test_rounds_are_those_written_out(name, ordinary):
    mechanism = mechanisms.create(name, 8, 1.0)
    reports = mechanism.simulate(COUNTS, np.random.default_rng(1))
    workload = workloads.histogram(8)
    told = {"ordinary": ordinary, "max_rounds": 7}
    found = estimators.apply("ems", reports, mechanism, workload, **told)
    expected = rounds(mle.written_out(mechanism.channel), mechanism.tally(reports), 8, ordinary, 7)
    assert found.counts() == pytest.approx(COUNTS.sum() * expected)
    assert not found.unbiased


def test_it_is_nearer_the_truth_where_that_is_smooth_and_bins_are_fine():
    u, rng = np.arange(256) / 256, np.random.default_rng(5)
    counts = rng.multinomial(100_000, (smooth := np.exp(-((u - 0.4) ** 2) / 0.02) + 0.1) / smooth.sum())
    workload, mechanism = workloads.histogram(256), mechanisms.create("square_wave", 256, 1.0)
    reports = mechanism.simulate(counts, rng)
    errors = {
        name: estimators.apply(name, reports, mechanism, workload).squared_error(workload, counts)
        for name in ("ems", "mle", "wnnls_total", "unbiased")
    }
    assert 10 * errors["ems"] < min(errors["mle"], errors["wnnls_total"], errors["unbiased"])


def test_types_without_a_place_in_the_order_are_no_neighbours():
    domain = Domain(attributes=(AGE,))
    workload = workloads.Histogram(domain.size, axes=domain.attributes)
    mechanism = mechanisms.create("randomized_response", domain.size, 20.0)  # reports are the truth
    counts = np.array([0, 0, 0, 0, 0, 0, 0, 300, 700])
    reports = Reports(mechanism.digest, 1000, counts)
    one = estimators.apply("ems", reports, mechanism, workload, max_rounds=1).counts()
    assert one == pytest.approx(np.array([0, 0, 0, 0, 0, 0, 75, 200, 700]) / 0.975, abs=1e-3)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [((SEX,), "this one has no order"), ((AGE, SEX), "combinations of 2 attributes"), ((AGE,), None)],
)
def test_it_is_offered_along_one_ordered_attribute(attributes, words):
    domain = Domain(attributes=attributes)
    workload = workloads.Histogram(domain.size, axes=domain.attributes)
    reason = estimators.spec("ems").unsuitable(mechanisms.create("hadamard", domain.size, 1.0), workload)
    assert reason is None if words is None else words in reason
