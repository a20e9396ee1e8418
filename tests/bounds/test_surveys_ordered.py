"""Bounds of surveys with questions that follow an order: part by part, against designs and against forgers."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ldp_core import bounds, optimize, workloads
from ldp_core.bounds.proof import MARGIN
from ldp_core.bounds.surveys.best import survey_certificate
from ldp_core.run import Budget
from ldp_core.workloads.surveys import Group, Survey, marginal


def ordered(shape=(6, 3, 2), weight=1.5):
    return Survey(
        shape, [Group((0,), workloads.prefix(shape[0]), weight), marginal(shape, (1, 2)), marginal(shape, (0,))]
    )


@cache
def proved():
    survey = ordered((6, 3, 2, 50, 50))
    found = survey_certificate(survey, 1.0, Budget(), lambda base, epsilon, _: bounds.certificate(base, epsilon, None))
    return found.plain


@pytest.mark.slow
def test_ordered_questions_are_bounded_part_by_part():
    survey, proof = ordered(), proved()
    assert isinstance(proof, bounds.GroupedCertificate)
    assert proof.verify()
    # The questions are about three of the attributes: the domain of these alone has the same variances.
    dense = optimize.design(survey, epsilon=1.0, time_limit=None, max_rounds=10, seed=0)
    assert proof.value <= dense.objective * 2500
    assert proof.value > survey.trace * 2500
    assert proof.variance > 0


def test_forged_parts_are_refused():
    proof = proved()
    assert not replace(proof, value=proof.value * (1 + 2 * MARGIN)).verify()
    assert not replace(proof, epsilon=1.1).verify()
    assert not replace(proof, workload=ordered((6, 3, 2, 50, 50), weight=1.4)).verify()
    assert not replace(proof, workload=ordered((7, 3, 2, 50, 50))).verify()
    assert not replace(proof, others=()).verify()
    assert not replace(proof, alike=None).verify()
    part = proof.others[0]
    assert not replace(proof, others=(replace(part, value=part.value * 1.01),)).verify()
    tilted = bounds.certificate(workloads.prefix(6), 1.0, prior=np.arange(1, 7) / 21)
    assert not replace(proof, value=0.0, others=(tilted,)).verify()
    without = replace(proof, others=(None,), value=0.0)
    assert without.verify()
    assert 0 < without.proven() < proof.value
