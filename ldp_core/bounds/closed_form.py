"""Lower bounds on the objective L(Q) from singular values: true for every unbiased epsilon-LDP factorization mechanism. What shares them, and
the two scales of one quantity: objectives ``tr(M_p^-1 G)`` of this project, and variances per user."""

from __future__ import annotations

import hashlib
import math
from weakref import WeakKeyDictionary

import numpy as np
from scipy import linalg, optimize

from ldp_core.bounds.promise import check_every_value_is_secret
from ldp_core.bounds.survey_blocks import nuclear_at_least
from ldp_core.limits import AT_ONCE_TYPES, MOST_EXACT_TYPES
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.run import Cancel, Check, cancellation, unchecked
from ldp_core.workloads import Survey, Workload

# The search for a prior leaves every type this share of the uniform one: none is lost for good.
LEAST_SHARE = 1e-6
# The nuclear norms of a workload by the digest of the prior: they are what takes long, and no epsilon changes them.
_KEPT: WeakKeyDictionary[Workload, dict[str, float]] = WeakKeyDictionary()


def average_variance(objective: float, workload: Workload, prior: np.ndarray) -> float:
    """Variance per user (squared users, summed over the queries), averaged over ``prior`` p (n,), of a mechanism whose
    ``objective`` is tr(M_p^-1 G), ``M_p = sum_y q_y q_y' / (n q_y'p)``: objective / n - sum_u p_u G_uu."""
    if (strata := workload.strata) is not None and len(prior) == workload.spread_over < workload.n:
        return objective / workload.n - strata.own_answers(prior)
    return objective / workload.n - float(prior @ workload.gram_diag)


def equivalent_objective(variance: float, workload: Workload) -> float:
    """n variance + tr G: the objective L of a mechanism with this variance per user for every type.

    L itself for the average over the uniform prior. Putting the worst type's variance, or the average over another prior, on
    this scale makes them comparable with L, and with what `ldp_core.analysis.users_from_objective` takes.
    """
    return workload.n * variance + workload.trace


def worst_from_average(variance: float, workload: Workload, epsilon: float) -> float:
    """The variance per user of the worst type is at most e^epsilon (variance + |W|_F^2/n), where ``variance`` is the average
    over the types, of every unbiased epsilon-LDP factorization mechanism (McKenna et al. 2020, Theorem 5.1).

    Where the collector knows groups, this holds within each: the average over one is at most that over all, times how many there are.

    Optimising the average thus loses a factor of about e^epsilon at most; 48 fitted strategies lost 2 % in the median.
    """
    check_every_value_is_secret(workload)
    groups = 1 if workload.strata is None else len(workload.strata.which)
    return groups * math.exp(check_epsilon(epsilon)) * (variance + workload.trace / workload.n)


def centred_gram(gram: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, n) ``P S G S P`` with S = diag(sqrt p) and P the projection orthogonal to sqrt p."""
    root = np.sqrt(prior)
    K = root[:, None] * gram * root
    K = K - np.outer(K @ root, root)
    return K - np.outer(root, root @ K)


def centred_root_correlation(gram: np.ndarray) -> np.ndarray:
    """(n, n) ``(P G P)^(1/2)`` for the uniform prior with ones on its diagonal, which a little of the identity keeps positive."""
    n = len(gram)
    values, vectors = linalg.eigh(centred_gram(gram, np.full(n, 1 / n)))
    roots = np.sqrt(np.maximum(values, 0) * n)
    little = 1e-3 * roots.mean() or 1.0  # nothing is asked but the total
    root = (vectors * (roots + little)) @ vectors.T
    scale = np.sqrt(root.diagonal())
    return root / np.outer(scale, scale)


def field_correlation(gram: np.ndarray) -> np.ndarray:
    """(n, n) correlations of a Gaussian field that, thresholded at its median, correlates like ``(P G P)^(1/2)`` for the uniform
    prior: thresholding takes them through the inverse of ``sin(pi/2 .)``."""
    return np.sin(np.pi / 2 * centred_root_correlation(gram))


def high_share(ratio: float, n: int) -> float:
    """The share of high entries of the best rows, 1/(E + 1), kept where rows of n entries have one high on average."""
    return max(1 / (ratio + 1), 1 / n)


def svd(workload: Workload, epsilon: float) -> float:
    """L >= (sum of singular values of W)^2 / e^epsilon (McKenna et al. 2020, Theorem 5.6)."""
    check_every_value_is_secret(workload)
    epsilon = check_epsilon(epsilon)
    if workload.strata is not None:
        return workload.strata.objective([svd(local, epsilon) for local in workload.strata.designs])
    if workload.survey is not None and workload.survey.symmetric:
        c = workload.survey.components
        return workload.n * ((math.sqrt(c.constant) + float(c.dims @ np.sqrt(c.gram))) ** 2 / math.exp(epsilon))
    return float(workload.singular_values().sum() ** 2 / math.exp(epsilon))


def centred_svd(workload: Workload, epsilon: float, prior: np.ndarray | None = None) -> float:
    """n (|W p|^2 + |W S P|_*^2 / sinh(epsilon/2)^2), which bounds L for the uniform prior p (this project).

    S = diag(sqrt p) and P projects orthogonally to sqrt p. A row of an epsilon-LDP strategy, scaled to p-mean one, has p-variance at most
    sinh(epsilon/2)^2, and M_p = 11' + the covariance of those rows; minimising tr(M_p^-1 G) under that trace bound gives the nuclear norm. The
    value for another prior bounds n tr(M_p^-1 G), not L. Past `MOST_EXACT_TYPES` types without closed form see `_nuclear_at_least`, for surveys
    `_of_survey`.

    ``prior`` : (n,) non-negative, summing to one; None is uniform.
    """
    check_every_value_is_secret(workload)
    epsilon, n = check_epsilon(epsilon), workload.n
    if (strata := workload.strata) is not None:
        cases, which = strata.cases(None if prior is None else check_prior(prior, workload.spread_over))
        return strata.objective([centred_svd(local, epsilon, shares) for local, shares in cases], prior, which)
    if workload.survey is not None and prior is None:
        return _of_survey(workload.survey, epsilon)
    p = check_prior(prior, n)
    known = _KEPT.setdefault(workload, {})
    about = "" if prior is None else hashlib.sha256(p.tobytes()).hexdigest()
    if about not in known:
        known[about] = _nuclear(workload, p, prior is None)
    return n * (float(workload.quadratic(p)) + known[about] ** 2 / math.sinh(epsilon / 2) ** 2)


def _of_survey(survey: Survey, epsilon: float) -> float:
    """The bound by sets of attributes, ``g_0 + (sum_A dim_A sqrt(g_A))^2 / sinh(epsilon/2)^2``. If
    questions follow an order or single out values: see `ldp_core.bounds.survey_blocks`, or the sum
    of the bounds of the groups, each as if it were the only one. A mechanism for all groups is a
    mechanism for each table, whatever the other attributes are. The larger of the two is returned."""
    if survey.symmetric:
        c = survey.components
        return survey.n * (c.constant + float(c.dims @ np.sqrt(c.gram)) ** 2 / math.sinh(epsilon / 2) ** 2)
    alone = (
        group.weight**2 * max(0.0, centred_svd(group.base, epsilon) - group.base.trace) / group.base.n
        for group in survey.groups
    )
    known = _KEPT.setdefault(survey, {})
    if "" not in known:
        known[""] = nuclear_at_least(survey)
    together = survey.components.constant + known[""] ** 2 / math.sinh(epsilon / 2) ** 2
    return max(survey.n * math.fsum(alone) + survey.trace, survey.n * together)


def _nuclear(workload: Workload, p: np.ndarray, even: bool) -> float:
    """|W S P|_* as in `centred_svd`, or a number below it."""
    n = workload.n
    scheme = workload.symmetry_group.scheme if even else None
    if scheme is not None:
        gamma, _ = scheme.spectrum(workload.gram_column)
        return float(scheme.multiplicities[1:] @ np.sqrt(np.maximum(gamma[1:], 0))) / math.sqrt(n)
    if even and (closed := workload.centred_singular_values()) is not None:
        return float(closed.sum()) / math.sqrt(n)
    if n > MOST_EXACT_TYPES:
        return _nuclear_at_least(workload, p)
    values = linalg.eigvalsh(centred_gram(workload.gram_dense(), p))
    # One eigenvalue at least is 0: the root of what rounding makes of it would raise the bound.
    return float(np.sqrt(values[values > values.max() * n * np.finfo(float).eps]).sum())


def _nuclear_at_least(workload: Workload, p: np.ndarray) -> float:
    """A lower bound on |W S P|_* without a matrix: by its Frobenius norm, tr(G diag p) - |W p|^2,
    and by the singular values s of W, as those of W S are at least sqrt(min p) s and a projection
    of rank n - 1 takes at most the largest away (interlacing: Horn and Johnson 2013, Corollary
    4.3.37). At most |W u| is lost for uniform p, u = 1/sqrt(n): with the polar factor U of W, |W
    P|_* >= tr(U'W P) = sum s - u'(W'W)^(1/2)u, and that root is at most |W u|."""
    by_frobenius = math.sqrt(max(0.0, float(p @ workload.gram_diag) - float(workload.quadratic(p))))
    try:
        s = workload.singular_values()
    except ValueError:
        return by_frobenius
    even = math.isclose(p.min(), p.max(), rel_tol=1e-12)
    lost = min(float(s.max()), math.sqrt(p.size * float(workload.quadratic(p)))) if even else float(s.max())
    return max(by_frobenius, math.sqrt(p.min()) * (float(s.sum()) - lost))


def worst_case_variance(
    workload: Workload, epsilon: float, max_rounds: int = 200, cancel: Cancel | None = None
) -> float:
    """A lower bound on the worst-case variance per user of every epsilon-LDP mechanism (squared
    users, summed over the queries).

    The worst type's variance is at least the average over any prior p, hence at least ``|W p|^2 +
    |W S P|_*^2 / sinh(epsilon/2)^2 - sum_u p_u G_uu`` (see `centred_svd`), which is maximised over
    p here: every p gives a true bound, so how far the search gets decides only how strong it is. If
    the symmetry of the workload makes all types alike, the uniform p is best. Past `AT_ONCE_TYPES`
    types only the uniform p is tried. At most ``max_rounds`` eigenvalue decompositions; ``cancel``
    as in `ldp_core.run`.
    """
    check_every_value_is_secret(workload)
    if (strata := workload.strata) is not None:
        variances = [worst_case_variance(local, epsilon, max_rounds, cancel) for local in strata.designs]
        return float((strata.scale**2 * np.array(variances)[strata.which]).max())
    if workload.n > AT_ONCE_TYPES:
        return max(0.0, (centred_svd(workload, epsilon) - workload.trace) / workload.n)
    return max(0.0, least_favourable_prior(workload, epsilon, max_rounds, cancel)[1])


def decompositions(n: int, most: int = 200) -> int:
    """How many eigenvalue decompositions to spend on a prior: ``most``, fewer where each takes longer."""
    return max(1, most * AT_ONCE_TYPES**2 // max(n, AT_ONCE_TYPES) ** 2)


def least_favourable_prior(
    workload: Workload,
    epsilon: float,
    max_rounds: int = 200,
    cancel: Cancel | None = None,
    check: Check = unchecked,
) -> tuple[np.ndarray, float]:
    """The prior (n,) that makes the bound of `worst_case_variance` largest, and that bound (which may be negative).

    The uniform one where it is best by symmetry, or where the search, ended early by ``cancel``, finds no larger bound that
    says anything. ``check`` (see `ldp_core.run`) is called before every decomposition.
    """
    check_every_value_is_secret(workload)
    epsilon, n = check_epsilon(epsilon), workload.n
    uniform = np.full(n, 1 / n)
    even = (centred_svd(workload, epsilon) - workload.trace) / n
    if workload.symmetry_group.all_alike:
        return uniform, even
    # The largest variance of a row within a factor e^epsilon whose mean is 1.
    G, row_variance = workload.gram_dense(), math.sinh(epsilon / 2) ** 2
    scale, cancelled = abs(even) or 1.0, cancellation(cancel)

    def prior_of(x: np.ndarray) -> np.ndarray:
        p = np.exp(x - x.max())
        return (1 - LEAST_SHARE) * p / p.sum() + LEAST_SHARE / n

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the bound at p, nearly softmax(x), and its gradient by x."""
        check()
        p = prior_of(x)
        value, by_p = _prior_bound(G, p, row_variance)
        q = p - LEAST_SHARE / n
        return -value / scale, -q * (by_p - q @ by_p / q.sum()) / scale

    def watch(_: np.ndarray) -> None:
        if cancelled():
            raise StopIteration

    options = {"maxfun": max_rounds}
    best = optimize.minimize(loss, np.zeros(n), jac=True, method="L-BFGS-B", callback=watch, options=options)
    value = -float(best.fun) * scale
    return (prior_of(best.x), value) if value > max(even, 0.0) else (uniform, even)


def _prior_bound(G: np.ndarray, p: np.ndarray, row_variance: float) -> tuple[float, np.ndarray]:
    """``p'Gp + |W S P|_*^2 / row_variance - p'diag(G)`` and its gradient by p (n,), for p of sum 1.

    The nuclear norm is the trace of the root of ``G^(1/2) (diag p - p p') G^(1/2)``, whose non-zero eigenvalues are those
    of K = P S G S P with vectors v: it changes by half of ``tr(K^(-1/2) dK)`` in the other factorisation, where
    ``u = G (S v)`` stands for G^(1/2) times an eigenvector.
    """
    root = np.sqrt(p)
    values, vectors = linalg.eigh(centred_gram(G, p))
    kept = values > values[-1] * len(p) * np.finfo(float).eps
    norms = np.sqrt(values[kept])
    nuclear = norms.sum()
    images = G @ (root[:, None] * vectors[:, kept])
    # d nuclear = 1/2 sum_k z_k'(diag dp - dp p' - p dp') z_k / norm_k^3 with z = images, as G^(1/2) z~ = z for each k.
    weights = 1 / (2 * norms**3)
    by_p = images**2 @ weights - 2 * images @ (weights * (p @ images))
    applied = G @ p
    value = p @ applied + nuclear**2 / row_variance - p @ G.diagonal()
    return float(value), 2 * applied + 2 * nuclear / row_variance * by_p - G.diagonal()
