"""A lower bound on L(Q) for every epsilon-LDP strategy Q, with a proof that is checked without any optimiser.

**The proof.** For a symmetric C, ``(M^-1 - C) M (M^-1 - C)`` is positive semidefinite, so with ``X = C G C``

    tr(M^-1 G)  >=  2 tr(C G) - tr(X M)                                   for every M,

and ``tr(X M) = sum_k w_k v_k'X v_k / (r'v_k) <= 1'mu`` when ``v'X v <= (r'v)(mu'v)`` for all two-valued v (rows of a
strategy are mixtures of these, and their weights satisfy ``sum_k w_k v_k = 1``). With the best scaling of C

    L  >=  tr(C G)^2 / 1'mu.

The condition on v is a quadratic inequality in ``y = v - 1`` in {0, D}^n. It holds with a slack eta >= 0,
``(r'v)(mu'v) - v'Xv + eta >= 0``, if the symmetric matrix of that polynomial in (1, y), less the terms

* ``y' N y`` with a non-negative matrix N,
* ``kappa_k (sum y - k D)(sum y - (k + 1) D)`` with non-negative kappa (the number of high entries is whole),

and plus ``sum_i Gamma_i (y_i^2 - D y_i) = 0``, has a smallest eigenvalue lambda: the slack is then ``-lambda |(1, y)|^2``.
Adding delta to every mu_i adds ``delta (r'v)(1'v)``, which makes up for it. See `ldp_core.bounds.moments` for where C, mu,
Gamma, N and kappa come from: they are the multipliers of the relaxation there, and need not be exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from ldp_core.bounds.centred import centred_gram, check_prior
from ldp_core.bounds.interior import Path
from ldp_core.bounds.moments import Relaxation
from ldp_core.bounds.scales import average_variance
from ldp_core.bounds.starts import starting_moments
from ldp_core.bounds.symmetric import SymmetricCertificate, symmetric_certificate
from ldp_core.privacy import check_epsilon
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

# Share of the relaxation's value that the certificate may miss, for at most this many types and beyond.
FINE_TYPES = 128
FINE, COARSE = 4e-4, 8e-4
SHRINK = 0.2
# Newton steps a stage, and how far from the central path a stage may end; the last one must be exact.
MOST_NEWTON, MOST_CONJUGATE = 25, 300
LOOSE, EXACT = (0.1, 1e-2), (1e-3, 1e-10)
# Rounding: eigenvalues and products of n x n matrices are good to this many units in the last place, times n.
ROUNDING = 32 * np.finfo(float).eps


@dataclass(frozen=True)
class Certificate:
    """A proven lower bound ``value`` on ``tr(M_p^-1 G)`` of every epsilon-LDP strategy (on L for the uniform prior).

    The proof: ``inverse`` C (n, n), ``multipliers`` mu (n,), ``diagonal`` Gamma (n,), ``pairs`` N (n, n),
    ``sizes`` k (c,) and ``size_multipliers`` kappa (c,). `verify` needs nothing else.
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

    @property
    def variance(self) -> float:
        """No epsilon-LDP mechanism has a smaller variance per user on average over ``prior``, nor for its worst type."""
        return max(0.0, average_variance(self.value, self.workload, self.prior))

    def verify(self) -> bool:
        """Whether ``value`` is proven by the stored arrays: signs, and one eigenvalue decomposition."""
        return bool(self.value <= self.proven())

    def proven(self) -> float:
        """The bound that the stored arrays prove, -inf if none. One eigenvalue decomposition, no optimiser."""
        n, C, mu = self.workload.n, np.asarray(self.inverse), np.asarray(self.multipliers)
        arrays = (C, mu, self.diagonal, self.pairs, self.sizes, self.size_multipliers)
        shapes = ((n, n), (n,), (n,), (n, n), np.shape(self.sizes), np.shape(self.sizes))
        if any(np.shape(a) != s or not np.isfinite(a).all() for a, s in zip(arrays, shapes, strict=True)):
            return -np.inf
        whole = np.array_equal(self.sizes, np.rint(self.sizes))
        if not whole or np.min(self.pairs) < 0 or np.min(self.size_multipliers, initial=0.0) < 0:
            return -np.inf
        if not np.array_equal(C, C.T) or not np.array_equal(self.pairs, np.transpose(self.pairs)):
            return -np.inf
        reference = n * check_prior(self.prior, n)
        ratio = np.exp(check_epsilon(self.epsilon))
        G = self.workload.gram_dense()
        half = _product(G, C)
        trace, total = float(half.trace()), float(mu.sum())
        form, size = self._form(_product(C, half), ratio - 1, reference)
        lowest = float(linalg.eigvalsh(form, subset_by_index=[0, 0])[0]) - ROUNDING * (n + 1) * size
        total += n * max(0.0, -lowest) / _smallest_gain(reference, ratio - 1)
        if trace <= 0 or total <= 0:
            return -np.inf
        return trace**2 / total * (1 - ROUNDING * n)

    def _form(self, X: np.ndarray, D: float, reference: np.ndarray) -> tuple[np.ndarray, float]:
        """The quadratic form in (1, y) whose smallest eigenvalue decides, and the size its rounding is relative to."""
        F = np.outer(self.multipliers / 2, reference)
        F = F + F.T
        scale = linalg.norm(F) + linalg.norm(X)
        F -= X
        form = bordered(F)
        for k, kappa in zip(self.sizes, self.size_multipliers, strict=True):
            form -= kappa * size_form(k, len(F), D)
        form[1:, 1:] -= self.pairs
        form[0, 1:] -= D * self.diagonal / 2
        form[1:, 0] -= D * self.diagonal / 2
        form[1:, 1:] += np.diag(self.diagonal)
        return form, (len(F) + 1) * scale + linalg.norm(form)


def bordered(F: np.ndarray) -> np.ndarray:
    """(n+1, n+1) the matrix in (1, y) of ``(1 + y)'F(1 + y)``, 1 + y a vector of n entries."""
    n = len(F)
    form = np.empty((n + 1, n + 1))
    form[1:, 1:] = F
    form[0, 1:] = form[1:, 0] = sums = F.sum(axis=1)
    form[0, 0] = sums.sum()
    return form


def size_form(k: float, n: int, D: float) -> np.ndarray:
    """(n+1, n+1) the matrix in (1, y) of ``(sum y - k D)(sum y - (k + 1) D)``, which is never negative."""
    form = np.ones((n + 1, n + 1))
    form[0, 0] = k * (k + 1) * D**2
    form[0, 1:] = form[1:, 0] = -(k + 0.5) * D
    return form


def _smallest_gain(reference: np.ndarray, D: float) -> float:
    """The least ``(r'v)(1'v) / |(1, y)|^2`` of any two-valued row: with j high entries, r'v is least for the j smallest r."""
    n, j = len(reference), np.arange(len(reference) + 1)
    masses = reference.sum() + D * np.concatenate([[0.0], np.cumsum(np.sort(reference))])
    return float((masses * (n + D * j) / (1 + D**2 * j)).min())


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return blas.dgemm(1.0, A, B)


@dataclass(frozen=True)
class CertificateProgress:
    """What a callback sees after each stage: the best proven ``value`` so far, seconds since the start, and the
    ``relaxation`` value it approaches from below (an estimate from above, inf before the first stage)."""

    round: int
    seconds: float
    value: float
    relaxation: float


def certificate(
    workload: Workload,
    epsilon: float,
    time_limit: float | None = 30.0,
    prior: np.ndarray | None = None,
    callback: Callable[[CertificateProgress], None] | None = None,
    cancel: object | None = None,
) -> Certificate | SymmetricCertificate:
    """The best proven lower bound on L(Q) found within ``time_limit`` seconds, true for every epsilon-LDP strategy Q.

    Starts from the centred SVD bound, which has a certificate in closed form, and improves it by the moment relaxation
    (`ldp_core.bounds.moments`) along its central path. Within 0.2 % of the relaxation's value once it gets to its end:
    milliseconds for 32 types, under a second for 128, half a minute for 512. ``prior`` (n,) bounds ``tr(M_p^-1 G)``
    instead, as in `ldp_core.optimize.design`. Symmetric workloads (exchangeable, hamming; uniform prior) take milliseconds at
    any size, seconds where cuts are found for low degrees, and their certificate is a `SymmetricCertificate`.
    ``callback(progress)`` is called after each stage, ``cancel`` is a
    zero-argument callable or an event. Raises ValueError past `ldp_core.workloads.DENSE_TYPES` types: use `centred_svd`.
    """
    started = time.perf_counter()
    epsilon = check_epsilon(epsilon)
    p = check_prior(prior, workload.n)
    cancelled = getattr(cancel, "is_set", cancel) or (lambda: False)

    def stop() -> bool:
        return bool(cancelled()) or (time_limit is not None and time.perf_counter() - started >= time_limit)

    if prior is None and (found := symmetric_certificate(workload, epsilon, stop)) is not None:
        return found
    with blas_threads(workload.n):
        best = closed_form(workload, epsilon, p)
        if stop():
            return best
        for round_, (found, relaxation) in enumerate(_stages(workload, epsilon, p, stop), 1):
            best = max(best, found, key=lambda c: c.value)
            if callback is not None:
                callback(CertificateProgress(round_, time.perf_counter() - started, best.value, relaxation))
        return best


def closed_form(workload: Workload, epsilon: float, prior: np.ndarray) -> Certificate:
    """The certificate of the centred SVD bound: ``C = p-part + c S (P S G S P)^(-1/2) S``, N = 0.

    With ``sigma = p'y / D`` the condition is then ``kappa (sigma - 1/(E + 1))^2 >= 0``: v'Xv is a multiple of the
    p-variance of v, which is D^2 (sigma - sigma^2) at most.
    """
    n, ratio = workload.n, np.exp(epsilon)
    G, root = workload.gram_dense(), np.sqrt(prior)
    values, vectors = linalg.eigh(centred_gram(G, prior))
    kept = values > values[-1] * n * np.finfo(float).eps
    nuclear = np.sqrt(values[kept]).sum()
    # M = 11' + S^-1 (spread K^(1/2) / nuclear) S^-1 on the scale where M p = 1; 1/n of it where M r = 1.
    spread = np.sinh(epsilon / 2) ** 2
    inverse_root = root[:, None] * vectors[:, kept]
    C = (inverse_root / np.sqrt(values[kept])) @ inverse_root.T * (nuclear / spread) + np.outer(prior, prior)
    C = n * (C + C.T) / 2
    # tr(C G) = n (p'Gp + nuclear^2 / spread). Where G mixes p with the rest, X has terms p h' + h p', which are a product
    # of two linear forms as mu is, and cost nothing: h sums to zero.
    mixed = C @ (G @ prior)
    mu = float(np.vdot(C, G)) * prior + 2 * (mixed - mixed.sum() * prior)
    gamma = _diagonal_for(C, G, mu, prior, ratio)
    none = np.zeros(0)
    found = Certificate(workload, epsilon, prior, 0.0, C, mu, gamma, np.zeros((n, n)), none, none)
    return replace(found, value=max(0.0, found.proven()))


def _diagonal_for(C: np.ndarray, G: np.ndarray, mu: np.ndarray, prior: np.ndarray, ratio: float) -> np.ndarray:
    """Gamma (n,) that leaves ``kappa q q'``, q = (-D/(E + 1), p), of the form of `closed_form`."""
    n = len(mu)
    F = np.outer(mu / 2, n * prior)
    F = F + F.T - C @ G @ C
    middle = (ratio - 1) / (ratio + 1)
    kappa = F.sum() / middle**2
    return kappa * prior**2 - F.diagonal()


def _stages(workload: Workload, epsilon: float, prior: np.ndarray, stop: Callable[[], bool]):
    """Certificates along the central path, each with the relaxation's objective there."""
    n, ratio, G = workload.n, np.exp(epsilon), workload.gram_dense()
    relaxation = Relaxation(G, ratio, n * prior, blind=len(workload.gram_root) < n)
    path = Path(relaxation, *starting_moments(relaxation, ratio))
    goal = FINE if n <= FINE_TYPES else COARSE
    while not stop():
        last = path.gap <= goal * (1 + 1e-9)
        tolerance, exact = EXACT if last else LOOSE
        for _ in range(MOST_NEWTON):
            direction = path.newton(tolerance, MOST_CONJUGATE, stop)
            if stop() or path.decrement(direction) < exact or not path.advance(direction):
                break
        X = path.curvature()
        found = _extracted(workload, epsilon, prior, path, X, path.gradient(X)[2])
        yield found, path.point.objective
        if last:
            return
        path.tighten(max(SHRINK, goal / path.gap))


def _extracted(workload, epsilon, prior, path: Path, X: np.ndarray, mu: np.ndarray) -> Certificate:
    """The certificate from the multipliers of a point near the central path.

    What is left of the form is meant to be ``Z = kappa (1, null)(1, null)'``, and a multiple of M^-1 more where log det M is
    in the barrier. N takes up the off-diagonal entries as far as it may be non-negative, Gamma the diagonal, and an even
    shift of mu the corner.
    """
    point, relaxation = path.point, path.relaxation
    n, D = relaxation.n, relaxation.spread
    kappas = path.cut_weight / point.cuts
    q = np.concatenate([[1.0], point.null])
    Z = (path.cut_weight / point.schur) * np.outer(q, q)
    Z += bordered(relaxation.log_weight(path.weight) * point.inverse)
    cuts = np.zeros((n + 1, n + 1))
    for k, kappa in zip(relaxation.sizes, kappas, strict=True):
        cuts += kappa * size_form(k, n, D)
    F = np.outer(mu / 2, relaxation.reference)
    F = F + F.T - X
    shortfall = max(0.0, Z[0, 0] + cuts[0, 0] - F.sum())
    shift = shortfall / (n * relaxation.reference.sum())
    mu = mu + shift
    F += shift / 2 * (relaxation.reference[:, None] + relaxation.reference)
    form = bordered(F) - cuts
    pairs = np.maximum(0.0, form[1:, 1:] - Z[1:, 1:])
    np.fill_diagonal(pairs, 0.0)
    pairs = (pairs + pairs.T) / 2
    gamma = Z.diagonal()[1:] - form.diagonal()[1:]
    C = (point.inverse + point.inverse.T) / 2
    found = Certificate(workload, epsilon, prior, 0.0, C, mu, gamma, pairs, relaxation.sizes, kappas)
    return replace(found, value=max(0.0, found.proven()))
