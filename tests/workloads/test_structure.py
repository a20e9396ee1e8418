"""The structure of a Gram matrix without applying it equals the result of applying it, and equal
parts are counted once."""

import numpy as np
import pytest

from ldp_core import workloads as w
from ldp_core.workloads import Union
from ldp_core.workloads.problem import Problem


def test_equal_parts_are_applied_once():
    class Counted(w.KWayMarginals):
        applied = 0

        def apply_gram(self, x):
            Counted.applied += 1
            return super().apply_gram(x)

    union = Union([Counted((2, 2, 2), 2) for _ in range(50)], np.linspace(1, 2, 50))
    union.apply_gram(np.ones(8))
    assert Counted.applied == 1


def test_queries_of_twenty_attributes_are_counted_without_a_list():
    workload = w.KWayMarginals((2,) * 20, 10)
    assert workload.num_queries == 184_756 * 2**10
    assert "_offsets" not in vars(workload)


@pytest.mark.parametrize(
    ("workload", "kind", "kind_under_a_prior"),
    [
        (w.histogram(8), "alike", "types"),
        (w.custom(np.arange(8.0)[None]), "question", "question"),
        (w.survey([2, 4], 1), "survey", "survey"),
        (w.parity(3, 2), "hamming", "types"),
        (w.parity(12, 2), "survey", None),
        (w.prefix(8), "types", "types"),
    ],
)
def test_a_problem_is_of_one_kind(workload, kind, kind_under_a_prior):
    assert Problem.of(workload).kind == kind
    if kind_under_a_prior is not None:
        assert Problem.of(workload, np.arange(1, 9) / 36).kind == kind_under_a_prior
