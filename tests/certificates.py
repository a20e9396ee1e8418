"""Certificates to be altered, and one of each kind."""

from dataclasses import fields, replace

import numpy as np

from ldp_core import analysis, mechanisms, workloads
from ldp_core.bounds import verify
from ldp_core.bounds.proof import below
from ldp_core.bounds.surveys.certificate import closed_form as closed_form_of_survey
from ldp_core.bounds.surveys.singles import SinglesSearch
from ldp_core.workloads import Prefix, Survey
from ldp_core.workloads.surveys import Group, marginal

SIZES = (4, 3, 5)
MIXED = Survey(SIZES, [Group((0,), Prefix(4)), marginal(SIZES, (1, 2), 0.5), Group((2,), Prefix(5), 2.0)])


def columns(sizes, epsilon):
    return next(SinglesSearch(workloads.survey(sizes, 1), epsilon).certificates(float("inf")))


def blocks():
    return closed_form_of_survey(MIXED, 1.0)


def forged(proof, **changes):
    """A certificate with other fields, or other numbers: matrices of pairs of types as such."""
    own = {name: changes.pop(name) for name in tuple(changes) if name in {field.name for field in fields(proof)}}
    square = getattr(proof, "kind", "") == "general"
    numbers = {
        name: below(np.asarray(new)) if square and name in ("inverse", "pairs") and np.ndim(new) == 2 else new
        for name, new in changes.items()
    }
    if numbers:
        own["numbers"] = {**proof.numbers, **numbers}
    return replace(proof, **own)


def matrix(proof, name):
    """One of its matrices of pairs of types."""
    return verify.square(proof.numbers[name], proof.workload.n)


def attained(workload, epsilon, names=("randomized_response", "subset_selection")):
    """L of a mechanism that exists: no bound may be above it."""
    return min(analysis.objective(mechanisms.create(name, workload.n, epsilon), workload) for name in names)
