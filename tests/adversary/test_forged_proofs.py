"""Proofs of every class with one field, or one number, forged: `verify` answers, and never yes to what is not so."""

import dataclasses
import math
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ldp_core import bounds, workloads
from ldp_core.bounds.proof import NUMBERS, Proof
from ldp_core.bounds.surveys.certificate import closed_form as closed_form_of_survey
from ldp_core.bounds.symmetric import symmetric_certificate
from ldp_core.workloads import Prefix, Stratified, Survey
from ldp_core.workloads.surveys import Group
from tests.certificates import MIXED, attained, blocks, columns

FEW = Survey(
    (9, 70),
    [
        Group(
            (0, 1),
            workloads.custom([np.outer(np.arange(9) < a, np.arange(70) < b).ravel() for a, b in ((4, 5), (7, 60))]),
        )
    ],
)


MAKE = {
    "by types": lambda: bounds.certificate(workloads.prefix(4), 1.0, None),
    "one question": lambda: bounds.certificate(workloads.custom([[3, 1, 0.5, 0]]), 1.0, None),
    "by classes": lambda: symmetric_certificate(workloads.parity(3, 2), 1.0),
    "by sets": lambda: closed_form_of_survey(workloads.survey([4, 3, 2], 2), 4.0),
    "one column at a time": lambda: columns([3, 2, 4, 2], 2.0),
    "blocks": blocks,
    "merged": lambda: bounds.certificate(FEW, 1.0, None),
    "known groups": lambda: bounds.certificate(Stratified(workloads.product([Prefix(4)] * 2), (4, 4), (0,)), 1.0, None),
}
NONSENSE = (
    None,
    "text",
    True,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1,
    10**400,
    1j,
    object(),
    [],
    (),
    [1, [2]],
    {"a": 1},
    b"bytes",
    np.zeros(0),
    np.zeros((4, 4), dtype=object),
    np.full((4, 4), np.nan),
    np.full(4, 1e300),
    np.array(["a"] * 4),
    np.zeros(4, dtype="datetime64[s]"),
    np.zeros((0, 4)),
    np.ma.masked_all(4),
)
OTHERS = (
    workloads.parity(3, 2),
    workloads.parity(6, 1),
    workloads.prefix(4),
    workloads.prefix(8),
    workloads.histogram(4),
    workloads.histogram(24),
    workloads.k_way_marginals(3, 1),
    workloads.k_way_marginals(6, 2),
    workloads.survey([4, 3, 2], 1),
    workloads.survey([2, 2, 2], 2),
    MIXED,
)


@cache
def honest(kind):
    return MAKE[kind]()


def places(proof):
    """(value, rebuild) of every field of a proof, and of the proofs, cuts and duals in it."""
    for name, value in getattr(proof, "numbers", {}).items():
        yield name, value, lambda new, name=name: replace(proof, numbers={**proof.numbers, name: new})
    for field in dataclasses.fields(proof):
        value = getattr(proof, field.name)
        yield field.name, value, lambda new, name=field.name: replace(proof, **{name: new})
        inside = value if isinstance(value, tuple) else (value,)
        for k, one in enumerate(inside):
            if not dataclasses.is_dataclass(one) or field.name == "workload":
                continue
            for name, own, build in places(one):

                def rebuilt(new, k=k, build=build, value=value, name=field.name):
                    made = build(new)
                    return replace(
                        proof, **{name: (*value[:k], made, *value[k + 1 :]) if isinstance(value, tuple) else made}
                    )

                yield f"{field.name}.{name}", own, rebuilt


def answer(proof):
    """What `verify` says, which must be True or False."""
    found = proof.verify()
    assert found is True or found is False
    return found


def subclasses(kind):
    return {kind, *(one for below in kind.__subclasses__() for one in subclasses(below))}


def test_proofs_of_every_class_are_forged_here():
    made = {type(honest(kind)) for kind in MAKE}
    abstract = {kind for kind in subclasses(Proof) if not dataclasses.is_dataclass(kind)}
    assert made == subclasses(Proof) - abstract
    assert {honest(kind).kind for kind in MAKE if hasattr(honest(kind), "kind")} == set(NUMBERS)
    assert all(honest(kind).verify() for kind in MAKE)


@pytest.mark.parametrize("kind", MAKE)
def test_nonsense_in_any_place_is_answered(kind):
    proof = honest(kind)
    for name, _, build in places(proof):
        for value in NONSENSE:
            with warnings.catch_warnings(
                record=True
            ) as warned:  # as errors they would be no answer, but `verify` takes any error for no
                held = answer(build(value))
            assert not warned, (name, value, [str(one.message) for one in warned])
            if name in ("value", "epsilon", "workload"):
                # 1 is no more than what is proved, and true of epsilon is 1.
                assert not held or (name == "value" and value == -1), (name, value)


@pytest.mark.parametrize("kind", MAKE)
def test_a_claim_above_what_a_mechanism_attains_is_never_proved(kind):
    proof = honest(kind)
    claim = attained(proof.workload, proof.epsilon) * 1.001
    rng, tried = np.random.default_rng(0), 0
    for _, value, build in places(replace(proof, value=claim)):
        if isinstance(value, float | int):
            forged = [value * factor for factor in (0.0, -1.0, 1e-9, 0.5, 1e9)]
        elif isinstance(value, np.ndarray) and value.size:
            forged = [value * factor for factor in (0.0, -1.0, 1e-9, 0.5, 1e9)]
            for number in (-1e9, 1e9, math.nan, math.inf):
                one = value.astype(float)
                one.flat[rng.integers(value.size)] = number
                forged.append(one)
        else:
            continue
        for new in forged:
            made = build(new)
            tried += 1
            if made.value == claim and made.epsilon == proof.epsilon:
                assert not answer(made)
    assert tried > 9


@pytest.mark.parametrize("kind", MAKE)
def test_no_proof_is_one_of_other_questions(kind):
    proof = honest(kind)
    for workload in OTHERS:
        if workload.digest == proof.workload.digest:
            continue
        answer(replace(proof, workload=workload))
        claim = attained(workload, proof.epsilon) * 1.001
        assert not answer(replace(proof, workload=workload, value=claim))


@pytest.mark.parametrize("kind", ["merged", "known groups"])
def test_proofs_made_of_proofs_take_none_for_another(kind):
    """Every proof here in the place of these, claiming what it likes."""
    proof, claim = honest(kind), attained(honest(kind).workload, 1.0) * 1.001
    for other in map(honest, MAKE):
        for forged in (other, replace(other, value=1e12), replace(other, epsilon=0.1), replace(other, epsilon=20.0)):
            if kind == "merged":
                assert not answer(replace(proof, types=forged, value=claim))
                continue
            assert not answer(replace(proof, parts=(forged,), value=claim))
            assert not answer(replace(proof, parts=(*proof.parts, forged)))
