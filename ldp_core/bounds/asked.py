"""What a proof is about, as a document and arrays that `ldp_core.bounds.verify` reads: from the questions alone, whatever a proof claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.survey_blocks import parts_of
from ldp_core.workloads import Histogram, Survey, Workload
from ldp_core.workloads.secret import PartlySecret
from ldp_core.workloads.surveys import eigenvalues

Document = dict[str, Any]
Arrays = dict[str, np.ndarray]
About = tuple[Document, Arrays]
OTHER_QUESTIONS = "it is about other questions than those of the design"
_MOST_ENTRIES = 2**23
"""All blocks of a proof together: others are left out."""


def about(kind: str, workload: Workload, prior: np.ndarray | None) -> About:
    """The questions, and the ``prior`` (n,) for kinds by types, as a proof of a ``kind`` is about them; ValueError where no such proof is."""
    fields, arrays = WRITERS[kind](workload, prior)
    if not isinstance(workload, PartlySecret):
        return fields, arrays
    return {**fields, "promise": "secret"}, {**arrays, "secret": workload.secret.astype(float)}


def _types(workload: Workload, prior: np.ndarray | None) -> About:
    n = workload.n
    even = prior is None or np.array_equal(prior, np.full(n, 1 / n))
    arrays = {} if even else {"prior": np.asarray(prior, dtype=float)}
    fields: Document = {"prior": "even" if even else "array"}
    G = workload.gram_dense()
    for name in verify.NAMED:
        if np.array_equal(G, verify.gram({"types": n, "workload": {"gram": name}}, {})):
            return {"workload": {"gram": name}, **fields}, arrays
    asked = {"gram": "array", "roundings": workload.gram_roundings}
    return {"workload": asked, **fields}, {**arrays, "gram": G[np.tril_indices(n)]}


def _classes(workload: Workload, _: np.ndarray | None) -> About:
    """By class of pairs of types: entries that are off those of their class by rounding count as rounded more often."""
    scheme = workload.symmetry_group.scheme
    if scheme is None:
        raise ValueError(OTHER_QUESTIONS)
    column = workload.gram_column
    off = (scheme.off(column) + scheme.apart) * (1 + 1e-9)
    roundings = workload.gram_roundings + (math.ceil(off / (verify.U * float(column[0]))) if off else 0)
    bits = scheme.classes - 1 if scheme.binary else 0
    return {"workload": {"gram": "classes", "bits": bits, "roundings": roundings}}, {"gram": scheme.by_class(column)}


def _tables(workload: Workload, _: np.ndarray | None) -> About:
    """The groups of questions of a survey that treat the values of each attribute alike."""
    survey = survey_of(workload)
    if not survey.symmetric:
        raise ValueError(OTHER_QUESTIONS)
    groups = []
    for group in survey.groups:
        document: Document = {"columns": list(group.attributes), "weight": float(group.weight)}
        if not isinstance(group.base, Histogram):
            values = eigenvalues(group.base, [survey.shape[i] for i in group.attributes]) or {}
            places = verify.subsets(tuple(range(len(group.attributes))))
            document["eigenvalues"] = [float(values.get(members, 0.0)) for members in places]
        groups.append(document)
    asked = {"gram": "tables", "sizes": list(survey.shape), "groups": groups, "roundings": 4 * survey.gram_roundings}
    return {"workload": asked}, {}


def _blocks(workload: Workload, _: np.ndarray | None) -> About:
    """A survey taken apart (`ldp_core.bounds.survey_blocks`). Of what takes too long to check, or is not taken apart, the trace alone."""
    survey = survey_of(workload)
    parts, left, entries = parts_of(survey), 0.9 * verify.MOST_WORK, _MOST_ENTRIES
    kept = []
    for block in parts.blocks:
        m = len(block.gram)
        left, entries = left - verify.block_price(m), entries - m**2
        if left < 0 or entries < 0:
            break
        kept.append(block)
    traces = [block.dim * float(block.gram.trace()) for block in kept]
    constant, whole = survey.components.constant, survey.trace / survey.n
    rest = whole - math.fsum([constant, *traces, float(parts.dims @ parts.alone)])
    triangles = [block.gram[np.tril_indices(len(block.gram))] for block in kept]
    arrays = {
        "gram": np.concatenate([np.zeros(0), *triangles]),
        "gram_alone": parts.alone,
        "gram_off": np.array([block.rounding for block in kept]),
        "gram_rest": np.array([constant, max(0.0, rest - 1e-9 * whole)]),
        "gram_cells": np.array([len(block.gram) for block in kept], dtype=float),
        "gram_dimensions": np.array([block.dim for block in kept], dtype=float),
        "gram_dimensions_alone": parts.dims,
    }
    return {"workload": {"gram": "blocks", "roundings": 4 * survey.gram_roundings}}, arrays


def survey_of(workload: Workload) -> Survey:
    """The survey that questions are; ValueError where they are none."""
    if workload.survey is None:
        raise ValueError(OTHER_QUESTIONS)
    return workload.survey


WRITERS: dict[str, Callable[[Workload, np.ndarray | None], About]] = {
    "general": _types,
    "question": _types,
    "classes": _classes,
    "tables": _tables,
    "blocks": _blocks,
}
