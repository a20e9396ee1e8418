"""Certificates for questions about yes-or-no attributes, from inequalities on triples of types.

Take the questions as a survey (`ldp_core.bounds.surveys.certificate`): weights lambda of sets of attributes may depend on how many attributes they
hold, as the Fourier weight of all sets of l attributes is at least that of those asked about, and ``mu`` is the largest value of
``D^2 sum_l lambda_l W^l / (1 + D a)^2`` of any set of records of share a that `ldp_core.bounds.triples.duals` cannot rule out.

A Gram matrix by class is off the true one by ``e_l`` (`Scheme.spectrum`): C with the eigenvalues ``sqrt(lambda_l / (gamma_l + e_l))`` then has
``(gamma_l - e_l)^2 / (gamma_l + e_l)`` in place of gamma_l.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ldp_core.bounds.proof import Certificate
from ldp_core.bounds.surveys.certificate import bound
from ldp_core.bounds.triples.duals import NAMES, Duals
from ldp_core.bounds.triples.moments import known_of
from ldp_core.bounds.triples.search import TriplesSearch
from ldp_core.run import Check, Interrupted, unchecked
from ldp_core.workloads import Workload


class Components(NamedTuple):
    """G / n by sets of attributes: the ``constant``, dimensions, values and ``levels`` (k,), how many attributes each holds, of so many ``bits``;
    all off by at most ``units`` of rounding."""

    bits: int
    constant: float
    dims: np.ndarray
    gram: np.ndarray
    levels: np.ndarray
    units: int

    def proved(self, weights: np.ndarray, ratio: float) -> float:
        """The bound / n for ``weights`` (bits,)."""
        return bound(self.constant, self.dims, self.gram, weights[self.levels - 1], ratio, self.units)

    @property
    def worth(self) -> np.ndarray:
        """(bits,) what weights of each level are worth to `TriplesSearch`."""
        own = np.bincount(self.levels - 1, self.dims * np.sqrt(self.gram), self.bits)
        return np.asarray(own**2)


@dataclass(frozen=True, repr=False)
class TripleCertificate(Certificate):
    """A bound that the ``duals`` among the numbers prove to this program, beside a smaller one for the script."""

    besides = "triples"
    more = NAMES

    def proven(self) -> float:
        asked = components(self.workload)
        duals = Duals.from_numbers(self.numbers)
        if asked is None or np.shape(duals.weights) != (asked.bits,):
            return -np.inf
        with np.errstate(all="ignore"):  # overflow shows as inf or nan, which prove nothing
            ratio = duals.ratio(self.epsilon)
        return self.workload.n * asked.proved(duals.weights, ratio) if 0 < ratio < np.inf else -np.inf


def components(workload: Workload) -> Components | None:
    """The questions by sets of attributes where they are about yes-or-no attributes, few enough and not too many of them at once; None for others."""
    found = _of_survey(workload) if workload.survey is not None else _of_classes(workload)
    if found is None or not (known_of(found.bits) and found.bits >= 3):
        return None
    asked = found.levels[found.gram > 0].max(initial=0)
    # Of more at once, pairs of types prove as much.
    return found if 0 < asked <= 2 / 3 * found.bits else None


def _of_survey(workload: Workload) -> Components | None:
    survey = workload.survey
    if survey is None or not survey.symmetric or max(survey.shape) != 2:
        return None
    c = survey.components
    levels = np.array([len(members) for members in c.sets], dtype=np.int64)
    bits = sum(size > 1 for size in survey.shape)
    return Components(bits, c.constant, c.dims, c.gram, levels, 4 * survey.gram_roundings)


def _of_classes(workload: Workload) -> Components | None:
    scheme = workload.symmetry_group.scheme
    if scheme is None or not scheme.binary or scheme.classes > 13:
        return None
    gamma, off = scheme.spectrum(workload.gram_column, workload.gram_roundings)
    least = np.where(gamma > off, (gamma - off) ** 2 / (gamma + off + (gamma == 0)), 0.0) / scheme.n
    bits = scheme.classes - 1
    return Components(bits, float(least[0]), scheme.multiplicities[1:], least[1:], np.arange(1, bits + 1), 0)


def improved(
    plain: Certificate, stop: Callable[[], bool] = lambda: False, check: Check = unchecked, beyond: float = 0.0
) -> Iterator[TripleCertificate]:
    """Ever better certificates for the workload of ``plain``, a smaller bound for the script, if it has `components`, until ``stop()``; all above
    that and ``beyond``."""
    workload, epsilon = plain.workload, plain.epsilon
    asked, best = components(workload), max(plain.value * (1 + 1e-4), beyond)
    if asked is None:
        return

    def over() -> None:
        check()
        if stop():
            raise Interrupted

    try:
        search = TriplesSearch(asked.bits, epsilon, asked.worth, over)
        for duals in search.rounds(best / workload.n - asked.constant):
            numbers: Mapping[str, np.ndarray] = {**plain.numbers, **duals.numbers}
            certificate = TripleCertificate(workload, epsilon, 0.0, plain.kind, dict(numbers))
            certificate = replace(certificate, value=certificate.claim())
            if certificate.value > best:
                best = certificate.value
                yield certificate
    except Interrupted:
        return
