"""Searches go on where an update finds their rows singular: from the best mixture and randomized response, whichever update it is."""

import numpy as np
import pytest

from ldp_core import workloads
from ldp_core.optimize import SearchLimits, design, worst_case_design
from ldp_core.optimize.closed_form import best_closed_form
from ldp_core.optimize.columns import generation
from ldp_core.optimize.columns.generation import RowSearch
from ldp_core.optimize.columns.reweighting import WorstCaseSearch
from ldp_core.optimize.columns.search import FoldedSearch
from ldp_core.optimize.columns.weights import Singular, update
from tests.optimize.checks import assert_valid

RANDOM = np.random.default_rng(0).random((12, 12))
CASES = {
    "rows": (RowSearch, workloads.custom(RANDOM), {}),
    "few questions": (RowSearch, workloads.custom(RANDOM[:3]), {}),
    "expected people": (RowSearch, workloads.prefix(12), {"prior": np.arange(1, 13) / 78}),
    "pairs of rows": (FoldedSearch, workloads.prefix(64), {}),
    "pairs of rows and a type in the middle": (FoldedSearch, workloads.prefix(65), {}),
    "worst type": (WorstCaseSearch, workloads.prefix(12), None),
    "worst type of few questions": (WorstCaseSearch, workloads.custom(RANDOM[:3]), None),
    "worst type of many": (WorstCaseSearch, workloads.prefix(192), None),
}
MANY = {case for case, (_, workload, _) in CASES.items() if workload.n > 100}


@pytest.mark.parametrize("failing", [{0}, {1}, {4}, {11}, set(range(3, 40, 4)), set(range(1000))])
@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in MANY)) for case in CASES])
def test_a_search_survives_singular_rows_at_any_update(case, failing, monkeypatch):
    kind, workload, more = CASES[case]
    ran, calls = set(), 0

    def updated(*arguments, **named):
        nonlocal calls
        calls += 1
        if calls - 1 in failing:
            raise Singular("The rows are singular.")
        return update(*arguments, **named)

    def prepare(self, before=kind.prepare):
        ran.add(type(self))
        before(self)

    monkeypatch.setattr(generation, "update", updated)
    monkeypatch.setattr(kind, "prepare", prepare)
    limits = SearchLimits(None, 2)
    if more is None:
        found = worst_case_design(workload, 2.0, limits)
        closed = best_closed_form(workload, 2.0, limits, worst_case=True)
    else:
        found = design(workload, 2.0, None, 2, **more)
        closed = best_closed_form(workload, 2.0, limits, **more)
    assert ran == {kind}
    assert calls > max(failing & set(range(calls)))
    assert found.objective <= closed.objective * (1 + 1e-6)
    assert_valid(found.strategy, 2.0)
