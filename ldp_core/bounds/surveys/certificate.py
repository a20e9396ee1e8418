"""A lower bound on L of every epsilon-LDP mechanism for a survey, in closed form.

**The proof.** A mechanism is a mixture of two-valued rows ``1 + D 1_T``, T a set of types of share s, D = e^epsilon - 1. Its information
on the functions that vary with exactly the attributes in A, ``x_A = tr(P_A M)``, is the mean over its rows of

    e_A(T) = D^2 W_A(T) / (1 + D s)^2,    W_A(T) = |P_A 1_T|^2 / n.

As ``tr(P_A M^-1 P_A) >= dim_A^2 / tr(P_A M P_A)`` (the harmonic and the arithmetic mean of eigenvalues), and ``M 1 = 1``,
``L >= g_0 + sum_A dim_A^2 g_A / x_A``. By Cauchy's inequality, for any weights lambda_A >= 0,

    L  >=  g_0 + (sum_A dim_A sqrt(g_A lambda_A))^2 / mu    where    sum_A lambda_A e_A(T) <= mu  for every T.

As ``sum_A W_A = s - s^2`` over the sets A that are not empty, lambda = 1 has ``mu = sinh(epsilon / 2)^2``: the bound of
`ldp_core.bounds.centred_svd` for surveys. `singles` and `ldp_core.bounds.triples.surveys` know more about W, and have better weights.

Inequalities between sets of columns, from two types at a time (Delsarte 1973) and from fibres, were tried and removed (960 lines). Measured,
gap to the best design without them and with: pairs of nine columns of a real survey 0.01 % at epsilon 1, 0.1 and 0.02 % at 2, 2.8 and 2.5 %
at 3; pairs of 2, 2, 3, 3, 4 and 5 values at 3, 20 and 11 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.proof import (
    ABOVE,
    LARGEST,
    OTHER_QUESTIONS,
    SMALLEST,
    Arrays,
    Document,
    Proof,
    U,
    exp_epsilon_minus_one,
)
from ldp_core.workloads import Histogram, Survey, Workload
from ldp_core.workloads.surveys import eigenvalues


@dataclass(frozen=True, repr=False)
class SurveyCertificate(Proof):
    """A proven lower bound ``value`` on L of every epsilon-LDP mechanism for a `Survey` whose questions treat values alike."""

    proves_by: ClassVar[str] = "a closed form"

    workload: Survey
    epsilon: float
    value: float

    file_kinds = (("tables", None),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        return tables_about(self.workload, self._about(epsilon)), {}

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> SurveyCertificate:
        return cls(survey_of(workload), epsilon, 0.0)

    def proven(self) -> float:
        if not self.workload.symmetric:
            return -math.inf
        D = exp_epsilon_minus_one(self.epsilon)
        ratio = D**2 / (4 * (1 + D)) * (1 + 16 * U)
        return bound(self.workload, np.ones(len(self.workload.components.sets)), ratio)


def closed_form(survey: Survey, epsilon: float) -> SurveyCertificate:
    """The bound ``g_0 + (sum_A dim_A sqrt(g_A))^2 / sinh(epsilon / 2)^2``."""
    certificate = SurveyCertificate(survey, epsilon, 0.0)
    return replace(certificate, value=certificate.claim())


def survey_of(workload: Workload) -> Survey:
    """The survey that a document of tables is about; ValueError where the questions are none."""
    if workload.survey is None:
        raise ValueError(OTHER_QUESTIONS)
    return workload.survey


def tables_about(survey: Survey, about: Document) -> Document:
    """A document of the questions of a survey that treat the values of each attribute alike."""
    groups = []
    for group in survey.groups:
        document: Document = {"columns": list(group.attributes), "weight": float(group.weight)}
        if not isinstance(group.base, Histogram):
            values = eigenvalues(group.base, [survey.shape[i] for i in group.attributes]) or {}
            places = verify.subsets(tuple(range(len(group.attributes))))
            document["eigenvalues"] = [float(values.get(members, 0.0)) for members in places]
        groups.append(document)
    return {"kind": "tables", **about, "workload": {"gram": "tables", "sizes": list(survey.shape), "groups": groups}}


def bound(survey: Survey, weights: np.ndarray, ratio: float) -> float:
    """``g_0 + (sum dim sqrt(g lambda))^2 / mu``, rounded down, for ``weights`` lambda of its components and mu the ``ratio``."""
    c = survey.components
    root = float(c.dims @ np.sqrt(c.gram * weights))
    if not root > 0:
        return float(survey.n) * c.constant * (1 - 1e-9)
    if not (SMALLEST < root < LARGEST and SMALLEST < ratio < LARGEST):  # underflow may be all of a number
        return -math.inf
    unit = (4 * len(c.sets) + 4 * survey.gram_roundings + 64) * U
    return float(survey.n) * ((c.constant + root / ratio * root) * (1 - ABOVE * unit))
