"""The common part of certificates: a claim that is checked without trust, and floating-point steps
of bounded rounding.

Rounding is bounded a priori, in the standard model of floating-point arithmetic (Higham 2002, Chapters 2 and 3): with the unit
roundoff ``u = 2^-53``, a sum of k products is off by at most ``k u / (1 - k u)`` times the same sum over absolute values,
whatever the order of summation, fused or not. Bounds are themselves computed in floating point from non-negative numbers;
`ABOVE` makes up for that. Underflow adds an absolute error, which `UNDERFLOW` covers for numbers of `SMALLEST` to `LARGEST`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar, Self

import numpy as np

from ldp_core.bounds import verify
from ldp_core.bounds.scales import average_variance
from ldp_core.limits import MOST_MATRIX_TYPES
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload

U = 2.0**-53
EXACT = 2.0**53
"""Sums of whole numbers below this are exact."""
ABOVE = 1 + 1e-6
SMALLEST = 1e-100
LARGEST = 1e100
UNDERFLOW = 1e-200
MARGIN = 1e-8
LEAST_MARGIN = 1e-14
"""The share of what they say beyond the trivial bound, and for each of up to `MOST_MATRIX_TYPES` types the share of all of it, by which proofs
claim less than was proven when they were made, since other machines, and other numbers of threads, round in other ways."""

Document = dict[str, Any]
Arrays = dict[str, np.ndarray]
"""What a proof is in a file: a document in JSON, and arrays by name; see `ldp_core.bounds.verify`."""
KINDS: dict[tuple[str, str | None], type[Proof]] = {}
"""The class that reads each kind of document: its ``kind``, and what it holds besides for this program."""
BESIDES = ("merged", "intervals", "steps", "blocks")
OTHER_QUESTIONS = "it is about other questions than those of the design"
NO_LONGER = "it is of a kind that this version does not check any more"
NOTHING_TO_HOLD = "One of the groups of questions has no proved bound, so there is no proof to write."


class Proof(ABC):
    """A lower bound ``value`` that its own stored numbers prove."""

    value: float
    workload: Workload
    epsilon: float
    proves_by: ClassVar[str] = "signs and one factorisation of a matrix"
    """How the numbers prove the bound, in words for pages."""

    file_kinds: ClassVar[tuple[tuple[str, str | None], ...]] = ()
    """The kinds of documents that this class writes and reads."""

    def __init_subclass__(cls) -> None:
        KINDS.update(dict.fromkeys(cls.__dict__.get("file_kinds", ()), cls))

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
        n, prior = self.workload.n, vars(self).get("prior")
        even = prior is None or np.array_equal(prior, np.full(n, 1 / n))
        return self.workload.trace if even else n * float(check_prior(prior, n) @ self.workload.gram_diag)

    def claim(self) -> float:
        """The number to store as ``value``: a little less than is proven here, so that every
        machine proves it, whatever the order of its sums; the trivial bound at least."""
        return self.claimable(self.proven())

    def claimable(self, proven: float) -> float:
        """What to claim where so much is proven."""
        return max(self.trivial, less(proven, self.trivial, self.workload.n))

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        """What is proved, for the decimal number ``epsilon``, and the numbers that prove it.

        ValueError, one sentence, for proofs that are not written to files.
        """
        raise ValueError(f"A {type(self).__name__} is not written to a file.")

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> Proof:
        """The proof in a document of one of `file_kinds`, about ``workload``, with value 0.

        ``checked`` are the values of its parts where they are known. KeyError, TypeError or
        ValueError for a document that holds no such proof.
        """
        raise ValueError(NO_LONGER)

    def too_large_for_file(self) -> str | None:
        """Why the proof is not written to a file, None where it is."""
        return None

    def mended(self, epsilon: str) -> Self:
        """The proof with the least multipliers that pass where these are checked in exact fractions."""
        return self

    @property
    def claimed(self) -> float:
        """The bound on the scale of the types that the numbers in a file are about."""
        return self.value

    def claiming(self, value: float) -> Self:
        """The proof with this bound as `claimed`."""
        return replace(self, value=max(value, self.trivial))  # type: ignore[type-var]

    @property
    def parts_claimed(self) -> list[float]:
        """The bounds of the parts, which are not in the files."""
        return []

    def _about(self, epsilon: str) -> Document:
        return {"epsilon": epsilon, "types": int(self.workload.n)}

    def proven(self) -> float:
        """The bound that the stored numbers prove, rounded down; -inf if none. This is what the script says of what would be written."""
        try:
            with np.errstate(all="ignore"):  # what overflows proves nothing
                return verify.proven(*self.to_file(decimal(self.epsilon)))
        except (*verify.DAMAGED, ValueError):
            return -math.inf


class TypesProof(Proof):
    """A bound on ``tr(M_p^-1 G)`` for the ``prior`` p (n,), from numbers for each type."""

    prior: np.ndarray

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over ``prior``, nor for its worst type."""
        return max(0.0, average_variance(self.value, self.workload, self.prior))

    def too_large_for_file(self) -> str | None:
        if self.workload.n <= MOST_MATRIX_TYPES:
            return None
        return f"Certificates are written for at most {MOST_MATRIX_TYPES:,} types; there are {self.workload.n:,}."

    def _by_types(self, kind: str, epsilon: str, arrays: Arrays) -> tuple[Document, Arrays]:
        """A document of this kind about G and the prior, and ``arrays`` with what these add to them."""
        n = self.workload.n
        even = np.array_equal(self.prior, np.full(n, 1 / n))
        arrays = {name: numbers(array) for name, array in arrays.items()}
        G, asked = self.workload.gram_dense(), Document(gram="array", roundings=self.workload.gram_roundings)
        for name in verify.NAMED:
            if np.array_equal(G, verify.gram({"types": n, "workload": {"gram": name}}, {})):
                asked = {"gram": name}
        given = {} if even else {"prior": numbers(self.prior)}
        given |= {"gram": G[np.tril_indices(n)]} if asked["gram"] == "array" else {}
        about = {"kind": kind, **self._about(epsilon), "workload": asked, "prior": "even" if even else "array"}
        return about, {**arrays, **given}


def from_file(
    document: Document,
    data: Mapping[str, np.ndarray],
    workload: Workload,
    epsilon: float,
    checked: Sequence[float] | None = None,
) -> Proof:
    """The proof in a document of any kind, see `Proof.from_file`."""
    held = {*document.get("proof", ()), *document.keys() & {"merged"}}
    besides = next((name for name in BESIDES if name in held), None)
    if held - {*BESIDES} or "three" in data:
        raise ValueError(NO_LONGER)
    reader = KINDS.get((document["kind"], besides))
    if reader is None:
        raise ValueError(OTHER_QUESTIONS)
    return reader.from_file(document, data, workload, epsilon, checked)


class QuotientProof(Proof):
    """A bound ``tr(C G)^2 / 1'mu``."""

    def proven(self) -> float:
        with np.errstate(all="ignore"):  # overflow shows as inf or nan, which prove nothing
            trace, total = self._trace_and_total()
        if not (SMALLEST < trace < LARGEST and SMALLEST < total < LARGEST):  # nan is not
            return -math.inf
        return trace / total * trace * (1 - 8 * U)

    @abstractmethod
    def _trace_and_total(self) -> tuple[float, float]:
        """A lower bound on tr(C G) and an upper bound on 1'mu of multipliers that meet the condition; nan if none."""


def less(proven: float, trivial: float, n: int) -> float:
    """A little less than is proven for n types, see `MARGIN`."""
    return proven * (1 - LEAST_MARGIN * min(n, MOST_MATRIX_TYPES)) - MARGIN * max(proven - trivial, 0.0)


NOTHING = (math.nan, math.nan)
"""The result of an invalid proof."""


def exp_epsilon_minus_one(epsilon: float) -> float:
    """D = e^epsilon - 1 rounded up by a few units: what holds for a larger epsilon holds for this one."""
    return float(np.expm1(check_epsilon(epsilon))) * (1 + 8 * U)


def decimal(epsilon: float) -> str:
    """The shortest decimal number that is ``epsilon`` as a float."""
    return format(Decimal(repr(float(epsilon))), "f")


def triangle(matrix: object, n: int) -> np.ndarray:
    """The lower triangle of a symmetric matrix (n, n), row by row; ValueError for any other."""
    A = numbers(matrix)
    if A.shape != (n, n) or not np.array_equal(A, A.T):
        raise ValueError("A proof holds symmetric matrices.")
    return np.asarray(A[np.tril_indices(n)])


def numbers(array: object) -> np.ndarray:
    """The real numbers of an array in double precision; ValueError for texts, truth values and anything else."""
    values = np.asarray(array)
    if values.dtype.kind not in "iuf":
        raise ValueError("A proof holds real numbers.")
    return values.astype(float)


def magnitudes_fit(*arrays: np.ndarray | float) -> bool:
    """True if all entries are finite and small enough for `UNDERFLOW` and against overflow, in
    double precision (or whole): every bound on rounding assumes this."""
    return all(_precise(array) and bool(np.all(np.abs(array) < LARGEST)) for array in arrays)  # False for nan


def _precise(array: np.ndarray | float) -> bool:
    if isinstance(array, float):
        return True
    if type(array) is not np.ndarray:  # nor one that hides some of its entries
        return False
    whole = array.dtype == np.int64 and bool(np.all(np.abs(array) < EXACT))
    return whole or array.dtype == np.float64


def repair(reference: np.ndarray, D: float, slack_v: float, slack_z: float) -> float:
    """An upper bound on the common increase of all mu_i that covers a slack of
    ``slack_v |v|^2 + slack_z |(1, y)|^2``."""
    n = len(reference)
    # A v of j high entries has |v|^2 = n + (E^2 - 1) j and |(1, y)|^2 = 1 + D^2 j.
    return slack_v / _least_gain(reference, D, n, D * (D + 2)) + slack_z / _least_gain(reference, D, 1.0, D**2)


def _least_gain(reference: np.ndarray, D: float, constant: float, each: float) -> float:
    """The least ``(r'v)(1'v) / (constant + each j)`` of any v in {1, 1 + D}^n with j high entries, rounded down.

    ``reference`` r (n,) is not negative; r'v is least for the j smallest.
    """
    n, j = len(reference), np.arange(len(reference) + 1)
    masses = reference.sum() + D * np.concatenate([[0.0], np.cumsum(np.sort(reference))])
    return float((masses * (n + D * j) / (constant + each * j)).min()) / ABOVE
