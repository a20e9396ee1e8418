"""Designs reach their proofs where epsilon is so large that few entries of a row are high."""

import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.optimize.columns.search import design_strategy


@pytest.mark.parametrize(("n", "epsilon"), [(33, 6.0), (64, 7.0)])
def test_designs_reach_their_proofs_where_few_entries_are_high(n, epsilon):
    workload = workloads.Prefix(n)
    limits = optimize.SearchLimits(max_rounds=120, time_limit=None)
    design = design_strategy(workload, epsilon, limits=limits)
    proof = bounds.certificate(workload, epsilon, None)
    assert proof.verify()
    above = workload.trace
    assert proof.value <= design.objective
    assert design.objective - above <= 1.005 * (proof.value - above)
