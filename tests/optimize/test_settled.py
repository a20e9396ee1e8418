"""Solving for the weights of rows: with all rows of a few types it finds the optimum, and at large epsilon designs reach their proof."""

from itertools import product

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.optimize.columns import generation
from ldp_core.optimize.columns.search import design_strategy
from ldp_core.optimize.columns.weights import RowBlock, settled


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 9.0])
def test_all_rows_of_five_types_make_the_optimum_with_its_proof(epsilon):
    workload = workloads.Prefix(5)
    V = np.where(np.array([*product([False, True], repeat=5)])[1:-1], np.exp(epsilon), 1.0)
    masses = V.sum(axis=1)
    even = 1 / V.sum(axis=0)[0] * np.ones(len(V))  # by symmetry all columns sum alike
    best = optimize.exact(workload, epsilon)
    above = best.objective - workload.trace
    found = settled([RowBlock(V, workload.gram_root)], masses, even, 1e-5 * above, lambda: None)
    assert np.abs(V.T @ found.weights - 1).max() < 1e-12
    assert found.weights.min() > 0
    M = (V.T * (found.weights / masses)) @ V
    C = np.linalg.inv(M)
    assert np.isclose(found.objective, np.trace(C @ workload.gram_dense()))
    assert abs(found.objective - best.objective) < 1e-3 * above
    values = np.einsum("ij,jk,ik->i", V, C @ workload.gram_dense() @ C, V)
    assert (values / masses <= V @ found.multipliers + 1e-3 * above).all()
    assert np.isclose(found.multipliers.sum(), found.objective, atol=1e-3 * above)


@pytest.mark.parametrize(("n", "epsilon"), [(33, 6.0), (64, 6.5), (96, 7.0)])
def test_designs_reach_their_proofs_where_few_entries_are_high(n, epsilon):
    """Within 0.34 to 0.56 % for 96 types, by the kernel; updates alone end 1.8 to 2.2 % above."""
    workload = workloads.Prefix(n)
    limits = optimize.SearchLimits(max_rounds=26, time_limit=None)
    design = design_strategy(workload, epsilon, limits=limits)
    proof = bounds.certificate(workload, epsilon, None)
    assert proof.verify()
    above = workload.trace
    assert proof.value <= design.objective
    assert design.objective - above <= 1.01 * (proof.value - above)


def test_updates_go_on_where_the_weights_cannot_be_solved_for(monkeypatch):
    def unsolved(*about):
        raise np.linalg.LinAlgError("not positive definite")

    monkeypatch.setattr(generation, "settled", unsolved)
    workload, limits = workloads.Prefix(12), optimize.SearchLimits(max_rounds=30, time_limit=None)
    design = design_strategy(workload, 4.0, limits=limits)
    assert design.rounds == 30
    assert design.objective <= 1.02 * bounds.certificate(workload, 4.0, None).value
