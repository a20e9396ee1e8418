"""Updates in single precision and with momentum: the same products, the same column sums, the same optimum, sooner."""

import math

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.data.domain import CategoricalAttribute, Domain
from ldp_core.optimize.base import SearchLimits
from ldp_core.optimize.columns.generation import RowSearch
from ldp_core.optimize.columns.weights import (
    LEAST_TYPES,
    SinglePrecision,
)
from ldp_core.optimize.surveys.rows import first_rows
from ldp_core.threads import blas_threads


def searched(workload, rounds):
    search = RowSearch(workload, 1.0, np.ones(workload.n), np.random.default_rng(0))
    with blas_threads(workload.n):
        search.prepare()
        for _ in range(rounds):
            search.round()
        return search.finish(False)


def test_single_precision_changes_what_is_found_by_next_to_nothing(lower):
    """The result has exact column sums and the stated objective; the search in double precision
    finds none better."""
    workload = workloads.prefix(LEAST_TYPES)
    assert SinglePrecision.fits(workload.n, math.e)
    strategy, objective = searched(workload, 12)
    assert np.abs(strategy.sum(axis=0) - 1).max() <= 1e-12
    information = strategy.T @ (strategy / strategy.sum(axis=1)[:, None])
    assert np.trace(np.linalg.solve(information, workload.gram_dense())) == pytest.approx(objective, rel=1e-9)
    assert bounds.centred_svd(workload, 1.0) <= objective
    lower(LEAST_TYPES=LEAST_TYPES + 1)
    _, double = searched(workload, 12)
    assert objective == pytest.approx(double, rel=2e-3)


def test_a_search_begins_where_single_precision_hides_what_few_questions_distinguish():
    """Pairs of three columns distinguish far fewer directions than there are types."""
    domain = Domain(
        attributes=tuple(
            CategoricalAttribute(name=name, values=tuple(map(str, range(size))))
            for name, size in (("a", 24), ("b", 7), ("c", 4))
        )
    )
    pairs = workloads.MarginalsPart(groups=(("a", "b"), ("a", "c"), ("b", "c")))
    workload = workloads.over_attributes((pairs,), domain)
    first = first_rows(workload, 1.0, SearchLimits(None))
    search = RowSearch(workload, 1.0, np.ones(workload.n), np.random.default_rng(0), first=first)
    search.prepare()
    assert np.isfinite(search.best.objective)
