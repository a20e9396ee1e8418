"""Certificates: claims that are checked without trust, by `ldp_core.bounds.verify`, where the proofs stand with their rounding.

What a proof is about is written, as a document and arrays that the script reads, from the questions alone, whatever it claims.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.closed_form import average_variance
from ldp_core.bounds.survey_blocks import parts_of
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Histogram, Survey, Workload
from ldp_core.workloads.secret import PartlySecret
from ldp_core.workloads.surveys import eigenvalues

Document = dict[str, Any]
Arrays = dict[str, np.ndarray]
About = tuple[Document, Arrays]
OTHER_QUESTIONS = "it is about other questions than those of the design"
_MOST_ENTRIES = 2**23
"""All blocks of a proof together: others are left out."""
MARGIN = 1e-8
LEAST_MARGIN = 1e-14
"""The share of what they say beyond the trivial bound, and for each of up to `MOST_MATRIX_TYPES` types the share of all of it, by which proofs
claim less than was proven when they were made, since other machines, and other numbers of threads, round in other ways."""

NUMBERS: dict[str, tuple[str, ...]] = {
    "general": ("inverse", "multipliers", "diagonal", "pairs", "sizes", "size_multipliers"),
    "question": ("direction", "alpha", "beta"),
    "classes": ("inverse", "pairs", "cut_multipliers", "floors"),
    "tables": (),
    "blocks": (),
}
"""The numbers that prove, by the kind of proof. ``triples``, cuts on few types, and ``cut0``, ``cut1``, .. may be there besides."""
PROVES_BY = {
    "general": "signs and one factorisation of a matrix",
    "question": "the least value of a function of one number",
    "classes": "signs and a few fractions",
    "tables": "a closed form",
    "blocks": "eigenvalues of a matrix for each set of columns",
    "columns": "inequalities for each column",
}
READERS: dict[str | None, type[Proof]] = {}
"""The class that reads a document, by what it holds for this program besides a proof for the script."""
NO_LONGER = "it is of a kind that this version does not check any more"


class Proof(ABC):
    """A lower bound ``value`` that its own stored numbers prove."""

    value: float
    workload: Workload
    epsilon: float
    besides: ClassVar[str | None]

    def __init_subclass__(cls) -> None:
        if "besides" in cls.__dict__:
            READERS[cls.besides] = cls

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: lower bound {self.value:.6g}, epsilon {self.epsilon:g}, {self.workload!r}>"

    def verify(self) -> bool:
        """True if the stored numbers prove ``value``; False, never an error, for any other input."""
        try:
            if not all(isinstance(x, float | int) and type(x) is not bool for x in (self.value, self.epsilon)):
                return False
            check_epsilon(self.epsilon)
            proven = self.proven()
            return math.isfinite(self.value) and proven > -math.inf and bool(self.value <= max(self.trivial, proven))
        except Exception:  # what cannot be checked proves nothing, for whatever reason
            return False

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over the types, nor for its worst type."""
        return max(0.0, (self.value - self.workload.trace) / self.workload.n)

    @property
    def trivial(self) -> float:
        """The bound that needs no proof: a variance is not negative."""
        return self.workload.trace

    @property
    def proves_by(self) -> str:
        """How the numbers prove the bound, in words for pages."""
        return PROVES_BY["general"]

    @property
    def claimed(self) -> float:
        """The bound on the scale of the types that the numbers in a file are about."""
        return self.value

    def claim(self, proven: float | None = None) -> float:
        """The number to store as ``value``: a little less than is ``proven`` here, so that every
        machine proves it, whatever the order of its sums; the trivial bound at least."""
        proven, trivial = self.proven() if proven is None else proven, self.trivial
        return max(trivial, less(proven, trivial, self.workload.n))

    @abstractmethod
    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        """What is proved, for the decimal number ``epsilon``, and the numbers that prove it, as the script reads them."""

    @classmethod
    @abstractmethod
    def from_file(
        cls, document: Document, data: Mapping[str, np.ndarray], workload: Workload, epsilon: float, value: float
    ) -> Proof:
        """The proof in a document, about ``workload``, that claims a ``value``. KeyError, TypeError or ValueError for a document that holds no
        such proof."""

    def too_large_for_file(self) -> str | None:
        """Why the proof is not written to a file, None where it is."""
        return None

    @abstractmethod
    def proven(self) -> float:
        """The bound that the stored numbers prove, rounded down; -inf if none."""


@dataclass(frozen=True, repr=False)
class Certificate(Proof):
    """A proven lower bound ``value`` on ``tr(M_p^-1 G)`` of every epsilon-LDP strategy (on L for people spread evenly): the ``numbers`` of a proof
    of a ``kind`` that `ldp_core.bounds.verify` checks, by name. Proofs by types have a ``prior`` p (n,), which is None for all others."""

    workload: Workload
    epsilon: float
    value: float
    kind: str
    numbers: Arrays
    prior: np.ndarray | None = None

    besides: ClassVar[str | None] = None
    """What proves more than the script checks, to this program alone, by the numbers ``more``."""
    more: ClassVar[tuple[str, ...]] = ()

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over ``prior``, nor for its worst type."""
        if self.prior is None:
            return super().variance
        return max(0.0, average_variance(self.value, self.workload, self.prior))

    @property
    def trivial(self) -> float:
        n = self.workload.n
        if self.prior is None or np.array_equal(self.prior, np.full(n, 1 / n)):
            return self.workload.trace
        return n * float(check_prior(self.prior, n) @ self.workload.gram_diag)

    @property
    def proves_by(self) -> str:
        return PROVES_BY[self.besides or self.kind]

    def too_large_for_file(self) -> str | None:
        if self.kind not in verify.BY_TYPES or self.workload.n <= MOST_MATRIX_TYPES:
            return None
        return f"Certificates are written for at most {MOST_MATRIX_TYPES:,} types; there are {self.workload.n:,}."

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        fields, arrays = WRITERS[self.kind](self.workload, self.prior)
        if isinstance(self.workload, PartlySecret):
            fields, arrays = {**fields, "promise": "secret"}, {**arrays, "secret": self.workload.secret.astype(float)}
        document = {"kind": self.kind, "epsilon": epsilon, "types": int(self.workload.n), **fields}
        document |= {} if self.besides is None else {"proof": self.besides}
        given = dict(zip(self.numbers, map(real, self.numbers.values()), strict=True))
        names = {*NUMBERS[self.kind], *self.more}
        if self.kind == "classes":
            names |= {f"cut{k}" for k in range(len(given["floors"]))}
        if self.kind == "general" and "triples" in given:  # named as in the first files, whose cuts were on three types
            names |= {"triples", "triple_multipliers"}
        if given.keys() != names:
            raise ValueError(NO_LONGER)
        return document, {**given, **arrays}

    @classmethod
    def from_file(
        cls, document: Document, data: Mapping[str, np.ndarray], workload: Workload, epsilon: float, value: float
    ) -> Certificate:
        kind, n = document["kind"], workload.n
        by_types = kind in verify.BY_TYPES
        if kind not in NUMBERS or (by_types and n > MOST_MATRIX_TYPES):
            raise ValueError(OTHER_QUESTIONS)
        prior = verify.people({**document, "types": n}, data) if by_types else None
        numbers = {
            name: array
            for name, array in data.items()
            if name not in ("prior", "secret") and not name.startswith("gram")
        }
        made = cls(workload, epsilon, 0.0, kind, numbers, prior)
        return cls(workload, epsilon, max(value, made.trivial), kind, numbers, prior)

    def proven(self) -> float:
        try:
            with np.errstate(all="ignore"):  # what overflows proves nothing
                return verify.proven(*self.to_file(decimal(self.epsilon)))
        except (*verify.DAMAGED, ValueError):
            return -math.inf


def from_file(
    document: Document, data: Mapping[str, np.ndarray], workload: Workload, epsilon: float, value: float
) -> Proof:
    """The proof in a document of any kind, see `Proof.from_file`."""
    special = [name for name in ("merged", "strata") if name in document or document["kind"] == name]
    besides = special[0] if special else document.get("proof")
    if not isinstance(besides, str | None) or besides not in READERS:
        raise ValueError(NO_LONGER)
    return READERS[besides].from_file(document, data, workload, epsilon, value)


def exp_epsilon_minus_one(epsilon: float) -> float:
    """D = e^epsilon - 1 rounded up by a few units: what holds for a larger epsilon holds for this one."""
    return float(np.expm1(check_epsilon(epsilon))) * (1 + 8 * verify.U)


def less(proven: float, trivial: float, n: int) -> float:
    """A little less than is proven for n types, see `MARGIN`."""
    return proven * (1 - LEAST_MARGIN * min(n, MOST_MATRIX_TYPES)) - MARGIN * max(proven - trivial, 0.0)


def decimal(epsilon: float) -> str:
    """The shortest decimal number that is ``epsilon`` as a float."""
    return format(Decimal(repr(float(epsilon))), "f")


def below(matrix: np.ndarray) -> np.ndarray:
    """The lower triangle of a symmetric matrix, row by row, as the script reads it."""
    return np.asarray(matrix[np.tril_indices(len(matrix))])


def real(array: object) -> np.ndarray:
    """The real numbers of an array in double precision; ValueError for texts, truth values and anything else."""
    values = np.asarray(array)
    if values.dtype.kind not in "iuf":
        raise ValueError("A proof holds real numbers.")
    return values.astype(float)


def magnitudes_fit(*arrays: np.ndarray) -> bool:
    """True if all entries are finite, in double precision, and small enough for `verify.TINY` and against overflow: every bound on rounding assumes
    this."""
    plain = all(
        type(array) is np.ndarray and array.dtype == np.float64 for array in arrays
    )  # none hides some of its entries
    return plain and all(bool(np.all(np.abs(array) < verify.MOST)) for array in arrays)  # False for nan


# --- what proofs are about ---------------------------------------------------------------------------------------


def _types(workload: Workload, prior: np.ndarray | None) -> About:
    n = workload.n
    even = prior is None or np.array_equal(prior, np.full(n, 1 / n))
    arrays = {} if even else {"prior": np.asarray(prior, dtype=float)}
    fields: Document = {"prior": "even" if even else "array"}
    G = workload.gram_dense()
    for name in verify.NAMED:
        if np.array_equal(G, verify.gram({"types": n, "workload": {"gram": name}}, {})):
            return {"workload": {"gram": name}, **fields}, arrays
    described = {"gram": "array", "roundings": workload.gram_roundings}
    return {"workload": described, **fields}, {**arrays, "gram": G[np.tril_indices(n)]}


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
    described = {
        "gram": "tables",
        "sizes": list(survey.shape),
        "groups": groups,
        "roundings": 4 * survey.gram_roundings,
    }
    return {"workload": described}, {}


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
