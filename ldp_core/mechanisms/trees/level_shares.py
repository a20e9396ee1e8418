"""How often each level of a tree is picked: evenly, as given, or so that a workload has the least average variance.

Let level l be picked with probability p_l. The average variance of one user is sum_l c_l / p_l + constant, with a cost c_l for
each level (`HierarchicalTree.level_costs`). By Cauchy and Schwarz it is least where p_l is proportional to the square root of c_l.
For raw answers the costs do not depend on the probabilities, so that this is a closed form. Least squares weighs the levels by
their probabilities, so the costs depend on them: the equation is solved by iteration, and for few types a simplex search ends it, because
node estimates are not quite as independent as least squares takes them to be. For the optimal reconstruction the
average is tr(M^-1 G) with M = sum_l p_l M_l, convex in p, and the iteration is that of Torsney (1983): each round is better.

Theorem 4.3 of Cormode et al. 2019 has such probabilities; their Lemma 4.4 takes even ones, which are best for its bound on a
single range, where all levels cost the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import linalg, optimize, special

from ldp_core.limits import MOST_FITTED_TREE_TYPES
from ldp_core.mechanisms.trees.levels import Tree
from ldp_core.privacy import in_steps
from ldp_core.wording import meant
from ldp_core.workloads import Workload

SHARES = ("even", "fitted")
Shares = str | Sequence[float] | np.ndarray
PLACES = 4
"""Decimal places of fitted probabilities: equal on every machine, and within a hundredth of a per cent of the least variance."""
_LEAST = 10.0**-PLACES
"""The least share of a level: the smallest that these places can write."""
_FOUND: dict[tuple[float | str, ...], np.ndarray] = {}
"""Fitted probabilities (h,) of this process: a curve over epsilon fits two dozen, and every session that opens a sample draws it."""
_KEPT = 2**14


def weights_of(shares: Shares) -> np.ndarray | str:
    """One of `SHARES`, or (h,) positive numbers, as a list or as a text with blanks between them. ValueError for anything else."""
    if isinstance(shares, str) and shares in SHARES:
        return shares
    try:
        given = shares.replace(",", " ").split() if isinstance(shares, str) else shares
        weights = np.array(given, dtype=float)
    except (TypeError, ValueError):
        if isinstance(shares, str):
            raise ValueError(f"Unknown shares {shares!r}; {meant(shares, SHARES)} Numbers work as well.") from None
        weights = np.zeros(0)
    if weights.ndim != 1 or not weights.size or not np.all(np.isfinite(weights)) or not np.all(weights > 0):
        raise ValueError(
            f'Shares are "even", "fitted", or a number above 0 for each level of the tree; got {shares!r}.'
        )
    return weights


def picked(
    tree: Tree,
    shares: Shares,
    workload: Workload | None,
    costs: Callable[[Tree, Workload], np.ndarray],
    average: Callable[[Tree, Workload], float] | None = None,
    about: tuple[float | str, ...] = (),
) -> Tree:
    """``tree`` with its levels picked by ``shares``.

    For "fitted", ``costs`` gives the (h,) costs of the levels of a tree; ``average`` gives its average variance where the fixed
    point is only near the best shares; both depend on the tree, the workload and what they are ``about``, by which what was found is
    found again. ValueError for shares that are none.
    """
    weights = weights_of(shares)
    if isinstance(weights, str):
        if weights == "even":
            return tree
        if workload is None:
            raise ValueError("Shares of levels are fitted to questions: pass a workload, or choose even shares.")
        if tree.n > MOST_FITTED_TREE_TYPES:
            raise ValueError(
                f"Shares of levels are fitted for at most {MOST_FITTED_TREE_TYPES:,} types, and there are {tree.n:,}: give them as "
                "numbers, or choose even shares."
            )
        key = (tree.n, tree.branching, workload.digest, *about)
        if key not in _FOUND:
            found = _fitted(tree, workload, costs)
            if average is not None and tree.n <= 256 and tree.height > 1:  # the search takes a second up to here
                found = _searched(tree, workload, found, average)
            if len(_FOUND) >= _KEPT:
                _FOUND.clear()
            _FOUND[key] = np.maximum(np.round(found, PLACES), _LEAST)
        return _with(tree, _FOUND[key])
    if weights.size != tree.height:
        raise ValueError(
            f"The tree has {tree.height} level{'s' if tree.height > 1 else ''} below its root, so {tree.height} "
            f"share{'s are' if tree.height > 1 else ' is'} needed, that of the types first; got {weights.size}."
        )
    return _with(tree, weights)


def _with(tree: Tree, weights: np.ndarray) -> Tree:
    steps = in_steps(weights / weights.sum())
    return Tree(tree.n, tree.branching, tuple(steps.tolist()))


def _fitted(tree: Tree, workload: Workload, costs: Callable[[Tree, Workload], np.ndarray]) -> np.ndarray:
    """(h,) the fixed point of p_l = sqrt(c_l(p)), up to a factor."""
    p = np.full(tree.height, 1 / tree.height)
    for _ in range(40):
        before, roots = p, np.sqrt(np.maximum(costs(_with(tree, p), workload), 0.0))
        if not roots.sum() > 0:  # nothing is asked that the levels could answer better or worse
            return before
        p = np.maximum(roots / roots.sum(), _LEAST)
        p /= p.sum()
        if np.abs(p - before).max() < _LEAST / 2:
            break
    return p


def _searched(
    tree: Tree, workload: Workload, start: np.ndarray, average: Callable[[Tree, Workload], float]
) -> np.ndarray:
    """(h,) from ``start`` to the least average variance, by a simplex search over the logarithms."""

    def shares(logs: np.ndarray) -> np.ndarray:
        positive = np.maximum(special.softmax(logs), _LEAST)
        return positive / positive.sum()

    optimum = optimize.minimize(
        lambda logs: average(_with(tree, shares(logs)), workload),
        np.log(start),
        method="Nelder-Mead",
        options={"maxfev": 200, "xatol": _LEAST, "fatol": 0.0},
    )
    return shares(optimum.x)


def optimal_costs(tree: Tree, strategies: Sequence[np.ndarray], workload: Workload) -> np.ndarray:
    """(h,) p_l^2 tr(X M_l) with X = M^-1 G M^-1, where M_l is the information of the strategy Q_l (outputs, n) of a level. ValueError
    where G is too large."""
    by_level = [Q.T @ (Q / Q.sum(axis=1, keepdims=True)) for Q in strategies]
    p = 1 / tree.gains
    inverse = linalg.pinvh(sum((share * M for share, M in zip(p.tolist(), by_level, strict=True)), np.zeros(())))
    X = inverse @ workload.gram_dense() @ inverse
    costs: np.ndarray = p**2 * np.array([np.sum(X * M) for M in by_level])
    return costs
