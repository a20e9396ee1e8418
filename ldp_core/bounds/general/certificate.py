"""A lower bound on L(Q) for every epsilon-LDP strategy Q, with a proof that is checked without any optimiser.

**The proof.** For a symmetric C, ``(M^-1 - C) M (M^-1 - C)`` is positive semidefinite, so with ``X = C G C``

    tr(M^-1 G)  >=  2 tr(C G) - tr(X M)                                   for every M,

and ``tr(X M) = sum_k w_k v_k'X v_k / (r'v_k) <= 1'mu`` when ``v'X v <= (r'v)(mu'v)`` for all
two-valued v (rows of a strategy are mixtures of these, and their weights satisfy
``sum_k w_k v_k = 1``). The best scaling of C gives

    L  >=  tr(C G)^2 / 1'mu.

The rest of the proof, with its rounding, stands in `ldp_core.bounds.verify`, which checks it: nothing else does. Where C, mu, Gamma, N,
kappa and the cuts come from: `ldp_core.bounds.general.multipliers`. Honest certificates lose nothing visible by rounding: 4e-10 of their
value at epsilon 1 and 64 types (prefix), 4e-8 at 256, 3e-6 at 1,024, 2e-4 at 4,096. C grows as epsilon^-2, and the loss with it: 7e-4 at
epsilon 0.001 and 64 types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg

from ldp_core.bounds import verify
from ldp_core.bounds.general import multipliers
from ldp_core.bounds.general.dual import BARRIERS, FEW_TYPES, FROM_PAIRS, few_high, searched
from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers, Numbers
from ldp_core.bounds.general.singles import inward, of_pairs
from ldp_core.bounds.proof import OTHER_QUESTIONS, Arrays, Document, TypesProof, triangle
from ldp_core.bounds.singular_values import centred_svd
from ldp_core.limits import AT_ONCE_TYPES, MOST_MATRIX_TYPES, UNASKED_TYPES
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Check, Interrupted, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

# What certificates of the closed form lose to rounding at most, of 4,096 types.
ROUNDING = 3e-4
OPTIMAL = 1e-3
"""A strategy within this share of its proof, in users, needs no better proof."""
SHARES = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Directions that the questions hardly ask about count as if asked about this share of the most at least, where rounding loses more otherwise
and types are not so many that each try takes long."""


@dataclass(frozen=True, repr=False)
class Certificate(TypesProof):
    """A proven lower bound ``value`` on ``tr(M_p^-1 G)`` of every epsilon-LDP strategy (on L for the uniform prior).

    The proof: ``inverse`` C (n, n), ``multipliers`` mu (n,), ``diagonal`` Gamma (n,), ``pairs`` N (n, n),
    ``sizes`` k (c,) and ``size_multipliers`` kappa (c,); ``cuts`` (t, 2w + 1), each row w types, their
    coefficients and k, and ``cut_multipliers`` (t,). `verify` needs nothing else.
    """

    workload: Workload
    epsilon: float
    prior: np.ndarray
    value: float
    inverse: np.ndarray
    multipliers: np.ndarray
    diagonal: np.ndarray
    pairs: np.ndarray
    sizes: np.ndarray
    size_multipliers: np.ndarray
    cuts: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    cut_multipliers: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def of_dual(self) -> Multipliers:
        """q, N, kappa and nu of `ldp_core.bounds.general.multipliers`, which the search for another prior can start from."""
        cuts = Cuts.read(self.cuts, self.workload.n) or Cuts.none(self.workload.n)
        return Multipliers(self.diagonal, self.pairs, self.sizes, self.size_multipliers, cuts, self.cut_multipliers)

    file_kinds = (("general", None),)

    def to_file(self, epsilon: str) -> tuple[Document, Arrays]:
        n = self.workload.n
        arrays: Arrays = {
            "inverse": triangle(self.inverse, n),
            "multipliers": self.multipliers,
            "diagonal": self.diagonal,
            "pairs": triangle(self.pairs, n),
            "sizes": self.sizes,
            "size_multipliers": self.size_multipliers,
        }
        if len(self.cuts):  # named as in the first files, whose cuts were on three types
            arrays |= {"triples": self.cuts, "triple_multipliers": self.cut_multipliers}
        return self._by_types("general", epsilon, arrays)

    @classmethod
    def from_file(
        cls,
        document: Document,
        data: Mapping[str, np.ndarray],
        workload: Workload,
        epsilon: float,
        checked: Sequence[float] | None = None,
    ) -> Certificate:
        n = workload.n
        if n > MOST_MATRIX_TYPES:
            raise ValueError(OTHER_QUESTIONS)
        C, N = verify.square(data["inverse"], n), verify.square(data["pairs"], n)
        prior = verify.people({**document, "types": n}, data)
        mu, gamma, sizes, kappa = (data[name] for name in ("multipliers", "diagonal", "sizes", "size_multipliers"))
        cuts = data.get("triples", np.zeros((0, 1))), data.get("triple_multipliers", np.zeros(0))
        return cls(workload, epsilon, prior, 0.0, C, mu, gamma, N, sizes, kappa, *cuts)


def general_certificate(
    workload: Workload, epsilon: float, prior: np.ndarray, budget: Budget, near: Certificate | None = None
) -> Certificate:
    """The best certificate by types, without use of symmetry, within ``budget``: from the closed form on, or from one for a prior that is
    ``near``. Past `UNASKED_TYPES` types it may prove nothing where it is cancelled."""
    epsilon = check_epsilon(epsilon)
    best = nothing(workload, epsilon, prior)
    taken = None if near is None or not near.diagonal.min() > 0 else (near.of_dual, near.prior)
    barriers: tuple[float, ...] = BARRIERS[-2:]

    def stop() -> bool:
        return budget.stopped() is not None

    with blas_threads(workload.n), suppress(Interrupted):
        if workload.n <= AT_ONCE_TYPES:
            best = closed_form(workload, epsilon, prior)
        if few_high(workload.n, np.exp(epsilon)) and not stop():
            pairs, objective = of_pairs(workload.gram_dense(), np.exp(epsilon), prior, stop, budget.check)
            best = max(best, _written(pairs, workload, epsilon, prior, budget.check), key=lambda c: c.value)
            budget.tell(bound=best.value)
            if objective - best.trivial <= (1 + OPTIMAL) * (best.value - best.trivial):
                return best
            if best.value > best.trivial and workload.n <= FEW_TYPES and np.min(pairs.multipliers.q) > 0:
                taken, barriers = (inward(pairs.multipliers, prior), prior), FROM_PAIRS
        if workload.n > AT_ONCE_TYPES or not stop():
            for found in searched(workload, epsilon, prior, stop, budget.check, taken, barriers):
                with suppress(linalg.LinAlgError):  # what is definite over blocks need not be so over types
                    best = max(best, of(found, workload, epsilon, prior, budget.check), key=lambda c: c.value)
                budget.tell(bound=best.value)
    return best if given_up(workload, budget) else _at_least_closed_form(best)


def given_up(workload: Workload, budget: Budget) -> bool:
    """True where somebody has cancelled, and even the closed form would keep them waiting."""
    return budget.cancelled() and workload.n > UNASKED_TYPES


def _at_least_closed_form(best: Certificate) -> Certificate:
    """``best``, or the closed form where that says more: of a search stopped early, or one over blocks, whose estimate leaves
    out what is between types."""
    workload, epsilon, prior = best.workload, best.epsilon, best.prior
    if workload.n <= AT_ONCE_TYPES:  # it was the first
        return best
    with blas_threads(workload.n):
        if best.value >= centred_svd(workload, epsilon, prior) * (1 - ROUNDING):
            return best
        return max(best, closed_form(workload, epsilon, prior), key=lambda c: c.value)


def nothing(workload: Workload, epsilon: float, prior: np.ndarray) -> Certificate:
    """The certificate of the trivial bound. If C = p p' and mu = (p'Gp / n) p, both sides of
    the condition are (p'Gp) (p'v)^2."""
    n = workload.n
    C, mu = np.outer(prior, prior), float(workload.quadratic(prior)) / n * prior
    none = np.zeros(0)
    made = Certificate(workload, epsilon, prior, 0.0, C, mu, np.zeros(n), np.zeros((n, n)), none, none)
    return replace(made, value=made.trivial)


def closed_form(workload: Workload, epsilon: float, prior: np.ndarray) -> Certificate:
    """The certificate of the centred SVD bound."""
    return of(multipliers.closed(prior), workload, epsilon, prior)


def of(
    found: Multipliers, workload: Workload, epsilon: float, prior: np.ndarray, check: Check = unchecked
) -> Certificate:
    """The certificate that multipliers prove; LinAlgError where they prove none."""
    proved: list[Certificate] = []
    for share in SHARES if workload.n <= AT_ONCE_TYPES else SHARES[:1]:
        made = multipliers.numbers(workload.gram_dense(), np.exp(epsilon), prior, found, check, share)
        proved.append(_written(made, workload, epsilon, prior, check))
        value, lost = proved[-1].value, made.exactly - proved[-1].value
        if value < proved[0].value or lost <= OPTIMAL / 10 * (made.exactly - proved[0].trivial):
            break
    return max(proved, key=lambda c: c.value)


def _written(made: Numbers, workload: Workload, epsilon: float, prior: np.ndarray, check: Check) -> Certificate:
    m = made.multipliers
    certificate = Certificate(
        workload,
        epsilon,
        prior,
        0.0,
        made.inverse,
        made.mu,
        m.q,
        m.pairs,
        m.sizes,
        m.size_multipliers,
        m.cuts.written,
        m.cut_multipliers,
    )
    check()
    return replace(certificate, value=certificate.claim())
