"""Designs for people of whom the collector knows some attributes: one for each workload of the strata, see `ldp_core.workloads.strata`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ldp_core.limits import MOST_STRATEGY_ENTRIES
from ldp_core.mechanisms.strata import StratifiedMechanism
from ldp_core.optimize.base import Design, SearchLimits, changed
from ldp_core.run import Callback
from ldp_core.workloads import Strata, Workload


@dataclass(frozen=True, kw_only=True, repr=False)
class StratifiedDesign(Design):
    """The design ``parts[which[z]]`` for stratum z of ``workload``; ``objective`` is that of all strata together."""

    workload: Workload
    parts: tuple[Design, ...]
    which: np.ndarray
    prior: np.ndarray | None = None

    @property
    def contents(self) -> str:
        return f"{len(self.which):,} known groups, {len(self.parts):,} different designs"

    def mechanism(self) -> StratifiedMechanism:
        """One mechanism for each of the ``parts``."""
        strata, drawn = self.workload.strata, [part.mechanism() for part in self.parts]
        assert strata is not None
        return StratifiedMechanism(drawn, self.which, strata.types, drawn[0].parameters)

    @cached_property
    def strategy(self) -> np.ndarray:
        """(m, n) the strategies of the strata, reports of the first stratum first. ValueError where one is too large to write out."""
        strata, tables = self.workload.strata, [part.strategy for part in self.parts]  # type: ignore[attr-defined]
        assert strata is not None
        if sum(len(tables[d]) for d in self.which) * self.workload.n > MOST_STRATEGY_ENTRIES:
            raise ValueError("The strategies of all groups together are too large to write out: use those in `parts`.")
        return linalg.block_diag(*(tables[d] for d in self.which))[:, np.argsort(strata.types.ravel())]


def design_strata(
    workload: Workload,
    epsilon: float,
    limits: SearchLimits,
    prior: np.ndarray | None,
    design: Callable[[Workload, SearchLimits, np.ndarray | None], Design],
) -> StratifiedDesign:
    """A design for each of the workloads of the strata of ``workload``, by ``design``, in an equal part of the time."""
    strata, budget = workload.strata, limits.budget()
    assert strata is not None
    (cases, which), parts, values = strata.cases(prior), list[Design](), list[float]()
    for left, (few, shares) in zip(range(len(cases), 0, -1), cases, strict=True):
        seconds = budget.left()
        own = limits.within(None if seconds is None else seconds / left)
        parts.append(design(few, own.telling(telling_of_all(own.callback, strata, values, len(cases), prior)), shares))
        values.append(parts[-1].objective)
    return StratifiedDesign(
        workload=workload,
        parts=tuple(parts),
        which=which,
        prior=prior,
        objective=strata.objective(values, prior),
        history=(),
        rounds=sum(part.rounds for part in parts),
        seconds=sum(part.seconds for part in parts),
        epsilon=epsilon,
        seed=limits.seed,
        stopped=parts[-1].stopped,
    )


def telling_of_all(
    callback: Callback | None, strata: Strata, values: list[float], many: int, prior: np.ndarray | None
) -> Callback | None:
    """``callback``, which hears of all strata what the search for the last of ``many`` cases comes to, beside the ``values`` of those
    before; of the others only that they go on."""
    done = list(values)

    def of_all(objective: float | None) -> float | None:
        return None if objective is None or len(done) < many - 1 else strata.objective([*done, objective], prior)

    return changed(callback, of_all, lambda best: None)
