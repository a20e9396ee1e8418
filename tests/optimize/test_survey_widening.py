"""Patterns over other attributes than those asked about: what is exchanged."""

import pytest

import ldp_core as ldp
from ldp_core import workloads

EPSILON = 4.0


@pytest.mark.parametrize(("sizes", "most"), [((5, 5, 7, 10), 0.015), ((2, 5, 15, 16), 0.0098)])
def test_triples_spend_next_to_nothing_on_what_nobody_asks_for(sizes, most):
    survey = workloads.survey(sizes, ways=3)
    found = ldp.optimize.design(survey, epsilon=EPSILON, time_limit=None, max_rounds=10)
    assert found.objective / ldp.bounds.centred_svd(survey, EPSILON) - 1 < most
