"""Patterns written out as strategies: the same objective, all types told apart, and guarantees from what is stored."""

import numpy as np
import pytest

from ldp_core import analysis, bounds, mechanisms, workloads
from ldp_core.optimize import SearchLimits, design
from ldp_core.optimize.surveys import rows as bits
from ldp_core.optimize.surveys.design import SurveyDesign, design_survey
from ldp_core.workloads.surveyed import of_bits

ROUNDS = SearchLimits(time_limit=None, max_rounds=6)
WORKLOADS = [workloads.parity(6, 2), workloads.k_way_marginals(6, 3), workloads.all_marginals(5)]


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_strategies_are_as_good_as_patterns_and_tell_all_types_apart(workload, epsilon):
    found = design_survey(of_bits(workload), epsilon, ROUNDS)
    made = bits.written_out(found, workload)
    assert found.objective <= made.objective * (1 + 1e-12)
    assert made.objective <= found.objective * (1 + 1.01 * bits.OTHERS)
    assert np.abs(made.strategy.sum(axis=0) - 1).max() <= 1e-12
    assert (made.strategy.max(axis=1) <= np.exp(epsilon) * made.strategy.min(axis=1)).all()
    mechanism = mechanisms.ExplicitMechanism("found", made.strategy, epsilon)
    assert analysis.objective(mechanism, workload) == pytest.approx(made.objective, rel=1e-9)
    assert mechanism.supports(workloads.histogram(workload.n)) is None
    assert 0 <= made.objective / bounds.certificate(workload, epsilon).value - 1 < 0.01


def test_where_there_is_no_room_for_all_patterns_they_stay_patterns(lower):
    workload = workloads.all_marginals(5)
    lower(MOST_STRATEGY_ENTRIES=2 * 32 * 200)
    found = design(workload, 1.0, time_limit=None, max_rounds=4)
    assert isinstance(found, SurveyDesign)
    few = bits.written_out(found, workload)
    assert len(few.strategy) <= 200
    mechanism = mechanisms.ExplicitMechanism("few", few.strategy, 1.0)
    assert analysis.objective(mechanism, workload) == pytest.approx(few.objective, rel=1e-6)
    assert found.objective < few.objective < 1.7 * found.objective


def test_other_questions_have_none():
    for workload in (workloads.prefix(16), workloads.histogram(16), workloads.parity(4, 0)):
        assert not bits.treats_bits_alike(workload)
