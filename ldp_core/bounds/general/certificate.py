"""A lower bound on L(Q) for every epsilon-LDP strategy Q, with a proof that is checked without any optimiser.

**The proof.** For a symmetric C, ``(M^-1 - C) M (M^-1 - C)`` is positive semidefinite, so with ``X = C G C``

    tr(M^-1 G)  >=  2 tr(C G) - tr(X M)                                   for every M,

and ``tr(X M) = sum_k w_k v_k'X v_k / (r'v_k) <= 1'mu`` when ``v'X v <= (r'v)(mu'v)`` for all
two-valued v (rows of a strategy are mixtures of these, and their weights satisfy
``sum_k w_k v_k = 1``). The best scaling of C gives

    L  >=  tr(C G)^2 / 1'mu.

The condition on v is a quadratic inequality in ``y = v - 1`` in {0, D}^n. It holds with a slack eta >= 0,
``(r'v)(mu'v) - v'Xv + eta >= 0``, if the symmetric matrix of that polynomial in (1, y), less the terms

* ``y' N y`` with a non-negative matrix N,
* ``kappa_k (sum y - k D)(sum y - (k + 1) D)`` with non-negative kappa (the number of high entries is whole),
* the same with ``c'y`` in place of ``sum y``, for whole coefficients c of any few types
  (`ldp_core.bounds.general.few_types`),

and plus ``sum_i Gamma_i (y_i^2 - D y_i) = 0``, has a smallest eigenvalue lambda: the slack is then
``-lambda |(1, y)|^2``. Adding delta to every mu_i adds ``delta (r'v)(1'v)``, which makes up for it.
See `ldp_core.bounds.general.multipliers` for where C, mu, Gamma, N and kappa come from.

**The rounding.** The stored arrays are taken as exact numbers, and D as a number that is no smaller
than e^epsilon - 1. Values computed from them carry rounding errors. Everything below is bounded for
*any* arrays, however badly scaled (the notation and the model: `ldp_core.bounds.proof`). Let
``s = sqrt(diag G)`` and ``w = |C| s``. G itself went through g roundings, so that
``|dG_ij| <= g u s_i s_j`` (`Workload.gram_roundings`; 0 where all its entries are counts), and
``|G_ij| <= s_i s_j``.

* *tr(C G)*: n products for each entry of ``G C``, n entries on the diagonal, and dG: off by ``(2n + g) u s'w``. That much is
  taken off the trace.
* *X = C (G C)*: twice n products, and ``|C| |dG| |C|``: entry by entry off by ``(2n + g) u w_i w_j``, so its norm by
  ``(2n + g) u |w|^2``.
* *F = (mu r' + r mu')/2 - X*: a few roundings more, ``6 u |mu| |r| + u |X|``, with ``|X| <= |w|^2``. These two errors act on v: the
  slack they leave is E_v |v|^2.
* *The form in (1, y)*: row sums of F, and terms of N, kappa and Gamma added one by one. With A the sum of the absolute values of
  all terms, entry by entry, the error is at most ``(2n + c + t + 16) u A_ij``
  with c sizes and t cuts; this slack is E_z |(1, y)|^2, E_z the norm of A times that.
* *lambda*: from a Cholesky factorisation, see `proof.smallest_eigenvalue`.
* *1'mu*: a sum of n numbers, off by ``n u sum |mu_i|``.

Both slacks are repaired as above, since ``(r'v)(1'v)`` is at least a known multiple of |v|^2 and of
|(1, y)|^2. Honest certificates lose nothing visible by all this: 4e-10 of their value at epsilon 1
and 64 types (prefix), 4e-8 at 256, 3e-6 at 1,024, 2e-4 at 4,096. C grows as epsilon^-2, and the
loss with it: 7e-4 at epsilon 0.001 and 64 types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.bounds import verify
from ldp_core.bounds.general import multipliers
from ldp_core.bounds.general.dual import BARRIERS, FEW_TYPES, FROM_PAIRS, few_high, searched
from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers, Numbers
from ldp_core.bounds.general.singles import inward, of_pairs
from ldp_core.bounds.proof import (
    ABOVE,
    LARGEST,
    NOTHING,
    OTHER_QUESTIONS,
    UNDERFLOW,
    Arrays,
    Document,
    QuotientProof,
    TypesProof,
    U,
    exp_epsilon_minus_one,
    magnitudes_fit,
    numbers,
    repair,
    smallest_eigenvalue,
)
from ldp_core.bounds.singular_values import centred_svd
from ldp_core.limits import AT_ONCE_TYPES, MOST_MATRIX_TYPES, UNASKED_TYPES
from ldp_core.priors import check_prior
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
class Certificate(TypesProof, QuotientProof):
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
        below = np.tril_indices(self.workload.n)
        arrays: Arrays = {
            "inverse": self.inverse[below],
            "multipliers": self.multipliers,
            "diagonal": self.diagonal,
            "pairs": self.pairs[below],
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

    def _trace_and_total(self) -> tuple[float, float]:
        n, kinds = self.workload.n, (self.inverse, self.multipliers, self.diagonal, self.pairs)
        C, mu, gamma, N = map(numbers, kinds)
        sizes, kappa = numbers(self.sizes), numbers(self.size_multipliers)
        rows, nu = numbers(self.cuts), numbers(self.cut_multipliers)
        arrays = (C, mu, gamma, N, sizes, kappa, rows, nu)
        shapes = ((n, n), (n,), (n,), (n, n), (kappa.size,), (kappa.size,), (nu.size, *rows.shape[1:]), (nu.size,))
        fits = rows.ndim == 2 and all(array.shape == shape for array, shape in zip(arrays, shapes, strict=True))
        if not fits or not magnitudes_fit(*arrays) or not np.array_equal(sizes, np.rint(sizes)):
            return NOTHING
        cuts = Cuts.read(rows, n)
        if cuts is None or np.min(nu, initial=0.0) < 0:
            return NOTHING
        if np.min(N) < 0 or np.min(kappa, initial=0.0) < 0 or not np.array_equal(C, C.T) or not np.array_equal(N, N.T):
            return NOTHING
        D, reference = exp_epsilon_minus_one(self.epsilon), n * check_prior(self.prior, n)
        G, roundings = self.workload.gram_dense(), 2 * n + self.workload.gram_roundings
        s = np.sqrt(G.diagonal()) * ABOVE
        if not magnitudes_fit(s):
            return NOTHING
        w = np.abs(C) @ s * ABOVE
        half = _product(G, C)
        trace = float(half.trace()) - ABOVE * roundings * U * float(s @ w) - UNDERFLOW

        F = np.outer(mu / 2, reference)
        F = F + F.T - _product(C, half)
        off_v = (roundings + 1) * float(w @ w) + 6 * float(linalg.norm(mu) * linalg.norm(reference))
        form, terms = self._form(F, D, gamma, N, sizes, kappa)
        off, sums = cuts.form(nu, D)
        form, size = form - off, float(linalg.norm(terms + sums))
        if not size < LARGEST:  # nor nan, which max below would pass over
            return NOTHING
        off_z = (2 * n + len(sizes) + len(cuts) + 16) * U * size
        slack_v = ABOVE * U * off_v + UNDERFLOW
        slack_z = max(0.0, ABOVE * off_z + UNDERFLOW - smallest_eigenvalue(form))
        growth = U * float(np.abs(mu).sum()) + repair(reference, D, slack_v, slack_z)
        total = float(mu.sum()) + ABOVE * n * growth
        return trace, total

    @staticmethod
    def _form(
        F: np.ndarray, D: float, gamma: np.ndarray, N: np.ndarray, sizes: np.ndarray, kappa: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The quadratic form in (1, y) whose smallest eigenvalue decides, but for cuts on few types, and the
        sums of its terms' absolute values."""
        form, terms = bordered(F), bordered(np.abs(F))
        # The sum of the forms of all sizes, in a time that does not grow with n^2 for each.
        form[0, 0] -= D**2 * (kappa @ (sizes * (sizes + 1)))
        terms[0, 0] += D**2 * (kappa @ np.abs(sizes * (sizes + 1)))
        form[1:, 1:] += np.diag(gamma) - N - kappa.sum()
        terms[1:, 1:] += np.diag(np.abs(gamma)) + N + kappa.sum()
        linear = D * gamma / 2 - D * (kappa @ (sizes + 0.5))
        size = np.abs(D * gamma / 2) + D * (kappa @ np.abs(sizes + 0.5))
        for matrix, part in ((form, -linear), (terms, size)):
            matrix[0, 1:] += part
            matrix[1:, 0] += part
        return form, terms


def bordered(F: np.ndarray) -> np.ndarray:
    """(n+1, n+1) the matrix in (1, y) of ``(1 + y)'F(1 + y)``, 1 + y a vector of n entries."""
    n = len(F)
    form = np.empty((n + 1, n + 1))
    form[1:, 1:] = F
    form[0, 1:] = form[1:, 0] = sums = F.sum(axis=1)
    form[0, 0] = sums.sum()
    return form


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return blas.dgemm(1.0, A, B)


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
