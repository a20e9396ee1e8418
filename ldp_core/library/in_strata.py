"""Mechanisms of the library for people of whom the collector knows some attributes: one for each design of the strata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ldp_core.bounds.closed_form import equivalent_objective
from ldp_core.library.specification import Spec
from ldp_core.mechanisms.base import Mechanism
from ldp_core.mechanisms.strata import InStrata
from ldp_core.mechanisms.surveys.strata import in_strata
from ldp_core.optimize.base import DEFAULT
from ldp_core.optimize.parts import telling_of_all
from ldp_core.priors import check_prior
from ldp_core.privacy import check_epsilon
from ldp_core.workloads import Workload


def build(
    entry: Spec,
    workload: Workload,
    create: Callable[[Workload, Mapping[str, Any]], Mechanism],
    parameters: Mapping[str, Any],
) -> InStrata:
    """The mechanism for ``workload``, which has strata: ``create(local, settings)`` makes that of a stratum. ValueError where that is
    none for strata."""
    strata, stated = workload.strata, dict(parameters)
    prior = stated.pop("prior", None)
    prior = None if prior is None else check_prior(prior, workload.spread_over)
    cases, values, worst = strata.pooled(prior), list[float](), stated.get("target") == "worst_case"

    def whole(objectives: list[float]) -> float:
        """What all strata come to, on the scale of L as the objectives of the cases are."""
        by_case = [(value - local.trace) / local.n for value, (local, _) in zip(objectives, cases, strict=True)]
        variances = strata.scale**2 * np.array(by_case)[strata.which]
        return equivalent_objective(float(variances.max() if worst else strata.shares(prior) @ variances), workload)

    def made(local: Workload, shares: np.ndarray | None) -> Mechanism:
        settings = {**stated, **({} if shares is None else {"prior": shares})}
        if entry.fitted and "time_limit" in entry.parameters and len(cases) > 1:
            limit = stated.get("time_limit", DEFAULT.time_limit)
            settings["time_limit"] = None if limit is None else limit / len(cases)
        if (callback := stated.get("callback")) is None:
            return create(local, settings)
        mechanism = create(local, {**settings, "callback": telling_of_all(callback, whole, values, len(cases))})
        if len(values) < len(cases) - 1:
            profile = mechanism.variance_profile(local)
            variance = profile.max() if worst else np.average(profile, weights=shares)
            values.append(equivalent_objective(float(variance), local))
        return mechanism

    drawn = [made(local, shares) for local, shares in cases]
    return in_strata(drawn, strata.which, strata, drawn[0].parameters)


def of_epsilons(workload: Workload | None, epsilons: Sequence[float], create: Callable[[float], Mechanism]) -> InStrata:
    """The mechanism whose strata have an epsilon each, as it is no secret who is in them; ``create(epsilon)`` makes that of all strata with
    the same. ValueError unless there is one for each."""
    strata = None if workload is None else workload.strata
    if strata is None or len(epsilons) != len(strata.which):
        many = "no groups" if strata is None else f"{len(strata.which):,} groups"
        raise ValueError(
            f"Give one epsilon, or one for each group that the collector knows: there are {many} and {len(epsilons):,} epsilons."
        )
    made: dict[float, Any] = {epsilon: create(epsilon) for epsilon in dict.fromkeys(map(check_epsilon, epsilons))}
    by_stratum = [made[check_epsilon(epsilon)].strata[z] for z, epsilon in enumerate(epsilons)]
    drawn = {id(mechanism): mechanism for mechanism in by_stratum}
    which = np.array([list(drawn).index(id(mechanism)) for mechanism in by_stratum])
    return in_strata([*drawn.values()], which, strata, by_stratum[0].parameters)


def of_designs(
    workload: Workload, prior: np.ndarray | None, made: Callable[[Workload, np.ndarray | None], Mechanism | None]
) -> InStrata | None:
    """The mechanism of the strata of ``workload`` from those that are ``made`` for its cases; None where one is."""
    strata = workload.strata
    cases = strata.pooled(None if prior is None else check_prior(prior, workload.spread_over))
    drawn = [mechanism for case in cases if (mechanism := made(*case)) is not None]
    if len(drawn) < len(cases):
        return None
    return in_strata(drawn, strata.which, strata, drawn[0].parameters)
