"""A lower bound on L for every mechanism that keeps the promise about the secret types alone (`ldp_core.workloads.secret`).

The proof is that of `ldp_core.bounds.verify`: ``v'CGCv <= (r'v)(mu'v)`` for covered rows v, a condition on a form in (1, y) with y on S alone, and
``(CGC)_xx <= r_x mu_x`` for open types x, whose rows are e_x.

**The multipliers.** Put the open types together as one, o, of mass rho. With q, N, kappa and nu as in `ldp_core.bounds.general.multipliers`, on S,
write what they prove as ``P(y) = y'Qy - 2 g'y - h <= 0``, Q, g = w - Q1 and h as there, and let c = P(-1) = 2 g'1 + 1'Q1 - h. As a row v has v_o = 1, y is
v_S - v_o 1 and P a form in v. For any eta (s,) and a >= 0, with l = w + rho eta and tau = (c + rho a)^(1/2), let A be that form less the square of
``tau v_o + (a r / (tau + c^(1/2)) - l / c^(1/2))'v_S`` (r on S). Then v'Av <= 0 for covered rows, A_oo = -rho a, and on vectors with r'x = 0

    A = Q - r eta' - eta r' - l l' / c,    b = -1'A1 = h + (tau + a 1'r / (tau + c^(1/2)) - 1'l / c^(1/2))^2.

So tr(A M') + u a <= 0 for the information matrix M' and u of every mechanism, and if A is positive semidefinite there, as with all types secret,

    tr(M^-1 G) >= n p'Gp + n (|A^(1/2) K^(1/2)|_* + (kappa a)^(1/2))^2 / b,

kappa as in `ldp_core.workloads.secret`. With rho = 0 it is the bound for all types secret. eta is looked for with the others; a is the best there is
for these (this project).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from scipy import linalg

from ldp_core.bounds.general.certificate import nothing, of_numbers
from ldp_core.bounds.general.dual import FARTHEST, Dual, Point
from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Form, Multipliers, Numbers, halfway
from ldp_core.bounds.proof import Certificate
from ldp_core.run import Budget, Check, Interrupted, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload
from ldp_core.workloads.secret import Lumped

INSIDE = 1.5
"""The first eta, as a multiple of that at which A is no more definite."""
BARRIERS = (0.1, 0.01, 1e-3, 3e-4)
SLOWER = (0.5, 0.1, 0.03, 0.01, 3e-3, 3e-4)
"""The weights of the barriers in turn: the best point is far from the first."""
ROUNDS, FEW = 12, 512
"""Rounds of cuts on few types, and the most secret types that they are looked for among."""
AGAIN = 8
"""How often a search that a step out of bounds has ended goes on."""


@dataclass(frozen=True)
class Found:
    """Multipliers on S with ``eta`` (s,) and ``a``."""

    multipliers: Multipliers
    eta: np.ndarray
    a: float


def on_secret(form: Form, eta: np.ndarray, lumped: Lumped) -> tuple[np.ndarray, np.ndarray]:
    """A (s, s) and l (s,)."""
    r, rho = lumped.masses[:-1], lumped.masses[-1]
    line = form.w + rho * eta
    return form.Q - np.outer(r, eta) - np.outer(eta, r) - np.outer(line, line / form.c), line


def at_ones(a: Any, form: Form, line: np.ndarray, lumped: Lumped) -> Any:
    """The number of whose square b - h is, at v = 1."""
    tau, root = np.sqrt(form.c + lumped.masses[-1] * a), math.sqrt(form.c)
    return tau + a * lumped.masses[:-1].sum() / (tau + root) - line.sum() / root


class SecretDual(Dual):
    """The bound as a function of multipliers on S, and of eta; a is the best there is for these."""

    def __init__(self, lumped: Lumped, ratio: float):
        n, r, rho = len(lumped.reference), lumped.masses[:-1], lumped.masses[-1]
        self.lumped, self.n = lumped, n
        centred = lumped.root - (lumped.root @ lumped.masses / n)[:, None]
        self.own_variance = float(lumped.masses @ np.square(centred).sum(axis=0) + lumped.within) / n
        low = max(0, min(int(n / (ratio + 1)), len(r) - 1) - 6)
        super().__init__(centred[:, :-1], r / n, ratio, sizes=np.arange(low, min(len(r), low + 13)))
        self.free = 2 * self.m
        # With q = r / n and eta = -z r / n, A is definite where (m - rho z)^2 < E (1 + 2 z 1'r), m = (E + 1) / 2.
        middle = (ratio + 1) / 2
        half, excess = middle * rho + ratio * r.sum(), middle**2 - ratio
        self._eta = -excess / (half + math.sqrt(half**2 - rho**2 * excess)) / n * r

    def found(self, x: np.ndarray) -> Found:
        """A point as `Found`, with the best a."""
        at = self.at(x, 0.0)
        return Found(self.multipliers(x), self._eta * (INSIDE + x[self.m : self.free]), 0.0 if at is None else at.a)

    def _best_a(self, nuclear: float, form: Form, line: np.ndarray) -> float:
        """The a of the largest bound, where |A^(1/2) K^(1/2)|_* is ``nuclear``: 0 where nothing is asked about differences of open types."""
        within, scale = self.lumped.within, form.c / self.n
        if within <= 0:
            return 0.0
        low, step = -40.0, 0.5
        for _ in range(6):
            grid = low + step * np.arange(101)
            a = scale * np.exp(grid)
            ones = at_ones(a, form, line, self.lumped)
            value = 2 * np.log(nuclear + np.sqrt(within * a)) - np.log(form.h + ones**2)
            best = int(np.argmax(np.where(ones > 0, value, -np.inf)))
            low, step = float(grid[best]) - step, step / 50
        return scale * math.exp(low + step)

    def at(self, x: np.ndarray, barrier: float) -> Point | None:
        m, D, lumped = self.m, self.D, self.lumped
        if not np.abs(x[:m]).max() < FARTHEST:
            return None
        multipliers, eta = self.multipliers(x), self._eta * (INSIDE + x[m : self.free])
        form, r, rho = multipliers.form(D), lumped.masses[:-1], lumped.masses[-1]
        if not form.c > 0:
            return None
        A, line = on_secret(form, eta, lumped)
        if (parts := self._decomposed(A, A)) is None:
            return None
        inverse, logarithm, nuclear, half = parts
        a, g = self._best_a(nuclear, form, line), float(multipliers.q.sum())
        ones = at_ones(a, form, line, lumped)
        b = form.h + ones**2
        if not (ones > 0 and b > 0):
            return None
        nuclear += math.sqrt(lumped.within * a)
        T = half @ half.T / nuclear + barrier * inverse
        value = 2 * np.log(nuclear) - np.log(b) + barrier * (logarithm + np.log(form.c) - (m + 1) * np.log(g))
        # Slopes by c, w and eta, and with them the moments of (1, y), as w = Q1 + g and c = 2 g'1 + 1'Q1 - h.
        c, tau, root = form.c, math.sqrt(form.c + rho * a), math.sqrt(form.c)
        u, by_ones = T @ line / c, 2 * ones / b
        ones_by_c = 1 / (2 * tau) - a * r.sum() / ((tau + root) * 2 * tau * root) + line.sum() / (2 * c * root)
        by_c = float(line @ u) / c - by_ones * ones_by_c + barrier / c
        by_w = by_ones / root - 2 * u
        second = T + np.add.outer(by_w, by_w) / 2 + by_c
        first, mass = -by_w / 2 - by_c, by_c + 1 / b
        by_q = second.diagonal() - D * first - barrier * (m + 1) / g
        by_eta = self._eta * (rho * by_w - 2 * T @ r)
        slopes = np.concatenate([by_q * multipliers.q, by_eta, self._by_others(second, first, mass)])
        return Point(value, slopes, second, first, mass, a)


def secret_certificate(
    workload: Workload, epsilon: float, prior: np.ndarray, budget: Budget, begun: np.ndarray | None = None
) -> tuple[Certificate, np.ndarray | None]:
    """The best certificate, and the point without cuts that it came from: ``begun`` is that of another prior, to start from."""
    best = nothing(workload, epsilon, prior)
    with blas_threads(workload.n), suppress(Interrupted):
        for found, x in searched(workload, epsilon, prior, budget, begun):
            with suppress(linalg.LinAlgError):
                made = partial(numbers, found, workload, float(np.exp(epsilon)), prior, budget.check)
                best = max(best, of_numbers(made, workload, epsilon, prior, budget.check), key=attrgetter("value"))
            begun = begun if len(found.multipliers.cut_multipliers) else x
            budget.tell(bound=best.value)
    return best, begun


def searched(
    workload: Workload, epsilon: float, prior: np.ndarray, budget: Budget, begun: np.ndarray | None = None
) -> Iterator[tuple[Found, np.ndarray]]:
    """Better and better points, the first at once: by a few barriers, and once more by others, as either may end far from the best."""
    yield from _by_barriers(workload, epsilon, prior, budget, begun, BARRIERS)
    if begun is None:
        yield from _by_barriers(workload, epsilon, prior, budget, None, SLOWER)


def _by_barriers(
    workload: Workload,
    epsilon: float,
    prior: np.ndarray,
    budget: Budget,
    begun: np.ndarray | None,
    barriers: tuple[float, ...],
) -> Iterator[tuple[Found, np.ndarray]]:
    dual = SecretDual(Lumped.of(workload, prior), float(np.exp(epsilon)))
    x = dual.start
    yield dual.found(x), x
    while begun is not None and begun.any() and dual.at(x, 0.0) is not None:
        if dual.at(begun, BARRIERS[-1] / dual.m) is not None:
            x = begun
            break
        begun = begun / 2 if np.abs(begun).max() > 1e-3 else None

    def stop() -> bool:
        return budget.stopped() is not None

    def improved(x: np.ndarray, barrier: float) -> np.ndarray:
        for _ in range(AGAIN):
            before, x = x, dual.improved(x, barrier / dual.m, stop, budget.check)
            old, new = dual.at(before, barrier / dual.m), dual.at(x, barrier / dual.m)
            if old is None or new is None or new.value < old.value + 1e-5:
                break
        return x

    for barrier in barriers[-2:] if x is begun else barriers:
        if stop():
            return
        x = improved(x, barrier)
        yield dual.found(x), x
    variance, value = dual.own_variance, dual.value(x)
    for _ in range(ROUNDS if dual.m <= FEW else 0):
        cut = dual.with_cuts(x, BARRIERS[-1] / dual.m)
        if stop() or cut is None:
            return
        for barrier in BARRIERS[-2:]:
            cut = improved(cut, barrier)
        x, before, value = cut, value, dual.value(cut)
        yield dual.found(x), x
        if value < before + 2e-4 * max(1 - variance / max(np.exp(value), 1e-300), 2e-4):
            return


def numbers(
    found: Found, workload: Workload, ratio: float, prior: np.ndarray, check: Check = unchecked, least: float = 0.0
) -> Numbers:
    """C (n, n), mu (n,) and multipliers, on S and 0 elsewhere, on the scale of M^-1 = C."""
    lumped, n, G = Lumped.of(workload, prior), workload.n, workload.gram_dense()
    S, opened, r = lumped.secret, lumped.opened, lumped.reference
    p, rho, form = r / n, float(r[opened].sum()), found.multipliers.form(ratio - 1)
    A, line = on_secret(form, found.eta, lumped)
    start, g = at_ones(found.a, form, line, lumped), form.w - form.sums
    if not (form.c > 0 and start > 0 and form.h + start**2 > 0):
        raise linalg.LinAlgError("these multipliers prove nothing")
    tau, root_c = math.sqrt(form.c + rho * found.a), math.sqrt(form.c)
    line = found.a / (tau + root_c) * r[S] - line / root_c
    root = lumped.root - (lumped.root @ lumped.masses / n)[:, None]
    inner, nuclear = halfway(A, root[:, :-1].T @ root[:, :-1], check, least)
    scale = n * (nuclear + math.sqrt(lumped.within * found.a)) / (form.h + start**2)
    C = np.zeros((n, n))
    C[np.ix_(S, S)] = scale * inner
    rows = C.sum(axis=1)  # C is (1 - p 1') C (1 - 1 p') over all, the open types first 0
    C += np.outer(p, p) * (n + rows.sum()) - np.outer(p, rows) - np.outer(rows, p)
    if lumped.within > 0:
        open_scale = scale * math.sqrt(found.a / lumped.within)
        C[np.ix_(opened, opened)] -= open_scale / rho * np.outer(r[opened], r[opened])
        C[opened, opened] += open_scale * r[opened]
    check()
    half = C @ G
    X = half @ C
    X = (X + X.T) / 2
    # Of X - scale^2 A nothing is left on vectors with r'x = 0, so it is (mu r' + r mu') / 2, and its row sums say which.
    sums = X.sum(axis=1)
    lump = np.append(sums[S] + scale**2 * (g + line * start), sums[opened].sum())
    lump[-1] += scale**2 * (form.h + start**2 - float((g + line * start).sum()))
    mass = np.append(r[S], rho)
    mu = (2 * lump - mass * lump.sum() / n) / n
    whole, at_open = np.zeros(n), X.diagonal()[opened] / r[opened]
    whole[S] = mu[:-1]
    whole[opened] = at_open + max(0.0, float(mu[-1] - at_open.sum())) * r[opened] / rho
    return Numbers(C, whole, spread(found.multipliers.times(scale**2), S, n), float(half.trace()))


def spread(found: Multipliers, secret: np.ndarray, n: int) -> Multipliers:
    """Multipliers on S as such of all types: 0 elsewhere."""
    q, pairs = np.zeros(n), np.zeros((n, n))
    q[secret], pairs[np.ix_(secret, secret)] = found.q, found.pairs
    cuts = Cuts(secret[found.cuts.types], found.cuts.signs, found.cuts.floors, n)
    return replace(found, q=q, pairs=pairs, cuts=cuts)
