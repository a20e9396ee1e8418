"""The display of the main objects in a notebook, and the answer to a name that does not exist."""

import numpy as np
import pytest

import ldp_core as ldp
from tests.refused import refused

PREFIX = ldp.workloads.prefix(8)
COUNTS = np.arange(8)


def create(name, **parameters):
    return ldp.mechanisms.create(name, workload=PREFIX, epsilon=1.0, **parameters)


def estimate(name, **options):
    mechanism = create("hadamard")
    reports = mechanism.simulate(COUNTS, np.random.default_rng(0))
    return ldp.estimators.apply(name, reports, mechanism, PREFIX, **options)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda: create("optimised"), "mechanism 'optimised'; did you mean 'optimized'"),
        (lambda: create("hierarchical", brancing=2), "no parameter 'brancing'; did you mean 'branching'"),
        (lambda: ldp.workloads.on_types("prefixes", 8), "workload 'prefixes'; did you mean 'prefix'"),
        (lambda: ldp.workloads.on_types("width_range", 8, widht=2), "no parameter 'widht'; did you mean 'width'"),
        (lambda: estimate("posterior", drows=300), "Posterior mean has no parameter 'drows'; did you mean 'draws'"),
        (lambda: ldp.estimators.spec("wnls"), "estimator 'wnls'; did you mean 'wnnls'"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest_one(ask, answer):
    refused(answer, ask)
