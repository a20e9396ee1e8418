"""Fitting a joint distribution to noisy tables with `mbi` (McKenna, Sheldon and Miklau 2019, McKenna and Liu 2022).

`mbi` and the JAX below it take seconds to load and compile, and are loaded only when a model is fitted. It minimises the
squared errors of the components, each over its variance, over the distributions whose tables agree with each other.

All pairs of eleven columns determine a single clique of 10^9 cells, which is too large for exact
inference. The noise of local privacy exceeds the signal of most pairs anyway. The model therefore
follows a tree of measured sets (`trees.chosen`), as MST does (McKenna, Miklau and Sheldon 2021).
Measured on invented people with eleven columns of Adult's sizes, all pairs designed at epsilon 1.
The total variation distance of pairs was 0.34 on average with 50,000 people (0.50 for unbiased
tables made non-negative one by one), and 0.13 with a million. Larger junction trees and mixtures of
products fitted to all pairs reached 0.14. If there is far less noise (a million people at epsilon
4), leaving out pairs costs accuracy: 0.077, against 0.053 with a larger junction tree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ldp_core.anova import Set, subsets
from ldp_core.estimators.joint import trees
from ldp_core.estimators.joint.evidence import Evidence, evidence_of
from ldp_core.estimators.joint.model import JointModel
from ldp_core.limits import MOST_JOINT_ATTRIBUTES, MOST_TABLE_CELLS
from ldp_core.run import Budget, Callback, Cancel, Stopped

if TYPE_CHECKING:
    from mbi import CliqueVector

DEFAULT_ROUNDS = 400
STEPS = 50
"""Steps of `mbi` in each round."""
SETTLED = 1e-5
"""A fit has converged when no table moves by more than this share of the users in a round."""


class _Enough(Exception):
    """The only way to end an estimate of `mbi` before its number of steps."""


def fit(
    sizes: Sequence[int],
    tables: Mapping[Sequence[int], tuple[np.ndarray, float]],
    users: int,
    *,
    most_cells: int = MOST_TABLE_CELLS,
    max_rounds: int | None = DEFAULT_ROUNDS,
    time_limit: float | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> JointModel:
    """A model of ``users`` people from ``tables``, {attributes: (estimated users by their values (cells,), standard deviation of each
    cell)}, whose noise is taken as independent; where the noise of components is known, `fit_evidence` is exact.

    Every column's table is fitted, and those tables over more that form a tree and say more than their noise, of together at most
    ``most_cells`` cells; see `JointModel.follows`. ``callback`` is called after each round of 50
    steps; time and ``cancel`` are checked between rounds, and the compilation before the first
    takes seconds. The fit uses no random numbers. ValueError for tables that do not
    fit ``sizes``, for an attribute in none of them, and where `mbi` is not installed.
    """
    measured = [tuple(sorted(map(int, attributes))) for attributes in tables]
    return fit_evidence(
        sizes,
        evidence_of(sizes, tables),
        users,
        measured=measured,
        most_cells=most_cells,
        max_rounds=max_rounds,
        time_limit=time_limit,
        callback=callback,
        cancel=cancel,
    )


def fit_evidence(
    sizes: Sequence[int],
    known: Mapping[Set, Evidence],
    users: int,
    *,
    measured: Sequence[Set] | None = None,
    most_cells: int = MOST_TABLE_CELLS,
    max_rounds: int | None = DEFAULT_ROUNDS,
    time_limit: float | None = None,
    callback: Callback | None = None,
    cancel: Cancel | None = None,
) -> JointModel:
    """As `fit`, from independent estimates of components with the deviation of each: {A: Evidence}. ``measured`` are the sets whose
    tables were asked for, by default all of ``known``."""
    sizes = tuple(map(int, sizes))
    budget = Budget(time_limit, max_rounds, cancel, callback, least_rounds=1)
    # An attribute of a single value has no component of its own, and nothing about it is unknown.
    known = {(i,): Evidence(np.zeros(1), 1.0) for i, size in enumerate(sizes) if size == 1} | dict(known)
    _check(sizes, known, users, most_cells)
    followed = trees.chosen(sizes, known, most_cells)
    estimate, stopped = _estimate(sizes, followed, known, users, budget)
    return JointModel(
        sizes=sizes,
        users=int(users),
        followed=tuple(followed),
        probabilities=tuple(estimate),
        measured=_largest(known if measured is None else measured),
        iterations=STEPS * budget.rounds,
        stopped=stopped,
    )


def _check(sizes: Sequence[int], known: Mapping[Set, Evidence], users: int, most_cells: int) -> None:
    if not users >= 1:
        raise ValueError(f"A joint model needs one user or more, not {users}.")
    if reason := too_large(sizes, most_cells):
        raise ValueError(reason)
    missing = [i for i in range(len(sizes)) if (i,) not in known]
    if missing:
        raise ValueError(
            f"Attribute {missing[0]} is in none of the measured tables, so nothing is known about it: leave it out of the model, "
            "or measure it."
        )


def too_large(sizes: Sequence[int], most_cells: int = MOST_TABLE_CELLS) -> str | None:
    """Why there is no joint model of attributes of these ``sizes``, in a sentence; None where there is."""
    if len(sizes) > MOST_JOINT_ATTRIBUTES:
        return (
            f"A joint model of {len(sizes)} attributes would take minutes to prepare: at most {MOST_JOINT_ATTRIBUTES} are modelled at "
            "once. Leave out those that matter least."
        )
    if sum(sizes) > most_cells:
        return (
            f"The attributes have {sum(sizes):,} values in all, more than the {most_cells:,} cells that a joint model may have: use "
            "coarser values, or fewer attributes."
        )
    return None


def _largest(sets: Mapping[Set, Evidence] | Sequence[Set]) -> tuple[Set, ...]:
    """The sets that lie in no other."""
    maximal: list[Set] = []
    within: set[Set] = set()
    for members in sorted(set(sets), key=lambda members: (-len(members), members)):
        if members not in within:
            maximal.append(members)
            within.update(subsets(members))
    return tuple(sorted(maximal))


def _estimate(
    sizes: tuple[int, ...], followed: list[Set], known: Mapping[Set, Evidence], users: int, budget: Budget
) -> tuple[list[np.ndarray], Stopped]:
    """The probabilities of each followed set: by `mbi`'s accelerated interior gradient descent
    (Auslender and Teboulle 2006). Units are such that the gradient of the loss has Lipschitz
    constant 1, as its first step supposes."""
    jax, mbi = _loaded()
    parts = {part: known[part] for members in followed for part in subsets(members) if part}
    unit = 1 / math.sqrt(max(_curvature(sizes, members, known) for members in followed))
    data = {part: (members.values / members.deviation, unit / members.deviation) for part, members in parts.items()}
    # As one function: `mbi` looks at it once before it compiles its steps, and every operation on its own would be compiled for that.
    loss = mbi.MarginalLossFn(tuple(followed), jax.jit(_squared_errors), data, 1.0)
    latest = [np.zeros([sizes[i] for i in members]) for members in followed]
    stopped: list[Stopped] = []

    def follow(marginals: CliqueVector) -> None:
        before = list(latest)
        latest[:] = [np.maximum(np.asarray(marginals[members].values, dtype=float), 0) for members in followed]
        latest[:] = [table / table.sum() for table in latest]
        budget.tell()
        moved = max(float(np.abs(new - old).sum()) for new, old in zip(latest, before, strict=True))
        reason = "converged" if moved < SETTLED else budget.stopped()
        if reason is not None:
            stopped.append(reason)
            raise _Enough

    try:
        domain = mbi.Domain(range(len(sizes)), sizes)
        with suppress(_Enough):
            mbi.estimation.InteriorGradient().estimate(
                domain, loss, known_total=users / unit, iters=10**9, callback_fn=follow
            )
    finally:
        jax.clear_caches()  # each tree is compiled again, 50 MB that nothing else would dropped
    return latest, stopped[0]


def _curvature(sizes: Sequence[int], members: Set, known: Mapping[Set, Evidence]) -> float:
    """Bound on the loss's curvature in the table over one set, whose marginal on a part is a sum of n_B / n_A cells."""
    cells = math.prod(sizes[i] for i in members)
    return sum(
        cells / math.prod(sizes[i] for i in part) / known[part].deviation ** 2 for part in subsets(members) if part
    )


def _squared_errors(marginals: CliqueVector, data: dict[Set, tuple[Any, Any]]) -> Any:
    """Half the squared errors of the components, each over its variance; ``data``: {A: (values / deviation, unit / deviation)}."""
    total = 0.0
    for part, (target, scale) in data.items():
        table = marginals.project(part).values
        for axis in range(table.ndim):
            table = table - table.mean(axis=axis, keepdims=True)
        total += ((table * scale - target) ** 2).sum() / 2
    return total


def missing() -> str | None:
    """Why no joint model can be fitted on this machine, in a sentence; None where one can."""
    if find_spec("mbi") is not None:
        return None
    return "Joint models need the package mbi, which brings JAX (350 MB): `pip install mbi`, and start the app again."


def _loaded() -> tuple[Any, Any]:
    """JAX, in double precision and on the processor, and `mbi`."""
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_compilation_cache", False)
        import mbi
    except ModuleNotFoundError as error:
        raise ValueError(missing() or f"Joint models need the package {error.name}: install it.") from error
    return jax, mbi
