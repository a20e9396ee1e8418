"""A lower bound on L(Q) for every epsilon-LDP strategy Q, by numbers for each type and pair of types.

The proof, with its rounding, stands in `ldp_core.bounds.verify`; where C, mu, gamma, N, kappa and the cuts come from, in
`ldp_core.bounds.general.multipliers`. Honest certificates lose nothing visible by rounding: 4e-10 of their value at epsilon 1 and 64 types (totals),
2e-4 at 4,096. C grows as epsilon^-2, and the loss with it: 7e-4 at epsilon 0.001 and 64 types.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
from scipy import linalg

from ldp_core.bounds import verify
from ldp_core.bounds.closed_form import centred_svd
from ldp_core.bounds.general import multipliers
from ldp_core.bounds.general.dual import FEW_HIGH, searched
from ldp_core.bounds.general.few_types import Cuts
from ldp_core.bounds.general.multipliers import Multipliers, Numbers
from ldp_core.bounds.general.singles import of_single_entries
from ldp_core.bounds.proof import Certificate, below
from ldp_core.limits import AT_ONCE_TYPES, UNASKED_TYPES
from ldp_core.privacy import check_epsilon
from ldp_core.run import Budget, Check, Interrupted, unchecked
from ldp_core.threads import blas_threads
from ldp_core.workloads import Workload

OPTIMAL = 1e-3
"""A strategy within this share of its proof, in users, needs no better proof."""
SHARES = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Directions that the questions hardly ask about count as if asked about this share of the most at least, where rounding loses more otherwise
and types are not so many that each try takes long."""


def general_certificate(
    workload: Workload, epsilon: float, prior: np.ndarray, budget: Budget, near: Certificate | None = None
) -> Certificate:
    """The best certificate by types, without use of symmetry, within ``budget``: from the closed form on, or from one for a prior that is
    ``near``. Past `UNASKED_TYPES` types it may prove nothing where it is cancelled."""
    epsilon = check_epsilon(epsilon)
    at_once, few_high = workload.n <= AT_ONCE_TYPES, np.exp(epsilon) > FEW_HIGH * workload.n
    taken = None
    if near is not None and near.prior is not None and near.numbers["diagonal"].min() > 0:
        taken = of_dual(near), near.prior
    with blas_threads(workload.n):
        best = (closed_form if at_once else nothing)(workload, epsilon, prior)
    with blas_threads(workload.n), suppress(Interrupted):
        if few_high and budget.stopped() is None:
            made = of_single_entries(workload.gram_dense(), np.exp(epsilon), prior, budget.check)
            single = written(made, workload, epsilon, prior)
            best = max(best, replace(single, value=single.claim()), key=attrgetter("value"))
            budget.tell(bound=best.value)
            if made.exactly - best.trivial <= (1 + OPTIMAL) * (best.value - best.trivial):
                return best
        if not at_once or budget.stopped() is None:
            for found in searched(workload, epsilon, prior, budget.stopped, budget.check, taken):
                with suppress(linalg.LinAlgError):  # what is definite over blocks need not be so over types
                    best = max(best, of(found, workload, epsilon, prior, budget.check), key=attrgetter("value"))
                budget.tell(bound=best.value)
    if at_once or given_up(workload, budget):  # else the closed form was the first
        return best
    # A search that is stopped early may say less than the closed form, and so may one over blocks, whose
    # estimate leaves out what is between types. Certificates of it lose so much to rounding at most, of 4,096 types.
    with blas_threads(workload.n):
        if best.value >= centred_svd(workload, epsilon, prior) * (1 - 3e-4):
            return best
        return max(best, closed_form(workload, epsilon, prior), key=attrgetter("value"))


def given_up(workload: Workload, budget: Budget) -> bool:
    """True where somebody has cancelled, and even the closed form would keep them waiting."""
    return budget.cancelled() and workload.n > UNASKED_TYPES


def nothing(workload: Workload, epsilon: float, prior: np.ndarray) -> Certificate:
    """The certificate of the trivial bound. If C = p p' and mu = (p'Gp / n) p, both sides of
    the condition are (p'Gp) (p'v)^2."""
    n = workload.n
    mu = float(workload.quadratic(prior)) / n * prior
    none = multipliers.plain(np.zeros(n), np.zeros((n, n)))
    made = written(Numbers(np.outer(prior, prior), mu, none, 0.0), workload, epsilon, prior)
    return replace(made, value=made.trivial)


def closed_form(workload: Workload, epsilon: float, prior: np.ndarray) -> Certificate:
    """The certificate of the centred SVD bound."""
    n = workload.n
    return of(multipliers.plain(multipliers.held(prior), np.zeros((n, n))), workload, epsilon, prior)


def of(
    found: Multipliers, workload: Workload, epsilon: float, prior: np.ndarray, check: Check = unchecked
) -> Certificate:
    """The certificate that multipliers prove; LinAlgError where they prove none."""
    numbers = partial(multipliers.numbers, workload.gram_dense(), np.exp(epsilon), prior, found, check)
    return of_numbers(numbers, workload, epsilon, prior, check)


def of_numbers(
    numbers: Callable[[float], Numbers], workload: Workload, epsilon: float, prior: np.ndarray, check: Check
) -> Certificate:
    """The best certificate from the ``numbers`` that one share in `SHARES` or another makes; LinAlgError where one proves nothing."""
    proved: list[Certificate] = []
    for share in SHARES if workload.n <= AT_ONCE_TYPES else SHARES[:1]:
        made = numbers(share)
        certificate = written(made, workload, epsilon, prior)
        check()
        value = certificate.claim()
        proved.append(replace(certificate, value=value))
        lost = made.exactly - value
        if value < proved[0].value or lost <= OPTIMAL / 10 * (made.exactly - certificate.trivial):
            break
    return max(proved, key=attrgetter("value"))


def of_dual(certificate: Certificate) -> Multipliers:
    """q, N, kappa and nu of `ldp_core.bounds.general.multipliers`, which the search for another prior can start from."""
    n, held = certificate.workload.n, certificate.numbers
    cuts = Cuts.read(held["triples"], n) if "triples" in held else Cuts.none(n)
    pairs, nu = verify.square(held["pairs"], n), held.get("triple_multipliers", np.zeros(0))
    return Multipliers(held["diagonal"], pairs, held["sizes"], held["size_multipliers"], cuts, nu)


def written(made: Numbers, workload: Workload, epsilon: float, prior: np.ndarray) -> Certificate:
    """The numbers as a certificate that claims nothing yet."""
    m = made.multipliers
    numbers = {
        "inverse": below(made.inverse),
        "multipliers": made.mu,
        "diagonal": m.q,
        "pairs": below(m.pairs),
        "sizes": m.sizes,
        "size_multipliers": m.size_multipliers,
    }
    if len(m.cut_multipliers):
        numbers |= {"triples": m.cuts.written, "triple_multipliers": m.cut_multipliers}
    return Certificate(workload, epsilon, 0.0, "general", numbers, prior)
