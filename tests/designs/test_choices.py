"""Consequences of the choices of a configuration: the proofs that are made by default."""

import numpy as np
import pytest

from ldp_core import analysis, limits, workloads
from ldp_core.designs import choices
from ldp_core.workloads import custom

WORST, RNG = analysis.WORST_CASE, np.random.default_rng(0)


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (custom(RNG.standard_normal((choices.PROVED_UNASKED, choices.PROVED_UNASKED))), True),
        (workloads.prefix(limits.AT_ONCE_TYPES), True),
        (workloads.prefix(limits.AT_ONCE_TYPES + 1), False),
        (workloads.product([workloads.prefix(32), workloads.prefix(16)]), False),
    ],
    ids=repr,
)
def test_proofs_are_made_unasked_where_they_are_a_matter_of_seconds(workload, expected):
    assert choices.proved_unasked(workload, WORST) == expected
